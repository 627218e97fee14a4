"""The checks of classes in machine code: which of them break a bound, and their uncertainty."""

import numpy as np

from anonymizer.kernels.arrays import Columns, Floats, Ints, Mask
from anonymizer.kernels.frequency import grassberger_table, logs_table
from anonymizer.kernels.machine import in_machine_code, within_machine_code
from anonymizer.kernels.rules import (
    FIRST,
    KIND,
    LOWER,
    ORDER,
    RANK,
    START,
    STOP,
    UPPER,
    Kind,
    Laid,
    Rules,
)
from anonymizer.kernels.terms import MILLER_MADOW

ENTROPY, GRASSBERGER = int(Kind.ENTROPY), int(Kind.GRASSBERGER)
DISTINCT, RECURSIVE = int(Kind.DISTINCT), int(Kind.RECURSIVE)
DIVERGENCE, SHARES = int(Kind.DIVERGENCE), int(Kind.SHARES)
TRANSPORT, PRESENCE = int(Kind.TRANSPORT), int(Kind.PRESENCE)
LN2 = float(np.log(2))

LEAST = 1e-12
"""What a class is beyond a bound that is broken by equality."""


@within_machine_code
def breaks(
    counts: Columns, row: int, laid: Laid, logs: Floats, grassbergers: Floats, sums: Ints
) -> bool:
    """Whether a class breaks a bound other than on size."""
    for bound in range(len(laid.limits)):
        if beyond(counts, row, laid, bound, logs, grassbergers, sums) > 0:
            return True
    return False


@within_machine_code
def excess(
    counts: Columns, row: int, laid: Laid, logs: Floats, grassbergers: Floats, sums: Ints
) -> float:
    """How far a class is beyond its bounds other than on size, 0 where it breaks none.

    The sum over bounds of what is beyond each, multiplied out by n: bits or records, so that it
    adds up over classes as what they keep does.
    """
    total = 0.0
    for bound in range(len(laid.limits)):
        total += max(0.0, beyond(counts, row, laid, bound, logs, grassbergers, sums))
    return total


@within_machine_code
def beyond(
    counts: Columns,
    row: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """How far a class is beyond a bound, multiplied out by n; above 0 where it breaks it."""
    kind = laid.facts[bound, KIND]
    if kind == PRESENCE:
        return _present(counts, row, laid, bound)
    if counts[row, counts.shape[1] - 1] == 0:
        return 0.0
    if kind == DIVERGENCE:
        return _divergent(counts, row, laid, bound, logs)
    if kind == ENTROPY:
        return _uncertain(counts, row, laid, bound, logs)
    if kind <= GRASSBERGER:
        return _unlikely(counts, row, laid, bound, logs, grassbergers)
    if kind == SHARES:
        return _disclosed(counts, row, laid, bound)
    if kind == DISTINCT:
        return _uniform(counts, row, laid, bound)
    if kind == RECURSIVE:
        return _dominated(counts, row, laid, bound, sums)
    if kind == TRANSPORT:
        return _distant(counts, row, laid, bound, sums)
    return laid.limits[bound] - counts[row, laid.facts[bound, START]]


@within_machine_code
def _uncertain(counts: Columns, row: int, laid: Laid, bound: int, logs: Floats) -> float:
    """Too little entropy. Multiplied out by n: no division."""
    records = counts[row, counts.shape[1] - 1]
    bits = xlogx(records, logs)
    for column in range(laid.facts[bound, START], laid.facts[bound, STOP]):
        count = counts[row, column]
        if count > 0:
            bits -= xlogx(count, logs)
    return laid.limits[bound] * records - bits


@within_machine_code
def _unlikely(
    counts: Columns, row: int, laid: Laid, bound: int, logs: Floats, grassbergers: Floats
) -> float:
    """Too little entropy as it is estimated, by Grassberger or else by Miller and Madow."""
    records = counts[row, counts.shape[1] - 1]
    by_grassberger = laid.facts[bound, KIND] == GRASSBERGER
    bits = xlogx(records, logs)
    extra = -MILLER_MADOW
    for column in range(laid.facts[bound, START], laid.facts[bound, STOP]):
        count = counts[row, column]
        if count > 0:
            extra += MILLER_MADOW
            bits -= _grassberger(count, grassbergers) if by_grassberger else xlogx(count, logs)
    if not by_grassberger:
        bits += extra
    return laid.limits[bound] * records - bits


@within_machine_code
def _divergent(counts: Columns, row: int, laid: Laid, bound: int, logs: Floats) -> float:
    """Too far from the table, in bits. Multiplied out by n."""
    records = counts[row, counts.shape[1] - 1]
    bits = -xlogx(records, logs)
    for column in range(laid.facts[bound, START], laid.facts[bound, STOP]):
        count = counts[row, column]
        if count > 0:
            bits += xlogx(count, logs) - count * laid.rows[UPPER, bound, column]
    return bits - laid.limits[bound] * records


@within_machine_code
def _disclosed(counts: Columns, row: int, laid: Laid, bound: int) -> float:
    """A value has too large or too small a share."""
    records = counts[row, counts.shape[1] - 1]
    beyond = 0.0
    for column in range(laid.facts[bound, START], laid.facts[bound, STOP]):
        count = counts[row, column]
        beyond = max(beyond, records * laid.rows[LOWER, bound, column] - count)
        beyond = max(beyond, count - records * laid.rows[UPPER, bound, column])
    return beyond


@within_machine_code
def _uniform(counts: Columns, row: int, laid: Laid, bound: int) -> float:
    """Too few distinct values."""
    distinct = 0
    for column in range(laid.facts[bound, START], laid.facts[bound, STOP]):
        distinct += counts[row, column] > 0
        if distinct >= laid.limits[bound]:
            return 0.0
    return laid.limits[bound] - distinct


@within_machine_code
def _dominated(counts: Columns, row: int, laid: Laid, bound: int, ranked: Ints) -> float:
    """One value is too frequent compared with the less frequent ones.

    The ``rank`` - 1 most frequent ones stand first in ``ranked``, sorted by insertion.
    """
    most = laid.facts[bound, RANK] - 1
    kept, tail, largest = 0, np.int64(0), np.int64(0)
    for column in range(laid.facts[bound, START], laid.facts[bound, STOP]):
        count = np.int64(counts[row, column])
        if count > largest:
            largest = count
        place = kept
        while place > 0 and ranked[place - 1] < count:
            place -= 1
        if kept < most:
            kept += 1
            out = np.int64(0)
        elif place < most:
            out = ranked[most - 1]
        else:
            out = count
        if place < most:
            for later in range(kept - 1, place, -1):
                ranked[later] = ranked[later - 1]
            ranked[place] = count
        tail += out
    if tail > 0 and largest / tail < laid.limits[bound]:
        return 0.0
    # Where both sides are equal the bound is broken: beyond by next to nothing, yet beyond.
    return max(largest - laid.limits[bound] * tail, LEAST)


@within_machine_code
def _distant(counts: Columns, row: int, laid: Laid, bound: int, sums: Ints) -> float:
    """Too much earth to move, too far. ``sums`` has an entry more than there are values."""
    records = counts[row, counts.shape[1] - 1]
    start, values = laid.facts[bound, START], laid.facts[bound, STOP] - laid.facts[bound, START]
    sums[0] = 0
    for place in range(values):
        column = start + np.int64(laid.rows[ORDER, bound, start + place])
        sums[place + 1] = sums[place] + counts[row, column]
    moved = 0.0
    for run in range(laid.facts[bound, FIRST], laid.facts[bound + 1, FIRST]):
        inside = sums[np.int64(laid.runs[run, 1])] - sums[np.int64(laid.runs[run, 0])]
        moved += laid.runs[run, 3] * abs(inside - records * laid.runs[run, 2])
    return moved - laid.limits[bound] * records


@within_machine_code
def _present(counts: Columns, row: int, laid: Laid, bound: int) -> float:
    """Too large or too small a share of the population is in the table."""
    records = counts[row, counts.shape[1] - 1]
    start = laid.facts[bound, START]
    population = counts[row, start]
    few = laid.limits[bound] * population - records
    return max(few, records - laid.rows[UPPER, bound, start] * population)


@within_machine_code
def xlogx(count: int, logs: Floats) -> float:
    """N log2 n, from the table where it reaches."""
    if count < len(logs):
        return logs[count]
    return count * np.log2(count)


@within_machine_code
def _grassberger(count: int, grassbergers: Floats) -> float:
    """As in the table; beyond it the series, whose further terms are lost in rounding."""
    if count < len(grassbergers):
        return grassbergers[count]
    half = count // 2
    return count * (np.log2(2.0 * half) + 1 / (24.0 * half * half * LN2))


@in_machine_code
def _broken(
    counts: Columns,
    least: float,
    presence: bool,
    laid: Laid,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
    most: int,
    marks: Mask,
) -> int:
    """Records in classes that break a bound, marking those; stops beyond the most.

    ``sums`` is room for one number more than a class has columns.
    """
    records, last = 0, counts.shape[1] - 1
    for row in range(len(counts)):
        size = counts[row, last]
        marks[row] = size < least and size > 0
        if not marks[row] and (size > 0 or presence):
            marks[row] = breaks(counts, row, laid, logs, grassbergers, sums)
        if marks[row]:
            records += size
            if records > most:
                return records
    return records


@in_machine_code
def _small(counts: Columns, least: float, most: int, marks: Mask) -> int:
    """The same of a bound on size alone."""
    records, last = 0, counts.shape[1] - 1
    for row in range(len(counts)):
        size = counts[row, last]
        marks[row] = size < least and size > 0
        if marks[row]:
            records += size
            if records > most:
                return records
    return records


@in_machine_code
def _uncertainty(counts: Columns, start: int, stop: int, logs: Floats) -> float:
    """Sum of n_g H(W|g) = n_g log n_g - sum n_gw log n_gw over classes, in bits."""
    bits = 0.0
    for row in range(len(counts)):
        inside = 0.0
        for column in range(start, stop):
            count = counts[row, column]
            if count > 0:
                inside += xlogx(count, logs)
        bits += xlogx(counts[row, counts.shape[1] - 1], logs) - inside
    return bits


def broken(counts: Columns, rules: Rules, most: int) -> tuple[int, Mask]:
    """Records in classes that break a bound, and which classes those are.

    Beyond ``most`` such records it stops: the number is then too small and the marks incomplete.
    """
    marks = np.empty(len(counts), bool)
    if not len(rules):
        return int(_small(counts, rules.least, most, marks)), marks
    records = _broken(
        counts,
        rules.least,
        rules.presence,
        rules.laid,
        logs_table(),
        grassberger_table(),
        np.empty(counts.shape[1] + 1, np.int64),
        most,
        marks,
    )
    return int(records), marks


def uncertainty(counts: Columns, start: int, stop: int) -> float:
    """Sum of n_g H(W|g) over classes, in bits, W standing in the columns [start, stop)."""
    return float(_uncertainty(counts, start, stop, logs_table()))
