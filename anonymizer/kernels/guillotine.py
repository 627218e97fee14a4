"""The best guillotine tree over all boxes of a grid, in machine code.

A box is one shape per axis: a run or a set of the axis's blocks. Shapes are numbered so that the
parts of a shape come before it, boxes by their shapes as digits, the last axis fastest; the parts
of a box then come before it, too. A change here needs what ``single`` says.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Columns, Floats, Ints, Mask
from anonymizer.kernels.machine import in_machine_code, within_machine_code
from anonymizer.kernels.single import Criteria, Room, judge

TIE = 1e-12
"""What a split must gain at least: rounding alone is no gain."""


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


@within_machine_code
def _sum_up(
    source: Columns, begin: int, into: Columns, start: int, width: int, axis: int, shapes: Shapes
) -> None:
    """The sums over every shape of an axis, of ``width`` numbers each."""
    base = shapes.base[axis]
    for shape in range(shapes.numbers[axis]):
        place = start + shape * width
        block = shapes.block[base + shape]
        if block >= 0:
            for i in range(width):
                into[place + i] = source[begin + block * width + i]
        else:
            one = start + shapes.summed[base + shape, 0] * width
            other = start + shapes.summed[base + shape, 1] * width
            for i in range(width):
                into[place + i] = into[one + i] + into[other + i]


@in_machine_code
def _spread(table: Columns, into: Columns, width: int, shapes: Shapes) -> None:
    _sum_up(table, 0, into, 0, width, 0, shapes)


def spread(table: Columns, shapes: Shapes) -> Columns:
    """The table summed over every shape of its first axis, shape (shapes of the axis, rest)."""
    width = table[0].size
    into = np.empty(int(shapes.numbers[0]) * width, table.dtype)
    _spread(table.reshape(-1), into, width, shapes)
    return into.reshape(-1, width)


@in_machine_code
def _evaluate(  # noqa: C901 (one loop over as many axes as there are)
    tables: Columns,
    begin: int,
    rooms: Columns,
    starts: Ints,
    widths: Ints,
    shapes: Shapes,
    required: Criteria,
    room: Room,
    flat: Columns,
    digits: Ints,
    found: Floats,
) -> None:
    """The worth of every box of some shapes of the first axis."""
    axes = len(shapes.numbers)
    last = axes - 1
    place = 0
    for first in range(len(tables)):
        digits[:] = 0
        level = 1
        while level > 0:
            for axis in range(level, axes):
                source = tables[first] if axis == 1 else rooms
                begins = 0 if axis == 1 else starts[axis - 1] + digits[axis - 1] * widths[axis - 1]
                into = flat if axis == last else rooms
                start = 0 if axis == last else starts[axis]
                _sum_up(source, begins, into, start, widths[axis], axis, shapes)
            allowed = shapes.allowed[begin + first]
            for axis in range(1, last):
                allowed = allowed and shapes.allowed[shapes.base[axis] + digits[axis]]
            number = shapes.numbers[last]
            if allowed:
                judge(room, number, required)
            for shape in range(number):
                if allowed and shapes.allowed[shapes.base[last] + shape]:
                    found[place] = room.worths[shape]
                else:
                    found[place] = -np.inf
                place += 1
            level = last - 1
            while level > 0:
                digits[level] += 1
                if digits[level] < shapes.numbers[level]:
                    break
                digits[level] = 0
                level -= 1
            if level > 0:
                level += 1


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
    rows = np.empty((int(shapes.numbers[-1]), columns), tables.dtype)
    _evaluate(
        tables,
        begin,
        np.empty(int(rooms.sum()), tables.dtype),
        starts,
        widths,
        shapes,
        required,
        Room.of(rows),
        rows.reshape(-1),
        np.zeros(len(widths), np.int64),
        found,
    )


@in_machine_code
def _best_trees(values: Floats, limit: float, strides: Ints, shapes: Shapes, digits: Ints) -> None:
    last = len(strides) - 1
    number = shapes.numbers[last]
    digits[:] = 0
    for begin in range(0, len(values), number):
        for axis in range(last):
            shape = shapes.base[axis] + digits[axis]
            rest = begin - digits[axis] * strides[axis]
            for split in range(shapes.first[shape], shapes.first[shape + 1]):
                _improve(
                    values,
                    begin,
                    rest + shapes.left[split] * strides[axis],
                    rest + shapes.right[split] * strides[axis],
                    number,
                )
        _divide_last(values, begin, limit, shapes)
        axis = last - 1
        while axis >= 0:
            digits[axis] += 1
            if digits[axis] < shapes.numbers[axis]:
                break
            digits[axis] = 0
            axis -= 1


@within_machine_code
def _improve(values: Floats, begin: int, left: int, right: int, number: int) -> None:
    """Divide some neighbouring boxes into two, wherever that is better."""
    # Slices, since plain counting from 0 lets the compiler make vectors of it.
    one, other = values[left : left + number], values[right : right + number]
    whole = values[begin : begin + number]
    for i in range(number):
        both, kept = one[i] + other[i], whole[i]
        whole[i] = both if both > kept + TIE else kept


@within_machine_code
def _divide_last(values: Floats, begin: int, limit: float, shapes: Shapes) -> None:
    """Divide some neighbouring boxes along the last axis, wherever that is better."""
    last = len(shapes.numbers) - 1
    base, runs = shapes.base[last], shapes.runs[last]
    _divide_runs(values, begin, runs)
    for shape in range(runs * (runs + 1) // 2, shapes.numbers[last]):
        best = values[begin + shape]
        # Merging acceptable classes gives an acceptable one: what is none has no split into two.
        if -np.inf < best < limit:
            for split in range(shapes.first[base + shape], shapes.first[base + shape + 1]):
                both = values[begin + shapes.left[split]] + values[begin + shapes.right[split]]
                if both > best + TIE:
                    best = both
            values[begin + shape] = best


@within_machine_code
def _divide_runs(values: Floats, begin: int, blocks: int) -> None:
    """Divide the runs of some blocks, which are numbered by length and then by their start.

    All runs of a length together, so that neighbours in memory are added to neighbours.
    """
    whole = begin + blocks
    for length in range(2, blocks + 1):
        left, right = begin, whole - (blocks - length + 2)
        for part in range(1, length):
            for i in range(blocks - length + 1):
                both = values[left + i] + values[right + part + i]
                if both > values[whole + i] + TIE:
                    values[whole + i] = both
            left += blocks - part + 1
            right -= blocks - (length - part) + 2
        whole += blocks - length + 1


def best_trees(values: Floats, limit: float, strides: Sequence[int], shapes: Shapes) -> None:
    """Replace the worth of every box by that of the best tree that divides it.

    ``limit`` is what no tree is worth more than; a box worth that much is not divided.
    """
    _best_trees(
        values, limit, np.array(strides, np.int64), shapes, np.zeros(len(strides), np.int64)
    )
