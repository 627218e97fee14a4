"""Rate-distortion: the least that a release Y of X tells of X itself, I(X;Y), by its distortion.

Problems 1 and 2 of Domingo-Ferrer and Rebollo-Monedero (2009). I(X;Y) stands for identity
disclosure; it is what the privacy-distortion function is where the sensitive attribute is X.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.rate_distortion.coding import Coder, Point
from anonymizer.channels.rate_distortion.margins import EPS
from anonymizer.channels.result import OptimalChannel
from anonymizer.channels.source import nats_per
from anonymizer.channels.stated import number_of, only_one
from anonymizer.channels.threads import single_threaded
from anonymizer.errors import InputError

__all__ = ["rate_distortion"]

SOLVES = 60
"""Slopes tried for a limit at the most; two of them leave a fourth of the gap, or less."""


NEAR = 1e-9
"""What a symbol may distort more than the nearest, of the most, to be as near but for rounding."""

RULED_OUT = 60.0
"""Nats by which a symbol is dearer that is not to be released: e^-60 of a chance is none."""

ROUNDING = 1e-14
"""Of the terms of what is minimised: what is allowed beside the tolerance."""


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

    Parameters
    ----------
    source
        p(x), or counts, shape (n,).
    distortion
        d(x, y) >= 0, shape (n, k).
    slope, distortion_limit, rate_limit
        One of the three: distortion per unit of information, D, or R in ``unit``. A limit is met
        exactly and never exceeded, by mixing the channels of two slopes where that is needed.
    tolerance
        Gap that counts as certified, relative to what is minimised.
    unit
        ``"bits"`` or ``"nats"``.

    Returns
    -------
    OptimalChannel
        Its leakage is the rate I(X;Y).

    Raises
    ------
    InputError
        When an argument is none of these, or no channel distorts as little as is asked.

    Examples
    --------
    A fair coin of which a tenth may be wrong: 1 - h(0.1) bits.

    >>> found = rate_distortion([0.5, 0.5], [[0, 1], [1, 0]], distortion_limit=0.1)
    >>> round(found.leakage, 9), found.certified
    (0.531004406, True)

    References
    ----------
    Blahut (1972); Domingo-Ferrer and Rebollo-Monedero (2009), models 1 and 2.
    """
    nats = nats_per(unit)
    asked = only_one(slope=slope, distortion_limit=distortion_limit, rate_limit=rate_limit)
    coder = Coder.of(source, distortion, number_of("tolerance", tolerance, above=0))
    with single_threaded():
        if asked == "slope":
            found = _at_slope(coder, number_of(asked, slope, above=0) / nats)
        elif asked == "distortion_limit":
            found = _at_distortion(coder, number_of(asked, distortion_limit, least=0))
        else:
            found = _at_rate(coder, number_of(asked, rate_limit, least=0) * nats)
    return _answer(coder, found, unit)


@dataclass(frozen=True, eq=False)
class _Found:
    """The answer to a question, in nats: the channel, its bound, the price of information."""

    point: Point
    minimised: str
    lower: float
    lam: float | None = None

    @property
    def scale(self) -> float:
        """The terms of what is minimised, together: its rounding is relative to them."""
        point, lam = self.point, self.lam or 0.0
        if self.minimised == "leakage":
            return point.rate + 1 + (point.distortion / lam if lam else 0.0)
        return point.distortion + lam * (point.rate + 1)


def _at_slope(coder: Coder, lam: float) -> _Found:
    """Least D + lam R."""
    point = coder.solve(lam)
    return _Found(point, "cost", point.bound, lam)


def _at_distortion(coder: Coder, limit: float) -> _Found:
    """Least R of E d <= limit."""
    if limit >= coder.most:
        return _Found(coder.nothing(), "leakage", 0.0)
    if limit < coder.least * (1 - 4 * len(coder.p) * EPS):
        raise InputError(
            f"distortion_limit = {limit:g} is below the least possible, {coder.least:.9g}"
        )
    low = coder.solve(0.0)
    if limit <= low.distortion:
        return _Found(low, "leakage", _least_rate(coder, low, limit))
    return _search(_Limited(coder, limit, by_rate=False), low)


def _least_rate(coder: Coder, low: Point, limit: float) -> float:
    """Lower bound of R where the limit is the least distortion, but for rounding.

    The bound without any symbol but the nearest holds if the limit leaves no room for others. What
    it may leave them is priced so that they are all but ruled out, or all but those that are as
    near but for rounding.
    """
    above = coder.d - coder.d.min(axis=1, keepdims=True)
    if not above.any() or limit <= coder.sunk(coder.least):
        return low.bound
    asked = _Limited(coder, limit, by_rate=False)
    dearer = (above[above > least].min() for least in (0.0, NEAR * above.max()))
    prices = {float(one) / RULED_OUT for one in dearer} - {0.0}
    return min(low.bound, max((asked.bound(coder.solve(one)) for one in prices), default=0.0))


def _at_rate(coder: Coder, limit: float) -> _Found:
    """Least D of R <= limit."""
    if limit == 0:
        return _Found(coder.nothing(), "distortion", coder.sunk(coder.most))
    low = coder.solve(0.0)
    if limit >= low.rate:
        return _Found(low, "distortion", coder.sunk(coder.least))
    return _search(_Limited(coder, limit, by_rate=True), low)


@dataclass(frozen=True, eq=False)
class _Limited:
    """A limit on D or on R, and what is minimised under it."""

    coder: Coder
    limit: float
    by_rate: bool

    def value(self, point: Point) -> float:
        """What is minimised."""
        return point.distortion if self.by_rate else point.rate

    def bound(self, point: Point) -> float:
        """Duality: D >= (D + lam R)* - lam R, and R >= ((D + lam R)* - D) / lam, at the limit.

        What is subtracted is rounded up: where it is nearly all there is (distortions far above 0
        that differ by little) its last digits are the first of the bound.
        """
        if self.by_rate:
            return self.coder.sunk(point.bound - point.lam * self.limit * (1 + 4 * EPS))
        left = point.bound - self.limit * (1 + 4 * EPS)
        return max(0.0, left) / point.lam * (1 - 4 * EPS)

    def noise(self, lam: float) -> float:
        """What rounding leaves open of such a bound."""
        off = self.coder.noise(lam)
        return off if self.by_rate else off / lam

    def is_low(self, point: Point) -> bool:
        """Whether a point is at the end of low distortion and high rate."""
        return point.rate > self.limit if self.by_rate else point.distortion <= self.limit

    def mixed(self, low: Point, high: Point) -> Point:
        """As much of one channel as the limit allows, and the rest of the other.

        D is linear along the mix, and R convex, hence no higher than the mix of both rates.
        """

        def blend(share: float) -> Point:
            return self.coder.point(share * low.channel + (1 - share) * high.channel)

        if self.by_rate:
            least, most = 0.0, 1.0
            for _ in range(60):
                middle = (least + most) / 2
                within = blend(middle).rate <= self.limit
                least, most = (middle, most) if within else (least, middle)
            return blend(least)
        share, step = (high.distortion - self.limit) / (high.distortion - low.distortion), EPS
        while blend(share).distortion > self.limit and share < 1:
            share, step = min(1.0, share + step), 2 * step
        return blend(share)


def _search(asked: _Limited, low: Point) -> _Found:
    """Close in on the slope at which a limit is met, between two channels, and mix these."""
    high = asked.coder.nothing()
    mixed = high if asked.by_rate else low
    lower, lam, steps, method = 0.0, 0.0, 0, low.method
    for turn in range(SOLVES):
        point = asked.coder.solve(_next(asked, low, high, turn))
        steps, method = steps + point.iterations, point.method
        if asked.bound(point) > lower or not lam:
            lower, lam = max(lower, asked.bound(point)), point.lam
        low, high = (point, high) if asked.is_low(point) else (low, point)
        mixed = asked.mixed(low, high)
        value = asked.value(mixed)
        if value - lower <= max(asked.coder.tolerance * value / 2, asked.noise(lam)):
            break
    mixed = replace(mixed, iterations=steps, method=method)
    return _Found(mixed, "distortion" if asked.by_rate else "leakage", lower, lam)


def _next(asked: _Limited, low: Point, high: Point, turn: int) -> float:
    """A slope between those of both ends.

    In turn that of the chord, which is exact where R(D) is linear and leaves a fourth of the gap
    where it is curved, and that at which the line through both ends, over the logarithm of the
    slope, meets the limit, which is quick once the ends are near.
    """
    chord = (high.distortion - low.distortion) / (low.rate - high.rate)
    if turn % 2 and low.lam > 0 and np.isfinite(high.lam):
        ends = [p.rate if asked.by_rate else p.distortion for p in (low, high)]
        share = (asked.limit - ends[0]) / (ends[1] - ends[0])
        share = min(max(share, 1e-3), 1 - 1e-3)
        return float(low.lam ** (1 - share) * high.lam**share)
    return chord


def _answer(coder: Coder, found: _Found, unit: str) -> OptimalChannel:
    """In the unit asked for, with a row for every value that was given."""
    nats = nats_per(unit)
    point, lam = found.point, found.lam
    result = OptimalChannel(
        channel=coder.whole(point.channel),
        distortion=point.distortion,
        leakage=point.rate / nats,
        slope=None if lam is None else lam * nats,
        minimised=found.minimised,
        lower_bound=found.lower / nats if found.minimised == "leakage" else found.lower,
        certified=False,
        unit=unit,
        method=point.method,
        iterations=point.iterations,
    )
    unit_scale = nats if found.minimised == "leakage" else 1.0
    allowed = coder.tolerance * result.value + ROUNDING * found.scale / unit_scale
    return replace(result, certified=bool(result.gap <= allowed))
