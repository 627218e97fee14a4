"""A1*: the best partition of one ordered attribute into ranges, the other attributes held fixed.

Bezzi (2010, section 4) moves the boundaries of a level by a heuristic. Here the optimum is found
exactly: the objective is a sum over classes, hence over ranges, and a range may be used when every
class inside it (one for each combination of the other attributes) satisfies every model. So the
best partition of the first j values ends in an allowed range [i, j) after a best partition of the
first i: dynamic programming over interval endpoints.

Allowed ranges are *not* monotone in their length: a union of an acceptable and an unacceptable
range may be either. Every one of the v (v + 1) / 2 ranges is therefore judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from anonymizer.counts import Codes, Counts, Floats, Ints, row_keys
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Interval, Partition, Taxonomy
from anonymizer.hierarchy.values import exact, floor_to
from anonymizer.objectives import Objective
from anonymizer.privacy import Mask, PrivacyModel, acceptable
from anonymizer.search.exact import Problem

__all__ = [
    "RangeOptions",
    "Segments",
    "heuristic_ranges",
    "level_ranges",
    "optimal_ranges",
]

MOST_CUTS = 1_000
"""Cut points beyond are refused: a coarser grid finds an answer, v^2 ranges would not end."""

SHOWN = 20
"""Characters of a number that a message shows at the most."""

TIE = 1e-12
"""Bits within which two partial partitions tie; v of them stay far below TOLERANCE."""


@dataclass(frozen=True)
class RangeOptions:
    """What the ranges of a refined attribute are confined to.

    Parameters
    ----------
    max_ranges
        At most so many ranges.
    min_width
        Every range spans at least so much; between whole numbers, 86 to 90 spans 5.
    grid
        Ranges begin at multiples of this.
    """

    max_ranges: int | None = None
    min_width: float | None = None
    grid: float | None = None

    def __post_init__(self) -> None:
        if self.max_ranges is not None and self.max_ranges < 1:
            raise InputError(f"max-ranges = {self.max_ranges} must be at least 1")
        for name, value in (("min-width", self.min_width), ("grid", self.grid)):
            number = None if value is None else exact(value)
            if value is not None and (number is None or number <= 0):
                raise InputError(f"{name} = {str(value)[:SHOWN]} must be a number above 0")


@dataclass(frozen=True, eq=False)
class Segments:
    """The values of an ordered attribute between possible cut points, and all ranges of them.

    Parameters
    ----------
    attribute, taxonomy
        The attribute.
    starts
        Where each block of values begins: the possible cut points, shape (v,); the first is the
        smallest value that occurs.
    gains
        ``gains[i, j]`` is what the range of blocks i, ..., j - 1 adds to the objective, shape
        (v + 1, v + 1), i < j.
    allowed
        Whether every class inside that range satisfies every model, same shape.
    violations
        How many classes inside that range break a model, same shape.
    apart
        What the class of missing values adds, which no range can hold; None where it is
        unacceptable, so that nothing but suppression is left.
    """

    attribute: str
    taxonomy: Taxonomy
    starts: tuple[Decimal, ...]
    gains: Floats
    allowed: Mask
    violations: Ints
    apart: float | None

    @classmethod
    def of(
        cls,
        problem: Problem,
        counts: Counts,
        attribute: str,
        objective: Objective,
        options: RangeOptions = RangeOptions(),
    ) -> "Segments":
        """Judge all ranges of an attribute that is raw in the counts, the others as released."""
        taxonomy = problem.taxonomies[attribute]
        numbers = _numbers(taxonomy, counts, attribute)
        starts, end = _cut_points(np.unique(numbers[~np.isnan(numbers)]), options.grid)
        missing = np.isnan(numbers)
        present = counts.select(~missing)
        block = np.searchsorted(np.array(starts, float), numbers[~missing], side="right") - 1
        judge = Judge(problem.models, objective)
        gains, violations = _all_ranges(judge, present, attribute, block, len(starts))
        wide = _wide_enough([*starts, end], options.min_width)
        gain, broken = judge(counts.select(missing))
        apart = None if broken.any() else float(gain.sum())
        return cls(attribute, taxonomy, starts, gains, wide & (violations == 0), violations, apart)

    def __len__(self) -> int:
        return len(self.starts)

    def value(self, cuts: Sequence[int]) -> float:
        """The objective of a partition, given by the blocks its ranges begin at, 0 first."""
        ends = [*cuts[1:], len(self)]
        return float(self.gains[list(cuts), ends].sum()) + (self.apart or 0.0)

    def broken(self, cuts: Sequence[int]) -> int:
        """How many classes of such a partition break a model."""
        ends = [*cuts[1:], len(self)]
        return int(self.violations[list(cuts), ends].sum())

    def partition(self, cuts: Sequence[int]) -> Partition:
        """The partition of all values of the taxonomy that the cuts make.

        The outer ranges are open-ended: a label must not tell the smallest and the largest value
        that occur, which may be one person's.
        """
        if len(cuts) == 1:
            return self.taxonomy.levels[-1]
        points = [self.starts[cut] for cut in cuts[1:]]
        ranges = [
            Interval(low, high) for low, high in zip([None, *points], [*points, None], strict=True)
        ]
        numbers = self.taxonomy.numbers
        assert numbers is not None
        place = np.searchsorted(np.array(points, float), numbers, side="right")
        return Partition.of(
            [ANY if np.isnan(n) else ranges[i] for n, i in zip(numbers, place, strict=True)]
        )


def optimal_ranges(segments: Segments, max_ranges: int | None = None) -> list[int] | None:
    """The cuts of the best allowed partition; None where there is none.

    ``best[r, j]`` is the best value of the first j blocks in at most r ranges. Ties, within
    ``TIE``: more ranges, then the earliest cuts.
    """
    v = len(segments)
    if segments.apart is None:
        return None
    value = np.where(segments.allowed, segments.gains, -np.inf)
    rounds = v if max_ranges is None else min(max_ranges, v)
    bounded = rounds < v
    tables = rounds if bounded else 1
    best = np.full((tables + 1, v + 1), -np.inf)
    ranges = np.zeros((tables + 1, v + 1), np.intp)
    back = np.zeros((tables + 1, v + 1), np.intp)
    best[:, 0] = 0.0
    for r in range(1, tables + 1):
        before = r - 1 if bounded else r
        for j in range(1, v + 1):
            scores = best[before, :j] + value[:j, j]
            back[r, j] = _winner(scores, ranges[before, :j])
            best[r, j] = scores[back[r, j]]
            ranges[r, j] = ranges[before, back[r, j]] + 1
    return _traced(best, back, bounded)


def heuristic_ranges(segments: Segments, cuts: Sequence[int]) -> list[int] | None:
    """The heuristic of Bezzi (2010): move the boundaries of a level until its classes hold.

    Moves one boundary at a time to where fewest classes break a model and, among those, the
    objective is highest, until no move helps; a partition that still breaks loses the boundary
    whose removal helps most. Ends in a local optimum, or None when not even one range holds.
    """
    moved = list(cuts)
    while True:
        moved = _settled(segments, moved)
        if not segments.broken(moved) and segments.apart is not None:
            return moved
        if len(moved) == 1:
            return None
        fewer = [[*moved[:i], *moved[i + 1 :]] for i in range(1, len(moved))]
        moved = min(fewer, key=lambda option: (segments.broken(option), -segments.value(option)))


def level_ranges(segments: Segments, level: int) -> list[int]:
    """The cuts that come nearest to a level of the taxonomy: wherever its group changes."""
    taxonomy = segments.taxonomy
    numbers = taxonomy.numbers
    assert numbers is not None
    order = np.argsort(numbers, kind="stable")
    order = order[~np.isnan(numbers[order])]
    groups = taxonomy.levels[level].groups[order]
    place = np.searchsorted(numbers[order], np.array(segments.starts, float))
    return [0, *(i for i in range(1, len(segments)) if groups[place[i]] != groups[place[i] - 1])]


def _settled(segments: Segments, cuts: list[int]) -> list[int]:
    """Move boundaries one by one while that helps."""

    def merit(option: Sequence[int]) -> tuple[int, float]:
        return -segments.broken(option), segments.value(option)

    improved = True
    while improved:
        improved = False
        for i in range(1, len(cuts)):
            end = cuts[i + 1] if i + 1 < len(cuts) else len(segments)
            options = [[*cuts[:i], cut, *cuts[i + 1 :]] for cut in range(cuts[i - 1] + 1, end)]
            better = max(options, key=merit)
            broken, value = merit(cuts)
            if merit(better) > (broken, value + TIE):
                cuts, improved = better, True
    return cuts


def _winner(scores: Floats, ranges: Codes) -> int:
    """The first of the highest scores, among ties the one of most ranges."""
    top = scores.max()
    if top == -np.inf:
        return 0
    tied = np.flatnonzero(scores >= top - TIE)
    return int(tied[ranges[tied].argmax()])


def _traced(best: Floats, back: Codes, bounded: bool) -> list[int] | None:
    """Follow the cuts back from the end; with a bound, from the fewest ranges that reach it."""
    r, j = len(best) - 1, best.shape[1] - 1
    if best[r, j] == -np.inf:
        return None
    cuts = []
    while j:
        j, r = int(back[r, j]), r - 1 if bounded else r
        cuts.append(j)
    return cuts[::-1]


def _numbers(taxonomy: Taxonomy, counts: Counts, attribute: str) -> Floats:
    """The number of each cell, shape (cells,), NaN where it misses."""
    if taxonomy.numbers is None:
        raise InputError(f"cannot refine {attribute!r}: its values are not all numbers")
    return taxonomy.numbers[counts.cells[:, counts.names.index(attribute)]]


def _cut_points(values: Floats, grid: float | None) -> tuple[tuple[Decimal, ...], Decimal]:
    """Where ranges may begin, and where the last one ends.

    Without a grid every value that occurs; with one, the last multiple up to it, so that values
    between two multiples stay together. Whole numbers fill a unit each: 90 ends at 91.
    """
    points = [Decimal(repr(float(value))) for value in values]
    if not points:
        return (), Decimal(0)
    whole = all(point == point.to_integral_value() for point in points)
    end = points[-1] + (1 if whole else 0)
    if grid is not None:
        points = [floor_to(point, Decimal(str(grid))) for point in points]
    starts = tuple(dict.fromkeys(points))
    if len(starts) > MOST_CUTS:
        raise InputError(
            f"{len(starts):,} distinct values are too many to cut exactly (the most is "
            f"{MOST_CUTS:,}); set a grid, or leave the attribute out of refine"
        )
    return starts, end


def _wide_enough(ends: Sequence[Decimal], min_width: float | None) -> Mask:
    place = np.array(ends, float)
    width = place[None, :] - place[:, None]
    return np.asarray(width > 0 if min_width is None else width >= float(min_width) - TIE)


@dataclass(frozen=True, eq=False)
class Judge:
    """What each of some classes adds to the objective, and whether it breaks a model."""

    models: Sequence[PrivacyModel]
    objective: Objective

    def __call__(self, counts: Counts) -> tuple[Floats, Mask]:
        """Judge classes; shape (classes,) each."""
        return self.objective.per_class(counts), ~acceptable(counts, self.models)


def _all_ranges(
    judge: Judge, counts: Counts, attribute: str, block: Codes, v: int
) -> tuple[Floats, Ints]:
    """The objective and the violations of every range of blocks, shape (v + 1, v + 1) each.

    Cumulative counts over the blocks make the classes of [i, j) one subtraction; the ranges that
    begin at i are judged together, which bounds memory by v times the classes of one block.
    """
    others = [i for i, name in enumerate(counts.names) if name != attribute]
    combination = np.unique(row_keys(counts.cells[:, others]), return_inverse=True)[1]
    cumulative = {
        name: _cumulative(joint, block, combination, v) for name, joint in counts.joint.items()
    }
    gains = np.full((v + 1, v + 1), -np.inf)
    violations = np.zeros((v + 1, v + 1), np.int64)
    for i in range(v):
        ranges = {name: table[i + 1 :] - table[i] for name, table in cumulative.items()}
        gains[i, i + 1 :], violations[i, i + 1 :] = _judged_ranges(judge, counts, ranges)
    return gains, violations


def _cumulative(joint: Ints, block: Codes, combination: Codes, v: int) -> Ints:
    """Records before each block, by combination of the other attributes and sensitive value.

    Shape (v + 1, combinations, values).
    """
    table = np.zeros((v + 1, int(combination.max(initial=0)) + 1, joint.shape[1]), np.int64)
    np.add.at(table, (block + 1, combination), joint)
    return np.cumsum(table, axis=0, out=table)


def _judged_ranges(judge: Judge, counts: Counts, ranges: dict[str, Ints]) -> tuple[Floats, Ints]:
    """The objective and the violations of ranges, given their classes: shape (ranges,) each."""
    some = next(iter(ranges.values()))
    occupied = some.any(axis=2)
    place = np.nonzero(occupied)[0]
    cells = np.empty((len(place), 0), np.intp)
    joint = {name: table[occupied] for name, table in ranges.items()}
    gain, broken = judge(replace(counts, names=(), cells=cells, joint=joint))
    return (
        np.bincount(place, gain, minlength=len(some)).astype(float),
        np.bincount(place[broken], minlength=len(some)).astype(np.int64),
    )
