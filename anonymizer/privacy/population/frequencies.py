"""Frequencies of frequencies: how many classes have each size; and the checks of what is stated.

Every estimator of uniqueness depends on the table through these few numbers only, so a million
classes are counted once and never looked at again.
"""

from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonymizer.errors import InputError

__all__ = ["Frequencies", "class_sizes", "frequencies", "is_number", "require_fraction"]

Floats = NDArray[np.float64]

# One record of every million million: below it nothing can be said, and powers overflow.
LEAST_FRACTION = 1e-12

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
    """Sizes (classes,) as floats, without classes that have no records unless asked to keep them.

    Raises
    ------
    InputError
        Where they are not whole numbers of at least 0 along one axis.
    """
    stated = np.asarray(sizes)
    if stated.ndim != 1:
        raise InputError(f"{what}: class sizes must have one axis, not {stated.ndim}")
    if stated.dtype.kind not in "iu" and stated.size:
        raise InputError(f"{what}: class sizes must be whole numbers, not {stated.dtype}")
    if (stated < 0).any():
        raise InputError(f"{what}: {int((stated < 0).sum())} class sizes are below 0")
    counts = stated.astype(float)
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


def require_fraction(fraction: float, what: str) -> float:
    """Sampling fraction in [LEAST_FRACTION, 1], or an InputError."""
    if not is_number(fraction) or not LEAST_FRACTION <= fraction <= 1:
        raise InputError(
            f"{what}: fraction = {fraction!r} must be a number from {LEAST_FRACTION} to 1"
        )
    return float(fraction)


def is_number(value: object) -> bool:
    """Whether a value is a real number; a truth value is none."""
    return isinstance(value, Real) and not isinstance(value, bool)
