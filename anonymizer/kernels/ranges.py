"""Partitions of an order into intervals: the best of one order, and of two together."""

from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.kernels.native import call

ANY = -1
"""Stands for any number of intervals."""


class Steps(NamedTuple):
    """The intervals of an order, by their start and then by their end.

    Attributes
    ----------
    first
        Where the intervals begin that start at each block, and where all end, shape (blocks + 1,).
    ends
        The block at which each ends, shape (intervals,).
    most
        How many make a partition at the most, ``ANY`` where any number may.
    """

    first: Ints
    ends: Ints
    most: int

    @property
    def layers(self) -> int:
        """Length of the first axis of ``suffixes``."""
        return 1 if self.most == ANY else self.most + 1


def suffixes(steps: Steps, values: Floats) -> Floats:
    """The best sum over the intervals of a partition of the blocks from i on, for every i.

    ``values`` (intervals, n) are n valuations; the result has shape (layers, blocks + 1, n), where
    layer m is that of at most m intervals.
    """
    sums = np.empty((steps.layers, len(steps.first), values.shape[1]))
    call("sum_suffixes", steps, np.ascontiguousarray(values), sums)
    return sums


class Limits(NamedTuple):
    """What a walk looks for, and how long.

    Attributes
    ----------
    floor
        The worth that is to be exceeded.
    slack
        By how much the next one has to exceed what was found.
    together
        Prefixes that are extended together.
    most
        Prefixes after which the walk ends early.
    """

    floor: float
    slack: float
    together: int
    most: int


def walked(
    rows: Steps, columns: Steps, tiles: Floats, limits: Limits
) -> tuple[bool, tuple[int, ...] | None]:
    """Find the columns that are worth most next to the best rows for them, by branch and bound.

    ``tiles`` (columns + 1, rows + 1) are worths, those of missing values last. Returns whether the
    walk came to its end, and the columns; None where none exceed the floor. A prefix of columns has
    the bound that its tiles and the best suffix *for each row* give to the best rows; of equal
    bounds that of the earlier columns comes first.
    """
    path = np.full(len(columns.first), -1, np.int64)
    sums = suffixes(columns, tiles[:-1])
    ended = call("walk_columns", rows, columns, tiles, sums, limits, path) > 0
    found = path[path >= 0].tolist()
    return ended, tuple(found) or None
