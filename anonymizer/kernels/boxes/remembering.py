"""Worths of boxes that were worked out before, in a table that jobs share; in machine code.

The table never grows: a new worth takes the slot of an older one. A box that was forgotten is
worked out again, to the last bit, so that what is remembered never changes a result.
"""

from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Floats, Ints, Marks
from anonymizer.kernels.machine import within_borrowed

LEAST, MOST = 12, 22
"""Bits of the numbers of slots: 64 kB and 64 MB."""

BOXES = 64
"""Slots for every cell."""

MIX, SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
"""Odd numbers whose bits look random (Steele, Lea, Flood 2014)."""


class Memory(NamedTuple):
    """Worth of boxes by their marks.

    Two boxes with the same 64 bits are not told apart. That hardly happens, and would mislead the
    choice of a cut, nothing else: boxes are judged by their records.

    Attributes
    ----------
    locks
        The bits that stand for a box, exclusive or with those of its worth, shape (slots,): of two
        jobs that write a slot at once no half-written worth is taken (Hyatt and Mann 2002).
    worths
        What boxes are worth, shape (slots,).
    """

    locks: Marks
    worths: Floats

    @classmethod
    def of(cls, cells: int) -> "Memory":
        """An empty memory for boxes of so many cells."""
        slots = 1 << min(MOST, max(LEAST, (BOXES * cells - 1).bit_length()))
        return cls(np.zeros(slots, np.uint64), np.full(slots, np.nan))

    def __reduce__(self) -> "tuple[object, tuple[int]]":
        """Other processes begin with an empty one."""
        return Memory.of, (len(self.worths) // BOXES,)


@within_borrowed
def _slot(memory: Memory, key: np.uint64) -> int:
    """Return the place where a box is remembered."""
    return int((key * MIX) >> np.uint64(32)) & (len(memory.locks) - 1)


@within_borrowed
def recall(memory: Memory, key: np.uint64) -> float:
    """Return the worth of a box, NaN where that is not remembered."""
    slot = _slot(memory, key)
    worth = memory.worths[slot]
    if memory.locks[slot] ^ np.float64(worth).view(np.uint64) == key:
        return float(worth)
    return np.nan


@within_borrowed
def remember(memory: Memory, key: np.uint64, worth: float) -> None:
    """Remember what a box is worth."""
    slot = _slot(memory, key)
    memory.locks[slot] = key ^ np.float64(worth).view(np.uint64)
    memory.worths[slot] = worth


@within_borrowed
def with_bounds(marks: np.uint64, bounds: Ints, confined: bool) -> np.uint64:
    """Return the mark of a box, with its ends on every axis where these confine its cuts."""
    if not confined:
        return marks
    key = marks
    for axis in range(len(bounds)):
        for end in range(2):
            key = (key ^ np.uint64(bounds[axis, end])) * SPREAD
            key ^= key >> np.uint64(29)
    return key
