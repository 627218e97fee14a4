"""All subsets of some attributes, up to a size, each measured once and refined only if it must."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from math import comb
from typing import Generic, TypeVar

import pandas as pd

from anonymizer.errors import InputError, is_whole
from anonymizer.recoding import Watch, ignore
from anonymizer.risk.refinement import Columns, Refinement

__all__ = [
    "MOST_SUBSETS",
    "Subset",
    "affordable",
    "column_of",
    "measured",
    "refined",
    "subsets_up_to",
]

Subset = tuple[str, ...]
T = TypeVar("T")

MOST_SUBSETS = 100_000
"""More are refused: nobody reads them, and each may cost a pass over the records."""


def column_of(table: Columns, name: str) -> pd.Series:
    """A column of a table.

    Raises
    ------
    InputError
        When the table has none of that name, or several.
    """
    try:
        column = table[name]
    except KeyError:
        raise InputError(f"the table has no column {name!r}") from None
    if isinstance(column, pd.DataFrame):
        raise InputError(f"column {name!r} stands more than once; give columns distinct names")
    return column


def refined(classes: Refinement, table: Columns, names: Iterable[str]) -> Refinement:
    """The classes, split by more columns, until every record is alone: none is read beyond."""
    for name in names:
        if classes.classes == len(table):
            break
        classes = classes.by(column_of(table, name))
    return classes


def affordable(size: int, attributes: int) -> int:
    """The largest size up to this one of which there are few enough subsets; 0 if none is."""
    total = 0
    for several in range(1, min(size, attributes) + 1):
        total += comb(attributes, several)
        if total > MOST_SUBSETS:
            return several - 1
    return min(size, attributes)


def subsets_up_to(size: int, names: Sequence[str]) -> int:
    """How many subsets of some attributes have up to so many of them, the empty one left out.

    Raises
    ------
    InputError
        When the size is no whole number from 1, attributes are none or stand twice, or there are
        more than ``MOST_SUBSETS`` subsets.
    """
    if not is_whole(size, least=1):
        raise InputError(f"size = {size!r} must be a whole number of at least 1")
    if not names:
        raise InputError("name at least one attribute")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"attribute {twice[0]!r} is named more than once")
    return _require_few(min(size, len(names)), len(names))


def measured(
    table: Columns,
    names: Sequence[str],
    size: int,
    measure: Callable[[Refinement], T],
    enough: Callable[[T], bool] = lambda _: False,
    watch: Watch = ignore,
) -> dict[Subset, T]:
    """A measure of the classes of every non-empty subset of some columns, up to a size.

    ``enough`` tells of a measure that supersets need not be measured: they are left out.

    Depth first from the last name to the first, so that a subset comes after all of its own
    subsets, and beside the columns of one path nothing is held. A subset whose classes are known
    to be those of one with a column less is neither refined nor measured.

    Raises
    ------
    InputError
        As ``subsets_up_to``, and when the table lacks a column.
    """
    of = subsets_up_to(size, names)
    trivial = Refinement.trivial(len(table))
    walk = _Walk(table, names, min(size, len(names)), measure, enough, watch, of)
    walk.below((), lambda: trivial, 0)
    return walk.found


@dataclass(eq=False)
class _Walk(Generic[T]):
    """What is known of the subsets that were visited; ``of`` so many at most."""

    table: Columns
    names: Sequence[str]
    size: int
    measure: Callable[[Refinement], T]
    enough: Callable[[T], bool]
    watch: Watch
    of: int
    found: dict[Subset, T] = field(default_factory=dict)
    classes: dict[Subset, int] = field(default_factory=lambda: {(): 1})
    beyond: set[Subset] = field(default_factory=set)
    """Visited subsets whose supersets are left out."""

    def below(self, prefix: Subset, classes: Callable[[], Refinement], start: int) -> None:
        """Visit the supersets of a subset by columns from a place on; its classes when asked."""
        for place in reversed(range(start, len(self.names))):
            subset = (*prefix, self.names[place])
            if any(_without(subset, name) in self.beyond for name in subset):
                self.beyond.add(subset)
                continue
            twin = self._twin(subset)
            own = classes if twin == prefix else cache(partial(self._split, classes, subset[-1]))
            self._learn(subset, twin, own)
            if len(subset) < self.size and subset not in self.beyond:
                self.below(subset, own, place + 1)

    def _learn(self, subset: Subset, twin: Subset | None, own: Callable[[], Refinement]) -> None:
        if twin is None:
            self.classes[subset] = own().classes
            self.found[subset] = self.measure(own())
        else:
            self.classes[subset], self.found[subset] = self.classes[twin], self.found[twin]
        if self.enough(self.found[subset]):
            self.beyond.add(subset)
        self.watch("measuring subsets of attributes", len(self.found), self.of)

    def _split(self, classes: Callable[[], Refinement], name: str) -> Refinement:
        return classes().by(column_of(self.table, name))

    def _twin(self, subset: Subset) -> Subset | None:
        """A subset with one column less that is known to have the same classes.

        Either all its records are alone in theirs, or the column left out depends on some of the
        others alone: beside all but one of them it split no class.
        """
        if len(subset) == 1:
            return None
        for name in reversed(subset):
            less = _without(subset, name)
            if self.classes[less] == len(self.table) or any(
                self.classes[_without(subset, other)] == self.classes[_without(less, other)]
                for other in less
            ):
                return less
        return None


def _without(subset: Subset, name: str) -> Subset:
    return tuple(other for other in subset if other != name)


def _require_few(size: int, attributes: int) -> int:
    fits = affordable(size, attributes)
    if fits < size:
        mend = f"at most size = {fits}" if fits else "fewer attributes"
        raise InputError(
            f"{attributes:,} attributes have more than {MOST_SUBSETS:,} subsets of up to "
            f"{size:,}; ask for {mend}"
        )
    return sum(comb(attributes, several) for several in range(1, size + 1))
