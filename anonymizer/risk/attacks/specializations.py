"""The direct specializations of a full-domain release, and those that break a policy in any world.

A search for the best node would have released any strictly finer node that satisfies the policy:
its score is at least as high, and of equal scores more classes win. So all of them broke it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anonymizer.counts.counts import Counts, row_keys
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.matrices import dense
from anonymizer.kernels import NUMPY, Kernel
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding.lattice import Node, level_recoding
from anonymizer.recoding.problem.policy import BoundPolicy, Policy
from anonymizer.risk.attacks.worlds import enumerated

MOST_HISTOGRAMS = 1000
"""The most histograms of a finer class that are tried for one that satisfies the policy."""

ALL = int(np.iinfo(np.int64).max)
"""No limit on the records in classes that break a model."""


def classes_at(counts: Counts, taxonomies: Mapping[str, Taxonomy], node: Node) -> Codes:
    """The class of each raw cell at a node, shape (cells,)."""
    cells = counts.cells.copy()
    for axis, partition in enumerate(level_recoding(taxonomies, counts.names, node).values()):
        cells[:, axis] = partition.representatives[cells[:, axis]]
    return np.unique(row_keys(cells), return_inverse=True)[1]


def specializations(
    counts: Counts, taxonomies: Mapping[str, Taxonomy], node: Node
) -> dict[Node, Codes]:
    """The nodes next below whose classes differ, and the class of each raw cell there.

    A level that groups the occurring values as the released one does is the same release: the first
    level further down that splits a class is taken, of those that a release may use.
    """
    found = {}
    classes = int(classes_at(counts, taxonomies, node).max()) + 1
    for axis, (name, level) in enumerate(zip(counts.names, node, strict=True)):
        for lower in reversed(range(taxonomies[name].finest, level)):
            finer = (*node[:axis], lower, *node[axis + 1 :])
            class_of = classes_at(counts, taxonomies, finer)
            if class_of.max() >= classes:
                found[finer] = class_of
                break
    return found


@dataclass(frozen=True, eq=False)
class Setting:
    """What an attacker knows about one sensitive attribute, and the models about it.

    ``counts`` are the occupied raw cells, counted by that attribute alone; of their joint counts
    only sums over released classes are used.
    """

    counts: Counts
    attribute: str
    class_of: Codes  # the released class of each cell
    models: Sequence[PrivacyModel]  # those that test every class by itself
    kernel: Kernel = NUMPY

    @classmethod
    def of(
        cls, counts: Counts, attribute: str, class_of: Codes, models: Sequence[PrivacyModel]
    ) -> "Setting":
        """Make a setting of counts, without other attributes and the population."""
        joint = {attribute: dense(counts.joint[attribute], attribute)}
        margins = {attribute: counts.margins[attribute]}
        only = replace(counts, joint=joint, margins=margins, targets=(), population=None)
        return cls(only, attribute, class_of, models)

    @cached_property
    def margins(self) -> Ints:
        """Records of each released class by value, shape (classes, values)."""
        joint = self.counts.joint[self.attribute]
        sums = np.zeros((int(self.class_of.max()) + 1, joint.shape[1]), np.int64)
        np.add.at(sums, self.class_of, joint)
        return sums

    @cached_property
    def bound_policy(self) -> BoundPolicy:
        """The models, bound to the distribution of the whole table."""
        layout = Layout.of(self.counts)
        return Policy(self.models, layout, self.kernel).against(layout.margins)

    def breaks(self, histograms: Ints) -> Mask:
        """Which classes break a model, from their histograms, shape (..., values)."""
        flat = histograms.reshape(-1, histograms.shape[-1])
        columns = np.column_stack([flat, flat.sum(axis=1)])
        return self.bound_policy.broken(columns, ALL)[1].reshape(histograms.shape[:-1])

    def always_breaks(self, finer: Codes) -> bool:
        """Whether some finer class is known to break a model in every world.

        Classes are tested one by one, the smallest first, except those of too many histograms.
        """
        sizes = np.bincount(finer, self.counts.sizes).astype(np.int64)
        released = np.zeros(len(sizes), np.intp)
        released[finer] = self.class_of
        for size, number in np.unique(np.column_stack([sizes, released]), axis=0).tolist():
            margin = self.margins[number]
            parts = np.array([size, margin.sum() - size])
            found = enumerated(parts, margin, MOST_HISTOGRAMS)
            if found is not None and self.breaks(found[0][:, 0]).all():
                return True
        return False
