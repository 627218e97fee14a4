"""Equivalence classes refined one column at a time."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.counts.columns import by_text
from anonymizer.kernels import ordering
from anonymizer.risk.ordering import Ordered
from anonymizer.risk.profile import Inference, Reidentification
from anonymizer.tables import pandas as engine
from anonymizer.tables.pandas import Digits

__all__ = ["Columns", "Refinement", "refined_by", "refinements"]

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSE = 4
"""So many combinations of classes and values per record are counted in a table of all of them."""

PACKED = 2**31 - 1
"""Combinations of columns that records in order are split by at once: what 32 bits hold."""

DEARER = 4
"""How many records compiled code looks at, at least, while pandas numbers one by hashing."""

BLOCK = 1 << 16
"""Records numbered at a time: what is made of them on the way stays in the cache."""


class Columns(Protocol):
    """A table that gives its columns one at a time: a DataFrame, or a file that is not all read."""

    def __len__(self) -> int:
        """The number of records."""

    def __getitem__(self, name: str, /) -> pd.Series:
        """A column."""


@dataclass(frozen=True, eq=False)
class Refinement:
    """The records of a table in their classes.

    Parameters
    ----------
    class_of
        The class of each record, shape (records,), numbered 0, 1, ... without a gap.
    classes
        How many classes there are.
    """

    class_of: Codes
    classes: int

    @classmethod
    def trivial(cls, records: int) -> "Refinement":
        """All records in one class."""
        return cls(np.zeros(records, np.intp), min(records, 1))

    def by(self, column: pd.Series) -> "Refinement":
        """The classes, each split by the values of one more column; a missing one is a value."""
        return self.split(engine.numbered(column))

    def split(self, digits: Digits) -> "Refinement":
        """The classes, each split by the codes of the records, these being below a bound."""
        codes, number = digits
        if self.classes == len(self.class_of):
            return self
        keys = np.empty(len(codes), np.intp)
        for block in _blocks(len(codes)):
            np.multiply(self.class_of[block], number, out=keys[block])
            keys[block] += codes[block]
        if self.classes * number > DENSE * len(codes):
            return Refinement(keys := pd.factorize(keys)[0], int(keys.max()) + 1)
        counts = np.bincount(keys, minlength=self.classes * number)
        place = np.cumsum(counts > 0, dtype=np.int32) - 1
        for block in _blocks(len(codes)):
            keys[block] = place[keys[block]]
        return Refinement(keys, int(place[-1]) + 1)

    def in_order(self) -> "Refinement":
        """The same classes, numbered in the order of their first records."""
        records = len(self.class_of)
        first = np.empty(self.classes, np.intp)
        first[self.class_of[::-1]] = np.arange(records)[::-1]  # what is written last stays
        starts = np.zeros(records, bool)
        starts[first] = True
        return Refinement((np.cumsum(starts) - 1)[first][self.class_of], self.classes)

    @cached_property
    def sizes(self) -> Ints:
        """Records of each class, shape (classes,)."""
        return np.bincount(self.class_of, minlength=self.classes).astype(np.int64)

    def is_homogeneous(self, digits: Digits | None = None) -> bool:
        """Whether a class has one record, or one code of these; not looked for in many cells."""
        if (self.sizes == 1).any() or digits is None:
            return bool((self.sizes == 1).any())
        codes, number = digits
        if self.classes * number > DENSE * len(codes):
            return False
        there = np.zeros(self.classes * number, bool)
        for block in _blocks(len(codes)):
            there[self.class_of[block] * number + codes[block]] = True
        return bool((there.reshape(self.classes, number).sum(axis=1) == 1).any())

    def reidentification(self) -> Reidentification:
        """What the classes tell about who a record is of."""
        return Reidentification.of(self.sizes)

    def inference(self, column: pd.Series) -> Inference:
        """What they tell about a sensitive attribute."""
        return Inference.tallied(self.class_of, by_text(column)[0])


def refined_by(table: Columns, names: Iterable[str]) -> Refinement:
    """The classes of a table: records that agree in all of some columns.

    Classes are numbered in the order of their first records, whatever the table comes from. Where
    every record has a class of its own, further columns are not read.
    """
    found = deque(refinements(table, names), maxlen=1)[0]
    return Refinement(found.class_of, found.classes).in_order()


def refinements(table: Columns, names: Iterable[str]) -> Iterator[Refinement | Ordered]:
    """The classes by more and more columns of a table, at last by all of them.

    Each is only valid until the next. Several columns are split by at once; once there are too
    many classes for a table of all combinations, records are kept in the order of their classes if
    there is enough to do.
    """
    names, records = list(names), len(table)
    classes: Refinement | Ordered = Refinement.trivial(records)
    keys, bound = np.zeros(records, np.int32), 1
    for place, name in enumerate(names):
        codes, number = engine.numbered(table[name])
        if bound > 1 and bound * number > _most(classes, records):
            classes, bound = _split(classes, (keys, bound), len(names) - place), 1
            yield classes
            if classes.classes == records:
                return
        for block in _blocks(records):
            keys[block] = (
                keys[block] * np.int32(number) + codes[block] if bound > 1 else codes[block]
            )
        bound *= number
    yield _split(classes, (keys, bound), 0)


def _split(classes: Refinement | Ordered, pack: Digits, ahead: int) -> Refinement | Ordered:
    """Split classes by some columns, so many more being ahead."""
    if isinstance(classes, Ordered):
        return classes.by(pack)
    records = len(classes.class_of)
    if classes.classes * pack[1] > records:
        kernel = ordering(DEARER * records * (ahead + 1))
        if kernel is not None:
            return Ordered.of(classes.class_of, classes.classes, kernel).by(pack)
    return classes.split(pack)


def _most(classes: Refinement | Ordered, records: int) -> int:
    """The combinations of columns that classes are split by at once."""
    return PACKED if isinstance(classes, Ordered) else records // max(classes.classes, 1)


def _blocks(records: int) -> Iterator[slice]:
    """The places of all records, some at a time."""
    for begin in range(0, records, BLOCK):
        yield slice(begin, begin + BLOCK)
