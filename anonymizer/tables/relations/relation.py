"""What is needed of a table that is counted and recoded where it lies, and what is done to it.

A :class:`Relation` is such a table, :class:`Moves` say what becomes of its records. Which records
get which of the values that were drawn for them is left to chance, the counts being exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from secrets import randbits
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.format import Format
from anonymizer.tables.values import Step, is_missing

NONE = -1
"""The move of a record that is left out."""

CHANGED = "the table changed while it was released; release a copy of it that does not change"
"""Why records are not those that were counted."""

LISTS_VALUES = re.compile(r"[^(<\[]*(?=.*['\"])", re.DOTALL)
"""The beginning of the name of a type that has quotes: it may list values, as that of an ENUM."""


@dataclass(frozen=True, eq=False)
class Moves:
    """What becomes of the records of a table, by the values that they have.

    Parameters
    ----------
    raw
        The combinations of values that were counted, as the table has them, and the records of
        each.
    released
        The values that records get in some columns, a row for each move; columns that are
        not in ``raw`` are added to the table.
    of
        The row of ``raw`` of each move, shape (moves,). Records of rows that no move is of are left
        out. Where values are drawn, a row has several moves.
    records
        How many records of its row each move is for, shape (moves,). Which ones is left to chance,
        and those beyond the moves of a row are left out: its records are drawn.
    columns
        The columns of the table afterwards, in their order; the others are left out. Those that
        are not in ``released`` stay as they are, but -0.0 in columns that ``raw`` has becomes 0.0:
        they were counted as one.
    seed
        Of what is left to chance, 62 bits: one that nobody knows, unless a draw is to be repeated.
    """

    raw: Tally = field(repr=False)
    released: pd.DataFrame = field(repr=False)
    of: Codes = field(repr=False)
    records: Ints = field(repr=False)
    columns: tuple[str, ...]
    seed: int = field(default_factory=partial(randbits, 62), repr=False)

    @classmethod
    def between(
        cls,
        raw: Tally,
        released: Tally,
        columns: Iterable[str],
        changed: Sequence[str] | None = None,
        seed: int | None = None,
    ) -> Moves:
        """The moves from counted records to released ones, whose index says which they were.

        ``columns``: those of the released table; ``changed``: those whose values it has otherwise,
        by default those that hold other values, or values of another kind.
        """
        if changed is None:
            changed = [name for name in released.columns if not unchanged(raw, released, name)]
        rows = released.combinations
        of = raw.combinations.index.get_indexer(rows.index)
        moves = cls(raw, rows[list(changed)], of, released.sizes, tuple(columns))
        return moves if seed is None else replace(moves, seed=seed)

    @property
    def drawn(self) -> bool:
        """Whether records that are alike fare differently: other values, or left out."""
        return bool((self.records != self.raw.sizes[self.of]).any())


def unchanged(raw: Tally, released: Tally, name: str) -> bool:
    """Whether every record is released with the value, and the kind of value, that it had."""
    if name not in raw.columns:
        return False
    codes, values = engine.distinct(raw[name].loc[released.index])
    others, labels = engine.distinct(released[name])
    place = {_key(label): number for number, label in enumerate(labels)}
    same = np.array([place.get(_key(value), -1) for value in values], np.intp)
    return bool((same[codes] == others).all())


def _key(value: object) -> object:
    return None if is_missing(value) else (type(value), value)


class NotToldApartError(InputError):
    """A column has a type whose equal values may differ to a reader, or whose values have no order.

    Such are lists, values of several types, and durations of months.
    """

    @classmethod
    def of(cls, name: str, kind: object) -> NotToldApartError:
        """The error about a column and its type, as its library calls it."""
        return cls(
            f"column {name!r} holds values that cannot be told apart, of type {named(kind)}; cast "
            "it, such as to text: as it is, it can be neither a quasi-identifier nor sensitive"
        )


def named(kind: object) -> str:
    """The name of a type, without values of the table that it may list.

    >>> named("ENUM('a', 'b')[]"), named("decimal128(5, -2)")
    ('ENUM', 'decimal128(5, -2)')
    """
    begin = LISTS_VALUES.match(str(kind))
    return begin[0] if begin else str(kind)


class Relation(Protocol):
    """A table where it lies.

    Missing values count as one value of their own. Numbers are equal by value, -0.0 being 0;
    texts by their characters. Operations that only engines with an order, or a source of
    randomness, can do raise InputError where there is none, before anything is read.
    """

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def records(self) -> int:
        """How many records there are."""

    @property
    def native(self) -> Any:
        """The table as its library has it, of the kind that was given."""

    def tally(self, columns: Sequence[str]) -> Tally:
        """Count the distinct combinations of values of some columns: one GROUP BY.

        Columns are categoricals whose categories are the distinct values, of the exact type that
        the table has; combinations are numbered by their index, from 0.
        """

    def estimate(self, columns: Sequence[str]) -> int:
        """About how many distinct combinations of values some columns have, in little memory.

        Off by a few per cent, or more where it is extrapolated from some of the records.
        """

    def spread(self, columns: Sequence[str], most: int) -> pd.DataFrame | None:
        """Some columns of at most so many records, evenly spread, in the order of the table.

        None where the table has no order.
        """

    def sample(self, columns: Sequence[str], most: int) -> pd.DataFrame:
        """Some columns of at most about so many records, whichever; all where there are fewer."""

    def multiplicities(self, columns: Sequence[str]) -> tuple[Ints, Ints]:
        """The numbers of records that combinations of values have, and how many have each.

        Both of shape (numbers,), in no promised order. NotToldApartError of columns whose values
        cannot be told apart, such as lists.
        """

    def guessed(self, given: Sequence[str], about: str) -> int:
        """Records whose value of a column is guessed right by the values of some others.

        The commonest value is guessed among those with the same values of the others: sum of
        max_v n(g, v) over their combinations g.
        """

    def beginning(self, column: str, characters: str) -> Tally:
        """Count the texts of a column that begin with one of some characters; none of no text."""

    def named(self, columns: Mapping[str, str]) -> Relation:
        """Some columns of the table, in an order, and the name of each afterwards."""

    def rounded(self, column: str, step: Step) -> Rounded | None:
        """The table with a column rounded down, as the engine does; None where it does not."""

    def frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """All records in memory, for what needs them one by one; values of their exact types."""

    def recoded(self, moves: Moves) -> Relation:
        """The table with other values; nothing is computed before it is counted or written.

        InputError where the table cannot be recoded so, such as by values that are drawn.
        """

    def shuffled(self) -> Relation:
        """The table in random order: by a seed of the operating system, which is kept nowhere.

        InputError where it cannot be put in order.
        """

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """Write the table to a file, a piece at a time.

        With ``parts``, spread it evenly over so many files ``part-0.parquet``, ... of a folder that
        is there, in the order of the records; numbers have as many digits as the last one, so that
        names are in this order, too.

        InputError when it cannot be read to its end; OSError when it cannot be written.
        """


@dataclass(frozen=True, eq=False)
class Rounded:
    """A table of which a column was rounded down where it lies.

    ``values`` has a row for each value that the column has now: ``rounded``, and ``least`` and
    ``largest`` of those that it had before. What is missing now, and was not, is a row of its own.
    """

    relation: Relation = field(repr=False)
    values: pd.DataFrame = field(repr=False)


@dataclass(frozen=True, eq=False)
class Original:
    """A table where it lies, and its tally: values as they are there, combinations by number."""

    relation: Relation = field(repr=False)
    tally: Tally = field(repr=False)

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns of the table."""
        return self.relation.columns


class Runs(NamedTuple):
    """What the records of each row of a counted table get, one after another.

    ``row`` and ``move`` of each run (runs,), the rank in its row of its first record, and how many
    records it has. Those that are left out come last in a row, with ``NONE``.
    """

    row: Codes
    move: Codes
    first: Ints
    sizes: Ints


def runs_of(moves: Moves) -> Runs:
    """What the records of each row get, in the order of rows."""
    counted = moves.raw.sizes
    given = np.bincount(moves.of, moves.records, minlength=len(counted)).astype(np.int64)
    # After the moves of a row comes a run of the records that it leaves out: the sort is stable.
    row = np.concatenate([moves.of, np.arange(len(counted))])
    move = np.concatenate([np.arange(len(moves.of)), np.full(len(counted), NONE)])
    sizes = np.concatenate([moves.records, counted - given])
    order = np.argsort(row, kind="stable")
    order = order[sizes[order] > 0]
    row, sizes = row[order], sizes[order]
    before = np.cumsum(counted) - counted
    return Runs(row, move[order], np.cumsum(sizes) - sizes - before[row], sizes)


def dealt(rows: Codes, runs: Runs, rng: np.random.Generator) -> Codes:
    """The move of each record, ``NONE`` where it gets none, shape (records,).

    ``rows``: the row of each record, shape (records,); all records of these rows are among them, or
    InputError is raised.
    """
    present = np.bincount(rows, minlength=runs.row.max(initial=-1) + 1)
    here = present[runs.row] > 0
    move, row, sizes = runs.move[here], runs.row[here], runs.sizes[here]
    if not np.array_equal(np.bincount(row, sizes, minlength=len(present)), present):
        raise InputError(CHANGED)
    # Records in random order, then by row, which keeps it within a row; runs are by row, too.
    chance = rng.permutation(len(rows))
    found = np.empty(len(rows), np.int64)
    found[chance[np.argsort(rows[chance], kind="stable")]] = np.repeat(move, sizes)
    return found


def merging(raw: Tally, places: Sequence[int], columns: Sequence[str]) -> Moves:
    """The moves by which some values of a column take the place of others.

    ``raw``: the values of the column, counted. ``places`` (values,): the row of the value that each
    becomes. ``columns``: those of the table, which stay. The column keeps its exact type.
    """
    (name,) = raw.columns
    values = pa.array(raw[name].iloc[list(places)])
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    column = pd.Series(values, raw.index, pd.ArrowDtype(values.type))
    of = np.arange(len(raw.index))
    return Moves(raw, pd.DataFrame({name: column}), of, raw.sizes, tuple(columns))
