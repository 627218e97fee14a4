import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import ClassVar

import literature
import numpy as np
import pandas as pd
import pytest
from cases import BOUNDED
from hypothesis import given, settings
from hypothesis import strategies as st
from lengths import at_length
from plain import NUMPY
from scipy.sparse import csr_array
from strategies import (
    classes_of,
    joints,
    merged,
    problem_of,
    some_classes,
    sparse_counts,
    sparse_joints,
    tables,
)

from anonymizer import Hierarchy, InputError, PolicyUnreachableError
from anonymizer.counts.counts import Classes, Counts
from anonymizer.counts.persons import HOUSEHOLD, PERSON
from anonymizer.information import matrices
from anonymizer.information.entropy import mutual_information
from anonymizer.kernels import NATIVE
from anonymizer.kernels.arrays import Floats
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import (
    MODELS,
    AlphaKAnonymity,
    AverageReidentificationRisk,
    BasicBetaLikeness,
    BayesianGain,
    CompositionKAnonymity,
    DeltaDisclosure,
    DeltaPresence,
    DifferentialPrivacy,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    HighestReidentificationRisk,
    HouseholdCompositionKAnonymity,
    HouseholdKAnonymity,
    HouseholdRisk,
    IndividualRisk,
    Itpr,
    KAnonymity,
    KmAnonymity,
    KMap,
    LargestShare,
    MeanInformation,
    PersonKAnonymity,
    PointwiseMaximalLeakage,
    PopulationUniqueness,
    PrivacyModel,
    RecursiveLDiversity,
    ReidentificationItpr,
    TCloseness,
    ValueGain,
    Verdict,
    acceptable,
    holds,
    judged_classes,
    measures_of,
    models_of,
    over_persons,
    require_possible,
    verdicts,
)
from anonymizer.privacy.base import SensitiveModel
from anonymizer.recoding.policy import Policy
from anonymizer.release.manifest.parts import ReportedVerdict
from anonymizer.release.study import Study

PEOPLE = pd.DataFrame({"a": []})
GROUPS = Hierarchy.from_rows([["1", "a"], ["2", "a"], ["3", "b"], ["4", "b"]])

CASES = [
    KAnonymity(1),
    KAnonymity(9),
    PersonKAnonymity(1),
    PersonKAnonymity(3),
    LargestShare(0.45),
    KmAnonymity(1, 2),
    KmAnonymity(3, 2),
    KmAnonymity(2, 3),
    CompositionKAnonymity(1),
    CompositionKAnonymity(2),
    HouseholdKAnonymity(3),
    HouseholdCompositionKAnonymity(2),
    HouseholdRisk(0.6),
    DistinctLDiversity(2),
    EntropyLDiversity(1.8),
    EntropyLDiversity(1),
    EntropyLDiversity(1.8, "miller-madow"),
    EntropyLDiversity(1.8, "grassberger"),
    RecursiveLDiversity(2, 2),
    RecursiveLDiversity(0.7, 1),
    TCloseness(0.3, "kl"),
    TCloseness(0.2, "equal"),
    TCloseness(0.2, "ordered"),
    TCloseness(0.15, "ordered", order=["2", "4", "0", "1", "3"]),
    TCloseness(0.2, "hierarchical", hierarchy=GROUPS),
    AlphaKAnonymity(0.6, 3),
    BasicBetaLikeness(0.5),
    EnhancedBetaLikeness(0.8),
    DeltaDisclosure(0.9),
    PointwiseMaximalLeakage(0.6),
    BayesianGain(0.1),
    ValueGain(0.1),
    MeanInformation(0.2),
    Itpr(0.6),
    Itpr(1),
    ReidentificationItpr(0.6),
    KMap(9, PEOPLE),
    DeltaPresence(0.1, 0.7, PEOPLE),
    AverageReidentificationRisk(0.1),
    AverageReidentificationRisk(0.05, PEOPLE),
    HighestReidentificationRisk(0.1),
    HighestReidentificationRisk(0.1, PEOPLE),
    IndividualRisk(0.1),
    *(PopulationUniqueness(0.1, 0.5, name) for name in ("dankar", "zayatz", "pitman", "snb")),
    DifferentialPrivacy(2, 0.1),
]
PER_CLASS = [case for case in CASES if case.per_class]
"""Laws try each example on every model: to make the examples takes most of the time.

The columns of a model that counts persons are persons.
"""


def accepted(model: PrivacyModel, joint: Sequence, people: Sequence | None = None) -> list[bool]:
    joint = np.array(joint)
    return holds(model, classes_of(joint, np.zeros(len(joint)) if people is None else people))


def test_every_model_is_under_law():
    assert {type(case) for case in CASES} == set(MODELS.values())
    assert {case.distance for case in CASES if isinstance(case, TCloseness)} == {
        *("kl", "equal", "ordered", "hierarchical")
    }


def test_every_model_says_what_it_is():
    for model in MODELS.values():
        assert model.condition
        assert model.unit
        assert model.source


JOINT = [[3, 1], [1, 3], [0, 2]]
"""Of 10 records 4 and 6."""

KL_FIRST = 0.75 * np.log2(0.75 / 0.4) + 0.25 * np.log2(0.25 / 0.6)
KL_SECOND = 0.25 * np.log2(0.25 / 0.4) + 0.75 * np.log2(0.75 / 0.6)
H, MM = 0.8112781244591328, 1 / (2 * 4 * np.log(2))
"""Entropy of 3 and 1, and what Miller and Madow add."""


@pytest.mark.parametrize(
    ("model", "measures", "fine"),
    [
        (KAnonymity(4), [4, 4, 2], [1, 1, 0]),
        (PersonKAnonymity(2), [2, 2, 1], [1, 1, 0]),  # of two persons, the last class of one
        (LargestShare(0.75), [0.75, 0.75, 1], [1, 1, 0]),
        (DistinctLDiversity(2), [2, 2, 1], [1, 1, 0]),
        (EntropyLDiversity(1.7), [2**H, 2**H, 1], [1, 1, 0]),
        # 0.18 bits more; a single value stays one
        (EntropyLDiversity(1.98, "miller-madow"), [2 ** (H + MM), 2 ** (H + MM), 1], [1, 1, 0]),
        # log 4 - (3 G(3) + G(1)) / 4, G(1) = -1.270363, G(3) = G(2) = 0.729637 nats: more than 2;
        # log 2 - G(2): less than nothing, and no class has less than one value
        (EntropyLDiversity(2, "grassberger"), [2, 2, 1], [1, 1, 0]),
        (EntropyLDiversity(1, "grassberger"), [2, 2, 1], [1, 1, 1]),
        (RecursiveLDiversity(3.1, 2), [3, 3, np.inf], [1, 1, 0]),
        (RecursiveLDiversity(3, 2), [3, 3, np.inf], [0, 0, 0]),
        (RecursiveLDiversity(0.8, 1), [0.75, 0.75, 1], [1, 1, 0]),
        (TCloseness(0.2, "kl"), [KL_FIRST, KL_SECOND, np.log2(1 / 0.6)], [0, 1, 0]),
        (TCloseness(0.35, "equal"), [0.35, 0.15, 0.4], [1, 1, 0]),
        (TCloseness(0.35, "ordered"), [0.35, 0.15, 0.4], [1, 1, 0]),
        (AlphaKAnonymity(0.75, 4), [0.75, 0.75, np.inf], [1, 1, 0]),
        (BasicBetaLikeness(0.7), [0.875, 0.25, 2 / 3], [0, 1, 1]),
        # -ln 0.4 = 0.92 and -ln 0.6 = 0.51
        (EnhancedBetaLikeness(0.9), [0.875, 0.25, np.inf], [1, 1, 0]),
        (DeltaDisclosure(1), [-np.log2(0.25 / 0.6), -np.log2(0.25 / 0.4), np.inf], [0, 1, 0]),
        (PointwiseMaximalLeakage(0.8), [np.log2(1.875), np.log2(1.25), np.log2(5 / 3)], [0, 1, 1]),
        (BayesianGain(0.2), [0.15, 0.15, 0.4], [1, 1, 0]),
        (ValueGain(0.2), [0.35, 0.15, 0.4], [0, 1, 0]),
        (HighestReidentificationRisk(0.25), [0.25, 0.25, 0.5], [1, 1, 0]),
    ],
    ids=repr,
)
def test_hand_worked_measures(model, measures, fine):
    assert model.measure(classes_of(JOINT)) == pytest.approx(measures, abs=1e-6)
    assert accepted(model, JOINT).tolist() == [bool(yes) for yes in fine]


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=5))
def test_leakage_is_the_log_of_likeness(rows):
    """log2(1 + beta) of basic beta-likeness, class by class; and what it accepts is the same."""
    joint = np.array([[1, 2, 3], *(row for row in rows if sum(row))])
    leakage, likeness = PointwiseMaximalLeakage(0.5), BasicBetaLikeness(2**0.5 - 1)
    classes = classes_of(joint)
    bits = leakage.measure(classes)
    assert bits == pytest.approx(np.log2(1 + likeness.measure(classes)), abs=1e-9)
    assert accepted(leakage, joint).tolist() == accepted(likeness, joint).tolist()
    guess = likelier_guesses(joint)
    assert (np.log2(guess).max(axis=1) <= bits + 1e-9).all()


def likelier_guesses(joint):
    """How much likelier some guesses become: those of sets of values, and of random functions."""
    prior, shares = joint.sum(axis=0) / joint.sum(), joint / joint.sum(axis=1, keepdims=True)
    some = np.random.default_rng(1).random((joint.shape[1], 20))
    return (shares @ some) / (prior @ some)


def test_hand_worked_measures_of_tables():
    classes = classes_of(JOINT, [0, 4, 2])  # populations of 4, 8 and 4
    bits = (4 * KL_FIRST + 4 * KL_SECOND + 2 * np.log2(1 / 0.6)) / 10
    assert MeanInformation(1).measure(classes) == pytest.approx([bits])
    assert bits == pytest.approx(mutual_information(JOINT))
    assert AverageReidentificationRisk(1).measure(classes) == pytest.approx([0.3])
    journalist = AverageReidentificationRisk(1, PEOPLE)
    assert journalist.measure(classes) == pytest.approx([(1 + 0.5 + 0.5) / 10])
    # 4 of 10 leave .811278 of .970951 bits open, and so do 4 others; 2 leave nothing
    assert Itpr(1).measure(classes) == ReidentificationItpr(1).measure(classes_of([[1], [9]])) == 1
    even = classes_of(JOINT[:2])  # of 8 records 4 and 4: 1 - 2 / 2 x .811278
    assert Itpr(1).measure(even) == pytest.approx([1 - H])
    # 2 of 10 records: 1 - 3 x .2 x 1 bit of log 10
    records = ReidentificationItpr(1).measure(classes)
    assert records == pytest.approx([1 - 0.6 / np.log2(10)])
    for model in (MeanInformation(bits - 1e-6), AverageReidentificationRisk(0.29)):
        assert holds(model, classes).tolist() == [False] * 3
    assert holds(AverageReidentificationRisk(0.3), classes).all()
    # The last class is of the second person alone; without it two records of one class are.
    assert KmAnonymity(2, 2).measure(classes) == [1]
    assert KmAnonymity(2, 2).measure(even) == [1]
    assert KmAnonymity(2, 2).measure(classes_of([[3, 4], [1, 1]])) == [2]
    assert KmAnonymity(2, 4).measure(classes_of([[3, 4], [1, 1]])) == [1]  # four of the first class
    # Two have a record of each class, three one of the first; and nobody has none.
    assert CompositionKAnonymity(2).measure(
        classes_of([[1, 1, 1, 1, 1, 0], [1, 0, 1, 0, 0, 0]])
    ) == [2]
    assert CompositionKAnonymity(2).measure(classes_of([[3, 4], [1, 1]])) == [1]


def test_hand_worked_measures_of_populations():
    classes = classes_of(JOINT, [0, 4, 2])
    assert KMap(5, PEOPLE).measure(classes).tolist() == [4, 8, 4]
    assert holds(KMap(5, PEOPLE), classes).tolist() == [False, True, False]
    presence = DeltaPresence(0.5, 0.9, PEOPLE)
    assert presence.measure(classes).tolist() == [1, 0.5, 0.5]
    assert holds(presence, classes).tolist() == [False, True, True]
    assert presence.worst(np.array([0.5, 1.0])) == 1
    assert presence.worst(np.array([0.2, 1.0])) == 0.2
    assert HighestReidentificationRisk(0.2, PEOPLE).measure(classes).tolist() == [0.25, 0.125, 0.25]


def test_classes_that_only_the_population_has():
    classes = classes_of([[3, 1], [0, 0]], [1, 5])
    for model in PER_CLASS:
        if not model.judges_empty:
            assert holds(model, classes)[1]
    assert holds(DeltaPresence(0, 0.9, PEOPLE), classes).tolist() == [True, True]
    assert holds(DeltaPresence(0.1, 0.9, PEOPLE), classes).tolist() == [True, False]


def test_the_disease_example_of_li_et_al():
    """Table 1 of Li et al. (2007): salaries 3k, ..., 11k in their order."""
    salaries = [f"{n}000" for n in range(3, 12)]
    classes = Classes(
        np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]]),
        np.ones(9, np.int64),
        tuple(salaries),
        attribute="salary",
    )
    assert TCloseness(1, "ordered").measure(classes) == pytest.approx([0.375, 1 / 6])
    backwards = TCloseness(1, "ordered", order=salaries[::-1]).measure(classes)
    assert backwards == pytest.approx([0.375, 1 / 6])


def test_a_hierarchical_distance_by_hand():
    """One step within a group is half as far as one across: h = 2."""
    model = TCloseness(1, "hierarchical", hierarchy=GROUPS)
    joint = np.array([[2, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 2, 4]])
    classes = Classes(joint, np.array([1, 1, 1, 1]), ("1", "2", "3", "4"), attribute="w")
    # to a quarter each: 1/4 within the group and 1/2 across; 1/2 across; 1/4 within in both
    # groups; and 1/4 from 4, half of it to 3, half of it not at all: 1/8 to each of 1 and 2
    assert model.measure(classes) == pytest.approx([0.625, 0.5, 0.25, 0.25])


CHAINS = {"1": ("1", "a", "*"), "2": ("2", "a", "*"), "3": ("3", "b", "*"), "4": ("4", "b", "*")}


@settings(max_examples=15)
@given(joint=joints)
def test_earth_movers_distances_are_the_least_work(joint):
    """As a linear program over all ways to move the shares finds."""
    classes = classes_of(joint)
    table = Counter(dict(zip(classes.values, classes.margin.tolist(), strict=True)))
    table = Counter({value: n for value, n in table.items() if n})
    order = ["2", "4", "0", "1", "3"]
    distances = [
        (TCloseness(1, "equal"), lambda g: literature.equal_transport(g, table)),
        (
            TCloseness(1, "ordered"),
            lambda g: literature.ordered_transport(g, table, sorted(table)),
        ),
        (
            TCloseness(1, "ordered", order=order),
            lambda g: literature.ordered_transport(g, table, order),
        ),
        (
            TCloseness(1, "hierarchical", hierarchy=GROUPS),
            lambda g: literature.hierarchical_transport(g, table, CHAINS),
        ),
    ]
    for model, least in distances:
        groups = [Counter(dict(zip(classes.values, row, strict=True))) for row in joint.tolist()]
        assert model.measure(classes) == pytest.approx([least(g) for g in groups], abs=1e-7)


def test_a_single_value_is_at_no_distance_from_itself():
    alone = Classes(np.array([[2], [3]]), np.array([5]), ("1",), attribute="w")
    for distance in ("kl", "equal", "ordered"):
        assert TCloseness(0, distance).measure(alone).tolist() == [0, 0]
    for rows in ([["1"]], [["1", "a"], ["2", "b"]]):
        model = TCloseness(0, "hierarchical", hierarchy=Hierarchy.from_rows(rows))
        assert model.measure(alone).tolist() == [0, 0]
        assert all(found.all() for found in in_kernels(model, alone))


def test_an_order_that_was_stated_is_all_there_is():
    joint, margin = np.array([[2, 0], [0, 2]]), np.array([2, 2])
    narrow = Classes(joint, margin, ("low", "high"), attribute="w")
    near = TCloseness(1, "ordered", order=["low", "high", "higher"]).measure(narrow)
    far = TCloseness(1, "ordered", order=["low", "higher", "high"]).measure(narrow)
    assert near == pytest.approx([0.25, 0.25])
    assert far == pytest.approx([0.5, 0.5])


def test_a_number_that_no_record_has_is_not_on_the_line():
    joint = np.array([[2, 0, 0], [0, 0, 2]])
    classes = Classes(joint, np.array([2, 0, 2]), ("1", "2", "3"), attribute="w")
    assert TCloseness(1, "ordered").measure(classes) == pytest.approx([0.5, 0.5])
    assert holds(TCloseness(0.5, "ordered"), classes).all()
    assert not in_kernels(TCloseness(0.49, "ordered"), classes)[0].any()


@pytest.mark.parametrize("values", [2, 3, 5, 6, 7, 11])
def test_an_exactly_uniform_class_passes_its_own_l(values):
    classes = Classes(np.full((1, values), 13), np.full(values, 13))
    assert holds(EntropyLDiversity(values), classes).all()
    assert not holds(EntropyLDiversity(values + 1e-6), classes).any()
    assert holds(AlphaKAnonymity(1 / values, 1), classes).all()


STRICTEST = [
    *(TCloseness(0, distance) for distance in ("kl", "equal", "ordered")),
    TCloseness(0, "hierarchical", hierarchy=GROUPS),
    *(kind(1e-9) for kind in (BasicBetaLikeness, EnhancedBetaLikeness, DeltaDisclosure)),
    PointwiseMaximalLeakage(1e-9),
    *(BayesianGain(0), ValueGain(0), MeanInformation(0)),
]


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.integers(1, 9))
def test_a_class_equal_to_the_table_tells_nothing(row, times):
    for model in STRICTEST:
        assert accepted(model, [row, [times * count for count in row]]).all(), model


VOID = [
    KAnonymity(1),
    LargestShare(1),
    DistinctLDiversity(1),
    EntropyLDiversity(1),
    RecursiveLDiversity(1.5, 1),
    *(TCloseness(1, distance) for distance in ("equal", "ordered")),
    TCloseness(1, "hierarchical", hierarchy=GROUPS),
    AlphaKAnonymity(1, 1),
    BayesianGain(1),
    ValueGain(1),
    KMap(1, PEOPLE),
    DeltaPresence(0, 1, PEOPLE),
    HighestReidentificationRisk(1),
    IndividualRisk(1),
]


@given(classes=some_classes())
def test_a_void_model_accepts_every_class(classes):
    there = replace(classes, population=np.maximum(classes.sizes, 1))
    for model in VOID:
        assert model.void, model
        assert holds(model, there).all(), model


@pytest.mark.parametrize(
    ("model", "joint"),
    [
        (RecursiveLDiversity(1, 1), [[1, 0], [0, 1]]),
        (AlphaKAnonymity(1, 2), [[1, 0], [0, 1]]),
        (TCloseness(1, "kl"), [[1, 0, 0], [0, 3, 4]]),
        (BasicBetaLikeness(1), [[1, 0, 0], [0, 3, 4]]),
        (EnhancedBetaLikeness(1), [[1, 0, 0], [0, 3, 4]]),
        (DeltaDisclosure(1), [[1, 0, 0], [0, 3, 4]]),
    ],
)
def test_a_bound_that_some_class_breaks_is_not_void(model, joint):
    assert not model.void
    assert not accepted(model, joint).all()


@given(classes=some_classes())
def test_merging_acceptable_classes_is_acceptable(classes):
    one = merged(classes)
    for model in [case for case in CASES if case.monotone]:
        before, after = holds(model, classes), holds(model, one)
        assert not before[:2].all() or after[0], model
        assert after[1:].tolist() == before[2:].tolist() or not model.per_class, model


@given(classes=some_classes())
def test_merging_an_acceptable_class_with_any_is_acceptable(classes):
    one = merged(classes)
    for model in [case for case in CASES if case.strongly_monotone]:
        assert not holds(model, classes)[:2].any() or holds(model, one)[0], model


@pytest.mark.parametrize(
    ("model", "joint", "people"),
    [
        (EntropyLDiversity(1.8), [[5, 5], [90, 0]], None),
        (RecursiveLDiversity(2, 2), [[5, 5], [90, 0]], None),
        (TCloseness(0.1, "kl"), [[1, 1], [9, 0], [0, 9]], None),
        (TCloseness(0.1, "equal"), [[1, 1], [9, 0], [0, 9]], None),
        (TCloseness(0.1, "ordered"), [[1, 1], [9, 0], [0, 9]], None),
        (TCloseness(0.1, "hierarchical", hierarchy=GROUPS), [[1, 1], [9, 0], [0, 9]], None),
        (LargestShare(0.5), [[1, 1], [9, 0]], None),
        (AlphaKAnonymity(0.6, 2), [[1, 1], [9, 0], [0, 9]], None),
        (BasicBetaLikeness(0.5), [[1, 1], [9, 0], [0, 9]], None),
        (EnhancedBetaLikeness(0.5), [[1, 1], [9, 0], [0, 9]], None),
        (DeltaDisclosure(0.5), [[1, 1], [9, 0], [0, 9]], None),
        (PointwiseMaximalLeakage(0.5), [[1, 1], [9, 0], [0, 9]], None),
        (BayesianGain(0.1), [[1, 1], [9, 0], [0, 9]], None),
        (ValueGain(0.1), [[1, 1], [9, 0], [0, 9]], None),
        (DeltaPresence(0.1, 0.7, PEOPLE), [[1, 1], [9, 0]], [2, 0]),
    ],
    ids=repr,
)
def test_witnesses_that_a_model_is_not_strongly_monotone(model, joint, people):
    classes = classes_of(joint, np.zeros(len(joint), int) if people is None else people)
    assert model.monotone
    assert not model.strongly_monotone
    assert holds(model, classes)[0]
    assert not holds(model, merged(classes))[0]


def test_no_model_is_left_without_a_proof_or_a_witness():
    witnesses = test_witnesses_that_a_model_is_not_strongly_monotone.pytestmark[0].args[1]
    shown = {type(model) for model, _, _ in witnesses}
    strong = {type(case) for case in CASES if case.strongly_monotone}
    assert shown | strong == {type(case) for case in PER_CLASS}
    assert not shown & strong


@pytest.mark.parametrize("estimator", ["miller-madow", "grassberger"])
def test_witnesses_that_estimated_entropy_is_not_monotone(estimator):
    """Of larger samples less is added for what they may have missed."""
    model = EntropyLDiversity(1.9, estimator)
    classes = classes_of([[3, 1], [3, 1]], [0, 0])
    assert not model.monotone
    assert holds(model, classes).all()
    assert not holds(model, merged(classes)).any()


@pytest.mark.parametrize(
    ("estimator", "fraction", "before", "after"),
    [
        ("zayatz", 0.5, [1, 2, 2], [1, 4]),
        ("dankar", 0.5, [1, 2, 2], [1, 4]),
        ("pitman", 0.1, [1, 1, 2, 2], [1, 1, 4]),
        ("dankar", 0.1, [1, 1, 2, 2], [1, 1, 4]),
        ("snb", 0.5, [1, 1, 1, 1, 2, 2, 3], [1, 1, 1, 1, 2, 5]),
    ],
)
def test_witnesses_that_population_uniqueness_is_not_monotone(estimator, fraction, before, after):
    found = []
    for sizes in (before, after):
        classes = classes_of(np.array(sizes)[:, None])
        found.append(float(PopulationUniqueness(1, fraction, estimator).measure(classes)[0]))
    assert found[0] < found[1]
    between = PopulationUniqueness(sum(found) / 2, fraction, estimator)
    assert not between.monotone
    assert accepted(between, np.array(before)[:, None]).all()
    assert not accepted(between, np.array(after)[:, None]).any()


def test_population_uniqueness_without_an_answer_does_not_hold():
    lonely = np.ones((3, 1), int)  # nothing says how many more classes there are
    model = PopulationUniqueness(1, 0.5, "snb")
    assert model.measure(classes_of(lonely)) == [np.inf]
    assert not accepted(model, lonely).any()
    assert accepted(PopulationUniqueness(0, 0.5, "snb"), [[2], [3]]).all()


def test_differential_privacy_says_what_follows_from_it():
    model = DifferentialPrivacy(2, 1e-5)
    assert model.parameters["beta"] == pytest.approx(1 - np.exp(-2))
    assert model.parameters["k"] == model.k == model.threshold == 113
    assert 0 < model.parameters["delta_reached"] <= 1e-5
    assert accepted(model, [[113], [112]]).tolist() == [True, False]
    assert "random sample" in str(model.parameters["assumes"])


@given(classes=some_classes())
def test_what_a_model_needs_holds_wherever_it_does(classes):
    for model in CASES:
        fine = holds(model, classes)
        for needed in model.necessary():
            assert needed.monotone, model
            assert not (fine & ~holds(needed, classes)).any(), model
        assert model.monotone == (model.necessary() == (model,)), model
        for needed in model.lasting():
            assert needed.strongly_monotone, model
            assert not (fine & ~holds(needed, classes)).any(), model
        assert model.strongly_monotone == (model in model.lasting()), model


@given(classes=some_classes(), seed=st.integers(0, 99))
def test_the_order_of_classes_and_of_values_does_not_matter(classes, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(classes)), rng.permutation(len(classes.margin))
    turned = replace(
        classes,
        joint=classes.joint[rows][:, columns],
        margin=classes.margin[columns],
        values=tuple(classes.values[i] for i in columns),
        population=classes.population[rows],
    )
    for model in CASES:
        expected = model.measure(classes)
        expected = expected[rows] if model.per_class else expected
        assert model.measure(turned) == pytest.approx(expected), model


def in_kernels(model: PrivacyModel, classes: Classes) -> list[np.ndarray]:
    """Which classes satisfy a model, as either kernel finds."""
    return kernels_find([model], classes)[0]


def kernels_find(models: Sequence[PrivacyModel], classes: Classes) -> list[list[np.ndarray]]:
    """Which classes satisfy each of some models, as either kernel finds."""
    cells = np.arange(len(classes))[:, None]
    margins = ["w", PERSON, HOUSEHOLD]
    joint = dict.fromkeys(margins, classes.joint)
    counts = Counts.of(
        ("a",), cells, classes.sizes, joint, {"w": classes.values, PERSON: (), HOUSEHOLD: ()},
        population=classes.population,
    )  # fmt: skip
    records = int(classes.margin.sum())
    counts = replace(counts, margins=dict.fromkeys(margins, classes.margin), records=records)
    layout = Layout.of(counts)
    people = [] if counts.population is None else [counts.population[:, None]]
    columns = np.concatenate([*joint.values(), *people, counts.sizes[:, None]], axis=1)
    found: list[list[np.ndarray]] = [[] for _ in models]
    for kernel, (model, masks) in product((NUMPY, NATIVE), zip(models, found, strict=True)):
        bound_policy = Policy([model], layout, kernel).against(layout.margins)
        assert bool(bound_policy.measured) == (type(model) not in BOUNDED and model.per_class)
        for kind in (np.int32, np.int64):
            records, marks = bound_policy.broken(columns.astype(kind), 2**62)
            assert records == classes.sizes[marks].sum(), model
            masks.append(~marks & bound_policy.allows(columns.astype(kind)))
    return found


@settings(max_examples=at_length(12, 25))
@given(classes=some_classes(), empty=st.booleans(), scale=st.sampled_from([1, 1, 30_000]))
def test_both_kernels_find_what_the_model_measures(classes, empty, scale):
    joint = classes.joint * scale
    if empty:
        joint = np.vstack([joint, np.zeros_like(joint[:1])])
    people = np.resize(np.array([3, 0, 20]), len(joint)) + (joint.sum(axis=1) == 0)
    classes = classes_of(joint, people)
    for model, masks in zip(CASES, kernels_find(CASES, classes), strict=True):
        # The counts have persons, by whom it counts where there are any.
        judged = replace(classes, attribute="person") if model.of_somebody else classes
        expected = holds(model, judged).tolist()
        for found in masks:
            assert found.tolist() == expected, model


def test_kernels_take_no_estimate_for_more_values_than_there_are():
    """One record of each of two values: 1 + 1 / (4 ln 2) = 1.36 bits, 2.57 values, of 2."""
    classes = classes_of(np.array([[1, 1, 0], [1, 1, 1]]))
    for estimator in ("miller-madow", "grassberger"):
        model = EntropyLDiversity(2.5, estimator)
        for found in in_kernels(model, classes):
            assert found.tolist() == holds(model, classes).tolist() == [False, True], estimator


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_value_that_the_table_lacks_is_passed_over(form):
    """Against halves of 1 and 3: shares of 1/4 and 2/4, and of 0 and 1/4."""
    joint = np.array([[1, 1, 2], [0, 3, 1]])
    classes = replace(classes_of(joint), joint=form(joint), margin=np.array([4, 0, 4]))
    assert BasicBetaLikeness(0.5).measure(classes).tolist() == [0, -0.5]
    assert ValueGain(0.1).measure(classes).tolist() == [0, -0.25]


@given(joint=sparse_joints, others=st.integers(1, 3), extra=st.integers(0, 2))
def test_sparse_counts_measure_the_same(joint, others, extra):
    """Also against a table that has other records than these classes."""
    classes = replace(
        classes_of(joint, np.full(len(joint), others)), margin=joint.sum(axis=0) + extra
    )
    sparse = replace(classes, joint=csr_array(joint))
    for model in CASES:
        with sparse_counts():
            assert holds(model, sparse).tolist() == holds(model, classes).tolist(), model
            alike = [each if model.judges_empty else each.occupied for each in (classes, sparse)]
        expected, found = model.measure(alike[0]), measures_of(model, alike[1])
        assert not isinstance(alike[1].joint, np.ndarray)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=repr(model))


@pytest.mark.parametrize("model", PER_CLASS, ids=repr)
def test_a_measure_of_sensitive_values_reads_sparse_counts(model):
    """So that none of this package's makes an array of them."""
    assert not model.sensitive or model.measure.reads_sparse


@dataclass(frozen=True)
class LeastShare(SensitiveModel):
    """A model of a user, which knows arrays alone."""

    name: ClassVar[str] = "least-share"
    bounded_by: ClassVar[str] = "share"
    share: float

    def measure(self, classes: Classes) -> Floats:
        assert isinstance(classes.joint, np.ndarray)
        assert len(classes) == len(classes.population) <= 2
        return classes.shares.min(axis=1)


def test_a_model_that_reads_arrays_gets_a_few_classes_at_a_time(monkeypatch):
    monkeypatch.setattr(matrices, "AT_ONCE", 2 * 3 * 8)
    joint = np.array([[4, 0, 0], [1, 1, 2], [0, 3, 1], [0, 0, 0], [2, 2, 4]])
    classes = replace(classes_of(joint, np.zeros(5)), joint=csr_array(joint))
    assert measures_of(LeastShare(0.2), classes).tolist() == [0, 0.25, 0, 0, 0.25]
    with sparse_counts():
        assert holds(LeastShare(0.2), classes).tolist() == [1, 0, 1, 1, 0]


@given(joints)
def test_the_ceiling_bounds_what_acceptable_classes_keep(joint):
    for model in CASES:
        if model.sensitive and accepted(model, joint).all():
            assert mutual_information(joint) <= model.ceiling(joint.sum(axis=0)) + 1e-8


def test_models_that_bound_information_say_so():
    margin = np.array([6, 2])
    assert TCloseness(0.2, "kl").ceiling(margin) == 0.2
    assert MeanInformation(0.2).ceiling(margin) == DeltaDisclosure(0.2).ceiling(margin) == 0.2
    assert BasicBetaLikeness(1).ceiling(margin) == EnhancedBetaLikeness(1).ceiling(margin) == 1
    assert PointwiseMaximalLeakage(0.7).ceiling(margin) == 0.7
    assert EntropyLDiversity(1).ceiling(margin) == pytest.approx(H)
    assert EntropyLDiversity(1, "grassberger").ceiling(margin) == np.inf
    assert TCloseness(0.2, "equal").ceiling(margin) == np.inf


@given(tables(2))
def test_verdicts_agree_with_the_mask(table):
    table["w"] = table["w"].replace({str(n): str(n + 1) for n in range(4)})
    table["who"] = np.arange(len(table)) % 9
    models = [case for case in CASES if case.people is None and not case.of_households]
    problem = problem_of(table, {n: Hierarchy.suppression() for n in "ab"}, models)
    found = verdicts(problem.counts, models)
    satisfied = acceptable(problem.counts, models).all()
    assert all(verdict.satisfied for verdict in found) == satisfied
    assert json.dumps([verdict.to_dict() for verdict in found], allow_nan=False)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KAnonymity(0), "k = 0 must be a whole number of at least 1"),
        (lambda: KAnonymity(2.5), "k = 2.5"),
        (lambda: KAnonymity(True), "k = True"),
        (lambda: KAnonymity("5"), "k = '5'"),
        (lambda: PersonKAnonymity(0), "person-k-anonymity: k = 0 must be a whole number of at"),
        (lambda: LargestShare(0), "largest-share: share = 0 must be a number above 0 and at most"),
        (lambda: LargestShare(1.5), "share = 1.5 must be a number above 0 and at most 1"),
        (lambda: KmAnonymity(0, 2), "km-anonymity: k = 0 must be a whole number of at least 1"),
        (lambda: KmAnonymity(2, 0), "km-anonymity: m = 0 must be a whole number of at least 1"),
        (lambda: CompositionKAnonymity(0), "composition-k-anonymity: k = 0 must be a whole number"),
        (lambda: KmAnonymity(2, 1), "m = 1 must be at least 2; .* person-k-anonymity"),
        (lambda: KAnonymity(10**400), "k must be at most 1,000,000,000,000,000; no table has"),
        (lambda: DistinctLDiversity(10**400), "l must be at most 1,000,000,000,000,000"),
        (lambda: AlphaKAnonymity(0.5, 10**400), "alpha-k-anonymity: k must be at most"),
        (lambda: DistinctLDiversity(1.5), "distinct-l-diversity: l = 1.5 must be a whole number"),
        (lambda: EntropyLDiversity(0.9), "l = 0.9 must be a number of at least 1"),
        (lambda: EntropyLDiversity(float("nan")), "l = nan"),
        (lambda: EntropyLDiversity("2"), "l = '2'"),
        (lambda: EntropyLDiversity(2, "miller"), "estimator = 'miller' .*did you mean 'miller-m"),
        (lambda: RecursiveLDiversity(0, 2), "recursive-l-diversity: c = 0 must be a number above"),
        (lambda: RecursiveLDiversity(2, 0), "l = 0 must be a whole number of at least 1"),
        (
            lambda: TCloseness(0.2),
            r't says nothing without the distance .* "kl" \(t in bits\), "equal", "ordered" or "h',
        ),
        (lambda: TCloseness(-0.1, "kl"), "t = -0.1 must be a number of at least 0"),
        (lambda: TCloseness(float("inf"), "kl"), "t = inf"),
        (lambda: TCloseness(0.5, distance="kll"), "distance = 'kll' is unknown; did you mean 'kl'"),
        (lambda: TCloseness(0.5, "hierarchical"), "'hierarchical' needs a hierarchy of the sens"),
        (lambda: TCloseness(0.5, "kl", order=["a"]), "order is for distance 'ordered', not 'kl'"),
        (lambda: TCloseness(0.5, "ordered", order=["a", "a"]), "order must list two or more val"),
        (lambda: TCloseness(0.5, "ordered", order="a"), "order must list two or more values"),
        (
            lambda: TCloseness(0.5, "ordered", order=7),
            "order must list two or more values, each once",
        ),
        (lambda: TCloseness(0.5, "equal", hierarchy=GROUPS), "hierarchy is for distance 'hierarc"),
        (lambda: TCloseness(0.5, "hierarchical", hierarchy=3), "a hierarchy needs the name of a r"),
        (lambda: AlphaKAnonymity(0, 2), "alpha = 0 must be a number above 0 and at most 1"),
        (lambda: AlphaKAnonymity(1.1, 2), "alpha = 1.1 must be a number above 0 and at most 1"),
        (lambda: AlphaKAnonymity(0.5, 0), "alpha-k-anonymity: k = 0 must be a whole number"),
        (lambda: BasicBetaLikeness(0), "basic-beta-likeness: beta = 0 must be a number above 0"),
        (lambda: EnhancedBetaLikeness(-1), "beta = -1 must be a number above 0"),
        (lambda: DeltaDisclosure(None), "delta = None must be a number above 0"),
        (lambda: BayesianGain(2), "gain = 2 must be a number of at least 0 and at most 1"),
        (lambda: ValueGain(-1), "gain = -1 must be a number of at least 0 and at most 1"),
        (lambda: MeanInformation(-1), "mean-information: bits = -1 must be a number of at least"),
        (lambda: KMap(0, PEOPLE), "k-map: k = 0 must be a whole number"),
        (lambda: KMap(2, "people.csv"), "population must be a DataFrame .* not a str"),
        (lambda: DeltaPresence(0.5, 0.2, PEOPLE), "lower = 0.5 is above upper = 0.2"),
        (lambda: DeltaPresence(-1, 0.2, PEOPLE), "lower = -1 must be a number of at least 0"),
        (lambda: DeltaPresence(0, 0, PEOPLE), "upper = 0 must be a number above 0"),
        (lambda: AverageReidentificationRisk(0), "risk = 0 must be a number above 0 and at most"),
        (lambda: HighestReidentificationRisk(1.5), "risk = 1.5 must be a number above 0"),
        (lambda: Itpr(1.1), "itpr: risk = 1.1 must be a number of at least 0 and at most 1"),
        (lambda: PopulationUniqueness(-1, 0.5), "uniqueness = -1 must be a number of at least 0"),
        (lambda: PopulationUniqueness(0.1, 0), "fraction = 0 must be a number of at least 1e-12"),
        (lambda: PopulationUniqueness(0.1, 0.5, "x"), "estimator = 'x' is unknown; known are dank"),
        (lambda: DifferentialPrivacy(0, 0.1), "epsilon = 0 must be a number above 0"),
        (lambda: DifferentialPrivacy(1, 0), "delta = 0 must be a number above 0 and below 1"),
        (lambda: DifferentialPrivacy(1, 1), "delta = 1 must be a number above 0 and below 1"),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("huge", [1e6, 1e300])
def test_thresholds_beyond_everything_accept_everything(huge):
    kinds = (BasicBetaLikeness, DeltaDisclosure, MeanInformation)
    for model in (*(kind(huge) for kind in kinds), TCloseness(huge, "kl")):
        classes = classes_of([[1, 9], [9, 1]])
        assert holds(model, classes).all()
        assert all(found.all() for found in in_kernels(model, classes))


NO_FILES = [
    case for case in CASES if case.people is None and getattr(case, "hierarchy", None) is None
]
STUDY = """\
[data]
path = "people.csv"
{}
[quasi-identifiers]
a = "suppress"
[[privacy]]
model = "{}"
{}
"""


@pytest.mark.parametrize("attribute", [None, "w"])
@pytest.mark.parametrize("model", NO_FILES, ids=repr)
def test_studies_and_manifests_say_what_a_model_is(tmp_path, model, attribute):
    model = replace(model, attribute=attribute) if model.sensitive else model
    given = {item.name: getattr(model, item.name) for item in fields(model)}
    stated = [f"{name} = {json.dumps(v)}" for name, v in given.items() if v is not None]
    person = ["who"] if model.of_persons else []
    home = ["home"] if model.of_households else []
    keys = f"person = {person}\nhousehold = {home}"
    (tmp_path / "study.toml").write_text(STUDY.format(keys, model.name, "\n".join(stated)))
    found = Study(tmp_path / "study.toml").privacy
    assert found == over_persons([model], person, home)
    assert found[0] == model
    reported = Verdict(model, model.attribute, 0, 0, 1).to_dict()
    assert ReportedVerdict(**json.loads(json.dumps(reported))).privacy_model == model


def test_numpy_numbers_are_numbers():
    assert KAnonymity(np.int64(5)).threshold == 5
    assert json.dumps(KAnonymity(np.int64(5)).parameters) == '{"k": 5}'
    assert EntropyLDiversity(np.float64(2.5)).threshold == 2.5


def test_names_that_a_parameter_may_be():
    assert set(TCloseness.choices("distance")) > {"equal", "ordered"}
    assert TCloseness.choices("t") == KAnonymity.choices("k") == ()


def test_parameters_as_a_manifest_has_them():
    assert TCloseness(0.5, "kl", attribute="w").parameters == {"t": 0.5, "distance": "kl"}
    ordered = TCloseness(0.5, "ordered", order=["a", 2]).parameters
    assert ordered == {"t": 0.5, "distance": "ordered", "order": ["a", "2"]}
    people = pd.DataFrame({"a": [1, 2]})
    described = KMap(2, people).parameters["population"]
    assert described == {"name": "population", "records": 2}  # nothing that confirms a guess
    json.dumps([case.parameters for case in CASES])


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
    for model, message in [
        (KAnonymity(len(table) + 1), f"exceeds the {len(table)} records"),
        (EntropyLDiversity(99), r"l = 99 is above 2\^H = \d\.\d+, the effective number"),
        (DistinctLDiversity(5), "l = 5 exceeds the [1-4] different values of 'w' in the whole"),
        (AlphaKAnonymity(0.01, 1), "alpha = 0.01 is below .*, the share of the most frequent"),
    ]:
        with pytest.raises(PolicyUnreachableError, match=message):
            require_possible(problem.counts, [model])


def test_a_policy_of_persons_out_of_reach_says_what_the_table_has():
    """Seven records of three persons, four of them of one."""
    table = pd.DataFrame({"a": list("xxxyyyy"), "w": list("1212121"), "who": list("aaaabbc")})
    problem = problem_of(table, {"a": Hierarchy.suppression()}, [])
    require_possible(problem.counts, [PersonKAnonymity(3), LargestShare(4 / 7)])
    for model, message in [
        (PersonKAnonymity(4), "person-k-anonymity: k = 4 exceeds the 3 persons of the table"),
        (LargestShare(0.5), "share = 0.5 is below 0.571429, the share of the person with most re"),
        (KmAnonymity(3, 2), "km-anonymity: k = 3 exceeds the 2 persons who are left even where al"),
        (KmAnonymity(2, 3), "k = 2 exceeds the 1 persons .* choose a smaller k or m"),
        (CompositionKAnonymity(2), "k = 2 exceeds the 1 persons .* no more have that number of re"),
    ]:
        with pytest.raises(PolicyUnreachableError, match=message):
            require_possible(problem.counts, [model])


@pytest.mark.parametrize(
    "model",
    [PersonKAnonymity(2), LargestShare(0.5), KmAnonymity(2, 2), CompositionKAnonymity(2)],
    ids=repr,
)
def test_persons_whom_no_column_tells_are_not_counted(model):
    table = pd.DataFrame({"a": list("xyxy"), "w": list("1122")})
    problem = problem_of(table, {"a": Hierarchy.suppression()}, [])
    message = f"{model.name} counts persons, and no column tells whose .* person = .patient_id"
    for judge in (verdicts, acceptable, require_possible):
        with pytest.raises(InputError, match=message):
            judge(problem.counts, [model])
    with pytest.raises(InputError, match=message):
        judged_classes(model, problem.counts, None)
    with pytest.raises(InputError, match="a model of the policy is about persons"):
        Policy([model], Layout.of(problem.counts), NUMPY).against(problem.counts.margins["w"])


@pytest.mark.parametrize("given", [KAnonymity(2), 2, [KAnonymity(2), "k"], [KAnonymity], "k"])
def test_a_policy_is_a_list_of_models(given):
    with pytest.raises(InputError, match=r"privacy must be a list of models, such as"):
        models_of(given)


def test_models_of_attributes_that_they_cannot_be_about():
    table = pd.DataFrame({"a": list("xyxy"), "w": list("1122"), "v": list("abab")})
    problem = problem_of(table, {"a": Hierarchy.suppression()}, [])
    for model, message in [
        (
            TCloseness(0.5, "kl", attribute="v"),
            "t-closeness is about 'v', which is no sensitive attr",
        ),
        (DistinctLDiversity(2, attribute="ww"), "about 'ww', .*; did you mean 'w'"),
    ]:
        with pytest.raises(InputError, match=message):
            acceptable(problem.counts, [model])
    letters = Classes(np.array([[2, 2]]), np.array([2, 2]), ("a", "b"), attribute="v")
    with pytest.raises(InputError, match="about 'v': not all of its values are numbers; give th"):
        TCloseness(0.5, "ordered").measure(letters)
    with pytest.raises(InputError, match="about 'v': order lacks 1 of the 2 values of the column"):
        TCloseness(0.5, "ordered", order=["a", "c"]).measure(letters)
    with pytest.raises(InputError, match="hierarchy of 'v' lacks some of the 2 values of the col"):
        TCloseness(0.5, "hierarchical", hierarchy=GROUPS).measure(letters)
