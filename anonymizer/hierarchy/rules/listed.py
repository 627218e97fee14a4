"""Hierarchies that list every value: ARX's format."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.hierarchy.hierarchy import Hierarchy, LevelLabel
from anonymizer.hierarchy.partition import ANY, Partition, torn_levels
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.values import number_of, text_of

Texts = tuple[str, ...]


@dataclass(frozen=True, repr=False)
class ListedHierarchy(Hierarchy):
    """Every value listed with its label at each level (ARX's format).

    Kept by column: a million rows would be a million things more for Python to look after.

    ``values`` appear once each, and ``levels`` are their labels at levels 1, 2, ....
    """

    values: Texts = field(repr=False)
    levels: tuple[Texts, ...] = field(repr=False)

    @classmethod
    def by_rows(cls, rows: Sequence[Sequence[str]], source: str = "its hierarchy") -> Self:
        """Check rows ``value, label at level 1, ...`` and take them over.

        Raises InputError when there are none, their lengths differ, a label is empty, a value
        appears twice with different labels, or levels are not nested.
        """
        if not rows or not rows[0]:
            raise InputError(
                f"{source}: a hierarchy needs at least one row, a value and its labels"
            )
        for number, row in enumerate(rows, 1):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"{source}: row {number} has {len(row)} columns, the first has {len(rows[0])}"
                )
        return cls.by_columns(list(zip(*rows, strict=True)), source)

    @classmethod
    def by_columns(cls, columns: Sequence[Sequence[str]], source: str = "its hierarchy") -> Self:
        """Check columns, values first; they are equally long, and not empty."""
        for level, labels in enumerate(columns[1:], 1):
            if "" in labels:
                raise InputError(
                    f"{source}: row {labels.index('') + 1} has no label at level {level}; "
                    "an empty one would pass for a missing value"
                )
        values, levels = _each_once(tuple(map(text_of, columns[0])), columns[1:], source)
        # ``*`` goes above a last column of more than one group.
        one = len(set(levels[-1] if levels else values)) == 1
        levels = levels if levels and one else (*levels, (ANY,) * len(values))
        table = cls(values, levels, source=source)
        for level, (fine, coarse) in enumerate(pairwise(table._partitions), 1):
            pair = fine.split_by(coarse)
            if pair:
                label = fine.labels[fine.groups[pair[0]]]
                torn = torn_levels(level, [values[row] for row in pair], label)
                raise InputError(f"{source}: {torn}")
        return table

    @cached_property
    def ordered(self) -> bool:
        # Labels of a ground are texts: nobody knows where ranges of them would end.
        known = self.limits.ground is None
        return known and all(number_of(value) is not None for value in self.values)

    @property
    def height(self) -> int:
        return len(self.levels)

    @cached_property
    def _row(self) -> Mapping[Hashable, int]:
        return {value: row for row, value in enumerate(self.values)}

    @cached_property
    def _partitions(self) -> tuple[Partition, ...]:
        return tuple(map(_partition, self.levels))

    def partitions(self, keys: Sequence[Hashable]) -> tuple[Partition, ...]:
        """Levels 1, 2, ..., height of some keys; no label is looked at twice."""
        gaps = [key for key in keys[-1:] if key is None]
        known = keys[: len(keys) - len(gaps)]
        rows = np.fromiter(map(self._row.__getitem__, known), np.intp, len(known))
        return tuple(
            _some(partition, rows, [label] * len(gaps))
            for partition, label in zip(self._partitions, self.labels_of(None), strict=True)
        )

    def label_at(self, level: int, key: Hashable) -> LevelLabel:
        return self.levels[level - 1][self._row[str(key)]]

    def rule(self) -> dict[str, object]:
        return {"rows": list(zip(self.values, *self.levels, strict=True))}

    def cell_of(self, key: Hashable) -> Hashable:
        assert self.limits.ground is not None
        level = self.limits.ground
        partition, row = self._partitions[level - 1], self._row[str(key)]
        return self.values[int(partition.first[partition.groups[row]])]

    @property
    def top(self) -> LevelLabel:
        return self.levels[-1][0]

    @property
    def listed(self) -> Sequence[Hashable]:
        return self.values

    def covers(self, key: Hashable) -> bool:
        return key in self._row


def _each_once(
    values: Texts, levels: Sequence[Sequence[str]], source: str
) -> tuple[Texts, tuple[Texts, ...]]:
    """Drop repeated rows, keeping the first."""
    if len(set(values)) == len(values):
        return values, tuple(map(tuple, levels))
    last = {value: row for row, value in enumerate(values)}
    for labels in levels:
        for row, value in enumerate(values):
            if labels[row] != labels[last[value]]:
                raise InputError(f"{source}: value {value!r} stands twice, with different labels")
    # Equal values have equal labels: the first place of each, and its last labels.
    return tuple(last), tuple(tuple(labels[row] for row in last.values()) for labels in levels)


def _partition(labels: Texts) -> Partition:
    texts = np.empty(len(labels), object)
    texts[:] = labels
    codes, distinct = pd.factorize(texts)
    return Partition(codes.astype(np.intp, copy=False), tuple(distinct))


def _some(partition: Partition, rows: Codes, gaps: Sequence[LevelLabel | None]) -> Partition:
    """The partition of some rows, and of a missing value after them where ``gaps`` labels one."""
    groups, numbers = pd.factorize(partition.groups[rows])
    labels = [partition.labels[number] for number in numbers.tolist()]
    labels = [*dict.fromkeys([*labels, *gaps])]
    groups = np.append(groups, [*map(labels.index, gaps)])
    return Partition(groups.astype(np.intp, copy=False), tuple(labels))
