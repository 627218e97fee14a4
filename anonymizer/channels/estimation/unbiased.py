"""Weights that turn released counts into unbiased estimates of true ones.

Of n(x) records with the value x, drawn by q(y|x), T(y) are released as y: E T = Q' n. Whatever
solves Q b = f makes b'T an unbiased estimate of sum_x f(x) n(x), and where nothing does there is no
linear unbiased one: E b'T = n'Q b for every n. The margin is all of f = 1{X = x}, so it needs
Q of full row rank.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from anonymizer.channels.channel import Channel
from anonymizer.channels.estimation.likelihood import between
from anonymizer.errors import InputError, shown
from anonymizer.hierarchy import Partition
from anonymizer.kernels.arrays import Floats

ESTIMABLE = 1e-7
"""How far Q b may be from f, as a share of half the range of f, which bounds the bias. No inverse
whose standard errors are of any use is off by so much through rounding."""

ROUNDING = 1e-13
"""A variance within a record that is this small compared with the mean square is 0."""

UNLIKELY = 20.0
"""What an invariant channel releases with a chance of e^-20 or less was not released by one."""


@final
@dataclass(frozen=True, eq=False)
class Side:
    """One attribute of a released table: its channel q(y|x), and targets f(x), shape (n, g)."""

    channel: Channel
    targets: Floats
    labels: tuple[Hashable, ...] = ()

    @classmethod
    def of(cls, channel: Channel, groups: Partition | None) -> "Side":
        """The targets 1{x is in g} of groups of values, by default of single values."""
        if groups is None:
            return cls(channel, np.eye(len(channel.values)), channel.values)
        if not isinstance(groups, Partition):
            raise InputError(f"groups must be a Partition of the values, not {shown(groups)}")
        if len(groups.groups) != len(channel.values):
            raise InputError(
                f"groups are of {len(groups.groups)} values, but the channel has "
                f"{len(channel.values)}"
            )
        return cls(channel, np.eye(len(groups))[groups.groups], groups.labels)

    @property
    def matrix(self) -> Floats:
        """q(y|x), shape (n, k)."""
        return self.channel.matrix

    @cached_property
    def weights(self) -> Floats | None:
        """B with Q B = F, shape (k, g); None where some f is not estimable."""
        return _weights(self.matrix, self.targets)

    @cached_property
    def inverse(self) -> Floats | None:
        """B with Q B = 1, shape (k, n); None where the margin is not estimable."""
        identity = np.eye(len(self.matrix))
        plain = np.array_equal(self.targets, identity)
        return self.weights if plain else _weights(self.matrix, identity)

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
        """The weights for all targets, which are refused where some is not estimable."""
        if self.weights is None:
            raise InputError(
                f"the channel, of rank {self.channel.rank} for {len(self.matrix)} values, does not "
                "tell all of them apart: nothing estimates these counts without bias; take method "
                "= 'maximum-likelihood', or release with an invariant channel"
            )
        return self.weights


def _weights(matrix: Floats, targets: Floats) -> Floats | None:
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


def unbiased(table: Floats, one: Side, two: Side | None) -> tuple[Floats, Floats, bool]:
    """Estimated counts, their variances, and whether these are upper bounds; shape (g, h) each."""
    total = between(one.solution, table, two and two.solution)  # refused if not estimable
    true = _nearest_table(table, one, two)
    if true is not None:
        variance = between(one.variances, true, two and two.squares)
        if two is not None:
            variance = variance + between(one.targets**2, true, two.variances)
        return total, variance, False
    squares = between(one.solution**2, table, two and two.solution**2)
    # Cauchy and Schwarz: records of a column released as it is are known, of others in all.
    known = np.maximum(table.sum(axis=0 if two is None else None), 1.0)
    return total, np.maximum(squares - total**2 / known, 0.0), True


def _nearest_table(table: Floats, one: Side, two: Side | None) -> Floats | None:
    """The counts n(x, z) nearest to those estimated that are none negative, shape (n, m).

    None where these are not estimable.
    """
    if one.inverse is None or (two is not None and two.inverse is None):
        return None
    estimated = between(one.inverse, table, two and two.inverse)
    if two is None:
        return _on_simplices(estimated, table.sum(axis=0))
    whole = _on_simplices(estimated.reshape(-1, 1), table.sum(keepdims=True)[0])
    return whole.reshape(estimated.shape)


def covariance_of(table: Floats, total: Floats, variance: Floats, side: Side) -> Floats:
    """Of estimated counts of a margin, shape (g, g)."""
    weights, true = side.solution, _nearest_table(table, side, None)
    if true is None:
        found = (weights * table).T @ weights - total @ total.T / table.sum()
    else:
        found = (weights * (side.matrix.T @ true)).T @ weights
        found -= (side.targets * true).T @ side.targets
    np.fill_diagonal(found, variance[:, 0])
    return np.asarray(found)


def _on_simplices(columns: Floats, sums: Floats) -> Floats:
    """The nearest columns that are none negative and have these sums, same shape.

    Sorted downwards, v(1) >= v(2) >= ..., the largest j with v(j) > (v(1) + ... + v(j) - sum) / j
    tells what to subtract from all of them (Held, Wolfe and Crowder, 1974).
    """
    ordered = -np.sort(-columns, axis=0)
    excess = (ordered.cumsum(axis=0) - sums) / np.arange(1, len(columns) + 1)[:, None]
    last = np.maximum((ordered > excess).sum(axis=0) - 1, 0)
    return np.asarray(np.maximum(columns - excess[last, np.arange(columns.shape[1])], 0.0))


def released_margin(channel: Channel, counts: Floats) -> tuple[Floats, Floats]:
    """The released shares t in the order of the values, (n,), and their covariance, (n, n).

    E t = p Q = p, and Cov t = (diag p - Q' diag(p) Q) / N with t for p. That the channel leaves the
    true margin alone cannot be proven by a release, but it can be refuted: (Q' - 1) t, of mean 0,
    is held against Bernstein's inequality.
    """
    place = {label: code for code, label in enumerate(channel.labels)}
    if set(place) != set(channel.values):
        raise InputError("an invariant channel has the same labels as values; this one has not")
    order = [place[value] for value in channel.values]
    matrix, released = channel.matrix[:, order], counts[order]
    covariance = np.diag(matrix.T @ released) - (matrix.T * released) @ matrix
    change = matrix - np.eye(len(matrix))
    noise = np.sqrt(np.maximum(np.einsum("yx,yz,zx->x", change, covariance, change), 0.0))
    # A record changes each of these sums by 2 at the most.
    if (np.abs(change.T @ released) > np.sqrt(2 * UNLIKELY) * noise + 4 / 3 * UNLIKELY).any():
        raise InputError(
            "the channel is not invariant for this release: it would have changed the margin that "
            "was released; take method = 'unbiased' or 'maximum-likelihood'"
        )
    records = counts.sum()
    return released / records, covariance / records**2
