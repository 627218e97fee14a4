"""First-order methods for alphabets beyond the interior point: mirror descent on the channel.

I(W;Y) is 1-smooth relative to the conditional entropy of the channel: its Bregman divergence is at
most sum_x p(x) D(q(.|x) || q'(.|x)), by data processing twice. So

    q(y|x) <- q(y|x) exp(-S(y, x) / slope), made to sum to 1,

never raises the cost, without a step size to choose: the algorithm of Blahut (1972) and Arimoto
(1972), to which it comes down for W = X. The constant is often far below 1 (it is bounded by how
much X tells of W), and is looked for. The accelerated method is that of Hanzely, Richtarik and Xiao
(2021), with adaptive gain and a fresh start where the cost rises.
"""

from time import monotonic

import numpy as np

from anonymizer.channels.tradeoff.lagrangian import Best, Lagrangian
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


def mirror_descent(best: Best, *, accelerated: bool) -> None:
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


def steepest_descent(best: Best) -> None:
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
