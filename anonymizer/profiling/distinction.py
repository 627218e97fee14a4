"""How well columns distinguish records, by the sizes of the classes of equal values.

Motwani and Xu, "Efficient algorithms for masking and finding quasi-identifiers" (2007).
"""

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.kernels.arrays import Ints
from anonymizer.privacy.population.frequencies import numbers_of_records

MOST_SQUARED = 2**31
"""Records up to which pairs are counted in 64 bits."""

IDENTIFYING = 0.9
"""Distinction from which on nearly every record has a value of its own."""

SINGLED_OUT = 0.01
"""Share of records that an attribute may leave alone with the quasi-identifiers: a convention."""


def distinction(sizes: ArrayLike, times: Ints | None = None) -> float:
    """T / N: the share of records that stay when each class keeps a single one.

    The columns are a key of the records that stay (Motwani and Xu 2007: an alpha-distinct
    quasi-identifier is a key once a share of 1 - alpha is removed). Fewer records may be alone in
    their class: see ``share_alone``.

    Parameters
    ----------
    sizes
        Records of each class, shape (classes,); empty classes are ignored.
    times
        The number of classes of each size, shape (classes,); None: each is one class.

    Returns
    -------
    float
        In (0, 1].

    Examples
    --------
    >>> distinction([2, 2, 1])
    0.6
    >>> distinction([2, 1], np.array([2, 1]))
    0.6
    """
    records, classes = _records(sizes, times)
    return int(classes.sum()) / int((records * classes).sum())


def separation(sizes: ArrayLike, times: Ints | None = None) -> float:
    """1 - sum n_y (n_y - 1) / (N (N - 1)): the share of pairs of records that differ.

    Pairs are counted as whole numbers and divided once, so that up to 1e8 records 1.0 means every
    pair. It is near 1 for almost any column, as two random records seldom agree.

    Parameters
    ----------
    sizes, times
        As of ``distinction``.

    Returns
    -------
    float
        In [0, 1]; 1 for a single record.

    Examples
    --------
    >>> separation([2, 2, 1])
    0.8
    """
    records, classes = _records(sizes, times)
    total = int((records * classes).sum())
    if total == 1:
        return 1.0
    inside = int((records * (records - 1) * classes).sum())
    return (total * (total - 1) - inside) / (total * (total - 1))


def share_alone(sizes: ArrayLike, times: Ints | None = None) -> float:
    """Records that are alone in their class, by records, in [0, 1]; at most ``distinction``.

    ``sizes`` (classes,); empty classes are ignored.

    >>> share_alone([2, 2, 1])
    0.2
    """
    records, classes = _records(sizes, times)
    return int(classes[records == 1].sum()) / int((records * classes).sum())


def _records(sizes: ArrayLike, times: Ints | None) -> tuple[np.ndarray, np.ndarray]:
    """Return sizes of non-empty classes, as numbers whose squares are exact, and their number.

    Each is one class where there are no ``times``.
    """
    records = numbers_of_records(sizes, 1)
    classes = (np.ones_like(records) if times is None else times)[records > 0]
    records = records[records > 0]
    if int((records * classes).sum()) < MOST_SQUARED:
        return records, classes
    return records.astype(object), classes.astype(object)
