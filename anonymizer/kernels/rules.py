"""Bounds on one class's counts, and what it adds to an objective, as kernels take them: numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Floats, Ints


class Kind(IntEnum):
    """Subject of a bound.

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
    """I(X~;W) <= limit, in bits."""
    RISK = 12
    """Classes that have records <= limit N."""
    POPULATION_RISK = 13
    """sum_g n_g / P_g <= limit N."""


OF_POPULATION = (Kind.POPULATION, Kind.PRESENCE, Kind.POPULATION_RISK)
"""Kinds that are about the column of the population's records."""

OF_TABLE = (Kind.INFORMATION, Kind.RISK, Kind.POPULATION_RISK)
"""Kinds that are about the table as a whole: no class breaks them."""


class Sums(NamedTuple):
    """Runs [begin, end) of the values in an order: what a transport distance adds up over.

    Shape (runs,) each, except ``order`` (values,): the place of each value in the order's row.
    """

    order: Ints
    begins: Ints
    ends: Ints
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
        Ints per value, shape (values,), of kinds that need them.
    sums
        The runs of a transport distance.
    known
        Whether only records that have one of the values are n: others miss it. A class of which
        all miss it breaks the bound.
    """

    kind: Kind
    limit: float
    rank: int = 0
    lower: Floats | None = None
    upper: Floats | None = None
    sums: Sums | None = None
    known: bool = False


KIND, START, STOP, RANK, FIRST, KNOWN = range(6)
"""The columns of ``Laid.facts``."""

LOWER, UPPER, ORDER, PLACE = range(4)
"""The rows of ``Laid.rows``."""


class Laid(NamedTuple):
    """Bounds as arrays, few of them: each costs a call into compiled code.

    Attributes
    ----------
    facts
        Kind, columns [start, stop), rank, first run and whether n are known values alone, of every
        bound, shape (bounds + 1, 6); the runs of a bound end where those of the next begin. The
        rank of a bound on shares is the number of values that must occur; that of a transport
        distance is 1 where all of its runs begin at the first value, ending ever later.
    limits
        Shape (bounds,).
    rows
        Lower and upper numbers, the order and each value's place in it, by bound and column of
        dense histograms, shape (4, bounds, columns).
    runs
        Begin, end, mass and weight, and the sums of weights and of weights times masses of the
        runs of the bound before it, shape (runs, 6).
    """

    facts: Ints
    limits: Floats
    rows: Floats
    runs: Floats


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
        return len(self.laid.limits)


def _laid(bounds: Sequence[tuple[Bound, int, int]], columns: int) -> Laid:
    facts = np.zeros((len(bounds) + 1, 6), np.int64)
    limits = np.empty(len(bounds))
    rows = np.zeros((4, len(bounds), columns))
    runs: list[Floats] = []
    for number, (bound, start, stop) in enumerate(bounds):
        first = facts[number, FIRST]
        facts[number] = bound.kind, start, stop, bound.rank, first, bound.known
        facts[number + 1, FIRST] = first
        limits[number] = bound.limit
        if bound.lower is not None:
            rows[LOWER, number, start:stop] = bound.lower
            facts[number, RANK] = np.count_nonzero(bound.lower > 0)
        if bound.upper is not None:
            rows[UPPER, number, start:stop] = bound.upper
        if bound.sums is not None:
            rows[ORDER, number, start:stop] = bound.sums.order
            rows[PLACE, number, start:stop] = np.argsort(bound.sums.order)
            _, begins, ends, masses, weights = bound.sums
            before = [np.cumsum(each) - each for each in (weights, weights * masses)]
            runs.append(np.column_stack([*bound.sums[1:], *before]).astype(float))
            facts[number, RANK] = not begins.any() and bool((np.diff(ends) > 0).all())
            facts[number + 1, FIRST] += len(runs[-1])
    return Laid(facts, limits, rows, np.concatenate(runs) if runs else np.zeros((0, 6)))


class Worth(NamedTuple):
    """The worth of a class of n records, n_aw of them with value w of attribute a.

    sum_a weight_a (sum_w n_aw log n_aw - n log n) - sum_a per_value_a |{w: n_aw > 0}|
    + by_size_n + each. It differs from what the class adds to the objective by what is linear in
    its counts, which all recodings of a table add up to alike. A class without records is worth 0.

    Attributes
    ----------
    spans
        The columns [start, stop) of every attribute, shape (attributes, 2).
    weights
        Bits for every bit of n H(W|g), shape (attributes,).
    per_value
        The cost of a value that occurs, shape (attributes,).
    by_size
        What a class is worth by its size alone, shape (records + 1,); empty for nothing.
    each
        What every class is worth, whatever its records.
    """

    spans: Ints
    weights: Floats
    per_value: Floats
    by_size: Floats
    each: float

    @classmethod
    def of_sizes(cls, by_size: Floats, each: float = 0.0) -> "Worth":
        """The worth of classes that depends on their sizes alone."""
        return cls(np.zeros((0, 2), np.int64), np.zeros(0), np.zeros(0), by_size, each)

    @property
    def limit(self) -> float:
        """Upper bound of the worth of any class; infinite where none is obvious."""
        sizes = float(self.by_size.max(initial=0.0))
        return 0.0 if sizes + max(self.each, 0.0) <= 0 else np.inf

    def costing(self, bits: float) -> "Worth":
        """Charge every class ``bits``."""
        return self._replace(each=self.each - bits)
