"""Merging cells into classes: agglomeration, then moves from class to class.

A class is a row of counts as frequency sets have them, in 64 bits. The random numbers are the
kernels' own (splitmix64): the same everywhere, whatever else runs.
"""

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.kernels.native import call
from anonymizer.kernels.single import Criteria

Random = NDArray[np.uint64]
"""The state of random numbers, shape (1,)."""


def agglomerate(classes: Ints, into: Ints, required: Criteria, state: Random, noise: float) -> None:
    """Merge classes until all are acceptable or one is left.

    Again and again the class that is furthest beyond its bounds, by record, is merged with the one
    that costs least worth for the excess that it takes off. ``into`` is to hold the rows' own
    numbers and then tells what each is merged into; the last row of ``classes`` is room.
    """
    call("agglomerate_classes", classes, into, required.packed, _sums(classes), state, noise)


def join_cheapest(classes: Ints, into: Ints, required: Criteria, most: int) -> None:
    """Merge the two classes of least cost until ``most`` are left, acceptable or not.

    Rows as in ``agglomerate``.
    """
    call("join_cheapest_classes", classes, into, required.packed, _sums(classes), most)


def anneal(
    cells: Ints,
    labels: Ints,
    classes: Ints,
    worths: Floats,
    required: Criteria,
    state: Random,
    steps: int,
    temperature: float,
) -> None:
    """Simulated annealing by moves and swaps of random cells between acceptable classes.

    Each step takes two random cells and moves the first to the class of the second, or swaps
    them. A step that no class breaks a bound after is taken when it loses nothing, otherwise by
    chance, exp(-loss / temperature).
    """
    moved = cells, labels, classes, worths
    within = required.packed, _sums(classes), state
    call("anneal_classes", moved, within, steps, float(temperature))


def _sums(classes: Ints) -> Ints:
    return np.empty(classes.shape[1] + 1, np.int64)
