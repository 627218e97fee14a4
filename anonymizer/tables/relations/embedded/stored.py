"""A table in DuckDB: a query whose columns are counted, recoded and written where they lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import randbits
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.kernels.arrays import Ints
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.parquet import exact_frame, is_text
from anonymizer.tables.relations import coded
from anonymizer.tables.relations.embedded.connection import Connection, MisreadError
from anonymizer.tables.relations.embedded.hashing import HashedQuery, chance, equal_alike
from anonymizer.tables.relations.embedded.moving import moved
from anonymizer.tables.relations.embedded.rounding import rounded_down
from anonymizer.tables.relations.embedded.writing import written
from anonymizer.tables.relations.relation import Moves, NotToldApartError, Rounded
from anonymizer.tables.steps import Step

COUNTING = "counting the table"


@dataclass(frozen=True, eq=False)
class StoredColumn:
    """A column of a query: its name in the table, and the type of its values as the file has it."""

    name: str
    kind: pa.DataType


@dataclass(frozen=True, eq=False)
class Stored:
    """The table that a query gives, whose columns are ``c0``, ``c1`` ...: names differ by case.

    ``known`` is the number of its records, where that is known.
    """

    connection: Connection = field(repr=False)
    query: str = field(repr=False)
    held: tuple[StoredColumn, ...] = field(repr=False)
    known: int | None = None
    _exact: coded.Known = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> Sequence[str]:
        """As ``Relation.columns``."""
        return [column.name for column in self.held]

    @property
    def records(self) -> int:
        """As ``Relation.records``."""
        if self.known is not None:
            return self.known
        return self.connection.number(f"SELECT count(*) FROM ({self.query})")

    @property
    def native(self) -> Any:
        """As ``Relation.native``."""
        return self.connection.database.sql(self.query)

    def tally(self, columns: Sequence[str]) -> Tally:
        """As ``Relation.tally``."""
        self._require_told(columns)
        if not columns:
            return Tally(pd.DataFrame(index=range(1)), np.array([self.records], np.int64))
        found = self.connection.counted(self._counted(columns), COUNTING, self.known)
        names = dict(zip(found.column_names, columns, strict=False))
        values = self._typed(found, columns).rename_columns([*names])
        tally, known = coded.tallied(values.append_column("n", found["n"]), names, "n")
        self._exact.update(known)
        if self.known is not None and self.known != tally.sizes.sum():
            raise MisreadError("cannot read the table: it has other records than it had before")
        return tally

    def estimate(self, columns: Sequence[str]) -> int:
        """As ``Relation.estimate``: HyperLogLog, off by a few per cent."""
        found = f"approx_count_distinct(hash({self._shown(columns)}))"
        return self.connection.number(f"SELECT {found} FROM ({self.query})")

    def spread(self, columns: Sequence[str], most: int) -> pd.DataFrame | None:
        """As ``Relation.spread``."""
        step = max(1, -(-self.records // most))
        if step == 1:
            return self.frame(columns)
        shown = self._shown(columns)
        query = f"SELECT *, row_number() OVER () AS n FROM ({self.query})"
        return self._frame(f"SELECT {shown} FROM ({query}) WHERE n % {step} = 1", columns)

    def sample(self, columns: Sequence[str], most: int) -> pd.DataFrame:
        """As ``Relation.sample``."""
        found = self.spread(columns, most)
        return self.frame(columns) if found is None else found

    def multiplicities(self, columns: Sequence[str]) -> tuple[Ints, Ints]:
        """As ``Relation.multiplicities``."""
        self._require_told(columns)
        counted = f"SELECT n, count(*) AS m FROM ({self._counted(columns)}) GROUP BY n"
        found = self.connection.counted(counted, COUNTING)
        return found["n"].to_numpy().astype(np.int64), found["m"].to_numpy().astype(np.int64)

    def guessed(self, given: Sequence[str], about: str) -> int:
        """As ``Relation.guessed``."""
        groups = ", ".join(self._places(given)) or "()"
        counted = self._counted([*dict.fromkeys([*given, about])])
        best = f"SELECT max(n) AS best FROM ({counted}) GROUP BY {groups}"
        return self.connection.number(f"SELECT sum(best) FROM ({best})")

    def beginning(self, column: str, characters: str) -> Tally:
        """As ``Relation.beginning``."""
        place, kind = self._place(column)
        if not is_text(_plain_kind(kind)):
            return Tally(pd.DataFrame({column: []}), np.zeros(0, np.int64))
        first = ", ".join(f"chr({ord(each)})" for each in characters)
        chosen = f"SELECT * FROM ({self.query}) WHERE left({place}, 1) IN ({first})"
        return replace(self, query=chosen, known=None).tally([column])

    def named(self, columns: Mapping[str, str]) -> "Stored":
        """As ``Relation.named``."""
        held = tuple(StoredColumn(new, self._place(old)[1]) for old, new in columns.items())
        places = enumerate(self._places([*columns]))
        shown = ", ".join(f"{place} AS c{number}" for number, place in places)
        return replace(self, query=f"SELECT {shown} FROM ({self.query})", held=held)

    def rounded(self, column: str, step: Step) -> Rounded | None:
        """As ``Relation.rounded``: of dates and numbers that the file has as such."""
        place, kind = self._place(column)
        type_ = self._source().types()[place]
        down = rounded_down(place, kind, type_, step)
        if down is None:
            return None
        value = equal_alike(place, kind)
        ends = f"SELECT {down} AS k, min({value}) AS a, max({value}) AS b"
        found = self.connection.arrow(
            f"{ends} FROM ({self.query}) WHERE {value} IS NOT NULL GROUP BY k", COUNTING, self.known
        )
        columns = [coded.values_of(typed(each, kind)) for each in found.columns]
        values = pd.DataFrame(dict(zip(("rounded", "least", "largest"), columns, strict=True)))
        query = f"SELECT * REPLACE ({down} AS {place}) FROM ({self.query})"
        return Rounded(replace(self, query=query), values)

    def frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """As ``Relation.frame``."""
        return self._frame(f"SELECT {self._shown(columns)} FROM ({self.query})", columns)

    def recoded(self, moves: Moves) -> "Stored":
        """As ``Relation.recoded``."""
        query, kinds = moved(self._source(), moves)
        held = tuple(StoredColumn(name, kind) for name, kind in kinds.items())
        known = int(moves.records.sum())
        return replace(self, query=query, held=held, known=known)

    def shuffled(self) -> "Stored":
        """As ``Relation.shuffled``, by digests of the seed and of what no other record has."""
        shown = self._shown(self.columns)
        order = chance(randbits(128), "uuid()")
        return replace(self, query=f"SELECT {shown} FROM ({self.query}) AS s ORDER BY {order}")

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """As ``Relation.write``; ``parts``: the files of a folder that it is spread over."""
        held = [(column.name, column.kind) for column in self.held]
        written(self.connection, self.query, held, path, form, parts, self.records)

    def _require_told(self, columns: Sequence[str]) -> None:
        for name in columns:
            kind = self._place(name)[1]
            if not (coded.tells_apart(kind) or pa.types.is_float16(kind)):  # halves are floats here
                raise NotToldApartError.of(name, kind)

    def _source(self) -> HashedQuery:
        return HashedQuery(self.connection, self.query, self._known_columns(), self._exact)

    def _known_columns(self) -> dict[str, tuple[str, pa.DataType]]:
        return {column.name: (f"c{n}", column.kind) for n, column in enumerate(self.held)}

    def _place(self, name: str) -> tuple[str, pa.DataType]:
        return self._known_columns()[name]

    def _places(self, names: Sequence[str]) -> list[str]:
        known = self._known_columns()
        return [known[name][0] for name in names]

    def _shown(self, columns: Sequence[str]) -> str:
        return ", ".join(self._places(columns))

    def _counted(self, columns: Sequence[str]) -> str:
        """The records of each combination of values."""
        known = self._known_columns()
        groups = [f"{equal_alike(*known[name])} AS {known[name][0]}" for name in columns]
        chosen = ", ".join(groups)
        return f"SELECT {chosen}, count(*) AS n FROM ({self.query}) AS s GROUP BY ALL"

    def _frame(self, query: str, columns: Sequence[str]) -> pd.DataFrame:
        return exact_frame(self._typed(self.connection.arrow(query), columns))

    def _typed(self, found: pa.Table, columns: Sequence[str]) -> pa.Table:
        """Values with the types that the file has, columns with the names of the table."""
        arrays = [typed(found.column(n), self._place(name)[1]) for n, name in enumerate(columns)]
        return pa.table(arrays, names=[*columns])


def typed(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column with its type where DuckDB does not have it; pandas cannot count halves."""
    if column.type == kind or pa.types.is_float16(kind):
        return column
    if pa.types.is_dictionary(column.type) and pa.types.is_dictionary(kind):
        return column
    if pa.types.is_dictionary(kind):
        return column.dictionary_encode()
    return column.cast(kind)


def _plain_kind(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
