"""The frequency sets at hand, and the roll-up of one more from the smallest that serves.

The sets stand one behind the other in buffers that are made once; the one that was rolled up last
stands behind those that are kept, and is kept by moving the mark behind it. Where the buffers are
full, all but the base are forgotten: what is still needed is rolled up again.
"""

from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Columns, Floats, Ints, Keys, Places
from anonymizer.kernels.checks import DENSE
from anonymizer.kernels.compiled import group_rows, mark_words, merge_entries
from anonymizer.kernels.frequency import FrequencySet
from anonymizer.kernels.machine import within_borrowed

MOST_SETS = 2048
"""Sets kept: looking for the smallest that serves takes as many comparisons."""

WORTH_KEEPING = 0.8
"""A frequency set is kept when it has at most this share of the classes it was made from."""

WORTH_A_STONE = 0.85
"""A stepping stone has at most this share of the classes of the one before."""

ROOM = 10
"""Bases that fit into the buffers at least: the base, a path of stones, and a result."""

ROWS, FIRST, STARTS, ENTRIES = range(4)
"""The columns of ``Sets.spans``: the classes of a set, and where its parts begin."""

KEPT, LAST, ROLLED, FEW = range(4)
"""What ``Sets.marks`` tells.

The sets kept, the one rolled up last, the rows read for all, and the classes up to which rolling up
is quick from anywhere.
"""

FLOOR, HEIGHT, STRIDE = range(3)
"""The columns of ``NodePlaces.axes``."""


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
    """Buffers for frequency sets: see ``FrequencySet`` for the first six, and ``DENSE``.

    Attributes
    ----------
    spans, packed
        Where each set stands, shape (sets, 4), and the packed node that it is of, shape (sets,).
    stones
        The set of each stepping stone and 1 more, by place; 0 where it was not made yet.
    marks
        See ``KEPT``.
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
        np.empty(capacity + MOST_SETS, np.int64) if listed else DENSE,
        np.empty(sets * entries, np.int32) if listed else DENSE,
        np.empty(sets * entries, kind),
        np.zeros((MOST_SETS + 1, 4), np.int64),
        np.zeros(MOST_SETS + 1, np.uint64),
        np.zeros(places, np.int32),
        np.zeros(4, np.int64),
        np.zeros(base.keys.shape[1], np.uint64),
        np.zeros(1 << max(4, (2 * rows - 1).bit_length()), np.int32),
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
    made.marks[KEPT], made.marks[FEW] = 1, few
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


@within_borrowed
def level_of(place: int, stride: int, height: int) -> int:
    """A node's level of an attribute."""
    return (place // stride) % (height + 1)


@within_borrowed
def source_of(
    axes: Ints,
    shifts: Keys,
    guards: Keys,
    telling: Ints,
    spans: Ints,
    packed: Keys,
    stones: Places,
    marks: Ints,
    place: int,
) -> tuple[int, int]:
    """The set that a node's is to be rolled up from, and -1; or a stone to be made, and from what.

    The stone is the node that agrees with it in the attributes of most entropy, and is the lowest
    in others: see ``FrequencySets``.
    """
    found, stone = 0, 0
    for axis in telling:
        level = level_of(place, axes[axis, STRIDE], axes[axis, HEIGHT])
        if level == 0:
            continue
        stone += level * axes[axis, STRIDE]
        if stones[stone] == 0:
            if spans[found, ROWS] > marks[FEW]:
                return found, stone
            stones[stone] = found + 1
        found = stones[stone] - 1
    word = guards[0]
    for axis in range(len(axes)):
        level = level_of(place, axes[axis, STRIDE], axes[axis, HEIGHT])
        word |= np.uint64(level) << shifts[axis]
    least = spans[found, ROWS]
    for number in range(1, marks[KEPT]):
        if spans[number, ROWS] < least and (word - packed[number]) & guards[0] == guards[0]:
            found, least = number, spans[number, ROWS]
    return found, -1


@within_borrowed
def keep(
    axes: Ints, shifts: Keys, spans: Ints, packed: Keys, starts: Ints, marks: Ints, place: int
) -> None:
    """Keep the set that was rolled up last."""
    number, word = marks[KEPT], np.uint64(0)
    for axis in range(len(axes)):
        level = level_of(place, axes[axis, STRIDE], axes[axis, HEIGHT])
        word |= np.uint64(level) << shifts[axis]
    packed[number] = word
    spans[number + 1, FIRST] = spans[number, FIRST] + spans[number, ROWS]
    if len(starts) > 0:
        spans[number + 1, STARTS] = spans[number, STARTS] + spans[number, ROWS] + 1
        listed = starts[spans[number, STARTS] + spans[number, ROWS]]
        spans[number + 1, ENTRIES] = spans[number, ENTRIES] + listed
    marks[KEPT] = number + 1


@within_borrowed
def forget_where_full(spans: Ints, stones: Places, marks: Ints, capacity: int, listed: int) -> None:
    """Forget all sets but the base where a path of stones and a result might not fit."""
    kept = marks[KEPT]
    free, spare = capacity - spans[kept, FIRST], listed - spans[kept, ENTRIES]
    full = free < (ROOM - 1) * spans[0, ROWS] or spare < (ROOM - 1) * spans[1, ENTRIES]
    if full or kept + ROOM > MOST_SETS:
        marks[KEPT] = 1
        stones[:] = 0


@within_borrowed
def roll_up(
    axes: Ints,
    masks: Keys,
    sets: Sets,
    starts: Ints,
    places: Places,
    numbers: Columns,
    source: int,
    place: int,
) -> None:
    """Roll up the classes of a node from a set, behind those that are kept.

    The entries stand beside the sets as arguments: of dense classes they are empty tuples, and what
    is done with them is not compiled.
    """
    mask, spans = sets.mask, sets.spans
    for word in range(len(mask)):
        mask[word] = 0
        for axis in range(len(axes)):
            level = level_of(place, axes[axis, STRIDE], axes[axis, HEIGHT])
            mask[word] |= masks[axis, level, word]
    rows, first = spans[source, ROWS], spans[source, FIRST]
    target = sets.marks[KEPT]
    into = spans[target, FIRST]
    bits = 4
    while 1 << bits < 2 * rows:
        bits += 1
    groups = group_rows(
        sets.keys[first : first + rows],
        sets.counts[first : first + rows],
        sets.members[first : first + rows],
        mask,
        bits,
        sets.table,
        sets.slots,
        sets.keys[into : into + rows],
        sets.counts[into : into + rows],
        sets.members[into : into + rows],
        sets.room[0],
    )
    if len(starts) > 0:
        start, entry = spans[source, STARTS], spans[source, ENTRIES]
        merge_entries(
            starts[start : start + rows + 1],
            places[entry:],
            numbers[entry:],
            groups,
            sets.room,
            sets.scratch,
            sets.marked,
            starts[spans[target, STARTS] :],
            places[spans[target, ENTRIES] :],
            numbers[spans[target, ENTRIES] :],
        )
    spans[target, ROWS] = groups
    sets.marks[LAST] = target
    sets.marks[ROLLED] += rows
