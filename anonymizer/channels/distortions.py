"""Distortions d(x, y): what it costs to release y for x."""

from collections.abc import Sequence, Sized

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.validation import numbers_of
from anonymizer.errors import InputError, shown
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels.arrays import Floats


def squared(x: ArrayLike, y: ArrayLike | None = None) -> Floats:
    """(x - y)^2, shape (n, k), in the square of the unit of x; y is x unless given.

    >>> squared([1, 3]).tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """
    return np.asarray(_difference(x, y) ** 2)


def absolute(x: ArrayLike, y: ArrayLike | None = None) -> Floats:
    """|x - y|, shape (n, k), in the unit of x.

    >>> absolute([1, 3], [2]).tolist()
    [[1.0], [1.0]]
    """
    return np.abs(_difference(x, y))


def hamming(x: Sequence[object], y: Sequence[object] | None = None) -> Floats:
    """1 where x and y differ, 0 where they are the same, shape (n, k).

    >>> hamming(["a", "b"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    others = x if y is None else y
    if not (isinstance(x, Sized) and isinstance(others, Sized)):
        raise InputError("hamming distortion needs lists of values")
    return np.array([[float(left != right) for right in others] for left in x])


def hierarchical(taxonomy: Taxonomy) -> Floats:
    """Levels to the common ancestor of two values, shape (values, values); 0 for the same value.

    The height of the hierarchy for values that meet in ``*`` alone.
    """
    if not isinstance(taxonomy, Taxonomy):
        raise InputError(f"hierarchical distortion needs a Taxonomy, not {shown(taxonomy)}")
    apart = [level.groups[:, None] != level.groups[None] for level in taxonomy.levels]
    return np.asarray(np.sum(apart, axis=0, dtype=float))


def _difference(x: ArrayLike, y: ArrayLike | None) -> Floats:
    form = "be numbers for squared and absolute distortion (or use hamming)"
    left, right = (numbers_of("values", side, form) for side in (x, x if y is None else y))
    if left.ndim != 1 or right.ndim != 1:
        raise InputError("squared and absolute distortion need a list of numbers")
    return np.asarray(left[:, None] - right[None])
