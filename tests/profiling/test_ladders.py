from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Hierarchy
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.ladders import ladder_of, nice

RNG = np.random.default_rng(0)


def rule(values, name="column", k=5):
    return ladder_of(ProfiledColumn.of(pd.Series(values, name=name)), k).rule


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.arange(18, 90).repeat(10), {"widths": [5, 10, 20]}),
        (np.arange(1930, 2005).repeat(10), {"widths": [5, 10, 20]}),
        ([0] * 40 + [1] * 30 + [2] * 20 + [3] * 9 + [7], {"cuts": [[1, 2, 3], [1]]}),
        ([1, 2, 3, 4, 5] * 40, {"cuts": [[2, 3, 5], [3]]}),
        ([1, 2] * 40, {"suppress": True}),
        ([0, 25, 50, 95] * 40, {"widths": [40]}),
        (
            ["65+", "18-24", "25-44", "45-64", "under 18"] * 9,
            {
                "order": ["under 18", "18-24", "25-44", "45-64", "65+"],
                "cuts": [["18-24", "25-44", "65+"], ["25-44"]],
            },
        ),
        (["m", "f"] * 30, {"suppress": True}),
        (["a"] * 60 + ["b"] * 30 + ["c"] * 6 + ["d"] * 4, {"keep": [["a", "b"]], "other": "other"}),
        (["Other"] * 60 + list("abcd") * 10, {"keep": [["Other"]], "other": "any other"}),
    ],
)
def test_rules_by_hand(values, expected):
    assert rule(values) == expected


def test_prefixes_are_of_lengths_that_say_less():
    codes = ["01067", "01069", "10115", "10117", "20095"] * 30
    assert rule(codes, "zip") == {"prefixes": [4]}
    lost = [int(code) for code in codes]
    assert rule(lost, "zip") == {"prefixes": [4], "length": 5, "pad": "0"}
    # Nobody knows how many zeros the shortest ones lost.
    assert rule([*lost, 7, 8], "zip") == {"widths": [10, 100, 1000, 10000]}


def test_incomes_get_cut_points_of_like_size_at_nice_numbers():
    found = rule(RNG.lognormal(10, 1, 5000).round(2))["cuts"]
    assert all(nice(float(cut)) == cut for cut in found[0])
    assert len(found[0]) > 8
    assert len(found[-1]) == 1


def test_a_crowd_of_zeros_is_kept_apart():
    gains = np.where(RNG.random(2000) < 0.9, 0, RNG.integers(1, 99999, 2000))
    assert rule(gains)["cuts"][0][0] == 1


@pytest.mark.parametrize(
    ("days", "units"),
    [
        (20_000, ["year", "5 years", "decade"]),
        (5_000, ["quarter", "year", "5 years"]),
        (900, ["month", "quarter", "year"]),
        (200, ["month", "quarter"]),
        (60, ["week"]),
    ],
)
def test_calendars_follow_the_span(days, units):
    dates = pd.Timestamp("1990-01-01") + pd.to_timedelta(np.linspace(0, days, 500) // 1, unit="D")
    assert rule(dates) == {"calendar": units}


def test_ordered_categories_keep_their_order_unless_a_value_is_rare():
    sizes = ["S"] * 20 + ["M"] * 30 + ["L"] * 20 + ["XL"] * 10
    order = ["S", "M", "L", "XL"]
    known = pd.Categorical(sizes, categories=order, ordered=True)
    assert rule(known) == {"order": order, "cuts": [["L"]]}
    rare = pd.Categorical([*sizes, "XXL"], categories=[*order, "XXL"], ordered=True)
    assert "XXL" not in str(rule(rare))


values = st.one_of(
    st.lists(st.integers(-1000, 10**6), min_size=1, max_size=80),
    st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=80),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=80),
    st.lists(st.dates().map(str), min_size=1, max_size=40),
)


@given(values, st.integers(2, 10))
def test_every_proposal_is_a_hierarchy_of_all_values(given_values, k):
    found = rule(given_values, k=k)
    Hierarchy.of(found).over("column", dict.fromkeys(given_values))


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=80), st.integers(2, 10))
def test_no_rare_value_is_named(given_values, k):
    named = {value for level in rule(given_values, k=k).get("keep", []) for value in level}
    assert all(given_values.count(value) >= max(5, k) for value in named)


@given(st.floats(1e-9, 1e12))
def test_nice_numbers_are_near(number):
    assert abs(float(nice(number)) / number - 1) <= 0.15
    assert nice(-number) == -nice(number)
    assert len(nice(number).normalize().as_tuple().digits) <= 2


def test_cut_points_of_small_decimals_are_exact():
    assert nice(0.0143) == Decimal("0.015")


def test_others_have_a_name_that_no_value_has():
    taken = ["other", "any other", "The rest", "other 2"]
    ladder = ladder_of(
        ProfiledColumn.of(pd.Series(["a"] * 60 + ["b"] * 30 + taken, name="town")), 2
    )
    assert ladder.rule["other"] == "other 3"


def test_a_proposed_cut_is_no_value_of_few_records_that_it_need_not_be():
    """Three are 15 and three are 17, and 14 and 16 are nobody's."""
    rest = [*range(17, 25)] * 3
    assert rule([*range(11)] * 100 + [15] * 3 + rest)["cuts"][0] == [*range(1, 15), 16]
    # What five have is no secret.
    assert rule([*range(11)] * 100 + [15] * 5 + rest)["cuts"][0] == [*range(1, 17)]


@given(st.integers(0, 10_000), st.booleans())
def test_proposed_cuts_are_nobodys_numbers(seed, whole):
    rng = np.random.default_rng(seed)
    values = np.round(rng.lognormal(4, 1.5, 200), 0 if whole else 1)
    numbers, sizes = np.unique(values, return_counts=True)
    records = dict(zip(numbers.tolist(), sizes.tolist(), strict=True))
    for level in rule(values.astype(int) if whole else values).get("cuts", ()):
        for cut in level:
            follows = whole and cut - 1 in records
            assert not 0 < records.get(float(cut), 0) < 5 or follows


@pytest.mark.parametrize(("gaps", "missing"), [(0, None), (3, "other"), (40, None)])
def test_few_gaps_are_among_the_others(gaps, missing):
    wards = [*["north"] * 200, *["south"] * 100, *["east", "west", "isle"] * 10, *[None] * gaps]
    column = ProfiledColumn.of(pd.Series(wards, dtype=object, name="ward"))
    assert ladder_of(column, 5).rule.get("missing") == missing
