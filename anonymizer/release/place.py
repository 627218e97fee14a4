"""Where a table lies, and by what it is read there; raw tables for which there is no study yet."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from anonymizer.errors import InputError
from anonymizer.feedback.logs import logged
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.profiling.profile import Raw
from anonymizer.release.document import EMBEDDED, Engine
from anonymizer.tables.files import Format, GivenFormat, describe_file, write_table
from anonymizer.tables.files.foreign import orders_in
from anonymizer.tables.files.format import is_parquet, reported_missing
from anonymizer.tables.files.opening import (
    HEADER,
    PATTERN,
    files_of,
    is_converted,
    is_foreign,
    server_of,
)
from anonymizer.tables.files.parquet import ordered_categories
from anonymizer.tables.relations.relation import Relation

OF_STUDY = "in [data] of the study of the release, and name that with --study"


class Place(NamedTuple):
    """Where a table lies and how it is read.

    ``path`` and ``form``; the ``table`` of a database; ``space``: a directory for what does not fit
    into ``memory``, by default that of the system; ``watch`` is told of the progress; the
    ``engine`` that reads and writes it, and the ``master`` of its cluster; ``once``: whether it is
    counted once, and no more.
    """

    path: Path
    form: Format
    table: str | None = None
    space: Path | None = None
    memory: str | None = None
    watch: Watch = ignore
    engine: Engine = EMBEDDED
    master: str | None = None
    once: bool = False

    @contextmanager
    def opened(self, columns: Sequence[str]) -> Iterator[Relation]:
        """The table where it lies; InputError when it cannot be read, or lacks some columns."""
        with ExitStack() as opened:
            with logged("reading", __name__) as counted:
                table = opened.enter_context(self._stored(columns))
                counted({"columns": len(table.columns)})
            yield table

    def _stored(self, columns: Sequence[str]) -> AbstractContextManager[Relation]:
        if self.engine != EMBEDDED:
            from anonymizer.tables.relations.frames import opened_on  # loads narwhals

            return opened_on(self.engine, self.path, self.form, self.master, columns)
        from anonymizer.tables.relations.embedded.files import opened  # loads duckdb

        return opened(
            self.path,
            self.form,
            columns=columns,
            table=self.table,
            scratch=self.space,
            memory=self.memory,
            watch=self.watch,
            once=self.once,
        )

    @property
    def in_order(self) -> Place:
        """The same, read in this process: records of a cluster come in no order."""
        return self._replace(engine=EMBEDDED, master=None)

    def released(self, path: Path, form: Format) -> Place:
        """Where the released table lies, read with the same means, to be counted once."""
        return self._replace(path=path, form=form, table=None, once=True)


@contextmanager
def held_as_file(table: pd.DataFrame | Relation) -> Iterator[Place]:
    """A table in memory, or of another library, as a file that its owner alone can read.

    InputError where a column has values that no file of Parquet has.
    """
    form = Format(parquet=True)
    with tempfile.TemporaryDirectory(prefix="anonymizer-") as directory:
        path = Path(directory) / "table.parquet"
        try:
            if isinstance(table, pd.DataFrame):
                write_table(table, path, form)
            else:
                table.write(path, form)
        except (TypeError, ValueError):  # as Arrow's own errors are
            raise InputError(
                "the table cannot be written as Parquet; give each column values of one type"
            ) from None
        yield Place(path, form)


def written_as(form: Format, file: str | None) -> Format:
    """The format of a released table: that of the table, or of the ending of a file's name."""
    found = form.released
    if file is None:
        return found
    path = Path(file)
    program = path.suffix if is_foreign(path) else ""
    return replace(found, parquet=is_parquet(path) or bool(program), program=program)


@contextmanager
def as_study(
    study: object | None, otherwise: Callable[[InputError], str | None] = lambda error: None
) -> Iterator[None]:
    """Say where a key of ``[data]`` goes in a command where no study is given.

    ``otherwise``: the remedy of an error whose key has an option, say; None for the study.
    """
    try:
        yield
    except InputError as error:
        if study is not None or error.section != "data":
            raise
        remedy = "" if error.key == HEADER else otherwise(error)
        raise (error if remedy is None else error.mended(remedy)).where(OF_STUDY) from None


OPTIONS = {
    **{
        key: key
        for key in ("table", "columns", "separator", "quote", "encoding", "thousands", "layout")
    },
    HEADER: "columns",
}
"""The options of commands without a study by the keys of ``[data]``."""


@contextmanager
def as_options() -> Iterator[None]:
    """Say where a key of ``[data]`` goes in a command without a study."""
    try:
        yield
    except InputError as error:
        if error.section != "data" or error.key not in OPTIONS:
            raise
        option = f"here that is an option, such as --{OPTIONS[error.key]}"
        raise error.mended("; ".join(filter(None, (error.remedy, option)))) from None


STUDY_FILE, HIERARCHIES = "study.toml", "hierarchies"
"""What a directory of a study has."""

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
        # Parquet has categories that are ordered, by the first of its files; SPSS and Arrow, too.
        ordered = form.parquet and not is_converted(table)
        orders = ordered_categories(files_of(table)[0]) if ordered else {}
        if is_foreign(table):
            orders = orders_in(table, database_table)
        yield Raw.stored(stored, form, orders)


def written(form: Format) -> dict[str, Any]:
    """The keys of ``[data]`` that say how a table is written, as far as a reader may doubt it."""
    if form.parquet:
        declared = reported_missing(form.missing_values)
        return {"missing-values": declared} if declared else {}
    usual = type(form)(False)
    found: dict[str, Any] = {"separator": form.separator}
    for name in ("encoding", "quote", "decimal", "thousands"):
        if getattr(form, name) != getattr(usual, name):
            found[name] = getattr(form, name)
    if form.layout is not None:
        places = {name: [begin + 1, end] for name, begin, end in form.layout}
        of_csv = ("separator", "quote")
        return {"layout": places, **{key: found[key] for key in found if key not in of_csv}}
    if form.columns is not None:
        found["columns"] = list(form.columns)
    if form.missing_values:
        found["missing-values"] = reported_missing(form.missing_values)
    return found


def relative(table: Path, directory: Path) -> str:
    """The path of a table as a study in a directory has it; an address of a database stays."""
    if server_of(table):
        return str(table)
    try:
        path = Path(os.path.relpath(table.resolve(), directory.resolve()))
    except ValueError:  # another drive
        return table.resolve().as_posix()
    far = path.parts[:FAR] == ("..",) * FAR
    return (table.resolve() if far else path).as_posix()


def require_room(directory: Path, *, force: bool) -> None:
    """Refuse a directory that holds a study, before anything is read for another one."""
    there = [name for name in (STUDY_FILE, HIERARCHIES) if (directory / name).exists()]
    if there and not force:
        raise InputError(f"{directory} already holds a study, {there[0]}; --force replaces it")
    _require_drafted(directory)


def _require_drafted(directory: Path) -> None:
    """Refuse to replace hierarchies among which there is a file that no draft writes."""
    place = directory / HIERARCHIES
    others = (
        [path.name for path in place.iterdir() if path.suffix != ".toml"]
        if (place.is_dir())
        else []
    )
    if others:
        raise InputError(
            f"{place} holds {min(others)!r}, which is not of a drafted study and would be lost; "
            "choose another directory"
        )
