"""The searches of a lattice in machine code: which node next, its classes, its verdict.

What a search does between two roll-ups takes about as long in Python as the roll-ups themselves.
Here all of it runs without the interpreter and its lock. Python is asked only for verdicts that
need it (``Reason.ASK``), and between lots of nodes (``Reason.PAUSE``), when it may interrupt and
show progress. The searches in ``recoding.full_domain`` that are written in Python are the readable
definition: nodes are looked at in the same order, and known by the same rules.

What a node's verdict is: may it be released, with what suppressed, and its score. What is left to
Python: classes that are ``*`` throughout, and records that are removed under models that compare
classes with the whole table.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Codes, Columns, Floats, Ints, Keys, Mask, Places
from anonymizer.kernels.counting import mark_words, table_size
from anonymizer.kernels.frequency import FrequencySet
from anonymizer.kernels.native import Packed, call
from anonymizer.kernels.rules import Laid

Status = NDArray[np.int8]

MOST_SETS = 2048
"""Sets kept: looking for the smallest that serves takes as many comparisons."""

ROOM = 10
"""Bases that fit into the buffers at least: the base, a path of stones, and a result."""


class Strategy(IntEnum):
    """Way to search; the last one looks at a single node."""

    BISECTION = 0
    DESCENT = 1
    SUPPRESSED = 2
    LOOK = 3


class Reason(IntEnum):
    """Why a search comes back: it is through, Python may look in, or has to judge a node."""

    DONE = 0
    PAUSE = 1
    ASK = 2


class State(IntEnum):
    """Entry of ``NodeBoard.state``.

    The first place that may be undecided; what is still to be bisected of the open chain, and its
    nodes, or those of the open batch, or those of a descent; the nodes counted; the node that
    Python was asked about, and 1 more; the phase; the size of the next batch; how far the batch, or
    the descent, is done.
    """

    FIRST = 0
    LOW = 1
    HIGH = 2
    LENGTH = 3
    COUNTED = 4
    ASKED = 5
    PHASE = 6
    BATCH = 7
    AT = 8


class Stock(IntEnum):
    """Entry of ``Sets.marks``.

    The sets kept, the one rolled up last, the rows read for all, and the classes up to which
    rolling up is quick from anywhere.
    """

    KEPT = 0
    LAST = 1
    ROLLED = 2
    FEW = 3


class Finding(IntEnum):
    """Entry of a verdict; ``GONE``: records suppressed; ``ASKS``: Python has to say."""

    HOPEFUL = 0
    LOST = 1
    BOUND = 2
    FEASIBLE = 3
    SCORE = 4
    CLASSES = 5
    GONE = 6
    ASKS = 7


class Goal(IntEnum):
    """Quantity that is maximised, as scores of a node."""

    LEVELS = 0
    """Minus what each value costs at its level, and more where it is suppressed."""
    SQUARES = 1
    """Minus the sum of n_g^2, suppressed records counting N each."""
    CLASSES = 2
    """The number of classes, suppressed records being one."""
    INFORMATION = 3
    """I(X~;W) in bits, a weighted sum over attributes."""


class Term(IntEnum):
    """Entry of ``Terms.facts``.

    What is maximised; the records that classes must have by all models; those that may be
    suppressed, and those of the table; whether all of the policy is strongly monotone; see
    ``Suppression``; whether no bound depends on the table; whether 1 + mean costs are multiplied;
    see ``Budget.least``; the records that classes must have by what is strongly monotone; and those
    of a class that may not be suppressed unless it breaks ``Terms.sized``, 0 where any may.
    """

    GOAL = 0
    LEAST = 1
    MOST = 2
    RECORDS = 3
    LASTS = 4
    REMOVES = 5
    EXEMPT = 6
    ABSOLUTE = 7
    GEOMETRIC = 8
    FLOOR = 9
    LASTING = 10
    SMALL = 11


class NodePlaces(NamedTuple):
    """The nodes of a lattice as places: numbers in lexicographic order.

    Attributes
    ----------
    axes
        The lowest and highest level of each attribute, and by how much one more level moves the
        place, shape (attributes, 3).
    shifts, guards
        Where each attribute's level stands in a node's packed word, shape (attributes,), and the
        bits above all of them, shape (1,): one node is below another where none borrows from its
        guard.
    masks
        What stays of a key, shape (attributes, levels, words).
    telling
        The attributes that stepping stones fix, shape (some,).
    shares
        Level / height, shape (attributes, levels); 1 at the height.
    box
        Scratch, shape (2, attributes).
    """

    axes: Ints
    shifts: Keys
    guards: Keys
    masks: Keys
    telling: Ints
    shares: Floats
    box: Ints


class Sets(NamedTuple):
    """Buffers for frequency sets: see ``FrequencySet`` for the first six.

    Attributes
    ----------
    spans, packed
        The classes of each set, and where its classes, starts and entries begin, shape (sets, 4);
        and the packed node that it is of, shape (sets,).
    stones
        The set of each stepping stone and 1 more, by place; 0 where it was not made yet.
    marks
        See ``Stock``, shape (4,).
    mask, table, slots, room, scratch, marked
        Scratch for the kernels.
    """

    keys: Keys
    counts: Columns
    members: Places
    starts: Ints
    places: Places
    numbers: Columns
    spans: Ints
    packed: Keys
    stones: Places
    marks: Ints
    mask: Keys
    table: Places
    slots: Places
    room: Places
    scratch: Columns
    marked: Keys


def stocked(base: FrequencySet, places: int, columns: int, most_bytes: float, few: int) -> Sets:
    """Sets of which the base alone is at hand, for a lattice of so many places.

    Memory is taken as it is filled: of large buffers the system gives what is written to.
    """
    rows, entries = len(base), len(base.places)
    sets = max(ROOM, min(int(most_bytes / max(1, base.nbytes)), MOST_SETS))
    capacity, kind = sets * rows, base.counts.dtype
    listed = len(base.starts) > 0
    made = Sets(
        np.empty((capacity, base.keys.shape[1]), np.uint64),
        np.empty((capacity, base.counts.shape[1]), kind),
        np.empty(capacity, np.int32),
        np.empty(capacity + MOST_SETS if listed else 0, np.int64),
        np.empty(sets * entries, np.int32),
        np.empty(sets * entries, kind),
        np.zeros((MOST_SETS + 1, 4), np.int64),
        np.zeros(MOST_SETS + 1, np.uint64),
        np.zeros(places, np.int32),
        np.zeros(4, np.int64),
        np.zeros(base.keys.shape[1], np.uint64),
        np.zeros(table_size(rows), np.int32),
        np.empty(rows, np.int32),
        np.empty((3, rows + 1 if listed else 0), np.int32),
        np.zeros(columns if listed else 0, kind),
        np.zeros(mark_words(columns) if listed else 0, np.uint64),
    )
    made.keys[:rows], made.counts[:rows], made.members[:rows] = base[:3]
    if listed:
        made.starts[: len(base.starts)] = base.starts
        made.places[:entries], made.numbers[:entries] = base.places, base.numbers
    made.spans[0] = rows, 0, 0, 0
    made.spans[1] = 0, rows, len(base.starts), entries
    made.marks[Stock.KEPT], made.marks[Stock.FEW] = 1, few
    return made


def classes_of(sets: Sets, number: int) -> FrequencySet:
    """The classes of a set, as long as it stands there."""
    rows, first, start, entry = (int(each) for each in sets.spans[number])
    own = slice(first, first + rows)
    keys, counts, members = sets.keys[own], sets.counts[own], sets.members[own]
    if not len(sets.starts):
        return FrequencySet(keys, counts, members, numbers=sets.numbers[:0])
    starts = sets.starts[start : start + rows + 1]
    stop = entry + int(starts[-1])
    return FrequencySet(
        keys, counts, members, starts, sets.places[entry:stop], sets.numbers[entry:stop]
    )


class Terms(NamedTuple):
    """A policy and an objective.

    Attributes
    ----------
    facts
        See ``Term``, shape (12,).
    laid, lasting, sized
        The bounds of all models, of what is strongly monotone, and of what sensitive values do not
        decide: see ``Rules``.
    hidden
        Whether any value's label is ``*``, by attribute and level.
    logs, grassbergers
        Tables of what stands for n log2 n.
    sums, together, broken, small
        Scratch: one number more than columns; a row of all columns, shape (1, columns); which
        classes break the policy, and which ``sized``, shape (rows,) each.
    spans, weights, margins
        Of information: columns [start, stop) and weight of each attribute, shape (attributes, 2)
        and (attributes,), and the records of the table by column, shape (columns,).
    totals, shares, extra, begins, cells
        Of levels: the cost of all records and the weight of each attribute, (attributes, levels)
        and (attributes,); what a suppressed value costs more, of all attributes and levels one
        after the other, and where each begins, (attributes, levels); the value codes of raw
        classes, (classes, attributes).
    """

    facts: Ints
    laid: Laid
    lasting: Laid
    sized: Laid
    hidden: Mask
    logs: Floats
    grassbergers: Floats
    sums: Ints
    together: Columns
    broken: Mask
    small: Mask
    spans: Ints
    weights: Floats
    margins: Ints
    totals: Floats
    shares: Floats
    extra: Floats
    begins: Ints
    cells: Codes


class NodeBoard(NamedTuple):
    """Knowledge about every node.

    Attributes
    ----------
    status
        What is known of each: see ``full_domain.frontier``, shape (places,).
    ceilings, lost, tolls, done
        See ``SuppressionSearch``, shape (places,); empty where nothing may be suppressed.
    chain
        The places of the open chain, of the open batch, or of a descent.
    log
        The nodes counted, in order: their places, whether they are feasible, their scores and
        classes, shape (places, 4).
    state, best
        See ``State``, shape (9,); the best score, and 1 where all bounds are known beforehand.
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


class Driver:
    """Searches of one lattice, laid out for many calls.

    Parameters
    ----------
    nodes, sets, terms, board
        What is searched, and what is known; the calls write into these.
    """

    def __init__(self, nodes: NodePlaces, sets: Sets, terms: Terms, board: NodeBoard) -> None:
        self.verdict = np.zeros(len(Finding))
        listed = len(sets.starts) > 0
        # An array of the type of the counts comes first: kernels choose by it.
        self._packed = listed, Packed(sets.counts[:0], self.verdict, nodes, sets, terms, board)

    def advance(self, strategy: Strategy, most: int, lot: int = 0) -> Reason:
        """Search until it is done, or Python has to decide; why it comes back.

        A node that Python was asked about is entered with the verdict that it gave. ``most`` nodes
        are counted by a descent, or scored together at the most; or it is the place to look at.
        Python may look in after a ``lot`` of rows rolled up.
        """
        listed, packed = self._packed
        return Reason(int(call("search_lattice", listed, strategy, most, lot, packed)))
