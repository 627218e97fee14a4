"""Files, folders of files and databases as tables that lie where they are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.opening import readable, require_named
from anonymizer.tables.files.parquet import UNNAMED_INDEX, parquet_file
from anonymizer.tables.files.places import base_of, files_of, is_database, partitions
from anonymizer.tables.reading import TABLE
from anonymizer.tables.relations.embedded.connection import (
    Connection,
    Watch,
    connected,
    named_file,
)
from anonymizer.tables.relations.embedded.databases import database_stored
from anonymizer.tables.relations.embedded.separated import csv_scanned, csv_stored
from anonymizer.tables.relations.embedded.stored import Stored, StoredColumn

AS_TEXT = ("extension<arrow.uuid>", "extension<arrow.json>")
"""Types of Arrow that are read as texts, as those of databases are that are like them."""


@contextmanager
def opened(
    path: Path,
    form: Format,
    *,
    columns: Sequence[str] = (),
    table: str | None = None,
    scratch: Path | None = None,
    memory: str | None = None,
    watch: Watch | None = None,
    once: bool = False,
) -> Iterator[Stored]:
    """A table that lies in a file, in files of a folder, or in a database.

    Parameters
    ----------
    path, form
        Where it lies, and how: CSV or Parquet, one file, a pattern such as ``people/*.csv`` or a
        folder; or a database of DuckDB, SQLite or PostgreSQL.
    columns
        That it must have: of a CSV file this is found before all of it is read.
    table
        That of a database; it may be left out where that has only one.
    scratch
        A directory for what does not fit into memory.
    memory
        That is used at most, such as ``"4GB"``; by default four fifths of the machine's.
    watch
        Is told of the progress.
    once
        Whether it is counted once: a CSV file is not held in memory then, where that can be.

    Raises InputError when there is no such table, or it cannot be read to its end: the message
    names file and line, no value.
    """
    with connected(scratch, memory, watch) as connection:
        if is_database(path):
            found = database_stored(connection, path, table)
        else:
            with readable(path, form.encoding) if path.is_file() else nullcontext():
                found = _found(connection, path, form, columns, table, once)
        require_named(path, found.columns, columns, form)
        yield found


def _found(
    connection: Connection,
    path: Path,
    form: Format,
    columns: Sequence[str],
    table: str | None,
    once: bool,
) -> Stored:
    if table is not None:
        raise InputError(
            f"{path} is no database",
            "leave out table in [data]",
            section="data",
            key="table",
            value=table,
        )
    paths = files_of(path)
    if form.parquet:
        return _parquet(connection, paths, base_of(path))
    if paths != [path]:
        return csv_stored(connection, paths, form)
    scanned = csv_scanned(connection, path, form, columns) if once else None
    return scanned or csv_stored(connection, paths, form, columns)


def _parquet(connection: Connection, paths: Sequence[Path], base: Path) -> Stored:
    """Parquet files of the same columns, as one table; names of folders may be more of them.

    These are those of folders below a ``base``.
    """
    schema, records = _schema(paths[0]), 0
    _require_exact(paths[0], schema)
    if any(map(pa.types.is_floating, schema.types)):
        connection.distrust_statistics()
    for path in paths:
        records += _require_alike(path, paths[0], schema)
        connection.reads(path)
    files = ", ".join(map(named_file, paths))
    within = folders = _partitioned(paths, base, schema)
    hive = f"hive_partitioning = {bool(folders)}, hive_types_autocast = false"
    scanned = f"read_parquet([{files}], {hive})"
    if folders:  # they come in an order of DuckDB's own, with those above the base
        described = connection.arrow(f"DESCRIBE FROM {scanned}").column(0).to_pylist()
        folders = described[len(schema) :]
    names = [*schema.names, *folders]
    kinds = [*map(_written, schema.types), *[pa.string()] * len(folders)]
    places = ", ".join(f"p{number}" for number in range(len(names)))
    known = {*schema.names, *within}
    kept = [n for n, name in enumerate(names) if name in known and not _is_index(name)]
    texts = [n for n, kind in enumerate(schema.types) if str(kind) in AS_TEXT]
    values = [f"CAST(p{n} AS VARCHAR)" if n in texts else f"p{n}" for n in range(len(names))]
    shown = ", ".join(f"{values[n]} AS c{place}" for place, n in enumerate(kept))
    query = f"SELECT {shown} FROM {scanned} AS t({places})"
    held = tuple(StoredColumn(names[n], kinds[n]) for n in kept)
    return Stored(connection, query, held, records)


def _require_exact(path: Path, schema: pa.Schema) -> None:
    """Require types that DuckDB has: it would round longer decimals."""
    for field in schema:
        if "decimal256" in str(field.type):  # also within lists
            raise InputError(
                f"cannot read {path}: column {field.name!r} has decimals of more than 38 digits; "
                "write it with fewer, or as text"
            )


def _written(kind: pa.DataType) -> pa.DataType:
    """The type that a column has when it is written; views are one of values in memory."""
    if pa.types.is_string_view(kind) or str(kind) in AS_TEXT:
        return pa.string()
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):  # Arrow counts none of these
        return pa.decimal128(kind.precision, kind.scale)
    return pa.binary() if pa.types.is_binary_view(kind) else kind


def _is_index(name: str) -> bool:
    return UNNAMED_INDEX.fullmatch(name) is not None


def _partitioned(paths: Sequence[Path], base: Path, schema: pa.Schema) -> list[str]:
    """The columns that folders name, and the files lack."""
    found = list(partitions(paths[0], base))
    if {*found} <= {*schema.names}:
        return []
    # DuckDB takes the names of all folders, whatever the case of their letters.
    known = {name.casefold() for name in schema.names}
    for name in partitions(paths[0], Path(paths[0].anchor)):
        if name.casefold() in known:
            raise InputError(
                f"cannot read {paths[0]}: its folders name column {name!r}, which the file has, "
                "too; rename that folder, or leave the column out of the files"
            )
    for path in paths:
        if list(partitions(path, base)) != found:
            raise InputError(f"cannot read {path}: its folders name other columns than {paths[0]}")
    return found


def _schema(path: Path) -> pa.Schema:
    with readable(path), parquet_file(path) as file:
        require_named(path, file.schema_arrow.names, ())
        return file.schema_arrow


def _require_alike(path: Path, first: Path, schema: pa.Schema) -> int:
    """The records of a file, which has to have the columns of the first one."""
    with readable(path), parquet_file(path) as file:
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
