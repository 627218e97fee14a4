"""How attributes are cut, one alone or two together, and what comes of it.

Of two attributes, the others held fixed, the objective is a sum over tiles: a group of one
attribute, a row, by a group of the other, a column. With the columns chosen, the rows are found by
dynamic programming, each being worth the sum of its tiles. So the columns are what is searched, by
branch and bound over prefixes of their partition, several prefixes at a time.

The bound of a prefix that ends at block e: a row s is worth its tiles in the prefix plus the best
that *any* partition of the blocks from e on makes of s alone; the dynamic program over the rows on
these worths. Every completion of the prefix cuts those blocks in one way for all rows, hence none
beats the bound, whatever the signs; with the prefix complete the bound is the value itself.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from typing import Any, NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.errors import InputError
from anonymizer.kernels import Rules, Worth
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.kernels.ranges import Sorted, WalkLimits, judged, walked
from anonymizer.kernels.single import Criteria, values
from anonymizer.objectives import Objective
from anonymizer.objectives.candidate import columns_of, listed_of
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.partitions.families import (
    Chain,
    Family,
    Intervals,
    Judge,
    Path,
    PricedObjective,
    Segments,
    Tables,
    before,
    combinations_without,
    lots,
    tabulated,
    tie_breaker,
)
from anonymizer.recoding.partitions.groups import Cuts, Ranges, Subsets, TaxonomyLevels
from anonymizer.recoding.problem import Problem, RangeOptions

TIE = 1e-12
"""Bits by which a move of the heuristic has to help."""


Cutting = Callable[[Segments, Ranges], Path | None]
"""Chooses among the ranges of an ordered attribute, each judged."""


def cut_exactly(segments: Segments, ranges: Ranges) -> Path | None:
    """Choose the best ranges, by dynamic programming."""
    return segments.best()


def cut_heuristically(segments: Segments, ranges: Ranges) -> Path | None:
    """Choose ranges by the heuristic of Bezzi (2010, section 4), from the first level on.

    Moves one boundary at a time to where fewest classes break a model and, among those, the
    objective is highest, until no move helps; a partition that still breaks loses the boundary
    whose removal helps most. Ends in a local optimum, None where not even one range holds: here for
    comparison. It knows no bound on the number or the width of the ranges: either is refused.

    A range may be used when every class inside it (one for each combination of the other
    attributes) satisfies every model. That is *not* monotone in its length: a union of an
    acceptable and an unacceptable range may be either. So all v (v + 1) / 2 are judged beforehand.
    """
    confined = ranges.options.max_ranges, ranges.options.min_width
    if confined != (None, None) or ranges.taxonomy.bounded:
        raise InputError("the heuristic refinement can be confined by a grid alone; use 'exact'")
    if not ranges.blocks:
        return None

    def merit(cuts: Sequence[int]) -> tuple[int, float]:  # minus the classes that break a model
        path = list(ranges.path(cuts))
        return -int(segments.violations[path].sum()), float(segments.gains[path].sum())

    moved = level_ranges(ranges, 1)
    while True:
        moved = _settled(merit, ranges.blocks, moved)
        if merit(moved)[0] == 0 and segments.ungrouped is not None:
            return ranges.path(moved)
        if len(moved) == 1:
            return None
        moved = max(([*moved[:i], *moved[i + 1 :]] for i in range(1, len(moved))), key=merit)


def level_ranges(ranges: Ranges, level: int) -> list[int]:
    """The cuts that come nearest to a level of the taxonomy: wherever its group changes."""
    numbers = ranges.taxonomy.numbers or ()
    known = sorted((number, code) for code, number in enumerate(numbers) if number is not None)
    groups = ranges.taxonomy.levels[level].groups[[code for _, code in known]]
    place = [bisect_left(known, (start, -1)) for start in ranges.points]
    return [0, *(i for i in range(1, ranges.blocks) if groups[place[i]] != groups[place[i] - 1])]


def _settled(merit: Callable[[Sequence[int]], Any], blocks: int, cuts: list[int]) -> list[int]:
    """Move boundaries one by one while that helps."""
    improved = True
    while improved:
        improved = False
        for i in range(1, len(cuts)):
            end = cuts[i + 1] if i + 1 < len(cuts) else blocks
            options = [[*cuts[:i], cut, *cuts[i + 1 :]] for cut in range(cuts[i - 1] + 1, end)]
            better = max(options, key=merit)
            broken, value = merit(cuts)
            if merit(better) > (broken, value + TIE):
                cuts, improved = better, True
    return cuts


REFINEMENTS: Mapping[str, Cutting] = {"exact": cut_exactly, "heuristic": cut_heuristically}
"""What a study file calls each way to cut; the first is the default."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """A recoding found at a price on each of its classes.

    ``value`` is the objective less that price. No other recoding of its kind has a value above
    ``bound``, which is infinite where it is not known, or above ``value`` where that is ``proven``.
    ``refinements``: how many times an attribute, or two, were cut, or a tree was searched for.
    """

    value: float
    classes: int
    bound: float = inf
    refinements: int = 1
    proven: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Refined(Solution):
    """A recoding found by cutting: a partition of every quasi-identifier, in their order.

    ``counts`` are what it leaves, and ``checked`` how many nodes of a lattice were checked for it.
    """

    recoding: Partitions
    counts: Counts
    checked: int = 0

    def or_better(self, other: "Refined") -> "Refined":
        """The one of the higher value; among ties the one of more classes, then this one."""
        if abs(self.value - other.value) <= TOLERANCE:
            return other if other.classes > self.classes else self
        return other if other.value > self.value else self

    @classmethod
    def among(cls, found: Sequence["Refined"]) -> "Refined":
        """The best of some local optima, with the work that went into all; not proven."""
        best = reduce(cls.or_better, found)
        return replace(
            best,
            bound=max(best.value, min(each.bound for each in found)),
            refinements=sum(each.refinements for each in found),
            checked=sum(each.checked for each in found),
            proven=False,
        )


@dataclass(frozen=True, eq=False)
class Refiner:
    """The objective, the partitions that each attribute may have, and the way to cut ranges.

    ``options`` are what ranges are confined to, and ``cutting`` is how they are chosen. With
    ``cuts``, attributes that get no ranges are cut through their taxonomies, not recoded to a
    level. The values of the attributes in ``group`` are put together in any way. Each class has a
    ``cost``, in the objective's unit.
    """

    objective: Objective
    options: RangeOptions = RangeOptions()  # noqa: RUF009 (frozen)
    cutting: Cutting = cut_exactly
    cuts: bool = False
    group: Sequence[str] = ()
    cost: float = 0.0

    @property
    def name(self) -> str:
        """The name of the recoding in messages."""
        return "cut recoding" if self.cuts else "variable-range recoding"

    @property
    def exact(self) -> bool:
        """True where ranges are cut at their best."""
        return self.cutting is cut_exactly

    @property
    def scoring(self) -> Objective:
        """The objective less what the classes cost."""
        return PricedObjective(self.objective, self.cost) if self.cost else self.objective

    def families(self, problem: Problem, ranged: Sequence[str]) -> dict[str, Family]:
        """The partitions that each attribute may have; some get ranges."""
        found: dict[str, Family] = {}
        counts = problem.counts
        for name, codes in zip(counts.names, counts.cells.T, strict=True):
            taxonomy = problem.taxonomies[name]
            if name in ranged and name not in self.group:
                found[name] = Ranges.of(name, taxonomy, codes, self.options, counts.sizes)
            else:
                kind = Subsets if name in self.group else Cuts if self.cuts else TaxonomyLevels
                found[name] = kind.of(name, taxonomy, codes)
        return found

    def best(self, counts: Counts, others: Partitions, segments: Segments) -> Refined:
        """Find the best partition of an attribute, raw in the counts; ties: the one that is cut."""
        family = segments.family
        path = self.cutting(segments, family) if isinstance(family, Ranges) else segments.best()
        cuts = family.suppression if path is None else (family.partition(path),)
        found = [
            self.refined(counts, {**others, family.attribute: partition})
            for partition in (*cuts, *family.without_path)
        ]
        if not found:
            return self.none(counts, {**others, family.attribute: family.taxonomy.levels[-1]})
        return reduce(Refined.or_better, found)

    def none(self, counts: Counts, recoding: Partitions) -> Refined:
        """Return a stand-in worth -inf, where limits allow no recoding."""
        return replace(self.refined(counts, recoding), value=-inf)

    def segments(self, problem: Problem, counts: Counts, family: Family) -> Segments:
        """All groups of an attribute that is raw in the counts."""
        return Segments.of(Judge(problem.models, self.scoring), counts, family)

    def refined(self, counts: Counts, recoding: Partitions) -> Refined:
        """Apply a recoding to counts."""
        merged = counts.recode(recoding)
        return Refined(
            recoding={name: recoding[name] for name in counts.names},
            value=self.scoring(merged),
            classes=len(merged),
            counts=merged,
            proven=self.exact,
        )

    def most(self, counts: Counts, others: Partitions) -> float:
        """Return a bound on all partitions of the remaining attributes next to ``others``.

        They keep no more than the raw attributes do, and leave at least the classes of the others.
        An objective that does not fall when classes merge bounds nothing.
        """
        if not self.objective.falls:
            return inf
        counts = counts.recode(others)
        return self.objective(counts) - self.cost * len(counts.project(tuple(others)))


MOST_CLASSES = 16_000_000
"""Classes of all tiles beyond are not judged (some 10 s): the pair is left to ascent."""


MOST_ENTRIES = 64_000_000
"""Counts held at once beyond (half a gigabyte) are not either."""


MOST_PREFIXES = 200_000
"""Prefixes beyond are not looked at (1 to 2 s with 4,000 rows): the best found is not proven."""


TOGETHER = 16
"""Prefixes that are extended together; which of equal worths the walk finds depends on it."""


LARGEST = 1_000_000
"""Tiles beyond which fewer are extended together."""


NOTHING: tuple[float, Path] = (-inf, ())


@dataclass(frozen=True, eq=False)
class Tiles:
    """Worths of the tiles of two attributes, the others as released.

    ``scores[s, q]``: what the classes of group s of the rows and group q of the columns add, -inf
    where one breaks a model; shape (rows + 1, columns + 1). The last row and the last column are
    the missing values, which belong to every partition. ``per_class`` is what of a score is there
    for each class to break ties.
    """

    rows: Chain
    columns: Chain
    scores: Floats
    per_class: float

    @classmethod
    def of(cls, judge: Judge, counts: Counts, *sides: tuple[Intervals, Chain]) -> "Tiles | None":
        """Judge the tiles of two attributes that are raw in the counts; None when too many.

        Only groups that are acceptable with the other attribute suppressed are looked at: the
        classes of a row of a partition merge into that one's, and models are monotone.
        """
        attributes, (rows, columns) = [each.attribute for each, _ in sides], [c for _, c in sides]
        combination, combinations = combinations_without(counts, attributes)
        classes_of_rows = (len(rows) + 1) * combinations
        most = max((joint.shape[1] for joint in counts.joint.values()), default=1)
        if (
            classes_of_rows * (len(columns) + 1) > MOST_CLASSES
            or classes_of_rows * (columns.blocks + 2) * most > MOST_ENTRIES
        ):
            return None
        blocks = [
            chain.places(family.blocks_of(counts.cells[:, counts.names.index(family.attribute)]))
            for family, chain in sides
        ]  # missing values, of block -1, are the last one
        criteria = judge.criteria(counts)
        if criteria is None:
            shape = (rows.blocks + 1, columns.blocks + 1, combinations)
            tables = tabulated(counts, (*blocks, combination), shape)
            gains, classes = _judged(judge, counts, tables, rows, columns)
        else:
            last = [np.where(b < 0, c.blocks, b) for b, (_, c) in zip(blocks, sides, strict=True)]
            listed = Sorted.of(listed_of(counts), combination, *last)
            ends = rows.with_missing, columns.with_missing
            gains, classes, violations = judged(listed, *ends, criteria)
            gains[violations > 0] = -np.inf
            gains[-1, -1] += _constant(judge, counts, criteria.worth)
        per_class = tie_breaker(gains, len(counts))
        return cls(rows, columns, gains + per_class * classes, per_class)

    @property
    def slack(self) -> float:
        """Less than what one class counts for, more than sums of scores are off by rounding."""
        return self.per_class / 2

    @property
    def together(self) -> int:
        """How many prefixes are extended together."""
        return min(TOGETHER, 1 + LARGEST // self.scores.size)

    def worth(self, path: Sequence[int]) -> Floats:
        """The sum of each row's tiles in some columns and the missing ones, shape (rows + 1,)."""
        return np.asarray(self.scores[:, [*path, -1]].sum(axis=1))

    def reached(self, worths: Floats) -> Floats:
        """Reduce n worths of the rows to those of the best rows, (rows + 1, n) to (n,)."""
        return np.asarray(self.rows.total(worths[:-1]) + worths[-1])


def _constant(judge: Judge, counts: Counts, worth: Worth) -> float:
    """The objective less what kernels take it for, which is the same of every recoding."""
    whole = columns_of(counts.project(()))
    anyway = Criteria.of(Rules.of([], whole.shape[1]), worth)
    return judge.objective(counts.project(())) - float(values(whole, anyway).sum())


def _judged(
    judge: Judge, counts: Counts, tables: Tables, rows: Chain, columns: Chain
) -> tuple[Floats, Ints]:
    """Objective (-inf where a class breaks a model) and classes of all tiles."""
    shape = (len(columns) + 1, len(rows) + 1)
    gains, classes = np.empty(shape), np.empty(shape, np.int64)
    strips = {}
    first, last = rows.with_missing
    for name, table in tables.items():
        sums = before(table)
        # The records of each row before every block of the columns: a tile is one subtraction.
        strips[name] = before(np.moveaxis(sums[last] - sums[first], 1, 0))
    combinations = next(iter(strips.values())).shape[2]
    starts, ends = columns.with_missing
    for lot in lots(shape[0], shape[1] * combinations, tables):
        tiles = {name: strip[ends[lot]] - strip[starts[lot]] for name, strip in strips.items()}
        flat = {name: tile.reshape(-1, *tile.shape[2:]) for name, tile in tiles.items()}
        gain, count, broken = judge.tables(counts, flat)
        gains[lot] = np.where(broken, -np.inf, gain).reshape(-1, shape[1])
        classes[lot] = count.reshape(-1, shape[1])
    return gains.T.copy(), classes.T


class PairCuts(NamedTuple):
    """The groups of two attributes that make their partitions, and whether no others are better.

    ``proven`` holds, too, where no others exceed the floor that was given.
    """

    rows: Path
    columns: Path
    proven: bool


def best_pair(tiles: Tiles, floor: float = -inf) -> PairCuts | None:
    """The cuts of the highest objective; None where no partitions are allowed.

    What does not exceed ``floor`` is not searched for. Ties: more classes; then what the climbs
    find, or else what the walk comes by first; then the earliest cuts of the rows. The walk
    depends on the tiles alone.
    """
    if not (len(tiles.rows) and len(tiles.columns)):
        return None
    climbed = (_climbed(tiles, path) for path in _starts(tiles))
    best = max(climbed, key=lambda reached: reached[0], default=NOTHING)
    limits = WalkLimits(
        max(floor, best[0] + tiles.slack), tiles.slack, tiles.together, MOST_PREFIXES
    )
    columns = np.ascontiguousarray(tiles.scores.T)
    proven, found = walked(tiles.rows.steps, tiles.columns.steps, columns, limits)
    path = best[1] if found is None else found
    rows = tiles.rows.best(tiles.worth(path)[:-1]) if path else None
    if rows is None:
        return None
    return PairCuts(tiles.rows.given(rows), tiles.columns.given(path), proven)


def _starts(tiles: Tiles) -> Iterator[Path]:
    """Columns to climb from: a single one, and the best for the rows of the first bound.

    Models being monotone, the single column is allowed wherever any columns are.
    """
    columns = tiles.columns
    for whole in np.flatnonzero(columns.ends - columns.starts == columns.blocks):
        yield (int(whole),)
    free = columns.total(tiles.scores[:, :-1].T) + tiles.scores[:, -1]
    path = _columns_for(tiles, free)
    if path is not None:
        yield path


def _columns_for(tiles: Tiles, worth: Floats) -> Path | None:
    """Return the best columns for the rows that these worths make best; None without any."""
    rows = tiles.rows.best(worth[:-1])
    if rows is None:
        return None
    path = tiles.columns.best(tiles.scores[[*rows, -1], :-1].sum(axis=0))
    return None if path is None else tuple(path)


def _climbed(tiles: Tiles, start: Path) -> tuple[float, Path]:
    """Cut rows and columns in turn, each at its best for the other's cuts, until none gains."""
    best = NOTHING
    path: Path | None = start
    while path is not None:
        worth = tiles.worth(path)
        score = float(tiles.reached(worth[:, None])[0])
        if score <= best[0] + tiles.slack:
            break
        best = (score, path)
        path = _columns_for(tiles, worth)
    return best
