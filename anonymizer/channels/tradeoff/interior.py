"""A primal-dual interior-point method for the least cost, with the structure of leakage used.

Unknown are u > 0, the prices nu of the constraints sum_y u = p, and z > 0, where

    S(u) - nu - z = 0,    sum_y u = p,    u z = mu weight(x) for every y,

is solved for falling mu: steps of Newton after Mehrotra (1992), predictor and corrector from one
factoring. The barrier is weighted, so that rare values are as central as frequent ones.

What makes it fast is that a step is taken as soon as the residual of S - nu - z is small next to z,
or next to the gap, entry by entry: it may live where a symbol has next to no mass. Keeping
z = S(u) - nu exactly needs many times the steps. Dual bounds do not come from z, then, but from
:mod:`anonymizer.channels.tradeoff.pricing`.
"""

from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import numpy as np
from scipy.linalg import LinAlgError

from anonymizer.channels.tradeoff.curvature import Factors, inverses_of, row_sums
from anonymizer.channels.tradeoff.lagrangian import EPSILON, Lagrangian
from anonymizer.kernels.arrays import Floats

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
    """Whether <u, z> is at most ``tolerance`` * the cost, or rounding of a single symbol's."""
    cost = problem.base + float(np.vdot(point.u, point.gradient))
    return point.complementarity <= max(tolerance * cost, 0.1 * EPSILON)


def _stepped(problem: Lagrangian, point: Interior, factors: Factors | None) -> Interior | None:
    """One step: predictor, corrector and, where that is short, a step back to the centre."""
    newton = Newton(problem, point, factors)
    central = point.complementarity / len(point.u) * problem.weights
    predictor = newton.direction(np.zeros_like(point.u))
    share = predictor.reach(point)
    ahead = np.vdot(point.u + share * predictor.u, point.z + share * predictor.z)
    centring = min(max((float(ahead) / point.complementarity) ** 3, 1e-3), 0.5)
    second = share**2 * predictor.u * predictor.z
    direction = newton.corrected(centring * central - second, centring * central)
    length, best = _searched(problem, point, direction)
    if length >= 0.3:
        return best
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
        self.lacking = problem.p - point.u.sum(axis=0)
        self.residual = point.residual

    def direction(self, aim: Floats) -> Direction:
        """The step to u z = aim, S = nu + z and sum_y u = p, all linearised."""
        point = self.point
        wanted = aim / point.u - point.z
        first = self.inverses.apply(wanted - self.residual)
        prices = self.prices(self.lacking - first.sum(axis=0))
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
    for _ in range(SHRUNK):
        u, z = point.u + length * direction.u, point.z + length * direction.z
        ahead = Interior.at(problem, u, z, point.prices + length * direction.prices)
        if _acceptable(problem, ahead, (1 - 0.3 * length) * most):
            return length, ahead
        length *= 0.8
    return 0.0, None


def _acceptable(problem: Lagrangian, point: Interior, residual: float) -> bool:
    """Whether the residual is below half of z, a tenth of the gap or a bound; and u z is even."""
    gap = point.complementarity
    allowed = np.maximum(0.5 * point.z, max(0.1 * gap, residual))
    even = (point.u * point.z / problem.weights).min() >= CENTRAL * gap / len(point.u)
    return bool(even and (np.abs(point.residual) <= allowed).all())
