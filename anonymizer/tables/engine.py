"""The operations of a table that everything else needs, whichever library holds the table.

Records are touched through an ``Engine`` and nothing else, so a table may be held by pandas, a
database or a cluster. An engine gets tables and columns of its own kind; what it returns about
records as a whole (codes, sizes) are arrays, and a ``Tally`` is small enough for pandas. To add
one, write a module with the functions that ``Engine`` names and add it to ``engine_of``.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Ints, Mask

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
"""A table or a column, of which another of its kind is made."""

Table = Any
"""A table of an engine's kind: it has ``columns``, a length, and gives a column by its name."""

TableColumn = Any
"""A column of such a table: one value for each record."""

Digits = tuple[NDArray[np.integer], int]
"""Numbers below a bound, and the bound."""


@dataclass(frozen=True, eq=False)
class Tally:
    """How many records have each combination of values of some columns.

    ``combinations`` has a row for each, in no promised order, ``sizes`` (combinations,) its
    records. It is a table of its own, whose rows stand for several records each; it has no length,
    which could be that of rows or of records.
    """

    combinations: pd.DataFrame
    sizes: Ints

    def __repr__(self) -> str:
        """How many there are; not the values of anybody."""
        return f"Tally({len(self.sizes)} combinations)"

    @property
    def columns(self) -> pd.Index:
        """The names of the columns that were counted."""
        return self.combinations.columns

    @property
    def index(self) -> pd.Index:
        """Which row each is: as many as there are rows."""
        return self.combinations.index

    def __getitem__(self, name: str, /) -> pd.Series:
        return self.combinations[name]

    def one_by_one(self) -> pd.DataFrame:
        """A row for each record, those that are alike next to each other."""
        rows = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return self.combinations.take(rows).reset_index(drop=True)


class Engine(Protocol):
    """How tables of one library are counted, recoded and cleaned.

    Missing values count as one value of their own. Values differ where they are written so, however
    equal to Python: 1 and True are two values, and so are 0.0 and -0.0, equal decimals of different
    exponents, and equal instants of two time zones. Operations that compare values raise
    InputError, naming the column, where they cannot be compared (lists, say). No operation changes
    the table it is given.
    """

    def tally(self, table: Table, columns: Sequence[str]) -> Tally:
        """Count the distinct combinations of values of some columns: one GROUP BY."""

    def grouped(self, table: Table, columns: Sequence[str]) -> tuple[Codes, Codes]:
        """Number the distinct combinations of values of some columns, in order of appearance.

        The number of each row's, shape (rows,), and the first row of each (combinations,).
        """

    def records(self, table: Table) -> int:
        """How many records a table has."""

    def sized(self, table: Table, group: Codes, groups: int) -> Ints:
        """How many records each group of a table's rows has, shape (groups,).

        ``group``: the number of each row's, below the number of ``groups``, shape (rows,).
        """

    def distinct(self, column: TableColumn) -> tuple[Codes, list[object]]:
        """Number the distinct values of a column: codes, shape (records,), and the values."""

    def distinct_at(self, column: TableColumn, records: Codes) -> tuple[Codes, list[object]]:
        """The same for some records of a column."""

    def numbered(self, column: TableColumn) -> Digits:
        """The same codes and a bound on them, without the values; some below it may not occur."""

    def relabel(self, column: T, codes: Codes, labels: Sequence[Hashable]) -> T:
        """Replace a column by the labels at the codes, shape (records,)."""

    def merged(self, column: T, codes: Codes, places: Sequence[int]) -> T:
        """Put other values of a column in place of some; its type stays.

        ``codes`` are those of ``distinct``, ``places`` for each value the one that stands for it.
        """

    def replaced(self, table: T, columns: Mapping[str, TableColumn]) -> T:
        """Replace some columns, in their places, or append new ones."""

    def records_of(self, table: T, records: Codes | Mask) -> T:
        """Some rows of a table, by their places or by a mask."""

    def sampled(self, table: T, chance: float, rng: np.random.Generator) -> T:
        """Some records of a table, each drawn with a chance, independently of the others."""

    def shuffled(self, table: T, rng: np.random.Generator) -> T:
        """The records in random order, where they have one, without the index they had."""

    def chosen(self, table: T, columns: Sequence[str]) -> T:
        """Some columns of a table."""

    def without_columns(self, table: T, columns: Sequence[str]) -> T:
        """A table without some of its columns; a table of counts need not have them."""

    def missing_values(self, table: Table, columns: Sequence[str]) -> Mapping[str, int]:
        """The number of records that miss the value of each column, of columns where any does."""

    def drop_missing(self, table: T, columns: Sequence[str]) -> T:
        """Leave out the records that miss a value of any of the columns."""

    def without_traces(self, table: T) -> T:
        """The records of a table and nothing else that lies with them in memory."""


def engine_of(held: object) -> Engine:
    """The engine for a table or a column; InputError when none holds tables of this type.

    >>> engine_of(pd.DataFrame()).__name__
    'anonymizer.tables.pandas'
    """
    from anonymizer.tables import pandas, tallied

    if isinstance(held, Tally):
        return cast(Engine, tallied)
    if isinstance(held, (pd.DataFrame, pd.Series)) or getattr(held, "columnar", False):
        return cast(Engine, pandas)
    raise InputError(
        f"a table must be a pandas DataFrame, not a {type(held).__name__}; convert it first, "
        "such as with table.to_pandas() or pandas.DataFrame(rows)"
    )


def _by_its_engine(operation: Callable[Concatenate[Engine, P], R]) -> Callable[P, R]:
    """The same operation for whoever need not know which engine holds its first argument."""

    def carried_out(*held: P.args, **options: P.kwargs) -> R:
        return cast(R, getattr(engine_of(held[0]), operation.__name__)(*held, **options))

    return wraps(operation)(carried_out)


tally = _by_its_engine(Engine.tally)
records = _by_its_engine(Engine.records)
sized = _by_its_engine(Engine.sized)
distinct_at = _by_its_engine(Engine.distinct_at)
numbered = _by_its_engine(Engine.numbered)
relabel = _by_its_engine(Engine.relabel)
merged = _by_its_engine(Engine.merged)
replaced = _by_its_engine(Engine.replaced)
records_of = _by_its_engine(Engine.records_of)
sampled = _by_its_engine(Engine.sampled)
shuffled = _by_its_engine(Engine.shuffled)
chosen = _by_its_engine(Engine.chosen)
without_columns = _by_its_engine(Engine.without_columns)
missing_values = _by_its_engine(Engine.missing_values)
drop_missing = _by_its_engine(Engine.drop_missing)
without_traces = _by_its_engine(Engine.without_traces)


def grouped(table: Table, columns: Sequence[str]) -> tuple[Codes, Codes]:
    """As ``Engine.grouped``; written out, as mypy infers Any where its codes are an index."""
    return engine_of(table).grouped(table, columns)


def distinct(column: TableColumn) -> tuple[Codes, list[object]]:
    """As ``Engine.distinct``, written out for the same reason."""
    return engine_of(column).distinct(column)


def records_in(table: Table, rows: Mask) -> int:
    """How many records some rows of a table stand for."""
    return int(sized(table, rows.astype(np.intp), 2)[1])


def all_equal(table: Table, columns: Sequence[str], text: str) -> Mask:
    """Which rows have a text in every one of some columns, shape (rows,)."""
    same = np.ones(len(table.index), bool)
    for column in columns:
        codes, values = distinct(table[column])
        same &= np.array([isinstance(value, str) and value == text for value in values])[codes]
    return same


def stripped(column: T) -> T:
    """Strip blanks around texts: nobody who reads a table sees them."""
    codes, values = distinct(column)
    cleaned = [value.strip() if isinstance(value, str) else value for value in values]
    return column if cleaned == values else relabel(column, codes, cleaned)
