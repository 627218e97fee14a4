"""The searches: bisection and descent for the frontier, and the best node with suppression."""

import numpy as np

from anonymizer.kernels.arrays import Floats
from anonymizer.kernels.driver.board import (
    ASK,
    ASKED,
    AT,
    BEST,
    COUNTED,
    DONE,
    FEASIBLE,
    HIGH,
    INFEASIBLE,
    KNOWN,
    LENGTH,
    LOW,
    NOTHING,
    PAUSE,
    PHASE,
    SIZE,
    TOLERANCE,
    UNDECIDED,
    Board,
    alive,
    bound_of,
    decide,
    next_chain,
    note_bounds,
)
from anonymizer.kernels.driver.judging import (
    ASKS,
    BOUND,
    CLASSES,
    HOPEFUL,
    LOST,
    SCORE,
    Objective,
    Policy,
    judged,
    satisfied,
)
from anonymizer.kernels.driver.judging import FEASIBLE as IS_FEASIBLE
from anonymizer.kernels.driver.store import ROLLED, Lattice, Store, fetched, level_of
from anonymizer.kernels.machine import in_machine_code, within_machine_code

BISECTION, DESCENT, SUPPRESSED = range(3)
"""The searches."""

DECIDING, SCORING = range(2)
"""The phases of a search with suppression."""

LOT = 1_000_000
"""Rows rolled up until Python may look in: some 5 ms."""

MOST_AT_ONCE = 32
"""Nodes scored together, at the most."""


@in_machine_code
def advance(
    lattice: Lattice,
    store: Store,
    policy: Policy,
    objective: Objective,
    board: Board,
    search: int,
    most: int,
    verdict: Floats,
) -> int:
    """Search until it is done, or Python has to be asked; why it comes back.

    ``most`` nodes are counted by a descent, which is done with the last that it may count.
    """
    until = store.marks[ROLLED] + LOT
    while True:
        if search == DESCENT:
            code = _descend(lattice, store, policy, objective, board, most, verdict)
        elif search == SUPPRESSED and board.state[PHASE] == SCORING:
            code = _score(lattice, store, policy, objective, board, verdict)
        else:
            code = _bisect(lattice, store, policy, objective, board, search, verdict)
            if code == DONE and search == SUPPRESSED:
                board.state[PHASE], board.state[SIZE], board.state[LENGTH] = SCORING, 1, 0
                board.state[AT] = 0
                code = NOTHING
        if code != NOTHING:
            return code
        if store.marks[ROLLED] > until:
            return PAUSE


@within_machine_code
def _bisect(
    lattice: Lattice,
    store: Store,
    policy: Policy,
    objective: Objective,
    board: Board,
    search: int,
    verdict: Floats,
) -> int:
    """Look at one node of the open chain, or open the next one."""
    state = board.state
    if state[LOW] > state[HIGH] and state[ASKED] == 0:
        if not next_chain(lattice, board):
            return DONE
        if board.best[KNOWN] == 0 or board.best[BEST] == -np.inf:
            return NOTHING
        # The nodes above have been ruled out by their bounds: the highest is most likely hopeless.
        return _look(
            lattice, store, policy, objective, board, search, board.chain[state[LENGTH] - 1], verdict
        )
    if state[ASKED]:
        return _look(
            lattice, store, policy, objective, board, search, state[ASKED] - 1, verdict
        )
    middle = (state[LOW] + state[HIGH]) // 2
    place = board.chain[middle]
    if alive(board, place):
        return _look(lattice, store, policy, objective, board, search, place, verdict)
    if board.status[place] == INFEASIBLE:
        state[LOW] = middle + 1
    else:
        state[HIGH] = middle - 1
    return NOTHING


@within_machine_code
def _look(
    lattice: Lattice,
    store: Store,
    policy: Policy,
    objective: Objective,
    board: Board,
    search: int,
    place: int,
    verdict: Floats,
) -> int:
    """Count a node, and enter what follows; or ask, and enter what was answered."""
    state = board.state
    if state[ASKED] == 0:
        number = fetched(lattice, store, place)
        if search == SUPPRESSED:
            judged(lattice, store, policy, objective, place, number, verdict)
        else:
            satisfied(lattice, store, policy, objective, place, number, verdict)
        if verdict[ASKS]:
            state[ASKED] = place + 1
            return ASK
    state[ASKED] = 0
    feasible = verdict[IS_FEASIBLE] > 0
    counted = state[COUNTED]
    board.counted[counted] = place
    board.feasible[counted] = feasible
    board.scores[counted], board.classes[counted] = verdict[SCORE], np.int64(verdict[CLASSES])
    state[COUNTED] = counted + 1
    if search == SUPPRESSED:
        if board.status[place] == UNDECIDED:
            decide(lattice, board, place, verdict[HOPEFUL] > 0)
        if feasible:
            board.best[BEST] = max(board.best[BEST], verdict[SCORE])
        note_bounds(lattice, board, place, verdict[BOUND], np.int64(verdict[LOST]))
        board.done[place] = True
    elif search == BISECTION:
        decide(lattice, board, place, feasible)
    else:
        board.status[place] = FEASIBLE if feasible else INFEASIBLE
    return NOTHING


@within_machine_code
def _score(
    lattice: Lattice,
    store: Store,
    policy: Policy,
    objective: Objective,
    board: Board,
    verdict: Floats,
) -> int:
    """Score one node of the open batch, or choose the next: the highest bounds, 1, 2, 4, ..."""
    state = board.state
    if state[AT] == state[LENGTH] and state[ASKED] == 0:
        state[LENGTH], state[AT] = _most_promising(board, state[SIZE]), 0
        state[SIZE] = min(2 * state[SIZE], MOST_AT_ONCE)
        return NOTHING if state[LENGTH] else DONE
    place = board.chain[state[AT]]
    code = _look(lattice, store, policy, objective, board, SUPPRESSED, place, verdict)
    if code == NOTHING:
        state[AT] += 1
    return code


@within_machine_code
def _most_promising(board: Board, most: int) -> int:
    """Put the nodes of the highest bounds first that can still win or tie; how many these are.

    Of equal bounds the lexicographically first.
    """
    chain, found, least = board.chain, 0, board.best[BEST] - TOLERANCE
    for place in range(len(board.status)):
        status = board.status[place]
        if status != UNDECIDED and (status != FEASIBLE or board.done[place]):
            continue
        bound = bound_of(board, place)
        if bound < least or (found == most and bound <= bound_of(board, chain[found - 1])):
            continue
        at = found if found < most else found - 1
        while at > 0 and bound_of(board, chain[at - 1]) < bound:
            chain[at] = chain[at - 1]
            at -= 1
        chain[at] = place
        found = min(found + 1, most)
    return found


@within_machine_code
def _descend(
    lattice: Lattice,
    store: Store,
    policy: Policy,
    objective: Objective,
    board: Board,
    most: int,
    verdict: Floats,
) -> int:
    """Look at one node, all of whose direct generalizations are feasible; done when none is left.

    The nodes counted are those of one layer after the other: what is above a node stands before it.
    ``chain`` has the nodes of the layer from AT on up to LENGTH, and those to be counted after them.
    """
    state = board.state
    if state[AT] == state[LENGTH] or state[COUNTED] == most:
        return DONE
    place = board.chain[state[AT]]
    code = _look(lattice, store, policy, objective, board, DESCENT, place, verdict)
    if code != NOTHING:
        return code
    state[AT] += 1
    if board.status[place] == FEASIBLE:
        for axis in range(len(lattice.heights)):
            if level_of(lattice, place, axis) > lattice.floors[axis]:
                below = place - lattice.strides[axis]
                if board.status[below] == UNDECIDED and _all_above(lattice, board, below):
                    board.chain[state[LENGTH]] = below
                    state[LENGTH] += 1
    return NOTHING


@within_machine_code
def _all_above(lattice: Lattice, board: Board, place: int) -> bool:
    """Whether all direct generalizations of a node were found feasible."""
    for axis in range(len(lattice.heights)):
        if level_of(lattice, place, axis) < lattice.heights[axis]:
            if board.status[place + lattice.strides[axis]] != FEASIBLE:
                return False
    return True
