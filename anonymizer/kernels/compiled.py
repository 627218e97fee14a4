"""The kernels in machine code (numba), for many rows; compiled on first use and cached on disk.

Small loops over fixed buffers: growing arrays inside compiled code is what makes compiling slow.
All release the interpreter's lock. Open-addressing hash tables hold row number + 1, 0 being free;
they are at most half full, so that probing ends, and zeroed again by the rows that filled them.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.frequency import (
    Columns,
    FrequencySet,
    Keys,
    Marks,
    Numbers,
    Words,
    logs_table,
)
from anonymizer.kernels.rules import Kind, Rules

__all__ = ["broken", "distinct", "roll_up", "uncertainty"]

Function = TypeVar("Function", bound=Callable[..., Any])

MIX = np.uint64(0x9E3779B97F4A7C15)
SIZE, ENTROPY = int(Kind.SIZE), int(Kind.ENTROPY)


def _compile(function: Function) -> Function:
    """Compile lazily; without a place to keep the result it is compiled anew in every process."""
    try:
        compiled: Any = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        compiled = numba.njit(nogil=True)(function)
    return cast(Function, compiled)


@_compile
def _agree(keys: Keys, row: int, mask: Words, found: Keys, place: int) -> bool:
    """Whether a masked key agrees with a group's in every word but the first."""
    same = True
    for word in range(1, len(mask)):
        same = same and keys[row, word] & mask[word] == found[place, word]
    return same


@_compile
def _group(  # noqa: C901 (one loop, unrolled by hand for speed)
    keys: Keys,
    counts: Columns,
    members: NDArray[np.int32],
    mask: Words,
    lone: tuple[int, ...],
    bits: int,
    table: NDArray[np.int32],
    slots: NDArray[np.int32],
    found: Keys,
    sums: Columns,
    firsts: NDArray[np.int32],
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


@_compile
def _insert(
    keys: Numbers,
    records: Numbers,
    bits: int,
    table: NDArray[np.int32],
    found: Numbers,
    counted: Numbers,
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


@_compile
def _breaks(
    counts: Columns,
    row: int,
    kinds: NDArray[np.int64],
    limits: NDArray[np.float64],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    log_prior: NDArray[np.float64],
    logs: NDArray[np.float64],
) -> bool:
    """Whether a class breaks a bound other than on size. Multiplied out by n: no division."""
    records = counts[row, counts.shape[1] - 1]
    for bound in range(len(kinds)):
        if kinds[bound] == SIZE:
            continue
        limit = limits[bound] * records
        inside, expected = 0.0, 0.0
        for column in range(starts[bound], stops[bound]):
            count = counts[row, column]
            if count > 0:
                inside += _xlogx(count, logs)
                expected += count * log_prior[column]
        whole = _xlogx(records, logs)
        if kinds[bound] == ENTROPY:
            if whole - inside < limit:
                return True
        elif inside - whole - expected > limit:
            return True
    return False


@_compile
def _xlogx(count: int, logs: NDArray[np.float64]) -> float:
    if count < len(logs):
        return logs[count]
    return count * np.log2(count)


@_compile
def _broken(
    counts: Columns,
    least: float,
    kinds: NDArray[np.int64],
    limits: NDArray[np.float64],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    log_prior: NDArray[np.float64],
    logs: NDArray[np.float64],
    most: int,
    marks: Marks,
) -> int:
    """Records in classes that break a bound, marking those; stops beyond the most."""
    records, last = 0, counts.shape[1] - 1
    for row in range(len(counts)):
        marks[row] = counts[row, last] < least or _breaks(
            counts, row, kinds, limits, starts, stops, log_prior, logs
        )
        if marks[row]:
            records += counts[row, last]
            if records > most:
                return records
    return records


@_compile
def _uncertainty(counts: Columns, start: int, stop: int, logs: NDArray[np.float64]) -> float:
    """Sum of n_g H(W|g) = n_g log n_g - sum n_gw log n_gw over classes, in bits."""
    bits = 0.0
    for row in range(len(counts)):
        inside = 0.0
        for column in range(start, stop):
            count = counts[row, column]
            if count > 0:
                inside += _xlogx(count, logs)
        bits += _xlogx(counts[row, counts.shape[1] - 1], logs) - inside
    return bits


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


def distinct(blocks: Iterable[Numbers]) -> tuple[Numbers, Numbers]:
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


def broken(counts: Columns, rules: Rules, most: int) -> tuple[int, Marks]:
    """Records in classes that break a bound, and which classes those are.

    Beyond ``most`` such records it stops: the number is then too small and the marks incomplete.
    """
    marks = np.empty(len(counts), bool)
    records = _broken(
        counts,
        rules.least,
        rules.kinds,
        rules.limits,
        rules.starts,
        rules.stops,
        rules.log_prior,
        logs_table(),
        most,
        marks,
    )
    return int(records), marks


def uncertainty(counts: Columns, start: int, stop: int) -> float:
    """Sum of n_g H(W|g) over classes, in bits, W standing in the columns [start, stop)."""
    return float(_uncertainty(counts, start, stop, logs_table()))
