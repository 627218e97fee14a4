"""Bounds on one class's counts, in the form the kernels check them: numbers, no objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["OF_POPULATION", "Bound", "Kind", "Laid", "Rules", "Sums"]

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Kind(IntEnum):
    """What a bound is about.

    n are the class's records, n_w those with sensitive value w, P those that the population has of
    the same quasi-identifiers.
    """

    SIZE = 0
    """n >= limit."""
    ENTROPY = 1
    """H(W|g) >= limit, in bits."""
    MILLER_MADOW = 2
    """The same of the entropy that Miller and Madow estimate."""
    GRASSBERGER = 3
    """The same of the entropy that Grassberger estimates."""
    DISTINCT = 4
    """Values that occur >= limit."""
    RECURSIVE = 5
    """r_1 / (r_rank + ... + r_m) < limit, r_i being the i-th largest of the n_w."""
    DIVERGENCE = 6
    """sum_w p(w|g) (log p(w|g) - upper_w) <= limit, in bits."""
    SHARES = 7
    """lower_w <= p(w|g) <= upper_w for every w."""
    TRANSPORT = 8
    """sum_S weight_S |p(S|g) - mass_S| <= limit, over runs S of the values in an order."""
    POPULATION = 9
    """P >= limit."""
    PRESENCE = 10
    """limit P <= n <= upper P, also where n is 0."""
    INFORMATION = 11
    """I(X~;W) <= limit, in bits: of the table as a whole, so that no class breaks it."""


OF_POPULATION = (Kind.POPULATION, Kind.PRESENCE)
"""Kinds that are about the column of the population's records."""


class Sums(NamedTuple):
    """Runs [begin, end) of the values in an order: what a transport distance adds up over.

    Shape (runs,) each, except ``order`` (values,): the place of each value in the order's row.
    """

    order: Numbers
    begins: Numbers
    ends: Numbers
    masses: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class Bound:
    """One bound: its kind, and the numbers it needs, the tolerance of comparisons included.

    Parameters
    ----------
    kind, limit
        What is bounded, and by what.
    rank
        Of a recursive bound.
    lower, upper
        Numbers per value, shape (values,), of kinds that need them.
    sums
        The runs of a transport distance.
    """

    kind: Kind
    limit: float
    rank: int = 0
    lower: Floats | None = None
    upper: Floats | None = None
    sums: Sums | None = None


class Laid(NamedTuple):
    """Bounds as arrays: one row, or entry, per bound, columns being those of a frequency set.

    ``lower``, ``upper`` and ``order`` have shape (bounds, columns). The runs of bound b are those
    in [first[b], first[b + 1]).
    """

    kinds: Numbers
    limits: Floats
    starts: Numbers
    stops: Numbers
    ranks: Numbers
    lower: Floats
    upper: Floats
    order: Numbers
    first: Numbers
    begins: Numbers
    ends: Numbers
    masses: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class Rules:
    """All bounds of a policy on the columns of a frequency set.

    Parameters
    ----------
    least
        The records that every class must have.
    presence
        Whether a class may break a bound without having any record.
    laid
        The bounds other than those on size.
    """

    least: float
    presence: bool
    laid: Laid

    @classmethod
    def of(cls, bounds: Sequence[tuple[Bound, int, int]], columns: int) -> "Rules":
        """Lay out bounds, each with the columns [start, stop) it is about, of so many in all."""
        sizes = [bound.limit for bound, _, _ in bounds if bound.kind == Kind.SIZE]
        others = [entry for entry in bounds if entry[0].kind != Kind.SIZE]
        presence = any(bound.kind == Kind.PRESENCE and bound.limit > 0 for bound, _, _ in others)
        return cls(float(max(sizes, default=0)), presence, _laid(others, columns))

    def __len__(self) -> int:
        return len(self.laid.kinds)


def _laid(bounds: Sequence[tuple[Bound, int, int]], columns: int) -> Laid:
    rows = np.zeros((3, len(bounds), columns))
    runs = [bound.sums for bound, _, _ in bounds]
    for row, (bound, start, stop) in enumerate(bounds):
        order = bound.sums.order if bound.sums else None
        for place, numbers in enumerate((bound.lower, bound.upper, order)):
            if numbers is not None:
                rows[place, row, start:stop] = numbers
    return Laid(
        np.array([bound.kind for bound, _, _ in bounds], np.int64),
        np.array([bound.limit for bound, _, _ in bounds], float),
        np.array([start for _, start, _ in bounds], np.int64),
        np.array([stop for _, _, stop in bounds], np.int64),
        np.array([bound.rank for bound, _, _ in bounds], np.int64),
        rows[0],
        rows[1],
        rows[2].astype(np.int64),
        np.cumsum([0, *(len(run.begins) if run else 0 for run in runs)]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *(run.begins for run in runs if run)]),
        np.concatenate([np.zeros(0, np.int64), *(run.ends for run in runs if run)]),
        np.concatenate([np.zeros(0), *(run.masses for run in runs if run)]),
        np.concatenate([np.zeros(0), *(run.weights for run in runs if run)]),
    )
