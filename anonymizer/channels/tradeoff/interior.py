"""A primal-dual interior-point method for the least cost, with the structure of leakage used.

Unknown are u > 0, the prices nu of the constraints sum_y u = p, and z > 0, where

    S(u) - nu - z = 0,    sum_y u = p,    u z = mu weight(x) for every y,

is solved for falling mu: steps of Newton after Mehrotra (1992), predictor and corrector from one
factoring. The barrier is weighted, so that rare values are as central as frequent ones.

What makes it fast is that a step is taken as soon as the residual of S - nu - z is small next to z,
or next to the gap, entry by entry: it may live where a symbol has next to no mass. Keeping
z = S(u) - nu exactly needs many times the steps. Dual bounds do not come from z, then, but from
:mod:`anonymizer.channels.tradeoff.minimum`.

Newton's equations of I(W;Y) are solved column by column of the channel. The Hessian of slope * I in
u is block diagonal over the symbols y, each block of low rank: with r_y = p(w|y),

    H_y = slope P (diag(1 / V_y) - 1 1' / m_y) P' = T_y T_y',   T_y = sqrt(slope / V_y) (P - 1 r_y')

because the rows of P = p(w|x) sum to 1. By the identity of Woodbury,
(H_y + diag(1 / W_y))^-1 = diag(W_y) - F_y F_y' with F_y' = L^-1 T_y' diag(W_y), L L' = 1 + T_y'
diag(W_y) T_y: no matrix larger than |W| is factored. Where P is of lower numerical rank, as for a
smooth density on a grid, T_y is that narrow.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, get_blas_funcs, get_lapack_funcs

from anonymizer.channels.tradeoff.lagrangian import EPSILON, Lagrangian
from anonymizer.kernels.arrays import Floats

RANK = 1e-11
"""Singular values below this share of the largest are left out: no step more is taken for it."""

WORTH = 0.7
"""A lower rank is used from this share of the columns on: it costs a factoring more."""

SMALLEST = 1e-18
"""The least p(w, y) compared with the square root of which what the factors leave out is small."""

TINY = 12
"""Rank up to which all columns are factored at once: beyond, one by one is faster (measured)."""

NARROW = 32
"""Rank up to which factors are applied to all columns at once."""

JITTERS = (1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1)
"""Added to the diagonal in turn."""

_PROBE = np.empty((1, 1))
_SYRK, _TRSM = get_blas_funcs(("syrk", "trsm"), (_PROBE,))
_POTRF, _GEQRF = get_lapack_funcs(("potrf", "geqrf"), (_PROBE,))


Factors = tuple[Floats, Floats]
"""P = left @ right, of shapes (n, r) and (r, m), where r is well below m."""


def factors_of(conditional: Floats) -> Factors | None:
    """The factors of p(w|x) by its singular values, or None where they would not pay."""
    if conditional.shape[1] <= 12 and conditional.shape[0] >= conditional.shape[1]:
        return None
    left, values, right = np.linalg.svd(conditional, full_matrices=False)
    rank = int((values > RANK * values[0]).sum())
    if rank >= WORTH * conditional.shape[1]:
        return None
    return left[:, :rank] * values[:rank], right[:rank]


@dataclass(frozen=True, eq=False)
class Inverses:
    """(H_y + diag(1 / W_y))^-1 = diag(weights_y) - halves_y halves_y' of every column y.

    Shapes (k, n) and (k, n, r).
    """

    weights: Floats
    halves: Floats

    def apply(self, columns: Floats) -> Floats:
        """(H_y + diag(1 / W_y))^-1 b_y for every column, shape (k, n)."""
        found = self.weights * columns
        if self.halves.shape[2] <= NARROW:
            inner = columns[:, None, :] @ self.halves
            return np.asarray(found - (self.halves @ inner.swapaxes(1, 2))[:, :, 0])
        for half, column, solved in zip(self.halves, columns, found, strict=True):
            solved -= half @ (column @ half)  # one after the other, while it is in the cache
        return np.asarray(found)

    def total(self) -> Floats:
        """Their sum over the columns, shape (n, n); only the upper triangle is filled."""
        k, n, rank = self.halves.shape
        if rank <= NARROW:
            side_by_side = self.halves.swapaxes(1, 2).reshape(k * rank, n)
            found = -_SYRK(1.0, side_by_side.T)
        else:
            found = np.zeros((n, n), order="F")
            for half in self.halves:
                found = _SYRK(-1.0, half.T, beta=1.0, c=found, trans=1, overwrite_c=1)
        found.ravel(order="K")[:: n + 1] += self.weights.sum(axis=0)  # the diagonal
        return np.asarray(found)


def inverses_of(
    problem: Lagrangian, factors: Factors | None, law: Floats, mass: Floats, weights: Floats
) -> Inverses:
    """Factor all columns, of p(w, y), p(y) and W of shapes (k, m), (k,) and (k, n)."""
    if factors is not None and law.min() < SMALLEST:
        factors = None
    posterior = law / mass[:, None]
    inverse = np.sqrt(problem.slope / law)
    if factors is None and len(problem.prior) <= TINY:
        root = (problem.conditional - posterior[:, None, :]) * inverse[:, None, :]
        return Inverses(weights, _batch(root, weights))
    rank = len(problem.prior) if factors is None else len(factors[1])
    halves = np.empty((len(weights), len(problem.p), rank))
    for y, half in enumerate(halves):
        if factors is None:
            root = (problem.conditional - posterior[y]) * inverse[y]
        else:
            left, right = factors
            root = (left - posterior[y] @ right.T) @ _square_root(right * inverse[y])
        half[:] = _half(root, weights[y])
    return Inverses(weights, halves)


def row_sums(inverses: Inverses) -> Callable[[Floats], Floats]:
    """Solve (sum_y A_y^-1) v = b, the equations of sums over y, scaled to a diagonal of 1.

    A multiple of the rounding of a diagonal entry keeps them solvable where they are singular.
    """
    total = inverses.total()
    places = np.diag_indices(len(total))
    scales = 1 / np.sqrt(np.maximum(total[places], 1e-290))
    total *= scales[:, None] * scales
    total[places] = 1.0
    for jitter in JITTERS:
        total[places] += jitter
        with suppress(LinAlgError):
            factor = cho_factor(total, lower=False, check_finite=False)
            return lambda sums: np.asarray(scales * cho_solve(factor, scales * sums))
    raise LinAlgError


def _batch(root: Floats, weights: Floats) -> Floats:
    """F_y = diag(W_y) T_y L_y'^-1 of all columns at once; T of shape (k, n, r), r small."""
    weighted = weights[:, :, None] * root
    inner = root.swapaxes(1, 2) @ weighted
    at = np.arange(inner.shape[1])
    inner[:, at, at] += 1.0
    return np.asarray(weighted @ np.linalg.inv(np.linalg.cholesky(inner)).swapaxes(1, 2))


def _half(root: Floats, weights: Floats) -> Floats:
    """F = diag(W) T L'^-1 of T = ``root``, shape (n, r), with L L' = 1 + T' diag(W) T.

    The product of diag(W)^1/2 T with itself is positive semidefinite whatever the rounding.
    """
    roots = np.sqrt(weights)[:, None]
    balanced = root * roots
    inner = _SYRK(1.0, balanced.T, lower=1)
    inner.ravel(order="K")[:: len(inner) + 1] += 1.0  # the diagonal
    factor, failed = _POTRF(inner, lower=1, overwrite_a=1)
    if failed:
        raise LinAlgError
    balanced *= roots
    return np.asarray(_TRSM(1.0, factor, balanced.T, lower=1, overwrite_b=1).T)


def _square_root(wide: Floats) -> Floats:
    """A lower triangle C, shape (r, r), with C C' = A A' of A = ``wide``: from A' = QR."""
    packed, *_ = _GEQRF(wide.T, lwork=64 * len(wide), overwrite_a=1)
    return np.asarray(np.triu(packed[: len(wide)]).T)


STEPS = 200
SHRUNK = 25
CORRECTORS = 4
CENTRAL = 1e-3
"""No product u z / weight falls below this share of their mean: Newton's steps would get short."""


@dataclass(frozen=True, eq=False)
class Interior:
    """A point u, z > 0 with prices nu, and what follows from it; all (k, n) but the prices."""

    u: Floats
    z: Floats
    prices: Floats
    gradient: Floats
    law: Floats
    mass: Floats
    ratios: Floats

    @classmethod
    def at(cls, problem: Lagrangian, u: Floats, z: Floats, prices: Floats) -> "Interior":
        """Evaluate the gradient at u."""
        ratios, law, mass = problem.ratios(u)
        return cls(u, z, prices, problem.gradient(ratios), law, mass, ratios)

    @property
    def complementarity(self) -> float:
        """<u, z>: the duality gap, where the residuals are 0."""
        return float(np.vdot(self.u, self.z))

    @property
    def residual(self) -> Floats:
        """S - nu - z."""
        return np.asarray(self.gradient - self.prices - self.z)


@dataclass(frozen=True, eq=False)
class Direction:
    """A step of u, z and the prices."""

    u: Floats
    z: Floats
    prices: Floats

    def reach(self, point: Interior) -> float:
        """The share of it that leaves u and z at least 0; at most 1."""
        least = min((self.u / point.u).min(), (self.z / point.z).min())
        return 1.0 if least >= -1 else float(-1 / least)


def started(problem: Lagrangian, u: Floats) -> Interior:
    """A first point, with prices low enough for z to be positive."""
    gradient = problem.gradient(problem.ratios(u)[0])
    least = gradient.min(axis=0)
    spread = max(float(np.vdot(u, gradient - least)), 1e-12)
    prices = least - 0.3 * spread
    central = 0.1 * spread * problem.weights / len(u)
    return Interior.at(problem, u, np.maximum(gradient - prices, central / u), prices)


def interior_point(
    problem: Lagrangian, point: Interior, tolerance: float, factors: Factors | None, deadline: float
) -> tuple[Interior, int]:
    """Follow the central path until <u, z> is at most ``tolerance`` * the cost, or no step helps.

    Returns the last point, of which u only nearly has the law p(x), and the number of steps.
    """
    for step in range(STEPS):
        if reached(problem, point, tolerance) or monotonic() > deadline:
            return point, step
        following = None
        with suppress(LinAlgError):
            following = _stepped(problem, point, factors)
        if following is None:
            return point, step
        point = following
    return point, STEPS


def reached(problem: Lagrangian, point: Interior, tolerance: float) -> bool:
    """Return whether <u, z> is at most ``tolerance`` * the cost, or a single symbol's rounding."""
    cost = problem.base + float(np.vdot(point.u, point.gradient))
    return point.complementarity <= max(tolerance * cost, 0.1 * EPSILON)


def _stepped(problem: Lagrangian, point: Interior, factors: Factors | None) -> Interior | None:
    """One step: predictor, corrector and, where that is short, a step back to the centre."""
    newton = Newton(problem, point, factors)
    # mu weight(x) as of now: weights sum to 1, so that <u, z> is k mu.
    central = point.complementarity / len(point.u) * problem.weights
    predictor = newton.direction(np.zeros_like(point.u))
    share = predictor.reach(point)
    ahead = np.vdot(point.u + share * predictor.u, point.z + share * predictor.z)
    # Mehrotra's rule: the less the predictor leaves of the gap, the less the step is centred.
    centring = min(max((float(ahead) / point.complementarity) ** 3, 1e-3), 0.5)
    # What the linearised u z leaves out, of as much of the step as can be taken.
    second = share**2 * predictor.u * predictor.z
    direction = newton.corrected(centring * central - second, centring * central)
    length, best = _searched(problem, point, direction)
    if length >= 0.3:
        return best
    # Too short: towards the centre rather, and without the second-order term.
    for again in (max(centring, 0.3), 1.0):
        aim = np.broadcast_to(again * central, point.u.shape)
        _, other = _searched(problem, point, newton.direction(aim))
        found = [one for one in (best, other) if one is not None]
        if found:
            return min(found, key=lambda one: one.complementarity)
    return None


class Newton:
    """Newton's equations at a point, factored once for several aims of u z."""

    def __init__(self, problem: Lagrangian, point: Interior, factors: Factors | None) -> None:
        self.point = point
        weights = point.u / point.z
        self.inverses = inverses_of(problem, factors, point.law, point.mass, weights)
        self.prices = row_sums(self.inverses)
        self.missing = problem.p - point.u.sum(axis=0)
        self.residual = point.residual

    def direction(self, aim: Floats) -> Direction:
        """The step to u z = aim, S = nu + z and sum_y u = p, all linearised."""
        point = self.point
        # By u z = aim, the step of z is aim / u - z - (z / u) times that of u. That in the first
        # equation: (H + diag(z / u)) step = aim / u - z - residual + step of the prices; and the
        # prices take the step at which the sums over y come out.
        wanted = aim / point.u - point.z
        first = self.inverses.apply(wanted - self.residual)
        prices = self.prices(self.missing - first.sum(axis=0))
        u = first + self.inverses.apply(np.broadcast_to(prices, point.u.shape))
        return Direction(u, wanted - point.z / point.u * u, prices)

    def corrected(self, aim: Floats, centre: Floats) -> Direction:
        """The step to an aim, aimed anew while that makes it longer (Gondzio, 1996).

        A few entries of thousands shorten most steps, those of symbols about to lose their mass.
        Where a longer step would leave u z far from the centre, the difference is added to the
        aim. Directions cost a tenth of the factoring that they share.
        """
        point, found = self.point, self.direction(aim)
        for _ in range(CORRECTORS):
            reach = found.reach(point)
            longer = min(1.0, 1.5 * reach + 0.1)
            if reach >= 0.95:
                break
            product = (point.u + longer * found.u) * (point.z + longer * found.z)
            missing = np.clip(product, 0.1 * centre, 10 * centre) - product
            aim = aim + np.maximum(missing, -10 * centre)
            other = self.direction(aim)
            if other.reach(point) < reach + 0.1 * (longer - reach):
                break
            found = other
        return found


def _searched(
    problem: Lagrangian, point: Interior, direction: Direction
) -> tuple[float, Interior | None]:
    """The longest acceptable step of at most 0.99 of the way to the boundary, and where it ends."""
    length = min(1.0, 0.99 * direction.reach(point))
    most = float(np.abs(point.residual).max())
    # Were S linear, a step would take its length off the residual: 0.3 of that is required.
    for _ in range(SHRUNK):
        u, z = point.u + length * direction.u, point.z + length * direction.z
        ahead = Interior.at(problem, u, z, point.prices + length * direction.prices)
        if _acceptable(problem, ahead, (1 - 0.3 * length) * most):
            return length, ahead
        length *= 0.8
    return 0.0, None


def _acceptable(problem: Lagrangian, point: Interior, residual: float) -> bool:
    """Return whether the residual is below half of z, a tenth of the gap or a bound."""
    gap = point.complementarity
    allowed = np.maximum(0.5 * point.z, max(0.1 * gap, residual))
    even = (point.u * point.z / problem.weights).min() >= CENTRAL * gap / len(point.u)
    return bool(even and (np.abs(point.residual) <= allowed).all())
