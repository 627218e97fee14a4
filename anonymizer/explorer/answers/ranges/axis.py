"""The values of one attribute along its scale: where ranges may begin, and what lies where."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.hierarchy.order import Ranks
from anonymizer.hierarchy.scale import Interval, Scale
from anonymizer.information.matrices import dense
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.recoding.partitions.points import CandidatePoints
from anonymizer.tables.values import number_text

MOST_PLACES = 2_000
"""Cut points that can be pointed at: more than a screen has pixels for."""

MOST_BARS = 300
"""Values beyond are counted in bins."""

BINS = 100
"""Bins are a hundredth of the axis wide, rounded up, so that there are at most so many and one."""

MOST_SERIES = 6
"""Sensitive values that are drawn one by one, the most frequent ones; more are taken together."""


@dataclass(frozen=True, eq=False)
class CutAxis:
    """The values of an attribute that occur, ascending.

    ``numbers`` (values,) are their places on the ``scale``. ``counts`` has the records of each as a
    class, whose cell is its place among the numbers; that of missing values comes last.
    """

    attribute: str
    numbers: tuple[Decimal, ...]
    counts: Counts = field(repr=False)
    scale: Scale

    @classmethod
    def of(cls, counts: Counts, taxonomy: Taxonomy) -> "CutAxis | None":
        """The axis of an attribute of a table; None where fewer than two values have a place."""
        if taxonomy.numbers is None:
            return None
        found = counts.project((taxonomy.attribute,))
        found = found.select(found.sizes > 0)
        places = [taxonomy.numbers[code] for code in found.cells[:, 0].tolist()]
        numbers = tuple(sorted({place for place in places if place is not None}))
        if len(numbers) < 2:
            return None
        among = {number: place for place, number in enumerate(numbers)}
        cells = [len(numbers) if place is None else among[place] for place in places]
        placed = found.at(np.array(cells, np.intp)[:, None])
        return cls(taxonomy.attribute, numbers, placed, taxonomy.scale)

    @property
    def cut_points(self) -> tuple[Decimal, ...]:
        """Where a range may begin: between values, as far as there are not too many to point at."""
        step = -(-len(self.numbers) // MOST_PLACES)
        found = map(self.border, range(step, len(self.numbers), step))
        return tuple(each for each in found if each is not None)

    def border(self, place: int) -> Decimal | None:
        """Where a range begins whose first value has a place; None where no study could write it.

        It is where recodings begin one too: at a round number, so that no cut is anybody's value.
        """
        return self.scale.border(self.numbers[place - 1], self.numbers[place], self._step)

    @cached_property
    def _step(self) -> Decimal:
        return self.scale.step_of(self.numbers)

    def quantiles(self, ranges: int) -> tuple[Decimal, ...]:
        """Cuts between at most so many ranges of about as many records each, at round numbers."""
        there = self.counts.cells[:, 0] < len(self.numbers)
        order = isinstance(self.scale, Ranks)
        places = np.arange(1, len(self.numbers))
        sizes = self.counts.sizes[there]
        every = CandidatePoints(self.numbers, sizes, places, self.numbers[1:], fixed=order)
        found = every.thinned(ranges - 1)
        return (found.between(self.scale) if order or found is every else found).numbers

    def range_of(self, cuts: Sequence[Decimal]) -> Codes:
        """Which range each value is in, (values + 1,); a missing one in none: one more than any."""
        begins = [bisect_left(self.numbers, cut) for cut in cuts]
        ranges = np.searchsorted(begins, np.arange(len(self.numbers)), side="right")
        return np.append(ranges, len(cuts) + 1)

    def ranges(self, cuts: Sequence[Decimal]) -> Counts:
        """The ranges between cuts as classes; those without records are not there."""
        return self.counts.at(self.range_of(cuts)[self.counts.cells])


@dataclass(frozen=True)
class CutKeys:
    """What the cut points of an axis go by on a page: their numbers exactly, or ranks alone.

    A rank is how many values lie below; cuts below or above all values have none.
    """

    axis: CutAxis
    ranks: bool

    def keys(self, cuts: Iterable[Decimal]) -> list[str]:
        """The keys of some cuts, ascending."""
        if not self.ranks:
            return [number_text(cut) for cut in cuts]
        below = (bisect_left(self.axis.numbers, cut) for cut in cuts)
        ranks = dict.fromkeys(each for each in below if 0 < each < len(self.axis.numbers))
        return [*map(str, ranks)]

    def number(self, key: str) -> Decimal:
        """The cut that goes by a key."""
        if not self.ranks:
            return Decimal(key)
        border = self.axis.border(int(key))
        return self.axis.numbers[int(key)] if border is None else border


@dataclass(frozen=True)
class Histogram:
    """Records by sensitive value, from the start of the axis to its end.

    ``ends`` (bars, 2) are where each bar begins and ends, ``counts`` (bars, series) its records.
    """

    ends: Floats
    counts: Ints
    series: tuple[str, ...]

    @property
    def low(self) -> float:
        """Where the axis begins."""
        return float(self.ends[0, 0])

    @property
    def high(self) -> float:
        """Where it ends."""
        return float(self.ends[-1, 1])


def histogram_of(axis: CutAxis, sensitive: str | None, ranks: bool, labels: bool) -> Histogram:
    """The records of the values that have a place, each at its number or at its rank.

    Without ``labels`` sensitive values go by their number.
    """
    there = axis.counts.cells[:, 0] < len(axis.numbers)
    counts, series = _series(axis.counts.select(there), sensitive, labels)
    if ranks:
        positions, unit = np.arange(len(axis.numbers), dtype=float), 1.0
    else:
        positions = np.array([float(number) for number in axis.numbers])
        unit = float(np.diff(positions).min())
    span = positions[-1] - positions[0]
    if len(positions) <= MOST_BARS and span <= MOST_BARS * unit:
        return Histogram(np.stack([positions, positions + unit], axis=1), counts, series)
    width = _round_up((span + unit) / BINS)
    bins = np.floor(positions / width).astype(np.int64)
    first = int(bins[0])
    begins = np.arange(first, int(bins[-1]) + 1) * width
    found = np.zeros((len(begins), counts.shape[1]), np.int64)
    np.add.at(found, bins - first, counts)
    return Histogram(np.stack([begins, begins + width], axis=1), found, series)


def _series(counts: Counts, sensitive: str | None, labels: bool) -> tuple[Ints, tuple[str, ...]]:
    """The records of each class by the most frequent values of an attribute, and their names."""
    if sensitive is None:
        return counts.sizes[:, None], ("records",)
    margin = counts.margins[sensitive]
    order = np.argsort(-margin, kind="stable")
    if len(order) > MOST_SERIES:
        order = order[: MOST_SERIES - 1]
    joint = dense(counts.joint[sensitive][:, order], sensitive)
    values = counts.values.get(sensitive, ())
    named = [
        str(values[code]) if labels and values else f"value {place}"
        for place, code in enumerate(order.tolist(), 1)
    ]
    if len(order) < len(margin):
        joint = np.column_stack([joint, counts.sizes - joint.sum(axis=1)])
        named.append(f"{len(margin) - len(order):,} other values")
    return np.asarray(joint, np.int64), tuple(named)


def _round_up(width: float) -> float:
    """The next number of one digit, which is 1, 2 or 5.

    >>> [_round_up(width) for width in (0.7, 3.0, 41.0)]
    [1.0, 5.0, 50.0]
    """
    size = 10.0 ** np.floor(np.log10(width))
    return float(next(size * digit for digit in (1, 2, 5, 10) if size * digit >= width))


def cuts_of(partition: Partition, taxonomy: Taxonomy) -> tuple[Decimal, ...] | None:
    """Where the groups of a partition begin along the scale; None where they are no ranges.

    A group that goes by a range begins where that does, any other one before its first value.
    """
    if taxonomy.numbers is None:
        return None
    codes, numbers = taxonomy.placed
    groups = partition.groups[codes]
    begins = np.flatnonzero(np.diff(groups)) + 1
    if len(np.unique(groups)) != len(begins) + 1:
        return None
    found, step = [], taxonomy.scale.step_of(numbers)
    for place in begins.tolist():
        label = partition.labels[groups[place]]
        low = label.low if isinstance(label, Interval) else None
        if low is None:
            low = taxonomy.scale.border(numbers[place - 1], numbers[place], step)
        found.append(numbers[place] if low is None else low)
    return tuple(found)


def range_text(scale: Scale, low: Decimal | None, high: Decimal | None) -> str:
    """A range between two cuts in words.

    >>> from anonymizer.hierarchy.scale import NUMBERS
    >>> ends = [None, Decimal(35), Decimal(45), None]
    >>> [range_text(NUMBERS, *each) for each in zip(ends, ends[1:])]
    ['below 35', '35 to below 45', 'from 45']
    """
    if low is None and high is None:
        return "all values"
    if isinstance(scale, Ranks):
        return scale.label(low, high)
    if low is None:
        return f"below {point_text(scale, high)}"
    start = point_text(scale, low)
    return f"from {start}" if high is None else f"{start} to below {point_text(scale, high)}"


def point_text(scale: Scale, place: Decimal | None) -> str:
    """A cut point in words: the first value, or the number, that a range begins at."""
    assert place is not None
    return scale.values[int(place)] if isinstance(scale, Ranks) else scale.written(place)
