"""What an analyst does with a release and the channel it was drawn by: true counts, estimated.

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

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.channel import Channel, require_channel
from anonymizer.channels.estimation.likelihood import (
    Likelihood,
    between,
    counts_of,
    maximum_likelihood,
)
from anonymizer.channels.estimation.unbiased import Side, covariance_of, released_margin, unbiased
from anonymizer.channels.validation import numbers_of
from anonymizer.errors import InputError, require_one_of, shown
from anonymizer.hierarchy import Partition
from anonymizer.kernels.arrays import Floats

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
        """How many estimates are negative: the noise of the channel is larger than these shares."""
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
    """Of a margin where there are no others, of a table otherwise."""
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
