"""The operations of a table that everything else needs, whichever library holds the table.

Records are touched through an ``Engine`` and nothing else, so a table may be held by pandas, a
database or a cluster. An engine gets tables and columns of its own kind; what it returns about
records as a whole (codes, sizes) are arrays, and a ``Tally`` is small enough for pandas. To add
one, write a class and add it to ``engine_of``.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Ints, Mask

T = TypeVar("T")
"""A table or a column, of which another of its kind is made."""

Table = Any
"""A table of an engine's kind: it has ``columns``, a length, and gives a column by its name."""

Column = Any
"""A column of such a table: one value for each record."""

Digits = tuple[NDArray[np.integer], int]
"""Numbers below a bound, and the bound."""


class Tally(NamedTuple):
    """How many records have each combination of values of some columns.

    ``combinations`` has a row for each, in no promised order, ``sizes`` (combinations,) its
    records.
    """

    combinations: pd.DataFrame
    sizes: Ints

    def __repr__(self) -> str:
        """How many there are; not the values of anybody."""
        return f"Tally({len(self.sizes)} combinations)"


class Engine(Protocol):
    """How tables of one library are counted, recoded and cleaned.

    Missing values count as one value of their own. Values are told apart by how they are written,
    not by Python's equality: 1 and True are two values, and so are 0.0 and -0.0, equal decimals of
    different exponents, and equal instants of two time zones. Operations that compare values raise
    InputError, naming the column, where they cannot be compared (lists, say). No operation changes
    the table it is given.
    """

    def tally(self, table: Table, columns: Sequence[str]) -> Tally:
        """Count the distinct combinations of values of some columns: one GROUP BY."""

    def grouped(self, table: Table, columns: Sequence[str]) -> tuple[Codes, Codes]:
        """Number the distinct combinations of values of some columns, in order of appearance.

        Returns
        -------
        The number of each record's combination, shape (records,), and the first record of each
        combination, shape (combinations,).
        """

    def distinct(self, column: Column) -> tuple[Codes, list[object]]:
        """Number the distinct values of a column: codes, shape (records,), and the values."""

    def distinct_at(self, column: Column, records: Codes) -> tuple[Codes, list[object]]:
        """The same for some records of a column."""

    def numbered(self, column: Column) -> Digits:
        """The same codes and a bound on them, without the values; some below it may not occur."""

    def relabel(self, column: Column, codes: Codes, labels: Sequence[Hashable]) -> Column:
        """Replace a column by the labels at the codes, shape (records,)."""

    def merged(self, column: Column, codes: Codes, places: Sequence[int]) -> Column:
        """Replace some distinct values of a column by others of it; its type stays.

        ``codes`` are those of ``distinct``; ``places`` has for each value the one that stands for
        it.
        """

    def replaced(self, table: Table, columns: Mapping[str, Column]) -> Table:
        """Replace some columns, in their places, or append new ones."""

    def records_of(self, table: Table, records: Codes | Mask) -> Table:
        """Some records of a table, by their places or by a mask."""

    def missing_values(self, table: Table, columns: Sequence[str]) -> Mapping[str, int]:
        """The number of records that miss the value of each column, of columns where any does."""

    def drop_missing(self, table: Table, columns: Sequence[str]) -> Table:
        """Leave out the records that miss a value of any of the columns."""

    def without_traces(self, table: Table) -> Table:
        """The records of a table and nothing else that lies with them in memory."""

    def all_equal(self, table: Table, columns: Sequence[str], text: str) -> Mask:
        """Which records have a text in every one of some columns, shape (records,)."""
        same = np.ones(len(table), bool)
        for column in columns:
            codes, values = self.distinct(table[column])
            same &= np.array([isinstance(value, str) and value == text for value in values])[codes]
        return same

    def stripped(self, column: Column) -> Column:
        """Strip blanks around texts: nobody who reads a table sees them."""
        codes, values = self.distinct(column)
        cleaned = [value.strip() if isinstance(value, str) else value for value in values]
        return column if cleaned == values else self.relabel(column, codes, cleaned)


def engine_of(held: object) -> Engine:
    """Return the engine for a table or a column.

    Raises
    ------
    InputError
        When no engine holds tables of this type.

    >>> type(engine_of(pd.DataFrame())).__name__
    'PandasEngine'
    """
    from anonymizer.tables.pandas import PANDAS

    if isinstance(held, (pd.DataFrame, pd.Series)) or getattr(held, "columnar", False):
        return PANDAS
    raise InputError(
        f"a table must be a pandas DataFrame, not a {type(held).__name__}; convert it first, "
        "such as with table.to_pandas() or pandas.DataFrame(rows)"
    )


# The same operations for whoever holds a table and need not know of what kind: each is carried out
# by the engine of its first argument, and documented there.


def tally(table: Table, columns: Sequence[str]) -> Tally:
    return engine_of(table).tally(table, columns)


def grouped(table: Table, columns: Sequence[str]) -> tuple[Codes, Codes]:
    return engine_of(table).grouped(table, columns)


def distinct(column: Column) -> tuple[Codes, list[object]]:
    return engine_of(column).distinct(column)


def distinct_at(column: Column, records: Codes) -> tuple[Codes, list[object]]:
    return engine_of(column).distinct_at(column, records)


def numbered(column: Column) -> Digits:
    return engine_of(column).numbered(column)


def relabel(column: T, codes: Codes, labels: Sequence[Hashable]) -> T:
    return cast(T, engine_of(column).relabel(column, codes, labels))


def merged(column: T, codes: Codes, places: Sequence[int]) -> T:
    return cast(T, engine_of(column).merged(column, codes, places))


def replaced(table: T, columns: Mapping[str, Column]) -> T:
    return cast(T, engine_of(table).replaced(table, columns))


def records_of(table: T, records: Codes | Mask) -> T:
    return cast(T, engine_of(table).records_of(table, records))


def missing_values(table: Table, columns: Sequence[str]) -> Mapping[str, int]:
    return engine_of(table).missing_values(table, columns)


def drop_missing(table: T, columns: Sequence[str]) -> T:
    return cast(T, engine_of(table).drop_missing(table, columns))


def without_traces(table: T) -> T:
    return cast(T, engine_of(table).without_traces(table))


def all_equal(table: Table, columns: Sequence[str], text: str) -> Mask:
    return engine_of(table).all_equal(table, columns, text)


def stripped(column: T) -> T:
    return cast(T, engine_of(column).stripped(column))
