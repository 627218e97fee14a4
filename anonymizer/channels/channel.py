"""Channels p(released | true): checked, drawn from, and handed out with a proof of optimality."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.validation import matrix_of, nats_per
from anonymizer.errors import InputError, shown
from anonymizer.kernels.arrays import Codes, Floats

STOCHASTIC = 1e-9
"""How far the sum of a row may be from 1: rounding, and no more."""


@dataclass(frozen=True, eq=False)
class Channel:
    """A random recoding of one attribute, or of several together; a Partition is a 0/1 channel.

    Parameters
    ----------
    matrix
        q(y|x), shape (n, k): the chance of every released symbol given every true value.
    values, labels
        The true values, one per row, and what is released, one per column.
    """

    matrix: Floats
    values: tuple[Hashable, ...]
    labels: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", require_stochastic(self.matrix))
        for name in ("values", "labels"):
            given = getattr(self, name)
            if not isinstance(given, tuple | list):
                raise InputError(f"{name} of a channel must be a tuple, not {shown(given)}")
            object.__setattr__(self, name, tuple(given))
        if self.matrix.shape != (len(self.values), len(self.labels)):
            raise InputError(
                f"channel has shape {self.matrix.shape}, but there are {len(self.values)} values "
                f"and {len(self.labels)} labels"
            )

    @cached_property
    def epsilon(self) -> float:
        """Local differential privacy, in nats: max over y, x, x' of ln q(y|x) / q(y|x').

        Infinite where a released symbol rules a value out. Symbols that are never released do not
        count.
        """
        return epsilon_of(self.matrix)

    @property
    def rank(self) -> int:
        """Numerical rank; below the number of values, margins of X have no unbiased estimate."""
        return int(np.linalg.matrix_rank(self.matrix))


@dataclass(frozen=True, eq=False)
class TradeoffPoint:
    """A channel q(y|x), shape (n, k), with its distortion, its leakage in nats and its slope.

    The slope is that per nat for which it is the best, where it was found by one.
    """

    channel: Floats
    distortion: float
    leakage: float
    slope: float | None = None


@dataclass(frozen=True, eq=False)
class Solved:
    """A point, a lower bound of what it minimises, the steps and the method."""

    point: TradeoffPoint
    bound: float
    steps: int = 0
    method: str | None = None


@dataclass(frozen=True, eq=False)
class OptimalChannel:
    """A channel q(y|x), what it costs and what no channel can go below.

    Parameters
    ----------
    channel
        q(y|x), shape (n, k): every row a distribution. Rows of values of probability 0 are there.
    distortion, leakage
        E d(X, Y), and I(W;Y) in ``unit``.
    slope
        What one unit of leakage is worth in distortion: the one given, or the one found for a
        limit; None where no price was found or none is part of the problem.
    minimised
        ``"cost"``, ``"leakage"`` or ``"distortion"``: what the bound is about.
    lower_bound
        Proven: no channel that solves the same problem has less of what is minimised.
    certified
        Whether the gap is within the tolerance. False is no failure of the channel, which holds
        what it says: only its optimality is not proven.
    unit, method, iterations
        ``"bits"`` or ``"nats"``, what found the channel, and the steps it took.
    """

    channel: Floats
    distortion: float
    leakage: float
    slope: float | None
    minimised: str
    lower_bound: float
    certified: bool
    unit: str
    method: str
    iterations: int

    @classmethod
    def of(
        cls, found: Solved, minimised: str, unit: str, tolerance: float, rounding: float = 0.0
    ) -> OptimalChannel:
        """From nats; certified to a relative tolerance and what rounding may add."""
        nats, point, slope = nats_per(unit), found.point, found.point.slope
        measured = {"leakage": point.leakage, "distortion": point.distortion}
        value = measured.get(minimised, point.distortion + (slope or 0.0) * point.leakage)
        return cls(
            channel=point.channel,
            distortion=point.distortion,
            leakage=point.leakage / nats,
            slope=None if slope is None else slope * nats,
            minimised=minimised,
            # Rounding may put a bound above the value that it bounds.
            lower_bound=min(found.bound, value) / (nats if minimised == "leakage" else 1.0),
            certified=bool(value - found.bound <= tolerance * value + rounding),
            unit=unit,
            method=str(found.method),
            iterations=found.steps,
        )

    @property
    def cost(self) -> float:
        """Distortion + slope * leakage; the distortion alone where there is no slope."""
        return self.distortion + (self.slope or 0.0) * self.leakage

    @property
    def value(self) -> float:
        """Minimised quantity."""
        return float(getattr(self, self.minimised))

    @property
    def gap(self) -> float:
        """Bound on how much better any other channel can be; never negative."""
        return max(0.0, self.value - self.lower_bound)


def epsilon_of(matrix: Floats) -> float:
    """Max over y, x, x' of ln q(y|x) / q(y|x'), of the symbols that are released."""
    released = matrix[:, matrix.max(axis=0) > 0]
    least, most = released.min(axis=0), released.max(axis=0)
    return float(np.log(most / least).max()) if (least > 0).all() else float("inf")


def drawn(matrix: Floats, codes: Codes, rng: np.random.Generator) -> Codes:
    """A column for every record, drawn by the row of its code, shape (records,)."""
    labels = np.empty(len(codes), np.intp)
    for code in np.unique(codes):
        some = np.flatnonzero(codes == code)
        found = np.searchsorted(matrix[code].cumsum(), rng.random(len(some)), side="right")
        # Sums may miss 1 by rounding.
        labels[some] = np.minimum(found, np.flatnonzero(matrix[code])[-1])
    return labels


def require_channel(what: str, given: object) -> None:
    """Require a Channel, which knows what its rows and columns stand for; a matrix does not."""
    if not isinstance(given, Channel):
        raise InputError(f"{what} must be a Channel(matrix, values, labels), not {shown(given)}")


def require_stochastic(matrix: ArrayLike) -> Floats:
    """Check a matrix of distributions by row and make its sums 1 within rounding.

    So a channel that was written down reads back as it was. A message numbers rows from 0.
    """
    found = matrix_of("channel", matrix)
    sums = found.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > STOCHASTIC)
    if len(off):
        raise InputError(
            f"channel is not stochastic: row {off[0]} sums to {sums[off[0]]:.9g}; every row must "
            "sum to 1"
        )
    rounding = max(found.shape[1], 4) * np.finfo(float).eps
    return np.asarray(found / np.where(np.abs(sums - 1) > rounding, sums, 1.0)[:, None])
