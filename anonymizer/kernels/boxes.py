"""Cutting a box of cells in two, and again, always where most is gained.

A box is a slice of an order of all cells; cutting it sorts the slice into two. What the greedy tree
of a box is worth depends on its cells alone, and boxes come up again and again: what two cuts in
either order leave is the same. So worths are remembered by the sum of the marks of the cells.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Codes, Columns, Floats, Ints, Marks, Mask, Places
from anonymizer.kernels.native import Packed, call
from anonymizer.kernels.single import Criteria, Room

TIE = 1e-12
"""What a cut must gain at least: rounding alone is no gain."""

SEED = 0
"""Of the marks of cells."""

FEW = 5
"""Blocks in a box of which every set is tried; of more, the ends of orders by share."""

MANY, FEWEST, ROOM = 64, 8, 40_000
"""Values that blocks are sorted by: how many are few, the least of very many, and these times all
values: 40 MB for an axis of 60 blocks."""

LEAST, MOST = 12, 22
"""Bits of the numbers of slots in which worths are remembered: 64 kB and 64 MB."""

BOXES = 64
"""Slots for every cell."""


class BoxCells(NamedTuple):
    """Cells of a table to cut, and the axes they lie on.

    Attributes
    ----------
    blocks
        The block of every cell on every axis, shape (cells, axes).
    starts
        Where the counts of each cell begin that are not 0, shape (cells + 1,).
    columns, amounts
        The column and the number of each of these counts, shape (counts,).
    marks
        A random number of 64 bits for every cell, shape (cells,): what adds up over its cells
        stands for a box.
    sparse
        Whether some cell has no records of its own, but of the population.
    numbers
        The blocks of each axis that are numbers in order; 0 where it is not ordered. One block
        more holds missing values.
    wide
        Which runs of numbers are wide enough, by axis, first block and end; shape
        (axes, blocks + 1, blocks + 1), or no axes where all are.
    levels
        The levels of the hierarchy whose groups boxes have of each axis, 0 for any other; all its
        blocks count as ``numbers``.
    tree
        The first block of the group that each block is in, from the finest level up; shape
        (axes, levels, blocks).
    """

    blocks: Places
    starts: Ints
    columns: Places
    amounts: Ints
    marks: Marks
    sparse: bool
    numbers: Ints
    wide: Mask
    levels: Ints
    tree: Ints

    @classmethod
    def of(
        cls, blocks: Codes, counts: Columns, numbers: Ints, wide: Mask, levels: Ints, tree: Ints
    ) -> "BoxCells":
        """Cells by their blocks, shape (cells, axes), and histograms, shape (cells, columns)."""
        present, columns = np.nonzero(counts)
        starts = np.append(0, np.cumsum(np.bincount(present, minlength=len(counts))))
        drawn = np.random.default_rng(SEED).integers(2**64, size=len(counts), dtype=np.uint64)
        return cls(
            np.ascontiguousarray(blocks, np.int32),
            starts.astype(np.int64),
            columns.astype(np.int32),
            counts[present, columns].astype(np.int64),
            drawn,
            bool((counts[:, -1] == 0).any()),
            numbers,
            wide,
            levels,
            tree,
        )


class BoxCuts(NamedTuple):
    """The best cuts of a box along every axis, and what they are worked out in.

    Attributes
    ----------
    scores
        What the classes of both parts are worth, -inf where there is no further cut, the best
        first; shape (axes, kept).
    tries
        The places of these cuts among those tried, shape (axes, kept).
    left
        Whether a block goes to the first part, shape (axes, kept, blocks).
    at
        The block that the second part of a cut of an ordered axis begins with, shape
        (axes, kept).
    sums
        Records by axis, block and column, shape (axes, blocks, columns); 0 between boxes.
    touched
        The blocks that occur in the box by axis, shape (axes, blocks), ``seen`` telling which they
        are and ``occurring`` (axes,) how many.
    extents
        The blocks of each axis, shape (axes,).
    whole, part
        The records of the box, and of a part of it, shape (columns,).
    sets
        The blocks of the first part of each cut tried, as a number of bits, or as the last place
        and the order they stand in, shape (cuts + 1, 2).
    until
        Where the cuts tried along each axis end, shape (axes,).
    ends
        After which of the blocks that occur an axis may be cut, shape (blocks,).
    orders
        By the share of how many values blocks are sorted, the most frequent ones.
    """

    scores: Floats
    tries: Ints
    left: Mask
    at: Ints
    sums: Ints
    touched: Ints
    seen: Mask
    occurring: Ints
    extents: Ints
    whole: Ints
    part: Ints
    sets: Ints
    until: Ints
    ends: Mask
    orders: int

    @classmethod
    def of(cls, cells: BoxCells, blocks: int, columns: int, kept: int) -> "BoxCuts":
        """Room for the cuts of boxes of cells, of at most so many blocks along an axis."""
        axes = cells.blocks.shape[1]
        extents = cells.blocks.max(axis=0, initial=0).astype(np.int64) + 1
        return cls(
            np.empty((axes, kept)),
            np.empty((axes, kept), np.int64),
            np.zeros((axes, kept, blocks), bool),
            np.empty((axes, kept), np.int64),
            np.zeros((axes, blocks, columns), np.int64),
            np.empty((axes, blocks), np.int64),
            np.zeros((axes, blocks), bool),
            np.empty(axes, np.int64),
            extents,
            np.empty(columns, np.int64),
            np.empty(columns, np.int64),
            np.empty((_tried(cells, extents, columns) + 1, 2), np.int64),
            np.empty(axes, np.int64),
            np.empty(blocks, bool),
            _orders(columns),
        )

    def room(self) -> Room:
        """Room to judge both parts of all cuts along an axis."""
        return Room.of(np.empty((2 * len(self.sets), len(self.whole)), np.int64))


def _orders(columns: int) -> int:
    """All values where they are few; else so many that the room for the cuts stays small."""
    return columns if columns <= MANY else min(MANY, max(FEWEST, ROOM // columns))


def _tried(cells: BoxCells, extents: Ints, columns: int) -> int:
    # One more for values that do not occur in a box.
    sorted_by = min(columns, _orders(columns) + 1) if columns > 1 else 1
    orders = np.where((cells.numbers == 0) & (extents > FEW), sorted_by, 1)
    return int(np.maximum(orders * extents, 2 ** (FEW - 1)).sum())


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


class Memory(NamedTuple):
    """Worths of boxes that were worked out before, by their marks, in a table that jobs share.

    It never grows: a new worth takes the slot of an older one. A box that was forgotten is worked
    out again, to the last bit, so that what is remembered never changes a result.

    Two boxes with the same 64 bits are not told apart. That hardly happens, and would mislead the
    choice of a cut, nothing else: boxes are judged by their records.

    Attributes
    ----------
    locks
        The bits that stand for a box, exclusive or with those of its worth, shape (slots,): of two
        jobs that write a slot at once no half-written worth is taken (Hyatt and Mann 2002).
    worths
        The bits of what boxes are worth, shape (slots,).
    """

    locks: Marks
    worths: Marks

    @classmethod
    def of(cls, cells: int) -> "Memory":
        """An empty memory for boxes of so many cells."""
        slots = 1 << min(MOST, max(LEAST, (BOXES * cells - 1).bit_length()))
        return cls(np.zeros(slots, np.uint64), np.full(slots, np.nan).view(np.uint64))

    def __reduce__(self) -> "tuple[object, tuple[int]]":
        """Other processes begin with an empty one."""
        return Memory.of, (len(self.worths) // BOXES,)


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

    @cached_property
    def packed(self) -> Packed:
        """The ground as kernels read it."""
        return Packed(self.cells, self.required.packed, self.cuts, self.room, self.order)

    def best_cuts(self, low: int, high: int, bounds: Ints) -> float:
        """Find the best cuts of the box order[low:high] along every axis; what it is worth uncut.

        ``bounds`` are the first block and the end of the box on every ordered axis, shape
        (axes, 2).
        """
        return call("best_box_cuts", self.packed, low, high, bounds)

    def followed(
        self, low: int, high: int, bounds: Ints, axes: Ints, left: Mask, at: Ints
    ) -> Floats:
        """Return the worth of a box that is cut in some ways, then where most is gained, and again.

        Each cut is given by its axis, the blocks of its first part, and the block where the
        second part of a range begins. The order of the cells is changed.
        """
        found, half = np.empty(len(axes)), bounds.copy()
        within = self.packed, self.path, self.memory
        call("follow_box_cuts", within, low, high, bounds, axes, left, at, found, half)
        return found

    def divide(self, low: int, high: int, axis: int, left: Mask) -> int:
        """Sort a box into the cells of some blocks of an axis and the others, which begin there."""
        return int(call("sort_box", self.order, low, high, self.cells.blocks, axis, left))
