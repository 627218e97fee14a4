"""Tables in memory: records one by one, as pandas has them, or counted by their values.

Whatever holds a table counts it to a ``Tally``, which is small enough for memory, and every
operation here does the same to that as to the records themselves. No operation changes the table
that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeVar, Union, cast

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.kernels import NATIVE
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.tables import numbering, traces
from anonymizer.tables.columns import distinct as distinct
from anonymizer.tables.columns import distinct_at as distinct_at
from anonymizer.tables.columns import kind_of as kind_of
from anonymizer.tables.columns import merged as merged
from anonymizer.tables.columns import missing as missing
from anonymizer.tables.columns import numbered as numbered
from anonymizer.tables.columns import of_its_kind as of_its_kind
from anonymizer.tables.columns import relabel as relabel
from anonymizer.tables.columns import stripped as stripped
from anonymizer.tables.numbering import Digits, blocks, first_records, packed

MOST_KEYS = 2**62
"""Bound on the numbers that combinations are packed into."""


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


Table = Union["pd.DataFrame", Tally]  # with | it would load pandas
T = TypeVar("T", bound="Table")
"""A table, of which another of its kind is made."""


def rows_of(table: object) -> pd.DataFrame:
    """Return the rows of a table; InputError of what is none.

    >>> rows_of(pd.DataFrame({"age": [30]})).columns.tolist()
    ['age']
    """
    if isinstance(table, Tally):
        return table.combinations
    if isinstance(table, pd.DataFrame):
        return table
    raise InputError(
        f"a table must be a pandas DataFrame, not a {type(table).__name__}; convert it first, "
        "such as with table.to_pandas() or pandas.DataFrame(rows)"
    )


def sizes_of(table: object) -> Ints | None:
    """Return the records of each row, shape (rows,); None where each row is a record."""
    return table.sizes if isinstance(table, Tally) else None


def _with_rows(table: T, rows: pd.DataFrame) -> T:
    return cast(T, replace(table, combinations=rows) if isinstance(table, Tally) else rows)


def tally(table: Table, columns: Sequence[str]) -> Tally:
    """Count the distinct combinations of values of some columns.

    Categories are counted without looking at a value.
    """
    rows = rows_of(table)
    kinds = [rows[column].dtype for column in columns]
    if rows is table and all(isinstance(kind, pd.CategoricalDtype) for kind in kinds):
        digits = [numbered(rows[column]) for column in columns]
        if prod(number for _, number in digits) < MOST_KEYS:
            return _tally_categories(rows, columns, digits)
    group, first = grouped(table, columns)
    combinations = numbering.records_of(rows[list(columns)], first).reset_index(drop=True)
    return Tally(combinations, sized(table, group, len(first)))


def _tally_categories(
    table: pd.DataFrame, columns: Sequence[str], digits: Sequence[Digits]
) -> Tally:
    """Count combinations of categories by packed numbers, never looking at a value."""
    keys, sizes = NATIVE.distinct(blocks(digits, len(table)))
    combinations = {}
    for column, (_, number) in reversed(list(zip(columns, digits, strict=True))):
        keys, codes = np.divmod(keys, number)
        kind = cast(pd.CategoricalDtype, table[column].dtype)
        absent = codes == len(kind.categories)
        combinations[column] = pd.Categorical.from_codes(np.where(absent, -1, codes), dtype=kind)
    return Tally(pd.DataFrame(combinations)[list(columns)], sizes)


def grouped(table: Table, columns: Sequence[str]) -> tuple[Codes, Codes]:
    """Number the distinct combinations of values of some columns, in order of appearance.

    The number of each row's, shape (rows,), and the first row of each (combinations,).
    """
    rows = rows_of(table)
    digits: list[Digits] = []
    bound = 1
    for column in columns:
        codes, number = numbered(rows[column])
        if bound * number >= MOST_KEYS:
            # Renumbered densely before it could overflow, a key never does.
            dense = pd.factorize(packed(digits, len(rows)))[0]
            digits, bound = [(dense, len(rows))], len(rows)
        digits.append((codes, number))
        bound *= number
    group = pd.factorize(packed(digits, len(rows)))[0].astype(np.intp, copy=False)
    return group, first_records(group)


def records(table: Table) -> int:
    """Return how many records a table has."""
    sizes = sizes_of(table)
    return len(rows_of(table)) if sizes is None else int(sizes.sum())


def sized(table: Table, group: Codes, groups: int) -> Ints:
    """Return how many records each group of a table's rows has, shape (groups,).

    ``group``: the number of each row's, below the number of ``groups``, shape (rows,).
    """
    # Sums of whole numbers below 2^53 are exact as floats.
    return np.bincount(group, sizes_of(table), minlength=groups).astype(np.int64, copy=False)


def records_in(table: Table, rows: Mask) -> int:
    """Return how many records some rows of a table stand for."""
    return int(sized(table, rows.astype(np.intp), 2)[1])


def replaced(table: T, columns: Mapping[str, pd.Series | np.ndarray]) -> T:
    """Replace some columns, in their places, or append new ones."""
    rows = rows_of(table).copy(deep=False)
    for name, column in columns.items():
        rows[name] = column
    return _with_rows(table, rows)


def changed(table: T, names: Iterable[str], how: Callable[[pd.Series], pd.Series]) -> T:
    """Replace some columns by what is made of each."""
    rows = rows_of(table)
    return replaced(table, {name: how(rows[name]) for name in names})


def records_of(table: T, records: Codes | Mask) -> T:
    """Take some rows of a table, by their places or by a mask."""
    rows, sizes = numbering.records_of(rows_of(table), records), sizes_of(table)
    return cast(T, rows if sizes is None else Tally(rows, sizes[records]))


def sampled(table: T, chance: float, rng: np.random.Generator) -> T:
    """Take some records of a table, each drawn with a chance, independently of the others."""
    sizes = sizes_of(table)
    if sizes is None:
        rows = rows_of(table)
        return cast(T, rows[rng.random(len(rows)) < chance])
    drawn = rng.binomial(sizes, chance)
    return cast(T, records_of(Tally(rows_of(table), drawn), drawn > 0))


def shuffled(table: T, rng: np.random.Generator) -> T:
    """Put the records in random order, without the index they had.

    Rows of a tally say which combinations they were counted as, and have no order of records.
    """
    if isinstance(table, Tally):
        return table
    rows = rows_of(table)
    return cast(T, rows.iloc[rng.permutation(len(rows))].reset_index(drop=True))


def chosen(table: T, columns: Sequence[str]) -> T:
    """Take some columns of a table."""
    return _with_rows(table, rows_of(table)[list(columns)])


def without_columns(table: T, columns: Sequence[str]) -> T:
    """Leave out some columns of a table; a table of counts need not have them."""
    rows, held = rows_of(table), isinstance(table, pd.DataFrame)
    left = [name for name in columns if held or name in rows.columns]
    return _with_rows(table, rows.drop(columns=left))


def missing_values(table: Table, columns: Sequence[str]) -> Mapping[str, int]:
    """Count the records that miss the value of each column, of columns where any does."""
    counts = {column: records_in(table, missing(table[column])) for column in columns}
    return {column: count for column, count in counts.items() if count}


def drop_missing(table: T, columns: Sequence[str]) -> T:
    """Leave out the records that miss a value of any of the columns."""
    absent = np.zeros(len(table.index), bool)
    for column in columns:
        absent |= missing(table[column])
    if not absent.any():
        return table
    rows, sizes = rows_of(table)[~absent], sizes_of(table)
    return cast(T, rows if sizes is None else Tally(rows, sizes[~absent]))


def without_traces(table: T) -> T:
    """Take the records of a table and nothing else that lies with them in memory."""
    return _with_rows(table, traces.without_traces(rows_of(table)))


def all_equal(table: Table, columns: Sequence[str], text: str) -> Mask:
    """Return which rows have a text in every one of some columns, shape (rows,)."""
    same = np.ones(len(table.index), bool)
    for column in columns:
        codes, values = distinct(table[column])
        same &= np.array([isinstance(value, str) and value == text for value in values])[codes]
    return same
