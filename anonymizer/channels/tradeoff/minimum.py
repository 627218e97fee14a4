"""The least cost at a slope, by any of the methods, and the proof of how little could be saved.

Methods of first order, for alphabets beyond the interior point, are mirror descent on the channel.
I(W;Y) is 1-smooth relative to the conditional entropy of the channel: its Bregman divergence is at
most sum_x p(x) D(q(.|x) || q'(.|x)), by data processing twice. So

    q(y|x) <- q(y|x) exp(-S(y, x) / slope), made to sum to 1,

never raises the cost, without a step size to choose: the algorithm of Blahut (1972) and Arimoto
(1972), to which it comes down for W = X. The constant is often far below 1 (it is bounded by how
much X tells of W), and is looked for. The accelerated method is that of Hanzely, Richtarik and Xiao
(2021), with adaptive gain and a fresh start where the cost rises.
"""

from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic

import numpy as np

from anonymizer.channels.tradeoff.curvature import factors_of
from anonymizer.channels.tradeoff.interior import interior_point, reached, started
from anonymizer.channels.tradeoff.lagrangian import CheapestLaw, Lagrangian
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


STEPS = 20_000
LOOKS = 25
"""Steps between two bounds."""

PUBLISHED, STEP, MIXED = 32_000, 1e-4, 0.5
"""Steps of the published descent, their length, and the share of the single symbol at first."""

FLOOR = -650.0
"""Least logarithm of a chance: exp of it is no denormal number."""


def plain_laws(problem: Lagrangian) -> tuple[Floats, Floats]:
    """The laws u(y, x) of the cheapest symbol of every value, and of the best single symbol."""
    columns = np.arange(len(problem.distortion))[:, None]
    nearest = columns == np.argmin(problem.distortion, axis=0)
    single = columns == np.argmin(problem.distortion @ problem.p)
    return nearest * problem.p, single * problem.p


def _law_of(problem: Lagrangian, logs: Floats) -> tuple[Floats, Floats]:
    """Logarithms of a channel, made to sum to 1 over the symbols, and p(x) q(y|x)."""
    shifted = logs - logs.max(axis=0)
    shifted -= np.log(np.exp(shifted).sum(axis=0))
    shifted = np.maximum(shifted, FLOOR)
    return shifted, problem.p * np.exp(shifted)


def mirror_descent(best: CheapestLaw, *, accelerated: bool) -> None:
    """The algorithm of Blahut and Arimoto; or accelerated Bregman proximal gradient, of order 2."""
    problem, most = best.problem, 1e3 if accelerated else 1.0
    logs, z = _law_of(problem, np.zeros_like(problem.distortion))
    u, ratios = z, problem.ratios(z)[0]
    theta, gain, last = 1.0, 1.0, np.inf
    for step in range(STEPS):
        if step % LOOKS == 0:
            if best.look(u, problem.ratios(u)[0]):
                best.steps += step
                return
            if (cost := problem.cost(u)) > last:
                theta = 1.0
                logs, z = _law_of(problem, np.log(np.maximum(u / problem.p, np.exp(FLOOR))))
            last = cost
        gain = max(gain / 1.3, 1e-3)
        if accelerated:
            ratios = problem.ratios((1 - theta) * u + theta * z)[0]
        gradient = problem.gradient(ratios)
        while True:
            new, ahead = _law_of(problem, logs - gradient / (problem.slope * gain * theta))
            mixed = (1 - theta) * u + theta * ahead
            later, law, _ = problem.ratios(mixed)
            apart = float((ahead * (new - logs)).sum())
            change = float((law * (later - ratios)).sum())
            if change <= gain * theta**2 * apart + 1e-15 or gain >= most:
                break
            gain = min(1.5 * gain, most)
        u, z, logs, ratios = mixed, ahead, new, later
        if accelerated:
            theta *= (np.sqrt(theta**2 + 4) - theta) / 2
    best.look(u, problem.ratios(u)[0])
    best.steps += STEPS


def steepest_descent(best: CheapestLaw) -> None:
    """As published by Rebollo-Monedero, Forne and Domingo-Ferrer (2008); its law is taken as it is.

    It projects the gradient with respect to q(y|x) by taking off the mean of each row, which is no
    projection onto the simplex where chances are 0, as they are at the optimum, so that it ends
    near it only: a baseline. It starts from the channel of the bound MIUB: the cheapest symbol of
    every value, and half of the time the best single symbol, the mean where d is squared.
    """
    problem = best.problem
    nearest, single = plain_laws(problem)
    channel = ((1 - MIXED) * nearest + MIXED * single) / problem.p
    length = STEP * problem.scale
    for step in range(PUBLISHED):
        if step % 500 == 0 and monotonic() > best.deadline:
            break
        ratios = problem.ratios(channel * problem.p)[0]
        gradient = problem.p * problem.gradient(ratios)
        channel -= length * (gradient - gradient.mean(axis=0))
        np.maximum(channel, 0, out=channel)
        channel /= channel.sum(axis=0)
    best.u, best.steps = channel * problem.p, step + 1
    best.cost = problem.cost(best.u)
    best.prove(problem.ratios(best.u)[0])


DESCENTS: Mapping[str, Callable[[CheapestLaw], None]] = {
    "blahut-arimoto": partial(mirror_descent, accelerated=False),
    "accelerated": partial(mirror_descent, accelerated=True),
    "steepest-descent": steepest_descent,
}
"""Methods of first order."""

METHODS = ("automatic", "interior-point", *DESCENTS)


def minimum(problem: Lagrangian, tolerance: float, method: str, deadline: float) -> CheapestLaw:
    """The least cost to a relative tolerance, by a method of ``METHODS``, at one thread.

    It starts from the best single symbol or the cheapest of every value, whichever costs less.
    """
    plain = min(reversed(plain_laws(problem)), key=problem.cost)
    best = CheapestLaw(problem, tolerance, deadline, method, plain, problem.cost(plain))
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


def _leave_out(best: CheapestLaw) -> None:
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


def _follow_centre(best: CheapestLaw) -> None:
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


def _descend(best: CheapestLaw, method: str) -> None:
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
