"""Noise of normal law on a grid: optimal noise as a channel between finite alphabets."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from anonymizer.channels.validation import number_of, require_room, vector_of
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats

__all__ = ["gaussian_channel"]


def gaussian_channel(
    values: ArrayLike, grid: ArrayLike, mean: float, variance: float, share: float
) -> Floats:
    """q(y|x): the chance that N((1 - d) x + d mean, d (1 - d) variance) is nearest to each y.

    Parameters
    ----------
    values
        True values x, shape (n,).
    grid
        What may be released, shape (k,), no two the same; a cell reaches half way to its
        neighbours, and the extreme ones to infinity.
    mean, variance
        Of X.
    share
        d, from 0, the nearest of the grid, to 1, the cell of the mean for everybody. Half way
        between two, the higher.

    Returns
    -------
    array of shape (n, k)
        Rows sum to 1.

    Raises
    ------
    InputError
        When a number is outside its range, or the grid holds a value twice.
    """
    x, points = vector_of("values", values), vector_of("grid", grid)
    center = number_of("mean", mean)
    d = number_of("share", share, least=0.0, most=1.0)
    deviation = float(np.sqrt(d * (1 - d) * number_of("variance", variance, above=0)))
    require_room("the channel", *[(len(x), len(points))] * 4)
    order = np.argsort(points)
    if (np.diff(points[order]) == 0).any():
        raise InputError("grid holds a value twice")
    edges = points[order][:-1] + np.diff(points[order]) / 2
    at = (1 - d) * x + d * center
    sorted_ = np.zeros((len(x), len(points)))
    if deviation:
        sorted_[:] = _cells((edges - at[:, None]) / deviation)
    else:
        sorted_[np.arange(len(x)), np.searchsorted(edges, at, side="right")] = 1.0
    channel = np.empty_like(sorted_)
    channel[:, order] = sorted_
    return channel


def _cells(edges: Floats) -> Floats:
    """What a standard normal law has between edges, shape (n, k - 1), with both tails.

    Beyond 0 both ends are taken from the other tail, whose small numbers keep their digits.
    """
    wide = np.pad(edges, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    low, high = wide[:, :-1], wide[:, 1:]
    flipped = low > 0
    cells = ndtr(np.where(flipped, -low, high)) - ndtr(np.where(flipped, -high, low))
    cells = np.maximum(cells, 0.0)
    cells = cells / cells.sum(axis=1, keepdims=True)
    rows, largest = np.arange(len(cells)), cells.argmax(axis=1)
    cells[rows, largest] += 1 - cells.sum(axis=1)
    return np.asarray(cells)
