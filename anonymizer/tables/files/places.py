"""Where a table lies: in a file, in several of a folder or a pattern, or in a database."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from anonymizer.errors import InputError
from anonymizer.tables.files.format import PARQUET
from anonymizer.tables.reading import open_regular

POSTGRES = re.compile(r"postgres(?:ql)?:/+")
"""How the address of a database begins; a path has one slash where an address has two."""

DATABASES = (".duckdb", ".ddb", ".sqlite", ".sqlite3")
"""Endings of the names of databases; others are known by how they begin."""

SQLITE = b"SQLite format 3\x00"
DUCKDB = b"DUCK"

CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst", ".csv.bz2", ".csv.lz4")
"""Endings of the names of the CSV files of a folder."""

PATTERN = re.compile(r"[*?\[]")

PARTITION = re.compile(r"([^=]+)=(.*)")
"""A folder whose name is the value of a column."""

MOST_FILES = 100_000


def is_database(path: Path) -> bool:
    """Whether a table lies in a database: a file of DuckDB or SQLite, or one of PostgreSQL."""
    if is_postgres(path) or path.suffix.lower() in DATABASES:
        return True
    start = _start(path)
    return start.startswith(SQLITE) or start[8:12] == DUCKDB


def is_spread(path: Path) -> bool:
    """Whether a table lies in a database or in several files, rather than in one of this name."""
    return is_database(path) or files_of(path) != [path]


def is_postgres(path: Path) -> bool:
    """Whether a path is the address of a database of PostgreSQL."""
    return POSTGRES.search(str(path)) is not None


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
        found = _in_folder(path) if folder else _matching(path)
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
    kinds = {_is_parquet(each): each.name for each in reversed(found)}
    if len(kinds) > 1:
        raise InputError(
            f"{path}: {kinds[True]} is Parquet and {kinds[False]} is not; remove one kind, or give "
            "a pattern of one, such as people/*.parquet"
        )


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET


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


def _matching(path: Path) -> list[Path]:
    """The files that match a pattern."""
    base = base_of(path)
    return sorted(each for each in base.glob(str(path.relative_to(base))) if each.is_file())


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
