"""First-order methods for alphabets beyond the interior point: mirror descent on the channel.

I(W;Y) is 1-smooth relative to the conditional entropy of the channel: its Bregman divergence is at
most sum_x p(x) D(q(.|x) || q'(.|x)), by data processing twice. So

    q(y|x) <- q(y|x) exp(-S(y, x) / slope), made to sum to 1,

never raises the cost, without a step size to choose: the algorithm of Blahut (1972) and Arimoto
(1972), to which it comes down for W = X. The constant is often far below 1 (it is bounded by how
much X tells of W), and is looked for. The accelerated method is that of Hanzely, Richtarik and Xiao
(2021), with adaptive gain and a fresh start where the cost rises.
"""

from dataclasses import dataclass
from time import monotonic

import numpy as np

from anonymizer.channels.tradeoff.lagrangian import Lagrangian
from anonymizer.kernels.arrays import Floats

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


@dataclass
class Best:
    """The cheapest law so far, the highest bound, and whether they are close enough."""

    problem: Lagrangian
    tolerance: float
    deadline: float
    u: Floats
    cost: float
    bound: float = 0.0

    @classmethod
    def of(cls, problem: Lagrangian, tolerance: float, deadline: float) -> "Best":
        """Start from a channel that tells nothing."""
        u = problem.uniform()
        return cls(problem, tolerance, deadline, u, problem.cost(u))

    def look(self, u: Floats, ratios: Floats) -> bool:
        """Take a law into account; whether to end."""
        fitted = self.problem.fitted(u)
        cost = self.problem.cost(fitted)
        if cost < self.cost:
            self.u, self.cost = fitted, cost
        self.bound = max(self.bound, self.problem.bound(ratios))
        close = self.cost - self.bound <= 0.9 * self.tolerance * (self.problem.base + self.cost)
        return close or monotonic() > self.deadline


def blahut_arimoto(
    problem: Lagrangian, tolerance: float, deadline: float
) -> tuple[Floats, float, int]:
    """The generalized algorithm of Blahut and Arimoto: a law, a bound and the steps."""
    best = Best.of(problem, tolerance, deadline)
    logs, u = _law_of(problem, np.zeros_like(problem.distortion))
    ratios, _, _ = problem.ratios(u)
    constant = 1.0
    for step in range(STEPS):
        if step % LOOKS == 0 and best.look(u, ratios):
            return best.u, best.bound, step
        gradient = problem.gradient(ratios)
        while True:
            new, ahead = _law_of(problem, logs - gradient / (problem.slope * constant))
            later, law, _ = problem.ratios(ahead)
            apart = float((ahead * (new - logs)).sum())
            if float((law * (later - ratios)).sum()) <= constant * apart + 1e-15 or constant >= 1:
                break
            constant = min(1.0, 1.5 * constant)
        logs, u, ratios = new, ahead, later
        constant = max(1e-3, 0.8 * constant)
    best.look(u, ratios)
    return best.u, best.bound, STEPS


def accelerated(
    problem: Lagrangian, tolerance: float, deadline: float
) -> tuple[Floats, float, int]:
    """Accelerated Bregman proximal gradient, of order 2: a law, a bound and the steps."""
    best = Best.of(problem, tolerance, deadline)
    logs, z = _law_of(problem, np.zeros_like(problem.distortion))
    u, theta, gain, last = z, 1.0, 1.0, np.inf
    for step in range(STEPS):
        if step % LOOKS == 0:
            if best.look(u, problem.ratios(u)[0]):
                return best.u, best.bound, step
            cost = problem.cost(u)
            if cost > last:
                theta = 1.0
                logs, z = _law_of(problem, np.log(np.maximum(u / problem.p, np.exp(FLOOR))))
            last = cost
        gain = max(gain / 1.3, 1e-2)
        between = (1 - theta) * u + theta * z
        ratios = problem.ratios(between)[0]
        gradient = problem.gradient(ratios)
        while True:
            new, ahead = _law_of(problem, logs - gradient / (problem.slope * gain * theta))
            mixed = (1 - theta) * u + theta * ahead
            later, law, _ = problem.ratios(mixed)
            apart = float((ahead * (new - logs)).sum())
            change = float((law * (later - ratios)).sum())
            if change <= gain * theta**2 * apart + 1e-15 or gain > 1e3:
                break
            gain *= 1.5
        u, z, logs = mixed, ahead, new
        theta *= (np.sqrt(theta**2 + 4) - theta) / 2
    best.look(u, problem.ratios(u)[0])
    return best.u, best.bound, STEPS


def steepest_descent(
    problem: Lagrangian, tolerance: float, deadline: float
) -> tuple[Floats, float, int]:
    """As published by Rebollo-Monedero, Forne and Domingo-Ferrer (2008): a law, a bound, the steps.

    It projects the gradient with respect to q(y|x) by taking off the mean of each row, which is no
    projection onto the simplex where chances are 0, as they are at the optimum, so that it ends
    near it only: a baseline. It starts from the channel of the bound MIUB: the cheapest symbol of
    every value, and half of the time the best single symbol, the mean where d is squared.
    """
    nearest, single = plain_laws(problem)
    channel = ((1 - MIXED) * nearest + MIXED * single) / problem.p
    length = STEP * problem.scale
    for step in range(PUBLISHED):
        if step % 500 == 0 and monotonic() > deadline:
            break
        ratios = problem.ratios(channel * problem.p)[0]
        gradient = problem.p * problem.gradient(ratios)
        channel -= length * (gradient - gradient.mean(axis=0))
        np.maximum(channel, 0, out=channel)
        channel /= channel.sum(axis=0)
    u = channel * problem.p
    return u, problem.bound(problem.ratios(u)[0]), step + 1
