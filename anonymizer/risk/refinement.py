"""Equivalence classes refined one column at a time, and measured for every subset of some columns.

Each subset is measured once, and refined only where its classes may differ from those of a subset
with a column less.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import accumulate, takewhile
from math import comb
from typing import Protocol, TypeVar, cast

import numpy as np
import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.errors import InputError, is_whole
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.kernels.arrays import Codes, Ints, Places
from anonymizer.kernels.native import call
from anonymizer.risk.profile import Inference, Measures, Reidentification
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.numbering import Digits
from anonymizer.tables.relations.relation import Relation

DENSE = 4
"""Up to this many cells of class by value per record are counted in a full table."""

PACKED = 2**31 - 1
"""Ordered records are split by at most this many combinations at once: they fit in 32 bits."""

BLOCK = 1 << 16
"""Records numbered at a time, so that intermediate results stay in the cache."""


class Columnar(Protocol):
    """A table that gives its columns one at a time: a DataFrame, a tally, a file read by column."""

    def __getitem__(self, name: str, /) -> pd.Series:
        """A column."""


def stored(table: Columnar | Relation) -> Relation | None:
    """Return a table that is counted where it lies; None for one that gives its columns."""
    counts = callable(getattr(table, "multiplicities", None))  # no column is
    return cast("Relation", table) if counts else None


def rows_in(table: Columnar) -> int:
    """Count the rows of a table, each of which is a record, or stands for several of a tally."""
    return len(table.index) if isinstance(table, Tally) else len(cast(Sized, table))


@dataclass(frozen=True, eq=False)
class Refinement:
    """The equivalence classes of the records of a table."""

    class_of: Codes  # of each row, shape (rows,), numbered 0, 1, ... without a gap
    classes: int  # their number
    weights: Ints | None = None  # records of each row, shape (rows,); None where each has one

    @classmethod
    def trivial(cls, records: int) -> "Refinement":
        """All records in one class."""
        return cls(np.zeros(records, np.intp), min(records, 1))

    @classmethod
    def whole(cls, table: Columnar) -> "Refinement":
        """All records of a table in one class."""
        return replace(cls.trivial(rows_in(table)), weights=engine.sizes_of(table))

    def by(self, column: pd.Series) -> "Refinement":
        """Split each class by the values of one more column; a missing value is a value."""
        return self.split(engine.numbered(column))

    def split(self, digits: Digits) -> "Refinement":
        """Split each class by the codes of the records."""
        codes, number = digits
        if self.classes == len(self.class_of):
            return self
        keys = np.empty(len(codes), np.intp)
        for block in _blocks(len(codes)):
            np.multiply(self.class_of[block], number, out=keys[block])
            keys[block] += codes[block]
        if self.classes * number > DENSE * len(codes):
            return self._split_into(keys := pd.factorize(keys)[0], int(keys.max()) + 1)
        counts = np.bincount(keys, minlength=self.classes * number)
        place = np.cumsum(counts > 0, dtype=np.int32) - 1
        for block in _blocks(len(codes)):
            keys[block] = place[keys[block]]
        return self._split_into(keys, int(place[-1]) + 1)

    def _split_into(self, class_of: Codes, classes: int) -> "Refinement":
        return Refinement(class_of, classes, self.weights)

    @cached_property
    def sizes(self) -> Ints:
        """Records of each class, shape (classes,)."""
        # Sums of whole numbers below 2^53 are exact as floats.
        sizes = np.bincount(self.class_of, self.weights, minlength=self.classes)
        return sizes.astype(np.int64)

    def is_homogeneous(self, digits: Digits | None = None) -> bool:
        """Return whether a class has one record, or one code; where cells are many, False."""
        single = bool((self.sizes == 1).any())
        if single or digits is None:
            return single
        codes, number = digits
        if self.classes * number > DENSE * len(codes):
            return False
        there = np.zeros(self.classes * number, bool)
        for block in _blocks(len(codes)):
            there[self.class_of[block] * number + codes[block]] = True
        return bool((there.reshape(self.classes, number).sum(axis=1) == 1).any())

    def reidentification(self) -> Reidentification:
        """The profile of the classes with the record itself at risk."""
        return Reidentification.of(self.sizes)

    def inference(self, column: pd.Series, weights: Ints | None = None) -> Inference:
        """The profile of the classes with a sensitive attribute at risk.

        ``weights``: what each row counts, by default its records, shape (rows,).
        """
        weights = self.weights if weights is None else weights
        return Inference.tallied(self.class_of, by_text(column)[0], weights)

    def measures(self, about: pd.Series | None) -> Measures:
        """The measures about a sensitive attribute, or with None about the record itself."""
        profile = self.reidentification() if about is None else self.inference(about)
        return profile.measures


@dataclass(frozen=True, eq=False)
class Ordered:
    """The records of a large table in the order of their classes.

    Records that are alone in their class are left out: nothing splits them. So Paige and Tarjan
    (1987, "Three partition refinement algorithms") refine: a class costs its records.
    """

    order: Places  # the records, class after class
    starts: Places  # where each class starts in the order, and where the last one ends
    records: int  # with those that are alone

    @classmethod
    def of(cls, class_of: Codes, classes: int) -> "Ordered":
        """Sort records by their class, shape (records,)."""
        records = len(class_of)
        order = np.arange(records, dtype=np.int32)
        starts = np.array([0, records][: 1 + (records > 1)], np.int32)
        return cls(order, starts, records).by((class_of, classes))

    def by(self, digits: Digits) -> "Ordered":
        """Split the classes by the codes of the records, in place: ``self`` is invalid then."""
        codes, number = digits
        largest = int(np.diff(self.starts).max(initial=1))
        slots = 1 << (2 * min(largest, number) + 1).bit_length()
        hashed = (
            np.zeros(slots, np.int32),
            np.empty(slots, np.int32),
        )  # the table of a class's codes
        room = np.empty((3, largest), np.int32)  # what is known of the records of a class
        into = np.empty(int(self.starts[-1]) // 2 + 1, np.int32)  # the new starts
        codes = codes.astype(np.int32, copy=False)
        found = call("split_classes", self.order, self.starts, codes, *hashed, room, into)
        classes = int(found)
        return Ordered(self.order, into[: classes + 1].copy(), self.records)

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
        """Return whether a class has one record, or one code of these."""
        if self.alone or digits is None:
            return self.alone > 0
        codes = digits[0].astype(np.int32, copy=False)
        return call("any_uniform_class", self.order, self.starts, codes) > 0


def refined_by(table: Columnar, names: Iterable[str]) -> Refinement:
    """Group the records of a table that agree in all of some columns.

    Classes are numbered in the order of their first rows. Once every record has a class of its
    own, further columns are not read.
    """
    found = deque(refinements(table, names), maxlen=1)[0]
    class_of, records = found.class_of, rows_in(table)
    first = np.empty(found.classes, np.intp)
    first[class_of[::-1]] = np.arange(records)[::-1]  # what is written last stays
    starts = np.zeros(records, bool)
    starts[first] = True
    numbered = (np.cumsum(starts) - 1)[first][class_of]
    return replace(Refinement.whole(table), class_of=numbered, classes=found.classes)


def refinements(table: Columnar, names: Iterable[str]) -> Iterator[Refinement | Ordered]:
    """Yield the classes by more and more columns of a table, in the end by all of them.

    Each is valid until the next only. Several columns are split by at once. Where a full table of
    class by value would be too large, records are sorted by class.
    """
    names, records = list(names), rows_in(table)
    classes: Refinement | Ordered = Refinement.whole(table)
    keys, bound = np.zeros(records, np.int32), 1
    for name in names:
        codes, number = engine.numbered(table[name])
        most = PACKED if isinstance(classes, Ordered) else records // max(classes.classes, 1)
        if bound > 1 and bound * number > most:
            classes, bound = _split(classes, (keys, bound)), 1
            yield classes
            if classes.classes == records:
                return
        for block in _blocks(records):
            keys[block] = (
                keys[block] * np.int32(number) + codes[block] if bound > 1 else codes[block]
            )
        bound *= number
    yield _split(classes, (keys, bound))


def _split(classes: Refinement | Ordered, pack: Digits) -> Refinement | Ordered:
    """Split classes by a pack of columns."""
    if isinstance(classes, Ordered):
        return classes.by(pack)
    records = len(classes.class_of)
    if classes.classes * pack[1] > records and classes.weights is None:
        return Ordered.of(classes.class_of, classes.classes).by(pack)
    return classes.split(pack)


def _blocks(records: int) -> Iterator[slice]:
    for begin in range(0, records, BLOCK):
        yield slice(begin, begin + BLOCK)


Subset = tuple[str, ...]
T = TypeVar("T")

MOST_SUBSETS = 100_000
"""More are refused: nobody reads them, and each may cost a pass over the records."""


def column_of(table: Columnar, name: str) -> pd.Series:
    """Return a column of a table; InputError where none, or several, have the name."""
    try:
        column = table[name]
    except KeyError:
        raise InputError(f"the table has no column {name!r}") from None
    if isinstance(column, pd.DataFrame):
        raise InputError(f"column {name!r} stands more than once; give columns distinct names")
    return column


def refined(classes: Refinement, table: Columnar, names: Iterable[str]) -> Refinement:
    """Split classes by more columns, which are read until every record is alone."""
    for name in names:
        if classes.classes == rows_in(table):
            break
        classes = classes.by(column_of(table, name))
    return classes


def affordable(size: int, attributes: int) -> int:
    """Return the largest size up to ``size`` with at most ``MOST_SUBSETS`` subsets, or 0.

    >>> affordable(5, 10), affordable(5, 100)
    (5, 2)
    """
    sizes = range(1, min(size, attributes) + 1)
    totals = accumulate(comb(attributes, several) for several in sizes)
    return sum(1 for _ in takewhile(lambda total: total <= MOST_SUBSETS, totals))


def subsets_up_to(size: int, names: Sequence[str]) -> int:
    """Count the non-empty subsets of up to ``size`` attributes; InputError if too many."""
    if not is_whole(size, least=1):
        raise InputError(f"size = {size!r} must be a whole number of at least 1")
    if not names:
        raise InputError("name at least one attribute")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"attribute {twice[0]!r} is named more than once")
    size = min(size, len(names))
    fits = affordable(size, len(names))
    if fits < size:
        mend = f"at most size = {fits}" if fits else "fewer attributes"
        raise InputError(
            f"{len(names):,} attributes have more than {MOST_SUBSETS:,} subsets of up to "
            f"{size:,}; request {mend}"
        )
    return sum(comb(len(names), several) for several in range(1, size + 1))


def measured(
    table: Columnar,
    names: Sequence[str],
    size: int,
    measure: Callable[[Refinement], T],
    enough: Callable[[T], bool] = lambda _: False,
    watch: Watch = ignore,
) -> dict[Subset, T]:
    """Measure the classes of every non-empty subset of some columns, up to a size.

    Supersets of a subset whose measure is ``enough`` are left out. Errors are those of
    ``subsets_up_to`` and ``column_of``.

    The walk is depth first from the last name to the first. So a subset comes after all of its own
    subsets, and only the columns of one path are in memory. A subset with the same classes as one
    with a column less is neither refined nor measured.
    """
    total, size = subsets_up_to(size, names), min(size, len(names))
    found: dict[Subset, T] = {}
    classes_of: dict[Subset, int] = {(): 1}
    closed: set[Subset] = set()  # those whose supersets are left out

    def twin(subset: Subset) -> Subset | None:
        """A subset with one column less that is known to have the same classes.

        Either all its records are alone, or the column left out depends on some of the others: with
        all but one of them it split no class.
        """
        for name in reversed(subset) if len(subset) > 1 else ():
            less = _without(subset, name)
            if classes_of[less] == rows_in(table) or any(
                classes_of[_without(subset, other)] == classes_of[_without(less, other)]
                for other in less
            ):
                return less
        return None

    def visit(prefix: Subset, classes: Callable[[], Refinement], start: int) -> None:
        """Visit the supersets of ``prefix`` by the columns from ``start`` on."""
        for place in reversed(range(start, len(names))):
            subset = (*prefix, names[place])
            if any(_without(subset, name) in closed for name in subset):
                closed.add(subset)
                continue
            same = twin(subset)
            own = (
                classes if same == prefix else cache(partial(_split_by, table, classes, subset[-1]))
            )
            if same is None:
                classes_of[subset], found[subset] = own().classes, measure(own())
            else:
                classes_of[subset], found[subset] = classes_of[same], found[same]
            watch("measuring subsets of attributes", len(found), total)
            if enough(found[subset]):
                closed.add(subset)
            elif len(subset) < size:
                visit(subset, own, place + 1)

    trivial = Refinement.whole(table)
    visit((), lambda: trivial, 0)
    return found


def _split_by(table: Columnar, classes: Callable[[], Refinement], name: str) -> Refinement:
    return classes().by(column_of(table, name))


def _without(subset: Subset, name: str) -> Subset:
    return tuple(other for other in subset if other != name)
