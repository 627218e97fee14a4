"""Bregman divergences: mean square error and mutual information are two of one family.

D(x, y) = f(x) - f(y) - <grad f(y), x - y> of a convex f is never negative, and of all points y the
mean of X has the least E D(X, y), whatever f is (Banerjee et al. 2005). Domingo-Ferrer and
Rebollo-Monedero (2009), section 3, name both measures of loss as members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats
from anonymizer.kernels.terms import xlogx


@dataclass(frozen=True)
class Generator:
    """A convex function of the last axis, and its gradient."""

    value: Callable[[Floats], Floats]
    gradient: Callable[[Floats], Floats]


SQUARE = Generator(lambda x: (x * x).sum(axis=-1), lambda x: 2 * x)
"""|x|^2, whose divergence is |x - y|^2."""
NEGENTROPY = Generator(
    lambda p: xlogx(p).sum(axis=-1),
    lambda p: np.log2(p, out=np.full_like(p, -np.inf), where=p > 0) + np.log2(np.e),
)
"""sum p log2 p, whose divergence of two laws is that of Kullback and Leibler, in bits."""


def bregman(generator: Generator, x: ArrayLike, y: ArrayLike) -> Floats:
    """f(x) - f(y) - <grad f(y), x - y> over the last axis; never negative but for rounding.

    Infinite where the gradient is, as that of p log p is at 0, and x goes that way.

    >>> float(bregman(SQUARE, [1.0, 2.0], [1.0, 5.0]))
    9.0
    >>> float(bregman(NEGENTROPY, [0.5, 0.5], [1.0, 0.0]))
    inf
    """
    one, other = np.asarray(x, float), np.asarray(y, float)
    way = one - other
    # An infinite gradient times no way at all is nothing.
    steps = np.multiply(generator.gradient(other), way, out=np.zeros_like(way), where=way != 0)
    return np.asarray(generator.value(one) - generator.value(other) - steps.sum(axis=-1))


def squared_error_divergence(x: ArrayLike, released: ArrayLike) -> float:
    """E |X - X'|^2, the mean Bregman divergence of |x|^2; in the square of the unit of x.

    ``x`` and ``released``: records by columns, of one shape (records, n), none of it empty.
    InputError otherwise.

    >>> squared_error_divergence([[0.0], [2.0]], [[1.0], [2.0]])
    0.5
    """
    one, other = np.asarray(x, float), np.asarray(released, float)
    if one.ndim != 2 or one.shape != other.shape or not one.size:
        raise InputError(
            f"records of shape {one.shape} and released ones of {other.shape}; one shape "
            "(records, columns) is needed, and not an empty one"
        )
    return float(bregman(SQUARE, one, other).mean())


def information_divergence(joint: ArrayLike) -> float:
    """I(X;Y) in bits, the Bregman divergence of sum p log p from p(x) p(y) to p(x, y).

    ``joint``: counts or p(x, y), shape (n, m), not all 0. InputError otherwise.

    >>> information_divergence([[4, 0], [0, 4]])
    1.0
    """
    given = np.asarray(joint, float)
    if given.ndim != 2 or not (given >= 0).all() or not given.sum() > 0:
        raise InputError("joint must be a matrix of counts, at least 0 and not all 0")
    law = given / given.sum()
    product = np.outer(law.sum(axis=1), law.sum(axis=0))
    return float(bregman(NEGENTROPY, law.ravel(), product.ravel()))
