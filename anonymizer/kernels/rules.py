"""Bounds on one class's counts, in the form the kernels check them: numbers, no objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bound", "Kind", "Rules"]


class Kind(IntEnum):
    """What a bound is about; n the class's records, n_w those with sensitive value w."""

    SIZE = 0
    """n >= least."""
    ENTROPY = 1
    """H(W|g) >= least, in bits."""
    DIVERGENCE = 2
    """D(p(w|g) || p(w)) <= most, in bits."""


@dataclass(frozen=True)
class Bound:
    """One bound: its kind and the number, the tolerance of comparisons included."""

    kind: Kind
    limit: float


@dataclass(frozen=True, eq=False)
class Rules:
    """All bounds of a policy on the columns of a frequency set, as arrays.

    Parameters
    ----------
    kinds, limits
        Kind and number of each bound, shape (bounds,).
    starts, stops
        The columns [start, stop) of the sensitive attribute that it is about, same shape.
    log_prior
        log2 p(w) of every column, shape (columns,); 0 where the table has no such value, which
        then no class has either.
    """

    kinds: NDArray[np.int64]
    limits: NDArray[np.float64]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    log_prior: NDArray[np.float64]

    @classmethod
    def of(cls, bounds: Sequence[tuple[Bound, int, int]], margins: NDArray[np.int64]) -> "Rules":
        """Lay out bounds, each with the columns it is about.

        ``margins`` holds the records of the whole table by column, the last column being all of
        them.
        """
        log_prior = np.zeros(len(margins))
        present = margins > 0
        log_prior[present] = np.log2(margins[present] / margins[-1])
        return cls(
            np.array([bound.kind for bound, _, _ in bounds], np.int64),
            np.array([bound.limit for bound, _, _ in bounds], float),
            np.array([start for _, start, _ in bounds], np.int64),
            np.array([stop for _, _, stop in bounds], np.int64),
            log_prior,
        )

    @cached_property
    def least(self) -> float:
        """The records that every class must have."""
        return float(self.limits[self.kinds == Kind.SIZE].max(initial=0))

    def __len__(self) -> int:
        return len(self.kinds)
