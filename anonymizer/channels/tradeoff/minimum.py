"""The least cost at a slope, by any of the methods, and the proof of how little could be saved."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic

import numpy as np

from anonymizer.channels.tradeoff.curvature import Factors, factors_of
from anonymizer.channels.tradeoff.descent import (
    accelerated,
    blahut_arimoto,
    plain_laws,
    steepest_descent,
)
from anonymizer.channels.tradeoff.interior import Interior, interior_point, reached, started
from anonymizer.channels.tradeoff.lagrangian import EPSILON, Lagrangian
from anonymizer.channels.tradeoff.pricing import priced
from anonymizer.kernels.arrays import Floats

SHARES = (0.3, 0.1, 0.01, 0.001)
"""<u, z> at which the interior point stops, of the tolerance: the next where it did not suffice."""

SPARSE = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
"""Chances of a symbol that are tried to be left out, the largest first."""

MOST_WORK = 4e12
"""Operations of a run of the interior-point method beyond which "automatic" takes another."""

MOST_NUMBERS = 1 << 27
"""Numbers in the factors of its columns beyond which it does: 1 GiB."""


DESCENTS = {
    "blahut-arimoto": blahut_arimoto,
    "accelerated": accelerated,
    "steepest-descent": steepest_descent,
}
"""Methods of first order: they return a law, a bound and the steps."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """A joint law u(y, x), a lower bound of the cost, both of the problem; steps and method."""

    u: Floats
    bound: float
    steps: int
    method: str

    def better(self, other: "Minimum", problem: Lagrangian) -> "Minimum":
        """The cheaper law with the higher bound: both hold."""
        u = self.u if problem.cost(self.u) <= problem.cost(other.u) else other.u
        steps = self.steps + other.steps
        return Minimum(u, max(self.bound, other.bound), steps, self.method)

    def proven(self, problem: Lagrangian, tolerance: float) -> bool:
        """Whether the gap is within a share of the cost, or rounding of a single symbol's."""
        cost = problem.cost(self.u)
        return cost - self.bound <= tolerance * (problem.base + cost) + EPSILON


Method = Callable[[Lagrangian, float, float], Minimum]


def minimum(problem: Lagrangian, tolerance: float, method: str, deadline: float) -> Minimum:
    """The least cost by a method of ``METHODS``, at one thread."""
    if method == "steepest-descent":  # its channel as it is
        return METHODS[method](problem, tolerance, deadline)
    plain = _plain(problem, method)
    if plain.proven(problem, min(tolerance, 1e-12)):
        return plain
    # What overflows on the way makes a step that is not taken, or a law that costs no number.
    with np.errstate(all="ignore"):
        found = METHODS[method](problem, tolerance, deadline).better(plain, problem)
    return _sparse(problem, found, tolerance)


def _plain(problem: Lagrangian, method: str) -> Minimum:
    """The best single symbol or the cheapest symbol of every value, whichever costs less."""
    best = min(reversed(plain_laws(problem)), key=problem.cost)
    return Minimum(best, problem.bound(problem.ratios(best)[0]), 0, method)


def _sparse(problem: Lagrangian, found: Minimum, tolerance: float) -> Minimum:
    """Leave out chances and symbols so small that the cost rises by next to nothing.

    The interior-point method gives every symbol some chance; a release would hold symbols of one
    record because of it.
    """
    cost = problem.cost(found.u)
    value = problem.base + cost
    limit = cost + 0.05 * tolerance * value
    if found.proven(problem, tolerance):
        limit = min(limit, found.bound + tolerance * value)
    for least in SPARSE:
        kept = np.where(found.u >= least * problem.p, found.u, 0.0)
        kept[kept.sum(axis=1) < least] = 0.0
        if kept.any(axis=0).all():
            fitted = problem.fitted(kept)
            if problem.cost(fitted) <= limit:
                return Minimum(fitted, found.bound, found.steps, found.method)
    return found


def _interior(problem: Lagrangian, tolerance: float, deadline: float) -> Minimum:
    """Follow the central path until the bound by pricing is close enough.

    Where the low rank of P, which is approximate, leads no further, P itself does from there on.
    """
    point = started(problem, problem.uniform())
    factors = factors_of(problem.conditional)
    found = Minimum(problem.uniform(), 0.0, 0, "interior-point")
    for share in SHARES:
        point, steps = interior_point(problem, point, share * tolerance, factors, deadline)
        found = _bounded(problem, point, steps, tolerance, factors).better(found, problem)
        if found.proven(problem, tolerance) or monotonic() > deadline:
            break
        if not reached(problem, point, share * tolerance):
            if factors is None:
                break
            factors = None
    return found


def _bounded(
    problem: Lagrangian, point: Interior, steps: int, tolerance: float, factors: Factors | None
) -> Minimum:
    """The law of a point, and the bound by its posteriors or else by pricing."""
    u = problem.fitted(point.u)
    found = Minimum(u, problem.bound(point.ratios), steps, "interior-point")
    if found.proven(problem, tolerance):
        return found
    allowed = 0.2 * tolerance * (problem.base + problem.cost(u))
    ratios = priced(problem, point.u, point.prices, allowed, factors)
    return Minimum(u, max(found.bound, problem.bound(ratios)), steps, "interior-point")


def _priced(problem: Lagrangian, found: Minimum, tolerance: float, deadline: float) -> Minimum:
    """The bound of a law that came without prices: those of the symbols in use."""
    if found.proven(problem, tolerance) or monotonic() > deadline:
        return found
    factors = factors_of(problem.conditional)
    mass = found.u.sum(axis=1)
    allowed = 0.2 * tolerance * (problem.base + problem.cost(found.u))
    gradient = problem.gradient(problem.ratios(found.u)[0])
    for share in (1e-2, 1e-4):
        used = mass >= share * mass.max()
        ratios = priced(problem, found.u, gradient[used].min(axis=0), allowed, factors)
        bound = max(found.bound, problem.bound(ratios))
        found = Minimum(found.u, bound, found.steps, found.method)
        if found.proven(problem, tolerance):
            break
    return found


def _descended(method: str) -> Method:
    """A method of first order, and the bound by prices."""

    def found(problem: Lagrangian, tolerance: float, deadline: float) -> Minimum:
        law = Minimum(*DESCENTS[method](problem, tolerance, deadline), method)
        return _priced(problem, law, tolerance, deadline)

    return found


def _automatic(problem: Lagrangian, tolerance: float, deadline: float) -> Minimum:
    """By the interior-point method while its factors are small enough, else accelerated."""
    n, k, m = problem.shape
    small = k * n * m <= MOST_NUMBERS and 40 * k * n * m * (n + 2 * m) <= MOST_WORK
    return (_interior if small else _descended("accelerated"))(problem, tolerance, deadline)


METHODS: Mapping[str, Method] = {
    "automatic": _automatic,
    "interior-point": _interior,
    **{method: _descended(method) for method in DESCENTS},
}
"""Of a problem, a relative tolerance and the time to end at."""
