"""n log n and what stands for it in estimates of entropy: the terms that the loops sum, in bits."""

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.kernels.arrays import Floats

MILLER_MADOW = 1 / (2 * np.log(2))
"""Bits that the correction of Miller and Madow adds to n H for every value beyond the first."""


SERIES_FROM = 512
"""Half the count from which on a series gives Grassberger's G to the last bit."""


def xlogx(x: ArrayLike) -> Floats:
    """X log2 x, with 0 log 0 = 0.

    >>> xlogx([0, 1, 4]).tolist()
    [0.0, 0.0, 8.0]
    """
    x = np.asarray(x, float)
    return np.asarray(x * np.log2(x, out=np.zeros_like(x), where=x > 0))


def grassberger(counts: ArrayLike) -> Floats:
    """N G(n) in bits, what stands for n log n in Grassberger's estimate; 0 where n is.

    G_1 = -gamma - ln 2, G_2j = 2 - gamma - ln 2 + 2/3 + ... + 2/(2j - 1), G_2j+1 = G_2j, in nats;
    from ``SERIES_FROM`` on ln 2j + 1 / 24 j^2 - 7 / 960 j^4, which the sums of harmonic numbers
    come to.
    """
    counts = np.asarray(counts, float)
    half = counts // 2
    steps = np.concatenate([[0.0], np.cumsum(2 / np.arange(1, 2 * SERIES_FROM, 2))])
    known = steps[np.minimum(half, SERIES_FROM).astype(np.intp)] - np.euler_gamma - np.log(2)
    far = np.maximum(half, SERIES_FROM)
    series = np.log(2 * far) + 1 / (24 * far**2) - 7 / (960 * far**4)
    return np.asarray(counts * np.where(half < SERIES_FROM, known, series) / np.log(2))
