"""Ranges end at nobody's value: random studies, a far value, and what a rule fixes."""

from datetime import date, timedelta
from decimal import Decimal

import pandas as pd
import pytest
from borders import RECODINGS, Study, at_values, avoidable, complaints
from hypothesis import given
from hypothesis import strategies as st
from lengths import at_length
from strategies import problem_of

from anonymizer import Hierarchy, KAnonymity
from anonymizer.recoding import RangeOptions
from anonymizer.recoding.partitions.groups import Ranges

TENS = Hierarchy.ranges(widths=[10, 100])
MONTHS = Hierarchy.calendar(["month", "year"])


def points(xs, hierarchy=TENS, **options):
    """Where ranges of some values may begin, but for the first."""
    table = pd.DataFrame({"x": pd.Series(list(xs), dtype=object), "w": ["a"] * len(xs)})
    given = problem_of(table, {"x": hierarchy}, [KAnonymity(1)])
    counts, taxonomy = given.counts, given.taxonomies["x"]
    codes, confined = counts.cells[:, 0], RangeOptions(**options)
    found = Ranges.of("x", taxonomy, codes, confined, counts.sizes).points[1:]
    return [taxonomy.scale.written(point) for point in found]


def test_borders_by_hand():
    assert points([12, 20, 21, 57]) == ["15", "21", "50"]
    assert points([12, 20.5, 21, 57]) == ["20", "20.8", "50"]
    assert points([-5, None, 5]) == ["0"]
    assert points(["2020-01-15", "2020-02-01", "2021-03-01"], MONTHS) == [
        "2020-01-20",
        "2021-01-01",
    ]
    order = Hierarchy.order(list("abcdefgh"))
    assert points(["a", "b", "h"], order) == ["1", "5"]  # b, and f to h


def test_what_a_rule_fixes_stays():
    assert points([1, 5, 12, 22, 30], TENS.limited(grid=[10, 20.5, 21, 40])) == ["10", "21"]
    assert points([7, 20, 33], grid=10) == ["20", "30"]
    assert points([7, 20, 33], TENS.limited(min_level=1)) == ["20", "30"]
    assert points([70, 80, 100, 104], TENS.limited(max_level=2)) == ["75", "100", "102"]
    firsts = ["2020-01-15", "2020-02-01", "2021-03-01"]
    assert points(firsts, MONTHS.limited(min_level=1)) == ["2020-02-01", "2021-03-01"]
    assert points(firsts, MONTHS.grounded("month")) == ["2020-02-01", "2021-03-01"]


def test_groups_that_are_listed_have_no_borders_of_their_own():
    rows = [[str(number), "few" if number < 15 else "many"] for number in (2, 11, 19, 26)]
    listed = Hierarchy.from_rows(rows)
    assert points([2, 11, 19, 26], listed.limited(min_level=1)) == ["15"]
    assert points([2, 11, 19, 26], listed.limited(max_level=1)) == ["10", "15", "20"]


def test_a_least_width_is_that_of_labels():
    assert points([10, 20, 30, 35]) == ["15", "25", "32"]
    table = pd.DataFrame({"x": [10, 20, 30, 35], "w": list("abab")})
    given = problem_of(table, {"x": TENS}, [KAnonymity(1)])
    taxonomy, codes = given.taxonomies["x"], given.counts.cells[:, 0]
    ranges = Ranges.of("x", taxonomy, codes, RangeOptions(min_width=10))
    widths = {(int(low), int(high)) for low, high in zip(ranges.starts, ranges.ends, strict=True)}
    # From 10, the least value, to 15 it is 5; from 15 to 25 it is 10; from 25 to 36 it is 11.
    assert widths == {(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 4)}


@given(st.lists(st.integers(-200, 200), min_size=2, max_size=30), st.integers(10**3, 10**9))
def test_a_far_value_moves_no_border(xs, far):
    before = points(xs)
    assert points([*xs, max(xs) + far])[: len(before)] == before
    assert points([min(xs) - far, *xs])[-len(before) :] == before or not before


@given(
    st.lists(st.integers(0, 2000), min_size=2, max_size=30, unique=True), st.integers(4000, 90_000)
)
def test_a_far_date_moves_no_border_to_somebodys(days, far):
    first = date(1950, 1, 1)
    born = [str(first + timedelta(days=day)) for day in [*sorted(days), max(days) + far]]
    occurring = {*born}
    for border in points(born, MONTHS):
        before = str(date.fromisoformat(border) - timedelta(days=1))
        assert border not in occurring or before in occurring


@pytest.mark.parametrize("number", range(1, at_length(12, 26)))
def test_random_studies_have_no_end_that_is_a_value_and_need_not_be(number):
    """The same as ``python -m tests.borders``, with a far record as well."""
    assert complaints(number) == []
    study = Study.of(number)
    numbers = [name for name, kind in study.kinds.items() if kind.name in ("whole", "decimal")]
    if numbers:
        far = study.table.iloc[[0]].assign(**dict.fromkeys(numbers, 10**9 + 0.5))
        farther = Study(
            pd.concat([study.table, far], ignore_index=True),
            study.kinds, study.hierarchies, study.recoding, study.options, study.k,
        )  # fmt: skip
        found = farther.released()
        assert found is None or avoidable(farther, found[0]) == []


def test_ends_at_values_are_noticed():
    """What ranges once did: the check finds it in every kind of column, and every recoding."""
    kinds, recodings = set(), set()
    for number in range(1, 26):
        study = Study.of(number)
        with at_values():
            found = study.released()
        for text in avoidable(study, found[0]) if found else ():
            kinds.add(text.partition("(")[2].partition(")")[0])
            recodings.add(study.recoding)
    assert recodings == {*RECODINGS}
    assert kinds >= {"whole", "decimal", "date", "time"}


def test_a_grid_of_an_order_is_of_its_ranks():
    names = [f"v{place:02}" for place in range(20)]
    order = Hierarchy.order(names).limited(grid=3)
    assert points(names, order) == ["5", "10", "15"]
    assert points(names[::3], order) == ["5", "11", "14"]


def test_thousands_of_values_keep_their_grid():
    """Quantiles are near to where they were: a border does not take the place of a value there."""
    xs = [n / 100 for n in range(3, 10_003, 7)]
    assert points(xs, TENS.limited(grid=3)) == ["20", "50", "80"]
    assert Decimal(points(xs)[0]) == 1
