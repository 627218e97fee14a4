"""Partitions of a table, held by pandas: each is counted and recoded as a table of Arrow.

These functions are sent to the machines that hold the partitions, with all that they need.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.kernels.arrays import Codes
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.parquet import exact_frame, is_text
from anonymizer.tables.relations.coded import Known, coded, labels_of
from anonymizer.tables.relations.counting import viewed
from anonymizer.tables.relations.dealing import NONE, Runs, dealt
from anonymizer.tables.relations.libraries.arrow import ArrowFrame
from anonymizer.tables.relations.relation import Moves, NotToldApartError
from anonymizer.tables.traces import without_traces

ALIKE = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_binary,
    pa.types.is_date32,
    pa.types.is_null,
)
"""Types of Arrow of which Python's objects are equal only where they are written alike."""


def counts_of(part: pd.DataFrame, names: Mapping[str, str], size: str) -> pa.Table:
    """The records of each combination of values of the columns that have new names."""
    held = _arrow(part)
    for name in names.values():
        _require_alike(part[name], held.schema.field(name).type)
    counted: pa.Table = ArrowFrame(viewed(held)).counted(names, size).to_native()
    return counted


def added(counts: Sequence[pa.Table], size: str) -> pa.Table:
    """The same of several partitions; types of columns may differ where one has no value."""
    # Copied: Arrow warns of numbers that lie where a message of another machine had them.
    table = pa.concat_tables(counts, promote_options="permissive").combine_chunks()
    names = [name for name in table.column_names if name != size]
    total = table.group_by(names, use_threads=False).aggregate([(size, "sum")])
    return total.select([*names, f"{size}_sum"]).rename_columns([*names, size])


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a counted table, by which records are numbered in a new column.

    ``raw`` was counted of the table, ``known`` of its columns.
    """

    raw: Tally = field(repr=False)
    known: Known = field(repr=False)
    name: str

    def __call__(self, part: pd.DataFrame) -> pd.DataFrame:
        """The records of a partition, each with its row; ``NONE`` where it was not counted."""
        place = f"{self.name} place"
        every = np.arange(len(self.raw.sizes))
        rows = pd.DataFrame({self.name: every})
        frame = ArrowFrame(viewed(self._held(part).append_column(place, [np.arange(len(part))])))
        frame.known |= self.known
        moves = Moves(self.raw, rows, every, self.raw.sizes, (self.name, place))
        found = frame.recoded(moves).native
        number = np.full(len(part), NONE)
        number[found[place].to_numpy()] = found[self.name].to_numpy()
        plain = {name: part[name] + 0 for name in self.raw.columns if part[name].dtype.kind == "f"}
        return part.assign(**plain, **{self.name: number})

    def _held(self, part: pd.DataFrame) -> pa.Table:
        """The counted columns of a partition, Python's objects in the type that the table has."""
        held = _arrow(part[[*self.raw.columns]])
        for name, column in coded(self.raw, self.known).items():
            if part[name].dtype == object:
                place = held.column_names.index(name)
                held = held.set_column(place, name, held[name].cast(column.values.type))
        return held


@dataclass(frozen=True, eq=False)
class Alike:
    """What becomes of records where those of a row fare alike.

    ``row``: the column that has their rows; ``move`` is that of each row, shape (rows,).
    """

    row: str
    move: Codes = field(repr=False)

    @classmethod
    def of(cls, moves: Moves, row: str) -> "Alike":
        """The moves of the rows; ``NONE`` of those that are left out."""
        move = np.full(len(moves.raw.sizes), NONE)
        move[moves.of] = np.arange(len(moves.of))
        return cls(row, move)

    def moves(self, part: pd.DataFrame) -> Codes:
        """The move of each record of a partition, shape (records,)."""
        rows = part[self.row].to_numpy(np.int64)
        return np.asarray(np.append(self.move, NONE)[rows])  # NONE takes what is last


@dataclass(frozen=True, eq=False)
class DrawnPartitions:
    """What becomes of them where it is drawn, of partitions that have all records of their rows.

    ``chance``: a column of random numbers, since records come to a partition in any order; whenever
    the table is computed, records get the same.
    """

    row: str
    chance: str
    runs: Runs = field(repr=False)
    seed: int = field(repr=False)

    def moves(self, part: pd.DataFrame) -> Codes:
        """The same; which rows a partition has makes its random numbers others."""
        order = np.argsort(part[self.chance].to_numpy(np.int64))
        rows = part[self.row].to_numpy(np.int64)[order]
        order, rows = order[rows != NONE], rows[rows != NONE]
        found = np.full(len(part), NONE)
        rng = np.random.default_rng([self.seed, *np.sort(rows)[:1]])
        found[order] = dealt(rows, self.runs, rng)
        return found


@dataclass(frozen=True, eq=False)
class RecodedPartition:
    """The records of a partition with the values that they are released with.

    ``labels`` has a row for each move.
    """

    fate: Alike | DrawnPartitions
    labels: pd.DataFrame = field(repr=False)
    columns: tuple[str, ...]

    @classmethod
    def of(cls, moves: Moves, fate: Alike | DrawnPartitions) -> "RecodedPartition":
        """InputError where the labels of a column are of several types."""
        labels = dict(zip(moves.released.columns, labels_of(moves), strict=True))
        return cls(fate, exact_frame(pa.table(labels)), moves.columns)

    def __call__(self, part: pd.DataFrame) -> pd.DataFrame:
        """The records that are released, without the index that they had."""
        move = self.fate.moves(part)
        kept = np.flatnonzero(move != NONE)
        columns = {}
        for name in self.columns:
            held, places = (self.labels, move[kept]) if name in self.labels else (part, kept)
            columns[name] = held[name].iloc[places].reset_index(drop=True)
        return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class Cleared:
    """A partition without traces of other records; ``kinds``: the types of categories."""

    kinds: Mapping[str, pd.CategoricalDtype] = field(repr=False)

    def __call__(self, part: pd.DataFrame) -> pd.DataFrame:
        """The same records."""
        cleared = without_traces(part)
        columns = {
            name: cleared[name].cat.set_categories(kind.categories, ordered=kind.ordered)
            for name, kind in self.kinds.items()
        }
        return cleared.assign(**columns)


def categories_of(part: pd.DataFrame) -> dict[str, pd.Index]:
    """The categories of which a partition has records, by columns of categories."""
    return {
        str(name): column.cat.remove_unused_categories().cat.categories
        for name, column in part.items()
    }


@dataclass(frozen=True, eq=False)
class Scattered:
    """A number drawn for each record, in a new column, by which it goes to another place."""

    seed: int = field(repr=False)
    name: str

    def __call__(self, part: pd.DataFrame, partition_info: Any = None) -> pd.DataFrame:
        """The records of a partition with their numbers; Dask says which partition it is."""
        rng = np.random.default_rng([self.seed, (partition_info or {}).get("number", 0)])
        return part.assign(**{self.name: rng.integers(0, 2**62, len(part))})


def in_order(part: pd.DataFrame, by: str) -> pd.DataFrame:
    """The records of a partition in the order of a column, and without it."""
    return part.sort_values(by).drop(columns=by)


def _require_alike(column: pd.Series, kind: pa.DataType) -> None:
    """Require that equal objects of Python are written alike: 1 and 1.0 are equal, and numbers."""
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    objects = column.cat.categories.dtype if categories else column.dtype
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if objects == np.dtype("O") and not (is_text(value) or any(holds(value) for holds in ALIKE)):
        raise NotToldApartError.of(str(column.name), f"object of {value}")


def _arrow(part: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(part.copy(), preserve_index=False)  # copied as in ``added``
