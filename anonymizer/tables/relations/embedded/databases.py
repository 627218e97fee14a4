"""Tables of databases: those of DuckDB and PostgreSQL lie there, those of SQLite are read."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import duckdb
import pyarrow as pa

from anonymizer.errors import InputError, did_you_mean
from anonymizer.tables.files.parquet import is_text
from anonymizer.tables.files.places import POSTGRES, is_postgres, is_sqlite
from anonymizer.tables.reading import open_regular
from anonymizer.tables.relations.embedded.connection import (
    Connection,
    OutsideError,
    literal,
    quoted,
    without_enums,
    worded,
)
from anonymizer.tables.relations.embedded.stored import Stored, StoredColumn

ROWS = 100_000
"""Records that are read of SQLite at a time."""

STEPS = 100_000
"""Instructions of SQLite, a few milliseconds, between two looks at whether it is to end."""

MOST_LISTED = 20
"""Tables that a message lists."""

AS_DECIMAL = re.compile(r"U?HUGEINT")
AS_TEXT = re.compile(r"UUID|BIT|VARINT|BIGNUM|INTERVAL|TIME WITH TIME ZONE|UNION\(.*\)")
"""Types of DuckDB that Arrow and Parquet have no exact one for."""


def database_stored(connection: Connection, path: Path, table: str | None) -> Stored:
    """A table of a database; InputError lists the tables there are where none is of the name."""
    if is_postgres(path):
        return _attached(connection, path, table, _postgres(connection, path))
    _require_there(path)
    if is_sqlite(path):
        return _sqlite(connection, path, table)
    connection.reads(path)
    return _attached(connection, path, table, f"{literal(str(path))} AS d (READ_ONLY)")


def _require_there(path: Path) -> None:
    try:
        open_regular(path).close()
    except FileNotFoundError:
        raise InputError(f"there is no database {path}; correct its path") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give a file") from None


def _postgres(connection: Connection, path: Path) -> str:
    """What is attached of PostgreSQL; InputError where DuckDB cannot, as nothing is downloaded."""
    installed = connection.number(
        "SELECT count(*) FROM duckdb_extensions() WHERE extension_name = 'postgres_scanner' "
        "AND installed"
    )
    if not installed:
        raise InputError(
            "a table in PostgreSQL is read by DuckDB's extension postgres, which is not installed; "
            "install it once by INSTALL postgres in DuckDB, or export the table as CSV or Parquet"
        )
    connection.run("LOAD postgres")
    found = POSTGRES.search(str(path))
    address = "postgresql://" + str(path)[found.end() :] if found else ""
    return f"{literal(address)} AS d (TYPE postgres, READ_ONLY)"


def _attached(connection: Connection, path: Path, table: str | None, what: str) -> Stored:
    shown = "the database" if is_postgres(path) else path
    connection.reusable = False
    try:
        connection.database.execute(f"ATTACH {what}")
    except duckdb.IOException as error:
        if "lock" in str(error):
            raise InputError(
                f"cannot read {path}: another program has it open; close it there first"
            ) from None
        raise InputError(f"cannot read {shown}: it is no database that can be opened") from None
    except duckdb.Error:
        raise InputError(f"cannot read {shown}: it is no database that can be opened") from None
    if not is_postgres(path):
        connection.confine()
    found = connection.arrow(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = 'd' ORDER BY ALL"
    )
    known = {
        _called(*row): row for row in zip(*(c.to_pylist() for c in found.columns), strict=True)
    }
    schema, name = known[_chosen(shown, table, [*known])]
    try:
        return _columns(connection, f"d.{quoted(schema)}.{quoted(name)}")
    except OutsideError:
        raise InputError(
            f"the view {_called(schema, name)!r} of {shown} reads what is outside of the database, "
            "such as a file; make a table of it there, by CREATE TABLE ... AS"
        ) from None


def _called(schema: str, name: str) -> str:
    return name if schema in ("main", "public") else f"{schema}.{name}"


def _chosen(path: object, table: str | None, known: Sequence[str]) -> str:
    """The table that is meant: the only one where none is given."""
    if table is None and len(known) == 1:
        return known[0]
    if table is not None and table in known:
        return table
    if not known:
        raise InputError(f"there is no table in {path}")
    listed = ", ".join(map(repr, known[:MOST_LISTED])) + (
        " ..." if len(known) > MOST_LISTED else ""
    )
    if table is None:
        raise InputError(
            f"{path} has several tables: {listed}",
            "set table in [data] to one of them",
            section="data",
            key="table",
        )
    hint = did_you_mean(table, known)
    raise InputError(f"{path} has no table {table!r}, only {listed}{hint}")


def _columns(connection: Connection, table: str) -> Stored:
    """A table of which each column has a type that Arrow and Parquet have."""
    found = connection.arrow(f"DESCRIBE {table}")
    names, kinds = (found.column(n).to_pylist() for n in (0, 1))
    _require_held(connection, table, dict(zip(names, kinds, strict=True)))
    types = connection.database.sql(f"FROM {table}").types
    shown = ", ".join(
        f"{_exact(f't.{quoted(name)}', kind, without_enums(type_))} AS c{n}"
        for n, (name, kind, type_) in enumerate(zip(names, kinds, types, strict=True))
    )
    query = f"SELECT {shown} FROM {table} AS t"
    schema = connection.arrow(f"SELECT * FROM ({query}) LIMIT 0").schema
    held = tuple(StoredColumn(name, kind) for name, kind in zip(names, schema.types, strict=True))
    # Texts are equal by their characters from here on: a column's collation does not come along.
    shown = ", ".join(
        f"decode(encode(c{n})) AS c{n}" if is_text(column.kind) else f"c{n}"
        for n, column in enumerate(held)
    )
    query = f"SELECT {shown} FROM ({query})"
    return Stored(connection, query, held, connection.number(f"SELECT count(*) FROM {table}"))


def _require_held(connection: Connection, table: str, kinds: Mapping[str, str]) -> None:
    """Require whole numbers that decimals of 38 digits hold."""
    for name, kind in kinds.items():
        place = quoted(name)
        beyond = f"{place} IS NOT NULL AND TRY_CAST({place} AS DECIMAL(38, 0)) IS NULL"
        query = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {beyond} LIMIT 1)"
        if AS_DECIMAL.fullmatch(kind) and connection.number(query):
            raise InputError(
                f"column {name!r} has whole numbers of more than 38 digits; give a table that has "
                "it as text, such as a view with CAST(... AS VARCHAR)"
            )


def _exact(place: str, kind: str, bare: str) -> str:
    """A column as Arrow and Parquet have it; ``bare``: its type without values that it may list."""
    if AS_DECIMAL.fullmatch(kind):
        return f"CAST({place} AS DECIMAL(38, 0))"
    if AS_TEXT.fullmatch(kind):
        return f"CAST({place} AS VARCHAR)"
    return f"CAST({place} AS {bare})" if "ENUM(" in kind else place


def _sqlite(connection: Connection, path: Path, table: str | None) -> Stored:
    address = f"{path.resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as database:
            return _heeding(database, lambda: _sqlite_read(connection, path, table, database))
    except sqlite3.Error:
        raise InputError(
            f"cannot read {path}: it is damaged, cut short, or locked by another program"
        ) from None


def _heeding(database: sqlite3.Connection, work: Callable[[], Stored]) -> Stored:
    """Carry out work on a database that an interrupt ends: a view may have no last record."""
    ended = Event()
    database.set_progress_handler(ended.is_set, STEPS)
    with ThreadPoolExecutor(1) as pool:  # signals reach the main thread alone, which has to wait
        try:
            return pool.submit(work).result()
        except BaseException:
            ended.set()
            raise


def _sqlite_read(
    connection: Connection, path: Path, table: str | None, database: sqlite3.Connection
) -> Stored:
    """A table of SQLite, whose columns have no types, read by Python's own library."""
    listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    known = [name for (name,) in database.execute(listed) if not name.startswith("sqlite_")]
    chosen = quoted(_chosen(path, table, known))
    cursor = database.execute(f"SELECT * FROM {chosen} LIMIT 0")
    names = [each[0] for each in cursor.description]
    kinds = [_kind(database, chosen, name) for name in names]
    name = connection.free_name()
    schema = pa.schema([(f"c{n}", kind) for n, kind in enumerate(kinds)])
    reader = pa.RecordBatchReader.from_batches(schema, _batches(database, chosen, names, schema))
    with worded(path):
        connection.database.register("given", reader)
        connection.database.execute(f"CREATE TABLE {name} AS FROM given")
        connection.database.unregister("given")
    held = tuple(StoredColumn(*each) for each in zip(names, kinds, strict=True))
    records = connection.number(f"SELECT count(*) FROM {name}")
    return Stored(connection, f"SELECT * FROM {name}", held, records)


def _kind(database: sqlite3.Connection, table: str, name: str) -> pa.DataType:
    """The type of the values of a column: texts where there are texts and others."""
    types = f"SELECT DISTINCT typeof({quoted(name)}) FROM {table}"
    found = {kind for (kind,) in database.execute(types)} - {"null"}
    if found == {"integer"}:
        return pa.int64()
    if found and found <= {"integer", "real"}:
        return pa.float64()
    return pa.binary() if found == {"blob"} else pa.string()


def _batches(
    database: sqlite3.Connection, table: str, names: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    cursor = database.execute(f"SELECT {', '.join(map(quoted, names))} FROM {table}")
    while rows := cursor.fetchmany(ROWS):
        columns = zip(*rows, strict=True)
        arrays = [_array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
        yield pa.record_batch(arrays, schema=schema)


def _array(column: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_string(kind):
        column = [
            value if value is None or isinstance(value, str) else str(value) for value in column
        ]
    return pa.array(column, kind)
