"""Quasi-identifiers of a raw table, by distinction and separation."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risky import OneAtATime, names_of, sizes_of, subsets_of, tables

from anonymizer.errors import InputError
from anonymizer.risk import MOST_SUBSETS, detect, distinction, separation, share_alone

FIVE = pd.DataFrame(
    {
        "age": [20, 30, 40, 20, 40],
        "sex": ["f", "f", "f", "m", "m"],
        "state": ["CA", "CA", "TX", "NY", "CA"],
    }
)


def by_hand(table, subset):
    """Distinction, separation and the share of records alone, from the records themselves."""
    records = list(table[list(subset)].fillna("none").itertuples(index=False, name=None))
    pairs = list(combinations(records, 2))
    return (
        len(set(records)) / len(records),
        sum(a != b for a, b in pairs) / len(pairs) if pairs else 1.0,
        sum(records.count(record) == 1 for record in records) / len(records),
    )


def test_hand_worked_ratios():
    # Ages 2 + 1 + 2: 3 of 5 distinct; of 10 pairs two are of one age each.
    assert (distinction([2, 1, 2]), separation([2, 1, 2]), share_alone([2, 1, 2])) == (
        0.6,
        0.8,
        0.2,
    )
    assert (distinction([5]), separation([5]), share_alone([5])) == (0.2, 0.0, 0.0)
    assert (distinction([1] * 5), separation([1] * 5), share_alone([1] * 5)) == (1.0, 1.0, 1.0)
    assert (distinction([1]), separation([1]), share_alone([1])) == (1.0, 1.0, 1.0)
    assert (distinction([0, 2]), separation([0, 2]), share_alone([0, 1])) == (0.5, 0.0, 1.0)


def test_detected_by_hand():
    # Alone age has 3 of 5, sex 2, state 3; of two sex and state have 4, the others 5.
    found = detect(FIVE, ["age", "sex", "state"], distinction=0.8)
    assert [one.names for one in found] == [("age", "sex"), ("age", "state"), ("sex", "state")]
    assert [one.distinction for one in found] == [1.0, 1.0, 0.8]
    assert [one.separation for one in found] == [1.0, 1.0, 0.9]
    assert [one.share_alone for one in found] == [1.0, 1.0, 0.6]
    assert [one.names for one in detect(FIVE, ["age", "sex", "state"], separation=0.8)] == [
        ("age",),
        ("sex", "state"),
    ]
    assert [one.names for one in detect(FIVE, ["age", "sex", "state"], size=1)] == []
    assert detect(FIVE, ["sex", "state"], distinction=1.0) == []
    assert found == detect(FIVE, ["age", "sex", "state"])


def test_pairs_are_exact_where_floats_are_not():
    # 1 - 1 / 49999995000000 is no 1, and the sums are beyond 2 ** 53 and 2 ** 63.
    sizes = np.append(np.ones(9_999_998, int), 2)
    pairs = 10_000_000 * 9_999_999 // 2
    assert separation(sizes) == (pairs - 1) / pairs < 1
    assert separation([2**40, 2**40]) == 2**80 / (2**40 * (2**41 - 1))
    assert separation([3_000_000_000, 1]) == 3_000_000_000 * 2 / (3_000_000_001 * 3_000_000_000)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=8))
def test_ratios_never_rise_when_classes_merge(sizes):
    merged = [sizes[0] + sizes[1], *sizes[2:]]
    for ratio in (distinction, separation, share_alone):
        assert 0 <= ratio(merged) <= ratio(sizes) <= 1
    assert share_alone(sizes) <= distinction(sizes)


@given(tables())
def test_ratios_beside_the_records(table):
    for subset in subsets_of(names_of(table), 4):
        sizes = sizes_of(table, subset)
        ratios = (distinction(sizes), separation(sizes), share_alone(sizes))
        assert ratios == pytest.approx(by_hand(table, subset), abs=1e-12)


THRESHOLDS = st.one_of(st.none(), st.sampled_from([0.2, 0.5, 0.6, 0.8, 0.9, 0.95, 1.0]))


@given(tables(), st.integers(1, 4), THRESHOLDS, THRESHOLDS)
def test_detected_sets_are_minimal_and_none_is_missed(table, size, distinct, separate):
    least = (0.8 if distinct is separate is None else distinct or 0, separate or 0)
    reached = [
        subset
        for subset in subsets_of(names_of(table), size)
        if all(a >= b for a, b in zip(by_hand(table, subset), least, strict=False))
    ]
    minimal = {one for one in reached if not any(set(other) < set(one) for other in reached)}
    found = detect(table, names_of(table), size, distinct, separate)
    assert len(found) == len(minimal)
    assert {one.names for one in found} == minimal
    for one in found:
        told = (one.distinction, one.separation, one.share_alone)
        assert told == pytest.approx(by_hand(table, one.names), abs=1e-12)


def test_supersets_of_what_was_found_are_not_read():
    table = OneAtATime(
        pd.DataFrame({"key": range(8), "a": [0, 1] * 4, "b": [0, 0, 1, 1] * 2, "c": [0] * 8})
    )
    assert [one.names for one in detect(table, ["key", "a", "b", "c"], 4, 0.5)] == [
        ("key",),
        ("a", "b"),
    ]
    # All together the key is enough; then each alone, and b again beside a.
    assert table.read == {"key": 2, "a": 1, "b": 2, "c": 1}


def test_nothing_is_searched_where_all_together_are_not_enough():
    table = OneAtATime(FIVE[["sex", "state"]])
    assert detect(table, ["sex", "state"], distinction=0.9) == []
    assert table.read == {"sex": 1, "state": 1}


def test_missing_values_are_a_value():
    table = pd.DataFrame({"a": ["p", None, None, "q"], "b": [1.0, float("nan"), 1.0, 1.0]})
    (found,) = detect(table, ["a", "b"], distinction=1.0)
    assert found.names == ("a", "b")


def test_json():
    (found,) = detect(FIVE, ["age", "sex"], distinction=1)
    assert found.to_dict() == {
        "names": ["age", "sex"],
        "distinction": 1.0,
        "separation": 1.0,
        "share_alone": 1.0,
    }


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["age"], {"distinction": 0}, "distinction = 0 must be a share above 0, of at most 1"),
        (["age"], {"separation": 1.1}, "separation = 1.1 must be a share"),
        (["age"], {"separation": "all"}, "separation = 'all' must be a share"),
        (["age"], {"distinction": True}, "distinction = True must be a share"),
        (["age"], {"distinction": float("nan")}, "distinction = nan must be a share"),
        (["age"], {"size": 0}, "size = 0 must be a whole number"),
        (["shoe"], {}, "the table has no column 'shoe'"),
        ([], {}, "name at least one attribute"),
        ([f"q{n}" for n in range(129)], {}, f"more than {MOST_SUBSETS:,} subsets of up to 3"),
    ],
)
def test_what_cannot_be_detected(names, options, message):
    with pytest.raises(InputError, match=message):
        detect(FIVE, names, **options)


def test_of_sets_as_large_the_most_distinct_come_first():
    table = pd.DataFrame({"a": list("xxyy"), "b": list("wxyz"), "c": list("xxyz")})
    found = detect(table, ["a", "b", "c"], size=1, distinction=0.5)
    assert [each.names for each in found] == [("b",), ("c",), ("a",)]


@pytest.mark.parametrize("size", [2**20, 2**31 - 1, 2**32, 2**50])
def test_pairs_of_many_records_are_counted_exactly(size):
    assert separation([size, size]) == float(Fraction(size, 2 * size - 1))


def test_no_records():
    with pytest.raises(InputError, match="no records"):
        detect(FIVE.head(0), ["age"])
    with pytest.raises(InputError, match="no records"):
        separation([0, 0])


def test_adult_beside_pandas(adult):
    names = ["age", "workclass", "education", "occupation", "race", "sex"]
    found = detect(adult, names, size=6, distinction=0.3)
    minimal = [
        subset
        for subset in subsets_of(names, 6)
        if len(sizes_of(adult, subset)) / len(adult) >= 0.3
        and all(
            len(sizes_of(adult, less)) / len(adult) < 0.3
            for less in combinations(subset, len(subset) - 1)
        )
    ]
    assert minimal
    assert {one.names for one in found} == set(minimal)
