"""Rate-distortion: the least information I(X;Y) of a release Y about X itself, by its distortion.

Problems 1 and 2 of Domingo-Ferrer and Rebollo-Monedero (2009). I(X;Y) stands for identity
disclosure; it is what the privacy-distortion function is where the sensitive attribute is X.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from anonymizer.channels.channel import OptimalChannel, Solved
from anonymizer.channels.rate_distortion.margins import EPS, best_margin, rounding
from anonymizer.channels.source import require_distortion
from anonymizer.channels.threads import single_threaded
from anonymizer.channels.tradeoff.answers import ROUNDING, LimitSearch, Tradeoff, answered
from anonymizer.channels.tradeoff.lagrangian import LEAST
from anonymizer.channels.validation import law_of, nats_per, number_of, only_one, require_room
from anonymizer.kernels.arrays import Floats

NEAR = 1e-9
"""What a symbol may distort more than the nearest, of the most, to be as near but for rounding."""

RULED_OUT = 60.0
"""Nats by which a symbol is dearer that is not to be released: e^-60 of a chance is none."""


def rate_distortion(
    source: ArrayLike,
    distortion: ArrayLike,
    *,
    slope: float | None = None,
    distortion_limit: float | None = None,
    rate_limit: float | None = None,
    tolerance: float = 1e-9,
    unit: str = "bits",
) -> OptimalChannel:
    """Min I(X;Y) with E d(X,Y) <= D, min E d with I(X;Y) <= R, or min E d + slope I(X;Y).

    Blahut (1972); Domingo-Ferrer and Rebollo-Monedero (2009), models 1 and 2.

    Parameters
    ----------
    source, distortion
        p(x) or counts, shape (n,), and d(x, y) >= 0, shape (n, k).
    slope, distortion_limit, rate_limit
        One of the three: distortion per unit of information, D, or R in ``unit``. A limit is met
        exactly and never exceeded, by mixing the channels of two slopes where that is needed.
    tolerance, unit
        Gap that counts as certified, relative to what is minimised; ``"bits"`` or ``"nats"``.

    Returns
    -------
    OptimalChannel
        Its leakage is the rate I(X;Y).

    Raises
    ------
    InputError
        When an argument is none of these, or no channel distorts as little as the limit.

    Examples
    --------
    A fair coin of which a tenth may be wrong: 1 - h(0.1) bits.

    >>> found = rate_distortion([0.5, 0.5], [[0, 1], [1, 0]], distortion_limit=0.1)
    >>> round(found.leakage, 9), found.certified
    (0.531004406, True)
    """
    nats_per(unit)
    given, limit = only_one(slope=slope, distortion_limit=distortion_limit, rate_limit=rate_limit)
    problem = _RateTradeoff.of(source, distortion, number_of("tolerance", tolerance, above=0))
    least, above = (None, 0) if given == "slope" else (0, None)
    value = number_of(given, limit, least=least, above=above)
    with single_threaded():
        return answered(problem, given, value, unit)


@dataclass(frozen=True, eq=False)
class _RateTradeoff(Tradeoff):
    """A source with p(x); the leakage is the rate I(X;Y)."""

    searched: ClassVar[float] = 0.5

    @classmethod
    def of(cls, source: ArrayLike, distortion: ArrayLike, tolerance: float) -> "_RateTradeoff":
        """Check both, and that there is room for what is computed with them."""
        law = law_of("source", source)
        if isinstance(distortion, np.ndarray) and distortion.ndim == 2:
            symbols = distortion.shape[1]
            require_room("rate-distortion", *[distortion.shape] * 6, (symbols, symbols))
        d = require_distortion(distortion, "source", len(law))
        rows = np.flatnonzero(law > 0)
        return cls(law[rows], d[rows], rows, len(law), "blahut-arimoto", tolerance)

    def leakage(self, channel: Floats) -> float:
        margin = np.maximum(self.p @ channel, LEAST)
        return max(0.0, float(self.p @ rel_entr(channel, margin).sum(axis=1)))

    def solve(self, slope: float, tolerance: float) -> Solved:
        """The channel of a slope; at 0 the least rate of those that distort least."""
        if slope and (single := self._single(slope)):
            return single
        kernel = self._kernel(slope)
        margin = best_margin(self.p, kernel, self.tolerance * 1e-6)
        weighted = kernel * margin.weights
        channel = weighted / weighted.sum(axis=1, keepdims=True)
        least = float(self.p @ self.distortion.min(axis=1))
        bound = self._sunk(slope * margin.lower + least) if slope else max(0.0, margin.lower)
        point = self.point(channel, slope or None)
        return Solved(point, bound, margin.iterations, margin.method)

    @cached_property
    def near(self) -> Solved:
        """At no slope."""
        return self.solve(0.0, self.tolerance)

    @property
    def far(self) -> Solved:
        """One symbol for everybody."""
        return Solved(self.single, self._sunk(self.single.distortion))

    def least_leakage(self, limit: float) -> float:
        """Lower bound of R where the limit is the least distortion, but for rounding.

        The bound without any symbol but the nearest holds if the limit leaves no room for others.
        What it may leave them is priced so that they are all but ruled out, or all but those that
        are as near but for rounding.
        """
        above, bound = self.above, self.near.bound
        if not above.any() or limit <= self.least_distortion:
            return bound
        wanted = LimitSearch(self, limit, False)
        dearer = (above[above > least].min() for least in (0.0, NEAR * above.max()))
        slopes = {float(one) / RULED_OUT for one in dearer} - {0.0}
        found = (wanted.bound(self.solve(slope, self.tolerance), slope) for slope in slopes)
        return min(bound, max(found, default=0.0))

    def noise(self, minimised: str, slope: float) -> float:
        off = 3 * rounding(self.distortion.shape, 1.0) * slope
        off += 8 * len(self.p) * EPS * self.single.distortion
        return off if minimised == "distortion" or not slope else off / slope

    def rounding(self, minimised: str, slope: float) -> float:
        """Of a nat: a rate that is next to nothing is a difference of such numbers."""
        return ROUNDING * (1.0 if minimised == "leakage" else slope)

    def _sunk(self, bound: float) -> float:
        """A bound on a distortion that stays true in floating point."""
        return max(0.0, bound - 4 * len(self.p) * EPS * abs(bound))

    def _kernel(self, slope: float) -> Floats:
        """exp(-(d(x,y) - min_y d(x,y)) / slope), shape (n, k); its limit where the slope is 0."""
        if not slope:
            return np.asarray(self.above == 0, float)
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.exp(-self.above / slope))

    def _single(self, slope: float) -> Solved | None:
        """One symbol for everybody, where the slope makes that the best.

        It is when c(y) = sum_x p(x) exp(-(d(x,y) - d(x,one)) / slope) <= 1 for all y; c - 1 is
        computed directly, so that slopes far above the last one that matters lose no digits.
        """
        one = int(self.single.channel[0].argmax())
        with np.errstate(over="ignore", under="ignore"):
            above = np.expm1((self.distortion[:, [one]] - self.distortion) / slope)
            off = 2 * len(self.p) * EPS * float((self.p @ np.abs(above)).max())
        most = float((self.p @ above).max())
        if not np.isfinite(off) or most > off:
            return None
        bound = self._sunk(self.single.distortion - slope * (max(0.0, most) + off))
        return Solved(replace(self.single, slope=slope), bound, 0, self.method)
