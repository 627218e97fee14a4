"""Estimates of true counts from a release and the channel it was drawn by: the analyst's side.

Of n(x) records with the value x, drawn by q(y|x), T(y) are released as y: E T = Q' n. Whatever
solves Q b = f makes b'T an unbiased estimate of sum_x f(x) n(x), and where nothing does there is no
linear unbiased one: E b'T = n'Q b for every n. The margin is all of f = 1{X = x}, so it needs
Q of full row rank.

Standard errors are of independent draws, record by record. Where the records of a value were drawn
systematically (the numbers of its labels are what is expected, rounded up or down at random) the
count of every label varies no more than that: of n q = i + r records, 0 <= r < 1, it has variance
r (1 - r) against n q (1 - q), and r (1 - r) <= n q (1 - q), since for i = 0 it is
n q (1 - n q), for i + 1 = n the same with 1 - q, and else at most 1/4 < 1/2 <= n q (1 - q).
An estimate is a weighted sum of them, b'T. Its variance stays below (sum |b(y) - b(y')|)^2 / 4 for
every value, neighbours y, y' in the order of drawing, however many records have that value, while
that of independent draws grows with them. For values of few records it can nevertheless be
larger than that of independent draws, by up to their number, if weights alternate along the labels:
with q uniform on 4 labels and b = (1, -1, 1, -1) two records have variance 4, against 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.channel import Channel, require_channel
from anonymizer.channels.likelihood import (
    Likelihood,
    between,
    counts_of,
    maximum_likelihood,
)
from anonymizer.channels.validation import numbers_of
from anonymizer.errors import InputError, require_one_of, shown
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
    def of(cls, channel: Channel, groups: Partition | None) -> Side:
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
    """Project estimated counts n(x, z) on the nearest that are not negative, shape (n, m).

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
    """Covariance of estimated counts of a margin, shape (g, g)."""
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
    gives what to subtract from all of them (Held, Wolfe and Crowder, 1974).
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


METHODS = ("unbiased", "maximum-likelihood", "invariant")
"""How margins are estimated; tables by the first two."""

NOTHING = 1e-12
"""A share that is less below 0 is rounding."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """The shares that values have of the records before they were masked.

    About the records that were masked, not about a population that these were drawn from.

    Parameters
    ----------
    values, others
        What the rows and the columns are about; None for a margin, which has no columns.
    shares
        Shape (values,) or (values, others). They add up to 1; unbiased ones may be negative, and
        would no longer be unbiased if they were cut off.
    standard_errors, covariance
        Of the shares, same shape, where records were drawn independently of each other, and of a
        margin, shape (values, values). None where there are none: a maximum-likelihood estimate may
        lie at the border.
    upper
        Whether variances are upper bounds: they depend on a margin that is not estimable.
    records, method
        How many were released, and one of ``METHODS``.
    identified
        Whether the channels tell all values apart. If not, a maximum-likelihood estimate is one of
        many that the release speaks for equally.
    likelihood
        How the maximum was found; None for other methods.
    """

    values: tuple[Hashable, ...]
    others: tuple[Hashable, ...] | None
    shares: Floats
    standard_errors: Floats | None
    covariance: Floats | None
    upper: bool
    records: int
    method: str
    identified: bool
    likelihood: Likelihood | None = None

    @property
    def counts(self) -> Floats:
        """Estimates of how many records have each value, same shape as ``shares``."""
        return np.asarray(self.shares * self.records)

    @cached_property
    def negative(self) -> int:
        """Number of negative estimates: the noise of the channel is larger than these shares."""
        return int((self.shares < -NOTHING).sum())


@dataclass(frozen=True)
class Mean:
    """The estimate of the mean of f(X) over the records, before they were masked.

    The value is unbiased; the standard error is of records drawn independently of each other, or,
    with ``upper``, an upper bound.
    """

    value: float
    standard_error: float
    upper: bool


def estimate_margin(
    channel: Channel,
    counts: ArrayLike,
    *,
    groups: Partition | None = None,
    method: str = "unbiased",
) -> Estimate:
    """The shares p(x) of true values, from the counts T of released ones.

    ``"unbiased"``: p = B'T / N with Q B = 1, the inverse or, where there are more labels than
    values, weighted least squares. Given the records it has the covariance

        B' [ sum_x p(x) (diag q(.|x) - q(.|x) q(.|x)') ] B / N,

    in which p is the estimate, moved to the nearest distribution (PRAM: Gouweleeuw, Kooiman,
    Willenborg and de Wolf, 1998). ``"maximum-likelihood"``: see :func:`maximum_likelihood`, which
    also answers where the channel does not tell all values apart. ``"invariant"``: the released
    margin itself, unbiased for a channel that leaves the true margin as it is, p Q = p.

    Parameters
    ----------
    channel, counts
        q(y|x), and T, how many records were released with each label, shape (k,).
    groups
        What to sum values by, such as one attribute of several that were masked together; by
        default all values are distinguished. Sums may be estimable where single values are not.
    method
        One of ``METHODS``.

    Returns
    -------
    Estimate
        Shares of the values or groups, shape (groups,), with standard errors.

    Raises
    ------
    InputError
        When the counts do not fit the channel, when it does not tell apart what is to be estimated,
        or when a channel is called invariant that the released margin shows not to be.
    """
    require_one_of("method", method, METHODS)
    table = counts_of(counts, channel)
    if table.shape[1] != 1 or np.asarray(counts).ndim != 1:
        raise InputError("counts of a margin must be a list; estimate_table is for tables")
    return _estimate(table, Side.of(channel, groups), None, None, method)


def estimate_table(
    channel: Channel,
    counts: ArrayLike,
    other: Channel | None = None,
    *,
    groups: Partition | None = None,
    other_groups: Partition | None = None,
    method: str = "unbiased",
    columns: Sequence[Hashable] = (),
) -> Estimate:
    """The shares p(x, z) of pairs of true values, from the counts T of pairs of released ones.

    Unbiased: B'T C / N with Q B = 1, and R C = 1 for the channel R of the other attribute, drawn
    independently of the first one given the true values; C = 1 where that was released as it is.
    The variance of a cell, given the records, is (1/N) times

        sum_xz p(x, z) (E[b(Y)^2|x] E[c(V)^2|z] - 1{x, z is the cell}).

    Parameters
    ----------
    channel, other
        Of the attributes that rows and columns are about; None for columns released as they are.
    counts
        T, how many records were released with each pair of labels, shape (k, m).
    groups, other_groups
        What to sum values by.
    method
        ``"unbiased"`` or ``"maximum-likelihood"``. There is no ``"invariant"``: a channel may leave
        a margin alone, but never a table of an attribute with another one.
    columns
        Names of columns released as they are; by default they are numbered.

    Returns
    -------
    Estimate
        Shares of the pairs, shape (groups, other groups), with standard errors.

    Raises
    ------
    InputError
        When the counts do not fit the channels, or these do not tell apart what is to be estimated.
    """
    require_one_of("method", method, METHODS[:2])
    if other is None and other_groups is not None:
        raise InputError("other_groups is about values of another channel, but there is none")
    table = counts_of(counts, channel, other)
    if np.ndim(counts) != 2:
        raise InputError("counts of a table must be a matrix; estimate_margin is for margins")
    if not isinstance(columns, Sequence):
        raise InputError(f"columns must be a list of names, not {shown(columns)}")
    names = tuple(columns) or tuple(range(table.shape[1]))
    if other is None and len(names) != table.shape[1]:
        raise InputError(f"columns has {len(names)} names, but counts {table.shape[1]} columns")
    one, two = Side.of(channel, groups), None if other is None else Side.of(other, other_groups)
    return _estimate(table, one, two, names if two is None else two.labels, method)


def estimate_mean(channel: Channel, f: ArrayLike, counts: ArrayLike) -> Mean:
    """The mean of f(X) over the records, sum_x f(x) p(x): of numbers, or of 0 and 1 a share.

    b'T / N with Q b = f: estimable exactly where f is in the range of Q, which may be so where the
    margin is not. Then its variance is at most (1/N) (sum_y T(y)/N b(y)^2 - mean^2), in which
    E[f(X)^2] >= E[f(X)]^2 was used: that is what is reported, as an upper bound.

    Parameters
    ----------
    channel, f
        q(y|x), and a number for every value, shape (n,).
    counts
        T, how many records were released with each label, shape (k,).

    Returns
    -------
    Mean
        The estimate, in the unit of f, with its standard error.

    Raises
    ------
    InputError
        When counts or numbers do not fit the channel, or the mean is not estimable.
    """
    require_channel("channel", channel)
    numbers = numbers_of("f", f, kinds="biuf")
    if numbers.shape != (len(channel.values),):
        raise InputError(f"f must hold one number for each of {len(channel.values)} values")
    table = counts_of(counts, channel)
    if np.ndim(counts) != 1:
        raise InputError("counts of a mean must be a list, one number for every label")
    middle = (float(numbers.min()) + float(numbers.max())) / 2
    side = Side(channel, numbers[:, None] - middle)
    if side.weights is None:
        raise InputError(
            f"this mean cannot be estimated without bias: the channel, of rank {channel.rank} for "
            f"{len(channel.values)} values, does not tell apart values that f differs for; take a "
            "maximum-likelihood estimate of the margin, or release with an invariant channel"
        )
    total, variance, upper = unbiased(table, side, None)
    records = table.sum()
    error = np.sqrt(variance[0, 0]) / records
    return Mean(float(middle + total[0, 0] / records), float(error), upper)


def _estimate(
    table: Floats, one: Side, two: Side | None, others: tuple[Hashable, ...] | None, method: str
) -> Estimate:
    """Estimate a margin where there are no others, a table otherwise."""
    records = table.sum()
    likelihood = covariance = errors = None
    upper = False
    if method == "invariant":
        margin, noise = released_margin(one.channel, table[:, 0])
        shares, covariance = one.targets.T @ margin[:, None], one.targets.T @ noise @ one.targets
        errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))[:, None]
    elif method == "maximum-likelihood":
        likelihood = maximum_likelihood(one.channel, table, two and two.channel)
        shares = between(one.targets, likelihood.shares, two and two.targets)
    else:
        total, variance, upper = unbiased(table, one, two)
        shares, errors = total / records, np.sqrt(variance) / records
        if others is None:
            covariance = covariance_of(table, total, variance, one) / records**2
    if others is None:
        shares, errors = shares[:, 0], None if errors is None else errors[:, 0]
    return Estimate(
        values=one.labels,
        others=others,
        shares=shares,
        standard_errors=errors,
        covariance=covariance,
        upper=upper,
        records=int(records),
        method=method,
        identified=one.inverse is not None and (two is None or two.inverse is not None),
        likelihood=likelihood,
    )
