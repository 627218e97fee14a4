"""What classes add to an objective and whether they break a model, judged one by one.

In bulk (`Judge`), and at a cost for every class (`PricedObjective`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels import Worth
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.objectives import Objective
from anonymizer.objectives.candidate import Candidate, Layout
from anonymizer.privacy import (
    Mask,
    PrivacyModel,
    acceptable,
)

BATCH = 100_000
"""Classes judged together: bounds what the judging takes to some tens of megabytes."""

ENTRIES = 8_000_000
"""Counts judged together, where classes have so many values that these are fewer classes."""

Tables = dict[str | None, Ints]
"""Records by sensitive attribute, the last axis being its values; under None in all."""


class GroupScores(NamedTuple):
    """Sums over groups of classes: what they add to the objective, and what is inside them.

    Each of shape (groups,): the objective, how many classes there are, and how many of them break a
    model.
    """

    gains: Floats
    classes: Ints
    violations: Ints

    @classmethod
    def joined(cls, parts: "Sequence[GroupScores]") -> "GroupScores":
        """Some groups after others."""
        nothing = cls(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
        return cls(*(np.concatenate(each) for each in zip(nothing, *parts, strict=True)))


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges classes: what each adds to the objective, and whether it breaks a model."""

    models: Sequence[PrivacyModel]
    objective: Objective

    def __call__(self, counts: Counts) -> tuple[Floats, Mask]:
        """Judge classes; shape (classes,) each."""
        return self.objective.per_class(counts), ~acceptable(counts, self.models)

    def grouped(self, counts: Counts, group: Codes, groups: int) -> GroupScores:
        """Judge classes that are each in one of some groups."""
        gain, broken = self(counts)
        return GroupScores(
            np.bincount(group, gain, minlength=groups).astype(float),
            np.bincount(group, minlength=groups).astype(np.int64),
            np.bincount(group[broken], minlength=groups).astype(np.int64),
        )

    def tables(self, counts: Counts, tables: Tables) -> GroupScores:
        """Judge groups by the records of their classes, shape (groups, classes, values)."""
        some = tables[None]
        # A class without records is none: it would add to no objective, and break no model.
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
    """Yield consecutive slices of groups of classes, few enough to be judged together.

    The last axis of the tables are the values of each class.
    """
    values = max(table.shape[-1] for table in tables.values())
    size = max(1, min(BATCH, ENTRIES // values) // classes)
    return (slice(low, min(low + size, groups)) for low in range(0, groups, size))


@dataclass(frozen=True)
class PricedObjective(Objective):
    """An objective less a cost per class: no class more is worth it that adds less than that.

    Adds up over classes as the objective does, so that whatever maximises the one maximises the
    other; but it may rise when classes merge.

    Parameters
    ----------
    plain
        The objective.
    cost
        Of each class that has records, in the objective's unit.
    """

    falls: ClassVar[bool] = False

    plain: Objective
    cost: float

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the objective that the price is on."""
        return self.plain.name

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> "PricedObjective":
        """The objective prepared, at the same price."""
        return PricedObjective(self.plain.prepared(counts, taxonomies), self.cost)

    def score(self, candidate: Candidate) -> float:
        """The score less what the classes released cost."""
        return self.plain.score(candidate) - self.cost * candidate.released_classes

    def per_class(self, counts: Counts) -> Floats:
        """Return what each class adds, less its cost, shape (classes,)."""
        return np.asarray(self.plain.per_class(counts) - self.cost * (counts.sizes > 0))

    def worth(self, layout: Layout) -> Worth:
        """Return the worth of a class under the objective, less its cost."""
        return self.plain.worth(layout).costing(self.cost)
