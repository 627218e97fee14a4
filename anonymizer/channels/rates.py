"""Rate-distortion: the least information I(X;Y) of a release Y about X itself, by its distortion.

Problems 1 and 2 of Domingo-Ferrer and Rebollo-Monedero (2009). I(X;Y) stands for identity
disclosure; it is what the privacy-distortion function is where the sensitive attribute is X.

The margin of the release decides everything. For a slope lam = 1 / beta (nats) and excess e(x,y) =
d(x,y) - min_y d(x,y) of a distortion,

    min_q I(X;Y) + beta E e(X,Y) = min_t F(t),    F(t) = -sum_x p(x) ln Z(x),    Z = A t,

over distributions t of Y, with A(x,y) = exp(-beta e(x,y)) (Blahut, 1972): F is convex. The channel
of a margin is q(y|x) = t(y) A(x,y) / Z(x), its own margin is t c with c = A'(p / Z), and its own
value is F(t) - D(t c || t).

Bound (Blahut, Csiszar 1974). For any other distribution s, by the concavity of the logarithm,
F(t) - F(s) = sum_x p(x) ln((A s)(x) / Z(x)) <= ln sum_y s(y) c(y) <= ln max c, whatever t is.

The same F is the negative log likelihood of a mixture of given components, for which interior
points are far quicker than the EM algorithm, which is Blahut and Arimoto's (Koenker and Mizera,
2014).

Of numbers under squared error there are closed forms: bounds, the rate of normal laws and their
channel. R(D) = min I(W;Y) with E (X - Y)^2 <= D, by d = D / Var X (Rebollo-Monedero, Forne and
Domingo-Ferrer, 2008, Eq. 3 and 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import ndtr, rel_entr

from anonymizer.channels.channel import OptimalChannel, Solved
from anonymizer.channels.source import require_distortion
from anonymizer.channels.tradeoff.answers import ROUNDING, LimitSearch, Tradeoff, answered
from anonymizer.channels.tradeoff.lagrangian import LEAST
from anonymizer.channels.validation import (
    law_of,
    nats_per,
    number_of,
    only_one,
    require_room,
    single_threaded,
    vector_of,
)
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats

STEPS = 100
"""Blahut-Arimoto steps before interior points take over."""
ALL_STEPS = 20_000
"""Blahut-Arimoto steps where the alphabet is beyond interior points."""
NEWTON = 3000
"""Symbols that interior points are used for: each step takes n k^2 + k^3 / 3 multiplications."""
NEWTON_STEPS = 80
PATIENCE = 30
"""Newton steps without a better gap: before residuals are gone, a better gap is luck."""
FLOOR = 2e-15
"""Gaps in nats below this are rounding."""
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Margin:
    """A distribution t(y), shape (k,), and how good it is; nats.

    ``value`` is F(t) - D(t c || t), what its channel comes to. No margin has less than ``lower``,
    which is true in floating point.
    """

    weights: Floats
    value: float
    lower: float
    iterations: int = 0
    method: str = "blahut-arimoto"

    @property
    def gap(self) -> float:
        """Part of the rate that is not proven, but for rounding."""
        return self.value - self.lower

    def better(self, later: Margin) -> Margin:
        """The margin of less value, with the higher of both bounds, found as late as the other."""
        best = self if self.value <= later.value else later
        best = replace(best, iterations=later.iterations, method=later.method)
        return best.bounded(max(self.lower, later.lower))

    def bounded(self, lower: float) -> Margin:
        """Replace the bound."""
        return replace(self, value=max(self.value, lower), lower=lower)


@dataclass(frozen=True, eq=False)
class _MarginProblem:
    """A(x,y), with what F and its derivatives are made of."""

    p: Floats
    a: Floats
    goal: float

    def ratios(self, t: Floats) -> tuple[Floats, Floats]:
        """Z = A t and c = A'(p / Z)."""
        z = self.a @ t
        return z, self.a.T @ (self.p / z)

    def margin(self, t: Floats, iterations: int, method: str) -> tuple[Margin, Floats]:
        """The margin with its bound, and c."""
        z, c = self.ratios(t)
        energy = -float(self.p @ np.log(z))
        some = (t > 0) & (c > 0)
        gained = float((t[some] * c[some]) @ np.log(c[some]))
        # Jensen: F(t') - F(t) >= -ln sum_y t'(y) c(y) >= -ln max c, whatever t'.
        lower = energy - np.log(c.max()) - rounding(self.a.shape, energy)
        value = max(energy - gained, lower)
        return Margin(t, value, float(lower), iterations, method), c

    def allowed(self, best: Margin) -> float:
        """The gap to stop at, nats: the goal, and what rounding leaves open."""
        return self.goal + 2 * rounding(self.a.shape, best.value)


def best_margin(p: Floats, a: Floats, goal: float) -> Margin:
    """The distribution t of least F(t) = -sum_x p(x) ln (A t)(x), to a gap in nats if that can be.

    p(x) > 0 has shape (n,), A(x, y) in [0, 1] shape (n, k), with a 1 in every row. Symbols of next
    to no weight are left out where the gap stays within the goal, nats.
    """
    kernel, best = _MarginProblem(p, a, goal), positive_margin(p, a, goal)
    kept = np.where(best.weights > 1e-9 * best.weights.max(), best.weights, 0.0)
    if not (a @ kept > 0).all():
        return best
    found, _ = kernel.margin(kept / kept.sum(), best.iterations, best.method)
    found = found.bounded(max(found.lower, best.lower))
    return found if found.gap <= max(best.gap, kernel.allowed(best)) else best


def positive_margin(p: Floats, a: Floats, goal: float) -> Margin:
    """Best margin with all symbols: no weight is 0."""
    kernel = _MarginProblem(p, a, goal)
    small = a.shape[1] <= NEWTON
    best, t = _blahut_arimoto(kernel, STEPS if small else ALL_STEPS)
    if small and best.gap > kernel.allowed(best):
        best = _interior(kernel, t, best)
    return best


def rounding(shape: tuple[int, int], energy: float) -> float:
    """Bound on the error of the bound in floating point, nats.

    Sums of k terms of one sign are off by a factor of at most 1 + k eps / 2: Z, c and, since
    Z <= 1, F. A rounded A is that of a distortion off by a factor of 1 + 2 eps, and by eps / beta:
    with it the optimum is at most eps (2 F + 1) higher. exp below 1e-300 is lost altogether, and
    with it no more than that.
    """
    rows, symbols = shape
    return EPS * (rows + symbols + 8 + (rows / 2 + 8) * abs(energy))


def _blahut_arimoto(kernel: _MarginProblem, steps: int) -> tuple[Margin, Floats]:
    """Steps t <- t c, from a uniform margin, until the gap is the goal; the best, and the last."""
    symbols = kernel.a.shape[1]
    t = np.full(symbols, 1 / symbols)
    best, c = kernel.margin(t, 0, "blahut-arimoto")
    for step in range(1, steps + 1):
        t = t * c
        t = t / t.sum()
        found, c = kernel.margin(t, step, "blahut-arimoto")
        best = best.better(found)
        if best.gap <= kernel.allowed(best):
            break
    return best, t


def _interior(kernel: _MarginProblem, start: Floats, best: Margin) -> Margin:
    """Primal-dual interior points for min F(t) + sum t over t >= 0, whose t sums to 1 by itself.

    Optimal: 1 - c(t) = z >= 0 and t z = 0. Every iterate gives a bound; the best is kept.
    """
    symbols = len(start)
    t = 0.9 * start + 0.1 / symbols
    _, c = kernel.ratios(t)
    z = np.maximum(1 - c, 0.1)
    since, first = 0, best.iterations
    for step in range(1, NEWTON_STEPS + 1):
        try:
            t, z = _newton(kernel, t, z)
        except LinAlgError:  # z / t spreads beyond what can be factored: as near as it gets
            break
        found, _ = kernel.margin(t / t.sum(), first + step, "interior-point")
        since = 0 if found.gap < 0.9 * best.gap else since + 1
        best = best.better(found)
        done = best.gap <= kernel.allowed(best)
        if done or since > PATIENCE or float(t @ z) < FLOOR / 100:
            break
    return best


def _newton(kernel: _MarginProblem, t: Floats, z: Floats) -> tuple[Floats, Floats]:
    """One step with predictor and corrector (Mehrotra, 1992).

    The matrix is F'' + diag(z / t), scaled to 1 + B'B: its Cholesky factor is stable however far
    z / t spreads.
    """
    weight, c = kernel.ratios(t)
    scale = np.sqrt(t / z)
    b = (np.sqrt(kernel.p) / weight)[:, None] * kernel.a * scale
    system = b.T @ b
    system.flat[:: len(t) + 1] *= 1 + len(t) * EPS  # else rounding can outweigh the 1
    system.flat[:: len(t) + 1] += 1
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

    # Of 1 - c(t) = z and t z = target, F' being -c: (F'' + z / t) dt = c - 1 + target / t.
    def towards(target: Floats) -> tuple[Floats, Floats]:
        dt = scale * cho_solve(factor, scale * (c - 1 + target / t), check_finite=False)
        return dt, (target - z * dt) / t - z

    mu = float(t @ z) / len(t)
    dt, dz = towards(np.zeros_like(t))
    reach = _reach(t, dt, z, dz)
    # Mehrotra's rule: the less the predictor leaves of the gap, the less the step is centred.
    left = float((t + reach * dt) @ (z + reach * dz)) / len(t)
    share = min(max((left / mu) ** 3, 1e-4), 0.9)
    dt, dz = towards(share * mu - reach**2 * dt * dz)
    reach = _reach(t, dt, z, dz)
    if reach < 0.1:
        dt, dz = towards(np.full_like(t, 0.5 * mu))
        reach = _reach(t, dt, z, dz)
    return t + 0.99 * reach * dt, z + 0.99 * reach * dz


def _reach(t: Floats, dt: Floats, z: Floats, dz: Floats) -> float:
    """The longest step, at most 1, that keeps t and z at 0 or above."""
    most = 1.0
    for at, step in ((t, dt), (z, dz)):
        down = step < 0
        if down.any():
            most = min(most, float((-at[down] / step[down]).min()))
    return most


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
    def of(cls, source: ArrayLike, distortion: ArrayLike, tolerance: float) -> _RateTradeoff:
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
        """Rounding of a rate, in nats: one next to nothing is a difference of such numbers."""
        return ROUNDING * (1.0 if minimised == "leakage" else slope)

    def _sunk(self, bound: float) -> float:
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


def quadratic_gaussian_bound(
    distortion: ArrayLike,
    *,
    entropy: float,
    correlation: float,
    deviation: float,
    variance: float,
    linear: bool,
    unit: str = "bits",
) -> Floats:
    """QGLB: R(D) >= h(W) - 1/2 log(2 pi e (1 - (1 - d) rho^2) sigma_W^2), and R(D) >= 0.

    Holds for W with a density whose regression on X is linear, E[W|X] = a X + b. Proof: with
    N = W - a X - b then E[N|X,Y] = 0, hence E (W - a Y - b)^2 = E N^2 + a^2 E (X - Y)^2, which is
    sigma_W^2 (1 - rho^2 + rho^2 d) at the most; h(W|Y) is no more than that of a normal law of that
    variance. Without a linear regression it is no bound: X = A + B with A = 3 or -3, B uniform on
    (-1, 1) and W = B + noise tells nothing of W through Y = A, although d = 1/28 and the formula is
    positive for a noise of deviation 1. The paper has no such condition.

    Parameters
    ----------
    distortion, variance
        D, a number or several, in the square of the unit of X; and the variance of X.
    entropy, unit
        Differential entropy h(W), in ``"bits"`` or ``"nats"``.
    correlation, deviation
        Of W and X; standard deviation of W.
    linear
        True, to confirm that E[W|X] is linear in X, as it is for jointly normal W and X.

    Returns
    -------
    array of shape (points,)
        Infinite where W is a function of X and D is 0.

    Raises
    ------
    InputError
        When W has no density, its entropy exceeds that of a normal law, or the regression is not
        said to be linear.
    """
    nats = nats_per(unit)
    d = _normalized(distortion, variance)
    rho = number_of("correlation", correlation, least=-1.0, most=1.0)
    sigma = number_of("deviation", deviation, above=0)
    if isinstance(entropy, float) and entropy == -np.inf:
        raise InputError(
            "the quadratic-Gaussian bound is for a W with a density; h(W) of a discrete one is "
            "-infinite: bound I(W;Y) by solving for it instead"
        )
    h = number_of("entropy", entropy) * nats
    normal = 0.5 * np.log(2 * np.pi * math.e) + np.log(sigma)
    if h > normal + 1e-9 * max(1.0, abs(normal)):
        raise InputError(
            f"entropy = {h / nats:g} is more than {normal / nats:.9g}, that of a normal law of the "
            "same deviation: no W has it"
        )
    if linear is not True:
        raise InputError(
            "the quadratic-Gaussian bound does not hold unless E[W|X] is linear in X; state "
            "linear=True where it is"
        )
    with np.errstate(divide="ignore"):
        bound = h - normal - 0.5 * np.log(1 - (1 - d) * rho**2)
    return np.asarray(np.maximum(bound, 0.0) / nats)


def mutual_information_bound(
    distortion: ArrayLike, *, information: float, variance: float
) -> Floats:
    """MIUB: R(D) <= (1 - d) I(W;X), and R(D) = 0 from d = 1 on, in the unit of ``information``.

    Releasing X itself but for a share d of records, for which it is the mean, comes to no more,
    since I(W;Y) is convex in the channel. So X and its mean must be among what may be released.

    Parameters
    ----------
    distortion, information
        D, a number or several, in the square of the unit of X; and I(W;X).
    variance
        Of X: what releasing the mean for everybody distorts.
    """
    bits = number_of("information", information, least=0)
    return np.asarray((1 - _normalized(distortion, variance)) * bits)


def gaussian_rate(
    distortion: ArrayLike,
    variance: float,
    correlation: float = 1.0,
    unit: str = "bits",
    *,
    sees_sensitive: bool = False,
) -> Floats:
    """R(D) = -1/2 log(1 - (1 - d) rho^2) of scalars, d = D / Var X; 0 from d = 1 on.

    With correlation 1, W = X: the rate-distortion function 1/2 log(1 / d), infinite at 0. Of
    channels that see W, too (``sees_sensitive``), -log cos(asin |rho| - asin sqrt d), 0 from rho^2
    on: docs/theory/channels.md has the proof.
    """
    rho = number_of("correlation", correlation, least=-1.0, most=1.0)
    d = _normalized(distortion, variance)
    if sees_sensitive:
        angle = np.maximum(np.arcsin(abs(rho)) - np.arcsin(np.sqrt(d)), 0.0)
        # cos(pi / 2) is 6e-17: W = X at no distortion, of which the rate is infinite.
        cosine = np.where(angle < np.pi / 2, np.cos(angle), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.abs(-np.log(cosine)) / nats_per(unit))
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(-0.5 * np.log((1 - rho**2) + d * rho**2)) / nats_per(unit))


def gaussian_channel(
    values: ArrayLike, grid: ArrayLike, mean: float, variance: float, share: float
) -> Floats:
    """q(y|x): the chance that N((1 - d) x + d mean, d (1 - d) variance) is nearest to each y.

    Parameters
    ----------
    values, mean, variance
        True values x, shape (n,), and the moments of X.
    grid
        What may be released, shape (k,), no two the same; a cell reaches half way to its
        neighbours, and the extreme ones to infinity.
    share
        d, from 0, the nearest of the grid, to 1, the cell of the mean for everybody. Half way
        between two, the higher.

    Returns
    -------
    array of shape (n, k)
        Rows sum to 1.
    """
    x, points = vector_of("values", values), vector_of("grid", grid)
    center = number_of("mean", mean)
    d = number_of("share", share, least=0.0, most=1.0)
    deviation = float(np.sqrt(d * (1 - d) * number_of("variance", variance, above=0)))
    require_room("the channel", *[(len(x), len(points))] * 4)
    order = np.argsort(points)
    if (np.diff(points[order]) == 0).any():
        raise InputError("grid holds a value twice")
    edges = points[order][:-1] + np.diff(points[order]) / 2
    at = (1 - d) * x + d * center
    if deviation:
        cells = _cells((edges - at[:, None]) / deviation)
    else:
        cells = np.zeros((len(x), len(points)))
        cells[np.arange(len(x)), np.searchsorted(edges, at, side="right")] = 1.0
    return np.asarray(cells[:, np.argsort(order)])


def _cells(edges: Floats) -> Floats:
    """Mass of a standard normal law between edges, shape (n, k - 1), with both tails.

    Beyond 0 both ends are taken from the other tail, whose small numbers keep their digits.
    """
    wide = np.pad(edges, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    low, high = wide[:, :-1], wide[:, 1:]
    flipped = low > 0
    cells = ndtr(np.where(flipped, -low, high)) - ndtr(np.where(flipped, -high, low))
    cells = np.maximum(cells, 0.0)
    cells = cells / cells.sum(axis=1, keepdims=True)
    # Rows have to sum to 1: their largest cell bears the rounding.
    rows, largest = np.arange(len(cells)), cells.argmax(axis=1)
    cells[rows, largest] += 1 - cells.sum(axis=1)
    return np.asarray(cells)


def _normalized(distortion: ArrayLike, variance: float) -> Floats:
    """D = D / Var X, at most 1."""
    spread = number_of("variance", variance, above=0)
    if isinstance(distortion, Real):
        distortion = [number_of("distortion", distortion)]
    given = vector_of("distortion", distortion)
    if given.min() < 0:
        raise InputError("distortion holds negative numbers; all must be at least 0")
    with np.errstate(over="ignore"):
        return np.minimum(given / spread, 1.0)
