"""CSV files into DuckDB, read whole or refused: what it reads otherwise than the strict reader.

DuckDB reads ten times as fast as Python. It forgives a separator at the end of a line, blanks
before a quote, and ends of lines of several kinds: a file that has any goes to the strict reader,
and so does one that DuckDB refuses, for the message that names the line. :class:`Look` tells them,
without parsing.
"""

import csv
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Mask
from anonymizer.tables.files.delimited import csv_header, csv_table
from anonymizer.tables.files.format import UTF8, Format
from anonymizer.tables.files.opening import (
    COMPRESSIONS,
    as_wanted,
    readable,
    require_named,
    table_stream,
)
from anonymizer.tables.relations.embedded.connection import (
    Connection,
    MisreadError,
    literal,
    named_file,
)
from anonymizer.tables.relations.embedded.stored import Stored, StoredColumn

SEPARATORS = ",;\t|"
"""Between fields of files that DuckDB is given."""

READING = "reading the table"

BUFFER = 1 << 24
"""Bytes that a thread of DuckDB parses at a time: the 32 MB by default are too few pieces of a file
of some 100 MB for all threads."""

LINE_FEED, RETURN = ord("\n"), ord("\r")

SEEN = 1 << 20
"""Bytes that are looked at together: few enough that they are still in the cache."""

Signs = NDArray[np.uint8]
"""Characters of a text, or what stands for them in UTF-8, shape (bytes,)."""


class Look:
    """Counts of a file that is not parsed, many lines at a time.

    ``lines`` are the line feeds, ``cuts`` the separators and ``returns`` the carriage returns
    outside of quotes, ``pairs`` those before a line feed, ``empty`` the lines without a field, and
    ``inner`` the line feeds within quotes; ``open`` says whether no line feed ends the last line,
    ``odd`` whether a quote stands elsewhere than at the ends of a field, or doubled within it.
    """

    def __init__(self, form: Format) -> None:
        self._cut = ord(form.separator)
        self._quote = ord(form.quote) if form.quote else None
        self.open = self.odd = self._within = False
        self.returns = self.pairs = self.lines = self.cuts = self.empty = self.inner = 0
        self._first = True

    @property
    def is_regular(self) -> bool:
        """Whether lines end alike, and every quote where a field does."""
        alike = self.returns in (0, self.lines) and self.returns == self.pairs
        return alike and not (self.odd or self._within) and self.lines > 0

    def at(self, text: bytes) -> None:
        """Look at the next lines, each of them whole: arrays compare faster than texts count."""
        if self._first and text.removeprefix(b"\xef\xbb\xbf")[:1] in (b"\r", b"\n"):
            self.odd = True
        self._first = False
        signs = np.frombuffer(text, np.uint8)
        ends, cuts = signs == LINE_FEED, signs == self._cut
        self.open, begins = not ends[-1], not self._within
        within = self._quoted(signs)
        if within is not None:
            self.inner += int(np.count_nonzero(ends & within))
            ends, cuts = ends & ~within, cuts & ~within
        self.lines += int(np.count_nonzero(ends))
        self.cuts += int(np.count_nonzero(cuts))
        if b"\r" in text:
            returns = signs == RETURN if within is None else (signs == RETURN) & ~within
            self.returns += int(np.count_nonzero(returns))
            self.pairs += int(np.count_nonzero(returns[:-1] & ends[1:]))
        self.empty += self._empty(signs, ends, begins)

    def _quoted(self, signs: Signs) -> Mask | None:
        """Which characters are within quotes; None where there are no quotes."""
        if self._quote is None:
            return None
        quotes = signs == self._quote
        if not (self._within or quotes.any()):
            return None
        # Counted modulo 256: only whether the number is odd matters.
        within: Mask = (np.cumsum(quotes, dtype=np.uint8) + np.uint8(self._within)) % 2 == 1
        before = np.concatenate([[LINE_FEED], signs[:-1]])[quotes & within]
        after = np.concatenate([signs[1:], [LINE_FEED]])[quotes & ~within]
        beginning, ending = (self._cut, LINE_FEED, self._quote), (RETURN, self._cut, LINE_FEED)
        self.odd |= not np.isin(before, beginning).all()
        self.odd |= not np.isin(after, (*ending, self._quote)).all()
        self._within = bool(within[-1])
        return within

    def _empty(self, signs: Signs, ends: Mask, begins: bool) -> int:
        """The lines without a field; ``begins``: whether the first one begins with the text."""
        if not (begins and ends[0]) and not (self.returns or (ends[1:] & ends[:-1]).any()):
            return 0
        last = np.flatnonzero(ends)
        first = np.concatenate([[0 if begins else -2], last[:-1] + 1])
        alone = (last - first == 1) & (signs[first] == RETURN)
        return int(np.count_nonzero((last == first) | alone))


Looked = Callable[[], Look]


def csv_scanned(
    connection: Connection, path: Path, form: Format, columns: Sequence[str]
) -> Stored | None:
    """A CSV file that DuckDB reads whenever it is counted; nothing of it is held in memory.

    None where it takes more than counting lines and separators to know that no record is misread:
    where lines are empty, or end within quotes. The number of records that is known is then that of
    the lines, against which each tally is held.
    """
    header = _simple_header(path, form, columns) if is_plain(path, form) else None
    if header is None or not header[-1].strip():
        return None
    connection.reads(path)
    look = looked_at(lines_of(path, form), form)
    records = look.lines + look.open - form.header
    if look.empty or not _is_whole(look, records, len(header), form, parallel=True):
        return None
    names = [each.strip() for each in header]
    require_named(path, names, ())
    held = tuple(StoredColumn(each, pa.string()) for each in names)
    scan = _scan(path, form, len(header), parallel=True)
    return Stored(connection, f"FROM {scan}", held, records)


def csv_stored(
    connection: Connection, paths: Sequence[Path], form: Format, columns: Sequence[str] = ()
) -> Stored:
    """CSV files of the same columns, read into DuckDB; ``columns``: some that the first has."""
    size = sum(path.stat().st_size for path in paths)
    name, names, records = _loaded(SeparatedFile(connection, paths[0], form, size), columns)
    for path in paths[1:]:
        other, others, more = _loaded(SeparatedFile(connection, path, form, 0), ())
        if others != names:
            raise InputError(
                f"cannot read {path}: its columns are not those of {paths[0].name}; write both "
                "files alike"
            )
        shown = ", ".join(f"c{n}" for n in range(len(names)))
        connection.run(f"INSERT INTO {name} SELECT {shown} FROM {other}")
        connection.run(f"DROP TABLE {other}")
        records += more
    held = tuple(StoredColumn(each, pa.string()) for each in names)
    shown = ", ".join(f"c{number}" for number in range(len(names)))
    return Stored(connection, f"SELECT {shown} FROM {name}", held, records)


class SeparatedFile(NamedTuple):
    """A file, and for how many bytes its table needs room at least."""

    connection: Connection
    path: Path
    form: Format
    size: int


def _loaded(source: SeparatedFile, columns: Sequence[str]) -> tuple[str, list[str], int]:
    """The table that a file was read into, the names of its columns, and how many records it has.

    ``columns``: some that it must have.
    """
    path, form = source.path, source.form
    with readable(path, form.encoding):
        found = _fast(source, columns)
        if found is None:
            table = csv_table(path, form, ())
            places = table.rename_columns([f"c{n}" for n in range(table.num_columns)])
            return source.connection.keep(places), table.column_names, table.num_rows
        return found


def _fast(source: SeparatedFile, columns: Sequence[str]) -> tuple[str, list[str], int] | None:
    """Load a file by DuckDB; None where the strict reader has to decide."""
    connection, path, form, _ = source
    header = _simple_header(path, form, columns)
    if header is None:
        return None
    try:
        with looking(connection, path, form) as (plain, looked):
            found = _read(source._replace(path=plain), header, looked)
    except MisreadError:
        return None
    if found is None:
        return None
    names = [each.strip() for each in header]
    return found[0], _without_blank_ends(connection, path, found[0], names), found[1]


def _simple_header(path: Path, form: Format, columns: Sequence[str]) -> list[str] | None:
    """The fields of the first line; None where DuckDB cannot be given the file, or one column.

    InputError where some ``columns`` are not among them.
    """
    try:
        header = csv_header(path, form)
    except csv.Error:
        if columns:
            raise
        return None
    names = as_wanted([each.strip() for each in header], columns)
    if names and not {*columns} <= {*names}:
        named = max((place for place, name in enumerate(names, 1) if name), default=1)
        require_named(path, names[:named], columns, form)
    simple = form.separator in SEPARATORS and form.plain and len(header) > 1 and not form.layout
    return header if simple else None


def _read(source: SeparatedFile, header: Sequence[str], looked: Looked) -> tuple[str, int] | None:
    """Read a file into a table, in parallel where no field may hold the end of a line.

    None where the table is not what the file must have for sure.
    """
    connection, path, form, size = source
    for parallel in (True, False):
        name = connection.room_for(max(size, path.stat().st_size))
        scan = _scan(path, form, len(header), parallel)
        connection.run(f"CREATE TABLE {name} AS FROM {scan}", READING)
        records = connection.number(f"SELECT count(*) FROM {name}")
        look = looked()
        if records and _is_whole(look, records, len(header), form, parallel):
            return name, records
        connection.run(f"DROP TABLE {name}")
        if not look.inner:
            break
    return None


def _is_whole(look: Look, records: int, width: int, form: Format, parallel: bool) -> bool:
    """Whether every line feed and every separator of a file lies between fields or within quotes.

    In parallel a line feed within quotes may be taken for the end of a record.
    """
    rows = records + form.header
    lines = look.lines + look.open - rows
    if not look.is_regular or (parallel and look.inner):
        return False
    return look.cuts == (width - 1) * rows and lines in (0, look.empty)


def _scan(path: Path, form: Format, width: int, parallel: bool) -> str:
    """What reads a file, as SQL has it."""
    columns = ", ".join(f"'c{n}': 'VARCHAR'" for n in range(width))
    texts = ", ".join(f"'c{n}'" for n in range(width))
    quote = literal(form.quote)
    return (
        f"read_csv({named_file(path)}, auto_detect = false, "
        f"delim = {literal(form.separator)}, quote = {quote}, escape = {quote}, "
        f"comment = '', header = {form.header}, "
        f"columns = {{{columns}}}, force_not_null = [{texts}], compression = 'none', "
        "strict_mode = true, null_padding = false, ignore_errors = false, "
        "hive_partitioning = false, "
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
def looking(connection: Connection, path: Path, form: Format) -> Iterator[tuple[Path, Looked]]:
    """Where a file lies as plain UTF-8, and what gives all that is seen of it.

    One that has to be written so is looked at meanwhile, another one while DuckDB reads it.
    """
    if is_plain(path, form):
        connection.reads(path)
        with ThreadPoolExecutor(1) as pool:
            yield path, pool.submit(looked_at, lines_of(path, form), form).result
        return
    with tempfile.NamedTemporaryFile(dir=connection.scratch, suffix=".csv") as plain:
        look = looked_at(_copied(lines_of(path, form), plain), form)
        plain.flush()
        yield Path(plain.name), lambda: look


def looked_at(lines: Iterable[bytes], form: Format) -> Look:
    """Look at lines, given many at a time."""
    look = Look(form)
    for text in lines:
        look.at(text)
    return look


def _copied(lines: Iterable[bytes], file: IO[bytes]) -> Iterator[bytes]:
    for text in lines:
        file.write(text)
        yield text


def is_plain(path: Path, form: Format) -> bool:
    """Whether a file is UTF-8 text from its first byte on."""
    return path.suffix not in COMPRESSIONS and form.encoding == UTF8 and not form.skipped


def lines_of(path: Path, form: Format) -> Iterator[bytes]:
    """The lines of a file, many at a time."""
    with table_stream(path, form.encoding, form.skipped) as stream:
        while block := stream.read(SEEN):
            yield block + stream.readline()
