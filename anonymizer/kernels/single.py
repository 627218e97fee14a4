"""One class in machine code: acceptable or not, and what it is worth.

Compiled searches over classes are made of these. A change here is not noticed by the machine code
that other files keep on disk: touch those files, too.
"""

from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Columns, Floats, Ints, Mask
from anonymizer.kernels.checks import DENSE, DIVERGENCE, ENTROPY, breaks, mark_beyond, xlogx
from anonymizer.kernels.frequency import grassberger_table, logs_table
from anonymizer.kernels.machine import on_borrowed, within_borrowed, within_machine_code
from anonymizer.kernels.rules import KIND, KNOWN, START, STOP, UPPER, Laid, Rules, Worth

ALL = int(np.iinfo(np.int64).max)
"""More records than there are."""


class Criteria(NamedTuple):
    """Conditions and worth of a class, as compiled code takes them.

    Attributes
    ----------
    least
        The records that every class must have.
    laid
        The other bounds.
    worth
        What a class is worth.
    logs, grassbergers
        Tables of n log2 n, and of what stands for it in Grassberger's estimate.
    """

    least: float
    laid: Laid
    worth: Worth
    logs: Floats
    grassbergers: Floats


def criteria(rules: Rules, worth: Worth) -> Criteria:
    """Rules and worth together."""
    return Criteria(rules.least, rules.laid, worth, logs_table(), grassberger_table())


@within_machine_code
def value(counts: Columns, row: int, required: Criteria, sums: Ints) -> float:
    """The worth of a class, -inf where it breaks a bound, 0 where it has no records.

    ``sums`` is room for one number more than a class has columns.
    """
    records = counts[row, counts.shape[1] - 1]
    if records == 0:
        return 0.0
    if records < required.least or breaks(
        counts, row, required.laid, required.logs, required.grassbergers, sums
    ):
        return -np.inf
    return worth_of(counts, row, required)


@within_machine_code
def worth_of(counts: Columns, row: int, required: Criteria) -> float:
    """The worth of a class that has records, acceptable or not."""
    worth, records = required.worth, counts[row, counts.shape[1] - 1]
    total = worth.each
    if len(worth.by_size):
        total += worth.by_size[records]
    for attribute in range(len(worth.weights)):
        bits, occurring = -xlogx(records, required.logs), 0
        for column in range(worth.spans[attribute, 0], worth.spans[attribute, 1]):
            count = counts[row, column]
            if count > 0:
                bits += xlogx(count, required.logs)
                occurring += 1
        total += worth.weights[attribute] * bits - worth.per_value[attribute] * occurring
    return total


class Room(NamedTuple):
    """Memory in which some classes are judged.

    Counts are of 64 bits, always: given tuples that differ in nothing but the type of an array,
    numba up to 0.60 at least may take code that it compiled for the other.

    Attributes
    ----------
    counts
        Their histograms, shape (classes, columns).
    terms
        n log n of each count, columns first: shape (columns, classes).
    bits, worths
        Shape (classes,) each.
    sums
        Room for one number more than a class has columns.
    marks
        Shape (classes,).
    """

    counts: Columns
    terms: Floats
    bits: Floats
    worths: Floats
    sums: Ints
    marks: Mask

    @classmethod
    def of(cls, counts: Columns) -> "Room":
        """Room for some classes, whose histograms may still change."""
        classes, columns = counts.shape
        return cls(
            counts,
            np.empty((columns, classes)),
            np.empty(classes),
            np.empty(classes),
            np.empty(columns + 1, np.int64),
            np.empty(classes, bool),
        )


@on_borrowed
def judge(room: Room, number: int, required: Criteria) -> None:
    """The worth of the first classes, -inf for one that breaks a bound, 0 for one without records.

    Bound by bound and not class by class, the classes in the innermost loops: what a tuple of
    arrays costs to take apart is paid once, and the loops are vectors to the processor.
    """
    laid, logs, counts = required.laid, required.logs, room.counts
    worths = room.worths
    last = counts.shape[1] - 1
    for row in range(number):
        small = 0 < counts[row, last] < required.least
        worths[row] = -np.inf if small else 0.0
    # Where only sizes count, no logarithm does.
    for column in range(last + 1 if len(laid.limits) + len(required.worth.weights) else 0):
        terms = room.terms[column]
        for row in range(number):
            count = counts[row, column]
            terms[row] = logs[count] if count < len(logs) else xlogx(count, logs)
    for bound in range(len(laid.limits)):
        kind = laid.facts[bound, KIND]
        if laid.facts[bound, KNOWN] > 0:
            _judge_otherwise(room, number, required, bound)
        elif kind == ENTROPY:
            _judge_entropy(room, number, laid, bound)
        elif kind == DIVERGENCE:
            _judge_divergence(room, number, laid, bound)
        else:
            _judge_otherwise(room, number, required, bound)
    _add_worth(room, number, required.worth)


@within_borrowed
def _add_entropy(room: Room, number: int, start: int, stop: int) -> None:
    """Set ``bits`` to n H(W|g)."""
    bits, whole = room.bits, room.terms[len(room.terms) - 1]
    for row in range(number):
        bits[row] = whole[row]
    for column in range(start, stop):
        terms = room.terms[column]
        for row in range(number):
            bits[row] -= terms[row]


@within_borrowed
def _judge_entropy(room: Room, number: int, laid: Laid, bound: int) -> None:
    """Mark classes of too little entropy."""
    limit, bits, worths, counts = laid.limits[bound], room.bits, room.worths, room.counts
    last = counts.shape[1] - 1
    _add_entropy(room, number, laid.facts[bound, START], laid.facts[bound, STOP])
    for row in range(number):
        if bits[row] < limit * counts[row, last]:
            worths[row] = -np.inf


@within_borrowed
def _judge_divergence(room: Room, number: int, laid: Laid, bound: int) -> None:
    """Mark classes too far from the table."""
    limit, bits, worths, counts = laid.limits[bound], room.bits, room.worths, room.counts
    last = counts.shape[1] - 1
    start, stop = laid.facts[bound, START], laid.facts[bound, STOP]
    _add_entropy(room, number, start, stop)
    for column in range(start, stop):
        logarithm = laid.rows[UPPER, bound, column]
        if logarithm > -np.inf:  # else no record of the table has the value
            for row in range(number):
                bits[row] += counts[row, column] * logarithm
    for row in range(number):
        if -bits[row] > limit * counts[row, last]:
            worths[row] = -np.inf


@within_borrowed
def _judge_otherwise(room: Room, number: int, required: Criteria, bound: int) -> None:
    """Mark classes that break a bound of any other kind."""
    worths, marks, counts = room.worths, room.marks[:number], room.counts[:number]
    for row in range(number):
        marks[row] = worths[row] < 0
    mark_beyond(
        counts,
        DENSE,
        DENSE,
        counts,
        required.laid,
        bound,
        required.logs,
        required.grassbergers,
        room.sums,
        ALL,
        marks,
    )
    for row in range(number):
        if marks[row]:
            worths[row] = -np.inf


@within_borrowed
def _add_worth(room: Room, number: int, worth: Worth) -> None:
    """Add what acceptable classes are worth."""
    bits, worths, counts = room.bits, room.worths, room.counts
    last = counts.shape[1] - 1
    for attribute in range(len(worth.weights)):
        weight, cost = worth.weights[attribute], worth.per_value[attribute]
        start, stop = worth.spans[attribute, 0], worth.spans[attribute, 1]
        _add_entropy(room, number, start, stop)
        for row in range(number):
            worths[row] -= weight * bits[row]
        if cost > 0:
            for row in range(number):
                for column in range(start, stop):
                    worths[row] -= cost * (counts[row, column] > 0)
    if worth.each != 0 or len(worth.by_size):
        for row in range(number):
            records = counts[row, last]
            if records > 0:
                worths[row] += worth.each
                if len(worth.by_size):
                    worths[row] += worth.by_size[records]


def values(counts: Columns, required: Criteria) -> Floats:
    """The worth of classes, -inf for one that breaks a bound, shape (classes,)."""
    room = Room.of(counts.astype(np.int64))
    judge(room, len(counts), required)
    return room.worths
