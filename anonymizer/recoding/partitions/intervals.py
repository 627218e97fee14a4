"""Ranges of an ordered attribute: all intervals between its cut points."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Interval, Partition, Taxonomy
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.recoding.partitions.families import (
    Intervals,
    Path,
    before,
    combinations_without,
    tabulated,
)
from anonymizer.recoding.problem.class_scores import Judge, Judged, lots
from anonymizer.recoding.problem.options import RangeOptions
from anonymizer.tables.values import exactly, floor_to

MOST_CUTS = 1_000
"""Cut points beyond are refused: a coarser grid finds an answer, v^2 ranges would not end."""


@dataclass(frozen=True, eq=False)
class Ranges(Intervals):
    """All ranges of an ordered attribute that are wide enough; missing values are in none.

    ``points`` (blocks,) are the possible cut points, where each block of values begins: the first
    is the smallest value that occurs. ``gaps``: whether a value is missing. ``options`` are what
    the ranges are confined to.
    """

    points: tuple[Decimal, ...]
    gaps: bool
    options: RangeOptions

    @classmethod
    def of(
        cls, attribute: str, taxonomy: Taxonomy, codes: Codes, options: RangeOptions
    ) -> "Ranges":
        """The ranges between the values that occur, given by their codes."""
        if taxonomy.numbers is None:
            raise InputError(f"cannot refine {attribute!r}: its values are not all numbers")
        numbers = {taxonomy.numbers[code] for code in np.unique(codes)}
        values = sorted(number for number in numbers if number is not None)
        points, end = _cut_points(values, options.grid)
        starts, ends = np.nonzero(_wide_enough([*points, end], options.min_width))
        most = None if options.max_ranges is None else int(options.max_ranges)
        gaps = bool((_places(taxonomy, ())[codes] < 0).any())
        return cls(attribute, taxonomy, starts, ends, len(points), most, points, gaps, options)

    def blocks_of(self, codes: Codes) -> Codes:
        """The block of each value code, -1 for a missing value."""
        return np.maximum(_places(self.taxonomy, self.points)[codes] - 1, -1)

    def judged(self, judge: Judge, counts: Counts) -> Judged:
        """Judge all ranges: cumulative counts make the classes of [i, j) one subtraction."""
        block = self._blocks(counts)
        classes, block = counts.select(block >= 0), block[block >= 0]
        combination, number = combinations_without(classes, [self.attribute])
        tables = tabulated(classes, (block, combination), (self.blocks, number))
        sums = [(name, before(table)) for name, table in tables.items()]
        return Judged.joined(
            [
                judge.tables(counts, {w: s[self.ends[lot]] - s[self.starts[lot]] for w, s in sums})
                for lot in lots(len(self.starts), number)
            ]
        )

    def ungrouped(self, judge: Judge, counts: Counts) -> float | None:
        """What the classes of missing values add; None where they are unacceptable."""
        gain, broken = judge(counts.select(self._blocks(counts) < 0))
        return None if broken.any() else float(gain.sum())

    @property
    def confined(self) -> bool:
        """Levels need not keep to what ranges are confined to."""
        return self.options != RangeOptions()

    @property
    def without_path(self) -> tuple[Partition, ...]:
        """Suppression, which joins missing values to the others, where there are any."""
        return (self.taxonomy.levels[-1],) if self.gaps else ()

    def partition(self, path: Path) -> Partition:
        """The partition of all values of the taxonomy into some ranges.

        The outer ranges are open-ended: a label must not show the smallest and the largest value
        that occur, which may be one person's. A single range without missing values is suppression.
        """
        points = [self.points[self.starts[group]] for group in path[1:]]
        places = _places(self.taxonomy, points)
        if not points and places.min() >= 0:
            return self.taxonomy.levels[-1]
        ends = zip([None, *points], [*points, None], strict=True)
        ranges = [Interval(low, high) for low, high in ends]
        return Partition.of([ANY if place < 0 else ranges[place] for place in places])

    def _blocks(self, counts: Counts) -> Codes:
        """The block of each class, -1 for missing values."""
        return self.blocks_of(counts.cells[:, counts.names.index(self.attribute)])


def _places(taxonomy: Taxonomy, points: Sequence[Decimal]) -> Codes:
    """How many of the points lie at or below each value, -1 for a missing one, shape (values,)."""
    numbers = taxonomy.numbers or ()
    places = [-1 if number is None else bisect_right(points, number) for number in numbers]
    return np.array(places, np.intp)


def _cut_points(
    values: Sequence[Decimal], grid: float | None
) -> tuple[tuple[Decimal, ...], Decimal]:
    """Where ranges may begin, and where the last one ends.

    Without a grid every value that occurs; with one, the last multiple up to it, so that values
    between two multiples stay together. Whole numbers fill a unit each: 90 ends at 91; the last
    cell of a grid ends where the next would begin.
    """
    if not values:
        return (), Decimal(0)
    if grid is None:
        unit = Decimal(1 if all(value == value.to_integral_value() for value in values) else 0)
        starts = tuple(values)
    else:
        unit = Decimal(str(grid))
        starts = tuple(dict.fromkeys(floor_to(value, unit) for value in values))
    if len(starts) > MOST_CUTS:
        raise InputError(
            f"{len(starts):,} distinct values are too many to cut exactly (the most is "
            f"{MOST_CUTS:,}); set a grid, or leave the attribute out of refine"
        )
    with exactly():
        return starts, starts[-1] + unit if grid else values[-1] + unit


def _wide_enough(ends: Sequence[Decimal], min_width: float | None) -> Mask:
    """Which ranges, from one end to a later one, span at least so much, shape (ends, ends)."""
    width = Decimal(str(min_width or 0))
    with exactly():
        reach = [max(place + 1, bisect_left(ends, end + width)) for place, end in enumerate(ends)]
    return np.asarray(np.arange(len(ends)) >= np.array(reach)[:, None])
