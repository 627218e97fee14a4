"""What classes add to an objective, and whether they break a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.objectives import Objective
from anonymizer.privacy import Mask, PrivacyModel, acceptable

BATCH = 100_000
"""Classes judged together: bounds what the judging takes to some tens of megabytes."""

ENTRIES = 8_000_000
"""Counts judged together, where classes have so many values that these are fewer classes."""

Tables = dict[str | None, Ints]
"""Records by sensitive attribute, the last axis being its values; under None in all."""


class Judged(NamedTuple):
    """What some groups of classes add to the objective, and what is inside them.

    Each of shape (groups,): the objective, how many classes there are, and how many of them break a
    model.
    """

    gains: Floats
    classes: Ints
    violations: Ints

    @classmethod
    def joined(cls, parts: "Sequence[Judged]") -> "Judged":
        """Some groups after others."""
        nothing = cls(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
        return cls(*(np.concatenate(each) for each in zip(nothing, *parts, strict=True)))


@dataclass(frozen=True, eq=False)
class Judge:
    """What each of some classes adds to the objective, and whether it breaks a model."""

    models: Sequence[PrivacyModel]
    objective: Objective

    def __call__(self, counts: Counts) -> tuple[Floats, Mask]:
        """Judge classes; shape (classes,) each."""
        return self.objective.per_class(counts), ~acceptable(counts, self.models)

    def grouped(self, counts: Counts, group: Codes, groups: int) -> Judged:
        """Judge classes that are each in one of some groups."""
        gain, broken = self(counts)
        return Judged(
            np.bincount(group, gain, minlength=groups).astype(float),
            np.bincount(group, minlength=groups).astype(np.int64),
            np.bincount(group[broken], minlength=groups).astype(np.int64),
        )

    def tables(self, counts: Counts, tables: Tables) -> Judged:
        """Judge groups by the records of their classes, shape (groups, classes, values)."""
        some = tables[None]
        occupied = some.any(axis=2)
        group = np.nonzero(occupied)[0]
        cells = np.empty((len(group), 0), np.intp)
        sizes = some[occupied][:, 0]
        joint = {name: table[occupied] for name, table in tables.items() if name is not None}
        classes = replace(counts, names=(), cells=cells, sizes=sizes, joint=joint)
        return self.grouped(classes, group, len(some))


def count_matrices(counts: Counts) -> Tables:
    """Records of each class by value of each sensitive attribute, and under None in all.

    InputError where they are too many for arrays.
    """
    matrices: Tables = {None: counts.sizes[:, None]}
    matrices.update(counts.dense.joint)
    return matrices


def lots(groups: int, classes: int, tables: Tables) -> Iterator[slice]:
    """Consecutive slices of groups of so many classes each, few enough to be judged together.

    The last axis of the tables are the values of each class.
    """
    values = max(table.shape[-1] for table in tables.values())
    size = max(1, min(BATCH, ENTRIES // values) // classes)
    return (slice(low, min(low + size, groups)) for low in range(0, groups, size))
