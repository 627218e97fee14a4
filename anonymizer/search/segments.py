"""All ranges of one ordered attribute, each judged, the other attributes held fixed."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real

import numpy as np

from anonymizer.counts import Codes, Counts, Floats, Ints, row_keys
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Interval, Partition, Taxonomy
from anonymizer.hierarchy.values import exactly, floor_to, number_of
from anonymizer.objectives import Objective
from anonymizer.parameters import is_whole
from anonymizer.privacy import Mask, PrivacyModel, acceptable
from anonymizer.search.problem import Problem

__all__ = ["Judge", "RangeOptions", "Segments", "blocks_of", "count_matrices", "judge_ranges"]

MOST_CUTS = 1_000
"""Cut points beyond are refused: a coarser grid finds an answer, v^2 ranges would not end."""

SHOWN = 20
"""Characters of a number that a message shows at the most."""


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
        most = self.max_ranges
        if most is not None and not is_whole(most, least=1):
            raise InputError(f"max-ranges = {most!r} must be a whole number of at least 1")
        for name, value in (("min-width", self.min_width), ("grid", self.grid)):
            stated = isinstance(value, Real | Decimal) and not isinstance(value, bool)
            number = number_of(value) if stated else None
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
    classes
        How many classes are inside that range, same shape.
    violations
        How many of them break a model, same shape.
    allowed
        Whether none does and the range is wide enough, same shape.
    apart
        What the classes of missing values add, which no range can hold; None where they are
        unacceptable, so that nothing but suppression is left.
    """

    attribute: str
    taxonomy: Taxonomy
    starts: tuple[Decimal, ...]
    gains: Floats
    classes: Ints
    violations: Ints
    allowed: Mask
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
        codes = counts.cells[:, counts.names.index(attribute)]
        starts, end = cut_points(occurring(taxonomy, codes, attribute), options.grid)
        block = blocks_of(taxonomy, starts, codes)
        missing = block < 0
        judge = Judge(problem.models, objective)
        tables = _all_ranges(
            judge, counts.select(~missing), attribute, block[~missing], len(starts)
        )
        gain, broken = judge(counts.select(missing))
        return cls(
            attribute,
            taxonomy,
            starts,
            *tables,
            allowed=(tables[2] == 0) & wide_enough([*starts, end], options.min_width),
            apart=None if broken.any() else float(gain.sum()),
        )

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
        that occur, which may be one person's. A single range beside no missing value is
        suppression.
        """
        points = [self.starts[cut] for cut in cuts[1:]]
        places = _places(self.taxonomy, points)
        if not points and places.min() >= 0:
            return self.taxonomy.levels[-1]
        ends = zip([None, *points], [*points, None], strict=True)
        ranges = [Interval(low, high) for low, high in ends]
        return Partition.of([ANY if place < 0 else ranges[place] for place in places])


def occurring(taxonomy: Taxonomy, codes: Codes, attribute: str) -> list[Decimal]:
    """The numbers that occur, in order."""
    if taxonomy.numbers is None:
        raise InputError(f"cannot refine {attribute!r}: its values are not all numbers")
    numbers = {taxonomy.numbers[code] for code in np.unique(codes)}
    return sorted(number for number in numbers if number is not None)


def _places(taxonomy: Taxonomy, points: Sequence[Decimal]) -> Codes:
    """How many of the points lie at or below each value, -1 for a missing one, shape (values,)."""
    numbers = taxonomy.numbers or ()
    places = [-1 if number is None else bisect_right(points, number) for number in numbers]
    return np.array(places, np.intp)


def blocks_of(taxonomy: Taxonomy, starts: Sequence[Decimal], codes: Codes) -> Codes:
    """The block of each value code, -1 for a missing value, shape (codes,)."""
    return np.maximum(_places(taxonomy, starts)[codes] - 1, -1)


def cut_points(
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


def wide_enough(ends: Sequence[Decimal], min_width: float | None) -> Mask:
    """Which ranges, from one end to a later one, span at least so much, shape (ends, ends)."""
    wide = np.triu(np.ones((len(ends), len(ends)), bool), 1)
    if min_width is not None:
        with exactly():
            reach = [bisect_left(ends, end + Decimal(str(min_width))) for end in ends]
        for place, first in enumerate(reach):
            wide[place, :first] = False
    return wide


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
) -> tuple[Floats, Ints, Ints]:
    """The objective, the classes and the violations of every range of blocks.

    Shape (v + 1, v + 1) each. Cumulative counts over the blocks make the classes of [i, j) one
    subtraction; the ranges that begin at i are judged together, which bounds memory by v times the
    classes of one block.
    """
    others = [i for i, name in enumerate(counts.names) if name != attribute]
    combination = np.unique(row_keys(counts.cells[:, others]), return_inverse=True)[1]
    cumulative = {
        name: _cumulative(joint, block, combination, v)
        for name, joint in count_matrices(counts).items()
    }
    gains = np.full((v + 1, v + 1), -np.inf)
    classes = np.zeros((v + 1, v + 1), np.int64)
    violations = np.zeros((v + 1, v + 1), np.int64)
    for i in range(v):
        ranges = {name: table[i + 1 :] - table[i] for name, table in cumulative.items()}
        gains[i, i + 1 :], classes[i, i + 1 :], violations[i, i + 1 :] = judge_ranges(
            judge, counts, ranges
        )
    return gains, classes, violations


def count_matrices(counts: Counts) -> dict[str | None, Ints]:
    """Records of each class by value of each sensitive attribute, and under None in all."""
    matrices: dict[str | None, Ints] = {None: counts.sizes[:, None]}
    matrices.update(counts.joint)
    return matrices


def _cumulative(joint: Ints, block: Codes, combination: Codes, v: int) -> Ints:
    """Records before each block, by combination of the other attributes and sensitive value.

    Shape (v + 1, combinations, values).
    """
    table = np.zeros((v + 1, int(combination.max(initial=0)) + 1, joint.shape[1]), np.int64)
    np.add.at(table, (block + 1, combination), joint)
    return np.cumsum(table, axis=0, out=table)


def judge_ranges(
    judge: Judge, counts: Counts, ranges: dict[str | None, Ints]
) -> tuple[Floats, Ints, Ints]:
    """Objective, classes and violations of ranges, given their classes: shape (ranges,) each.

    The classes come by sensitive attribute, and under None by size alone.
    """
    some = ranges[None]
    occupied = some.any(axis=2)
    place = np.nonzero(occupied)[0]
    cells = np.empty((len(place), 0), np.intp)
    sizes = some[occupied][:, 0]
    joint = {name: table[occupied] for name, table in ranges.items() if name is not None}
    gain, broken = judge(replace(counts, names=(), cells=cells, sizes=sizes, joint=joint))
    return (
        np.bincount(place, gain, minlength=len(some)).astype(float),
        np.bincount(place, minlength=len(some)).astype(np.int64),
        np.bincount(place[broken], minlength=len(some)).astype(np.int64),
    )
