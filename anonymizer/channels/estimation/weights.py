"""Weights that turn released counts into unbiased estimates of true ones.

Of n(x) records with the value x, drawn by q(y|x), T(y) are released as y: E T = Q' n. Whatever
solves Q b = f makes b'T an unbiased estimate of sum_x f(x) n(x), and where nothing does there is no
linear unbiased one: E b'T = n'Q b for every n. The margin is all of f = 1{X = x}, so it needs
Q of full row rank.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from anonymizer.kernels.arrays import Floats

__all__ = ["Side", "weights_for"]

ESTIMABLE = 1e-7
"""How far Q b may be from f, as a share of half the range of f, which bounds the bias. No inverse
whose standard errors are of any use is off by so much through rounding."""

ROUNDING = 1e-13
"""A variance within a record that is this small beside the mean square is 0."""


@final
@dataclass(frozen=True, eq=False)
class Side:
    """One attribute of a released table: how it was masked, and what is asked about it.

    Parameters
    ----------
    matrix
        q(y|x), shape (n, k).
    targets
        f(x), shape (n, g): one column for every number that is to be estimated.
    """

    matrix: Floats
    targets: Floats

    @cached_property
    def weights(self) -> Floats | None:
        """B with Q B = F, shape (k, g); None where some f is not estimable."""
        return weights_for(self.matrix, self.targets)

    @cached_property
    def inverse(self) -> Floats | None:
        """B with Q B = 1, shape (k, n); None where the margin is not estimable."""
        identity = np.eye(len(self.matrix))
        if np.array_equal(self.targets, identity):
            return self.weights
        return weights_for(self.matrix, identity)

    @cached_property
    def squares(self) -> Floats:
        """E[b(Y)^2 | x], shape (n, g)."""
        return np.asarray(self.matrix @ self.solution**2)

    @cached_property
    def variances(self) -> Floats:
        """Var[b(Y) | x] = E[b(Y)^2 | x] - f(x)^2, shape (n, g)."""
        found = self.squares - self.targets**2
        return np.where(found > ROUNDING * self.squares, found, 0.0)

    @property
    def solution(self) -> Floats:
        """The weights, for who has made sure that there are some."""
        if self.weights is None:
            raise ValueError("there are no weights")
        return self.weights


def weights_for(matrix: Floats, targets: Floats) -> Floats | None:
    """Solve Q B = F, shape (k, g); None where there is no solution.

    Of many solutions (more labels than values) that of the least sum_y w(y) b(y)^2, w the mean row
    of Q: of least variance where all values are equally frequent. Constants come out as constants,
    1'b w <= b'b w for w = mean row, so that estimates add up to the number of records; and labels
    that are released alike weigh alike.
    """
    frequency = matrix.mean(axis=0)
    released = np.flatnonzero(frequency > 0)
    root = np.sqrt(frequency[released])
    low, high = targets.min(axis=0), targets.max(axis=0)
    middle, reach = (low + high) / 2, (high - low) / 2
    unit = (targets - middle) / np.where(reach > 0, reach, 1.0)
    solved = np.linalg.lstsq(matrix[:, released] / root, unit, rcond=None)[0]
    weights = np.zeros((matrix.shape[1], targets.shape[1]))
    weights[released] = solved / root[:, None]
    if np.abs(matrix @ weights - unit).max(initial=0.0) > ESTIMABLE:
        return None
    return np.asarray(weights * reach + middle)
