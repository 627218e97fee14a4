"""The records of a large table in the order of their classes, refined by compiled code."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels import Ordering
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables.pandas import Digits

__all__ = ["Ordered"]

Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Ordered:
    """The classes of two records or more; records that are alone are left out.

    Parameters
    ----------
    order
        The records, class after class.
    starts
        Where each class starts in the order, and where the last one ends, shape (classes + 1,).
    records
        The number of records, with those that are alone.
    kernel
        The compiled loops.
    """

    order: Places
    starts: Places
    records: int
    kernel: Ordering

    @classmethod
    def of(cls, class_of: Codes, classes: int, kernel: Ordering) -> "Ordered":
        """Sort records by their class, shape (records,)."""
        records = len(class_of)
        order = np.arange(records, dtype=np.int32)
        starts = np.array([0, records][: 1 + (records > 1)], np.int32)
        return cls(order, starts, records, kernel).by((class_of, classes))

    def by(self, digits: Digits) -> "Ordered":
        """Split the classes by the codes of the records, in place: ``self`` is invalid then."""
        codes, number = digits
        largest = int(np.diff(self.starts).max(initial=1))
        slots = 1 << (2 * min(largest, number) + 1).bit_length()
        into = np.empty(int(self.starts[-1]) // 2 + 1, np.int32)
        classes = self.kernel.split(
            self.order,
            self.starts,
            codes.astype(np.int32, copy=False),
            np.zeros(slots, np.int32),
            np.empty(slots, np.int32),
            np.empty((3, largest), np.int32),
            into,
        )
        return Ordered(self.order, into[: classes + 1].copy(), self.records, self.kernel)

    @property
    def alone(self) -> int:
        """Records that are the only one of their class."""
        return self.records - int(self.starts[-1])

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.starts) - 1 + self.alone

    @property
    def sizes(self) -> Ints:
        """Records of each class, shape (classes,)."""
        several = np.diff(self.starts).astype(np.int64)
        return np.concatenate([several, np.ones(self.alone, np.int64)])

    @property
    def class_of(self) -> Codes:
        """The class of each record, shape (records,)."""
        several = len(self.starts) - 1
        class_of = np.full(self.records, -1, np.intp)
        class_of[self.order[: self.starts[-1]]] = np.repeat(
            np.arange(several), np.diff(self.starts)
        )
        class_of[class_of < 0] = np.arange(several, self.classes)
        return class_of

    def is_homogeneous(self, digits: Digits | None = None) -> bool:
        """Whether a class has one record, or one code of these."""
        if self.alone or digits is None:
            return self.alone > 0
        return self.kernel.uniform(self.order, self.starts, digits[0].astype(np.int32, copy=False))
