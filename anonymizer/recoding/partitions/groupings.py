"""Groupings: the values of an attribute put together in any way."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.hierarchy import Partition, Taxonomy, grouping_of
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.recoding.partitions.families import Family, Path
from anonymizer.recoding.problem.class_scores import Judge, Judged

MOST_VALUES = 6
"""Values beyond are not grouped in any way: 6 make 203 partitions, 8 make 4,140."""


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
        sizes = range(len(present), 0, -1)
        sets = [np.array(each) for size in sizes for each in combinations(present, size)]
        return cls(attribute, taxonomy, tuple(sorted(sets, key=lambda codes: int(codes[0]))))

    def judged(self, judge: Judge, counts: Counts) -> Judged:
        """Judge the sets one by one, each as one value."""
        codes = counts.cells[:, counts.names.index(self.attribute)]
        whole = {self.attribute: self.taxonomy.levels[-1]}
        merged = [counts.select(np.isin(codes, each)).recode(whole) for each in self.members]
        parts = [judge.grouped(each, np.zeros(len(each), np.intp), 1) for each in merged]
        return Judged.joined(parts)

    def paths(self, allowed: Mask) -> Iterator[Path]:
        """The largest groups of the first values first."""
        return self._paths([place for place, fine in enumerate(allowed) if fine], frozenset())

    def _paths(self, allowed: list[int], covered: frozenset[int]) -> Iterator[Path]:
        """The partitions of the values left."""
        left = [int(codes[0]) for codes in self.members if int(codes[0]) not in covered]
        if not left:
            yield ()
        for place in allowed:
            members = frozenset(self.members[place].tolist())
            if left and min(left) == min(members) and covered.isdisjoint(members):
                for rest in self._paths(allowed, covered | members):
                    yield (place, *rest)

    def partition(self, path: Path) -> Partition:
        """The grouping, or the level of one group, or of a group for each value."""
        levels = self.taxonomy.levels
        if len(path) == 1:
            return levels[-1]
        if len(path) == len(np.concatenate([self.members[place] for place in path])):
            return levels[0]
        return grouping_of(self.taxonomy, [self.members[place] for place in path])
