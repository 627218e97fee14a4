"""The cells to merge, as the compiled loops take them, and what a class of them must satisfy."""

from dataclasses import dataclass

import numpy as np

from anonymizer.errors import PolicyUnreachableError
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.kernels.single import Criteria, values
from anonymizer.objectives.candidate import columns_of
from anonymizer.recoding import Problem
from anonymizer.recoding.problem.criteria import criteria_of

LIKENESS = 8
"""Steps that shares are rounded to, so that cells of like distributions become neighbours."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct tuples of quasi-identifiers of a table, and what a class of them must satisfy.

    ``counts`` (cells, columns) has the records of each cell by value of each attribute, and in the
    last column all of them; ``like`` (cells,) the place of each cell in an order in which cells of
    like distributions are neighbours.
    """

    counts: Ints
    criteria: Criteria
    like: Ints

    @classmethod
    def of(cls, problem: Problem) -> "Cells":
        """The cells of a problem, refused as ``merge_cells`` says."""
        counts = columns_of(problem.counts).astype(np.int64)
        cells = cls(counts, criteria_of(problem, "classes"), _like(counts))
        if not np.isfinite(cells.values(np.zeros(len(cells), np.int64))).all():
            names = ", ".join(model.name for model in problem.models)
            raise PolicyUnreachableError(
                f"not even all cells as one class satisfy all of {names}; relax one"
            )
        return cells

    def __len__(self) -> int:
        return len(self.counts)

    def classes(self, labels: Ints) -> Ints:
        """The counts of the classes of a labelling, shape (classes, columns)."""
        order = np.argsort(labels, kind="stable")
        starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
        return np.asarray(np.add.reduceat(self.counts[order], starts, axis=0))

    def values(self, labels: Ints) -> Floats:
        """The worth of each class of a labelling, -inf where it breaks the policy."""
        return values(self.classes(labels), self.criteria)

    def some(self, which: Ints) -> "Cells":
        """Some of the cells."""
        return Cells(self.counts[which], self.criteria, self.like[which])

    def portions(self, most: int) -> Ints:
        """A labelling of at most so many sets of like cells, of about as many records each."""
        if len(self) <= most:
            return np.arange(len(self))
        order = np.argsort(self.like)
        before = np.cumsum(self.counts[order, -1]) - self.counts[order, -1]
        labels = np.empty(len(self), np.int64)
        labels[order] = before * most // self.counts[:, -1].sum()
        return np.asarray(np.unique(labels, return_inverse=True)[1])


def _like(counts: Ints) -> Ints:
    """The place of each row in the order of its shares, those of frequent values first."""
    shares = np.rint(LIKENESS * counts[:, :-1] / counts[:, -1:])
    frequent = np.argsort(counts[:, :-1].sum(axis=0), kind="stable")
    order = np.lexsort(shares[:, frequent].T) if shares.shape[1] else np.arange(len(counts))
    place = np.empty(len(counts), np.int64)
    place[order] = np.arange(len(counts))
    return place
