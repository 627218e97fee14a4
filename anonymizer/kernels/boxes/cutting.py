"""The best cuts of a box of cells along one axis, in machine code.

A box is a slice of an order of all cells. A change here needs what ``single`` says.
"""

from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Codes, Columns, Floats, Ints, Marks, Mask, Places
from anonymizer.kernels.machine import within_borrowed
from anonymizer.kernels.single import Room

TIE = 1e-12
"""What a cut must gain at least: rounding alone is no gain."""

SEED = 0
"""Of the marks of cells."""

FEW = 5
"""Blocks in a box of which every set is tried; of more, the ends of orders by share."""


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
    shares
        What blocks are sorted by, shape (blocks,).
    whole, part
        The records of the box, and of a part of it, shape (columns,).
    sets
        The blocks of the first part of each cut tried, as a number of bits, or as the last place
        and the order they stand in, shape (cuts + 1, 2).
    until
        Where the cuts tried along each axis end, shape (axes,).
    ends
        After which of the blocks that occur an axis may be cut, shape (blocks,).
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
    shares: Floats
    whole: Ints
    part: Ints
    sets: Ints
    until: Ints
    ends: Mask

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
            np.empty(blocks),
            np.empty(columns, np.int64),
            np.empty(columns, np.int64),
            np.empty((_tried(cells, extents, columns) + 1, 2), np.int64),
            np.empty(axes, np.int64),
            np.empty(blocks, bool),
        )

    def room(self) -> Room:
        """Room to judge both parts of all cuts along an axis."""
        return Room.of(np.empty((2 * len(self.sets), len(self.whole)), np.int64))


def _tried(cells: BoxCells, extents: Ints, columns: int) -> int:
    orders = np.where((cells.numbers == 0) & (extents > FEW), max(columns - 1, 1), 1)
    return int(np.maximum(orders * extents, 2 ** (FEW - 1)).sum())


@within_borrowed
def add_up(order: Ints, low: int, high: int, cells: BoxCells, cuts: BoxCuts) -> None:
    """The records of a box by axis and block, the blocks that occur, and all records together."""
    blocks, starts, columns, amounts = cells.blocks, cells.starts, cells.columns, cells.amounts
    sums, seen, touched, occurring = cuts.sums, cuts.seen, cuts.touched, cuts.occurring
    axes, whole = blocks.shape[1], cuts.whole
    whole[:] = 0
    occurring[:] = 0
    for place in range(low, high):
        cell = order[place]
        for axis in range(axes):
            block = blocks[cell, axis]
            if not seen[axis, block]:
                seen[axis, block] = True
                touched[axis, occurring[axis]] = block
                occurring[axis] += 1
        for entry in range(starts[cell], starts[cell + 1]):
            column, amount = columns[entry], amounts[entry]
            whole[column] += amount
            for axis in range(axes):
                sums[axis, blocks[cell, axis], column] += amount
    for axis in range(axes):
        _in_order(axis, cuts)


@within_borrowed
def _in_order(axis: int, cuts: BoxCuts) -> None:
    """Put the blocks that occur along an axis in order."""
    touched, number = cuts.touched[axis], cuts.occurring[axis]
    if number * number < cuts.extents[axis]:
        for place in range(1, number):
            block, hole = touched[place], place
            while hole > 0 and touched[hole - 1] > block:
                touched[hole] = touched[hole - 1]
                hole -= 1
            touched[hole] = block
    else:
        place = 0
        for block in range(cuts.extents[axis]):
            if cuts.seen[axis, block]:
                touched[place] = block
                place += 1


@within_borrowed
def clear(cuts: BoxCuts) -> None:
    """Forget the records of a box, for the next one to be added up."""
    for axis in range(len(cuts.occurring)):
        for place in range(cuts.occurring[axis]):
            block = cuts.touched[axis, place]
            cuts.seen[axis, block] = False
            for column in range(len(cuts.whole)):
                cuts.sums[axis, block, column] = 0


@within_borrowed
def _lay(cut: int, least: float, whole: Ints, part: Ints, counts: Ints) -> int:
    """Lay out a part and what it leaves, where neither is too small; how many cuts there are."""
    last = len(whole) - 1
    if 0 < part[last] < least or 0 < whole[last] - part[last] < least:
        return cut
    for column in range(last + 1):
        counts[2 * cut, column] = part[column]
        counts[2 * cut + 1, column] = whole[column] - part[column]
    return cut + 1


@within_borrowed
def _lay_prefixes(
    cut: int,
    order: int,
    touched: Ints,
    ends: Mask,
    sums: Ints,
    least: float,
    whole: Ints,
    part: Ints,
    counts: Ints,
    sets: Ints,
) -> int:
    """The beginnings of ``touched`` that may end where they do as first parts."""
    for column in range(len(whole)):
        part[column] = 0
    for place in range(len(touched) - 1):
        block = touched[place]
        for column in range(len(whole)):
            part[column] += sums[block, column]
        if ends[place]:
            sets[cut, 0], sets[cut, 1] = place, order
            cut = _lay(cut, least, whole, part, counts)
    return cut


@within_borrowed
def _lay_sets(
    cut: int,
    touched: Ints,
    sums: Ints,
    least: float,
    whole: Ints,
    part: Ints,
    counts: Ints,
    sets: Ints,
) -> int:
    """All sets of few blocks that hold the first of them, but not all, as first parts."""
    number, last = len(touched), len(whole) - 1
    for some in range(1, (1 << number) - 1, 2):
        records = 0
        for place in range(number):
            records += (some >> place & 1) * sums[touched[place], last]
        # Most sets of a small box are too small: nothing else of these is added up.
        if 0 < records < least or 0 < whole[last] - records < least:
            continue
        for column in range(last + 1):
            part[column] = 0
            for place in range(number):
                part[column] += (some >> place & 1) * sums[touched[place], column]
        sets[cut, 0], sets[cut, 1] = some, -1
        cut = _lay(cut, least, whole, part, counts)
    return cut


@within_borrowed
def _lay_shares(
    cut: int,
    touched: Ints,
    ends: Mask,
    sums: Ints,
    least: float,
    whole: Ints,
    part: Ints,
    counts: Ints,
    sets: Ints,
    shares: Floats,
) -> int:
    """The beginnings of the blocks in the order of the share of each value, as first parts.

    Of values that nobody in the box has the first stands for all: it leaves blocks as numbered.
    """
    absent = False
    for column in range(len(whole) - 1):
        if whole[column] > 0 or not absent:
            _sort_by_share(touched, column, sums, shares)
            cut = _lay_prefixes(cut, column, touched, ends, sums, least, whole, part, counts, sets)
        absent = absent or whole[column] == 0
    return cut


@within_borrowed
def _sort_by_share(touched: Ints, column: int, sums: Ints, shares: Floats) -> None:
    """Put blocks in the order of the share of a value in them; ties by block."""
    last = sums.shape[1] - 1
    for place in range(len(touched)):
        block = touched[place]
        share = sums[block, column] / max(sums[block, last], 1)
        hole = place
        while hole > 0 and (
            shares[hole - 1] > share or (shares[hole - 1] == share and touched[hole - 1] > block)
        ):
            shares[hole], touched[hole] = shares[hole - 1], touched[hole - 1]
            hole -= 1
        shares[hole], touched[hole] = share, block


@within_borrowed
def _dividing(cells: BoxCells, axis: int, first: int, last: int) -> int:
    for level in range(cells.levels[axis] - 1, 0, -1):
        if cells.tree[axis, level, first] != cells.tree[axis, level, last]:
            return level
    return 0


@within_borrowed
def _allowed(cells: BoxCells, axis: int, block: int, bounds: Ints) -> bool:
    """Tell whether both parts of a range are wide enough when it is cut before a block."""
    if len(cells.wide) == 0 or cells.levels[axis] > 0:
        return True
    low, high = bounds[axis, 0], min(bounds[axis, 1], cells.numbers[axis])
    return cells.wide[axis, low, block] and (
        block == cells.numbers[axis] or cells.wide[axis, block, high]
    )


@within_borrowed
def _ends(axis: int, touched: Ints, cells: BoxCells, bounds: Ints, ends: Mask) -> None:
    """Mark the places of ``touched`` after which the axis may be cut.

    Between groups of a hierarchy, or where both parts are wide enough. Missing values stand in no
    range: they are cut off before any other cut.
    """
    number = len(touched)
    if cells.levels[axis] > 0:
        level = _dividing(cells, axis, touched[0], touched[number - 1])
        starts = cells.tree[axis, level]
        for place in range(number - 1):
            ends[place] = starts[touched[place]] != starts[touched[place + 1]]
        return
    ends[: number - 1] = True
    if cells.numbers[axis] > 0:
        if touched[number - 1] == cells.numbers[axis]:
            ends[: number - 2] = False
        if len(cells.wide) > 0:
            for place in range(number - 1):
                ends[place] &= _allowed(cells, axis, touched[place + 1], bounds)


@within_borrowed
def lay_out(cells: BoxCells, bounds: Ints, least: float, cuts: BoxCuts, room: Room) -> int:
    """Lay out the cuts of the box that was added up along all axes; how many there are.

    Those along an axis end at its place of ``cuts.until``.
    """
    cut, counts, whole, part = 0, room.counts, cuts.whole, cuts.part
    sets, ends, shares = cuts.sets, cuts.ends, cuts.shares
    for axis in range(len(cuts.occurring)):
        number = cuts.occurring[axis]
        if number > 1:
            touched, sums = cuts.touched[axis, :number], cuts.sums[axis]
            free = cells.numbers[axis] == 0
            if free and number <= FEW:
                cut = _lay_sets(cut, touched, sums, least, whole, part, counts, sets)
            else:
                _ends(axis, touched, cells, bounds, ends)
                # Where nothing is known but how many records there are, blocks stand as they are
                # numbered.
                if free and len(whole) > 1:
                    cut = _lay_shares(
                        cut, touched, ends, sums, least, whole, part, counts, sets, shares
                    )
                else:
                    cut = _lay_prefixes(
                        cut, -2, touched, ends, sums, least, whole, part, counts, sets
                    )
        cuts.until[axis] = cut
    return cut


@within_borrowed
def mark(axis: int, kept: int, cells: BoxCells, cuts: BoxCuts) -> None:
    """Remember which blocks the first part of a cut has, and where the second begins."""
    cut = cuts.tries[axis, kept]
    last, order = cuts.sets[cut, 0], cuts.sets[cut, 1]
    number = cuts.occurring[axis]
    touched = cuts.touched[axis, :number]
    if order >= 0:
        _sort_by_share(touched, order, cuts.sums[axis], cuts.shares)
    for place in range(number):
        inside = last >> place & 1 == 1 if order == -1 else place <= last
        cuts.left[axis, kept, touched[place]] = inside
    if cells.levels[axis] > 0:
        level = _dividing(cells, axis, touched[0], touched[number - 1])
        cuts.at[axis, kept] = cells.tree[axis, level, touched[last + 1]]
    elif cells.numbers[axis] > 0:
        cuts.at[axis, kept] = touched[last + 1]


@within_borrowed
def best_of(begin: int, end: int, worths: Floats) -> int:
    """Return the first of the best cuts from ``begin`` to ``end``; -1 where there is none."""
    best, score = -1, -np.inf
    for cut in range(begin, end):
        both = worths[2 * cut] + worths[2 * cut + 1]
        if both > score + TIE:
            best, score = cut, both
    return best


@within_borrowed
def keep_best(axis: int, cuts: BoxCuts, worths: Floats) -> int:
    """Put the best cuts along an axis into ``cuts``; how many are kept."""
    found, most = 0, cuts.scores.shape[1]
    cuts.scores[axis] = -np.inf
    for cut in range(cuts.until[axis - 1] if axis else 0, cuts.until[axis]):
        both = worths[2 * cut] + worths[2 * cut + 1]
        if both > cuts.scores[axis, most - 1] + TIE:
            found = _keep(cut, both, found, cuts.scores[axis], cuts.tries[axis])
    return found


@within_borrowed
def _keep(cut: int, score: float, found: int, scores: Floats, tries: Ints) -> int:
    """Put a cut in its place among the best; how many there are now."""
    place = found if found < len(scores) else len(scores) - 1
    while place > 0 and scores[place - 1] + TIE < score:
        scores[place], tries[place] = scores[place - 1], tries[place - 1]
        place -= 1
    scores[place], tries[place] = score, cut
    return min(found + 1, len(scores))
