"""What was estimated from a release, and how sure that is."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.channels.estimation.likelihood import Likelihood
from anonymizer.kernels.arrays import Floats

__all__ = ["Estimate", "Mean"]

NOTHING = 1e-12
"""A share that is less below 0 is rounding."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """The shares that values have of the records before they were masked.

    About the records that were masked, not about a population that these were drawn from.

    Parameters
    ----------
    values
        What the rows are about.
    others
        What the columns are about; None for a margin, which has no columns.
    shares
        Estimates of shares, shape (values,) or (values, others). They add up to 1; unbiased ones
        may be negative, and would no longer be unbiased if they were cut off.
    standard_errors
        Of the shares, same shape, where records were drawn independently of each other; None where
        there are none: a maximum-likelihood estimate may lie at the border.
    covariance
        Of the shares of a margin, shape (values, values); None elsewhere.
    upper
        Whether variances are upper bounds: they depend on a margin that is not estimable.
    records
        How many records were released.
    method
        ``"unbiased"``, ``"maximum-likelihood"`` or ``"invariant"``.
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

    Parameters
    ----------
    value
        Unbiased.
    standard_error
        Where records were drawn independently of each other.
    upper
        Whether the standard error is an upper bound.
    """

    value: float
    standard_error: float
    upper: bool
