"""All subsets of some attributes, up to a size, each measured once and refined only if it must."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import accumulate, takewhile
from math import comb
from typing import TypeVar

import pandas as pd

from anonymizer.errors import InputError, is_whole
from anonymizer.recoding import Watch, ignore
from anonymizer.risk.refinement import Columnar, Refinement, rows_in

Subset = tuple[str, ...]
T = TypeVar("T")

MOST_SUBSETS = 100_000
"""More are refused: nobody reads them, and each may cost a pass over the records."""


def column_of(table: Columnar, name: str) -> pd.Series:
    """A column of a table, or an InputError where none, or several, have the name."""
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
    """The largest size up to ``size`` with at most ``MOST_SUBSETS`` subsets; 0 if there is none."""
    sizes = range(1, min(size, attributes) + 1)
    totals = accumulate(comb(attributes, several) for several in sizes)
    return sum(1 for _ in takewhile(lambda total: total <= MOST_SUBSETS, totals))


def subsets_up_to(size: int, names: Sequence[str]) -> int:
    """The number of non-empty subsets of up to ``size`` attributes; InputError if too many."""
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
    """A measure of the classes of every non-empty subset of some columns, up to a size.

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
            own = classes if same == prefix else cache(partial(_split, table, classes, subset[-1]))
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


def _split(table: Columnar, classes: Callable[[], Refinement], name: str) -> Refinement:
    return classes().by(column_of(table, name))


def _without(subset: Subset, name: str) -> Subset:
    return tuple(other for other in subset if other != name)
