"""Cut points edited: levels stay nested, whatever is done to one of them."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import InputError
from anonymizer.explorer.answers.generalized.ladders import (
    bins_of,
    cuts_in,
    cuts_of_widths,
    numbers_in,
    places_of,
    plain,
    with_coarser,
    with_cut,
    with_cuts,
    with_moved_cut,
    without_cut,
    without_cuts_of,
)
from anonymizer.hierarchy import Hierarchy

CUTS = [[*map(Decimal, level)] for level in ([20, 30, 40, 50], [30, 50], [50])]


def numbers(levels):
    return [[*map(int, level)] for level in levels]


def test_a_cut_is_added_to_finer_levels_and_removed_from_coarser_ones():
    assert numbers(with_cut(CUTS, 2, Decimal(45))) == [[20, 30, 40, 45, 50], [30, 45, 50], [50]]
    assert numbers(without_cut(CUTS, 2, Decimal(50))) == [[20, 30, 40, 50], [30]]
    assert numbers(with_moved_cut(CUTS, Decimal(50), Decimal(55))) == [
        [20, 30, 40, 55],
        [30, 55],
        [55],
    ]


def test_the_cuts_of_a_level_are_typed():
    assert numbers(with_cuts(CUTS, 2, numbers_in("30, 35"))) == [[20, 30, 35, 40, 50], [30, 35]]
    with pytest.raises(InputError, match="x is no number"):
        numbers_in("20, x")
    with pytest.raises(InputError, match="need a cut"):
        with_cuts([CUTS[2]], 1, [])


def test_levels_are_added_and_removed():
    assert numbers(with_coarser(CUTS[:1])) == [[20, 30, 40, 50], [30, 50]]
    assert numbers(without_cuts_of(CUTS, 2)) == [[20, 30, 40, 50], [50]]
    with pytest.raises(InputError, match="one cut"):
        with_coarser(CUTS)


def test_widths_become_cuts_of_the_same_ranges():
    widths = [Decimal(5), Decimal(10), Decimal(100)]
    cuts = cuts_of_widths(widths, Decimal(2), Decimal(17), Decimal(43))
    assert numbers(cuts) == [[22, 27, 32, 37, 42], [22, 32, 42]]
    rule, ranges = Hierarchy.ranges(cuts=cuts), Hierarchy.ranges(widths=widths[:2], origin=2)
    for level in range(2):
        groups = {(rule.labels(age)[level], ranges.labels(age)[level]) for age in range(17, 44)}
        assert len(groups) == len({ours for ours, _ in groups}) == len({each for _, each in groups})
    with pytest.raises(InputError, match="larger width"):
        cuts_of_widths([Decimal("0.01")], Decimal(0), Decimal(0), Decimal(100))


def test_a_study_reads_the_numbers():
    assert plain([Decimal("20"), Decimal("37.5"), Decimal("1E+2")]) == [20, 37.5, 100]
    assert numbers(cuts_in({"cuts": [[20, 30], [30]]})) == [[20, 30], [30]]


def test_a_histogram_has_every_record_once():
    records = [(Decimal(number), number % 7 + 1) for number in range(0, 3000, 7)]
    bins = bins_of(records)
    assert sum(size for _, _, size in bins) == sum(size for _, size in records)
    assert len(bins) <= 121
    decimals = [(Decimal(number) / 10, 2) for number in range(13)]
    assert sum(size for _, _, size in bins_of(decimals)) == 26
    assert bins_of([(Decimal("0.5"), 3)])[0][2] == 3


def test_cuts_may_be_at_whole_numbers_or_at_the_numbers():
    assert places_of([Decimal(1), Decimal(4)]) == [2, 3, 4]
    assert places_of([Decimal("0.5"), Decimal("0.7")]) == [Decimal("0.7")]


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 60), st.booleans()), max_size=8))
def test_levels_stay_nested(steps):
    cuts = CUTS
    for level, cut, adds in steps:
        level = min(level, len(cuts))
        try:
            cuts = (with_cut if adds else without_cut)(cuts, level, Decimal(cut))
        except InputError:
            continue
    assert all({*coarse} <= {*fine} for fine, coarse in pairwise(cuts))
    Hierarchy.ranges(cuts=cuts)
