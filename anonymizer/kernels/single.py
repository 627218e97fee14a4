"""One class: acceptable or not, and what it is worth. Searches over classes are made of these."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Columns, Floats, Ints, Mask
from anonymizer.kernels.frequency import grassberger_table, logs_table
from anonymizer.kernels.native import Packed, call
from anonymizer.kernels.rules import Laid, Rules, Worth


@dataclass(frozen=True, eq=False)
class Criteria:
    """Conditions and worth of a class.

    Parameters
    ----------
    least
        The records that every class must have.
    laid
        The other bounds.
    worth
        What a class is worth.
    """

    least: float
    laid: Laid
    worth: Worth

    @classmethod
    def of(cls, rules: Rules, worth: Worth) -> "Criteria":
        """Rules and worth together."""
        return cls(rules.least, rules.laid, worth)

    @cached_property
    def packed(self) -> Packed:
        """The criteria as kernels read them, with tables of n log2 n."""
        return Packed(self.least, self.laid, self.worth, logs_table(), grassberger_table())


class Room(NamedTuple):
    """Memory in which some classes are judged.

    Attributes
    ----------
    counts
        Their histograms, shape (classes, columns), of 64 bits.
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


def values(counts: Columns, required: Criteria) -> Floats:
    """The worth of classes, shape (classes,).

    -inf for one that breaks a bound, 0 for one without records.
    """
    room = Room.of(np.array(counts, np.int64, order="C"))
    call("judge_classes", room, len(counts), required.packed)
    return room.worths
