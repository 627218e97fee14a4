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


@within_machine_code
def _agree(keys: Keys, row: int, mask: Words, found: Keys, place: int) -> bool:
    """Whether a masked key agrees with a group's in every word but the first."""
    same = True
    for word in range(1, len(mask)):
        same = same and keys[row, word] & mask[word] == found[place, word]
    return same


@in_machine_code
def _group(  # noqa: C901 (one loop, unrolled by hand for speed)
    keys: Keys,
    counts: Columns,
    members: Places,
    mask: Words,
    lone: tuple[int, ...],
    bits: int,
    table: Places,
    slots: Places,
    found: Keys,
    sums: Columns,
    firsts: Places,
) -> int:
    """Merge rows whose masked keys agree; the number of groups.

    Neighbours that agree, as they often do in sorted keys, are found without hashing. The lengths
    of the tuples ``mask`` (words of a key) and ``lone`` (1 where there is one column, else 0) are
    known when compiling, which unrolls the loops over them.
    """
    shift, last_slot = np.uint64(64 - bits), (1 << bits) - 1
    groups, place, before = 0, -1, np.uint64(0)
    for row in range(len(keys)):
        key = keys[row, 0] & mask[0]
        new = False
        if place < 0 or key != before or not _agree(keys, row, mask, found, place):
            before = key
            mixed = key * MIX
            for word in range(1, len(mask)):
                mixed = (mixed ^ (keys[row, word] & mask[word])) * MIX
            slot = np.int64(mixed >> shift)
            while True:
                place = table[slot] - 1
                if place < 0:
                    new, place = True, groups
                    groups += 1
                    table[slot] = groups
                    slots[place] = slot
                    firsts[place] = members[row]
                    found[place, 0] = key
                    for word in range(1, len(mask)):
                        found[place, word] = keys[row, word] & mask[word]
                    break
                if found[place, 0] == key and _agree(keys, row, mask, found, place):
                    break
                slot = (slot + 1) & last_slot
        if len(lone) == 1:
            sums[place, 0] = counts[row, 0] if new else sums[place, 0] + counts[row, 0]
        elif new:
            for column in range(counts.shape[1]):
                sums[place, column] = counts[row, column]
        else:
            for column in range(counts.shape[1]):
                sums[place, column] += counts[row, column]
    for group in range(groups):
        table[slots[group]] = 0
    return groups


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
    """Add the records of keys to those counted already; the number of distinct keys then.

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

    def fit(self, rows: int, words: int, columns: int, kind: "np.dtype[Any]") -> int:
        """Make room for so many groups; the bits of the hash table's size."""
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
    groups = _group(
        *source,
        mask,
        (1,) if columns == 1 else (),
        bits,
        space.table,
        space.slots,
        space.found,
        space.sums,
        space.firsts,
    )
    return FrequencySet(space.found[:groups], space.sums[:groups], space.firsts[:groups])
