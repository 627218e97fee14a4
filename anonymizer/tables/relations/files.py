"""Files, folders of files and databases as tables that lie where they are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from anonymizer.errors import InputError
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.opening import readable, require_named
from anonymizer.tables.files.parquet import UNNAMED_INDEX
from anonymizer.tables.reading import TABLE
from anonymizer.tables.relations.connection import Connection, Watch, connected, literal
from anonymizer.tables.relations.separated import csv_stored
from anonymizer.tables.relations.stored import Column, Stored


@contextmanager
def opened(
    path: Path,
    form: Format,
    *,
    table: str | None = None,
    scratch: Path | None = None,
    memory: str | None = None,
    watch: Watch | None = None,
) -> Iterator[Stored]:
    """A table that lies in a file, in files of a folder, or in a database.

    Parameters
    ----------
    path, form
        Where it lies, and how: CSV or Parquet, one file.
    table
        That of a database.
    scratch
        A directory for what does not fit into memory.
    memory
        That is used at most, such as ``"4GB"``; by default four fifths of the machine's.
    watch
        Is told of the progress.

    Raises InputError when there is no such table, or it cannot be read to its end: the message
    names file and line, no value.
    """
    with connected(scratch, memory, watch) as connection:
        with readable(path, form.encoding):
            found = _found(connection, path, form)
        yield found


def _found(connection: Connection, path: Path, form: Format) -> Stored:
    if form.parquet:
        return _parquet(connection, [path])
    return csv_stored(connection, [path], form)


def _parquet(connection: Connection, paths: Sequence[Path]) -> Stored:
    """Parquet files of the same columns, as one table."""
    schema, records = _schema(paths[0]), 0
    for path in paths:
        records += _require_alike(path, paths[0], schema)
        connection.reads(path)
    files = ", ".join(literal(str(path)) for path in paths)
    places = [f"p{number}" for number in range(len(schema))]
    kept = [n for n, name in enumerate(schema.names) if not UNNAMED_INDEX.fullmatch(name)]
    shown = ", ".join(f"p{n} AS c{place}" for place, n in enumerate(kept))
    scanned = f"read_parquet([{files}], hive_partitioning = false) AS t({', '.join(places)})"
    held = tuple(Column(schema.names[n], schema.types[n]) for n in kept)
    return Stored(connection, f"SELECT {shown} FROM {scanned}", held, records)


def _schema(path: Path) -> pa.Schema:
    with readable(path), pa.parquet.ParquetFile(path) as file:
        require_named(path, file.schema_arrow.names, ())
        return file.schema_arrow


def _require_alike(path: Path, first: Path, schema: pa.Schema) -> int:
    """The records of a file, which has to have the columns of the first one."""
    with readable(path), pa.parquet.ParquetFile(path) as file:
        if not file.schema_arrow.equals(schema):
            raise InputError(
                f"cannot read {path}: its columns, or their types, are not those of {first.name}; "
                "write both files alike"
            )
        metadata = file.metadata
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        declared = sum(group.total_byte_size for group in groups)
        if max(declared, metadata.num_rows * metadata.num_columns) > TABLE.value:
            raise TABLE.refuse(path, "it has more than {} bytes, decompressed")
        return int(metadata.num_rows)
