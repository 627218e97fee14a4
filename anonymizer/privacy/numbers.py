"""Numbers of records, as callers give them."""

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Ints

MOST = 2**53
"""Records below which floating point counts every one."""


def numbers_of_records(given: ArrayLike, dimensions: int) -> Ints:
    """Whole numbers from 0, not all of them 0: class sizes, or a count matrix.

    Raises InputError when they are not, have another number of dimensions, or come to ``MOST``.
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
    if numbers.sum() >= MOST:
        raise InputError(f"{MOST:,} records or more cannot be counted one by one")
    return numbers.astype(np.int64)
