"""The checks of classes in machine code: which of them break a bound, and their uncertainty."""

from collections.abc import Callable
from typing import Any

import numpy as np

from anonymizer.kernels.arrays import Columns, Floats, Ints, Mask, Places
from anonymizer.kernels.frequency import Histograms, grassberger_table, logs_table
from anonymizer.kernels.machine import in_machine_code, inside_machine_code, within_machine_code
from anonymizer.kernels.rules import (
    FIRST,
    KIND,
    KNOWN,
    LOWER,
    ORDER,
    PLACE,
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
POPULATION, PRESENCE = int(Kind.POPULATION), int(Kind.PRESENCE)
TRANSPORT = int(Kind.TRANSPORT)
LN2 = float(np.log(2))

Check = Callable[..., float]

LEAST = 1e-12
"""What a class is beyond a bound that is broken by equality."""


DENSE: Any = ()
"""Starts and places of dense classes, whose numbers stand in the columns that they are about.

A tuple, whose length is known when compiling: what sparse classes need is left out then.
"""

SURELY = 1e-9
"""By how many bits an entropy must be out of reach to be refused unsummed: more than rounding."""


@within_machine_code
def breaks(
    counts: Columns, row: int, laid: Laid, logs: Floats, grassbergers: Floats, sums: Ints
) -> bool:
    """Tell whether a dense class breaks a bound other than on size."""
    for bound in range(len(laid.limits)):
        if beyond(counts, row, laid, bound, logs, grassbergers, sums) > 0:
            return True
    return False


@within_machine_code
def excess(
    counts: Columns, row: int, laid: Laid, logs: Floats, grassbergers: Floats, sums: Ints
) -> float:
    """Measure the excess of a dense class over its bounds other than on size, 0 if it breaks none.

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
    """Measure the excess of a dense class over a bound, times n; above 0 where it breaks it."""
    kind, records = laid.facts[bound, KIND], counts[row, counts.shape[1] - 1]
    begin, end = laid.facts[bound, START], laid.facts[bound, STOP]
    if kind == PRESENCE:
        return _present(records, counts[row, begin], laid, bound)
    if records == 0:
        return 0.0
    if kind == POPULATION:
        return laid.limits[bound] - counts[row, begin]
    if laid.facts[bound, KNOWN] > 0:
        records = _total(counts, row, begin, end)
        if records == 0:
            return 1.0
    return _of_values(counts, row, records, laid, bound, logs, grassbergers, sums)


@within_machine_code
def _of_values(
    counts: Columns,
    row: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """Measure how far a class is beyond a bound on the values of its ``records``."""
    kind, begin, end = laid.facts[bound, KIND], laid.facts[bound, START], laid.facts[bound, STOP]
    of = DENSE, counts, row
    if kind == DIVERGENCE:
        return _divergent(*of, begin, end, records, laid, bound, logs, grassbergers, sums)
    if kind == ENTROPY:
        return _uncertain(*of, begin, end, records, laid, bound, logs, grassbergers, sums)
    if kind <= GRASSBERGER:
        return _unlikely(*of, begin, end, records, laid, bound, logs, grassbergers, sums)
    if kind == SHARES:
        return _disclosed(*of, begin, end, records, laid, bound, logs, grassbergers, sums)
    if kind == DISTINCT:
        return _uniform(*of, begin, end, records, laid, bound, logs, grassbergers, sums)
    if kind == RECURSIVE:
        return _dominated(*of, begin, end, records, laid, bound, logs, grassbergers, sums)
    return _distant(*of, begin, end, records, laid, bound, logs, grassbergers, sums)


@inside_machine_code
def trailing(counts: Columns, row: int) -> tuple[int, int]:
    """Return the records of a class of either kind, and of the population if it has a column."""
    last = counts.shape[1] - 1
    return counts[row, last], counts[row, max(last - 1, 0)]


@inside_machine_code
def within(places: Places, begin: int, end: int, start: int, stop: int) -> tuple[int, int]:
    """Find the entries of [begin, end) that are about the columns [start, stop)."""
    if len(places) == 0:
        return start, stop
    return _first(places, begin, end, start), _first(places, begin, end, stop)


@within_machine_code
def _first(places: Places, begin: int, end: int, column: int) -> int:
    """The first of some entries that is not before a column, by bisection; the end if none is."""
    if begin == end or places[begin] >= column:
        return begin
    if places[end - 1] < column:
        return end
    while end - begin > 1:  # the entry at begin is before the column, that before end is not
        middle = (begin + end) // 2
        if places[middle] < column:
            begin = middle
        else:
            end = middle
    return end


@inside_machine_code
def _number(numbers: Columns, row: int, entry: int) -> int:
    """The number of an entry: of a sparse class, or in a row of dense ones."""
    if numbers.ndim == 2:
        return numbers[row, entry]
    return numbers[entry]


@within_machine_code
def _total(numbers: Columns, row: int, begin: int, end: int) -> int:
    total: Any = 0
    for entry in range(begin, end):
        total += np.int64(_number(numbers, row, entry))
    return total


@inside_machine_code
def _column(places: Places, entry: int) -> int:
    if len(places) == 0:
        return entry
    return int(places[entry])


@within_machine_code
def _out_of_reach(most: int, limit: float, logs: Floats) -> bool:
    """Tell whether values, or records, are too few for an entropy: it is log2 of them at most.

    No sum is needed then, and none of many small classes, of which most nodes are made.
    """
    return most > 0 and limit > xlogx(most, logs) / most + SURELY


# The checks have the same arguments: ``places``, ``numbers`` of sparse classes, of which the class
# has the entries [begin, end), columns ascending; ``numbers`` of dense ones, of which it is a row.
# They say how far it is beyond a bound, of sparse classes perhaps only whether.
# The tables stand apart from the bounds: as part of ``laid`` they made marking 20,000 classes take
# 1.3 (different values) to 2.3 times (Grassberger) as long, as tuples are taken apart per class.


@within_machine_code
def _uncertain(
    places: Places,
    numbers: Columns,
    row: int,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """Too little entropy. Multiplied out by n: no division."""
    if len(places) > 0 and _out_of_reach(min(end - begin, records), laid.limits[bound], logs):
        return LEAST
    bits = xlogx(records, logs)
    for entry in range(begin, end):
        count = _number(numbers, row, entry)
        if count > 0:
            bits -= xlogx(count, logs)
    return laid.limits[bound] * records - bits


@within_machine_code
def _unlikely(
    places: Places,
    numbers: Columns,
    row: int,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """Too little entropy as it is estimated, by Grassberger or else by Miller and Madow."""
    by_grassberger = laid.facts[bound, KIND] == GRASSBERGER
    bits = xlogx(records, logs)
    extra = -MILLER_MADOW
    for entry in range(begin, end):
        count = _number(numbers, row, entry)
        if count > 0:
            extra += MILLER_MADOW
            bits -= _grassberger(count, grassbergers) if by_grassberger else xlogx(count, logs)
    if not by_grassberger:
        bits += extra
    return laid.limits[bound] * records - bits


@within_machine_code
def _divergent(
    places: Places,
    numbers: Columns,
    row: int,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """Too far from the table, in bits. Multiplied out by n."""
    bits = -xlogx(records, logs)
    for entry in range(begin, end):
        count = _number(numbers, row, entry)
        if count > 0:
            bits += xlogx(count, logs) - count * laid.rows[UPPER, bound, _column(places, entry)]
    return bits - laid.limits[bound] * records


@within_machine_code
def _disclosed(
    places: Places,
    numbers: Columns,
    row: int,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """A value has too large or too small a share.

    Where all values that must occur do, the others need no look.
    """
    beyond, needed = 0.0, 0
    for entry in range(begin, end):
        count, column = _number(numbers, row, entry), _column(places, entry)
        lower = laid.rows[LOWER, bound, column]
        needed += lower > 0
        beyond = max(beyond, records * lower - count)
        beyond = max(beyond, count - records * laid.rows[UPPER, bound, column])
    if len(places) == 0:
        return beyond
    if needed < laid.facts[bound, RANK]:
        beyond = max(beyond, records * _most_absent(places, begin, end, laid, bound))
    return beyond


@within_machine_code
def _most_absent(places: Places, begin: int, end: int, laid: Laid, bound: int) -> float:
    """The largest share that a value must have which does not occur."""
    most, entry = 0.0, begin
    for column in range(laid.facts[bound, START], laid.facts[bound, STOP]):
        if entry < end and places[entry] == column:
            entry += 1
        else:
            most = max(most, laid.rows[LOWER, bound, column])
    return most


@within_machine_code
def _uniform(
    places: Places,
    numbers: Columns,
    row: int,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """Too few distinct values."""
    distinct = 0
    for entry in range(begin, end):
        distinct += _number(numbers, row, entry) > 0
        if distinct >= laid.limits[bound]:
            return 0.0
    return laid.limits[bound] - distinct


@within_machine_code
def _dominated(
    places: Places,
    numbers: Columns,
    row: int,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """One value is too frequent compared with the less frequent ones.

    The ``rank`` - 1 most frequent ones stand first in ``sums``, sorted by insertion.
    """
    most = laid.facts[bound, RANK] - 1
    kept, tail, largest = 0, np.int64(0), np.int64(0)
    for entry in range(begin, end):
        count = np.int64(_number(numbers, row, entry))
        if count > largest:
            largest = count
        place = kept
        while place > 0 and sums[place - 1] < count:
            place -= 1
        if kept < most:
            kept += 1
            out = np.int64(0)
        elif place < most:
            out = sums[most - 1]
        else:
            out = count
        if place < most:
            for later in range(kept - 1, place, -1):
                sums[later] = sums[later - 1]
            sums[place] = count
        tail += out
    if tail > 0 and largest / tail < laid.limits[bound]:
        return 0.0
    # Where both sides are equal the bound is broken: beyond by next to nothing, yet beyond.
    return max(largest - laid.limits[bound] * tail, LEAST)


@within_machine_code
def _distant(
    places: Places,
    numbers: Columns,
    row: int,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """Too much earth to move, too far. ``sums`` has an entry more than there are values."""
    start, values = laid.facts[bound, START], laid.facts[bound, STOP] - laid.facts[bound, START]
    sums[0] = 0
    if len(places) == 0:
        for place in range(values):
            column = start + np.int64(laid.rows[ORDER, bound, start + place])
            sums[place + 1] = sums[place] + _number(numbers, row, column)
    else:
        for place in range(values):
            sums[place + 1] = 0
        for entry in range(begin, end):
            sums[np.int64(laid.rows[PLACE, bound, places[entry]]) + 1] = _number(
                numbers, row, entry
            )
        for place in range(values):
            sums[place + 1] += sums[place]
    moved = 0.0
    for run in range(laid.facts[bound, FIRST], laid.facts[bound + 1, FIRST]):
        inside = sums[np.int64(laid.runs[run, 1])] - sums[np.int64(laid.runs[run, 0])]
        moved += laid.runs[run, 3] * abs(inside - records * laid.runs[run, 2])
    return moved - laid.limits[bound] * records


@within_machine_code
def _present(records: int, population: int, laid: Laid, bound: int) -> float:
    few = laid.limits[bound] * population - records
    return max(few, records - laid.rows[UPPER, bound, laid.facts[bound, START]] * population)


@within_machine_code
def xlogx(count: int, logs: Floats) -> float:
    """N log2 n, from the table where it reaches."""
    if count < len(logs):
        return logs[count]
    return count * np.log2(count)


@within_machine_code
def _grassberger(count: int, grassbergers: Floats) -> float:
    """Look up N G(n); beyond the table the series, whose further terms are lost in rounding."""
    if count < len(grassbergers):
        return grassbergers[count]
    half = count // 2
    return count * (np.log2(2.0 * half) + 1 / (24.0 * half * half * LN2))


@within_machine_code
def mark_small(counts: Columns, least: float, most: int, marks: Mask) -> int:
    """Mark classes of too few records; these records, until beyond the most.

    Classes beyond the most are not marked, nor set to be unmarked.
    """
    records, last = 0, counts.shape[1] - 1
    for row in range(len(counts)):
        size = counts[row, last]
        marks[row] = size < least and size > 0
        if marks[row]:
            records += size
            if records > most:
                return records
    return records


def _marking(check: Check) -> Callable[..., int]:
    """A loop that marks classes beyond a bound which were not marked, compiled for one check.

    It returns the records of these, or, as soon as they are, more than the most.
    """

    def mark(
        counts: Columns,
        starts: Ints,
        places: Places,
        numbers: Columns,
        laid: Laid,
        bound: int,
        logs: Floats,
        grassbergers: Floats,
        sums: Ints,
        most: int,
        marks: Mask,
    ) -> int:
        """Mark by one check, see ``mark_beyond``."""
        found, last = 0, counts.shape[1] - 1
        start, stop = laid.facts[bound, START], laid.facts[bound, STOP]
        known = laid.facts[bound, KNOWN] > 0
        for row in range(len(counts)):
            size = counts[row, last]
            if marks[row] or size == 0:
                continue
            records: Any = np.int64(size)
            if len(starts) > 0:
                begin, end = within(places, starts[row], starts[row + 1], start, stop)
                if known:
                    records = _total(numbers, 0, begin, end)
                over = check(
                    places, numbers, 0, begin, end, records, laid, bound, logs, grassbergers, sums
                )
            else:
                if known:
                    records = _total(counts, row, start, stop)
                over = check(
                    DENSE, counts, row, start, stop, records, laid, bound, logs, grassbergers, sums
                )
            if over > 0 or records == 0:
                marks[row] = True
                found += size
                if found > most:
                    return found
        return found

    # Machine code that was kept on disk is linked by these names: of two loops of one name the
    # wrong one may be called.
    mark.__qualname__ = f"mark{check.__name__}"
    return within_machine_code(mark)


_mark_uncertain, _mark_divergent = _marking(_uncertain), _marking(_divergent)
_mark_unlikely, _mark_disclosed = _marking(_unlikely), _marking(_disclosed)
_mark_uniform, _mark_dominated = _marking(_uniform), _marking(_dominated)
_mark_distant = _marking(_distant)


@within_machine_code
def _mark_by_population(
    counts: Columns, present: bool, laid: Laid, bound: int, most: int, marks: Mask
) -> int:
    """Mark classes beyond a bound about the population; their records, until beyond the most."""
    found = 0
    for row in range(len(counts)):
        records, population = trailing(counts, row)
        if marks[row]:
            continue
        if present:
            marks[row] = _present(records, population, laid, bound) > 0
        else:
            marks[row] = records > 0 and population < laid.limits[bound]
        if marks[row]:
            found += records
            if found > most:
                return found
    return found


@within_machine_code
def mark_beyond(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
    most: int,
    marks: Mask,
) -> int:
    """Mark classes beyond a bound that were not marked; their records, until beyond the most.

    All classes by one bound: what a tuple of arrays costs to take apart is paid once. ``sums`` is
    room for one number more than a class has columns.
    """
    kind = laid.facts[bound, KIND]
    classes = counts, starts, places, numbers
    if kind == ENTROPY:
        return _mark_uncertain(*classes, laid, bound, logs, grassbergers, sums, most, marks)
    if kind == DIVERGENCE:
        return _mark_divergent(*classes, laid, bound, logs, grassbergers, sums, most, marks)
    if kind <= GRASSBERGER:
        return _mark_unlikely(*classes, laid, bound, logs, grassbergers, sums, most, marks)
    if kind == SHARES:
        return _mark_disclosed(*classes, laid, bound, logs, grassbergers, sums, most, marks)
    if kind == DISTINCT:
        return _mark_uniform(*classes, laid, bound, logs, grassbergers, sums, most, marks)
    if kind == RECURSIVE:
        return _mark_dominated(*classes, laid, bound, logs, grassbergers, sums, most, marks)
    if kind == TRANSPORT:
        return _mark_distant(*classes, laid, bound, logs, grassbergers, sums, most, marks)
    return _mark_by_population(counts, kind == PRESENCE, laid, bound, most, marks)


@within_machine_code
def broken_classes(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
    least: float,
    laid: Laid,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
    most: int,
    marks: Mask,
) -> int:
    """Mark classes that break a bound; their records, until beyond the most.

    Marks are complete where the records are not beyond the most.
    """
    found = mark_small(counts, least, most, marks)
    for bound in range(len(laid.limits)):
        if found > most:
            return found
        found += mark_beyond(
            counts,
            starts,
            places,
            numbers,
            laid,
            bound,
            logs,
            grassbergers,
            sums,
            most - found,
            marks,
        )
    return found


@in_machine_code
def _broken(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
    least: float,
    laid: Laid,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
    most: int,
    marks: Mask,
) -> int:
    return broken_classes(
        counts, starts, places, numbers, least, laid, logs, grassbergers, sums, most, marks
    )


@in_machine_code
def _small(counts: Columns, least: float, most: int, marks: Mask) -> int:
    return mark_small(counts, least, most, marks)


@within_machine_code
def bits_within(numbers: Columns, row: int, begin: int, end: int, logs: Floats) -> float:
    """Sum of n_gw log n_gw over entries, those of 0 left out."""
    inside = 0.0
    for entry in range(begin, end):
        count = _number(numbers, row, entry)
        if count > 0:
            inside += xlogx(count, logs)
    return inside


@in_machine_code
def _uncertainty(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
    start: int,
    stop: int,
    logs: Floats,
) -> float:
    """Sum of n_g H(W|g) = n_g log n_g - sum n_gw log n_gw over classes, in bits."""
    bits = 0.0
    for row in range(len(counts)):
        if len(starts) > 0:
            begin, end = within(places, starts[row], starts[row + 1], start, stop)
            inside = bits_within(numbers, 0, begin, end, logs)
        else:
            inside = bits_within(counts, row, start, stop, logs)
        bits += xlogx(counts[row, counts.shape[1] - 1], logs) - inside
    return bits


def broken(counts: Columns | Histograms, rules: Rules, most: int) -> tuple[int, Mask]:
    """Count the records in classes that break a bound, and mark these classes.

    Beyond ``most`` such records it stops: the number is then too small and the marks incomplete.
    """
    of = Histograms.of(counts)
    marks = np.empty(len(of), bool)
    if not len(rules):
        return int(_small(of.counts, rules.least, most, marks)), marks
    records = _broken(
        *_entries(of),
        rules.least,
        rules.laid,
        logs_table(),
        grassberger_table(),
        np.empty(rules.laid.rows.shape[2] + 1, np.int64),
        most,
        marks,
    )
    return int(records), marks


def uncertainty(counts: Columns | Histograms, start: int, stop: int) -> float:
    """Sum of n_g H(W|g) over classes, in bits, W standing in the columns [start, stop)."""
    return float(_uncertainty(*_entries(Histograms.of(counts)), start, stop, logs_table()))


def _entries(of: Histograms) -> tuple[Columns, Any, Any, Columns]:
    """Histograms as loops take them: each kind has a loop of its own, without the other's work."""
    return of if of.sparse else (of.counts, DENSE, DENSE, of.counts)
