"""What is known of every node of a lattice while it is searched, by place."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.kernels.driver.store import FLOOR, HEIGHT, STRIDE, level_of
from anonymizer.kernels.machine import within_borrowed

UNDECIDED, INFEASIBLE, FEASIBLE, OUT = 0, 1, 2, 3
"""What is known of a node; out: it is undecided, but can neither win nor tie, or not allowed."""

TOLERANCE = 1e-9
"""Scores that differ by less are equal."""

DONE, PAUSE, ASK = range(3)
"""Why a search comes back: it is through, Python may look in, or has to judge a node."""

FIRST, LOW, HIGH, LENGTH, COUNTED, ASKED, PHASE, SIZE, AT = range(9)
"""The entries of ``NodeBoard.state``.

The first place that may be undecided; what is still to be bisected of the open chain, and its
nodes, or those of the open batch, or those of a descent; the nodes counted; the node that Python
was asked about, and 1 more; the phase; the size of the next batch; how far the batch, or the
descent, is done.
"""

BEST, KNOWN = range(2)
"""The entries of ``NodeBoard.best``: the best score; 1 where all bounds are known beforehand."""

PLACE, FITS, SCORE, CLASSES = range(4)
"""The columns of ``NodeBoard.log``: what was counted, whether it is feasible, and how it scores."""

Status = NDArray[np.int8]


class NodeBoard(NamedTuple):
    """Knowledge about every node.

    Attributes
    ----------
    status
        One of ``UNDECIDED``, ``INFEASIBLE``, ``FEASIBLE`` and ``OUT``, shape (places,).
    ceilings, lost, tolls, done
        See ``SuppressionSearch``, shape (places,); empty where nothing may be suppressed.
    chain
        The places of the open chain, of the open batch, or of a descent.
    log
        The nodes counted, in order: see ``PLACE``, shape (places, 4).
    state, best
        See ``FIRST`` and ``BEST``.
    """

    status: Status
    ceilings: Floats
    lost: Ints
    tolls: Floats
    done: Mask
    chain: Ints
    log: Floats
    state: Ints
    best: Floats


@within_borrowed
def bounded(ceilings: Floats, tolls: Floats, lost: Ints, place: int) -> float:
    """Return the bound of a node's score."""
    return ceilings[place] - tolls[place] * lost[place] if len(ceilings) else np.inf


@within_borrowed
def next_chain(
    axes: Ints,
    shares: Floats,
    status: Status,
    ceilings: Floats,
    tolls: Floats,
    lost: Ints,
    chain: Ints,
    state: Ints,
    best: float,
) -> bool:
    """Climb from the first node that may win, by attributes that are relatively least general."""
    least = best - TOLERANCE
    place, places = state[FIRST], len(status)
    while place < places and not (
        status[place] == UNDECIDED and bounded(ceilings, tolls, lost, place) >= least
    ):
        place += 1
    state[FIRST] = place
    if place == places:
        return False
    length = 0
    while place >= 0:
        chain[length] = place
        length += 1
        raised, lowest = -1, 1.0
        for axis in range(len(axes)):
            stride = axes[axis, STRIDE]
            share = shares[axis, level_of(place, stride, axes[axis, HEIGHT])]
            if share >= lowest or status[place + stride] != UNDECIDED:
                continue
            if bounded(ceilings, tolls, lost, place + stride) >= least:
                raised, lowest = place + stride, share
        place = raised
    state[LENGTH], state[LOW], state[HIGH] = length, 0, length - 1
    return True


@within_borrowed
def spread(
    axes: Ints,
    box: Ints,
    place: int,
    above: bool,
    status: Status,
    ceilings: Floats,
    lost: Ints,
    mark: int,
    bound: float,
    least: int,
) -> None:
    """Enter something at all nodes above or below one: run by run of places that are neighbours.

    A status unless ``mark`` is negative, a bound unless it is infinite, and what is lost.
    """
    begin, length, last = _boxed(axes, box, place, above)
    while begin >= 0:
        if mark >= 0:
            for each in range(begin, begin + length):
                status[each] = mark
        if bound < np.inf:
            for each in range(begin, begin + length):
                ceilings[each] = min(ceilings[each], bound)
        if least > 0:
            for each in range(begin, begin + length):
                lost[each] = max(lost[each], least)
        begin = _next_run(axes, box, begin, last)


@within_borrowed
def _boxed(axes: Ints, box: Ints, place: int, above: bool) -> tuple[int, int, int]:
    """The first place of the nodes above or below one, how many follow it, and the last other axis.

    ``box`` (2, attributes) gets the levels beyond the lowest of each attribute, and as many zeros.
    """
    begin, length, last = 0, 1, len(axes) - 1
    for axis in range(len(axes)):
        level = level_of(place, axes[axis, STRIDE], axes[axis, HEIGHT])
        lowest = level if above else axes[axis, FLOOR]
        box[0, axis] = (axes[axis, HEIGHT] if above else level) - lowest
        box[1, axis] = 0
        begin += lowest * axes[axis, STRIDE]
    while last >= 0:
        length = axes[last, STRIDE] * (box[0, last] + 1)
        last -= 1
        if box[0, last + 1] < axes[last + 1, HEIGHT]:
            break
    return begin, length, last


@within_borrowed
def _next_run(axes: Ints, box: Ints, begin: int, last: int) -> int:
    """Return the start of the next run of a box, as an odometer counts; -1 after the last one."""
    for axis in range(last, -1, -1):
        if box[1, axis] < box[0, axis]:
            box[1, axis] += 1
            return int(begin + axes[axis, STRIDE])
        begin -= box[1, axis] * axes[axis, STRIDE]
        box[1, axis] = 0
    return -1


@within_borrowed
def most_promising(
    status: Status,
    ceilings: Floats,
    tolls: Floats,
    lost: Ints,
    done: Mask,
    chain: Ints,
    best: float,
    most: int,
) -> int:
    """Put the nodes of the highest bounds first that can still win or tie; how many these are.

    Of equal bounds the lexicographically first.
    """
    found, least = 0, best - TOLERANCE
    for place in range(len(status)):
        if status[place] != UNDECIDED and (status[place] != FEASIBLE or done[place]):
            continue
        bound = bounded(ceilings, tolls, lost, place)
        full = found == most
        if bound < least or (full and bound <= bounded(ceilings, tolls, lost, chain[most - 1])):
            continue
        at = found - full
        while at > 0 and bounded(ceilings, tolls, lost, chain[at - 1]) < bound:
            chain[at] = chain[at - 1]
            at -= 1
        chain[at] = place
        found = min(found + 1, most)
    return found


@within_borrowed
def append_below(axes: Ints, status: Status, chain: Ints, state: Ints, place: int) -> None:
    """Add the direct specializations of a node to a descent whose generalizations all fit."""
    for axis in range(len(axes)):
        stride = axes[axis, STRIDE]
        below = place - stride
        if level_of(place, stride, axes[axis, HEIGHT]) == axes[axis, FLOOR]:
            continue
        fits = status[below] == UNDECIDED
        for other in range(len(axes)):
            step, height = axes[other, STRIDE], axes[other, HEIGHT]
            if level_of(below, step, height) < height:
                fits = fits and status[below + step] == FEASIBLE
        if fits:
            chain[state[LENGTH]] = below
            state[LENGTH] += 1
