"""The groups of values: ranges of numbers, cuts through a taxonomy and its levels, and any groups.

Ranges are all intervals between the cut points of an ordered attribute. Depth-first along a
taxonomy every group is an interval of the values, and a cut is a partition of that order into such
intervals; a missing value is a leaf like any other.

Where values are many, ranges are judged by the pairs of a class and a sensitive value that occur.
In the order of the combinations of the other attributes, then of the blocks of values, the classes
that a range merges are neighbours. So the pairs of a range are some slices of those of all classes.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.pairs import by_pairs, merged_runs
from anonymizer.errors import InputError
from anonymizer.hierarchy import Interval, Partition, Taxonomy, cut_of, grouping_of
from anonymizer.information.matrices import CountMatrix, occurring
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.kernels.ranges import Sorted, judged
from anonymizer.objectives.candidate import listed_of
from anonymizer.recoding.partitions.families import (
    Family,
    GroupScores,
    Intervals,
    Judge,
    Path,
    before,
    combinations_without,
    lots,
    tabulated,
)
from anonymizer.recoding.partitions.points import cut_points
from anonymizer.recoding.problem import RangeOptions
from anonymizer.tables.values import exactly

MOST_VALUES = 6
"""Values beyond are not grouped in any way: 6 make 203 partitions, 8 make 4,140."""


@dataclass(frozen=True, eq=False)
class Ranges(Intervals):
    """All ranges of an ordered attribute that are wide enough; missing values are in none.

    ``points`` (blocks,) are the possible cut points, where each block of values begins: the first
    is the smallest value that occurs. ``gaps``: whether a value is missing. ``options`` are what
    the ranges are confined to. ``grid``: how many cut points are used where these are not all.
    """

    points: tuple[Decimal, ...]
    gaps: bool
    options: RangeOptions
    grid: int | None = None

    @classmethod
    def of(
        cls,
        attribute: str,
        taxonomy: Taxonomy,
        codes: Codes,
        options: RangeOptions,
        sizes: Ints | None = None,
    ) -> "Ranges":
        """The ranges between the values that occur, given by their codes; ``sizes`` have each."""
        if taxonomy.numbers is None:
            raise InputError(
                f"cannot refine {attribute!r}: its values are not all numbers, dates or values of "
                "an order"
            )
        values, records, gaps = _occurring(taxonomy, codes, sizes)
        points, end, grid = cut_points(taxonomy, values, records, options)
        borders = [*points, end]
        with exactly():
            width = Decimal(str(options.min_width or 0)) * taxonomy.scale.unit
            # The first border that is far enough from each, and never that border itself.
            reach = [max(i + 1, bisect_left(borders, low + width)) for i, low in enumerate(borders)]
        allowed = np.arange(len(borders)) >= np.array(reach)[:, None]
        if taxonomy.bounded and points:
            allowed &= _within_groups(taxonomy, values, points)
        starts, ends = np.nonzero(allowed)
        most = None if options.max_ranges is None else int(options.max_ranges)
        lines = attribute, taxonomy, starts, ends, len(points), most
        return cls(*lines, points, gaps, options, grid)

    def blocks_of(self, codes: Codes) -> Codes:
        """The block of each value code, -1 for a missing value."""
        return np.maximum(_places(self.taxonomy, self.points)[codes] - 1, -1)

    def judged(self, judge: Judge, counts: Counts) -> GroupScores:
        """Judge all ranges: cumulative counts make the classes of [i, j) one subtraction.

        Where values are so many that most counts are 0, the pairs of [i, j) are merged.
        """
        block = self._blocks(counts)
        classes, block = counts.select(block >= 0), block[block >= 0]
        combination, number = combinations_without(classes, [self.attribute])
        criteria = judge.criteria(counts)
        if criteria is not None:
            listed = Sorted.of(listed_of(classes), combination, np.zeros_like(block), block)
            whole = np.array([0]), np.array([1])
            found = judged(listed, whole, (self.starts, self.ends), criteria)
            return GroupScores(*(each[0] for each in found))
        # Pairs have no population, and without sensitive attributes there are none.
        if counts.population is None and classes.joint:
            shape, ends = (number, self.blocks), np.stack([self.starts, self.ends])
            runs = BlockRuns.of(classes, (combination, block), shape, ends)
            if runs.quicker:
                return runs.judged(judge)
        tables = tabulated(classes, (block, combination), (self.blocks, number))
        sums = [(name, before(table)) for name, table in tables.items()]
        return GroupScores.joined(
            [
                judge.tables(counts, {w: s[self.ends[lot]] - s[self.starts[lot]] for w, s in sums})
                for lot in lots(len(self.starts), number, tables)
            ]
        )

    def ungrouped(self, judge: Judge, counts: Counts) -> float | None:
        """Return what the classes of missing values add; None where they are unacceptable."""
        gain, broken = judge(counts.select(self._blocks(counts) < 0))
        return None if broken.any() else float(gain.sum())

    @property
    def confined(self) -> bool:
        """True where the options confine ranges, which levels need not keep to."""
        return self.options != RangeOptions()

    @property
    def without_path(self) -> tuple[Partition, ...]:
        """Suppression, which joins missing values to the others, where there are any."""
        return self.suppression if self.gaps else ()

    def partition(self, path: Path) -> Partition:
        """The partition of all values of the taxonomy into some ranges.

        The outer ranges are open-ended: a label must not show the smallest and the largest value
        that occur, which may be one person's. A single range without missing values is suppression.
        """
        points = [self.points[self.starts[group]] for group in path[1:]]
        places = _places(self.taxonomy, points)
        # One range of all values is the highest level, by whose label it goes.
        if not points and places.min() >= 0:
            return self.taxonomy.levels[self.taxonomy.coarsest]
        found, first, groups = np.unique(places, return_index=True, return_inverse=True)
        order = np.argsort(first)  # groups come in the order of their first values
        ends, scale = [None, *points, None], self.taxonomy.scale
        labels = tuple(
            None if n < 0 else Interval(ends[n], ends[n + 1], scale) for n in found[order]
        )
        return Partition(np.argsort(order)[groups], labels)

    def _blocks(self, counts: Counts) -> Codes:
        return self.blocks_of(counts.cells[:, counts.names.index(self.attribute)])


@dataclass(frozen=True, eq=False)
class Cuts(Intervals):
    """All groups of all levels of a taxonomy that hold a value which occurs.

    Groups of several levels that hold the same of these values are one, of the finest of them.
    ``order`` (blocks,) has the codes of the values that occur, depth-first, and ``levels``
    (groups,) the finest level of each group.
    """

    order: Codes
    levels: Codes

    @classmethod
    def of(cls, attribute: str, taxonomy: Taxonomy, codes: Codes) -> "Cuts":
        """The groups of the values that occur, given by their codes."""
        present = np.unique(codes)
        keys = [level.representatives[present] for level in taxonomy.levels]
        order = present[np.lexsort(keys)]
        allowed = range(taxonomy.finest, taxonomy.coarsest + 1)
        found = [_runs(taxonomy.levels[level].groups[order]) for level in allowed]
        starts = np.concatenate(found)
        ends = np.concatenate([np.append(each[1:], len(order)) for each in found])
        levels = np.repeat(allowed, [len(each) for each in found])
        # The first of equal groups, which is of the finest level.
        kept = np.unique(starts * (len(order) + 1) + ends, return_index=True)[1]
        starts, ends, levels = starts[kept], ends[kept], levels[kept]
        return cls(attribute, taxonomy, starts, ends, len(order), None, order, levels)

    def blocks_of(self, codes: Codes) -> Codes:
        """The block of each value code."""
        place = np.full(len(self.taxonomy.codes), -1)
        place[self.order] = np.arange(self.blocks)
        return place[codes]

    def judged(self, judge: Judge, counts: Counts) -> GroupScores:
        """Judge the groups of one level after those of the other, each level rolled up."""
        column = counts.names.index(self.attribute)
        gains = np.zeros(len(self.starts))
        classes, violations = np.zeros((2, len(self.starts)), np.int64)
        for level, partition in enumerate(self.taxonomy.levels):
            counts = counts.recode({self.attribute: partition})
            own = np.flatnonzero(self.levels == level)
            named = np.full(len(self.taxonomy.codes), -1)  # which of them goes by each code
            named[partition.representatives[self.order[self.starts[own]]]] = np.arange(len(own))
            group = named[counts.cells[:, column]]
            judged = judge.grouped(counts.select(group >= 0), group[group >= 0], len(own))
            gains[own], classes[own], violations[own] = judged
        return GroupScores(gains, classes, violations)

    @cached_property
    def at_level(self) -> dict[Path, int]:
        """The paths that are levels, each with the finest level that it is."""
        found: dict[Path, int] = {}
        for level in range(self.taxonomy.finest, self.taxonomy.coarsest + 1):
            groups = self.taxonomy.levels[level].groups[self.order]
            found.setdefault(self.path(_runs(groups)), level)
        return found

    def partition(self, path: Path) -> Partition:
        """The level that a path is, or else the partition into its groups.

        Values that the taxonomy lists and that do not occur are in the coarsest groups without any
        that does.
        """
        if tuple(path) in self.at_level:
            return self.taxonomy.levels[self.at_level[tuple(path)]]
        nodes = []  # the level of each group, and which group of that level it is
        for group in path:
            level, first = int(self.levels[group]), self.order[self.starts[group]]
            nodes.append((level, int(self.taxonomy.levels[level].groups[first])))
        return cut_of(self.taxonomy, [*nodes, *self._left(nodes)])

    def _left(self, nodes: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """The coarsest groups of the values that are in none of some groups."""
        levels = self.taxonomy.levels[: self.taxonomy.coarsest + 1]
        covered = np.zeros(len(self.taxonomy.codes), bool)
        for level, partition in enumerate(levels):
            own = [group for at, group in nodes if at == level]
            covered |= np.isin(partition.groups, own)
        # A value's groups hold none that is covered up to some level, and one from there on.
        free = [np.bincount(each.groups, covered)[each.groups] == 0 for each in levels]
        heights = np.sum(free, axis=0).tolist()
        return {
            (height - 1, int(levels[height - 1].groups[code]))
            for code, height in enumerate(heights)
            if height
        }


class TaxonomyLevels(Cuts):
    """The levels of a taxonomy alone."""

    best = Family.best  # the finest in a tie

    def paths(self, allowed: Mask) -> Iterator[Path]:
        """Yield the allowed levels, the finest first."""
        return (path for path in self.at_level if allowed[list(path)].all())


@dataclass(frozen=True, eq=False)
class Subsets(Family):
    """All sets of the values that occur, a missing one among them.

    ``members`` has the value codes of each set, those of the first value first.
    """

    members: tuple[Codes, ...]

    @classmethod
    def of(cls, attribute: str, taxonomy: Taxonomy, codes: Codes) -> "Subsets":
        """The sets of the values that occur, given by their codes."""
        present = np.unique(codes)
        if len(present) > MOST_VALUES:
            raise InputError(
                f"cannot group {attribute!r} in any way: it has {len(present):,} values (the most "
                f"is {MOST_VALUES}); leave it out of group"
            )
        if taxonomy.finest or taxonomy.bounded:
            raise InputError(
                f"cannot group {attribute!r} in any way and keep to its min-level or max-level; "
                "leave it out of group, or leave these out"
            )
        # Large sets first, which a stable sort keeps among sets of one first value.
        sizes = range(len(present), 0, -1)
        sets = [np.array(each) for size in sizes for each in combinations(present, size)]
        return cls(attribute, taxonomy, tuple(sorted(sets, key=lambda codes: int(codes[0]))))

    def judged(self, judge: Judge, counts: Counts) -> GroupScores:
        """Judge the sets one by one, each as one value."""
        codes = counts.cells[:, counts.names.index(self.attribute)]
        whole = {self.attribute: self.taxonomy.levels[-1]}
        merged = [counts.select(np.isin(codes, each)).recode(whole) for each in self.members]
        parts = [judge.grouped(each, np.zeros(len(each), np.intp), 1) for each in merged]
        return GroupScores.joined(parts)

    def paths(self, allowed: Mask) -> Iterator[Path]:
        """Yield the groupings, the largest groups of the first values first."""
        return self._paths([place for place, fine in enumerate(allowed) if fine], frozenset())

    def _paths(self, allowed: list[int], covered: frozenset[int]) -> Iterator[Path]:
        """The partitions of the values left."""
        left = [int(codes[0]) for codes in self.members if int(codes[0]) not in covered]
        if not left:
            yield ()
        for place in allowed:
            members = frozenset(self.members[place].tolist())
            # Each partition comes once: every set begins with the first value that is left.
            if left and min(left) == min(members) and covered.isdisjoint(members):
                for rest in self._paths(allowed, covered | members):
                    yield (place, *rest)

    def partition(self, path: Path) -> Partition:
        """Return the grouping, or the level of one group, or of a group for each value."""
        levels = self.taxonomy.levels
        if len(path) == 1:
            return levels[-1]
        if len(path) == len(np.concatenate([self.members[place] for place in path])):
            return levels[0]
        return grouping_of(self.taxonomy, [self.members[place] for place in path])


def _occurring(
    taxonomy: Taxonomy, codes: Codes, sizes: Ints | None
) -> tuple[list[Decimal], Ints, bool]:
    """Return the numbers that occur, by size, the records of each, and whether one is missing."""
    weights = np.ones(len(codes), np.int64) if sizes is None else sizes
    of_code = np.bincount(codes, weights, len(taxonomy.codes)).astype(np.int64)
    there = np.bincount(codes, minlength=len(taxonomy.codes)) > 0
    known, numbers = taxonomy.placed
    records: dict[Decimal, int] = {}
    for code, number in zip(known.tolist(), numbers, strict=True):
        if there[code]:
            records[number] = records.get(number, 0) + int(of_code[code])
    there[known] = False
    return [*records], np.array([*records.values()], np.int64), bool(there.any())


def _within_groups(
    taxonomy: Taxonomy, values: Sequence[Decimal], points: Sequence[Decimal]
) -> Mask:
    """Mark the ranges within a group of the highest level, shape (points + 1, points + 1)."""
    codes, numbers = taxonomy.placed
    groups = taxonomy.levels[taxonomy.coarsest].groups
    first = [values[bisect_left(values, point)] for point in points]
    own = groups[codes[[bisect_left(numbers, value) for value in first]]]
    within = np.zeros((len(points) + 1, len(points) + 1), bool)
    within[:-1, 1:] = own[:, None] == own[None, :]
    return within


def _runs(groups: Codes) -> Codes:
    return np.flatnonzero(np.diff(groups, prepend=-1))


def _places(taxonomy: Taxonomy, points: Sequence[Decimal]) -> Codes:
    """Count the points at or below each value, -1 for a missing one, shape (values,)."""
    codes, numbers = taxonomy.placed
    places = np.full(len(taxonomy.codes), -1)
    begins = [bisect_left(numbers, point) for point in points]
    places[codes] = np.searchsorted(begins, np.arange(len(codes)), side="right")
    return places


PAIRS_AT_ONCE = 4_000_000
"""Pairs merged together: bounds what the judging takes to some hundred megabytes."""

COUNTS_PER_PAIR = 8
"""Counts of arrays per pair from which on pairs are quicker; a pair is sorted, a count is not."""


@dataclass(frozen=True, eq=False)
class BlockRuns:
    """Classes in the order of combination and block, and the ranges over the blocks.

    ``counts`` are the classes, ``edges`` (combinations, blocks + 1) where each block of each
    combination begins among them. Range k holds the blocks ``starts[k]``, ..., ``ends[k] - 1``;
    ``pairs`` (ranges,) are its pairs over all sensitive attributes, before values that several of
    its classes have are counted as one.
    """

    counts: Counts
    edges: Codes
    starts: Codes
    ends: Codes
    pairs: Ints

    @classmethod
    def of(
        cls, counts: Counts, at: tuple[Codes, Codes], shape: tuple[int, int], ends: Codes
    ) -> "BlockRuns":
        """Sort classes by their combination and block ``at``, (classes,) each; ``shape`` of these.

        ``ends`` (2, ranges) are the first block of each range, and that after its last one.
        """
        combination, block = at
        order = np.lexsort((block, combination))
        counts = counts.select(order)
        combinations, blocks = shape
        places = np.arange(combinations)[:, None] * blocks + np.arange(blocks + 1)
        edges = np.searchsorted((combination * blocks + block)[order], places)
        of_class = sum((occurring(joint) for joint in counts.joint.values()), np.int64(0))
        before = np.append(0, np.cumsum(np.bincount(block[order], of_class, blocks)))
        pairs = np.asarray(before[ends[1]] - before[ends[0]], np.int64)
        return cls(counts, edges, ends[0], ends[1], pairs)

    @property
    def quicker(self) -> bool:
        """True where pairs are quicker than arrays of all ranges, combinations and values."""
        values = sum(joint.shape[1] for joint in self.counts.joint.values())
        cells = len(self.starts) * len(self.edges) * values
        return bool(cells > COUNTS_PER_PAIR * int(self.pairs.sum()))

    def judged(self, judge: Judge) -> GroupScores:
        """Judge the ranges, some of them at a time."""
        joint = {name: by_pairs(each) for name, each in self.counts.joint.items()}
        before = np.append(0, np.cumsum(self.counts.sizes))
        return GroupScores.joined([self._judged(judge, joint, before, lot) for lot in self._lots()])

    def _judged(
        self, judge: Judge, joint: dict[str, CountMatrix], before: Ints, lot: slice
    ) -> GroupScores:
        lows, highs = self.edges[:, self.starts[lot]].T, self.edges[:, self.ends[lot]].T
        group, combination = np.nonzero(highs > lows)
        low, high = lows[group, combination], highs[group, combination]
        classes = replace(
            self.counts,
            names=(),
            cells=np.empty((len(group), 0), np.intp),
            sizes=before[high] - before[low],
            joint={name: merged_runs(each, low, high) for name, each in joint.items()},
        )
        return judge.grouped(classes, group, len(lows))

    def _lots(self) -> Iterator[slice]:
        """Consecutive ranges of about ``PAIRS_AT_ONCE`` pairs together, at least one each."""
        upto = np.cumsum(self.pairs)
        most = int(upto[-1]) if len(upto) else 0
        cuts = np.searchsorted(upto, np.arange(0, most, PAIRS_AT_ONCE), side="right")
        bounds = np.unique([0, *cuts.tolist(), len(upto)])
        return (slice(low, high) for low, high in pairwise(bounds.tolist()))
