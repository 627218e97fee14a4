"""Class sizes as callers give them, checked; and how many classes have each size.

Every estimator of uniqueness depends on the table through these few numbers only, so a million
classes are counted once and never looked at again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats, Ints

LEAST_FRACTION = 1e-12
"""One record of every million million: below it nothing can be estimated, and powers overflow."""

MOST_EXACT = 2**53
"""Records below which floating point counts every one."""

MOST_COUNTED = 1 << 16
"""Sizes up to which counting how often each occurs is quicker than sorting them."""


class Frequencies(NamedTuple):
    """Sizes that occur, ascending, and how many classes have each: f_j classes of size j.

    Both arrays are (sizes,), floats holding whole numbers.
    """

    sizes: Floats
    classes: Floats

    @property
    def records(self) -> float:
        """N = sum_j j f_j, the records of the sample."""
        # Summed, not by BLAS: its threads wait for each other on a machine that is busy.
        return float((self.sizes * self.classes).sum())

    @property
    def distinct(self) -> float:
        """U = sum_j f_j, the classes of the sample."""
        return float(self.classes.sum())

    def of_size(self, size: int) -> float:
        """f_j, the classes of one size."""
        return float(self.classes[self.sizes == size].sum())


def class_sizes(sizes: ArrayLike, what: str, *, keep_empty: bool = False) -> Floats:
    """Sizes (classes,) as floats, without empty classes unless these are to be kept.

    Raises InputError where they are not whole numbers of at least 0 along one axis.
    """
    given = np.asarray(sizes)
    if given.ndim != 1:
        raise InputError(f"{what}: class sizes must have one axis, not {given.ndim}")
    if given.dtype.kind not in "iu" and given.size:
        raise InputError(f"{what}: class sizes must be whole numbers, not {given.dtype}")
    if (given < 0).any():
        raise InputError(f"{what}: {int((given < 0).sum())} class sizes are below 0")
    counts = given.astype(float)
    return counts if keep_empty else counts[counts > 0]


def frequencies(sizes: ArrayLike, what: str) -> Frequencies:
    """Histogram of class sizes; errors as ``class_sizes``.

    >>> frequencies([3, 1, 0, 1], "table").classes.tolist()
    [2.0, 1.0]
    """
    counts = class_sizes(sizes, what)
    if counts.max(initial=0) > MOST_COUNTED:
        kinds, classes = np.unique(counts, return_counts=True)
        return Frequencies(kinds, classes.astype(float))
    of_size = np.bincount(counts.astype(np.intp))
    occurring = np.flatnonzero(of_size)
    return Frequencies(occurring.astype(float), of_size[occurring].astype(float))


def numbers_of_records(given: ArrayLike, dimensions: int) -> Ints:
    """Whole numbers from 0, not all of them 0: class sizes, or a count matrix.

    Raises InputError when they are not, have another number of dimensions, or come to
    ``MOST_EXACT``.
    """
    what = "class sizes, shape (classes,)" if dimensions == 1 else "shape (classes, values)"
    try:
        numbers = np.asarray(given, float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"expected records as whole numbers, {what}") from None
    if numbers.ndim != dimensions:
        raise InputError(f"expected records of {what}, not of {numbers.ndim} dimensions")
    whole = np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers))
    if not whole.all():
        raise InputError(
            f"numbers of records must be whole and not negative; {int((~whole).sum())} are not"
        )
    if not numbers.any():
        raise InputError("no records: there is nobody whose risk could be measured")
    if numbers.sum() >= MOST_EXACT:
        raise InputError(f"{MOST_EXACT:,} records or more cannot be counted one by one")
    return numbers.astype(np.int64)
