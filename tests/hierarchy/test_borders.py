"""The border of two neighbouring values: the roundest number, date or time that divides them."""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer import Hierarchy
from anonymizer.hierarchy import NUMBERS
from anonymizer.hierarchy.calendar import Dates, iso_of, place_of
from anonymizer.hierarchy.order import Ranks

DATES = Dates()


def border(scale, *values):
    """The border of the first two of some values that occur; those tell which kind they are."""
    places = [scale.place(value) for value in values]
    return scale.border(places[0], places[1], scale.step_of(places))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["12", "57"], "50"),  # 20, 30 ... 50 are multiples of 10 or 20, 50 alone of 50
        (["12", "20"], "15"),  # never 20, which is somebody's
        (["10", "20"], "15"),
        (["12", "14"], "13"),
        (["12", "13"], "13"),  # whole numbers between which there is no other
        (["-13", "-12"], "-12"),
        (["12", "13", "15.5"], "12.5"),  # other values say that numbers need not be whole
        (["-3", "4"], "0"),
        (["999", "1001"], "1000"),
        (["19490801", "19490815"], "19490810"),
        (["1", "5"], "2"),  # of 2 and 4 that nearer to the middle, then the lower one
        (["0", "9.5"], "5"),
        (["1.1", "1.2"], "1.15"),
        (["1.5", "2"], "1.8"),
        (["40211.37", "40298.90"], "40250"),
        (["0.1", "0.3"], "0.2"),
        (["1e300", "3e300"], "2e300"),
        (["0", "0.000000000004"], "0.000000000002"),
        (["9007199254740993", "9007199254740994", "0.5"], "9007199254740994"),  # no float between
    ],
)
def test_borders_of_numbers_by_hand(values, expected):
    assert border(NUMBERS, *values) == Decimal(expected)


def test_no_border_divides_what_floats_do_not():
    assert border(NUMBERS, "0.1", "0.10000000000000000001") is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1965-03-02", "2010-05-10"], "2000-01-01"),
        (["1965-03-02", "1974-05-10"], "1970-01-01"),
        (["1961-03-02", "1963-05-10"], "1962-01-01"),
        (["1965-01-01", "1966-01-01"], "1965-07-01"),  # half a year, not somebody's New Year
        (["1965-03-02", "1965-05-10"], "1965-04-01"),  # a quarter
        (["1965-04-02", "1965-05-10"], "1965-05-01"),
        (["1965-03-02", "1965-03-10"], "1965-03-08"),  # a Monday
        (["1965-03-02", "1965-03-04"], "1965-03-03"),
        (["1965-03-02", "1965-03-03"], "1965-03-03"),  # no date between
        (["9999-12-29", "9999-12-31"], "9999-12-30"),
        (["0001-01-01", "0001-01-03"], "0001-01-02"),
        (["1965-03-02 23:00", "1965-03-03 23:00"], "1965-03-03"),
        (["1965-03-02 09:00", "1965-03-02 15:00"], "1965-03-02 12:00:00"),
        (["1965-03-02 13:10", "1965-03-02 16:50"], "1965-03-02 15:00:00"),
        (["1965-03-02 10:02", "1965-03-02 10:51"], "1965-03-02 10:30:00"),
        (["1965-03-02 10:00", "1965-03-02 10:01"], "1965-03-02 10:00:30"),
        (["1965-03-02 10:00:07", "1965-03-02 10:00:08"], "1965-03-02 10:00:08"),
        (["1965-03-02 10:00:07", "1965-03-02 10:00:08", "2000-01-01 00:00:00.5"],
         "1965-03-02 10:00:07.5"),
        (["1965-03-02 10:00:07.123", "1965-03-02 10:00:07.124"], "1965-03-02 10:00:07.1235"),
        (["1965-03-02 10:00:07.123456788", "1965-03-02 10:00:07.123456789"],
         "1965-03-02 10:00:07.123456789"),
    ],
)  # fmt: skip
def test_borders_of_dates_and_times_by_hand(values, expected):
    assert iso_of(border(DATES, *values)) == expected


def test_instants_have_borders_on_the_clock_of_their_zone():
    berlin = Hierarchy.calendar(["year"], zone="Europe/Berlin").scale
    days = "1959-12-31T23:00:00Z", "1960-01-02T23:00:00Z"  # the 1st and the 3rd of January
    assert iso_of(border(berlin, *days)) == "1960-01-02"
    hours = "2024-06-01T08:10:00Z", "2024-06-01T12:50:00Z"  # 10:10 and 14:50 there
    assert iso_of(border(berlin, *hours)) == "2024-06-01 12:00:00"


@pytest.mark.parametrize(
    ("high", "label"), [("b", "a"), ("c", "a - b"), ("d", "a - b"), ("e", "a - c"), ("h", "a - d")]
)
def test_the_last_category_of_a_range_and_the_next_are_those_that_nobody_has(high, label):
    order = Ranks(tuple("abcdefgh"))
    assert order.label(None, border(order, "a", high)) == label


@given(st.integers(-300, 300), st.integers(1, 60))
def test_no_other_whole_number_between_is_rounder(low, span):
    found = border(NUMBERS, low, low + span)
    others = range(low + 1, low + span)
    assert found in others or (not others and found == low + span)
    if others:
        assert roundness(int(found)) == max(map(roundness, others))


def roundness(number: int) -> int:
    """The largest of 1, 2, 5, 10, ... that a number is a multiple of; of 0 all are."""
    steps = [digit * 10**power for power in range(4) for digit in (1, 2, 5)]
    return max(step for step in steps if number % step == 0)


decimals = st.builds(
    lambda number, digits: Decimal(number).scaleb(-digits),
    st.integers(-(10**6), 10**6),
    st.integers(0, 8),
)


@given(decimals, decimals, st.lists(decimals, max_size=3))
def test_a_border_divides_two_numbers_and_is_neither_where_it_need_not_be(one, other, more):
    low, high = sorted([one, other])
    if low == high:
        return
    found = border(NUMBERS, low, high, *more)
    assert low < found <= high
    whole = all(Fraction(number).denominator == 1 for number in (low, high, *more))
    assert (found == high) == (whole and high - low == 1)
    assert not whole or found % 1 == 0
    assert Decimal(repr(float(found))) == found  # as JSON and floats hold it


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(1, 4000))
def test_no_other_day_between_begins_a_longer_unit(first, span):
    last = first + timedelta(days=span)
    found = date.fromisoformat(
        iso_of(DATES.border(place_of(first), place_of(last), Decimal(86_400)))
    )
    between = [first + timedelta(days=days) for days in range(1, span)]
    assert found in between or (not between and found == last)
    if between:
        assert rank(found) == max(map(rank, between))


def rank(day: date) -> int:
    """How round a day is."""
    signs = [
        day.isoweekday() == 1,
        day.day == 1,
        day.day == 1 and day.month in (1, 4, 7, 10),
        day.day == 1 and day.month in (1, 7),
        *(day.day == 1 and day.month == 1 and day.year % years == 0 for years in (1, 5, 10, 100)),
    ]
    return max((place for place, sign in enumerate(signs, 1) if sign), default=0)


@given(st.lists(st.integers(0, 10**9), min_size=3, max_size=3, unique=True))
def test_a_border_of_times_lies_between_them(seconds):
    low, high, _ = sorted(map(Decimal, seconds))
    found = DATES.border(low, high, Decimal(1))
    assert low < found <= high
    assert found % 1 == 0
    assert (found == high) == (high - low == 1)
