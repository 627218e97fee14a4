"""Risk metrics and query loss: worked cases, laws, values of an independent implementation."""

import json
from decimal import Decimal, localcontext
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from anonymizer import InputError, risk
from anonymizer.information.entropy import (
    entropy,
    partition_information,
    specific_information,
    surprise,
    weighted_uncertainty_reduction,
)
from anonymizer.privacy.query_loss import QueryLoss, loss_of_sizes, query_loss, together
from anonymizer.risk import Inference, Reidentification

EXPECTED = json.loads((Path(__file__).parents[1] / "expected" / "risk_metrics.json").read_text())
WITHIN = 5e-7
BITS = 1e-9

MEASURED = {
    "n": "records",
    "n_groups": "classes",
    "H_X": "uncertainty",
    "H_X_given_Y": "conditional_uncertainty",
    "DR": "discrimination_rate",
    "MI": "mutual_information",
    "CP": "conditional_privacy",
    "MIL": "maximum_information_leakage",
    "MIL_weighted": "weighted_information_leakage",
    "MIL_kl": "i1_max",
    "ELD": "entropy_l_diversity_risk",
    "ITPR": "itpr",
    "ITPR_eq9": "unscaled_itpr",
    "max_posterior": "max_posterior",
}
PER_CLASS = {
    "n": "sizes",
    "H_X_given_y": "uncertainties",
    "weighted_H": "weighted",
    "itpr_term": "itpr_terms",
    "I1": "i1",
    "I2": "i2",
    "I3": "i3",
    "I4": "i4",
}


def contingency(case: dict) -> np.ndarray:
    """The count matrix of a case, its classes in order of appearance."""
    table = pd.DataFrame(EXPECTED["datasets"][case["dataset"]])
    named = case["Y"] if isinstance(case["Y"], list) else [case["Y"]]
    classes = table.groupby(named, sort=False).ngroup()
    return pd.crosstab(classes, table[case["X"]]).to_numpy()


def assert_measures(profile: risk.Profile, expected: dict) -> None:
    found = profile.measures
    for theirs, ours in MEASURED.items():
        if theirs in expected:
            assert found[ours] == pytest.approx(expected[theirs], abs=WITHIN), ours


def assert_classes(profile: risk.Profile, expected: dict) -> None:
    rows = expected.get("per_group")
    for theirs, ours in PER_CLASS.items() if rows else ():
        wanted = [row[theirs] for row in rows.values()]
        assert sorted(getattr(profile, ours)) == pytest.approx(sorted(wanted), abs=WITHIN), ours


@pytest.mark.parametrize("case", EXPECTED["cases"], ids=lambda case: case["id"])
def test_cases(case):
    joint, expected = contingency(case), case["expected"]
    profile = Inference.of(joint)
    assert_measures(profile, expected)
    assert_classes(profile, expected)
    assert 2 ** -profile.uncertainties.max() == pytest.approx(
        expected["ELD_as_printed"], abs=WITHIN
    )
    assert profile.weighted.max() == pytest.approx(expected["max_weighted_H"], abs=WITHIN)
    share = joint / joint.sum(axis=1, keepdims=True) / (joint.sum(axis=0) / joint.sum())
    assert np.log2(share.max()) == pytest.approx(expected["max_pointwise_MI"], abs=WITHIN)
    assert 1 / profile.measures.entropy_l_diversity_risk == pytest.approx(
        expected["l_entropy"], abs=1e-5
    )
    if case["role"] == "reidentification":
        sizes = Reidentification.of(joint.sum(axis=1))
        assert_measures(sizes, expected)
        assert_classes(sizes, expected)


@pytest.mark.parametrize("name", EXPECTED["contingency_cases"])
def test_contingency_tables(name):
    case = EXPECTED["contingency_cases"][name]
    profile = Inference.of(case["table"])
    assert_measures(profile, case["expected"])
    assert_classes(profile, case["expected"])


@pytest.mark.parametrize("name", EXPECTED["group_size_cases"])
def test_class_sizes(name):
    case = EXPECTED["group_size_cases"][name]
    assert_measures(Reidentification.of(case["group_sizes"]), case["expected"])


def test_the_hiv_example():
    example = EXPECTED["paper_hiv_example"]
    for row in example["rows"]:
        here = row["hiv_in_group"]
        group = [here, example["group"] - here]
        rest = [example["hiv_total"] - here, example["N"] - example["hiv_total"] - group[1]]
        profile = Inference.of([group, rest])
        found = profile.measures
        assert found.itpr == pytest.approx(row["ITPR"], abs=WITHIN)
        assert found.uncertainty == pytest.approx(row["H_X"], abs=WITHIN)
        assert found.mutual_information == pytest.approx(row["MI"], abs=WITHIN)
        assert found.discrimination_rate == pytest.approx(row["DR"], abs=WITHIN)
        assert found.entropy_l_diversity_risk == pytest.approx(row["ELD"], abs=WITHIN)
        assert profile.i1[0] == pytest.approx(row["I1_group"], abs=WITHIN)


def test_itpr_falls_where_a_class_is_split():
    assert Reidentification.of([4, 12]).measures.itpr == pytest.approx(0.75)
    assert Reidentification.of([4, 4, 4, 4]).measures.itpr == pytest.approx(0.5)


def test_itpr_does_not_tell_what_the_posterior_tells():
    three, five = Inference.of([[1, 1, 1]] * 3).measures, Inference.of([[1, 3, 1]] * 3).measures
    for name in ("itpr", "discrimination_rate", "mutual_information", "conditional_privacy"):
        assert (three[name], five[name]) == (pytest.approx(0, abs=BITS),) * 2
    assert (three.max_posterior, five.max_posterior) == (pytest.approx(1 / 3), 0.6)
    assert three.entropy_l_diversity_risk < five.entropy_l_diversity_risk


@pytest.mark.parametrize("joint", [[[8]], [[3], [5]], [[1]], [[0, 4], [0, 1]]])
def test_a_constant_attribute(joint):
    found = risk.measures(joint)
    assert found.degenerate
    assert dict(found) | {
        "uncertainty": 0.0,
        "conditional_uncertainty": 0.0,
        "discrimination_rate": 0.0,
        "mutual_information": 0.0,
        "conditional_privacy": 0.0,
        "maximum_information_leakage": 0.0,
        "weighted_information_leakage": 0.0,
        "itpr": 0.0,
        "unscaled_itpr": 0.0,
        "i1_max": 0.0,
        "i2_max": 0.0,
        "entropy_l_diversity_risk": 1.0,
        "max_posterior": 1.0,
    } == dict(found)


@pytest.mark.parametrize("sizes", [[1], [7], [0, 3, 0], [10**12]])
def test_one_class_tells_nothing(sizes):
    found = Reidentification.of(sizes).measures
    assert found.classes == 1
    assert found.itpr == found.discrimination_rate == found.mutual_information == 0
    assert found.maximum_information_leakage == found.conditional_privacy == found.i1_max == 0
    assert found.entropy_l_diversity_risk == pytest.approx(1 / sum(sizes))


def test_one_class_tells_nothing_to_the_last_bit():
    rng = np.random.default_rng(5)
    for values in rng.integers(1, 6, 200):
        counts = rng.integers(1, 10 ** rng.integers(1, 12), values)
        for profile in (Inference.of([counts]), Reidentification.of(counts[:1])):
            found, told = profile.measures, [*profile.i1, *profile.i2, *profile.itpr_terms]
            assert found.itpr == found.discrimination_rate == found.mutual_information == 0
            assert found.maximum_information_leakage == found.conditional_privacy == 0
            assert told == [0, 0, 0]


def test_classes_like_the_table_keep_the_bounds_to_the_last_bit():
    """Where nothing is told all that is measured is rounding: never below 0."""
    rng = np.random.default_rng(6)
    for shape in rng.integers(2, 12, (300, 2)):
        joint = np.outer(*(rng.integers(1, 10**5, size) for size in shape))
        profile = Inference.of(joint)
        found = profile.measures
        assert 0 <= found.mutual_information <= BITS
        assert 0 <= found.discrimination_rate <= found.itpr <= 1
        assert 0 <= found.maximum_information_leakage <= BITS
        assert min(profile.i1.min(), profile.i4.min(), found.conditional_privacy) >= 0


def test_measures_read_as_a_mapping_too():
    found = risk.measures([[3, 1], [1, 3]])
    assert dict(found) == found.to_dict()
    assert pd.Series(dict(found))["itpr"] == found.itpr


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ([[0, 0]], "no records"),
        (np.empty((0, 3)), "no records"),
        ([1, 2], r"shape \(classes, values\), not of 1 dimensions"),
        ([[1, -2]], "whole and not negative; 1 are not"),
        ([[1, np.nan], [np.inf, 0.5]], "3 are not"),
        ([["a", "b"]], "expected records as whole numbers"),
        ([[1], [1, 2]], "expected records as whole numbers"),
        ([[2**53, 1]], "9,007,199,254,740,992 records or more cannot"),
        ([[10**30]], "9,007,199,254,740,992 records or more cannot"),
    ],
)
def test_what_is_no_count_matrix(joint, message):
    with pytest.raises(InputError, match=message):
        risk.measures(joint)


@pytest.mark.parametrize(
    "measure",
    [
        Reidentification.of,
        loss_of_sizes,
        risk.distinction,
        risk.separation,
        risk.share_alone,
    ],
)
@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([[1]], r"class sizes, shape \(classes,\), not of 2 dimensions"),
        (5, "not of 0 dimensions"),
        ([0], "no records"),
        ([-1, 2], "whole and not negative; 1 are not"),
        ([1.5, np.nan, 2], "2 are not"),
        (["a"], "expected records as whole numbers, class sizes"),
        ([2**53, 2**53], "9,007,199,254,740,992 records or more"),
    ],
)
def test_what_are_no_class_sizes(measure, sizes, message):
    with pytest.raises(InputError, match=message):
        measure(sizes)


def in_bits(digits: int, joint: list[list[int]]) -> tuple[float, float]:
    """DR and ITPR in decimal arithmetic of so many digits."""

    def bits(counts: list[int]) -> Decimal:
        total = Decimal(sum(counts))
        return -sum(n / total * (n / total).ln() for n in map(Decimal, counts) if n)

    with localcontext(prec=digits):
        whole = bits([sum(column) for column in zip(*joint, strict=True)])
        shares = [Decimal(sum(row)) / sum(map(sum, joint)) * bits(row) for row in joint]
        return float(1 - sum(shares) / whole), float(1 - len(joint) * min(shares) / whole)


@pytest.mark.parametrize("dominating", [10**6, 10**9, 10**12])
def test_an_attribute_that_next_to_nobody_differs_in(dominating):
    joint = [[dominating, 1, 0], [3 * dominating, 1, 1], [dominating // 2, 2, 0]]
    found = risk.measures(joint)
    assert (found.discrimination_rate, found.itpr) == pytest.approx(in_bits(50, joint), abs=BITS)


joints = arrays.arrays(
    np.int64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(0, 9)
).filter(lambda joint: joint.any())


@given(joints)
def test_as_with_dense_matrices(joint):
    profile = Inference.of(joint)
    observed = joint[joint.any(axis=1)]
    assert profile.i1 == pytest.approx(surprise(observed), abs=BITS)
    assert profile.i2 == pytest.approx(specific_information(observed), abs=BITS)
    assert profile.i3 == pytest.approx(weighted_uncertainty_reduction(observed), abs=BITS)
    assert profile.i4 == pytest.approx(partition_information(observed), abs=BITS)
    assert profile.uncertainties == pytest.approx(entropy(observed), abs=BITS)
    assert profile.posterior == pytest.approx((observed / observed.sum(1, keepdims=True)).max(1))


@given(joints, st.randoms(use_true_random=False))
def test_records_one_by_one_are_counted_alike(joint, random):
    records = [cell for cell in np.ndindex(joint.shape) for _ in range(joint[cell])]
    random.shuffle(records)
    rows, values = np.array(records).T
    class_of = np.unique(rows, return_inverse=True)[1]
    tallied, given_ = Inference.tallied(class_of, values), Inference.of(joint)
    assert dict(tallied.measures) == pytest.approx(dict(given_.measures), abs=BITS)
    assert tallied.i4 == pytest.approx(given_.i4, abs=BITS)


@pytest.mark.parametrize("dense", [0, 10**9])
def test_sparse_and_dense_tallies_agree(dense, monkeypatch):
    monkeypatch.setattr("anonymizer.risk.profile.DENSE", dense)
    rng = np.random.default_rng(3)
    rows, values = rng.integers(0, 40, 500), rng.integers(0, 30, 500)
    class_of = np.unique(rows, return_inverse=True)[1]
    expected = pd.crosstab(class_of, values).to_numpy()
    found = Inference.tallied(class_of, values)
    assert dict(found.measures) == pytest.approx(dict(risk.measures(expected)), abs=BITS)


@given(joints)
def test_bounds_and_averages(joint):
    profile = Inference.of(joint)
    found, share = profile.measures, profile.sizes / profile.records
    assert 0 <= found.discrimination_rate <= found.itpr <= 1
    assert 0 <= found.conditional_privacy < 1
    assert 0 <= found.mutual_information <= found.uncertainty
    assert 0 < found.entropy_l_diversity_risk <= found.max_posterior + BITS <= 1 + BITS
    assert found.mutual_information <= found.maximum_information_leakage + BITS
    assert (profile.i1 >= 0).all()
    assert (profile.i4 >= 0).all()
    assert (profile.itpr_terms >= 1 - found.classes - BITS).all()
    for mean in (share @ profile.i1, share @ profile.i2, share @ profile.i3):
        assert mean == pytest.approx(found.mutual_information, abs=BITS)
    homogeneous = bool((profile.uncertainties == 0).any())
    assert (found.itpr == 1) == (homogeneous and not found.degenerate)


MONOTONE = (
    "discrimination_rate",
    "mutual_information",
    "conditional_privacy",
    "maximum_information_leakage",
    "weighted_information_leakage",
    "i1_max",
    "entropy_l_diversity_risk",
    "unscaled_itpr",
    "max_posterior",
)


@given(joints, st.data())
def test_merging_classes_never_raises_what_is_monotone(joint, data):
    observed = joint[joint.any(axis=1)]
    place = data.draw(st.integers(0, len(observed) - 1))
    other = data.draw(st.integers(0, len(observed) - 1))
    merged = np.delete(observed, other, axis=0) if other != place else observed.copy()
    if other != place:
        merged[place - (other < place)] += observed[other]
    for fine, coarse in (
        (risk.measures(observed), risk.measures(merged)),
        tuple(Reidentification.of(rows.sum(axis=1)).measures for rows in (observed, merged)),
    ):
        for name in MONOTONE:
            assert coarse[name] <= fine[name] + BITS, name
        assert coarse.discrimination_rate <= fine.itpr + BITS


@given(joints)
def test_sizes_are_enough_for_reidentification(joint):
    sizes = joint.sum(axis=1)
    sizes = sizes[sizes > 0]
    unique = np.repeat(np.eye(len(sizes), dtype=int), sizes, axis=1)
    of_sizes, of_joint = Reidentification.of(sizes), Inference.of(unique)
    assert dict(of_sizes.measures) == pytest.approx(dict(of_joint.measures), abs=BITS)
    for ours in PER_CLASS.values():
        assert getattr(of_sizes, ours) == pytest.approx(getattr(of_joint, ours), abs=BITS)


@given(joints)
def test_values_that_nobody_has_change_nothing(joint):
    padded = np.pad(joint, ((0, 2), (1, 0)))
    assert dict(risk.measures(padded)) == pytest.approx(dict(risk.measures(joint)), abs=BITS)


HOUSES = np.arange(1, 2001)
QUERIES = {
    "A": [HOUSES < 1000],
    "B": [HOUSES < 1001],
    "AB": [HOUSES < 1000, HOUSES < 1001],
    "C": [HOUSES % 2],
    "BC": [HOUSES < 1001, HOUSES % 2],
    "trivial": [HOUSES * 0],
    "identity": [HOUSES],
    "equals_1000": [HOUSES == 1000],
}


def assert_loss(found: QueryLoss, expected: dict) -> None:
    assert found.uncertainty == pytest.approx(expected["S0"], abs=5e-9)
    assert found.average == pytest.approx(expected["avg"], abs=5e-9)
    assert found.standard_deviation == pytest.approx(expected["std"], abs=5e-9)
    assert found.maximum == pytest.approx(expected["max_loss"], abs=5e-9)
    assert found.minimum == pytest.approx(expected["min_loss"], abs=5e-9)


@pytest.mark.parametrize("name", QUERIES)
def test_the_celebrity(name):
    answers = together(*QUERIES[name])
    expected = EXPECTED["longpre"]["celebrity"][name]
    assert_loss(query_loss(answers), expected)
    assert_loss(loss_of_sizes(np.bincount(answers)), expected)


@pytest.mark.parametrize("name", ["P_ab", "P_first", "P_alt"])
def test_weighted_queries(name):
    weighted = EXPECTED["longpre"]["weighted"]
    expected = weighted[name]
    assert_loss(query_loss(expected["partition"].split(), weighted["p"]), expected)
    assert_loss(query_loss(expected["partition"].split(), [4, 2, 1, 1]), expected)


def test_weighted_queries_together():
    weighted = EXPECTED["longpre"]["weighted"]
    both = together("abbb", "abab")
    assert_loss(query_loss(both, weighted["p"]), weighted["P_first_x_alt"])


@pytest.mark.parametrize("name", ["negative_loss", "zero_probability"])
def test_losses_that_surprise(name):
    expected = EXPECTED["longpre"][name]
    assert_loss(query_loss(expected["partition"].split(), expected["p"]), expected)


def test_two_harmless_questions_give_a_house_away():
    both = query_loss(together(HOUSES < 1000, HOUSES < 1001))
    assert both.maximum == pytest.approx(log2(2000))
    assert both.average == pytest.approx(1.0057, abs=5e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "no alternatives"),
        ((["a"], [0]), "no alternatives"),
        ((["a", "b"], [1]), r"2 alternatives, but weights of shape \(1,\)"),
        ((["a", "b"], [1, -1]), "finite and not negative"),
        ((["a", "b"], [1, np.nan]), "finite and not negative"),
        ((["a", "b"], ["x", 1]), "must be numbers"),
        (([["a"], ["b"]],), "one label for each alternative"),
        ((np.ones((2, 2)),), "one label for each alternative"),
        (({"a", "b"},), "one label for each alternative"),
        (({"a": 1},), "one label for each alternative"),
        ((5,), "one label for each alternative"),
    ],
)
def test_what_is_no_query(arguments, message):
    with pytest.raises(InputError, match=message):
        query_loss(*arguments)


def test_queries_about_different_alternatives():
    with pytest.raises(InputError, match="different numbers of alternatives: 2, 3"):
        together("ab", "abc")
    with pytest.raises(InputError, match="at least one partition"):
        together()


@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1.0, 1e307])
def test_weights_of_any_size(unit):
    weights = np.array([4, 2, 1, 1]) * unit
    assert_loss(query_loss("abbb", weights), EXPECTED["longpre"]["weighted"]["P_first"])


def test_a_question_that_has_one_answer_costs_nothing_to_the_last_bit():
    rng = np.random.default_rng(7)
    for alternatives in rng.integers(1, 30, 200):
        found = query_loss(np.zeros(alternatives), rng.random(alternatives) + 0.01)
        assert found.average == found.maximum == found.minimum == 0


def test_no_label_is_an_answer_of_its_own():
    assert query_loss(["a", None, "a", np.nan]) == query_loss("abab")
    assert together(["a", None], [None, None]).tolist() == [0, 1]


def test_an_answer_as_good_as_impossible_is_an_answer():
    found = query_loss("aabb", [1e-300, 1e-300, 3e300, 1e300])
    assert (found.uncertainty, found.minimum) == pytest.approx((0.811278, -0.188722), abs=WITHIN)
    assert (found.average, found.maximum) == pytest.approx((0, 0), abs=BITS)


answers = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=30)


@given(answers)
def test_losses_are_subadditive_and_monotone(rows):
    first, second, weights = map(list, zip(*rows, strict=True))
    weights[0] += 1
    both = query_loss(together(first, second), weights)
    one, other = query_loss(first, weights), query_loss(second, weights)
    assert both.average <= one.average + other.average + BITS
    assert both.average >= max(one.average, other.average) - BITS


@given(answers)
def test_loss_as_the_paper_defines_it(rows):
    answer, weights = [row[0] for row in rows], [row[2] for row in rows]
    weights[0] += 1
    p = np.array(weights) / sum(weights)
    s0 = -sum(x * log2(x) for x in p if x)
    chances, left = [], []
    for label in sorted(set(answer)):
        inside = p[np.array(answer) == label]
        if inside.sum():
            chances.append(inside.sum())
            left.append(-sum(x * log2(x) for x in inside / inside.sum() if x))
    losses = s0 - np.array(left)
    mean = np.dot(chances, losses)
    found = query_loss(answer, weights)
    assert found.average == pytest.approx(mean, abs=BITS)
    spread = np.dot(chances, np.square(left)) - np.dot(chances, left) ** 2
    assert found.standard_deviation**2 == pytest.approx(spread, abs=1e-7)
    assert found.maximum == pytest.approx(losses.max(), abs=BITS)
    assert found.minimum == pytest.approx(losses.min(), abs=BITS)


@given(answers)
def test_releasing_an_attribute_of_everybody_is_a_query(rows):
    sizes = np.unique([row[0] for row in rows], return_counts=True)[1]
    loss = query_loss([row[0] for row in rows])
    found = Reidentification.of(sizes).measures
    assert loss.average == pytest.approx(found.mutual_information, abs=BITS)
    assert loss.maximum == pytest.approx(found.maximum_information_leakage, abs=BITS)
