"""One class in machine code: acceptable or not, and what it is worth.

Compiled searches over classes are made of these. A change here is not noticed by the machine code
that other files keep on disk: touch those files, too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.checks import breaks, xlogx
from anonymizer.kernels.frequency import Columns, Numbers, grassberger_table, logs_table
from anonymizer.kernels.machine import in_machine_code, within_machine_code
from anonymizer.kernels.rules import Laid, Rules
from anonymizer.kernels.worth import Worth

__all__ = ["Criteria", "criteria", "value", "values", "worth_of"]

Floats = NDArray[np.float64]


class Criteria(NamedTuple):
    """What a class must satisfy and what it is worth, as compiled code takes it.

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
def value(counts: Columns, row: int, asked: Criteria, sums: Numbers) -> float:
    """The worth of a class, -inf where it breaks a bound, 0 where it has no records.

    ``sums`` is room for one number more than a class has columns.
    """
    records = counts[row, counts.shape[1] - 1]
    if records == 0:
        return 0.0
    if records < asked.least or breaks(
        counts, row, asked.laid, asked.logs, asked.grassbergers, sums
    ):
        return -np.inf
    return worth_of(counts, row, asked)


@within_machine_code
def worth_of(counts: Columns, row: int, asked: Criteria) -> float:
    """The worth of a class that has records, acceptable or not."""
    worth, records = asked.worth, counts[row, counts.shape[1] - 1]
    total = worth.each
    if len(worth.by_size):
        total += worth.by_size[records]
    for attribute in range(len(worth.weights)):
        bits, occurring = -xlogx(records, asked.logs), 0
        for column in range(worth.spans[attribute, 0], worth.spans[attribute, 1]):
            count = counts[row, column]
            if count > 0:
                bits += xlogx(count, asked.logs)
                occurring += 1
        total += worth.weights[attribute] * bits - worth.per_value[attribute] * occurring
    return total


@in_machine_code
def _values(counts: Columns, asked: Criteria, sums: Numbers, found: Floats) -> None:
    """The value of every class."""
    for row in range(len(counts)):
        found[row] = value(counts, row, asked, sums)


def values(counts: Columns, asked: Criteria) -> Floats:
    """The worth of classes, -inf for one that breaks a bound, shape (classes,)."""
    found = np.empty(len(counts))
    _values(counts, asked, np.empty(counts.shape[1] + 1, np.int64), found)
    return found
