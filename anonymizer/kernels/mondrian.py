"""Cutting a box of cells in two, and again, always where most is gained; in machine code.

A box is a slice of an order of all cells; cutting it sorts the slice into two. A change here needs
what ``single`` says.
"""

from dataclasses import dataclass, replace

import numpy as np

from anonymizer.kernels.arrays import Ints, Mask, Places
from anonymizer.kernels.cutting import TIE, Cells, Cuts, cut_axis
from anonymizer.kernels.machine import in_machine_code, within_machine_code
from anonymizer.kernels.single import Criteria, Room, judge


@in_machine_code
def _part(order: Ints, low: int, high: int, blocks: Places, left: Mask) -> int:
    """Sort a slice of the order into the cells of some blocks and the others; where these begin."""
    begin, end = low, high - 1
    while begin <= end:
        if left[blocks[order[begin]]]:
            begin += 1
        else:
            order[begin], order[end] = order[end], order[begin]
            end -= 1
    return begin


@within_machine_code
def _own(required: Criteria, cuts: Cuts, room: Room) -> float:
    """What the box that was added up last is worth as a class."""
    for column in range(len(cuts.whole)):
        room.counts[0, column] = cuts.whole[column]
    judge(room, 1, required)
    return room.worths[0]


@in_machine_code
def _greedy(
    order: Ints,
    cells: Cells,
    required: Criteria,
    cuts: Cuts,
    room: Room,
    slices: Ints,
    bounds: Ints,
    most: int,
) -> float:
    """Cut the first slice, again and again; or, to keep more than one cut, only look for cuts."""
    total, boxes = 0.0, 1
    while boxes > 0:
        boxes -= 1
        low, high = slices[boxes, 0], slices[boxes, 1]
        best, score = -1, -np.inf
        for axis in range(len(cells.blocks)):
            cut_axis(order, low, high, cells, axis, bounds[boxes], required, cuts, room, most)
            if cuts.scores[axis, 0] > score:
                best, score = axis, cuts.scores[axis, 0]
        own = _own(required, cuts, room)
        if most > 1 or not score > own + TIE:
            total += own
            continue
        middle = _part(order, low, high, cells.blocks[best], cuts.left[best, 0])
        _wait(slices, bounds, boxes, middle)
        if cells.numbers[best] > 0:
            for part in range(boxes, boxes + 2):
                end = 1 if slices[part, 0] == low else 0
                bounds[part, best, end] = cuts.at[best, 0]
        boxes += 2
    return total


@within_machine_code
def _wait(slices: Ints, bounds: Ints, box: int, middle: int) -> None:
    """Replace a box by its parts. The larger one waits below: few boxes ever wait."""
    low, high = slices[box, 0], slices[box, 1]
    for axis in range(bounds.shape[1]):
        for end in range(2):
            bounds[box + 1, axis, end] = bounds[box, axis, end]
    larger = box if middle - low > high - middle else box + 1
    smaller = 2 * box + 1 - larger
    slices[larger, 0], slices[larger, 1] = low, middle
    slices[smaller, 0], slices[smaller, 1] = middle, high


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
    cuts, room
        What cuts are worked out in.
    """

    cells: Cells
    required: Criteria
    order: Ints
    cuts: Cuts
    room: Room

    @classmethod
    def of(cls, cells: Cells, required: Criteria, blocks: int, kept: int) -> "Ground":
        """The ground for boxes of at most so many blocks along an axis.

        Of each axis so many cuts are kept, two or more.
        """
        cuts = Cuts.of(cells, blocks, kept)
        order = np.arange(cells.blocks.shape[1], dtype=np.int64)
        return cls(cells, required, order, cuts, cuts.room(cells))

    def of_slice(self, low: int, high: int) -> "Ground":
        """The cells of a slice with an order and room of their own, for work at the same time."""
        cuts = Cuts.of(self.cells, self.cuts.left.shape[2], self.cuts.left.shape[1])
        order = self.order[low:high].copy()
        return replace(self, order=order, cuts=cuts, room=cuts.room(self.cells))

    def best_cuts(self, low: int, high: int, bounds: Ints) -> float:
        """Find the best cuts of the box order[low:high] along every axis; what it is worth uncut.

        ``bounds`` are the first block and the end of the box on every ordered axis, shape
        (axes, 2).
        """
        self.cuts.left[:] = False
        return self._cut(low, high, bounds, 1, self.cuts.scores.shape[1])

    def greedy(self, low: int, high: int, bounds: Ints) -> float:
        """What a box is worth when it is cut where most is gained, again and again.

        The order of its cells is changed.
        """
        return self._cut(low, high, bounds, 2 + int(high - low).bit_length(), 1)

    def divide(self, low: int, high: int, axis: int, left: Mask) -> int:
        """Sort a box into the cells of some blocks of an axis and the others, which begin there."""
        return int(_part(self.order, low, high, self.cells.blocks[axis], left))

    def _cut(self, low: int, high: int, bounds: Ints, waiting: int, most: int) -> float:
        """Cut a box; room for so many that wait."""
        slices = np.zeros((waiting, 2), np.int64)
        ends = np.zeros((waiting, *bounds.shape), np.int64)
        slices[0], ends[0] = (low, high), bounds
        required = self.order, self.cells, self.required, self.cuts, self.room
        return float(_greedy(*required, slices, ends, most))
