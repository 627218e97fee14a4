"""The kernels that count: distinct keys, and classes that become one.

Loops over fixed buffers, which grow between calls and never inside them.
"""

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from anonymizer.kernels.arrays import Columns, Ints
from anonymizer.kernels.frequency import FrequencySet, Words
from anonymizer.kernels.native import call


def distinct(blocks: Iterable[Ints]) -> tuple[Ints, Ints]:
    """The distinct keys of some blocks of them, and how often each occurs, in any order."""
    nothing = np.zeros(0, np.int64)
    groups, room, found, counted = 0, 0, nothing, nothing
    table = np.zeros(0, np.int32)
    for keys in blocks:
        if groups + len(keys) > room:
            # Made anew with room to spare, so that this happens seldom; never more than half full.
            room = 1 << ((4 * (groups + len(keys)) - 1).bit_length() - 1)
            table = np.zeros(2 * room, np.int32)
            seen, times = found[:groups], counted[:groups]
            found, counted = np.empty(room, np.int64), np.empty(room, np.int64)
            groups = int(call("insert_keys", seen, times, 0, table, found, counted))
        groups = int(
            call("insert_keys", np.ascontiguousarray(keys), nothing, groups, table, found, counted)
        )
    return found[:groups], counted[:groups]


def mark_words(columns: int) -> int:
    """Return the words that mark filled columns, and which of those words are filled."""
    words = (columns + 63) >> 6
    return words + ((words + 63) >> 6)


def table_size(rows: int) -> int:
    """Return the slots of a hash table that so many rows never fill to more than the half."""
    return 1 << max(4, (2 * rows - 1).bit_length())


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

    def fit(self, rows: int, words: int, columns: int, kind: "np.dtype[Any]") -> None:
        """Make room for the groups."""
        if len(self.table) < table_size(rows):
            self.table = np.zeros(table_size(rows), np.int32)
        if len(self.slots) < rows:
            self.slots = np.empty(rows, np.int32)
            self.firsts = np.empty(rows, np.int32)
        if len(self.found) < rows or self.found.shape[1] != words:
            self.found = np.empty((rows, words), np.uint64)
        if len(self.sums) < rows or self.sums.shape[1] != columns or self.sums.dtype != kind:
            self.sums = np.empty((rows, columns), kind)

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


def roll_up(source: FrequencySet, mask: Words) -> FrequencySet:
    """Merge the classes that a mask no longer tells apart.

    The result stands in buffers that the thread's next roll-up overwrites: copy what is kept.
    """
    (rows, columns), space = source.counts.shape, _workspace
    space.fit(rows, len(mask), columns, source.counts.dtype)
    listed = len(source.starts) > 0
    classes = source.counts, source.keys, source.members, np.array(mask, np.uint64)
    groups = space.table, space.slots, space.found, space.sums, space.firsts
    if not listed:
        number = int(call("merge_classes", False, classes, groups))
        return FrequencySet(space.found[:number], space.sums[:number], space.firsts[:number])
    space.fit_entries(source)
    entries = space.starts, space.places, space.numbers
    room = space.room, space.scratch, space.marks
    number = int(call("merge_classes", True, classes, groups, source[3:], room, entries))
    starts = space.starts[: number + 1]
    return FrequencySet(
        space.found[:number],
        space.sums[:number],
        space.firsts[:number],
        starts,
        space.places[: starts[-1]],
        space.numbers[: starts[-1]],
    )
