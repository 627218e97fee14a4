"""Intervals of an order: the best partition, that of two orders together, and what tiles are worth.

A tile is an interval of one order, a row, by one of another, a column.
"""

from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Codes, Floats, Ints, Places
from anonymizer.kernels.frequency import Histograms
from anonymizer.kernels.native import call
from anonymizer.kernels.single import Criteria

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


class WalkLimits(NamedTuple):
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
    rows: Steps, columns: Steps, tiles: Floats, limits: WalkLimits
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


class Sorted(NamedTuple):
    """Classes by combination of whatever the orders are not of, then by row and column.

    Attributes
    ----------
    first
        Where the classes of each combination begin, and where all end, shape (combinations + 1,).
    rows, columns
        The block of each class in both orders, shape (classes,).
    sizes
        Records, shape (classes,).
    starts, places, numbers
        The values that occur in each class: see ``Histograms``.
    """

    first: Ints
    rows: Ints
    columns: Ints
    sizes: Ints
    starts: Ints
    places: Places
    numbers: Ints

    @classmethod
    def of(
        cls, histograms: Histograms, combination: Codes, rows: Codes, columns: Codes
    ) -> "Sorted":
        """Sort classes whose values that occur are listed."""
        order = np.lexsort((columns, rows, combination))
        listed = histograms.select(order)
        number = int(combination.max(initial=-1)) + 1
        first = np.searchsorted(combination[order], np.arange(number + 1))
        of_row, of_column = (np.asarray(each[order], np.int64) for each in (rows, columns))
        numbers = listed.numbers.astype(np.int64)
        sizes = listed.sizes.astype(np.int64)
        first = first.astype(np.int64)
        entries = listed.starts, listed.places, numbers
        return cls(first, of_row, of_column, sizes, *entries)


Intervals = tuple[Codes, Codes]
"""The first block of each interval, and the one after its last."""


def judged(
    classes: Sorted, rows: Intervals, columns: Intervals, required: Criteria
) -> tuple[Floats, Ints, Ints]:
    """Judge every tile; shape (rows, columns) each.

    Returns what the classes inside it are worth, acceptable or not, how many these are, and how
    many of them break a bound. Classes that merge into one in a tile are those of a combination.
    Time is that of the values that occur in the classes of all tiles.
    """
    shape = len(rows[0]), len(columns[0])
    gains, many, broken = np.zeros(shape), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    sums = np.empty(required.laid.rows.shape[2] + 1, np.int64)
    ends = tuple(np.ascontiguousarray(each, np.int64) for each in (*rows, *columns))
    call("judge_tiles", classes, ends, required.packed, sums, gains, many, broken)
    return gains, many, broken
