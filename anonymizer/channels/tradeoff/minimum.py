"""The least cost at a slope, by any of the methods, and the proof of how little could be saved.

Methods of first order, for alphabets beyond the interior point, are mirror descent on the channel.
I(W;Y) is 1-smooth relative to the conditional entropy of the channel: its Bregman divergence is at
most sum_x p(x) D(q(.|x) || q'(.|x)), by data processing twice. So

    q(y|x) <- q(y|x) exp(-S(y, x) / slope), made to sum to 1,

never raises the cost, without a step size to choose: the algorithm of Blahut (1972) and Arimoto
(1972), to which it comes down for W = X. The constant is often far below 1 (it is bounded by how
much X tells of W), and is looked for. The accelerated method is that of Hanzely, Richtarik and Xiao
(2021), with adaptive gain and a fresh start where the cost rises.

Dual bounds come by column pricing: the best law of W for every symbol that is hardly used. The dual
function of :meth:`Lagrangian.bound` needs a law r_y of W for every symbol. A symbol in use has one,
its posterior. One without mass has none, and the worst may be bad enough to make the bound
worthless while the channel is optimal. Its best law solves, for the prices nu,

    max over r of min_x S_r(x, y) - nu(x) = min over pi of <pi, d_y - nu> + slope D(pi P || p(w)),

pi and r = pi P laws of x and w: convex, of n unknowns, by damped steps of Newton on a logarithmic
barrier, weighted as in the interior-point method, whose columns are near its centre.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic

import numpy as np
from scipy.linalg import LinAlgError

from anonymizer.channels.tradeoff.interior import (
    Factors,
    factors_of,
    interior_point,
    inverses_of,
    reached,
    started,
)
from anonymizer.channels.tradeoff.lagrangian import LEAST, CheapestLaw, Lagrangian
from anonymizer.kernels.arrays import Codes, Floats

ROUNDS = 60
HALVED = 12

BATCH = 1 << 24
"""Numbers in the factors of the columns that are priced together: 128 MiB."""


def priced(
    problem: Lagrangian, u: Floats, prices: Floats, allowed: float, factors: Factors | None
) -> Floats:
    """Log ratios ln r_y(w) / p(w), shape (k, m), of which the bound is at most ``allowed`` lower.

    Lower than the sum of p(x) nu(x), that is, if the prices allow for it.
    """
    pricing = _Pricing(problem, prices, allowed, factors)
    laws = np.maximum(u, LEAST)
    laws = laws / laws.sum(axis=1, keepdims=True)
    best = problem.ratios(laws)[0]
    open_ = np.flatnonzero(pricing.reduced(best).min(axis=1) < -allowed)
    n, _, m = problem.shape
    together = max(1, BATCH // (n * m))
    for first in range(0, len(open_), together):
        batch = open_[first : first + together]
        best[batch] = pricing.improved(batch, best[batch], laws[batch])
    return best


@dataclass(frozen=True, eq=False)
class _Pricing:
    """Prices nu, shape (n,), and how far below them a column may stay."""

    problem: Lagrangian
    prices: Floats
    allowed: float
    factors: Factors | None

    def improved(self, open_: Codes, best: Floats, laws: Floats) -> Floats:
        """Improve the log ratios of some columns as far as possible."""
        problem, least = self.problem, 0.1 * self.allowed
        at = np.arange(len(open_))
        margin = self.reduced(best, open_).min(axis=1)
        # Inside the simplex, since the barrier is infinite on its boundary.
        pi = (1 - 1e-12) * laws + 1e-12 * problem.p
        reduced = self.reduced(problem.ratios(pi)[0], open_)
        gaps = (pi * (reduced - reduced.min(axis=1, keepdims=True))).sum(axis=1)
        barrier = np.maximum(gaps, least)
        for _ in range(ROUNDS):
            try:
                pi, decrement = self._newton(open_[at], pi, barrier)
            except LinAlgError:
                break
            ratios = problem.ratios(pi)[0]
            found = self.reduced(ratios, open_[at]).min(axis=1)
            # Any law bounds, so that the best one is kept: on the way to the centre it may be lost.
            better = found > margin[at]
            best[at[better]] = ratios[better]
            margin[at] = np.maximum(margin[at], found)
            # Done is a column that is good enough, or centred at the least barrier.
            undone = (margin[at] < -self.allowed) & ((decrement >= 0.1) | (barrier > least))
            barrier = np.maximum(np.where(decrement < 1, 0.15 * barrier, barrier), least)[undone]
            at, pi = at[undone], pi[undone]
            if not len(at):
                break
        return best

    def reduced(self, ratios: Floats, open_: slice | Codes = slice(None)) -> Floats:
        """S_r(x, y) - nu(x) of some columns."""
        leaked = self.problem.slope * (ratios @ self.problem.conditional.T)
        return np.asarray(self.problem.distortion[open_] + leaked - self.prices)

    def _newton(self, open_: Codes, pi: Floats, barrier: Floats) -> tuple[Floats, Floats]:
        """A damped step on <pi, S> - barrier * sum weight ln pi of every column; the decrements."""
        problem = self.problem
        ratios, law, mass = problem.ratios(pi)
        weighted = barrier[:, None] * problem.weights
        costs = problem.distortion[open_] - self.prices
        slope = costs + problem.slope * (ratios @ problem.conditional.T) - weighted / pi
        inverses = inverses_of(problem, self.factors, law, mass, pi**2 / weighted)
        down, level = inverses.apply(-slope), inverses.apply(np.ones_like(slope))
        # The sum of pi stays 1: Newton's step for that one equation.
        step = down - (down.sum(axis=1) / level.sum(axis=1))[:, None] * level
        fall = (slope * step).sum(axis=1)
        least = (step / pi).min(axis=1)
        length = np.where(least < -0.95, -0.95 / np.minimum(least, -0.95), 1.0)
        start = _value(problem, costs, pi, weighted)
        for _ in range(HALVED):
            ahead = pi + length[:, None] * step
            ahead /= ahead.sum(axis=1, keepdims=True)
            # Armijo's rule, column by column.
            short = _value(problem, costs, ahead, weighted) > start + 0.1 * length * fall + 1e-15
            if not short.any():
                break
            length = np.where(short, 0.5 * length, length)
        return ahead, np.sqrt(np.maximum(-fall, 0) / barrier)


def _value(problem: Lagrangian, costs: Floats, pi: Floats, weighted: Floats) -> Floats:
    """<pi, d - nu> + slope D(pi P || p(w)) - sum weighted ln pi, for every column."""
    ratios, law, _ = problem.ratios(pi)
    leaked = problem.slope * (law * ratios).sum(axis=1)
    return np.asarray((pi * costs).sum(axis=1) + leaked - (weighted * np.log(pi)).sum(axis=1))


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
            # Bregman divergences: of the entropy of the channel, and of I(W;Y), which is <law,
            # ratios> and whose gradient is the ratios. The gain has to bound the one by the other.
            apart = float((ahead * (new - logs)).sum())
            change = float((law * (later - ratios)).sum())
            if change <= gain * theta**2 * apart + 1e-15 or gain >= most:
                break
            gain = min(1.5 * gain, most)
        u, z, logs, ratios = mixed, ahead, new, later
        if accelerated:
            # The next theta' has theta'^2 = (1 - theta') theta^2.
            theta *= (np.sqrt(theta**2 + 4) - theta) / 2
    best.look(u, problem.ratios(u)[0])
    best.steps += STEPS


def steepest_descent(best: CheapestLaw) -> None:
    """Descend as Rebollo-Monedero, Forne and Domingo-Ferrer (2008); the law is taken as it is.

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
    # In a tie the single symbol, which tells nothing.
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
    if best.proven():  # and it has to stay so
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
    """Descend by a method of first order, without prices: the symbols in use prove it."""
    problem, best.method = best.problem, method
    DESCENTS[method](best)
    if best.ended():
        return
    factors, mass = factors_of(problem.conditional), best.u.sum(axis=1)
    gradient = problem.gradient(problem.ratios(best.u)[0])
    # At the optimum S of a value is the same at all symbols in use for it, and less at none. Which
    # ones are in use is a guess.
    for share in (1e-2, 1e-4):
        prices = gradient[mass >= share * mass.max()].min(axis=0)
        best.prove(priced(problem, best.u, prices, best.allowed, factors))
        if best.proven():
            return
