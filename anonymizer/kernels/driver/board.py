"""What is known of every node of a lattice while it is searched, by place."""

from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Floats, Ints, Mask, Places
from anonymizer.kernels.driver.store import Lattice, level_of
from anonymizer.kernels.machine import within_machine_code

UNDECIDED, INFEASIBLE, FEASIBLE, OUT = 0, 1, 2, 3
"""What is known of a node; out: it is undecided, but can neither win nor tie, or not allowed."""

TOLERANCE = 1e-9
"""Scores that differ by less are equal."""

NOTHING, DONE, PAUSE, ASK = range(4)
"""Why a search comes back: it is through, Python may look in, or has to judge a node."""

FIRST, LOW, HIGH, LENGTH, COUNTED, ASKED, PHASE, SIZE, AT, SETS = range(10)
"""The entries of ``Board.state``.

The first place that may be undecided; what is still to be bisected of the open chain, and its
nodes; the nodes counted; the node that Python was asked about, and 1 more; the phase; the size of
the batch, or the layer, and how far it is done.
"""

BEST, KNOWN = range(2)
"""The entries of ``Board.best``: the best score, and 1 where all bounds are known beforehand."""


class Board(NamedTuple):
    """What is known of every node.

    Attributes
    ----------
    status
        One of ``UNDECIDED``, ``INFEASIBLE``, ``FEASIBLE`` and ``OUT``, shape (places,).
    ceilings, lost, tolls, done
        See ``SuppressionSearch``, shape (places,); empty where nothing may be suppressed.
    chain
        The places of the open chain, of a batch, or of layers.
    counted, feasible, scores, classes
        The places counted, in order; whether each is feasible, its score and released classes.
    state, best
        See ``FIRST`` and ``BEST``.
    """

    status: "np.ndarray[tuple[int], np.dtype[np.int8]]"
    ceilings: Floats
    lost: Ints
    tolls: Floats
    done: Mask
    chain: Ints
    counted: Places
    feasible: Mask
    scores: Floats
    classes: Ints
    state: Ints
    best: Floats


@within_machine_code
def alive(board: Board, place: int) -> bool:
    """Whether an undecided node may still win or tie."""
    return board.status[place] == UNDECIDED and within_reach(board, place)


@within_machine_code
def within_reach(board: Board, place: int) -> bool:
    """Whether a node is not bounded below the best score."""
    return len(board.ceilings) == 0 or bound_of(board, place) >= board.best[BEST] - TOLERANCE


@within_machine_code
def bound_of(board: Board, place: int) -> float:
    """What bounds a node's score."""
    return board.ceilings[place] - board.tolls[place] * board.lost[place]


@within_machine_code
def next_chain(lattice: Lattice, board: Board) -> bool:
    """Climb from the first node that is alive, by attributes that are relatively least general."""
    place, places = board.state[FIRST], len(board.status)
    while place < places and not alive(board, place):
        place += 1
    board.state[FIRST] = place
    if place == places:
        return False
    length = 0
    while place >= 0:
        board.chain[length] = place
        length += 1
        place = _raised(lattice, board, place)
    board.state[LENGTH], board.state[LOW], board.state[HIGH] = length, 0, length - 1
    return True


@within_machine_code
def _raised(lattice: Lattice, board: Board, place: int) -> int:
    """The next node of a chain; -1 where it ends."""
    chosen, least = -1, 1.0
    for axis in range(len(lattice.heights)):
        share = lattice.shares[axis, level_of(lattice, place, axis)]
        if share < least and alive(board, place + lattice.strides[axis]):
            chosen, least = place + lattice.strides[axis], share
    return chosen


@within_machine_code
def decide(lattice: Lattice, board: Board, place: int, feasible: bool) -> None:
    """Enter that a node was counted, and what follows for the nodes above or below."""
    if feasible:
        _fill(lattice, board, place, True, FEASIBLE, np.inf, -1)
    else:
        _fill(lattice, board, place, False, INFEASIBLE, np.inf, -1)


@within_machine_code
def note_bounds(lattice: Lattice, board: Board, place: int, bound: float, lost: int) -> None:
    """Enter what bounds all nodes above one, and what is lost at all below."""
    if bound < board.ceilings[place]:
        _fill(lattice, board, place, True, -1, bound, -1)
    if lost > board.lost[place]:
        _fill(lattice, board, place, False, -1, np.inf, lost)


@within_machine_code
def _fill(
    lattice: Lattice,
    board: Board,
    place: int,
    above: bool,
    status: int,
    bound: float,
    lost: int,
) -> None:
    """Enter something at all nodes above or below one: run by run along the last attribute."""
    axes = len(lattice.heights)
    last = axes - 1
    low = np.int64(0)
    runs = np.int64(1)
    for axis in range(axes):
        level = level_of(lattice, place, axis)
        lowest = level if above else lattice.floors[axis]
        low += lowest * lattice.strides[axis]
        if axis < last:
            runs *= (lattice.heights[axis] if above else level) - lowest + 1
    level = level_of(lattice, place, last)
    length = lattice.heights[last] - level + 1 if above else level - lattice.floors[last] + 1
    for run in range(runs):
        begin, rest = low, run
        for axis in range(last - 1, -1, -1):
            level = level_of(lattice, place, axis)
            lowest = level if above else lattice.floors[axis]
            span = (lattice.heights[axis] if above else level) - lowest + 1
            begin += (rest % span) * lattice.strides[axis]
            rest //= span
        for each in range(begin, begin + length):
            if status >= 0:
                board.status[each] = status
            elif lost >= 0:
                board.lost[each] = max(board.lost[each], lost)
            else:
                board.ceilings[each] = min(board.ceilings[each], bound)
