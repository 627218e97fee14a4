"""The checks of classes in machine code: which of them break a bound, and their uncertainty."""

import numpy as np

from anonymizer.kernels.arrays import Columns, Floats, Ints, Mask, Places
from anonymizer.kernels.frequency import grassberger_table, logs_table
from anonymizer.kernels.histograms import Histograms
from anonymizer.kernels.machine import in_machine_code, within_machine_code
from anonymizer.kernels.rules import (
    FIRST,
    KIND,
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
LN2 = float(np.log(2))

LEAST = 1e-12
"""What a class is beyond a bound that is broken by equality."""


NO_PLACES = np.zeros(0, np.int32)
"""Places of a dense row: its numbers stand in the columns that they are about."""

SURELY = 1e-9
"""By how many bits an entropy must be out of reach to be refused unsummed: more than rounding."""


@within_machine_code
def breaks(
    counts: Columns, row: int, laid: Laid, logs: Floats, grassbergers: Floats, sums: Ints
) -> bool:
    """Whether a dense class breaks a bound other than on size."""
    records, population = trailing(counts, row)
    numbers = counts[row]
    for bound in range(len(laid.limits)):
        over = beyond_listed(
            NO_PLACES, numbers, 0, 0, records, population, laid, bound, logs, grassbergers, sums
        )
        if over > 0:
            return True
    return False


@within_machine_code
def breaks_listed(
    places: Places,
    numbers: Columns,
    begin: int,
    end: int,
    records: int,
    population: int,
    laid: Laid,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> bool:
    """The same of a sparse class: its entries [begin, end), its records and the population's."""
    for bound in range(len(laid.limits)):
        if laid.facts[bound, KIND] == ENTROPY and _out_of_reach(
            min(end - begin, records), laid.limits[bound], logs
        ):
            return records > 0
        over = beyond_listed(
            places, numbers, begin, end, records, population, laid, bound, logs, grassbergers, sums
        )
        if over > 0:
            return True
    return False


@within_machine_code
def excess(
    counts: Columns, row: int, laid: Laid, logs: Floats, grassbergers: Floats, sums: Ints
) -> float:
    """How far a dense class is beyond its bounds other than on size, 0 where it breaks none.

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
    """How far a dense class is beyond a bound, multiplied out by n; above 0 where it breaks it."""
    records, population = trailing(counts, row)
    return beyond_listed(
        NO_PLACES, counts[row], 0, 0, records, population, laid, bound, logs, grassbergers, sums
    )


@within_machine_code
def trailing(counts: Columns, row: int) -> tuple[int, int]:
    """The records of a class, and those of the population, where that has a column."""
    last = counts.shape[1] - 1
    return counts[row, last], counts[row, max(last - 1, 0)]


@within_machine_code
def beyond_listed(
    places: Places,
    numbers: Columns,
    begin: int,
    end: int,
    records: int,
    population: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> float:
    """How far a class is beyond a bound, multiplied out by n; above 0 where it breaks it.

    Parameters
    ----------
    places, numbers
        The values of the class: the entries [begin, end), columns ascending. Without places the
        numbers are a dense row, in which a number may be 0.
    records, population
        The class's, and those of the population, if any.
    laid, bound
        The bounds, and which of them.
    logs, grassbergers
        Tables of n log2 n, and of what stands for it in Grassberger's estimate.
    sums
        Room for one number more than a class has columns.
    """
    kind = laid.facts[bound, KIND]
    if kind == PRESENCE:
        return _present(records, population, laid, bound)
    if records == 0:
        return 0.0
    if kind == POPULATION:
        return laid.limits[bound] - population
    begin, end = within(places, begin, end, laid.facts[bound, START], laid.facts[bound, STOP])
    if kind == DIVERGENCE:
        return _divergent(places, numbers, begin, end, records, laid, bound, logs)
    if kind == ENTROPY:
        return _uncertain(numbers, begin, end, records, laid, bound, logs)
    if kind <= GRASSBERGER:
        return _unlikely(numbers, begin, end, records, laid, bound, logs, grassbergers)
    if kind == SHARES:
        return _disclosed(places, numbers, begin, end, records, laid, bound)
    if kind == DISTINCT:
        return _uniform(numbers, begin, end, laid, bound)
    if kind == RECURSIVE:
        return _dominated(numbers, begin, end, laid, bound, sums)
    return _distant(places, numbers, begin, end, records, laid, bound, sums)


@within_machine_code
def within(places: Places, begin: int, end: int, start: int, stop: int) -> tuple[int, int]:
    """Those of the entries [begin, end) that are about the columns [start, stop)."""
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


@within_machine_code
def _column(places: Places, entry: int) -> int:
    """The column that an entry is about."""
    return int(places[entry]) if len(places) else entry


@within_machine_code
def _out_of_reach(most: int, limit: float, logs: Floats) -> bool:
    """Whether so many values, or records, are too few for an entropy: it is log2 of them at most.

    No sum is needed then, and none of many small classes, of which most nodes are made.
    """
    return most > 0 and limit > xlogx(most, logs) / most + SURELY


@within_machine_code
def _uncertain(
    numbers: Columns, begin: int, end: int, records: int, laid: Laid, bound: int, logs: Floats
) -> float:
    """Too little entropy. Multiplied out by n: no division."""
    bits = xlogx(records, logs)
    for entry in range(begin, end):
        if numbers[entry] > 0:
            bits -= xlogx(numbers[entry], logs)
    return laid.limits[bound] * records - bits


@within_machine_code
def _unlikely(
    numbers: Columns,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
    grassbergers: Floats,
) -> float:
    """Too little entropy as it is estimated, by Grassberger or else by Miller and Madow."""
    by_grassberger = laid.facts[bound, KIND] == GRASSBERGER
    bits = xlogx(records, logs)
    extra = -MILLER_MADOW
    for entry in range(begin, end):
        count = numbers[entry]
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
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    logs: Floats,
) -> float:
    """Too far from the table, in bits. Multiplied out by n."""
    bits = -xlogx(records, logs)
    for entry in range(begin, end):
        count = numbers[entry]
        if count > 0:
            bits += xlogx(count, logs) - count * laid.rows[UPPER, bound, _column(places, entry)]
    return bits - laid.limits[bound] * records


@within_machine_code
def _disclosed(
    places: Places,
    numbers: Columns,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
) -> float:
    """A value has too large or too small a share.

    Where all values that must occur do, the others need no look.
    """
    beyond, needed = 0.0, 0
    for entry in range(begin, end):
        count, column = numbers[entry], _column(places, entry)
        lower = laid.rows[LOWER, bound, column]
        needed += lower > 0
        beyond = max(beyond, records * lower - count)
        beyond = max(beyond, count - records * laid.rows[UPPER, bound, column])
    if len(places) and needed < laid.facts[bound, RANK]:
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
def _uniform(numbers: Columns, begin: int, end: int, laid: Laid, bound: int) -> float:
    """Too few distinct values."""
    distinct = 0
    for entry in range(begin, end):
        distinct += numbers[entry] > 0
        if distinct >= laid.limits[bound]:
            return 0.0
    return laid.limits[bound] - distinct


@within_machine_code
def _dominated(
    numbers: Columns, begin: int, end: int, laid: Laid, bound: int, ranked: Ints
) -> float:
    """One value is too frequent compared with the less frequent ones.

    The ``rank`` - 1 most frequent ones stand first in ``ranked``, sorted by insertion.
    """
    most = laid.facts[bound, RANK] - 1
    kept, tail, largest = 0, np.int64(0), np.int64(0)
    for entry in range(begin, end):
        count = np.int64(numbers[entry])
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
def _distant(
    places: Places,
    numbers: Columns,
    begin: int,
    end: int,
    records: int,
    laid: Laid,
    bound: int,
    sums: Ints,
) -> float:
    """Too much earth to move, too far. ``sums`` has an entry more than there are values."""
    start, values = laid.facts[bound, START], laid.facts[bound, STOP] - laid.facts[bound, START]
    sums[0] = 0
    if len(places):
        for place in range(values):
            sums[place + 1] = 0
        for entry in range(begin, end):
            sums[np.int64(laid.rows[PLACE, bound, places[entry]]) + 1] = numbers[entry]
        for place in range(values):
            sums[place + 1] += sums[place]
    else:
        for place in range(values):
            column = start + np.int64(laid.rows[ORDER, bound, start + place])
            sums[place + 1] = sums[place] + numbers[column]
    moved = 0.0
    for run in range(laid.facts[bound, FIRST], laid.facts[bound + 1, FIRST]):
        inside = sums[np.int64(laid.runs[run, 1])] - sums[np.int64(laid.runs[run, 0])]
        moved += laid.runs[run, 3] * abs(inside - records * laid.runs[run, 2])
    return moved - laid.limits[bound] * records


@within_machine_code
def _present(records: int, population: int, laid: Laid, bound: int) -> float:
    """Too large or too small a share of the population is in the table."""
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
    """As in the table; beyond it the series, whose further terms are lost in rounding."""
    if count < len(grassbergers):
        return grassbergers[count]
    half = count // 2
    return count * (np.log2(2.0 * half) + 1 / (24.0 * half * half * LN2))


@within_machine_code
def breaks_at(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
    row: int,
    laid: Laid,
    logs: Floats,
    grassbergers: Floats,
    sums: Ints,
) -> bool:
    """Whether a class of either kind breaks a bound other than on size."""
    if len(starts) == 0:
        return breaks(counts, row, laid, logs, grassbergers, sums)
    records, population = trailing(counts, row)
    begin, end = starts[row], starts[row + 1]
    return breaks_listed(
        places, numbers, begin, end, records, population, laid, logs, grassbergers, sums
    )


@in_machine_code
def _broken(
    counts: Columns,
    starts: Ints,
    places: Places,
    numbers: Columns,
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
            marks[row] = breaks_at(
                counts, starts, places, numbers, row, laid, logs, grassbergers, sums
            )
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


@within_machine_code
def bits_within(numbers: Columns, begin: int, end: int, logs: Floats) -> float:
    """Sum of n_gw log n_gw over entries, those of 0 left out."""
    inside = 0.0
    for entry in range(begin, end):
        if numbers[entry] > 0:
            inside += xlogx(numbers[entry], logs)
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
        if len(starts):
            begin, end = within(places, starts[row], starts[row + 1], start, stop)
            inside = bits_within(numbers, begin, end, logs)
        else:
            inside = bits_within(counts[row], start, stop, logs)
        bits += xlogx(counts[row, counts.shape[1] - 1], logs) - inside
    return bits


def broken(counts: Columns | Histograms, rules: Rules, most: int) -> tuple[int, Mask]:
    """Records in classes that break a bound, and which classes those are.

    Beyond ``most`` such records it stops: the number is then too small and the marks incomplete.
    """
    of = Histograms.of(counts)
    marks = np.empty(len(of), bool)
    if not len(rules):
        return int(_small(of.counts, rules.least, most, marks)), marks
    records = _broken(
        *of,
        rules.least,
        rules.presence,
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
    return float(_uncertainty(*Histograms.of(counts), start, stop, logs_table()))
