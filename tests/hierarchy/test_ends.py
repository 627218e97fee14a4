"""Ends of ranges: what lies beyond them is one group at every level, of numbers and of dates."""

from datetime import date, timedelta
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Anonymizer, Hierarchy, InputError, KAnonymity
from anonymizer.hierarchy.reading import of_rule, rule_alone
from anonymizer.tables.values import range_in

AGES = {"widths": [5, 20], "bottom": 18, "top": 92}
YEARS = {"calendar": ["month", "year", "decade"], "bottom": 1936, "top": "2015-06"}


def labels(rule: dict, value: object) -> list[str]:
    return [str(label) for label in Hierarchy.of(rule).labels(value)]


def test_numbers_by_hand():
    assert labels(AGES, 17) == ["(-inf, 18)", "(-inf, 18)", "*"]
    assert labels(AGES, 18) == ["[18, 20)", "[18, 20)", "*"]
    assert labels(AGES, 60) == ["[60, 65)", "[60, 80)", "*"]
    assert labels(AGES, 91) == ["[90, 92)", "[80, 92)", "*"]
    assert labels(AGES, 92) == labels(AGES, 119) == ["[92, inf)", "[92, inf)", "*"]
    assert labels({"cuts": [[20, 40], [40]], "top": 90}, 95) == ["[90, inf)", "[90, inf)", "*"]
    assert labels({"cuts": [[20, 40], [40]], "top": 90}, 50) == ["[40, 90)", "[40, 90)", "*"]


def test_dates_by_hand():
    # Everybody who was born in 1936 or before is in one group, whatever the level.
    oldest = ["(-inf, 1937-01-01)"] * 3 + ["*"]
    assert labels(YEARS, "1901-05-04") == labels(YEARS, "1936-12-31") == oldest
    assert labels(YEARS, "1937-01-01") == ["1937-01", "1937", "[1937-01-01, 1940-01-01)", "*"]
    assert labels(YEARS, "2015-05-31")[:2] == ["2015-05", "[2015-01-01, 2015-06-01)"]
    assert labels(YEARS, "2015-06-01") == ["[2015-06-01, inf)"] * 3 + ["*"]
    assert labels({"calendar": ["year"], "bottom": date(1936, 12, 31)}, "1936-12-31")[0][0] == "("


EXACT = {"widths": [5, 20], "bottom": 18, "top": 90, "exact": True}


def test_whole_numbers_as_they_are_by_hand():
    assert labels(EXACT, 17) == ["(-inf, 18)"] * 3 + ["*"]
    assert labels(EXACT, 18) == ["18", "[18, 20)", "[18, 20)", "*"]
    assert labels(EXACT, "89") == labels(EXACT, 89.0) == ["89", "[85, 90)", "[80, 90)", "*"]
    assert labels(EXACT, 90) == labels(EXACT, "97.5") == ["[90, inf)"] * 3 + ["*"]
    assert labels({"widths": [1, 5], "top": 90, "exact": True}, 44) == ["44", "[40, 45)", "*"]
    ages = Hierarchy.of(EXACT)
    assert ages.labels(89)[0].entry() == {"from": 89, "to": 90}
    assert Hierarchy.ranges([5, 20], bottom=18, top=90, exact=True) == ages
    assert not ages.covers(ages.key("44.5"))


@pytest.mark.parametrize("rule", [AGES, YEARS, EXACT, {"cuts": [["20", "40"]], "top": "90"}])
def test_a_manifest_repeats_the_rule(rule):
    hierarchy = of_rule(rule)
    assert of_rule(rule_alone(hierarchy)).describe() == hierarchy.describe()
    assert hierarchy.limits.min_level == 1


@given(
    st.lists(st.integers(0, 130), min_size=1, max_size=30),
    st.integers(1, 129),
    st.sampled_from([1, 5, 20]),
)
def test_numbers_beyond_an_end_are_one_and_the_others_are_as_without_it(values, top, width):
    plain = Hierarchy.ranges([width, 2 * width])
    ended = Hierarchy.ranges([width, 2 * width], top=top)
    for value in values:
        if value >= top:
            assert str(ended.labels(value)[0]) == f"[{top}, inf)"
        else:
            low, high = plain.labels(value)[0].low, plain.labels(value)[0].high
            assert (ended.labels(value)[0].low, ended.labels(value)[0].high) == (
                low,
                min(high, Decimal(top)),
            )


def people() -> pd.DataFrame:
    ages = [str(age) for age in range(1, 90)] * 3 + ["90+", "> 89", "91", "97", "<1", "0"] * 4
    born = [str(date(1925, 1, 1) + timedelta(61 * place)) for place in range(len(ages))]
    return pd.DataFrame(
        {"age": ages, "born": born, "d": (["a", "b", "c"] * len(ages))[: len(ages)]}
    )


@pytest.mark.parametrize(
    "method", ["full-domain", "cut", "variable-range", "boxes", "merged-cells"]
)
@pytest.mark.parametrize("more", [{}, {"exact": True}], ids=["ranges", "exact"])
def test_no_recoding_divides_what_lies_beyond(method, more):
    known = {
        "age": {"widths": [5, 20], "top": 90, "bottom": 1, **more},
        "born": {"calendar": ["year", "decade"], "bottom": 1936},
    }
    anonymizer = Anonymizer(
        quasi_identifiers=known, sensitive="d", privacy=[KAnonymity(4)], recoding=method
    )
    raw = people()
    released = anonymizer.fit_transform(raw).astype(str)
    for label in {*released["age"]} - {"*"}:
        if label.isdecimal():
            assert more
            assert 1 <= int(label) < 90
            continue
        low, high = label[1:-1].split(", ")
        assert high == "inf" or float(high) <= 90
        assert low == "-inf" or float(low) >= 1
    oldest = released["age"][raw["age"].isin(["90+", "> 89", "91", "97"])]
    assert all(label == "*" or label.endswith("inf)") for label in oldest)
    assert not any(label.startswith(("192", "1930", "1935")) for label in released["born"])


def test_a_range_that_is_a_text_goes_with_the_group_that_holds_it_whole():
    ages = Hierarchy.ranges([5], top=90, bottom=1)
    for text in ("90+", "> 89", "≥ 95", "over 89", "90 and over"):
        assert str(ages.labels(text)[0]) == "[90, inf)"
    assert str(ages.labels("20-24")[0]) == "[20, 25)"
    for text in ("85+", "18-24", "< 3", "about 90"):
        assert not ages.covers(ages.key(text))


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("90+", (90, None)),
        ("> 89", (90, None)),
        ("> 0.5", ("0.6", None)),
        ("<1", (None, 1)),
        ("<= 1", (None, 2)),
        ("18-24", (18, 25)),
        ("24-18", None),
        ("< 3 +", None),
        ("17", None),
    ],
)
def test_ranges_that_texts_write(text, span):
    wanted = span and tuple(None if end is None else Decimal(end) for end in span)
    assert range_in(text) == wanted


def fitted(rule: dict) -> None:
    Anonymizer(quasi_identifiers={"age": rule}, sensitive="d", privacy=[KAnonymity(4)]).fit(
        people()[["age", "d"]]
    )


def test_ranges_that_no_group_holds_are_refused_with_the_way_out():
    with pytest.raises(InputError, match=r"where ranges need numbers; give .* such as top = 90"):
        fitted({"widths": [5]})


def test_numbers_that_are_not_whole_are_refused_by_exact():
    ages = pd.DataFrame({"age": ["44.5"] * 5 + ["2"] * 5, "d": ["a", "b"] * 5})
    with pytest.raises(
        InputError, match=r"\('44.5'\) where exact = true needs whole numbers; .*out"
    ):
        Anonymizer(quasi_identifiers={"age": EXACT}, sensitive="d", privacy=[KAnonymity(2)]).fit(
            ages
        )


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"widths": [5], "bottom": 90, "top": 18}, "bottom must be below top"),
        ({"widths": [5], "top": "old"}, "bottom and top must be numbers, not 'old'"),
        ({"calendar": ["year"], "bottom": "old"}, "such as bottom = 1936"),
        ({"prefixes": [2], "top": 90}, "top goes with widths"),
        ({"widths": [5], "top": 90, "exact": "yes"}, "exact = 'yes' can only be true"),
        ({"widths": [5], "exact": True}, "exact goes with widths and top or bottom, such as"),
        ({"widths": [2.5], "top": 90, "exact": True}, "exact is of whole numbers; give whole"),
        ({"widths": [5], "top": 90.5, "exact": True}, "exact is of whole numbers; give whole"),
        ({"widths": [5], "top": 90, "exact": True, "ground": 5}, "exact shows whole numbers, wh"),
        ({"cuts": [5], "top": 90, "exact": True}, "exact goes with widths"),
    ],
)
def test_ends_that_are_none(rule, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.of(rule)
