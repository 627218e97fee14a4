"""Channels of least D + lam I(X;Y), one slope at a time, each with its bound; all in nats."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonymizer.channels.rate_distortion.margins import EPS, best_margin, rounding
from anonymizer.channels.source import Floats, matrix_of, require_room
from anonymizer.channels.stated import law_of
from anonymizer.errors import InputError

__all__ = ["Coder", "Point"]


@dataclass(frozen=True, eq=False)
class Point:
    """A channel, and how low D + lam R can be at the least (R itself where lam is 0)."""

    lam: float
    channel: Floats
    distortion: float
    rate: float
    bound: float = 0.0
    iterations: int = 0
    method: str = "blahut-arimoto"


@dataclass(frozen=True, eq=False)
class Coder:
    """A source and a distortion.

    Parameters
    ----------
    law, rows
        p(x) as given, and which of the values occur.
    p, d
        p(x) and d(x, y) of those.
    one
        The symbol that distorts least if it is released for everybody.
    tolerance
        Gap aimed at, relative to the value.
    """

    law: Floats
    rows: NDArray[np.intp]
    p: Floats
    d: Floats
    one: int
    tolerance: float

    @classmethod
    def of(cls, source: ArrayLike, distortion: ArrayLike, tolerance: float) -> "Coder":
        """Check both, and that there is room for what is computed with them."""
        law = law_of("source", source)
        if isinstance(distortion, np.ndarray) and distortion.ndim == 2:
            symbols = distortion.shape[1]
            require_room("rate-distortion", *[distortion.shape] * 6, (symbols, symbols))
        d = matrix_of("distortion", distortion)
        if len(d) != len(law):
            raise InputError(
                f"distortion has {len(d)} rows and source {len(law)} values; both need one for "
                "every value of X"
            )
        rows = np.flatnonzero(law > 0)
        p, d = law[rows], d[rows]
        return cls(law, rows, p, d, int((p @ d).argmin()), tolerance)

    @property
    def least(self) -> float:
        """The least distortion of any channel."""
        return float(self.p @ self.d.min(axis=1))

    @property
    def most(self) -> float:
        """The least distortion of a channel that tells nothing."""
        return float(self.p @ self.d[:, self.one])

    def solve(self, lam: float) -> Point:
        """The channel of a slope; lam = 0: the least rate of those that distort least."""
        single = self._single(lam) if lam else None
        if single:
            return single
        margin = best_margin(self.p, self._kernel(lam), self.tolerance * 1e-6)
        weighted = self._kernel(lam) * margin.weights
        point = self.point(weighted / weighted.sum(axis=1, keepdims=True))
        bound = self.sunk(lam * margin.lower + self.least) if lam else max(0.0, margin.lower)
        return replace(
            point, lam=lam, bound=bound, iterations=margin.iterations, method=margin.method
        )

    def nothing(self) -> Point:
        """One symbol for everybody: rate 0."""
        channel = np.zeros_like(self.d)
        channel[:, self.one] = 1.0
        return Point(np.inf, channel, self.most, 0.0)

    def point(self, channel: Floats) -> Point:
        """What a channel of the values that occur comes to."""
        margin = self.p @ channel
        against = np.broadcast_to(margin, channel.shape)
        some = (channel > 0) & (against > 0)
        logs = np.zeros_like(channel)
        logs[some] = np.log(channel[some]) - np.log(against[some])
        rate = max(0.0, float(self.p @ (channel * logs).sum(axis=1)))
        return Point(0.0, channel, float(self.p @ (channel * self.d).sum(axis=1)), rate)

    def noise(self, lam: float) -> float:
        """What rounding leaves open of a bound on D + lam R."""
        return 3 * rounding(self.d.shape, 1.0) * lam + 8 * len(self.p) * EPS * self.most

    def sunk(self, bound: float) -> float:
        """A bound on a distortion that stays true in floating point."""
        return max(0.0, bound - 4 * len(self.p) * EPS * abs(bound))

    def whole(self, channel: Floats) -> Floats:
        """With a row for values that never occur: the cheapest of the symbols that are released."""
        full = np.zeros((len(self.law), channel.shape[1]))
        full[:, int((self.p @ channel).argmax())] = 1.0
        full[self.rows] = channel
        return full

    def _kernel(self, lam: float) -> Floats:
        """exp(-(d(x,y) - min_y d(x,y)) / lam), shape (n, k); its limit where lam is 0."""
        excess = self.d - self.d.min(axis=1, keepdims=True)
        if not lam:
            return np.asarray(excess == 0, float)
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.exp(-excess / lam))

    def _single(self, lam: float) -> Point | None:
        """One symbol for everybody, where the slope makes that the best.

        It is when c(y) = sum_x p(x) exp(-(d(x,y) - d(x,one)) / lam) <= 1 for all y; c - 1 is
        computed directly, so that slopes far above the last one that matters lose no digits.
        """
        with np.errstate(over="ignore", under="ignore"):
            above = np.expm1((self.d[:, [self.one]] - self.d) / lam)
            off = 2 * len(self.p) * EPS * float((self.p @ np.abs(above)).max())
        most = float((self.p @ above).max())
        if not np.isfinite(off) or most > off:
            return None
        bound = self.sunk(self.most - lam * (max(0.0, most) + off))
        return replace(self.nothing(), lam=lam, bound=bound)
