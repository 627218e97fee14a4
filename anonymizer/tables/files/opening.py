"""Where a table lies, in one file, several or a database, and its files opened.

They are decompressed, read within limits, and refused in our own words.
"""

import codecs
import errno
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from anonymizer.errors import InputError, require_columns
from anonymizer.tables.files.format import PARQUET, UTF8, Format, is_parquet
from anonymizer.tables.reading import LINE, MIB, RATIO, TABLE, IrregularError, open_regular

ADDRESS = re.compile(r"(postgres|mysql|mariadb)(?:ql)?:/+(.*)", re.DOTALL)
"""The address of a database that a server has; a path has one slash where an address has two."""


class Server(NamedTuple):
    """What a server is, DuckDB's extension that reads it, and where its password may be."""

    called: str
    extension: str
    password: str
    address: str = ""


PGPASSWORD = "set PGPASSWORD in the environment, or write it into ~/.pgpass"
POSTGRESQL = Server("PostgreSQL", "postgres", PGPASSWORD)
MYSQL = Server("MySQL", "mysql", "set MYSQL_PWD in the environment")

REMOTE = re.compile(
    r"(?:^|/)(https?|ftp|sftp|s3[an]?|r2|gs|gcs|az|azure|abfss?|adl|hf|hdfs|dbfs|mssql|oracle|"
    r"snowflake|bigquery|jdbc|odbc|sqlite):/",
    re.IGNORECASE,
)
"""How an address begins that is none of a file here."""

PASSWORD = re.compile(r":/+[^/?]*:[^/?]*@|[?&](?:ssl)?(?:password|passwd|pwd)=", re.IGNORECASE)

DATABASES = (".duckdb", ".ddb", ".sqlite", ".sqlite3")
"""Endings of the names of databases; others are known by how they begin."""

FOREIGN = (
    *(".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"),
    *(".xlsx", ".xlsm", ".xls", ".ods", ".jsonl", ".ndjson", ".arrow", ".feather"),
)
"""Endings of the names of files of other programs: see ``foreign``."""

SQLITE = b"SQLite format 3\x00"

DUCKDB = b"DUCK"

CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst", ".csv.bz2", ".csv.lz4")
"""Endings of the names of the CSV files of a folder."""

COMPRESSIONS = {".bz2": "bz2", ".gz": "gzip", ".lz4": "lz4", ".zst": "zstd"}
"""What a file was compressed by, by the ending of its name."""

PATTERN = re.compile(r"[*?\[]")

PARTITION = re.compile(r"([^=]+)=(.*)")
"""A folder whose name is the value of a column."""

MOST_FILES = 100_000

HEADER = "header"
"""The key of errors about a file whose first line may not name its columns."""

CHUNK = MIB
"""Bytes read at a time."""

FREE = 16 * MIB
"""Decompressed bytes that may come of a file however small."""


def is_database(path: Path) -> bool:
    """Whether a table lies in a database: a file of DuckDB or SQLite, or one of a server."""
    if server_of(path) or path.suffix.lower() in DATABASES:
        return True
    start = _start(path)
    return start.startswith(SQLITE) or start[8:12] == DUCKDB


def is_foreign(path: Path) -> bool:
    """Whether a file is one of another program, by its name."""
    return path.suffix.lower() in FOREIGN


def is_converted(path: Path) -> bool:
    """Whether a table lies in a database or a file of another program: its values have types."""
    return is_foreign(path) or is_database(path)


def is_spread(path: Path) -> bool:
    """Whether a table lies in a database or in several files, rather than in one of this name."""
    return is_converted(path) or files_of(path) != [path]


def server_of(path: Path) -> Server | None:
    """The server of the address of a database, and where there; None of any other path."""
    found = ADDRESS.search(str(path))
    if found is None:
        return None
    return (POSTGRESQL if found[1] == "postgres" else MYSQL)._replace(address=found[2])


def require_near(path: Path) -> None:
    """Refuse an address of what lies elsewhere, and one with a password, which messages would show.

    Nothing is downloaded: who anonymizes a table decides by which way it comes.
    """
    if remote := REMOTE.search(str(path)):
        raise InputError(
            f"{remote[1]}:// is an address elsewhere, and tables are read from files, databases in "
            "files, postgresql:// and mysql://; copy the table here, and name the copy"
        )
    if (server := server_of(path)) and PASSWORD.search(str(path)):
        raise InputError(
            f"the address of the database has a password; leave it out, and {server.password}"
        )


def is_sqlite(path: Path) -> bool:
    """Whether a file is a database of SQLite."""
    return _start(path).startswith(SQLITE)


def _start(path: Path) -> bytes:
    with suppress(OSError, ValueError), open_regular(path) as file:
        return file.read(len(SQLITE))
    return b""


def files_of(path: Path) -> list[Path]:
    """The files of a table, by name: those of a folder or a pattern, else the one of this name.

    InputError when there are none, or some are Parquet and others are not.
    """
    try:
        folder = path.is_dir()
        pattern = not folder and PATTERN.search(str(path)) is not None and not path.exists()
    except (OSError, ValueError):
        return [path]
    if not folder and not pattern:
        return [path]
    try:
        if folder:
            found = _in_folder(path)
        else:
            base = base_of(path)
            matching = base.glob(str(path.relative_to(base)))
            found = sorted(each for each in matching if each.is_file())
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror} ({error.filename}); name a folder of its own"
        ) from None
    if not found and folder:
        raise InputError(
            f"there is no table in {path}: it has no Parquet or CSV files; correct its path"
        )
    if not found:
        raise InputError(f"no file has a name such as {path}; correct the pattern")
    _require_alike(path, found)
    if len(found) > MOST_FILES:
        raise InputError(f"{path}: it has more than {MOST_FILES:,} files; write fewer, larger ones")
    return found


def _require_alike(path: Path, found: Sequence[Path]) -> None:
    """Require that all files are Parquet, or none is."""
    kinds = {is_parquet(each): each.name for each in reversed(found)}
    if len(kinds) > 1:
        raise InputError(
            f"{path}: {kinds[True]} is Parquet and {kinds[False]} is not; remove one kind, or give "
            "a pattern of one, such as people/*.parquet"
        )


def _in_folder(path: Path) -> list[Path]:
    """The tables in a folder and the folders in it; what begins with a point or _ is none."""
    found = [
        each
        for each in path.rglob("*")
        if each.is_file()
        and each.name.lower().endswith((*PARQUET, *CSV))
        and not any(part[:1] in "._" for part in each.relative_to(path).parts)
    ]
    return sorted(found)


def base_of(path: Path) -> Path:
    """The folder that all files of a table lie below: itself, or as far as a name is no pattern."""
    if path.is_dir():
        return path
    if path.exists():
        return path.parent
    fixed = next(n for n, part in enumerate(path.parts) if PATTERN.search(part))
    return Path(*path.parts[:fixed])


def partitions(path: Path, base: Path) -> dict[str, str | None]:
    """The columns that the folders of a file name, as ``year=2020`` does, and their values.

    They lie below a ``base``: the names of others say where the table lies, nothing of its records.
    """
    found = [PARTITION.fullmatch(part) for part in path.relative_to(base).parts[:-1]]
    values = {unquote(each[1]): unquote(each[2]) for each in found if each}
    empty = "__HIVE_DEFAULT_PARTITION__"
    return {name: None if value == empty else value for name, value in values.items()}


@contextmanager
def table_stream(path: Path, encoding: str = UTF8, skipped: int = 0) -> Iterator[BinaryIO]:
    """Open a table file, decompressed as its name says (.gz, .bz2, .zst, .lz4), as UTF-8.

    The lines that are ``skipped`` are left out. Reading raises InputError where it goes beyond a
    limit: of all bytes, of one line, or of what has been read so far over what it was compressed to
    (a bomb shows early); UnicodeDecodeError where another encoding than UTF-8 cannot be.
    """
    with open_regular(path) as file:
        stream = io.BufferedReader(_Bounded(file, path, encoding), CHUNK)
        for _ in range(skipped):
            stream.readline()
        yield stream


class _Transcoded:
    """A stream in another encoding, read as UTF-8."""

    def __init__(self, stream: Any, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Up to so many bytes; none at the end."""
        while not self._rest:
            chunk = self._stream.read(size)
            text = self._decoder.decode(chunk, final=not chunk)
            self._rest = memoryview(text.encode())
            if not chunk:
                break
        found, self._rest = self._rest[:size], self._rest[size:]
        return bytes(found)


class _Bounded(io.RawIOBase):
    """A stream that ends in an error at its limits, which are those of its text in UTF-8."""

    def __init__(self, file: BinaryIO, path: Path, encoding: str) -> None:
        self._file, self._path = file, path
        self._name = COMPRESSIONS.get(path.suffix)
        self._stream: Any = file
        if self._name is not None:
            self._stream = pa.input_stream(file, compression=self._name)
        if encoding != UTF8:
            self._stream = _Transcoded(self._stream, encoding)
        self._most, self._line = TABLE.value, LINE.value
        self._read = self._since = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        chunk = self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._read += len(chunk)
        if self._read > self._most:
            raise TABLE.refuse(self._path, "it has more than {} bytes, decompressed")
        free = self._name is None or self._read <= FREE
        if not free and self._read > RATIO.value * max(self._file.tell(), 1):
            raise RATIO.refuse(self._path, "it decompresses to more than {} times its size")
        # Lines that are too long span several chunks, so that only their ends matter.
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        self._since = self._since + len(chunk) if end < 0 else len(chunk) - 1 - end
        if self._since > self._line:
            raise LINE.refuse(self._path, "it is no CSV, with a line of more than {} bytes")
        return len(chunk)


@contextmanager
def readable(path: Path, encoding: str = UTF8) -> Iterator[None]:
    """Say in our own words why a file cannot be read: the parsers' messages quote the data."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except IrregularError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeError as error:
        raise no_text(encoding, error).at(f"cannot read {path}: ") from None
    except PermissionError:
        raise InputError(f"cannot read {path}: permission denied") from None
    except Exception as error:  # parsers raise anything on damaged files
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise  # what was read is kept elsewhere
        empty = "it is empty" if "Empty CSV" in str(error) else ""
        reason = empty or "it is damaged, cut short, or not what its name says"
        raise InputError(f"cannot read {path}: {reason}") from None


def no_text(encoding: str, error: UnicodeError) -> InputError:
    """The error about bytes that are no text in an encoding.

    Every file can be read by some encoding of one byte a letter, and mostly by several: names would
    be misread without notice if one was chosen here.
    """
    if encoding != UTF8 or not isinstance(error, UnicodeDecodeError):
        return InputError(
            f"it is not {encoding} text",
            "set another encoding in [data], or leave it out",
            section="data",
            key="encoding",
            value=encoding,
        )
    others = '"latin-1", "cp1250", "mac-roman", "shift_jis"'
    try:
        error.object.decode("cp1252")
    except UnicodeDecodeError:
        remedy = f"set encoding in [data], such as {others}"
    else:
        remedy = (
            'set encoding = "cp1252" in [data] if it comes from Windows in a Western language, '
            f"else another one, such as {others}"
        )
    return InputError("it is not UTF-8 text", remedy, section="data", key="encoding")


def as_wanted(names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The names of a file, those of some ``columns`` in the Unicode form that these have.

    An accent is part of its letter there or a sign after it, which no eye tells apart.
    """
    other = {unicodedata.normalize("NFC", each): each for each in {*columns} - {*names}}
    return [other.get(unicodedata.normalize("NFC", name), name) for name in names]


def require_named(
    path: Path, names: Sequence[str], columns: Sequence[str], form: Format | None = None
) -> None:
    """Require that a file has some columns, and none twice."""
    try:
        require_columns(names, columns)
    except InputError as error:
        if error.value is not None and (len(names) == 1 or not error.remedy):
            # Of a single column no name is near: all names may stand in it.
            error = error.mended(*(_named_otherwise(len(names), form) if form else ("",)))
        if names.count("") > 1:
            error = InputError(
                f"{names.count('')} of its {len(names)} columns have no name",
                "name each; if its first line is a title, remove lines before the one that names "
                "the columns",
            )
        raise error.at(f"{path}: ") from None


def _named_otherwise(columns: int, form: Format) -> tuple[str, str, str]:
    """What may be the matter with a table without a column: the remedy, and its key."""
    if columns == 1:
        return (
            f"it has one column when fields end at {form.separator!r}: set the separator that "
            "the file has in [data], such as separator = ';' or '\\t', or remove lines before "
            "the one that names the columns",
            "data",
            "separator",
        )
    if not form.header:
        remedy = (
            f'no line of it names its {columns} columns: set columns = ["age", ...] in [data], '
            "a name for each"
        )
        return remedy, "data", "columns"
    remedy = 'does its first line name the columns? If not, set columns = ["age", ...] in [data]'
    return remedy, "data", HEADER
