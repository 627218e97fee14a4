"""The searches: bisection and descent for the frontier, and the best node with suppression."""

from collections.abc import Callable
from typing import Any

import numpy as np

from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.kernels.checks import breaks
from anonymizer.kernels.driver import BISECTION, DESCENT, LOOK, SUPPRESSED, judging, store
from anonymizer.kernels.driver import board as of_board
from anonymizer.kernels.driver.board import (
    ASK,
    ASKED,
    AT,
    BEST,
    COUNTED,
    DONE,
    HIGH,
    INFEASIBLE,
    KNOWN,
    LENGTH,
    LOW,
    PAUSE,
    PHASE,
    SIZE,
    TOLERANCE,
    UNDECIDED,
    NodeBoard,
)
from anonymizer.kernels.driver.judging import ASKS, BOUND, HOPEFUL, LOST, Terms
from anonymizer.kernels.driver.store import KEPT, ROLLED, NodePlaces, Sets
from anonymizer.kernels.machine import on_borrowed, within_borrowed
from anonymizer.kernels.rules import Laid

DECIDING, SCORING = range(2)
"""The phases of a search with suppression."""

OPENED, THROUGH = -1, -2
"""What stands for the next node where there is none: something was decided, or all is."""

FITS = judging.FEASIBLE


def _advancing(name: str) -> Callable[..., int]:
    """The loop of all searches, compiled and kept on disk under a name of its own."""

    def advance(
        nodes: NodePlaces,
        sets: Sets,
        terms: Terms,
        board: NodeBoard,
        search: int,
        most: int,
        lot: int,
        verdict: Floats,
    ) -> int:
        """Search until it is done, or Python has to decide; why it comes back.

        A node that Python was asked about is entered with the verdict that it gave. ``most`` nodes
        are counted by a descent, or scored together at the most; or it is the place to look at.
        Python may look in after a ``lot`` of rows rolled up.
        """
        state, until = board.state, sets.marks[ROLLED] + lot
        while True:
            place = state[ASKED] - 1
            if place < 0:
                place = most if search == LOOK else _next(nodes, board, search, most)
                if place == THROUGH:
                    return DONE
                if place == OPENED:
                    continue
                _fetch(nodes, sets, place)
                _judge(nodes, sets, terms, place, search >= SUPPRESSED, verdict)
                if search == LOOK:
                    return ASK if verdict[ASKS] else DONE
                if verdict[ASKS]:
                    state[ASKED] = place + 1
                    return ASK
            state[ASKED] = 0
            _enter(nodes, board, search, place, verdict)
            if sets.marks[ROLLED] > until:
                return PAUSE

    advance.__qualname__ = name
    return on_borrowed(advance)


advance, advance_listed = _advancing("advance"), _advancing("advance_listed")
"""Of dense classes, and of sparse ones."""


@within_borrowed
def _next(nodes: NodePlaces, board: NodeBoard, search: int, most: int) -> int:
    """The next node to count."""
    state = board.state
    if search == DESCENT:
        if state[AT] == state[LENGTH] or state[COUNTED] == most:
            return THROUGH
        state[AT] += 1
        return int(board.chain[state[AT] - 1])
    if state[PHASE] == SCORING:
        if state[AT] == state[LENGTH]:
            state[AT] = 0
            state[LENGTH] = of_board.most_promising(
                board.status,
                board.ceilings,
                board.tolls,
                board.lost,
                board.done,
                board.chain,
                board.best[BEST],
                state[SIZE],
            )
            state[SIZE] = min(2 * state[SIZE], most)
            if state[LENGTH] == 0:
                return THROUGH
        state[AT] += 1
        return int(board.chain[state[AT] - 1])
    if state[LOW] <= state[HIGH]:
        return _bisected(board)
    if of_board.next_chain(
        nodes.axes,
        nodes.shares,
        board.status,
        board.ceilings,
        board.tolls,
        board.lost,
        board.chain,
        state,
        board.best[BEST],
    ):
        # The nodes above have been ruled out by their bounds: the highest is most likely hopeless.
        first = board.best[KNOWN] > 0 and board.best[BEST] > -np.inf
        return int(board.chain[state[LENGTH] - 1]) if first else OPENED
    if search == BISECTION:
        return THROUGH
    state[PHASE], state[SIZE], state[LENGTH], state[AT] = SCORING, 1, 0, 0
    return OPENED


@within_borrowed
def _bisected(board: NodeBoard) -> int:
    """The node in the middle of what is left of the open chain, where it may still win."""
    state = board.state
    middle = (state[LOW] + state[HIGH]) // 2
    place = board.chain[middle]
    if board.status[place] == INFEASIBLE:
        state[LOW] = middle + 1
    elif board.status[place] == UNDECIDED and (
        of_board.bounded(board.ceilings, board.tolls, board.lost, place)
        >= board.best[BEST] - TOLERANCE
    ):
        return int(place)
    else:
        state[HIGH] = middle - 1
    return OPENED


@within_borrowed
def _fetch(nodes: NodePlaces, sets: Sets, place: int) -> None:
    """Roll up the classes of a node, the stepping stones on the way to it first; keep a few."""
    spans, marks = sets.spans, sets.marks
    store.forget_where_full(spans, sets.stones, marks, len(sets.keys), len(sets.places))
    while True:
        source, stone = store.source_of(
            nodes.axes,
            nodes.shifts,
            nodes.guards,
            nodes.telling,
            spans,
            sets.packed,
            sets.stones,
            marks,
            place,
        )
        made = place if stone < 0 else stone
        store.roll_up(
            nodes.axes, nodes.masks, sets, sets.starts, sets.places, sets.numbers, source, made
        )
        rows, before = spans[marks[KEPT], store.ROWS], spans[source, store.ROWS]
        if stone < 0:
            worth = marks[store.FEW] < rows <= store.WORTH_KEEPING * before
        else:
            worth = rows <= store.WORTH_A_STONE * before
            sets.stones[stone] = 1 + (marks[KEPT] if worth else source)
        if worth:
            store.keep(nodes.axes, nodes.shifts, spans, sets.packed, sets.starts, marks, made)
        if stone < 0:
            return


@within_borrowed
def _judge(
    nodes: NodePlaces, sets: Sets, terms: Terms, place: int, suppresses: bool, verdict: Floats
) -> None:
    """Judge the classes that were rolled up last."""
    facts, span = terms.facts, sets.spans[sets.marks[store.LAST]]
    verdict[ASKS], verdict[FITS], verdict[HOPEFUL], verdict[BOUND] = 0, 0, 1, np.inf
    lost, removed = 0, False
    if suppresses:
        lost = _lost(sets, terms, span, facts[judging.LASTING], terms.lasting, terms.broken)
        verdict[LOST], verdict[HOPEFUL] = lost, lost <= facts[judging.MOST]
    if not suppresses or (verdict[HOPEFUL] > 0 and not facts[judging.LASTS]):
        lost = _lost(sets, terms, span, facts[judging.LEAST], terms.laid, terms.broken)
    fits, small = lost <= facts[judging.MOST], facts[judging.SMALL]
    verdict[judging.CLASSES] = span[store.ROWS]
    if fits and lost and small:
        fits = _all_small(sets, terms, span, small)
    if fits and lost:
        removed = _suppress(nodes, sets, terms, span, place, verdict)
        fits = not removed or lost < facts[judging.RECORDS]
        if removed and small and not facts[judging.REMOVES]:
            fits = fits and (terms.together[0, -1] < small or _breaks(terms, terms.sized))
    verdict[FITS], verdict[judging.GONE] = fits, lost
    if facts[judging.GOAL] == judging.INFORMATION:
        _inform(sets, span, terms, suppresses, fits, lost, removed, verdict)
    else:
        _score(nodes, sets, terms, span, place, suppresses, lost, verdict)


@within_borrowed
def _all_small(sets: Sets, terms: Terms, span: Ints, small: int) -> bool:
    """Whether all marked classes break what sensitive values do not decide."""
    if len(terms.sized.limits) == 0:
        return judging.all_small(sets.counts, span, terms.broken, small)
    _lost(sets, terms, span, small, terms.sized, terms.small)
    return judging.all_among(span[store.ROWS], terms.broken, terms.small)


@within_borrowed
def _breaks(terms: Terms, laid: Laid) -> bool:
    """Whether suppressed classes as one break bounds."""
    return bool(breaks(terms.together, 0, laid, terms.logs, terms.grassbergers, terms.sums))


@within_borrowed
def _lost(sets: Sets, terms: Terms, span: Ints, least: int, laid: Laid, broken: Mask) -> int:
    """Mark classes that break bounds; their records, until beyond the budget."""
    return judging.lost_records(
        sets.counts,
        sets.starts,
        sets.places,
        sets.numbers,
        span,
        least,
        laid,
        terms.facts[judging.MOST],
        terms.logs,
        terms.grassbergers,
        terms.sums,
        broken,
    )


@within_borrowed
def _suppress(
    nodes: NodePlaces, sets: Sets, terms: Terms, span: Ints, place: int, verdict: Floats
) -> bool:
    """Suppress the marked classes: whether they are removed, or else are one class."""
    facts, together = terms.facts, terms.together
    number = judging.merge_broken(
        sets.counts, sets.starts, sets.places, sets.numbers, span, terms.broken, together
    )
    removed = facts[judging.REMOVES] > 0
    if not removed and not facts[judging.EXEMPT]:
        removed = together[0, -1] < facts[judging.LEAST] or _breaks(terms, terms.laid)
    hides = judging.may_hide_all(nodes.axes, terms.hidden, place)
    verdict[ASKS] = hides or (removed and not facts[judging.ABSOLUTE])
    verdict[judging.CLASSES] += (not removed) - number
    return bool(removed)


@within_borrowed
def _score(
    nodes: NodePlaces,
    sets: Sets,
    terms: Terms,
    span: Ints,
    place: int,
    suppresses: bool,
    lost: int,
    verdict: Floats,
) -> None:
    """The score of a node by its levels or by class sizes, and what bounds it."""
    facts, first, rows = terms.facts, span[store.FIRST], span[store.ROWS]
    counts, goal = sets.counts[first : first + rows], facts[judging.GOAL]
    if goal == judging.LEVELS:
        if verdict[FITS] > 0:
            verdict[judging.SCORE] = judging.score_by_levels(
                nodes.axes,
                place,
                counts,
                sets.members[first : first + rows],
                terms.broken,
                lost,
                facts,
                terms.totals,
                terms.shares,
                terms.extra,
                terms.begins,
                terms.cells,
            )
        return
    if suppresses:
        verdict[BOUND] = judging.bound_by_size(
            counts, goal, facts[judging.FLOOR], facts[judging.MOST]
        )
    if verdict[FITS] > 0:
        verdict[judging.SCORE] = judging.score_by_size(
            counts, terms.broken, goal, lost, facts[judging.RECORDS]
        )


@within_borrowed
def _inform(
    sets: Sets,
    span: Ints,
    terms: Terms,
    suppresses: bool,
    fits: bool,
    lost: int,
    removed: bool,
    verdict: Floats,
) -> None:
    """The score of a node by its information, and its bound."""
    records = terms.facts[judging.RECORDS]
    for plain in range(2):
        if not (suppresses if plain else fits):
            continue
        bits = verdict[judging.SCORE]
        if not plain or not fits or lost:
            bits = judging.information(
                sets.counts,
                sets.starts,
                sets.places,
                sets.numbers,
                span,
                terms.broken,
                terms.together,
                terms.spans,
                terms.weights,
                terms.margins,
                terms.logs,
                records,
                0 if plain else lost,
                removed and not plain,
            )
        if plain:
            verdict[BOUND] = bits / (1 - terms.facts[judging.MOST] / records)
        else:
            verdict[judging.SCORE] = bits


@within_borrowed
def _enter(nodes: NodePlaces, board: NodeBoard, search: int, place: int, verdict: Floats) -> None:
    """Enter what was found at a node, and what follows for those above and below."""
    state, status, fits = board.state, board.status, verdict[FITS] > 0
    row = board.log[state[COUNTED]]
    row[of_board.PLACE], row[of_board.FITS] = place, fits
    row[of_board.SCORE], row[of_board.CLASSES] = verdict[judging.SCORE], verdict[judging.CLASSES]
    state[COUNTED] += 1
    hopeful, bound = fits, np.inf
    lost: Any = 0
    if search == DESCENT:
        status[place] = of_board.FEASIBLE if fits else INFEASIBLE
        if fits:
            of_board.append_below(nodes.axes, status, board.chain, state, place)
        return
    decides = status[place] == UNDECIDED
    if search == SUPPRESSED:
        hopeful = verdict[HOPEFUL] > 0
        bound = verdict[BOUND] if verdict[BOUND] < board.ceilings[place] else np.inf
        lost = np.int64(verdict[LOST]) if verdict[LOST] > board.lost[place] else 0
        board.done[place] = True
        if fits:
            board.best[BEST] = max(board.best[BEST], verdict[judging.SCORE])
    for above in range(2):
        mark = -1
        if decides and hopeful == (above == 1):
            mark = of_board.FEASIBLE if hopeful else INFEASIBLE
        least = 0 if above else lost
        ceiling = bound if above else np.inf
        if mark >= 0 or ceiling < np.inf or least > 0:
            of_board.spread(
                nodes.axes,
                nodes.box,
                place,
                above == 1,
                status,
                board.ceilings,
                board.lost,
                mark,
                ceiling,
                least,
            )
