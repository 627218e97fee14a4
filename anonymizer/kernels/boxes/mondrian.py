"""Cutting a box of cells in two, and again, always where most is gained; in machine code.

A box is a slice of an order of all cells; cutting it sorts the slice into two. What the greedy tree
of a box is worth depends on its cells alone, and boxes come up again and again: what two cuts in
either order leave is the same. So worths are remembered by the sum of the marks of the cells. A
change here needs what ``single`` says.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Floats, Ints, Marks, Mask, Places
from anonymizer.kernels.boxes.cutting import (
    TIE,
    BoxCells,
    BoxCuts,
    add_up,
    best_of,
    clear,
    keep_best,
    lay_out,
    mark,
)
from anonymizer.kernels.boxes.remembering import Memory, recall, remember, with_bounds
from anonymizer.kernels.machine import on_borrowed, within_borrowed
from anonymizer.kernels.single import Criteria, Room, judge


class Path(NamedTuple):
    """Boxes that are being cut, from the first down, and boxes that wait.

    Attributes
    ----------
    slices
        Of the order of cells, of boxes that wait, shape (waiting, 2).
    bounds
        The first block and end of these on every ordered axis, shape (waiting, axes, 2).
    owns, records, marks
        What these are worth uncut, how many records they have and what stands for them, shape
        (waiting,).
    cut, sums, left
        What stands for each box that is being cut, what its first part is worth, and how many
        parts are left to cut, shape (cells + 1,).
    """

    slices: Ints
    bounds: Ints
    owns: Floats
    records: Ints
    marks: Marks
    cut: Marks
    sums: Floats
    left: Ints

    @classmethod
    def of(cls, cells: int, axes: int) -> "Path":
        """Room for boxes of at most so many cells. Larger parts wait, so that few ever do."""
        waiting = 2 + cells.bit_length()
        return cls(
            np.zeros((waiting, 2), np.int64),
            np.zeros((waiting, axes, 2), np.int64),
            np.zeros(waiting),
            np.zeros(waiting, np.int64),
            np.zeros(waiting, np.uint64),
            np.zeros(cells + 1, np.uint64),
            np.zeros(cells + 1),
            np.zeros(cells + 1, np.int64),
        )


@on_borrowed
def _part(order: Ints, low: int, high: int, blocks: Places, axis: int, left: Mask) -> int:
    """Sort a slice of the order into the cells of some blocks and the others; where these begin."""
    begin, end = low, high - 1
    while begin <= end:
        if left[blocks[order[begin], axis]]:
            begin += 1
        else:
            order[begin], order[end] = order[end], order[begin]
            end -= 1
    return begin


@within_borrowed
def _marked(order: Ints, low: int, high: int, cells: BoxCells) -> np.uint64:
    total = np.uint64(0)
    for place in range(low, high):
        total += cells.marks[order[place]]
    return total


@within_borrowed
def _own(required: Criteria, cuts: BoxCuts, room: Room) -> float:
    for column in range(len(cuts.whole)):
        room.counts[0, column] = cuts.whole[column]
    judge(room, 1, required)
    return room.worths[0]


@within_borrowed
def _begin(
    order: Ints,
    low: int,
    high: int,
    bounds: Ints,
    cells: BoxCells,
    required: Criteria,
    cuts: BoxCuts,
    room: Room,
    path: Path,
) -> None:
    """Let a box wait, alone."""
    cuts.whole[:] = 0
    for place in range(low, high):
        cell = order[place]
        for entry in range(cells.starts[cell], cells.starts[cell + 1]):
            cuts.whole[cells.columns[entry]] += cells.amounts[entry]
    path.slices[0, 0], path.slices[0, 1] = low, high
    for axis in range(len(bounds)):
        path.bounds[0, axis, 0], path.bounds[0, axis, 1] = bounds[axis, 0], bounds[axis, 1]
    path.owns[0] = _own(required, cuts, room)
    path.records[0] = cuts.whole[len(cuts.whole) - 1]
    path.marks[0] = _marked(order, low, high, cells)


@within_borrowed
def _best(
    order: Ints,
    box: int,
    cells: BoxCells,
    required: Criteria,
    cuts: BoxCuts,
    room: Room,
    path: Path,
) -> int:
    """The axis of the best cut of a box that waits, the cut in ``cuts``; -1 if none gains."""
    add_up(order, path.slices[box, 0], path.slices[box, 1], cells, cuts)
    tried = lay_out(cells, path.bounds[box], required.least, cuts, room)
    judge(room, 2 * tried, required)
    best, chosen, score, begin = -1, -1, path.owns[box] + TIE, 0
    for axis in range(len(cuts.occurring)):
        cut = best_of(begin, cuts.until[axis], room.worths)
        begin = cuts.until[axis]
        if cut >= 0 and room.worths[2 * cut] + room.worths[2 * cut + 1] > score:
            best, chosen, score = axis, cut, room.worths[2 * cut] + room.worths[2 * cut + 1]
    if best >= 0:
        cuts.tries[best, 0] = chosen
        mark(best, 0, cells, cuts)
    clear(cuts)
    return best


@within_borrowed
def _divide(
    order: Ints, box: int, axis: int, cells: BoxCells, cuts: BoxCuts, room: Room, path: Path
) -> None:
    """Let both parts of a box wait in its place. The larger one waits below: few ever wait."""
    low, high = path.slices[box, 0], path.slices[box, 1]
    cut, last = cuts.tries[axis, 0], len(cuts.whole) - 1
    middle = _part(order, low, high, cells.blocks, axis, cuts.left[axis, 0])
    # The marks of the smaller part are added up, those of the larger one are what is left.
    first_larger = middle - low > high - middle
    if first_larger:
        smaller = _marked(order, middle, high, cells)
    else:
        smaller = _marked(order, low, middle, cells)
    whole = path.marks[box]
    if len(cells.wide):
        for other in range(len(cells.numbers)):
            for end in range(2):
                path.bounds[box + 1, other, end] = path.bounds[box, other, end]
    for part in range(2):
        place = box if (part == 0) == first_larger else box + 1
        path.slices[place, 0] = middle if part else low
        path.slices[place, 1] = high if part else middle
        path.owns[place] = room.worths[2 * cut + part]
        path.records[place] = room.counts[2 * cut + part, last]
        path.marks[place] = smaller if place > box else whole - smaller
        if len(cells.wide) and cells.numbers[axis] > 0:
            path.bounds[place, axis, 1 - part] = cuts.at[axis, 0]


@within_borrowed
def _greedy(
    order: Ints,
    cells: BoxCells,
    required: Criteria,
    cuts: BoxCuts,
    room: Room,
    path: Path,
    memory: Memory,
) -> float:
    """Return the worth of the greedy tree of the waiting box: cut where most is gained, and again.

    The worths of a cut's parts are added, and nothing else, so that what is remembered is what
    would be worked out.
    """
    waiting, depth = 1, 0
    # Where every cell has records, fewer than twice the least cannot be cut.
    divisible = 0.0 if cells.sparse else 2 * required.least
    while True:
        box = waiting - 1
        worth, axis = path.owns[box], -1
        if path.records[box] >= divisible and path.slices[box, 1] - path.slices[box, 0] > 1:
            key = with_bounds(path.marks[box], path.bounds[box], len(cells.wide) > 0)
            known = recall(memory, key)
            if known == known:
                worth = known
            else:
                axis = _best(order, box, cells, required, cuts, room, path)
                if axis >= 0:
                    path.cut[depth], path.sums[depth], path.left[depth] = key, 0.0, 2
                    depth += 1
                    _divide(order, box, axis, cells, cuts, room, path)
                    waiting += 1
                    continue
                remember(memory, key, worth)
        waiting -= 1
        while depth > 0:
            path.left[depth - 1] -= 1
            path.sums[depth - 1] += worth
            if path.left[depth - 1] > 0:
                break
            depth -= 1
            worth = path.sums[depth]
            remember(memory, path.cut[depth], worth)
        if depth == 0:
            return worth


@on_borrowed
def _followed(
    order: Ints,
    low: int,
    high: int,
    bounds: Ints,
    axes: Ints,
    left: Mask,
    at: Ints,
    cells: BoxCells,
    required: Criteria,
    cuts: BoxCuts,
    room: Room,
    path: Path,
    memory: Memory,
    found: Floats,
    half: Ints,
) -> None:
    """Return the worth of the greedy tree of each of some cuts of a box."""
    for cut in range(len(axes)):
        axis = axes[cut]
        middle = _part(order, low, high, cells.blocks, axis, left[cut])
        found[cut] = 0.0
        for part in range(2):
            for other in range(len(bounds)):
                half[other, 0], half[other, 1] = bounds[other, 0], bounds[other, 1]
            if cells.numbers[axis] > 0:
                half[axis, 1 - part] = at[cut]
            begin, end = (middle, high) if part else (low, middle)
            _begin(order, begin, end, half, cells, required, cuts, room, path)
            found[cut] += _greedy(order, cells, required, cuts, room, path, memory)


@on_borrowed
def _best_cuts(
    order: Ints,
    low: int,
    high: int,
    bounds: Ints,
    cells: BoxCells,
    required: Criteria,
    cuts: BoxCuts,
    room: Room,
) -> float:
    """Find the best cuts along every axis; what the box is worth uncut."""
    cuts.left[:] = False
    add_up(order, low, high, cells, cuts)
    judge(room, 2 * lay_out(cells, bounds, required.least, cuts, room), required)
    for axis in range(len(cuts.occurring)):
        for kept in range(keep_best(axis, cuts, room.worths)):
            mark(axis, kept, cells, cuts)
    own = _own(required, cuts, room)
    clear(cuts)
    return own


@dataclass(frozen=True, eq=False)
class Ground:
    """Cells in an order in which boxes are slices, and what is required of boxes.

    Parameters
    ----------
    cells
        The cells.
    required
        What a box must satisfy and what it is worth.
    order
        The cells in an order, shape (cells,): cutting a box sorts its slice.
    cuts, room, path
        What cuts are worked out in.
    memory
        What greedy trees are worth, shared by all that cut the same cells.
    """

    cells: BoxCells
    required: Criteria
    order: Ints
    cuts: BoxCuts
    room: Room
    path: Path
    memory: Memory

    @classmethod
    def of(
        cls, cells: BoxCells, required: Criteria, blocks: int, columns: int, kept: int
    ) -> "Ground":
        """The ground for boxes of at most so many blocks along an axis.

        Of each axis so many cuts are kept, two or more.
        """
        cuts = BoxCuts.of(cells, blocks, columns, kept)
        number, axes = cells.blocks.shape
        order = np.arange(number, dtype=np.int64)
        path, memory = Path.of(number, axes), Memory.of(number)
        return cls(cells, required, order, cuts, cuts.room(), path, memory)

    def of_slice(self, low: int, high: int) -> "Ground":
        """The cells of a slice with an order and room of their own, for work at the same time."""
        _, kept, blocks = self.cuts.left.shape
        cuts = BoxCuts.of(self.cells, blocks, len(self.cuts.whole), kept)
        order = self.order[low:high].copy()
        path = Path.of(high - low, self.cells.blocks.shape[1])
        return replace(self, order=order, cuts=cuts, room=cuts.room(), path=path)

    def best_cuts(self, low: int, high: int, bounds: Ints) -> float:
        """Find the best cuts of the box order[low:high] along every axis; what it is worth uncut.

        ``bounds`` are the first block and the end of the box on every ordered axis, shape
        (axes, 2).
        """
        return float(
            _best_cuts(
                self.order, low, high, bounds, self.cells, self.required, self.cuts, self.room
            )
        )

    def followed(
        self, low: int, high: int, bounds: Ints, axes: Ints, left: Mask, at: Ints
    ) -> Floats:
        """Return the worth of a box that is cut in some ways, then where most is gained, and again.

        Each cut is given by its axis, the blocks of its first part, and the block where the
        second part of a range begins. The order of the cells is changed.
        """
        found = np.empty(len(axes))
        box = self.order, low, high, bounds, axes, left, at
        within = self.cells, self.required, self.cuts, self.room, self.path, self.memory
        _followed(*box, *within, found, bounds.copy())
        return found

    def divide(self, low: int, high: int, axis: int, left: Mask) -> int:
        """Sort a box into the cells of some blocks of an axis and the others, which begin there."""
        return int(_part(self.order, low, high, self.cells.blocks, axis, left))
