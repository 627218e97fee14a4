"""What the start of a table file shows of how it is written, where nothing else is possible.

Every rule is about the first 64 KiB, and finds nothing where two readings are possible: the message
or the doubt then names the key that decides. Files that are no CSV and no Parquet are known by how
they begin; the message says how to convert them.
"""

import codecs
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from anonymizer.errors import InputError, near_file
from anonymizer.tables.files.format import (
    ABSENT,
    UTF8,
    Format,
    GivenFormat,
    MissingValues,
    are_numbers,
    both_marks,
    is_decimal_comma,
    is_parquet,
    is_plain_number,
    may_be_marked,
    may_be_thousands,
    missing_texts,
)
from anonymizer.tables.files.opening import (
    files_of,
    is_converted,
    is_foreign,
    no_text,
    readable,
    require_near,
    table_stream,
)
from anonymizer.tables.reading import dialect, separator_of

SEPARATORS = ",;\t|"

SNIFFED = 64 * 1024

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""The longer ones first: that of UTF-32 begins with that of UTF-16."""

COUNTS_SUFFIX = ".counts"
"""What the names of files of counts end in."""

SPREADSHEET_SEPARATOR = re.compile(r"sep=(.)(\r\n?|\n|$)", re.IGNORECASE)
"""A first line by which Excel knows the separator."""

WRAPPED = re.compile(r"\s*'[^']*(?:''[^']*)*'\s*")

MAGIC = (
    (b"PAR1", "it is Parquet; give it a name that ends in .parquet"),
    (b"\x1f\x8b", "it is compressed; give it a name that ends in .gz, such as {name}.gz"),
    (b"BZh", "it is compressed; give it a name that ends in .bz2, such as {name}.bz2"),
    (b"\x28\xb5\x2f\xfd", "it is compressed; give it a name that ends in .zst, such as {name}.zst"),
    (b"\xd0\xcf\x11\xe0", "it is an Excel workbook; give it a name that ends in .xls"),
    (b"%PDF", "it is a PDF document; export its table as CSV"),
    (b"7z\xbc\xaf", "it is an archive; unpack it and name the table in it"),
    (b"ARROW1", "it is of Arrow; give it a name that ends in .arrow"),
    (b"ORC", "it is ORC; {orc}"),
    (b"$FL2", "it is an SPSS file; give it a name that ends in .sav"),
    (b"$FL3", "it is an SPSS file; give it a name that ends in .zsav"),
    (b"<stata_dta>", "it is a Stata file; give it a name that ends in .dta"),
    (b"RDX", "it is a file of R; write the table by write.csv"),
)
"""How a file begins, and what is said of it; ``{json}`` and the like are ``READERS``."""

SUFFIXES = {
    ".json": "it is JSON; {json}",
    ".orc": "it is ORC; {orc}",
    ".rds": "it is a file of R; write the table by write.csv",
    ".rda": "it is a file of R; write the table by write.csv",
    ".rdata": "it is a file of R; write the table by write.csv",
}
"""Message about a file, by the ending of its name."""

READERS = {
    "json": "read_json({name!r})",
    "orc": "read_orc({name!r})",
}
"""Functions of pandas that read what this package does not."""

JSON = re.compile(rb"\s*(?:\[\s*)*[{\[]\s*(?:\"[^\"]*\"\s*:|\{|\})")

MARKUP = re.compile(rb"\s*<(?:!doctype html|html|head|\?xml)", re.IGNORECASE)

WORKBOOK = (b"xl/", b"[Content_Types].xml", b"mimetypeapplication/vnd.oasis")


LONGEST_CODE = 8
"""Digits of a line beyond which they are hardly one number."""


class Numerals(NamedTuple):
    """The marks of numbers, and what is open about those of some columns."""

    decimal: str
    thousands: str
    doubts: Mapping[str, str] = MappingProxyType({})


def describe_file(
    path: Path, given: GivenFormat | None = None, expected: Sequence[str] = ()
) -> Format:
    """How a table lies in a file: as given, else as its name and its first lines show.

    Of several files of a folder or a pattern it is the first one. A table in a database is released
    as one in Parquet is.

    A file whose first line names all ``expected`` columns has a header line, whatever it looks
    like. ``doubts`` of the result says what may be otherwise.

    InputError when there is no such file, or it is another kind of file than a table.
    """
    given = given or GivenFormat()
    require_near(path)
    if is_converted(path):
        if is_foreign(path):
            _require_file(path)
        return Format(True, missing_values=given.missing_values)
    path = files_of(path)[0]
    _require_file(path)
    if is_parquet(path):
        return Format(True, missing_values=given.missing_values)
    start = start_of(path)
    require_table(path, start)
    found = encoding_of(start)
    encoding = Format(False, encoding=given.encoding or found).encoding
    # Which UTF-16 it is shows in the bytes, where only that is given.
    encoding = found if encoding == "utf-16" and found.startswith(encoding) else encoding
    try:
        text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(start)
        text, cut = text.removeprefix("\ufeff"), len(start) == SNIFFED
        return _described(text, cut, encoding, given, expected)
    except InputError as error:
        raise error.at(f"cannot read {path}: ") from None
    except UnicodeError as error:  # UTF-16 without a byte order mark
        raise no_text(encoding, error).at(f"cannot read {path}: ") from None


def release_format(
    path: Path, separator: str | None = None, missing_values: MissingValues = ()
) -> Format:
    """The format of a released table: nothing but its separator is to be found."""
    path = files_of(path)[0]
    _require_file(path)
    if is_foreign(path):
        return Format(True, missing_values=missing_values, program=path.suffix.lower())
    if is_parquet(path):
        return Format(True, missing_values=missing_values)
    if separator is None:
        text = start_of(path).decode("utf-8-sig", errors="replace")
        separator = separator_of(_lines(text, len(text) >= SNIFFED), SEPARATORS)
    return Format(False, separator, missing_values)


def _require_file(path: Path) -> None:
    try:
        exists, is_file = path.exists(), path.is_file()
    except (OSError, ValueError):
        raise InputError(f"cannot read {str(path)!r}: no file has such a name") from None
    if path.suffix == COUNTS_SUFFIX and is_file:
        raise InputError(
            f"{path} holds counts, not the records that this needs: `anonymizer run --counts` adds "
            "those of parts, `anonymizer verify` counts those of a release again"
        )
    if path.is_dir():
        raise InputError(f"there is no table in {path}: it is a directory; name a file in it")
    if not is_file:
        if any(sign in str(path) for sign in "\t\n\r\b\f"):  # as TOML has read a backslash
            raise InputError(
                f"there is no file {str(path)!r}: \\t, \\n and the like are other signs in double "
                "quotes; use single ones, or /"
            )
        what = "table in" if exists else "file"
        raise InputError(f"there is no {what} {path}{near_file(path)}")


def start_of(path: Path) -> bytes:
    """The first bytes of a file, decompressed."""
    with readable(path), table_stream(path) as stream:
        return stream.read(SNIFFED)


def encoding_of(start: bytes) -> str:
    """The Unicode encoding that the first bytes show; UTF-8 where they show no other.

    A byte order mark decides. UTF-16 without one has a zero in every other place of plain text.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if start.startswith(mark):
            return encoding
    zeros = [part.count(0) / max(len(part), 1) for part in (start[::2], start[1::2])]
    if max(zeros) > 0.5 and min(zeros) < 0.05:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return UTF8


def _described(
    text: str, cut: bool, encoding: str, given: GivenFormat, expected: Sequence[str]
) -> Format:
    """A CSV file by the text that it begins with."""
    if given.layout is not None:
        marks = Numerals(given.decimal or ".", given.thousands or "")
        return Format(
            *(False, ",", given.missing_values, encoding, "", marks.decimal, marks.thousands),
            columns=tuple(name for name, _, _ in given.layout),
            layout=given.layout,
        )
    first = SPREADSHEET_SEPARATOR.match(text)
    lines = _lines(text[first.end() :] if first else text, cut)
    quote = _quote(lines, given)
    separator = given.separator or (first and first[1]) or separator_of(lines, SEPARATORS, quote)
    if not (given.separator or first or any(separator in line for line in lines)):
        separator = _blank_between(lines, quote, expected) or separator
    form = Format(False, separator, given.missing_values, encoding, quote, skipped=int(bool(first)))
    columns, header_doubts = _columns(lines, form, given, expected)
    marks = _numerals(lines, columns, form, given)
    for name in expected:
        if name in marks.doubts:
            raise InputError(marks.doubts[name], section="data", key="thousands")
    return Format(
        *(False, separator, given.missing_values, encoding, quote, marks.decimal),
        *(marks.thousands, columns, form.skipped),
        doubts=(*header_doubts, *marks.doubts.values()),
    )


def _lines(text: str, cut: bool) -> list[str]:
    """The lines of a text that are whole; all of it where none is."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" or (cut and len(lines) > 1) else lines


def _blank_between(lines: Sequence[str], quote: str, expected: Sequence[str]) -> str:
    """A blank, where it cuts every line alike; nothing where lines are of one column.

    InputError where they seem to have columns of a fixed width, which no separator tells.
    """
    filled = [line for line in lines if line.strip()]
    if len(filled) < 2 or filled[0].strip() in expected:
        return ""
    if _cut_by_blanks(filled, quote):
        return " "
    alike = len({len(line) for line in filled}) == 1
    spaced = sum("  " in line.strip() or line[:1] == " " for line in filled) > len(filled) / 2
    first = filled[0].strip()
    number = is_plain_number(first) and len(first) < LONGEST_CODE
    record = " " in first or (not number and any(sign.isdigit() for sign in first))
    if spaced or (alike and record):
        raise InputError(
            "its lines have no separator",
            "if its columns are of a fixed width, set layout = { age = [1, 3], sex = 4 } in "
            '[data], by the places of their characters; if it has one column, set separator = ","',
            section="data",
            key="layout",
        )
    return ""


def _cut_by_blanks(lines: Sequence[str], quote: str) -> bool:
    """Whether single blanks cut every line into as many fields, as words of a text hardly are.

    There are three or more, or numbers in some place. R writes one less into the first line.
    """
    try:
        first, *rows = csv.reader(lines, **dialect(" ", quote))
    except csv.Error:
        return False
    width = len(rows[0]) if rows else 0
    if any("" in row for row in (first, *rows)) or any(len(row) != width for row in rows):
        return False
    numbers = any(are_numbers([row[n] for row in rows], ".", "", ABSENT) for n in range(width))
    return width > 1 and len(first) in (width, width - 1) and (numbers or width > 2)


def _rows(lines: Sequence[str], form: Format) -> Iterator[list[str]]:
    """The rows of some lines that are not empty, blanks around fields stripped."""
    with suppress(csv.Error):  # a field beyond Python's limit, say: the reading proper says more
        for row in csv.reader(lines, **form.dialect):
            if row:
                yield [field.strip() for field in row]


def _quote(lines: Sequence[str], given: GivenFormat) -> str:
    """Single quotes where no line has a double one, and some field of every line is within them.

    The first line may be without: then it is a header.
    """
    if given.quote is not None:
        return given.quote
    text = "\n".join(lines)
    if '"' in text or "'" not in text:
        return '"'
    separator = given.separator or separator_of(lines, SEPARATORS, "'")
    rows = [row for row in (_outside(line, separator) for line in lines[1:]) if row]
    places = range(min(map(len, rows), default=0))
    wrapped = any(all(WRAPPED.fullmatch(row[place]) for row in rows) for place in places)
    return "'" if wrapped and len({len(row) for row in rows}) == 1 else '"'


def _outside(line: str, separator: str) -> list[str]:
    """The fields of a line, cut where no single quote is open, quotes left on."""
    cut = re.escape(separator)
    return re.findall(rf"(?:^|{cut})(\s*'(?:[^']|'')*'\s*(?={cut}|$)|[^{cut}]*)", line)


def _columns(
    lines: Sequence[str], form: Format, given: GivenFormat, expected: Sequence[str]
) -> tuple[tuple[str, ...] | None, list[str]]:
    """The names of the columns where the file has none, and what is open about that."""
    first = next(_rows(lines, form), [])
    named = bool(expected) and {*expected} <= {*first}
    if given.columns is not None:
        return (None if named or {*given.columns} <= {*first} else _listed(lines, form, given)), []
    if named:
        return None, []
    if not any(map(is_plain_number, first)):
        return None, []
    rows = list(_rows(lines, form))
    sure = is_record(first, rows[1:], (*ABSENT, *missing_texts(form.missing_values)))
    if sure is None:
        return None, [
            "its first line has numbers where a header has names; if it is a record, "
            'set columns = ["age", ...] in [data]'
        ]
    return (_numbered(rows) if sure else None), []


def _listed(lines: Sequence[str], form: Format, given: GivenFormat) -> tuple[str, ...] | None:
    """The names that are given; InputError where the file has other names in its first line."""
    first, *rest = [*_rows(lines, form)] or [[]]
    absent = (*ABSENT, *missing_texts(form.missing_values))
    texts = [place for place, field in enumerate(first) if field not in absent]
    above = [
        not is_plain_number(first[place])
        for place in texts
        if are_numbers((row[place] for row in rest if place < len(row)), ".", "", absent)
    ]
    again = any(place < len(row) and first[place] == row[place] for row in rest for place in texts)
    if any(above) and all(above) and not again:
        raise InputError(
            "its first line names the columns already",
            "leave out columns in [data], or remove that line",
            section="data",
            key="columns",
        )
    return given.columns


def _numbered(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Names for the columns of a file that names none: column-1, column-2 ...

    A last one without any value has no name: every line ends in a separator.
    """
    names = [f"column-{place}" for place in range(1, len(rows[0]) + 1)]
    if not any(row[-1] for row in rows):
        names[-1] = ""
    return tuple(names)


def is_record(
    first: Sequence[str], rest: Sequence[Sequence[str]], absent: Sequence[str]
) -> bool | None:
    """Whether the first line of a file is a record; None where it may be one or a header.

    No header has a number that is negative or has decimals above a column of numbers, nor a number
    together with a text that its own column has again.
    """
    numbers = [place for place, field in enumerate(first) if is_plain_number(field)]
    columns = {place: [row[place] for row in rest if place < len(row)] for place in numbers}
    numbers = [place for place in numbers if are_numbers(columns[place], ".", "", absent)]
    if not numbers:
        return False
    if any(not first[place].isdigit() for place in numbers):
        return True
    texts = [place for place in range(len(first)) if not is_plain_number(first[place])]
    again = any(
        place < len(row) and first[place] == row[place]
        for place in texts
        if first[place]
        for row in rest
    )
    return True if again else None


def _numerals(
    lines: Sequence[str], columns: tuple[str, ...] | None, form: Format, given: GivenFormat
) -> Numerals:
    """The marks of numbers: as given, else where one column leaves no other reading.

    Both marks in one number show which is which. A comma alone is a decimal one where fields are
    not separated by commas, and digits after it are no group of three.
    """
    text = "\n".join(lines)
    if form.separator == "," and not (form.quote and form.quote in text):
        text = text.replace(",", "\n")  # they separate fields
    if not may_be_marked(text):
        other = {",": ".", ".": ","}.get(given.thousands or "", ".")
        return Numerals(given.decimal or other, given.thousands or "")
    # The columns of the rows that are as long as the header, by its names.
    rows = list(_rows(lines, form))
    header, *rows = (rows or [[]]) if columns is None else [[*columns], *rows]
    whole = [row for row in rows if len(row) == len(header)]
    cut = dict(zip(header, zip(*whole, strict=True), strict=False))
    return _found(cut, form, given, (*ABSENT, *missing_texts(given.missing_values)))


def _found(
    columns: Mapping[str, Sequence[str]], form: Format, given: GivenFormat, absent: Sequence[str]
) -> Numerals:
    """The marks by what some column shows for sure, and what others leave open."""
    decimal, thousands = given.decimal, given.thousands
    for column in columns.values():
        for found in both_marks(column, absent):
            if decimal in (None, found[0]) and thousands in (None, found[1]):
                decimal, thousands = found
    if decimal is None and thousands in (",", "."):
        decimal = "," if thousands == "." else "."
    if decimal is None and form.separator != ",":
        sure = any(is_decimal_comma(column, absent) for column in columns.values())
        decimal = "," if sure else None
    doubts = {} if thousands is not None else dict(_doubts(columns, decimal, absent))
    return Numerals(decimal or ".", thousands or "", doubts)


def _doubts(
    columns: Mapping[str, Sequence[str]], decimal: str | None, absent: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Columns of numbers that may be a thousand times what they seem, and what decides it."""
    mark, called = (".", "point") if decimal == "," else (",", "comma")
    for name, column in columns.items():
        if may_be_thousands(column, mark, absent):
            other = "" if decimal == "," else f"decimal = {mark!r} if it is a decimal mark, or "
            yield (
                name,
                f"column {name!r} has numbers with a {called} before three digits: set thousands = "
                f'{mark!r} in [data] if it marks thousands, {other}thousands = "" if neither',
            )


def require_table(path: Path, start: bytes) -> None:
    """Require that a file is no file of another kind; InputError says how to convert it."""
    said = _kind(path, start)
    if said:
        converters = {
            name: f"convert it, such as by pandas.{call.format(name=path.name)}.to_parquet("
            f"{path.stem + '.parquet'!r})"
            for name, call in READERS.items()
        }
        raise InputError(f"cannot read {path}: {said.format(name=path.name, **converters)}")


def _kind(path: Path, start: bytes) -> str:
    """Message about a file that is no table, by its start or its name; empty if it is one."""
    start = start.removeprefix(b"\xef\xbb\xbf")
    if start.startswith(b"PK\x03\x04"):  # a workbook is a zip archive, too
        if any(mark in start[:2000] for mark in WORKBOOK):
            return "it is a workbook; give it a name that ends in .xlsx or .ods"
        return "it is a zip archive; unpack it and name the table in it"
    known = next((said for magic, said in MAGIC if start.startswith(magic)), "")
    if known:
        return known
    if MARKUP.match(start):
        return "it is a page of HTML or XML, perhaps of an error or a login, and no table"
    if path.suffix.lower() in SUFFIXES:
        return SUFFIXES[path.suffix.lower()]
    return SUFFIXES[".json"] if JSON.match(start) else ""
