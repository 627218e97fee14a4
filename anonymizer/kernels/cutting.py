"""The best cuts of a box of cells along one axis, in machine code.

A box is a slice of an order of all cells. A change here needs what ``single`` says.
"""

from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Columns, Floats, Ints, Mask, Places
from anonymizer.kernels.machine import within_machine_code
from anonymizer.kernels.single import Criteria, Room, judge

TIE = 1e-12
"""What a cut must gain at least: rounding alone is no gain."""

SPARSE = 32
"""Where one block in so many occurs in a box, these are sorted; else all blocks are looked at."""

FEW = 5
"""Blocks in a box of which every set is tried; of more, the ends of orders by share."""


class Cells(NamedTuple):
    """What is cut: the cells of a table and the axes they lie on.

    Attributes
    ----------
    blocks
        The block of every cell on every axis, shape (axes, cells).
    counts
        The histogram of every cell, shape (cells, columns).
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
    counts: Columns
    numbers: Ints
    wide: Mask
    levels: Ints
    tree: Ints


class Cuts(NamedTuple):
    """The best cut of a box along every axis, and what it is worked out in.

    Attributes
    ----------
    scores
        What the classes of both parts are worth, -inf where there is no further cut, the best
        first; shape (axes, kept).
    tries
        The places of these cuts among those tried, shape (kept,).
    left
        Whether a block goes to the first part, shape (axes, kept, blocks).
    at
        The block that the second part of a cut of an ordered axis begins with, shape
        (axes, kept).
    sums
        Records by block and column, shape (blocks, columns).
    touched
        The blocks that occur in the box, shape (blocks,), ``seen`` telling which they are.
    shares
        What blocks are sorted by, shape (blocks,).
    whole
        The records of the box, shape (columns,).
    sets
        The blocks of the first part of each cut tried, as a number of bits, or as the last place
        and the order they stand in, shape (cuts, 2).
    """

    scores: Floats
    tries: Ints
    left: Mask
    at: Ints
    sums: Columns
    touched: Ints
    seen: Mask
    shares: Floats
    whole: Columns
    sets: Ints

    @classmethod
    def of(cls, cells: Cells, blocks: int, kept: int) -> "Cuts":
        """Room for the cuts of boxes of cells, of at most so many blocks along an axis."""
        axes, columns = len(cells.blocks), cells.counts.shape[1]
        return cls(
            np.empty((axes, kept)),
            np.empty(kept, np.int64),
            np.zeros((axes, kept, blocks), bool),
            np.empty((axes, kept), np.int64),
            np.zeros((blocks, columns), cells.counts.dtype),
            np.empty(blocks, np.int64),
            np.zeros(blocks, bool),
            np.empty(blocks),
            np.empty(columns, cells.counts.dtype),
            np.empty((_tried(cells), 2), np.int64),
        )

    def room(self, cells: Cells) -> Room:
        """Room to judge both parts of all cuts along an axis."""
        return Room.of(np.empty((2 * len(self.sets), len(self.whole)), cells.counts.dtype))


def _tried(cells: Cells) -> int:
    """The most cuts that are tried along any axis."""
    columns, most = cells.counts.shape[1], 2 ** (FEW - 1)
    for axis, own in enumerate(cells.blocks):
        blocks = int(own.max(initial=0)) + 1
        sets = cells.numbers[axis] == 0 and blocks > FEW
        most = max(most, (max(columns - 1, 1) if sets else 1) * blocks)
    return most


@within_machine_code
def _add_up(order: Ints, low: int, high: int, cells: Cells, axis: int, cuts: Cuts) -> int:
    """The records of a box by block; how many blocks occur, in ``touched``."""
    blocks, counts = cells.blocks[axis], cells.counts
    columns = counts.shape[1]
    sums, seen, touched = cuts.sums, cuts.seen, cuts.touched
    occurring = 0
    for place in range(low, high):
        cell = order[place]
        block = blocks[cell]
        if not seen[block]:
            touched[occurring] = block
            occurring += 1
        for column in range(columns):
            before = sums[block, column] if seen[block] else 0
            sums[block, column] = before + counts[cell, column]
        seen[block] = True
    for column in range(columns):
        cuts.whole[column] = 0
    if SPARSE * occurring < len(seen):
        touched[:occurring].sort()
    else:
        occurring = 0
        for block in range(len(seen)):
            if seen[block]:
                touched[occurring] = block
                occurring += 1
    for place in range(occurring):
        block = touched[place]
        seen[block] = False
        for column in range(columns):
            cuts.whole[column] += sums[block, column]
    return occurring


@within_machine_code
def _lay(room: Room, cut: int, cuts: Cuts) -> None:
    """The second part of a cut is what the first leaves."""
    for column in range(len(cuts.whole)):
        room.counts[2 * cut + 1, column] = cuts.whole[column] - room.counts[2 * cut, column]


@within_machine_code
def _try_prefixes(occurring: int, first: int, order: int, cuts: Cuts, room: Room) -> int:
    """The beginnings of ``touched`` as first parts."""
    columns = len(cuts.whole)
    for place in range(occurring - 1):
        cut = first + place
        for column in range(columns):
            before = room.counts[2 * cut - 2, column] if place else 0
            room.counts[2 * cut, column] = before + cuts.sums[cuts.touched[place], column]
        _lay(room, cut, cuts)
        cuts.sets[cut, 0], cuts.sets[cut, 1] = place, order
    return first + occurring - 1


@within_machine_code
def _try_sets(occurring: int, cuts: Cuts, room: Room) -> int:
    """All sets of few blocks that hold the first of them, but not all."""
    columns = len(cuts.whole)
    number = (1 << (occurring - 1)) - 1
    for cut in range(number):
        for column in range(columns):
            total = cuts.sums[cuts.touched[0], column]
            for place in range(1, occurring):
                if cut >> (place - 1) & 1:
                    total += cuts.sums[cuts.touched[place], column]
            room.counts[2 * cut, column] = total
        _lay(room, cut, cuts)
        cuts.sets[cut, 0], cuts.sets[cut, 1] = 2 * cut + 1, -1
    return number


@within_machine_code
def _try(occurring: int, ordered: bool, cuts: Cuts, room: Room) -> int:
    """Lay out the cuts along an axis, both parts of each; how many there are."""
    if occurring <= FEW and not ordered:
        return _try_sets(occurring, cuts, room)
    # Where nothing is known but how many records there are, blocks stand as they are numbered.
    if ordered or len(cuts.whole) == 1:
        return _try_prefixes(occurring, 0, -2, cuts, room)
    tried = 0
    for column in range(len(cuts.whole) - 1):
        _sort_by_share(occurring, column, cuts)
        tried = _try_prefixes(occurring, tried, column, cuts, room)
    return tried


@within_machine_code
def _try_groups(occurring: int, starts: Ints, cuts: Cuts, room: Room) -> int:
    """The beginnings of ``touched`` up to where a group of a level ends as first parts."""
    columns, cut = len(cuts.whole), 0
    for place in range(occurring - 1):
        block = cuts.touched[place]
        for column in range(columns):  # what lies before the cut at hand, in its place
            before = room.counts[2 * cut, column] if place else 0
            room.counts[2 * cut, column] = before + cuts.sums[block, column]
        if starts[block] != starts[cuts.touched[place + 1]]:
            _lay(room, cut, cuts)
            cuts.sets[cut, 0], cuts.sets[cut, 1] = place, -2
            cut += 1
            for column in range(columns):
                room.counts[2 * cut, column] = room.counts[2 * cut - 2, column]
    return cut


@within_machine_code
def _dividing(cells: Cells, axis: int, first: int, last: int) -> int:
    """The coarsest level of the tree at which two blocks are in different groups."""
    for level in range(cells.levels[axis] - 1, 0, -1):
        if cells.tree[axis, level, first] != cells.tree[axis, level, last]:
            return level
    return 0


@within_machine_code
def _sort_by_share(occurring: int, column: int, cuts: Cuts) -> None:
    """Put the blocks in the order of the share of a value in them; ties by block."""
    last = len(cuts.whole) - 1
    for place in range(occurring):
        block = cuts.touched[place]
        cuts.shares[place] = cuts.sums[block, column] / cuts.sums[block, last]
    for place in range(1, occurring):
        share, block = cuts.shares[place], cuts.touched[place]
        hole = place
        while hole > 0 and (
            cuts.shares[hole - 1] > share
            or (cuts.shares[hole - 1] == share and cuts.touched[hole - 1] > block)
        ):
            cuts.shares[hole] = cuts.shares[hole - 1]
            cuts.touched[hole] = cuts.touched[hole - 1]
            hole -= 1
        cuts.shares[hole], cuts.touched[hole] = share, block


@within_machine_code
def _allowed(cells: Cells, axis: int, block: int, bounds: Ints) -> bool:
    """Whether both parts of a range are wide enough when it is cut before a block."""
    if len(cells.wide) == 0 or cells.levels[axis] > 0:
        return True
    low, high = bounds[axis, 0], min(bounds[axis, 1], cells.numbers[axis])
    return cells.wide[axis, low, block] and (
        block == cells.numbers[axis] or cells.wide[axis, block, high]
    )


@within_machine_code
def _mark(occurring: int, axis: int, kept: int, cuts: Cuts) -> None:
    """Remember which blocks the first part of a cut has."""
    cut = cuts.tries[kept]
    if cuts.sets[cut, 1] >= 0:
        _sort_by_share(occurring, cuts.sets[cut, 1], cuts)
    for place in range(occurring):
        inside = place <= cuts.sets[cut, 0]
        if cuts.sets[cut, 1] == -1:
            inside = (cuts.sets[cut, 0] >> place & 1) == 1
        cuts.left[axis, kept, cuts.touched[place]] = inside


@within_machine_code
def cut_axis(
    order: Ints,
    low: int,
    high: int,
    cells: Cells,
    axis: int,
    bounds: Ints,
    required: Criteria,
    cuts: Cuts,
    room: Room,
    most: int,
) -> None:
    """The best cuts of a box along an axis."""
    cuts.scores[axis] = -np.inf
    occurring = _add_up(order, low, high, cells, axis, cuts)
    if occurring < 2:
        return
    numbers, level = cells.numbers[axis], 0
    if cells.levels[axis] > 0:
        level = _dividing(cells, axis, cuts.touched[0], cuts.touched[occurring - 1])
        tried = _try_groups(occurring, cells.tree[axis, level], cuts, room)
    else:
        tried = _try(occurring, numbers > 0, cuts, room)
    judge(room, 2 * tried, required)
    missing = numbers > 0 and cuts.touched[occurring - 1] == numbers
    found = 0
    for cut in range(tried):
        both = room.worths[2 * cut] + room.worths[2 * cut + 1]
        # Missing values stand in no range: they are cut off before any other cut.
        allowed = not (missing and cut < tried - 1)
        if numbers > 0 and allowed:
            allowed = _allowed(cells, axis, cuts.touched[cut + 1], bounds)
        if allowed and both > cuts.scores[axis, most - 1] + TIE:
            found = _keep(cut, both, axis, found, most, cuts)
    for kept in range(found):
        if numbers > 0:
            begin = cuts.touched[cuts.sets[cuts.tries[kept], 0] + 1]
            at = cells.tree[axis, level, begin] if cells.levels[axis] > 0 else begin
            cuts.at[axis, kept] = at
        _mark(occurring, axis, kept, cuts)


@within_machine_code
def _keep(cut: int, score: float, axis: int, found: int, most: int, cuts: Cuts) -> int:
    """Put a cut in its place among the best; how many there are now."""
    place = found if found < most else most - 1
    while place > 0 and cuts.scores[axis, place - 1] + TIE < score:
        cuts.scores[axis, place] = cuts.scores[axis, place - 1]
        cuts.tries[place] = cuts.tries[place - 1]
        place -= 1
    cuts.scores[axis, place], cuts.tries[place] = score, cut
    return min(found + 1, most)
