"""The kernels that count, in machine code (numba); compiled on first use and cached on disk.

Small loops over fixed buffers: growing arrays inside compiled code is what makes compiling slow.
All release the interpreter's lock. Open-addressing hash tables hold row number + 1, 0 being free;
they are at most half full, so that probing ends, and zeroed again by the rows that filled them.
"""

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from anonymizer.kernels.arrays import Columns, Ints, Keys, Places
from anonymizer.kernels.frequency import FrequencySet, Words
from anonymizer.kernels.machine import in_machine_code, within_machine_code

MIX = np.uint64(0x9E3779B97F4A7C15)
ONE, NONE = np.uint64(1), np.uint64(0)

DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
"""Multiplied by 2^i, its first 6 bits are different for each i."""

TRAILING = np.zeros(64, np.int64)
"""The number of a word's lowest bit, by those 6 bits of its product."""
with np.errstate(over="ignore"):
    TRAILING[[int((ONE << np.uint64(i)) * DE_BRUIJN >> np.uint64(58)) for i in range(64)]] = (
        np.arange(64)
    )


@within_machine_code
def group_rows(
    keys: Keys,
    counts: Columns,
    members: Places,
    mask: Keys,
    bits: int,
    table: Places,
    slots: Places,
    found: Keys,
    sums: Columns,
    firsts: Places,
    group_of: Places,
) -> int:
    """Merge rows whose masked keys agree; the number of groups.

    ``mask`` (words,) has the bits that tell rows apart. The group of each row is noted in
    ``group_of``, where that has room. Neighbours often agree, but which do is hard to foresee: to
    look for that first costs the processor more than to look up every row.
    """
    if keys.shape[1] == 1 and counts.shape[1] == 1 and len(group_of) == 0:
        groups = _group_sizes(
            keys, counts, members, mask[0], bits, table, slots, found, sums, firsts
        )
    else:
        groups = _group_histograms(
            keys, counts, members, mask, bits, table, slots, found, sums, firsts, group_of
        )
    for group in range(groups):
        table[slots[group]] = 0
    return groups


@within_machine_code
def _group_sizes(
    keys: Keys,
    counts: Columns,
    members: Places,
    mask: np.uint64,
    bits: int,
    table: Places,
    slots: Places,
    found: Keys,
    sums: Columns,
    firsts: Places,
) -> int:
    """Group keys of one word with sizes alone: loops over one word or column take time."""
    shift, last_slot, groups = np.uint64(64 - bits), (1 << bits) - 1, 0
    for row in range(len(keys)):
        key = keys[row, 0] & mask
        slot = np.int64((key * MIX) >> shift)
        while True:
            place = table[slot] - 1
            if place < 0:
                table[slot] = groups + 1
                slots[groups] = slot
                firsts[groups] = members[row]
                found[groups, 0] = key
                sums[groups, 0] = counts[row, 0]
                groups += 1
                break
            if found[place, 0] == key:
                sums[place, 0] += counts[row, 0]
                break
            slot = (slot + 1) & last_slot
    return groups


@within_machine_code
def _group_histograms(  # noqa: C901 (one loop, and those over words and columns)
    keys: Keys,
    counts: Columns,
    members: Places,
    mask: Keys,
    bits: int,
    table: Places,
    slots: Places,
    found: Keys,
    sums: Columns,
    firsts: Places,
    group_of: Places,
) -> int:
    """Group any keys with any columns."""
    shift, last_slot, groups = np.uint64(64 - bits), (1 << bits) - 1, 0
    words, columns, noted = keys.shape[1], counts.shape[1], len(group_of) > 0
    for row in range(len(keys)):
        mixed = np.uint64(0)
        for word in range(words):
            mixed = (mixed ^ (keys[row, word] & mask[word])) * MIX
        slot = np.int64(mixed >> shift)
        while True:
            place = int(table[slot]) - 1
            if place < 0:
                place = groups
                groups += 1
                table[slot] = groups
                slots[place] = slot
                firsts[place] = members[row]
                for word in range(words):
                    found[place, word] = keys[row, word] & mask[word]
                for column in range(columns):
                    sums[place, column] = counts[row, column]
                break
            same = True
            for word in range(words):
                same = same and found[place, word] == keys[row, word] & mask[word]
            if same:
                for column in range(columns):
                    sums[place, column] += counts[row, column]
                break
            slot = (slot + 1) & last_slot
        if noted:
            group_of[row] = place
    return groups


@within_machine_code
def _by_group(group_of: Places, rows: int, groups: int, order: Places, ends: Places) -> None:
    """Sort rows by group: the rows of group g stand in ``order`` up to ends[g]."""
    for group in range(groups + 1):
        ends[group] = 0
    for row in range(rows):
        ends[group_of[row] + 1] += 1
    for group in range(groups):
        ends[group + 1] += ends[group]
    for row in range(rows):
        order[ends[group_of[row]]] = row
        ends[group_of[row]] += 1


@within_machine_code
def _drain(
    scratch: Columns, marks: Keys, write: int, into_places: Places, into_numbers: Columns
) -> int:
    """Move what was summed to the entries from ``write`` on, in order; where the next one goes.

    From mark to mark and not from column to column: a class has few of many values.
    """
    words = (len(scratch) + 63) >> 6
    for top in range(words, len(marks)):
        filled, marks[top] = marks[top], NONE
        while filled != NONE:
            low = filled & (~filled + ONE)
            filled ^= low
            word = ((top - words) << 6) + TRAILING[np.int64((low * DE_BRUIJN) >> np.uint64(58))]
            inside, marks[word] = marks[word], NONE
            while inside != NONE:
                low = inside & (~inside + ONE)
                inside ^= low
                column = (word << 6) + TRAILING[np.int64((low * DE_BRUIJN) >> np.uint64(58))]
                into_places[write] = column
                into_numbers[write] = scratch[column]
                scratch[column] = 0
                write += 1
    return write


@within_machine_code
def merge_entries(
    starts: Ints,
    places: Places,
    numbers: Columns,
    groups: int,
    room: Places,
    scratch: Columns,
    marks: Keys,
    into_starts: Ints,
    into_places: Places,
    into_numbers: Columns,
) -> int:
    """Merge the entries of the rows of each group, in time linear in them; how many are left.

    Parameters
    ----------
    room
        The group of each row in the first row of it, shape (3, rows + 1); overwritten.
    scratch
        Zeros, one for every column that entries may have; zeros again afterwards.
    marks
        Zeros, as many as ``mark_words`` says; zeros again afterwards.
    into_starts, into_places, into_numbers
        Room for as many starts and entries as there are: not those that are read.
    """
    order, ends = room[1], room[2]
    words = (len(scratch) + 63) >> 6
    _by_group(room[0], len(starts) - 1, groups, order, ends)
    begin, write = 0, 0
    into_starts[0] = 0
    for group in range(groups):
        end = int(ends[group])
        if end - begin == 1:
            row = order[begin]
            for entry in range(starts[row], starts[row + 1]):
                into_places[write] = places[entry]
                into_numbers[write] = numbers[entry]
                write += 1
        else:
            for place in range(begin, end):
                row = order[place]
                for entry in range(starts[row], starts[row + 1]):
                    column = np.int64(places[entry])
                    scratch[column] += numbers[entry]
                    word = column >> 6
                    marks[word] |= ONE << np.uint64(column & 63)
                    marks[words + (word >> 6)] |= ONE << np.uint64(word & 63)
            write = _drain(scratch, marks, write, into_places, into_numbers)
        into_starts[group + 1] = write
        begin = end
    return write


@in_machine_code
def _group(
    keys: Keys,
    counts: Columns,
    members: Places,
    mask: Keys,
    bits: int,
    table: Places,
    slots: Places,
    found: Keys,
    sums: Columns,
    firsts: Places,
) -> int:
    """Merge dense classes whose masked keys agree; the number of groups."""
    return group_rows(
        keys, counts, members, mask, bits, table, slots, found, sums, firsts, firsts[:0]
    )


@in_machine_code
def _group_listed(
    keys: Keys,
    counts: Columns,
    members: Places,
    starts: Ints,
    places: Places,
    numbers: Columns,
    mask: Keys,
    bits: int,
    table: Places,
    slots: Places,
    found: Keys,
    sums: Columns,
    firsts: Places,
    room: Places,
    scratch: Columns,
    marks: Keys,
    into_starts: Ints,
    into_places: Places,
    into_numbers: Columns,
) -> int:
    """Merge sparse classes whose masked keys agree; the number of groups."""
    group_of = room[0]
    groups = group_rows(
        keys, counts, members, mask, bits, table, slots, found, sums, firsts, group_of
    )
    merge_entries(
        starts,
        places,
        numbers,
        groups,
        room,
        scratch,
        marks,
        into_starts,
        into_places,
        into_numbers,
    )
    return groups


def mark_words(columns: int) -> int:
    """Return the words that mark filled columns, and which of those words are filled."""
    words = (columns + 63) >> 6
    return words + ((words + 63) >> 6)


@in_machine_code
def _insert(
    keys: Ints,
    records: Ints,
    bits: int,
    table: Places,
    found: Ints,
    counted: Ints,
    groups: int,
) -> int:
    """Add the records of keys to the ones counted already; the number of distinct keys then.

    ``found`` and ``counted`` must have room for every key being new, and ``table`` twice that.
    Without ``records`` every key counts once.
    """
    shift, last_slot = np.uint64(64 - bits), (1 << bits) - 1
    for row in range(len(keys)):
        key = keys[row]
        slot = np.int64((np.uint64(key) * MIX) >> shift)
        while True:
            place = table[slot] - 1
            if place < 0:
                table[slot] = groups + 1
                found[groups] = key
                counted[groups] = records[row] if len(records) else 1
                groups += 1
                break
            if found[place] == key:
                counted[place] += records[row] if len(records) else 1
                break
            slot = (slot + 1) & last_slot
    return groups


class _Workspace(threading.local):
    """The buffers that one thread's roll-ups write into, grown as needed."""

    table = np.zeros(0, np.int32)
    slots = np.zeros(0, np.int32)
    firsts = np.zeros(0, np.int32)
    found = np.zeros((0, 0), np.uint64)
    sums: Columns = np.zeros((0, 0), np.int32)
    room = np.zeros((3, 0), np.int32)
    scratch: Columns = np.zeros(0, np.int32)
    marks = np.zeros(0, np.uint64)
    starts = np.zeros(0, np.int64)
    places = np.zeros(0, np.int32)
    numbers: Columns = np.zeros(0, np.int32)

    def fit(self, rows: int, words: int, columns: int, kind: "np.dtype[Any]") -> int:
        """Make room for the groups; the bits of the hash table's size."""
        bits = max(4, (2 * rows - 1).bit_length())
        if len(self.table) < 1 << bits:
            self.table = np.zeros(1 << bits, np.int32)
        if len(self.slots) < rows:
            self.slots = np.empty(rows, np.int32)
            self.firsts = np.empty(rows, np.int32)
        if len(self.found) < rows or self.found.shape[1] != words:
            self.found = np.empty((rows, words), np.uint64)
        if len(self.sums) < rows or self.sums.shape[1] != columns or self.sums.dtype != kind:
            self.sums = np.empty((rows, columns), kind)
        return bits

    def fit_entries(self, source: FrequencySet) -> None:
        """Make room for the entries of sparse classes."""
        rows, entries, kind = len(source), len(source.places), source.counts.dtype
        columns = int(source.places.max(initial=0)) + 1
        if self.room.shape[1] <= rows:
            self.room = np.empty((3, rows + 1), np.int32)
            self.starts = np.empty(rows + 1, np.int64)
        if len(self.places) < entries:
            self.places = np.empty(entries, np.int32)
        if len(self.numbers) < entries or self.numbers.dtype != kind:
            self.numbers = np.empty(entries, kind)
        if len(self.scratch) < columns or self.scratch.dtype != kind:
            self.scratch = np.zeros(columns, kind)
            self.marks = np.zeros(mark_words(columns), np.uint64)


_workspace = _Workspace()


def distinct(blocks: Iterable[Ints]) -> tuple[Ints, Ints]:
    """The distinct keys of some blocks of them, and how often each occurs."""
    nothing = np.zeros(0, np.int64)
    groups, room, bits, found, counted = 0, 0, 0, nothing, nothing
    table = np.zeros(0, np.int32)
    for keys in blocks:
        if groups + len(keys) > room:
            # Made anew with room to spare, so that this happens seldom; never more than half full.
            bits = (4 * (groups + len(keys)) - 1).bit_length()
            room = 1 << (bits - 1)
            table = np.zeros(2 * room, np.int32)
            seen, times = found[:groups], counted[:groups]
            found, counted = np.empty(room, np.int64), np.empty(room, np.int64)
            groups = _insert(seen, times, bits, table, found, counted, 0)
        groups = _insert(keys, nothing, bits, table, found, counted, groups)
    return found[:groups], counted[:groups]


def roll_up(source: FrequencySet, mask: Words) -> FrequencySet:
    """Merge the classes that a mask no longer tells apart.

    The result stands in buffers that the thread's next roll-up overwrites: copy what is kept.
    """
    rows, columns = source.counts.shape
    space = _workspace
    bits = space.fit(rows, len(mask), columns, source.counts.dtype)
    words = np.array(mask, np.uint64)
    groups: Any = space.table, space.slots, space.found, space.sums, space.firsts
    if not len(source.starts):
        number = _group(*source[:3], words, bits, *groups)
        return FrequencySet(space.found[:number], space.sums[:number], space.firsts[:number])
    space.fit_entries(source)
    entries: Any = space.starts, space.places, space.numbers
    room: Any = space.room, space.scratch, space.marks
    number = _group_listed(*source, words, bits, *groups, *room, *entries)
    starts = space.starts[: number + 1]
    return FrequencySet(
        space.found[:number],
        space.sums[:number],
        space.firsts[:number],
        starts,
        space.places[: starts[-1]],
        space.numbers[: starts[-1]],
    )
