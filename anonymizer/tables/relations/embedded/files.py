"""Files, folders of files and databases as tables that lie where they are.

Tables of DuckDB and PostgreSQL stay there, those of SQLite and MySQL are read into DuckDB.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from urllib.parse import parse_qsl, unquote, urlsplit

import duckdb
import pyarrow as pa

from anonymizer.errors import InputError, did_you_mean
from anonymizer.tables.files.delimited import csv_columns
from anonymizer.tables.files.foreign import as_parquet
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.opening import (
    MYSQL,
    Server,
    as_wanted,
    base_of,
    files_of,
    is_database,
    is_foreign,
    is_spread,
    is_sqlite,
    partitions,
    readable,
    require_named,
    server_of,
)
from anonymizer.tables.files.parquet import UNNAMED_INDEX, is_text, parquet_file
from anonymizer.tables.reading import TABLE, open_regular
from anonymizer.tables.relations.embedded.connection import (
    LARGE,
    Connection,
    OutsideError,
    Watch,
    connected,
    literal,
    named_file,
    quoted,
    without_enums,
    worded,
)
from anonymizer.tables.relations.embedded.separated import csv_scanned, csv_stored
from anonymizer.tables.relations.embedded.stored import Stored, StoredColumn

AS_TEXT = ("extension<arrow.uuid>", "extension<arrow.json>")
"""Types of Arrow that are read as texts, as those of databases are that are like them."""

READ_AS_TEXT = re.compile(r"UUID|BIT|VARINT|BIGNUM|INTERVAL|TIME WITH TIME ZONE|UNION\(.*\)")
"""Types of DuckDB that Arrow and Parquet have no exact one for."""

AS_DECIMAL = re.compile(r"U?HUGEINT")

ROWS = 100_000
"""Records that are read of SQLite at a time."""

STEPS = 100_000
"""Instructions of SQLite, a few milliseconds, between two looks at whether it is to end."""

MOST_LISTED = 20
"""Tables that a message lists."""


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
        folder; a database of DuckDB, SQLite or a server; or a file of another program.
    columns
        That it must have: of a CSV file this is found before all of it is read.
    table
        That of a database, or the sheet of a workbook; it may be left out where that has only one.
    scratch
        A directory for what does not fit into memory.
    memory
        That is used at most, such as ``"4GB"``; by default four fifths of the machine's.
    watch
        Called with the progress.
    once
        Whether it is counted once: a CSV file is not held in memory then, where that can be.

    Raises InputError when there is no such table, or it cannot be read to its end: the message
    names file and line, no value.
    """
    with connected(scratch, memory, watch) as connection:
        if is_foreign(path):
            found = foreign_stored(connection, path, table)
        elif is_database(path):
            found = database_stored(connection, path, table)
        else:
            with readable(path, form.encoding) if path.is_file() else nullcontext():
                found = _found(connection, path, form, columns, table, once)
        found = _as_wanted(found, columns)
        require_named(path, found.columns, columns, form)
        yield found


def _as_wanted(found: Stored, columns: Sequence[str]) -> Stored:
    names = as_wanted(found.columns, columns)
    if names == found.columns:
        return found
    kinds = (kind for _, kind in found.held)
    return replace(found, held=tuple(map(StoredColumn, names, kinds)))


def columns_in(path: Path, form: Format) -> list[str]:
    """The columns of CSV, without its records; InputError when it cannot be read."""
    if is_spread(path):
        with opened(path, form) as table:
            return list(table.columns)
    with readable(path, form.encoding):
        return csv_columns(path, form)


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
    known = {each for each in (*schema.names, *within) if not UNNAMED_INDEX.fullmatch(each)}
    kept = [n for n, name in enumerate(names) if name in known]
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


def _partitioned(paths: Sequence[Path], base: Path, schema: pa.Schema) -> list[str]:
    """The columns that folders name, and the files do not have."""
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


def foreign_stored(connection: Connection, path: Path, table: str | None) -> Stored:
    """A table of another program, read as Parquet; ``table``: the sheet of a workbook."""
    place = connection.scratch / f"{connection.free_name()}.parquet"
    as_parquet(path, table, place)
    connection.reads(path)
    return _parquet(connection, [place], place.parent)


def database_stored(connection: Connection, path: Path, table: str | None) -> Stored:
    """A table of a database; InputError lists the tables there are where none is of the name."""
    if server := server_of(path):
        return _served(connection, path, table, server)
    try:
        open_regular(path).close()
    except FileNotFoundError:
        raise InputError(f"there is no database {path}; correct its path") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give a file") from None
    if is_sqlite(path):
        return _sqlite(connection, path, table)
    connection.reads(path)
    return _attached(connection, path, table, f"{literal(str(path))} AS d (READ_ONLY)")


def _served(connection: Connection, path: Path, table: str | None, server: Server) -> Stored:
    """A table that a server has; InputError where DuckDB cannot read it: nothing is downloaded.

    That of MySQL is read once: it compares texts without their case, and a value may change.
    """
    mine, name = server.called == MYSQL.called, server.extension
    own, address = _of_mysql(server.address) if mine else ("", f"postgresql://{server.address}")
    installed = connection.number(
        f"SELECT count(*) FROM duckdb_extensions() WHERE extension_name = '{name}_scanner' "
        "AND installed"
    )
    if not installed:
        raise InputError(
            f"a table in {server.called} is read by DuckDB's extension {name}, which is not "
            f"installed; install it once by INSTALL {name} in DuckDB, or export the table as CSV "
            "or Parquet"
        )
    connection.run(f"LOAD {name}")
    what = f"{literal(address)} AS d (TYPE {name}, READ_ONLY)"
    if not mine:
        return _attached(connection, path, table, what)
    for setting, value in AS_STORED.items():
        if connection.number(f"SELECT count(*) FROM duckdb_settings() WHERE name = '{setting}'"):
            connection.run(f"SET {setting} = {literal(value)}")
    stored = _attached(connection, path, table, what, own)
    place = connection.room_for(LARGE)
    try:
        connection.database.execute(f"CREATE TABLE {place} AS {stored.query}")
    except duckdb.Error:
        raise InputError(
            "the database has a value that DuckDB cannot read, such as a date without a day; give "
            "a view that has the column as text"
        ) from None
    records = connection.number(f"SELECT count(*) FROM {place}")
    return replace(stored, query=f"SELECT * FROM {place}", known=records)


AS_STORED = {
    "mysql_tinyint1_as_boolean": "false",
    "mysql_query_timeout_enabled": "false",
    "mysql_session_time_zone": "+00:00",
}
"""Settings by which values come as they are stored: 2 may lie in TINYINT(1), instants in UTC."""

OPTIONS = ("socket", "ssl_mode", "ssl_ca", "ssl_cert", "ssl_key")
"""What the address of a database of MySQL may have after a question mark."""


def _of_mysql(address: str) -> tuple[str, str]:
    """The database that an address names, and the address as DuckDB's extension has it."""
    with suppress(ValueError):
        parts = urlsplit(f"//{address}")
        options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        given = {"host": parts.hostname, "port": parts.port, "user": parts.username} | options
        given["database"] = parts.path.strip("/")
        texts = {key: unquote(str(value)) for key, value in given.items() if value is not None}
        plain = texts["database"] and not any(map(UNSURE.search, texts.values()))
        if plain and {*options} <= {*OPTIONS}:
            return texts["database"], " ".join(f"{key}={value}" for key, value in texts.items())
    raise InputError(
        "an address in MySQL is mysql://user@host/database, with a port after the host, and "
        f"{', '.join(OPTIONS)} after a question mark where needed, none of them with a blank or a "
        "quote"
    )


UNSURE = re.compile(r"[\s'\"\\\\=;]")
"""What would end a value of an address as the extension has it."""


def _attached(
    connection: Connection, path: Path, table: str | None, what: str, own: str = "main"
) -> Stored:
    """A table of what is attached; ``own``: the schema whose tables go by their names alone."""
    server = server_of(path)
    shown, unopened = str(path), "it is no database that can be opened"
    if server:
        shown = "the database"
        unopened = f"{server.called} does not open it; correct the address, or {server.password}"
    connection.reusable = False
    try:
        connection.database.execute(f"ATTACH {what}")
    except duckdb.IOException as error:
        if "lock" in str(error):
            raise InputError(
                f"cannot read {path}: another program has it open; close it there first"
            ) from None
        raise InputError(f"cannot read {shown}: {unopened}") from None
    except duckdb.Error:
        raise InputError(f"cannot read {shown}: {unopened}") from None
    if not server:
        connection.confine()
    found = connection.arrow(
        "SELECT table_schema, table_name FROM information_schema.tables "
        f"WHERE table_catalog = 'd' AND table_schema NOT IN ({SYSTEMS}) ORDER BY ALL"
    )
    rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
    known = {_called(schema, name, own): (schema, name) for schema, name in rows}
    schema, name = known[_chosen(shown, table, [*known])]
    try:
        return _columns(connection, f"d.{quoted(schema)}.{quoted(name)}")
    except OutsideError:
        raise InputError(
            f"the view {_called(schema, name, own)!r} of {shown} reads what is outside of the "
            "database, such as a file; make a table of it there, by CREATE TABLE ... AS"
        ) from None


SYSTEMS = "'information_schema', 'pg_catalog', 'performance_schema', 'mysql', 'sys'"
"""Schemas that are a database's own."""


def _called(schema: str, name: str, own: str) -> str:
    return name if schema in ("main", "public", own) else f"{schema}.{name}"


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
    if READ_AS_TEXT.fullmatch(kind):
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
        arrays = []
        for column, kind in zip(columns, schema.types, strict=True):
            if pa.types.is_string(kind):  # SQLite may have others among them
                column = tuple(v if v is None or isinstance(v, str) else str(v) for v in column)
            arrays.append(pa.array(column, kind))
        yield pa.record_batch(arrays, schema=schema)
