"""Dual bounds by column pricing: the best law of W for every symbol that is hardly used.

The dual function of :meth:`Lagrangian.bound` needs a law r_y of W for every symbol. A symbol in use
has one, its posterior. One without mass has none, and the worst may be bad enough to make the bound
worthless while the channel is optimal. Its best law solves, for the prices nu,

    max over r of min_x S_r(x, y) - nu(x) = min over pi of <pi, d_y - nu> + slope D(pi P || p(w)),

pi and r = pi P laws of x and w: convex, of n unknowns, by damped steps of Newton on a logarithmic
barrier, weighted as in the interior-point method, whose columns are near its centre.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from anonymizer.channels.tradeoff.curvature import Factors, inverses_of
from anonymizer.channels.tradeoff.lagrangian import LEAST, Lagrangian
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
        """Better log ratios of some columns, as far as they can be had."""
        problem, least = self.problem, 0.1 * self.allowed
        at = np.arange(len(open_))
        margin = self.reduced(best, open_).min(axis=1)
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
            better = found > margin[at]
            best[at[better]] = ratios[better]
            margin[at] = np.maximum(margin[at], found)
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
        step = down - (down.sum(axis=1) / level.sum(axis=1))[:, None] * level
        fall = (slope * step).sum(axis=1)
        least = (step / pi).min(axis=1)
        length = np.where(least < -0.95, -0.95 / np.minimum(least, -0.95), 1.0)
        start = _value(problem, costs, pi, weighted)
        for _ in range(HALVED):
            ahead = pi + length[:, None] * step
            ahead /= ahead.sum(axis=1, keepdims=True)
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
