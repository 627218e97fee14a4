"""A table in DuckDB: a query whose columns are counted, recoded and written where they lie."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import randbits
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Ints
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.parquet import exact_frame, is_text
from anonymizer.tables.relations.coded import Known, tallied, tells_apart, values_of
from anonymizer.tables.relations.embedded.connection import (
    Connection,
    MisreadError,
    literal,
    quoted,
)
from anonymizer.tables.relations.embedded.moving import HashedQuery, chance, equal_alike, moved
from anonymizer.tables.relations.relation import Moves, NotToldApartError, Rounded
from anonymizer.tables.values import Step

COUNTING = "counting the table"

WRITING = "writing the release"

CELL = 16
"""Bytes that a value takes in memory, or more."""

NO_TEXT = "\x01"
"""What is written for a missing value; none is left when it is written."""

TRUNCATED = ("second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade")
"""Units of the calendar that DuckDB rounds dates down to."""


class StoredColumn(NamedTuple):
    """A column of a query: its name in the table, and the type of its values as the file has it."""

    name: str
    kind: pa.DataType


Held = Sequence[StoredColumn]


@dataclass(frozen=True, eq=False)
class Stored:
    """The table that a query gives, whose columns are ``c0``, ``c1`` ...: names differ by case.

    ``known`` is the number of its records, where that is known.
    """

    connection: Connection = field(repr=False)
    query: str = field(repr=False)
    held: tuple[StoredColumn, ...] = field(repr=False)
    known: int | None = None
    _exact: Known = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> Sequence[str]:
        """As ``Relation.columns``."""
        return [name for name, _ in self.held]

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
        self._require_distinct(columns)
        if not columns:
            return Tally(pd.DataFrame(index=range(1)), np.array([self.records], np.int64))
        found = self.connection.counted(self._counted(columns), COUNTING, self.known)
        names = dict(zip(found.column_names, columns, strict=False))
        values = self._typed(found, columns).rename_columns([*names])
        tally, known = tallied(values.append_column("n", found["n"]), names, "n")
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
        self._require_distinct(columns)
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

    def named(self, columns: Mapping[str, str]) -> Stored:
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
        columns = [values_of(typed(each, kind)) for each in found.columns]
        values = pd.DataFrame(dict(zip(("rounded", "least", "largest"), columns, strict=True)))
        query = f"SELECT * REPLACE ({down} AS {place}) FROM ({self.query})"
        return Rounded(replace(self, query=query), values)

    def frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """As ``Relation.frame``."""
        return self._frame(f"SELECT {self._shown(columns)} FROM ({self.query})", columns)

    def recoded(self, moves: Moves) -> Stored:
        """As ``Relation.recoded``."""
        query, kinds = moved(self._source(), moves)
        held = tuple(StoredColumn(*each) for each in kinds.items())
        known = int(moves.records.sum())
        return replace(self, query=query, held=held, known=known)

    def shuffled(self) -> Stored:
        """As ``Relation.shuffled``, by digests of the seed and of what no other record has."""
        shown = self._shown(self.columns)
        order = chance(randbits(128), "uuid()")
        return replace(self, query=f"SELECT {shown} FROM ({self.query}) AS s ORDER BY {order}")

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """As ``Relation.write``; ``parts``: the files of a folder that it is spread over."""
        written(self.connection, self.query, self.held, path, form, parts, self.records)

    def _require_distinct(self, columns: Sequence[str]) -> None:
        for name in columns:
            kind = self._place(name)[1]
            if not (tells_apart(kind) or pa.types.is_float16(kind)):  # halves are floats here
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


def rounded_down(place: str, kind: pa.DataType, type_: str, step: Step) -> str | None:
    """A column of a type rounded down by a step; None where DuckDB has no expression for that.

    ``type_``: what DuckDB calls the type. Where the result does not fit into it, it is missing.
    """
    types = pa.types
    if step.unit:
        without_zone = types.is_date(kind) or (types.is_timestamp(kind) and kind.tz is None)
        if step.unit not in TRUNCATED or not without_zone:
            return None
        return f"TRY(CAST(date_trunc({literal(step.unit)}, {place}) AS {type_}))"
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        return None
    steps = f"floor(({place} - {step.origin}) / {step.width})"
    return f"TRY(CAST({steps} * {step.width} + {step.origin} AS {type_}))"


def written(
    connection: Connection,
    query: str,
    held: Held,
    path: Path,
    form: Format,
    parts: int | None,
    records: int,
) -> None:
    """Write a query to a file, or, in so many parts, to files of a folder."""
    if parts is None:
        _file(connection, query, held, path, form, records)
        return
    path.mkdir(exist_ok=True)
    # Carried out once: a query that is limited to some records may give others the next time.
    whole = connection.room_for(CELL * records * len(held))
    connection.run(f"CREATE TABLE {whole} AS {query}", WRITING, records)
    for number in range(parts):
        begin, end = records * number // parts, records * (number + 1) // parts
        part = f"SELECT * FROM {whole} WHERE rowid >= {begin} AND rowid < {end}"
        file = path / f"part-{number:0{len(str(parts - 1))}}{form.suffix}"
        _file(connection, part, held, file, form, end - begin)
    connection.run(f"DROP TABLE {whole}")


def _file(
    connection: Connection, query: str, held: Held, path: Path, form: Format, records: int
) -> None:
    kinds = [kind for _, kind in held]
    apart = len({name.casefold() for name, _ in held}) == len(held)
    if form.parquet:
        if apart and all(map(_is_native, kinds)):
            _copy(connection, query, held, path, "FORMAT parquet", records)
        else:
            _parquet(connection, query, held, path)
    elif apart and all(map(_is_plain, kinds)):
        # What looks like another separator within a single column would be taken for one.
        forced = ", FORCE_QUOTE *" if len(held) == 1 else ""
        options = (
            f"FORMAT csv, HEADER, DELIMITER {literal(form.separator)}, QUOTE '\"', ESCAPE '\"', "
            f"NULLSTR {literal(NO_TEXT)}{forced}"
        )
        _copy(connection, _texts(query, kinds), held, path, options, records)
    else:
        _csv(connection, query, held, path, form)


def _copy(
    connection: Connection, query: str, held: Held, path: Path, options: str, records: int
) -> None:
    columns = ", ".join(f"c{n} AS {quoted(name)}" for n, (name, _) in enumerate(held))
    with connection.writable(path) as place, connection.passing(records):
        copy = f"COPY (SELECT {columns} FROM ({query})) TO {literal(str(place))} ({options})"
        connection.run(copy, WRITING, records)


def _texts(query: str, kinds: Sequence[pa.DataType]) -> str:
    """The columns as pandas writes them to CSV; a missing value is an empty text."""
    texts = [
        f"CASE WHEN c{n} THEN 'True' ELSE 'False' END" if pa.types.is_boolean(kind) else f"c{n}"
        for n, kind in enumerate(kinds)
    ]
    shown = ", ".join(
        f"CASE WHEN c{n} IS NULL THEN '' ELSE CAST({text} AS VARCHAR) END AS c{n}"
        for n, text in enumerate(texts)
    )
    return f"SELECT {shown} FROM ({query})"


def _parquet(connection: Connection, query: str, held: Held, path: Path) -> None:
    """Have Arrow write a file, whose types DuckDB does not have, or whose names differ by case."""
    import pyarrow.parquet as pq  # loads what reads the cloud

    schema = pa.schema(held)
    with pq.ParquetWriter(path, schema) as writer:
        for batch in _batches(connection, query, held):
            writer.write_table(batch.cast(schema))


def _csv(connection: Connection, query: str, held: Held, path: Path, form: Format) -> None:
    """Have pandas write a file a piece at a time: of numbers, dates and the like."""
    quoting = csv.QUOTE_ALL if len(held) == 1 else csv.QUOTE_MINIMAL
    options = {"sep": form.separator, "index": False, "lineterminator": "\n", "quoting": quoting}
    header = True
    with path.open("w", encoding="utf-8", newline="") as file:
        for batch in _batches(connection, query, held):
            try:
                exact_frame(batch).to_csv(file, header=header, **options)  # type: ignore[call-overload]
            except OverflowError:
                raise InputError(
                    f"cannot write {path.name}: a column has dates outside of the years 1 to "
                    "9999, which Python does not know; write Parquet"
                ) from None
            header = False
        if header:
            empty = pa.schema(held).empty_table()
            exact_frame(empty).to_csv(file, **options)  # type: ignore[call-overload]


def _batches(connection: Connection, query: str, held: Held) -> Iterator[pa.Table]:

    for batch in connection.batches(query):
        columns = [
            typed(pa.chunked_array([column]), kind)
            for column, (_, kind) in zip(batch.columns, held, strict=True)
        ]
        yield pa.table(columns, names=[name for name, _ in held])


def _is_native(kind: pa.DataType) -> bool:
    """Whether DuckDB writes a type so that Arrow reads the same."""
    types = pa.types
    plain = _is_plain(kind) or types.is_float32(kind) or types.is_float64(kind)
    return plain or types.is_date32(kind) or types.is_decimal128(kind) or kind == pa.timestamp("us")


def _is_plain(kind: pa.DataType) -> bool:
    """Whether DuckDB writes a type to CSV as pandas does."""
    kind = _plain_kind(kind)
    return is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
