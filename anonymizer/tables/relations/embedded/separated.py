"""CSV files into DuckDB, read whole or refused: what it reads otherwise than the strict reader.

DuckDB reads ten times as fast as Python. It forgives a separator at the end of a line, blanks
before a quote, and ends of lines of several kinds: a file that has any goes to the strict reader,
and so does one that DuckDB refuses, for the message that names the line.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.tables.files.delimited import csv_header, csv_table
from anonymizer.tables.files.format import UTF8, Format
from anonymizer.tables.files.opening import COMPRESSIONS, readable, require_named, table_stream
from anonymizer.tables.relations.embedded.connection import Connection, MisreadError, literal
from anonymizer.tables.relations.embedded.stored import Column, Stored

SEPARATORS = ",;\t|"
"""Between fields of files that DuckDB is given."""

READING = "reading the table"

SEEN = 1 << 20
"""Bytes that are looked at together: few enough that they are still in the cache."""


class Look:
    """What is seen of a file without parsing it, a block at a time.

    ``cuts`` are the separators, ``empty`` the lines without a field, ``returns`` and ``lines``
    carriage returns and line feeds, ``pairs`` one after the other; ``open`` says whether no line
    feed ends the last line.
    """

    def __init__(self, form: Format) -> None:
        self._form = form
        self._quote = form.quote.encode()
        around = re.escape(form.separator.encode()) + b"\\r\\n"
        quote = re.escape(self._quote)
        self._blank = re.compile(
            b"(?:^|[%s])[ \\t]+%s|%s[ \\t]+(?:[%s]|$)" % (around, quote, quote, around)
        )
        blanks = (b" ", b"\t")
        self._near = [pair for each in blanks for pair in (each + self._quote, self._quote + each)]
        self.quotes = self.blanks = self.open = False
        self.returns = self.pairs = self.lines = self.cuts = self.empty = self.size = 0
        self._rest = b""

    def at(self, block: bytes) -> None:
        """Look at the next block, up to the last line that is whole."""
        whole = self._rest + block if self._rest else block
        end = whole.rfind(b"\n") + 1
        self._rest = whole[end:]
        self._see(whole[:end] if self._rest else whole)

    def finished(self) -> "Look":
        """Look at what is left at the end: a line that no line feed ends."""
        rest, self._rest = self._rest, b""
        self._see(rest)
        self.open = bool(rest)
        return self

    @property
    def is_regular(self) -> bool:
        """Whether lines end alike, and every quote where a field does."""
        alike = self.returns in (0, self.lines) and self.returns == self.pairs
        return alike and not self.blanks and self.lines > 0

    def _see(self, text: bytes) -> None:
        """Look at lines that are whole; comparing arrays takes a third of the time of counting."""
        first = not self.size
        self.size += len(text)
        signs = np.frombuffer(text, np.uint8)
        self.lines += int(np.count_nonzero(signs == ord("\n")))
        self.cuts += int(np.count_nonzero(signs == ord(self._form.separator)))
        if b"\r" in text:
            self.returns += text.count(b"\r")
            self.pairs += text.count(b"\r\n")
        if self._quote and self._quote in text:
            self.quotes = True
            near = any(each in text for each in self._near)
            self.blanks = self.blanks or (near and self._blank.search(text) is not None)
        elif b"\n\n" in text or b"\n\r\n" in text or text[:1] in (b"\n", b"\r"):
            self.empty += sum(not line for line in text.splitlines())
        if first and text.removeprefix(b"\xef\xbb\xbf")[:1] in (b"\r", b"\n"):
            self.blanks = True


def csv_stored(connection: Connection, paths: Sequence[Path], form: Format) -> Stored:
    """CSV files of the same columns, read into DuckDB."""
    name, names = _loaded(connection, paths[0], form)
    for path in paths[1:]:
        other, others = _loaded(connection, path, form)
        if others != names:
            raise InputError(
                f"cannot read {path}: its columns are not those of {paths[0].name}; write both "
                "files alike"
            )
        shown = ", ".join(f"c{n}" for n in range(len(names)))
        connection.run(f"INSERT INTO {name} SELECT {shown} FROM {other}")
        connection.run(f"DROP TABLE {other}")
    held = tuple(Column(each, pa.string()) for each in names)
    shown = ", ".join(f"c{number}" for number in range(len(names)))
    records = connection.number(f"SELECT count(*) FROM {name}")
    return Stored(connection, f"SELECT {shown} FROM {name}", held, records)


def _loaded(connection: Connection, path: Path, form: Format) -> tuple[str, list[str]]:
    """The table that a file was read into, and the names of its columns."""
    with readable(path, form.encoding):
        return _read_in(connection, path, form)


def _read_in(connection: Connection, path: Path, form: Format) -> tuple[str, list[str]]:
    found = _fast(connection, path, form)
    if found is None:
        table = csv_table(path, form, ())
        places = table.rename_columns([f"c{n}" for n in range(table.num_columns)])
        return connection.keep(places), table.column_names
    return found


def _fast(connection: Connection, path: Path, form: Format) -> tuple[str, list[str]] | None:
    """The same by DuckDB; None where the strict reader has to decide."""
    if form.separator not in SEPARATORS or not form.plain:
        return None
    try:
        header = csv_header(path, form)
    except csv.Error:
        return None
    plain, look = _looked_at(connection, path, form)
    try:
        name = _read(connection, plain, form, header, look)
    except MisreadError:
        return None
    finally:
        if plain != path:
            plain.unlink()
    if name is None:
        return None
    return name, _without_blank_ends(connection, path, name, [each.strip() for each in header])


def _read(
    connection: Connection, path: Path, form: Format, header: Sequence[str], look: Look
) -> str | None:
    """Read a file into a table, in parallel where no field may hold the end of a line.

    None where the table is not what the file must have for sure: every line feed and every
    separator lies between its fields, or within one.
    """
    if len(header) < 2 or not look.is_regular:
        return None
    for parallel in (True, False):
        name = connection.free_name()
        connection.run(_loading(name, path, form, len(header), parallel), READING)
        records = connection.number(f"SELECT count(*) FROM {name}")
        found = Within(connection, name, header, form)
        if records and _is_whole(found, look, records, parallel):
            return name
        connection.run(f"DROP TABLE {name}")
    return None


class Within(NamedTuple):
    """A table that was read of a file with a header."""

    connection: Connection
    name: str
    header: Sequence[str]
    form: Format

    def fields(self, sign: str) -> int:
        """How often a character stands within fields, those of the header included."""
        signs = " + ".join(
            f"length(c{n}) - length(replace(c{n}, chr({ord(sign)}), ''))"
            for n in range(len(self.header))
        )
        named = sum(each.count(sign) for each in self.header) if self.form.header else 0
        return named + self.connection.number(f"SELECT sum({signs}) FROM {self.name}")


def _is_whole(table: Within, look: Look, records: int, parallel: bool) -> bool:
    """Whether every line feed and every separator of a file is found again."""
    rows = records + table.form.header
    lines = look.lines + look.open - rows
    cuts = look.cuts - (len(table.header) - 1) * rows
    if not look.quotes:
        return cuts == 0 and lines in (0, look.empty)
    if lines and (parallel or lines != table.fields("\n")):
        return False
    return cuts == 0 or cuts == table.fields(table.form.separator)


def _loading(name: str, path: Path, form: Format, width: int, parallel: bool) -> str:
    """The statement that reads a file into a table."""
    columns = ", ".join(f"'c{n}': 'VARCHAR'" for n in range(width))
    texts = ", ".join(f"'c{n}'" for n in range(width))
    quote = literal(form.quote)
    return (
        f"CREATE TABLE {name} AS FROM read_csv({literal(str(path))}, auto_detect = false, "
        f"delim = {literal(form.separator)}, quote = {quote}, escape = {quote}, "
        f"comment = '', header = {form.header}, "
        f"columns = {{{columns}}}, force_not_null = [{texts}], compression = 'none', "
        f"strict_mode = true, null_padding = false, ignore_errors = false, "
        f"parallel = {parallel})"
    )


def _without_blank_ends(
    connection: Connection, path: Path, name: str, names: list[str]
) -> list[str]:
    """The names of the columns without those at the end that have neither a name nor a value."""
    while len(names) > 1 and not names[-1]:
        if connection.number(f"SELECT count(*) FROM {name} WHERE c{len(names) - 1} <> ''"):
            break
        names = names[:-1]
    require_named(path, names, ())
    return names


def _looked_at(connection: Connection, path: Path, form: Format) -> tuple[Path, Look]:
    """What is seen of a file, and where it lies as plain UTF-8: it may have to be written so."""
    look = Look(form)
    if path.suffix not in COMPRESSIONS and form.encoding == UTF8 and not form.skipped:
        for block in _blocks(path, form):
            look.at(block)
        connection.reads(path)
        return path, look.finished()
    plain = connection.scratch / f"{connection.free_name()}.csv"
    with plain.open("wb") as file:
        for block in _blocks(path, form):
            look.at(block)
            file.write(block)
    return plain, look.finished()


def _blocks(path: Path, form: Format) -> Iterator[bytes]:
    with table_stream(path, form.encoding, form.skipped) as stream:
        while block := stream.read(SEEN):
            yield block
