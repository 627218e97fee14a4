"""The margin of what is released, when it decides everything: the heart of rate-distortion.

For a slope lam = 1 / beta (nats) and excess e(x,y) = d(x,y) - min_y d(x,y) of a distortion,

    min_q I(X;Y) + beta E e(X,Y) = min_t F(t),    F(t) = -sum_x p(x) ln Z(x),    Z = A t,

over distributions t of Y, with A(x,y) = exp(-beta e(x,y)) (Blahut, 1972): F is convex. The channel
of a margin is q(y|x) = t(y) A(x,y) / Z(x), its own margin is t c with c = A'(p / Z), and its own
value is F(t) - D(t c || t).

Bound (Blahut, Csiszar 1974). For any other distribution s, by the concavity of the logarithm,
F(t) - F(s) = sum_x p(x) ln((A s)(x) / Z(x)) <= ln sum_y s(y) c(y) <= ln max c, whatever t is.

The same F is the negative log likelihood of a mixture of given components, for which interior
points are far quicker than the EM algorithm, which is Blahut and Arimoto's (Koenker and Mizera,
2014).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

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
        """What is not proven, but for rounding."""
        return self.value - self.lower

    def better(self, later: "Margin") -> "Margin":
        """The margin of less value, with the higher of both bounds, found as late as the other."""
        best = self if self.value <= later.value else later
        best = replace(best, iterations=later.iterations, method=later.method)
        return best.bounded(max(self.lower, later.lower))

    def bounded(self, lower: float) -> "Margin":
        """The same with another bound."""
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
    """The same with all symbols: no weight is 0."""
    kernel = _MarginProblem(p, a, goal)
    small = a.shape[1] <= NEWTON
    best, t = _blahut_arimoto(kernel, STEPS if small else ALL_STEPS)
    if small and best.gap > kernel.allowed(best):
        best = _interior(kernel, t, best)
    return best


def rounding(shape: tuple[int, int], energy: float) -> float:
    """What the bound may be off by in floating point, nats.

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

    def towards(target: Floats) -> tuple[Floats, Floats]:
        dt = scale * cho_solve(factor, scale * (c - 1 + target / t), check_finite=False)
        return dt, (target - z * dt) / t - z

    mu = float(t @ z) / len(t)
    dt, dz = towards(np.zeros_like(t))
    reach = _reach(t, dt, z, dz)
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
