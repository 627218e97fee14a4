"""The files of a release: their names, bytes, digests and columns."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.tables import engine
from anonymizer.tables.reading import MANIFEST_SIZE, open_regular, read_bytes

MANIFEST = "release.json"
"""The file that a release reports itself in, next to its table."""

SIGNATURE = MANIFEST + ".sig"
"""The file next to it that has its signature, where it is signed."""

RELEASED = ("released.csv", "released.parquet", "released.dta", "released.sav", "released.xlsx")
"""The table, in any of its formats."""

COUNTS = "released.counts"
"""The counts of the table, where its records lie in parts elsewhere."""

STEWARD = ".steward.json"
"""What the name of the file next to a release ends in that has the figures of its raw table."""

VERIFIERS = {"python": "verify.py", "sql": "verify.sql", "html": "verify.html"}
"""Files that examine the release without this package, by their names in a study."""

FILES = (*RELEASED, COUNTS, *VERIFIERS.values(), SIGNATURE, MANIFEST)
"""The files that a release may have; the last one is the sign that it is whole."""


MALFORMED = (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError)
"""What fails on values of the right types that make no sense together."""


def manifest_bytes(path: Path) -> bytes:
    """What a ``release.json`` holds, byte by byte, as a signature is about it.

    Raises InputError when there is no such file, or it is too large.
    """
    absent = f"there is no {path}: the manifest has to be next to the released table"
    return read_bytes(path, MANIFEST_SIZE, absent=absent)


def shape_of(table: engine.Table, schema: Schema) -> dict[str, Any]:
    """All columns of a released table, and the records without a value in each with a role."""
    missing = engine.missing_values(table, schema.columns)
    return {
        "columns": [str(name) for name in table.columns],
        "missing": {name: missing.get(name, 0) for name in schema.columns},
    }


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """Report a manifest whose parts make no sense together as damaged."""
    try:
        yield
    except InputError:
        raise
    except MALFORMED:
        raise InputError(f"{path} is damaged: it is no manifest of a release") from None


def digest_of_file(path: Path) -> str:
    """The SHA-256 of a regular file; OSError when it cannot be read."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests_of(table: Path) -> tuple[str, dict[str, str] | None]:
    """The SHA-256 of a table, and those of its files by name where it is a folder; None else.

    That of a folder is of the lines that ``sha256sum`` prints of its files, sorted by name.

    Raises OSError when it cannot be read, or leads out of the folder.
    """
    if not table.is_dir():
        return digest_of_file(table), None
    parts = {name: digest_of_file(table / name) for name in sorted(_files_in(table))}
    lines = "".join(f"{digest}  {name}\n" for name, digest in parts.items())
    return hashlib.sha256(lines.encode()).hexdigest(), parts


def _files_in(folder: Path) -> Iterator[str]:
    """The names of all files of a folder and below it, and of what leads out of it."""
    for above, folders, names in os.walk(folder):
        links = [name for name in folders if Path(above, name).is_symlink()]
        for name in (*names, *links):
            yield Path(above, name).relative_to(folder).as_posix()


def home_of(path: Path) -> Path:
    """The directory of the release that a path leads to: itself, or what its table lies in.

    InputError when it is one of the files of a table.
    """
    above = path.parent
    if above.name in RELEASED and not path.is_dir() and (above.parent / MANIFEST).exists():
        raise InputError(f"{path} is a part of the released table {above}: name that, not the part")
    table = path.is_dir() and path.name in RELEASED and not (path / MANIFEST).exists()
    return path if path.is_dir() and not table else path.parent
