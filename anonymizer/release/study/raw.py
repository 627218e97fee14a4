"""Raw tables for which there is no study yet: read where they lie, and named in one."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from anonymizer.profiling.raw import Raw
from anonymizer.release.description.place import Place, as_options
from anonymizer.tables.files import Format, GivenFormat, describe_file
from anonymizer.tables.files.opening import PATTERN, files_of, is_database, is_postgres
from anonymizer.tables.files.parquet import ordered_categories

FAR = 3
"""Directories up from which on a path is written from the root."""


def directory_for(table: Path) -> Path:
    """Where the study of a table goes: named after it, or what files of a pattern lie in."""
    named = next((part for part in reversed(table.parts) if not PATTERN.search(part)), "")
    return Path(f"{named.split('.')[0] or 'table'}-study")


@contextmanager
def read_raw(
    table: Path,
    database_table: str | None,
    columns: Sequence[str] | None,
    given: Mapping[str, Any],
) -> Iterator[tuple[Raw, Format]]:
    """A table, counted where it lies, and its format, with the spellings of missing values.

    ``given`` is what is known of the format.

    Raises InputError when it cannot be read.
    """
    names = None if columns is None else tuple(columns)
    with ExitStack() as opened:
        with as_options():
            form = describe_file(table, GivenFormat(columns=names, **given))
            stored = opened.enter_context(Place(table, form, database_table).opened(()))
        yield Raw.stored(stored, form, _orders(table, form))


def _orders(table: Path, form: Format) -> Mapping[str, Sequence[object]]:
    """The values of ordered categories, which Parquet alone has, by the first of its files."""
    return ordered_categories(files_of(table)[0]) if form.parquet and not is_database(table) else {}


def written(form: Format) -> dict[str, Any]:
    """The keys of ``[data]`` that say how a table is written, as far as a reader may doubt it."""
    if form.parquet:
        return {"missing-values": list(form.missing_values)} if form.missing_values else {}
    usual = type(form)(False)
    found: dict[str, Any] = {"separator": form.separator}
    for name in ("encoding", "quote", "decimal", "thousands"):
        if getattr(form, name) != getattr(usual, name):
            found[name] = getattr(form, name)
    if form.columns is not None:
        found["columns"] = list(form.columns)
    if form.missing_values:
        found["missing-values"] = list(form.missing_values)
    return found


def relative(table: Path, directory: Path) -> str:
    """The path of a table as a study in a directory has it; an address of a database stays."""
    if is_postgres(table):
        return str(table)
    try:
        path = Path(os.path.relpath(table.resolve(), directory.resolve()))
    except ValueError:  # another drive
        return table.resolve().as_posix()
    far = path.parts[:FAR] == ("..",) * FAR
    return (table.resolve() if far else path).as_posix()
