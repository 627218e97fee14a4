"""What a randomized mechanism tells about the database: epsilon, and the surprise of its answers.

A mechanism F is p(s|X), shape (databases, answers): a row for X0, the first, and one for each
neighbour X, which differs from X0 in a record at most. Bezzi (2010), section 5, Eq. 16 and 17.
"""

from __future__ import annotations

from math import e, exp, inf, isfinite, log2, tanh

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError
from anonymizer.information.entropy import divergence
from anonymizer.kernels.arrays import Floats

SUM = 1e-9
"""How far the chances of a row may be from 1, by rounding."""


def mechanism_epsilon(mechanism: ArrayLike) -> float:
    """Epsilon = max over X, s of |ln p(s|X0) / p(s|X)|, in nats (Eq. 16).

    Infinite where an answer is possible for one of the two alone.

    Returns
    -------
    float
        Nats, at least 0.

    Raises
    ------
    InputError
        When a row of the mechanism is no distribution.

    >>> round(mechanism_epsilon([[0.75, 0.25], [0.25, 0.75]]), 6)
    1.098612
    """
    given = _mechanism(mechanism)
    if ((given > 0) != (given[0] > 0)).any():
        return inf
    logs = np.log(given[:, given[0] > 0])
    return float(np.abs(logs - logs[0]).max())


def database_information(mechanism: ArrayLike, prior: ArrayLike) -> float:
    """I1(F, X0) = sum_s p(s|X0) log p(s|X0) / p(s), p(s) = sum_X p(s|X) p(X), in bits (Eq. 17).

    At most :func:`theta` of the mechanism's epsilon. Infinite where p(X0) = 0 and an answer is
    possible for X0 alone.

    Parameters
    ----------
    mechanism
        p(s|X), shape (databases, answers), X0 first.
    prior
        p(X), shape (databases,); X0 is one of its own neighbours, and may have 0.

    Returns
    -------
    float
        Bits, at least 0.

    Raises
    ------
    InputError
        When a row of the mechanism, or the prior, is no distribution.

    >>> round(database_information([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 6)
    0.188722
    """
    given, weights = _mechanism(mechanism), _distributions("prior", prior, 1)
    if len(weights) != len(given):
        raise InputError(
            f"prior has {len(weights)} chances, and mechanism {len(given)} databases: "
            "give one chance for each row, X0 first"
        )
    return float(divergence(given[0], weights @ given))


def theta(epsilon: float, own: float = 0.0) -> float:
    """The largest I1(F, X0) of any mechanism with this epsilon, in bits (Eq. 16 and 17).

    With p = p(X0), -[log2(p + (1 - p) e^eps) + e^eps log2(p + (1 - p) e^-eps)] / (1 + e^eps), which
    falls in p; eps tanh(eps / 2) log2 e for p = 0. Randomized response of one bit attains it. No
    bound the other way exists: I1 may be next to nothing, and epsilon infinite.

    Parameters
    ----------
    epsilon
        In nats, at least 0, and finite.
    own
        p(X0), from 0 to 1; at 0 the bound holds for every prior.

    Returns
    -------
    float
        Bits, at least 0.

    Raises
    ------
    InputError
        When epsilon or p(X0) is out of range.

    >>> round(theta(1.0), 6), round(theta(1.0, own=0.5), 6)
    (0.666694, 0.160058)
    """
    if not (isfinite(epsilon) and epsilon >= 0):
        raise InputError(f"epsilon is {epsilon!r}: give a finite number of nats, at least 0")
    if not 0 <= own <= 1:
        raise InputError(f"own, p(X0), is {own!r}: give a number from 0 to 1")
    if own == 0:
        return epsilon * tanh(epsilon / 2) * log2(e)
    # Written with e^-eps alone: e^eps overflows from 710 on.
    less, share = exp(-epsilon), 1 / (1 + exp(-epsilon))
    rarely = log2(own * less + 1 - own) + epsilon * log2(e) if own < 1 else 0.0
    often = log2(own + (1 - own) * less)
    return max(-((1 - share) * rarely + share * often), 0.0)


def _mechanism(mechanism: ArrayLike) -> Floats:
    return _distributions("mechanism", mechanism, 2)


def _distributions(name: str, given: ArrayLike, dimensions: int) -> Floats:
    """Check rows of chances, or one such row."""
    rows = np.asarray(given, float)
    if rows.ndim != dimensions or not rows.size:
        raise InputError(f"{name} has shape {rows.shape}: give {dimensions} dimensions of chances")
    if not (rows >= 0).all() or not (abs(rows.sum(-1) - 1) <= SUM).all():
        raise InputError(f"{name} is no distribution: give chances of at least 0 that sum to 1")
    return rows
