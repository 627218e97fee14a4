import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import classes_of, joints, problem_of, tables

from anonymizer import (
    EntropyLDiversity,
    Hierarchy,
    InputError,
    KAnonymity,
    PolicyUnreachableError,
    TCloseness,
)
from anonymizer.privacy import MODELS, PrivacyModel, acceptable, require_possible, verdicts

CASES = [
    KAnonymity(1),
    KAnonymity(9),
    EntropyLDiversity(1.8),
    EntropyLDiversity(1),
    TCloseness(0.3),
]


def holds(model: PrivacyModel, joint: np.ndarray) -> np.ndarray:
    return model.accepts(model.measure(classes_of(joint)))


def test_every_model_is_under_law():
    assert {type(case) for case in CASES} == set(MODELS.values())


def test_hand_worked_measures():
    joint = np.array([[3, 1], [1, 3], [0, 2]])
    assert KAnonymity(4).measure(classes_of(joint)).tolist() == [4, 4, 2]
    assert holds(KAnonymity(4), joint).tolist() == [True, True, False]
    diversity = EntropyLDiversity(1.7).measure(classes_of(joint))
    assert diversity == pytest.approx([2**0.8112781244591328, 2**0.8112781244591328, 1])
    close = TCloseness(0.2).measure(classes_of(joint))  # prior 0.4, 0.6
    assert close[2] == pytest.approx(np.log2(1 / 0.6))
    assert close[0] == pytest.approx(0.75 * np.log2(0.75 / 0.4) + 0.25 * np.log2(0.25 / 0.6))


@pytest.mark.parametrize("values", [2, 3, 5, 6, 7, 11])
def test_an_exactly_uniform_class_passes_its_own_l(values):
    assert holds(EntropyLDiversity(values), np.full((1, values), 13)).all()
    assert not holds(EntropyLDiversity(values + 1e-6), np.full((1, values), 13)).any()


def test_a_class_equal_to_the_table_is_at_distance_zero():
    assert holds(TCloseness(0), np.array([[1, 2, 3], [10, 20, 30]])).all()


@pytest.mark.parametrize("model", CASES, ids=repr)
@given(joint=joints)
def test_merging_acceptable_classes_is_acceptable(model, joint):
    assert model.monotone
    merged = np.vstack([joint[0] + joint[1], joint[2:]])
    assert not holds(model, joint)[:2].all() or holds(model, merged)[0]


@pytest.mark.parametrize("model", [case for case in CASES if case.strongly_monotone], ids=repr)
@given(joint=joints)
def test_merging_an_acceptable_class_with_any_is_acceptable(model, joint):
    merged = np.vstack([joint[0] + joint[1], joint[2:]])
    assert not holds(model, joint)[:2].any() or holds(model, merged)[0]


@pytest.mark.parametrize(
    ("model", "joint"),
    [
        (EntropyLDiversity(1.8), [[5, 5], [90, 0]]),
        (TCloseness(0.1), [[1, 1], [9, 0], [0, 9]]),
    ],
    ids=repr,
)
def test_witnesses_that_a_model_is_not_strongly_monotone(model, joint):
    joint = np.array(joint)
    assert not model.strongly_monotone
    merged = np.vstack([joint[0] + joint[1], joint[2:]])
    assert holds(model, joint)[0]
    assert not holds(model, merged)[0]


@pytest.mark.parametrize("model", CASES, ids=repr)
@given(joint=joints, seed=st.integers(0, 99))
def test_the_order_of_classes_does_not_matter(model, joint, seed):
    order = np.random.default_rng(seed).permutation(len(joint))
    expected = model.measure(classes_of(joint))[order]
    assert model.measure(classes_of(joint[order])) == pytest.approx(expected)


@given(joints)
def test_the_ceiling_bounds_what_acceptable_classes_keep(joint):
    from anonymizer.information import mutual_information

    for model in (EntropyLDiversity(1.5), TCloseness(0.4)):
        if holds(model, joint).all():
            assert mutual_information(joint) <= model.ceiling(joint.sum(axis=0)) + 1e-8


@given(tables(2))
def test_verdicts_agree_with_the_mask(table):
    problem = problem_of(table, {n: Hierarchy.suppression() for n in "ab"}, CASES)
    found = verdicts(problem.counts, CASES)
    satisfied = acceptable(problem.counts, CASES).all()
    assert all(verdict.satisfied for verdict in found) == satisfied


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KAnonymity(0), "k = 0 must be a whole number of at least 1"),
        (lambda: KAnonymity(2.5), "k = 2.5"),
        (lambda: KAnonymity(True), "k = True"),
        (lambda: KAnonymity("5"), "k = '5'"),
        (lambda: EntropyLDiversity(0.9), "l = 0.9 must be a number of at least 1"),
        (lambda: EntropyLDiversity(float("nan")), "l = nan"),
        (lambda: EntropyLDiversity("2"), "l = '2'"),
        (lambda: TCloseness(-0.1), "t = -0.1 must be a number of at least 0"),
        (lambda: TCloseness(float("inf")), "t = inf"),
        (
            lambda: TCloseness(0.5, distance="kll"),
            "distance 'kll' is none of kl; did you mean 'kl'",
        ),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_numpy_numbers_are_numbers():
    assert KAnonymity(np.int64(5)).threshold == 5
    assert json.dumps(KAnonymity(np.int64(5)).parameters) == '{"k": 5}'
    assert EntropyLDiversity(np.float64(2.5)).threshold == 2.5


@dataclass(frozen=True)
class Never(PrivacyModel):
    """A model that no class satisfies."""

    name: ClassVar[str] = "never"

    @property
    def threshold(self):
        return 0.0

    def measure(self, classes):
        return np.ones(len(classes))

    def accepts(self, values):
        return np.zeros(len(values), bool)


@given(tables(1))
def test_a_policy_out_of_reach_names_the_model(table):
    problem = problem_of(table, {"a": Hierarchy.suppression()}, [])
    with pytest.raises(PolicyUnreachableError, match="never about 'w' fails even with every"):
        require_possible(problem.counts, [Never()])
    with pytest.raises(InputError, match=f"exceeds the {len(table)} records"):
        require_possible(problem.counts, [KAnonymity(len(table) + 1)])
    with pytest.raises(InputError, match=r"l = 99 is above 2\^H = \d\.\d+, the effective number"):
        require_possible(problem.counts, [EntropyLDiversity(99)])
