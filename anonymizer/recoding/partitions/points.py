"""Where ranges may begin: between any two values that occur, or on a grid where these are many.

What ranges of two cut points differ in is which values lie between them. A point may lie anywhere
between two values: it is the roundest number there, and neither of them, since labels show it. A
grid of few points is made of quantiles: about as many records lie between each two. They are moved
to a round number near the quantile, 12.5 and not 12.4839, and never to one that only few records
have.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from anonymizer.errors import InputError
from anonymizer.hierarchy import NUMBERS, Interval, Scale, Taxonomy
from anonymizer.hierarchy.order import Ranks
from anonymizer.hierarchy.scale import is_exact, round_number
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.recoding.problem import RangeOptions
from anonymizer.tables.values import exactly, floor_to

MOST_CUTS = 1_000
"""Cut points beyond are not all used: v^2 / 2 ranges would take minutes, and gigabytes."""

GRID = 100
"""Cut points of the grid that then takes their place: finer ones keep hardly more (see docs)."""

FEW = 5
"""A value that fewer records have is no cut point of a grid."""

NEAR = 0.25
"""How far from its quantile a cut point may lie, as a share of the records between two."""

Borders = Mapping[int, tuple[Decimal, Decimal, Decimal]]
"""By place, the least and the largest number that a range may begin at there, and the preferred."""


@dataclass(frozen=True)
class CandidatePoints:
    """Candidate beginnings of ranges: before the value at each of ``places``, at ``numbers``.

    ``values`` are those that occur, by size, and ``records`` how many have each. ``fixed``: numbers
    are those of a level or a grid, not just any between two values, of which they are the upper one
    at first. ``forced`` are the places where ranges have to begin.
    """

    values: Sequence[Decimal]
    records: Ints
    places: Codes
    numbers: tuple[Decimal, ...]
    fixed: bool = False
    forced: frozenset[int] = frozenset()

    def among(self, numbers: Mapping[int, Decimal]) -> "CandidatePoints":
        """Return other candidates among the same values: a number for each place."""
        places = sorted(numbers)
        chosen = tuple(numbers[place] for place in places)
        return replace(self, places=np.array(places, np.intp), numbers=chosen)

    def between(self, scale: Scale) -> "CandidatePoints":
        """Move each candidate to the roundest number before its place, unless it is forced."""
        step, found = scale.step_of(self.values), {}
        for place, number in zip(self.places.tolist(), self.numbers, strict=True):
            low, high = self.values[place - 1], self.values[place]
            border = number if place in self.forced else scale.border(low, high, step)
            if border is not None:
                found[place] = border
        return self.among(found)

    def thinned(self, most: int) -> "CandidatePoints":
        """Keep at most n, or those that are forced: about as many records between each two."""
        if len(self.places) <= most:
            return self
        before, records = np.cumsum(self.records)[self.places - 1], float(self.records.sum())
        pairs = zip(self.places.tolist(), self.numbers, strict=True)
        # What is forced counts towards the limit; of the others there is one near each quantile.
        found = {place: number for place, number in pairs if place in self.forced}
        quantiles = np.linspace(0, records, max(most - len(found), 0) + 2)[1:-1]
        for quantile in quantiles.tolist():
            picked = self._near(before, quantile, NEAR * records / (most + 1))
            if picked is not None:
                found.setdefault(*picked)
        return self.among(found)

    def _near(self, before: Ints, quantile: float, reach: float) -> tuple[int, Decimal] | None:
        """The candidate near a quantile: its place, and its number."""
        low, high = np.searchsorted(before, [quantile - reach, quantile + reach])
        nearest = int(np.clip(np.searchsorted(before, quantile), 0, len(before) - 1))
        if nearest and quantile - before[nearest - 1] < before[nearest] - quantile:
            nearest -= 1
        if self.fixed:
            return int(self.places[nearest]), self.numbers[nearest]
        low, high = min(int(low), nearest), max(int(high) - 1, nearest)
        first, last = int(self.places[low]), int(self.places[high])
        number = round_number(
            self.values[first - 1], self.values[last], self.numbers[nearest], self._is_rare
        )
        return None if number is None else (bisect_left(self.values, number), number)

    def _is_rare(self, number: Decimal) -> bool:
        place = bisect_left(self.values, number)
        there = place < len(self.values) and self.values[place] == number
        return there and int(self.records[place]) < FEW


class CutPoints(NamedTuple):
    """Beginnings of blocks of values, the smallest value first, and the end of the last one.

    ``chosen``: how many cut points are used where these are not all, None where they are.
    """

    points: tuple[Decimal, ...]
    end: Decimal
    chosen: int | None = None


def cut_points(
    taxonomy: Taxonomy, values: Sequence[Decimal], records: Ints, options: RangeOptions
) -> CutPoints:
    """Return the possible beginnings of ranges, by the options and the limits of the hierarchy.

    ``values`` are those that occur, by size, and ``records`` how many have each. Without a grid
    between any two, as long as they are few. With the multiples of ``options.grid``, the last
    multiple up to a value, so that values between two multiples stay together. Whole numbers fill a
    unit each: 90 ends at 91; the last cell of a grid ends where the next would begin. Dates have a
    grid of their own, units of the calendar.

    Raises InputError when the groups of a lowest or highest level are no ranges.
    """
    if not values:
        return CutPoints((), Decimal(0))
    limits, scale = taxonomy.limits, taxonomy.scale
    stepped = options.grid is not None and limits.grid is None and scale.numeric
    step = Decimal(str(options.grid)) if stepped else None
    blocks = None if isinstance(limits.grid, tuple) else scale.blocks(values, taxonomy.finest)
    every = _candidates(values, records, step, blocks[0] if blocks else limits.grid)
    every = _within_levels(taxonomy, every)
    order = isinstance(scale, Ranks)  # between its places no round number is a rank
    spread = replace(every, fixed=True) if order else every
    used = spread.thinned(_most(len(every.places), limits.grid))
    first = values[0] if step is None else floor_to(values[0], step)
    given = used is not spread or blocks is not None or isinstance(limits.grid, tuple)
    # Units of the calendar say which dates stay together, and where a range begins only by a level.
    if not taxonomy.finest if blocks else not every.fixed and (order or used is every):
        used = used.between(scale)
    points = (first, *used.numbers)
    end = blocks[1] if blocks else _end(values, step, points)
    if limits.ground is not None and blocks is None:
        end = max(end, _end_of_cells(taxonomy, values[-1]))
    return CutPoints(points, end, len(used.places) if given else None)


def _most(places: int, grid: int | tuple[Decimal, ...] | None) -> int:
    if grid is None:
        return GRID if places >= MOST_CUTS else places
    return min(grid, MOST_CUTS) if isinstance(grid, int) else MOST_CUTS


def _end(values: Sequence[Decimal], step: Decimal | None, points: Sequence[Decimal]) -> Decimal:
    with exactly():
        unit = NUMBERS.step_of(values)
        last = values[-1] + unit if step is None else floor_to(values[-1], step) + step
        return max(last, points[-1])


def _end_of_cells(taxonomy: Taxonomy, last: Decimal) -> Decimal:
    assert taxonomy.limits.ground is not None
    level, (codes, numbers) = taxonomy.levels[taxonomy.limits.ground], taxonomy.placed
    label = level.labels[level.groups[codes[numbers.index(last)]]]
    return label.high if isinstance(label, Interval) and label.high is not None else last


def _candidates(
    values: Sequence[Decimal],
    records: Ints,
    step: Decimal | None,
    grid: int | Sequence[Decimal] | None,
) -> CandidatePoints:
    """Every value, every multiple of a step, or every given point, with a value before it."""
    if step is not None:
        starts = [floor_to(value, step) for value in values]
    elif isinstance(grid, Sequence):
        below = (bisect_right(grid, value) for value in values)
        starts = [grid[place - 1] if place else values[0] for place in below]
    else:
        return _exact(values, records)
    places = [place for place in range(1, len(values)) if starts[place] != starts[place - 1]]
    numbers = tuple(starts[place] for place in places)
    return CandidatePoints(values, records, np.array(places, np.intp), numbers, fixed=True)


def _exact(values: Sequence[Decimal], records: Ints) -> CandidatePoints:
    """Every value; a round number below one of more digits than a float has, if there is any.

    Two values that are one as floats stay together: a manifest could not tell their ranges apart.
    """
    found: dict[int, Decimal] = {}
    for place in range(1, len(values)):
        number: Decimal | None = values[place]
        if not is_exact(values[place]):
            number = round_number(values[place - 1], values[place], values[place])
        if number is not None:
            found[place] = number
    return CandidatePoints(values, records, np.array([*found], np.intp), tuple(found.values()))


def _within_levels(taxonomy: Taxonomy, every: CandidatePoints) -> CandidatePoints:
    """Keep candidates at borders of the lowest level; add all borders of the highest."""
    if taxonomy.finest:
        every = _at_borders(every, _borders(taxonomy, every.values, taxonomy.finest))
    if not taxonomy.bounded:
        return every
    borders = _borders(taxonomy, every.values, taxonomy.coarsest)
    known = dict(zip(every.places.tolist(), every.numbers, strict=True))
    for place, (low, high, border) in borders.items():
        if not every.fixed or place not in known or not low <= known[place] <= high:
            known[place] = border
    return replace(every.among(known), forced=frozenset(borders))


def _at_borders(every: CandidatePoints, borders: Borders) -> CandidatePoints:
    """The candidates at borders of groups; any number there, or one of a grid that lies there."""
    found = {}
    for place, number in zip(every.places.tolist(), every.numbers, strict=True):
        low, high, border = borders.get(place, (number + 1, number, number))
        if low <= number <= high or (low <= high and not every.fixed):
            found[place] = number if every.fixed else border
    return replace(every.among(found), fixed=True)


def _borders(taxonomy: Taxonomy, values: Sequence[Decimal], level: int) -> Borders:
    """The places where groups of a level begin, and where a range begins there.

    That is between where the group before ends and where this one begins, where they are ranges.
    """
    partition = taxonomy.levels[level]
    codes, numbers = taxonomy.placed
    place_of = {value: place for place, value in enumerate(values)}
    there = [
        (place_of[n], int(code)) for code, n in zip(codes, numbers, strict=True) if n in place_of
    ]
    groups = np.full(len(values), -1)
    groups[[place for place, _ in there]] = partition.groups[[code for _, code in there]]
    places = np.flatnonzero(np.diff(groups)) + 1
    alike = all(groups[place] == partition.groups[code] for place, code in there)
    if not alike or len(np.unique(groups)) != len(places) + 1:
        raise InputError(
            f"the groups of level {level} of {taxonomy.attribute!r} are no ranges, so that ranges "
            "cannot keep to it; leave out min-level and max-level, or choose recoding = "
            "'full-domain'"
        )
    found, scale, step = {}, taxonomy.scale, taxonomy.scale.step_of(values)
    for place in places.tolist():
        before, after = (partition.labels[groups[each]] for each in (place - 1, place))
        low = high = values[place]
        if isinstance(before, Interval) and isinstance(after, Interval):
            low = low if before.high is None else before.high
            high = high if after.low is None else after.low
            found[place] = low, high, high
        else:
            border = scale.border(values[place - 1], high, step)
            found[place] = low, high, high if border is None else border
    return found
