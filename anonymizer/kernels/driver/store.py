"""The frequency sets at hand, and the roll-up of one more from the smallest that serves.

The sets stand one behind the other in buffers that are made once; the one that was rolled up last
stands behind those that are kept, and is kept by moving the mark behind it. Where the buffers are
full, all but the base are forgotten: what is still needed is rolled up again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Columns, Ints, Keys, Places
from anonymizer.kernels.compiled import group_rows, mark_words, merge_entries
from anonymizer.kernels.frequency import FrequencySet
from anonymizer.kernels.machine import within_machine_code

MOST_SETS = 2048
"""Sets kept: looking for the smallest that serves takes as many comparisons."""

WORTH_KEEPING = 0.8
"""A frequency set is kept when it has at most this share of the classes it was made from."""

WORTH_A_STONE = 0.85
"""A stepping stone has at most this share of the classes of the one before."""

FEW = 50
"""Classes below which rolling up is quick from anywhere."""

ROOM = 6
"""Bases that fit into the buffers at least: the base, a path of four stones, and a result."""

ROWS, FIRST, STARTS, ENTRIES = range(4)
"""The columns of ``Store.spans``: the classes of a set, and where its parts begin."""

SETS, LAST, ROLLED = range(3)
"""What ``Store.marks`` tells: the sets kept, the one rolled up last, and the rows read for all."""


class Lattice(NamedTuple):
    """The nodes of a lattice as places: numbers in lexicographic order.

    Attributes
    ----------
    floors, heights, strides
        The lowest and highest level of each attribute, and by how much one more level moves the
        place, shape (attributes,).
    shifts, guards
        Where each attribute's level stands in a node's packed word, shape (attributes,), and the
        bits above all of them: one node is below another where none borrows from its guard.
    masks
        What stays of a key, shape (attributes, levels, words).
    telling
        The attributes that stepping stones fix, shape (some,).
    shares
        Level / height, shape (attributes, levels); 1 at the height.
    """

    floors: Ints
    heights: Ints
    strides: Ints
    shifts: Keys
    guards: np.uint64
    masks: Keys
    telling: Ints
    shares: NDArray[np.float64]


class Store(NamedTuple):
    """Buffers for frequency sets: see ``FrequencySet`` for the first six.

    Attributes
    ----------
    spans, packed
        Where each set stands, shape (sets, 4), and the packed node that it is of, shape (sets,).
    stones
        The set of each stepping stone and 1 more, by place; 0 where it was not made yet.
    marks
        See ``SETS``.
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


def stocked(base: FrequencySet, places: int, columns: int, most_bytes: float) -> Store:
    """A store of the base alone, for a lattice of so many places.

    Memory is taken as it is filled: of large buffers the system gives what is written to.
    """
    rows, entries = len(base), len(base.places)
    fits = int(most_bytes / max(1, base.nbytes))
    sets = max(ROOM, min(fits, MOST_SETS))
    capacity, kind = sets * rows, base.counts.dtype
    listed = len(base.starts) > 0
    store = Store(
        np.empty((capacity, base.keys.shape[1]), np.uint64),
        np.empty((capacity, base.counts.shape[1]), kind),
        np.empty(capacity, np.int32),
        np.empty(capacity + MOST_SETS if listed else 0, np.int64),
        np.empty(sets * entries, np.int32),
        np.empty(sets * entries, kind),
        np.zeros((MOST_SETS + 1, 4), np.int64),
        np.zeros(MOST_SETS + 1, np.uint64),
        np.zeros(places, np.int32),
        np.zeros(3, np.int64),
        np.zeros(base.keys.shape[1], np.uint64),
        np.zeros(1 << max(4, (2 * rows - 1).bit_length()), np.int32),
        np.empty(rows, np.int32),
        np.empty((3, rows + 1 if listed else 0), np.int32),
        np.zeros(columns if listed else 0, kind),
        np.zeros(mark_words(columns) if listed else 0, np.uint64),
    )
    store.keys[:rows], store.counts[:rows], store.members[:rows] = base[:3]
    store.starts[: len(base.starts)] = base.starts
    store.places[:entries], store.numbers[:entries] = base.places, base.numbers
    store.spans[0] = rows, 0, 0, 0
    store.spans[1] = 0, rows, len(base.starts), entries
    store.marks[SETS] = 1
    return store


def classes_of(store: Store, number: int) -> FrequencySet:
    """A set of the store, as long as it stands there."""
    rows, first, start, entry = (int(each) for each in store.spans[number])
    parts = store.keys, store.counts, store.members
    keys, counts, members = (part[first : first + rows] for part in parts)
    if not len(store.starts):
        return FrequencySet(keys, counts, members, numbers=store.numbers[:0])
    starts = store.starts[start : start + rows + 1]
    stop = entry + int(starts[-1])
    return FrequencySet(
        keys, counts, members, starts, store.places[entry:stop], store.numbers[entry:stop]
    )


@within_machine_code
def level_of(lattice: Lattice, place: int, axis: int) -> int:
    """A node's level of an attribute."""
    return (place // lattice.strides[axis]) % (lattice.heights[axis] + 1)


@within_machine_code
def packed_of(lattice: Lattice, place: int) -> int:
    """The levels of a node in one word."""
    word = np.uint64(0)
    for axis in range(len(lattice.heights)):
        word |= np.uint64(level_of(lattice, place, axis)) << lattice.shifts[axis]
    return word


@within_machine_code
def fetched(lattice: Lattice, store: Store, place: int) -> int:
    """Roll up the classes of a node, and keep them if they are few; the number of their set."""
    _make_room(store)
    source = _stone(lattice, store, place)
    source = _smallest_below(lattice, store, packed_of(lattice, place), source)
    target = _rolled_up(lattice, store, source, place)
    rows = store.spans[target, ROWS]
    if FEW < rows <= WORTH_KEEPING * store.spans[source, ROWS]:
        _keep(lattice, store, place)
    store.marks[LAST] = target
    return target


@within_machine_code
def _make_room(store: Store) -> None:
    """Forget all sets but the base where a path of stones and a result might not fit."""
    sets, rows = store.marks[SETS], store.spans[0, ROWS]
    free = len(store.keys) - store.spans[sets, FIRST]
    entries = store.spans[1, ENTRIES]
    spare = len(store.places) - store.spans[sets, ENTRIES]
    if sets + ROOM > MOST_SETS or free < (ROOM - 1) * rows or spare < (ROOM - 1) * entries:
        store.marks[SETS] = 1
        for place in range(len(store.stones)):
            store.stones[place] = 0


@within_machine_code
def _stone(lattice: Lattice, store: Store, place: int) -> int:
    """The set of a node's stepping stone; those on the way to it are made."""
    found, stone = 0, 0
    for axis in lattice.telling:
        level = level_of(lattice, place, axis)
        if level == 0:
            continue
        stone += level * lattice.strides[axis]
        if store.stones[stone] == 0:
            store.stones[stone] = 1 + _laid(lattice, store, found, stone)
        found = store.stones[stone] - 1
    return found


@within_machine_code
def _laid(lattice: Lattice, store: Store, source: int, place: int) -> int:
    """Make a stone; where it is not much smaller than its source, that stands for it."""
    if store.spans[source, ROWS] <= FEW:
        return source
    target = _rolled_up(lattice, store, source, place)
    if store.spans[target, ROWS] > WORTH_A_STONE * store.spans[source, ROWS]:
        return source
    _keep(lattice, store, place)
    return target


@within_machine_code
def _smallest_below(lattice: Lattice, store: Store, packed: int, found: int) -> int:
    """The smallest set that a node's can be rolled up from, and no larger than one found."""
    guarded, least = packed | lattice.guards, store.spans[found, ROWS]
    for number in range(1, store.marks[SETS]):
        if store.spans[number, ROWS] < least:
            if (guarded - store.packed[number]) & lattice.guards == lattice.guards:
                found, least = number, store.spans[number, ROWS]
    return found


@within_machine_code
def _keep(lattice: Lattice, store: Store, place: int) -> None:
    """Keep the set that was rolled up last."""
    number = store.marks[SETS]
    store.packed[number] = packed_of(lattice, place)
    span = store.spans[number]
    after = store.spans[number + 1]
    after[FIRST] = span[FIRST] + span[ROWS]
    if len(store.starts):
        after[STARTS] = span[STARTS] + span[ROWS] + 1
        after[ENTRIES] = span[ENTRIES] + store.starts[after[STARTS] - 1]
    store.marks[SETS] = number + 1


@within_machine_code
def _rolled_up(lattice: Lattice, store: Store, source: int, place: int) -> int:
    """Roll up the classes of a node from a set, behind those that are kept."""
    mask = store.mask
    for word in range(len(mask)):
        mask[word] = 0
        for axis in range(len(lattice.heights)):
            mask[word] |= lattice.masks[axis, level_of(lattice, place, axis), word]
    rows, first, start, entry = store.spans[source]
    target = store.marks[SETS]
    into = store.spans[target]
    bits = 4
    while 1 << bits < 2 * rows:
        bits += 1
    stop, listed = into[FIRST] + rows, len(store.starts) > 0
    store.marks[ROLLED] += rows
    groups = group_rows(
        store.keys[first : first + rows],
        store.counts[first : first + rows],
        store.members[first : first + rows],
        mask,
        bits,
        store.table,
        store.slots,
        store.keys[into[FIRST] : stop],
        store.counts[into[FIRST] : stop],
        store.members[into[FIRST] : stop],
        store.room[0] if listed else store.room[0, :0],
    )
    if listed:
        starts = store.starts[start : start + rows + 1]
        stop = entry + starts[rows]
        merge_entries(
            starts,
            store.places[entry:stop],
            store.numbers[entry:stop],
            groups,
            store.room,
            store.scratch,
            store.marked,
            store.starts[into[STARTS] :],
            store.places[into[ENTRIES] :],
            store.numbers[into[ENTRIES] :],
        )
    into[ROWS] = groups
    return target
