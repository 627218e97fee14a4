"""Tables of DuckDB written to files: by DuckDB where it writes what pandas and Arrow would."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from anonymizer.errors import InputError
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.parquet import exact_frame, is_text
from anonymizer.tables.relations.embedded.connection import Connection, literal, quoted

WRITING = "writing the release"

CELL = 16
"""Bytes that a value takes in memory, or more."""

NO_TEXT = "\x01"
"""What is written for a missing value; none is left when it is written."""

Held = Sequence[tuple[str, pa.DataType]]
"""The names and types of the columns."""


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
        _copy(connection, _texts(query, kinds), held, path, _csv_options(held, form), records)
    else:
        _csv(connection, query, held, path, form)


def _copy(
    connection: Connection, query: str, held: Held, path: Path, options: str, records: int
) -> None:
    """Have DuckDB write a file."""
    columns = ", ".join(f"c{n} AS {quoted(name)}" for n, (name, _) in enumerate(held))
    with connection.writable(path) as place, connection.passing():
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


def _csv_options(held: Held, form: Format) -> str:
    # What looks like another separator within a single column would be taken for one.
    forced = ", FORCE_QUOTE *" if len(held) == 1 else ""
    return (
        f"FORMAT csv, HEADER, DELIMITER {literal(form.separator)}, QUOTE '\"', ESCAPE '\"', "
        f"NULLSTR {literal(NO_TEXT)}{forced}"
    )


def _parquet(connection: Connection, query: str, held: Held, path: Path) -> None:
    """Have Arrow write a file, whose types DuckDB does not have, or whose names differ by case."""
    schema = pa.schema([(name, kind) for name, kind in held])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
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
            empty = pa.schema([(name, kind) for name, kind in held]).empty_table()
            exact_frame(empty).to_csv(file, **options)  # type: ignore[call-overload]


def _batches(connection: Connection, query: str, held: Held) -> Iterator[pa.Table]:
    from anonymizer.tables.relations.embedded.stored import typed

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
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
