"""CSV files into DuckDB, read whole or refused: what it reads otherwise than the strict reader.

DuckDB reads ten times as fast as Python. It forgives a separator at the end of a line, blanks
before a quote, and ends of lines of several kinds: a file that has any goes to the strict reader,
and so does one that DuckDB refuses, for the message that names the line.
"""

import csv
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Mask
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


BUFFER = 1 << 24
"""Bytes that a thread of DuckDB parses at a time: the 32 MB by default are too few pieces of a file
of some 100 MB for all threads."""


class Look:
    """What is seen of a file without parsing it, many lines at a time.

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

    @property
    def is_regular(self) -> bool:
        """Whether lines end alike, and every quote where a field does."""
        alike = self.returns in (0, self.lines) and self.returns == self.pairs
        return alike and not self.blanks and self.lines > 0

    def at(self, text: bytes) -> None:
        """Look at the next lines, each of them whole: arrays compare faster than texts count."""
        first = not self.size
        self.size += len(text)
        signs = np.frombuffer(text, np.uint8)
        ends = signs == ord("\n")
        self.open = not ends[-1]
        self.lines += int(np.count_nonzero(ends))
        self.cuts += int(np.count_nonzero(signs == ord(self._form.separator)))
        if b"\r" in text:
            self.returns += text.count(b"\r")
            self.pairs += text.count(b"\r\n")
        if self._quote and self._quote in text:
            self.quotes = True
            near = any(each in text for each in self._near)
            self.blanks = self.blanks or (near and self._blank.search(text) is not None)
        elif text[:1] in (b"\n", b"\r") or self._has_empty(text, ends):
            self.empty += sum(not line for line in text.splitlines())
        if first and text.removeprefix(b"\xef\xbb\xbf")[:1] in (b"\r", b"\n"):
            self.blanks = True

    def _has_empty(self, text: bytes, ends: Mask) -> bool:
        """Whether some line may be empty; a search for two ends takes six times as long."""
        return bool((ends[1:] & ends[:-1]).any()) or (self.returns > 0 and b"\n\r\n" in text)


Looked = Callable[[], Look]


def csv_scanned(connection: Connection, path: Path, form: Format) -> Stored | None:
    """A CSV file that DuckDB reads whenever it is counted; nothing of it is held in memory.

    None where it takes more than counting lines and separators to know that no record is misread:
    where fields are quoted, or lines empty. The number of records that is known is then that of the
    lines, against which each tally is held.
    """
    if form.separator not in SEPARATORS or not form.plain or not _is_plain(path, form):
        return None
    try:
        header = [each.strip() for each in csv_header(path, form)]
    except csv.Error:
        return None
    connection.reads(path)
    look = _look(_lines(path, form), form)
    rows = look.lines + look.open
    whole = look.cuts == rows * (len(header) - 1) and not (look.quotes or look.empty)
    if not (whole and look.is_regular and len(header) > 1 and header[-1]):
        return None
    require_named(path, header, ())
    held = tuple(Column(each, pa.string()) for each in header)
    scan = _scan(path, form, len(header), parallel=True)
    return Stored(connection, f"FROM {scan}", held, rows - form.header)


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
    try:
        with _looking(connection, path, form) as (plain, looked):
            name = _read(connection, plain, form, header, looked)
    except MisreadError:
        return None
    if name is None:
        return None
    return name, _without_blank_ends(connection, path, name, [each.strip() for each in header])


def _read(
    connection: Connection, path: Path, form: Format, header: Sequence[str], looked: Looked
) -> str | None:
    """Read a file into a table, in parallel where no field may hold the end of a line.

    None where the table is not what the file must have for sure: every line feed and every
    separator lies between its fields, or within one.
    """
    if len(header) < 2:
        return None
    for parallel in (True, False):
        name = connection.free_name()
        scan = _scan(path, form, len(header), parallel)
        connection.run(f"CREATE TABLE {name} AS FROM {scan}", READING)
        records = connection.number(f"SELECT count(*) FROM {name}")
        found = Within(connection, name, header, form)
        look = looked()
        if records and look.is_regular and _is_whole(found, look, records, parallel):
            return name
        connection.run(f"DROP TABLE {name}")
        if not look.is_regular:
            break
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


def _scan(path: Path, form: Format, width: int, parallel: bool) -> str:
    """What reads a file, as SQL has it."""
    columns = ", ".join(f"'c{n}': 'VARCHAR'" for n in range(width))
    texts = ", ".join(f"'c{n}'" for n in range(width))
    quote = literal(form.quote)
    return (
        f"read_csv({literal(str(path))}, auto_detect = false, "
        f"delim = {literal(form.separator)}, quote = {quote}, escape = {quote}, "
        f"comment = '', header = {form.header}, "
        f"columns = {{{columns}}}, force_not_null = [{texts}], compression = 'none', "
        f"strict_mode = true, null_padding = false, ignore_errors = false, "
        f"parallel = {parallel}, buffer_size = {BUFFER})"
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


@contextmanager
def _looking(connection: Connection, path: Path, form: Format) -> Iterator[tuple[Path, Looked]]:
    """Where a file lies as plain UTF-8, and what gives all that is seen of it.

    One that has to be written so is looked at meanwhile, another one while DuckDB reads it.
    """
    if _is_plain(path, form):
        connection.reads(path)
        with ThreadPoolExecutor(1) as pool:
            yield path, pool.submit(_look, _lines(path, form), form).result
        return
    with tempfile.NamedTemporaryFile(dir=connection.scratch, suffix=".csv") as plain:
        look = _look(_copied(_lines(path, form), plain), form)
        plain.flush()
        yield Path(plain.name), lambda: look


def _look(lines: Iterable[bytes], form: Format) -> Look:
    look = Look(form)
    for text in lines:
        look.at(text)
    return look


def _copied(lines: Iterable[bytes], file: IO[bytes]) -> Iterator[bytes]:
    for text in lines:
        file.write(text)
        yield text


def _is_plain(path: Path, form: Format) -> bool:
    """Whether a file is UTF-8 text from its first byte on."""
    return path.suffix not in COMPRESSIONS and form.encoding == UTF8 and not form.skipped


def _lines(path: Path, form: Format) -> Iterator[bytes]:
    """The lines of a file, many at a time."""
    with table_stream(path, form.encoding, form.skipped) as stream:
        while block := stream.read(SEEN):
            yield block + stream.readline()
