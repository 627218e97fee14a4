"""The steepest descent of Rebollo-Monedero, Forne and Domingo-Ferrer (2008): a baseline.

Their section on numerical results projects the gradient with respect to q(y|x) onto the channels by
taking off the mean of each row, steps by 1e-4, sets what is negative to 0 and makes the rows sum to
1, 32 000 times, from the channel of the bound MIUB. That is no projection onto the simplex where
chances are 0, as they are at the optimum, so that it ends beside it.
"""

from time import monotonic

import numpy as np

from anonymizer.channels.tradeoff.lagrangian import Lagrangian
from anonymizer.kernels.arrays import Floats

__all__ = ["steepest_descent"]

STEPS = 32_000
STEP = 1e-4
MIXED = 0.5
LOOKS = 500


def steepest_descent(problem: Lagrangian, deadline: float) -> tuple[Floats, float, int]:
    """As published: a law, a bound and the steps.

    It starts from the cheapest symbol of every value, and half of the time the best single symbol:
    the mean, where the distortion is squared.
    """
    channel = _start(problem)
    length = STEP * problem.scale
    for step in range(STEPS):
        if step % LOOKS == 0 and monotonic() > deadline:
            break
        ratios = problem.ratios(channel * problem.p)[0]
        gradient = problem.p * problem.gradient(ratios)
        channel -= length * (gradient - gradient.mean(axis=0))
        np.maximum(channel, 0, out=channel)
        channel /= channel.sum(axis=0)
    u = channel * problem.p
    return u, problem.bound(problem.ratios(u)[0]), step + 1


def _start(problem: Lagrangian) -> Floats:
    """The channel of MIUB, q(y|x), shape (k, n)."""
    columns = np.arange(len(problem.distortion))[:, None]
    nearest = columns == np.argmin(problem.distortion, axis=0)
    single = columns == np.argmin(problem.distortion @ problem.p)
    return np.asarray((1 - MIXED) * nearest + MIXED * np.broadcast_to(single, nearest.shape))
