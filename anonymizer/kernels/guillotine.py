"""The best guillotine tree over all boxes of a grid.

A box is one shape per axis: a run or a set of the axis's blocks. Shapes are numbered so that the
parts of a shape come before it, boxes by their shapes as digits, the last axis fastest; the parts
of a box then come before it, too.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Columns, Floats, Ints, Mask
from anonymizer.kernels.native import call
from anonymizer.kernels.single import Criteria, Room


class Shapes(NamedTuple):
    """The shapes of all axes, one axis after the other.

    Attributes
    ----------
    numbers
        How many shapes each axis has, shape (axes,).
    blocks
        How many blocks, shape (axes,).
    base
        Where the shapes of each axis begin, shape (axes,).
    block
        The block of a shape that is a single one, -1 for others, shape (shapes,).
    allowed
        Whether a class may have the shape, shape (shapes,).
    first
        Where the splits of each shape begin, shape (shapes + 1,).
    left, right
        The parts of each split, numbered within their axis, shape (splits,).
    summed
        Two parts that make up the shape, allowed or not, shape (shapes, 2).
    runs
        Of so many blocks an axis has all runs, before its other shapes: by length, then by start;
        0 where it has not, shape (axes,).
    """

    numbers: Ints
    blocks: Ints
    base: Ints
    block: Ints
    allowed: Mask
    first: Ints
    left: Ints
    right: Ints
    summed: Ints
    runs: Ints


def spread(table: Columns, shapes: Shapes) -> Columns:
    """The table summed over every shape of its first axis, shape (shapes of the axis, rest)."""
    width = table[0].size
    into = np.empty((int(shapes.numbers[0]), width), np.int64)
    call("spread_shapes", table, into, width, shapes)
    return into


def evaluate(
    tables: Columns, begin: int, columns: int, shapes: Shapes, required: Criteria, found: Floats
) -> None:
    """Fill in the worth of every box of some shapes of the first axis.

    ``tables`` holds what ``spread`` made of these shapes, the first of which is ``begin``; -inf
    stands for a box that breaks a bound, 0 for one without records. There must be two axes or more.
    """
    widths = np.cumprod([columns, *shapes.blocks[:0:-1]])[::-1].astype(np.int64)
    rooms = shapes.numbers * widths
    rooms[[0, -1]] = 0
    starts = np.concatenate([[0], np.cumsum(rooms)[:-1]]).astype(np.int64)
    layers = np.empty(int(rooms.sum()), np.int64), starts, np.ascontiguousarray(widths)
    room = Room.of(np.empty((int(shapes.numbers[-1]), columns), np.int64))
    digits = np.zeros(len(widths), np.int64)
    call("evaluate_boxes", tables, begin, layers, digits, shapes, required.packed, room, found)


def best_trees(values: Floats, limit: float, strides: Sequence[int], shapes: Shapes) -> None:
    """Replace the worth of every box by that of the best tree that divides it.

    ``limit`` is what no tree is worth more than; a box worth that much is not divided.
    """
    digits = np.zeros(len(strides), np.int64)
    call("divide_boxes", values, float(limit), np.array(strides, np.int64), shapes, digits)
