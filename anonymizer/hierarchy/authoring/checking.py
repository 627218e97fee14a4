"""A hierarchy held against the values of a column: what it lacks, and what its levels gain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.hierarchy.hierarchy import Hierarchy
from anonymizer.hierarchy.naming import may_be_named
from anonymizer.hierarchy.partition import Taxonomy
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.values import text_of

MOST = 0.5
"""A group of more of the records is said to hold most of them."""


@dataclass(frozen=True)
class LevelUse:
    """Effect of a level on a column: its groups, and the records of the largest and smallest.

    ``gains``: whether it has fewer groups than the level below.
    """

    level: int
    groups: int
    largest: int
    smallest: int
    gains: bool


@dataclass(frozen=True)
class HierarchyCheck:
    """A hierarchy over a column of ``records``, including missing values.

    ``lacking`` are the records of each value that it does not cover; ``unused`` is how many values
    it lists that no record has. ``levels`` are empty where values lack.
    """

    column: str
    records: int
    values: int
    lacking: Mapping[str, int] = field(repr=False)
    unused: int
    levels: Sequence[LevelUse]

    @property
    def complete(self) -> bool:
        """Whether the hierarchy has labels for every value."""
        return not self.lacking

    def to_dict(self) -> dict[str, object]:
        """Return the check as JSON; of uncovered values only the ones that may be named."""
        named = {value: size for value, size in self.lacking.items() if may_be_named(size)}
        return {
            "column": self.column,
            "records": self.records,
            "values": self.values,
            "complete": self.complete,
            "lacking": {
                "values": len(self.lacking),
                "records": sum(self.lacking.values()),
                "named": named,
            },
            "unused": self.unused,
            "levels": [vars(level) for level in self.levels],
        }


def check_hierarchy(
    hierarchy: Hierarchy, column: str, values: Sequence[object], sizes: Sequence[int]
) -> HierarchyCheck:
    """Hold a hierarchy against the distinct values of a column and the records of each."""
    keys = [hierarchy.key(value) for value in values]
    lacking: dict[str, int] = {}
    for key, value, size in zip(keys, values, sizes, strict=True):
        if key is not None and not hierarchy.covers(key):
            lacking[text_of(value)] = lacking.get(text_of(value), 0) + int(size)
    unused = len({*hierarchy.listed} - {*keys})
    levels: Sequence[LevelUse] = ()
    if not lacking:
        taxonomy = hierarchy.over(column, values, sizes)
        levels = _uses(taxonomy, records_of(taxonomy, values, sizes))
    return HierarchyCheck(column, int(sum(sizes)), len({*keys} - {None}), lacking, unused, levels)


def records_of(taxonomy: Taxonomy, values: Sequence[object], sizes: Sequence[int]) -> Codes:
    """The records of each value of a taxonomy, shape (values,)."""
    found = np.zeros(len(taxonomy.codes), np.int64)
    np.add.at(found, taxonomy.encode(values), np.asarray(sizes, np.int64))
    return found


def _uses(taxonomy: Taxonomy, records: Codes) -> list[LevelUse]:
    """The levels, by the groups that records are in."""
    found: list[LevelUse] = []
    for level, partition in enumerate(taxonomy.levels):
        sizes = np.bincount(partition.groups, records).astype(np.int64)
        sizes = sizes[sizes > 0]
        fewer = not found or len(sizes) < found[-1].groups
        largest, smallest = (int(sizes.max()), int(sizes.min())) if len(sizes) else (0, 0)
        found.append(LevelUse(level, len(sizes), largest, smallest, fewer))
    return found
