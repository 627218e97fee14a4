"""The least cost at a slope, by any of the methods, and the proof of how little could be saved."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from anonymizer.channels.tradeoff.curvature import factors_of
from anonymizer.channels.tradeoff.descent import mirror_descent, plain_laws, steepest_descent
from anonymizer.channels.tradeoff.interior import interior_point, reached, started
from anonymizer.channels.tradeoff.lagrangian import Best, Lagrangian
from anonymizer.channels.tradeoff.pricing import priced

SHARES = (0.3, 0.1, 0.01, 0.001)
"""<u, z> at which the interior point stops, of the tolerance: the next where it did not suffice."""

SPARSE = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
"""Chances of a symbol that are tried to be left out, the largest first."""

MOST_WORK = 4e12
"""Operations of a run of the interior-point method beyond which "automatic" takes another."""

MOST_NUMBERS = 1 << 27
"""Numbers in the factors of its columns beyond which it does: 1 GiB."""


DESCENTS: Mapping[str, Callable[[Best], None]] = {
    "blahut-arimoto": partial(mirror_descent, accelerated=False),
    "accelerated": partial(mirror_descent, accelerated=True),
    "steepest-descent": steepest_descent,
}
"""Methods of first order."""

METHODS = ("automatic", "interior-point", *DESCENTS)


def minimum(problem: Lagrangian, tolerance: float, method: str, deadline: float) -> Best:
    """The least cost to a relative tolerance, by a method of ``METHODS``, at one thread.

    It starts from the best single symbol or the cheapest of every value, whichever costs less.
    """
    plain = min(reversed(plain_laws(problem)), key=problem.cost)
    best = Best(problem, tolerance, deadline, method, plain, problem.cost(plain))
    best.prove(problem.ratios(plain)[0])
    published = method == "steepest-descent"
    if not published and best.proven(min(tolerance, 1e-12)):
        return best
    n, k, m = problem.shape
    small = k * n * m <= MOST_NUMBERS and 40 * k * n * m * (n + 2 * m) <= MOST_WORK
    # What overflows on the way makes a step that is not taken, or a law that costs no number.
    with np.errstate(all="ignore"):
        if method == "interior-point" or (method == "automatic" and small):
            _follow_centre(best)
        else:
            _descend(best, "accelerated" if method == "automatic" else method)
    if not published:
        _leave_out(best)
    return best


def _leave_out(best: Best) -> None:
    """Leave out chances and symbols so small that the cost rises by next to nothing.

    The interior-point method gives every symbol some chance; a release would hold symbols of one
    record because of it.
    """
    problem = best.problem
    limit = best.cost + 0.05 * best.tolerance * best.value
    if best.proven():
        limit = min(limit, best.bound + best.tolerance * best.value)
    for least in SPARSE:
        kept = np.where(best.u >= least * problem.p, best.u, 0.0)
        kept[kept.sum(axis=1) < least] = 0.0
        if kept.any(axis=0).all():
            fitted = problem.fitted(kept)
            if (cost := problem.cost(fitted)) <= limit:
                best.u, best.cost = fitted, cost
                return


def _follow_centre(best: Best) -> None:
    """Follow the central path until the bound, by posteriors or else by pricing, is close enough.

    Where the low rank of P, which is approximate, leads no further, P itself does from there on.
    """
    problem, best.method = best.problem, "interior-point"
    point, factors = started(problem, problem.uniform()), factors_of(problem.conditional)
    for share in SHARES:
        tolerance = share * best.tolerance
        point, steps = interior_point(problem, point, tolerance, factors, best.deadline)
        best.steps += steps
        best.look(point.u, point.ratios)
        if not best.proven():
            best.prove(priced(problem, point.u, point.prices, best.allowed, factors))
        if best.ended():
            break
        if not reached(problem, point, tolerance):
            if factors is None:
                break
            factors = None


def _descend(best: Best, method: str) -> None:
    """By a method of first order, which has no prices: those of the symbols in use prove it."""
    problem, best.method = best.problem, method
    DESCENTS[method](best)
    if best.ended():
        return
    factors, mass = factors_of(problem.conditional), best.u.sum(axis=1)
    gradient = problem.gradient(problem.ratios(best.u)[0])
    for share in (1e-2, 1e-4):
        prices = gradient[mass >= share * mass.max()].min(axis=0)
        best.prove(priced(problem, best.u, prices, best.allowed, factors))
        if best.proven():
            return
