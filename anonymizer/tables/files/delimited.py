"""CSV files, read whole or refused; tables of any format written so that they read back alike."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pandas as pd
import pyarrow as pa
import pyarrow.csv

from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.tables.files.format import Format, Layout, with_plain_numbers
from anonymizer.tables.files.opening import as_wanted, require_named, table_stream
from anonymizer.tables.files.parquet import write_parquet
from anonymizer.tables.reading import COLUMNS, LINE

BLOCK = 16 * 1024 * 1024
"""Bytes that CSV is read by; a record must fit in."""

COMMENT = ("#", "%", "//")
"""How programs begin lines that are no part of a table."""

LONGEST_NAME = 10_000
"""Letters of a column's name: a whole question may be one, a whole table is none."""


def write_table(frame: pd.DataFrame, path: Path, form: Format) -> None:
    """Write a table in a format: its values, and nothing else that lies with them in memory.

    CSV is UTF-8 with a header line, the separator of the format, and double quotes.
    """
    if form.parquet:
        write_parquet(frame, path)
        return
    # Python's writer leaves a lone carriage return bare, which readers take for the end of a line;
    # and what looks like another separator within a single column would be taken for one.
    texts = [frame[name] for name in frame.columns if pd.api.types.is_string_dtype(frame[name])]
    returns = any(column.str.contains("\r", regex=False).any() for column in texts)
    quoted = len(frame.columns) == 1 or returns
    quoting: Literal[0, 1] = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    frame.to_csv(path, sep=form.separator, index=False, lineterminator="\n", quoting=quoting)


def csv_columns(path: Path, form: Format) -> list[str]:
    """The columns of a CSV file, by its first line that is not empty."""
    return [name.strip() for name in csv_header(path, form)]


def csv_header(path: Path, form: Format) -> list[str]:
    """The columns as they stand there, with blanks around them."""
    if form.layout is not None:
        return [name for name, _, _ in form.layout]
    with _long_fields(), _text_stream(path, form) as text:
        header = _header(path, csv.reader(text, strict=True, **form.dialect))
        return header if form.columns is None else [*form.columns]


def csv_table(path: Path, form: Format, columns: Sequence[str]) -> pa.Table:
    """Read CSV twice: strictly, to refuse what is not CSV, and fast, for the table.

    The fast parser forgives a quote that is left open and takes the records up to the next one
    for a single field; the strict one does not. Both must find the same number of records. A file
    without any quote has a record a line, and counting lines is all that the strict reading has to
    do then: both refuse a line of more or fewer fields.

    Columns at the end that have neither a name nor a value are left out: every line of the file
    ends in separators.
    """
    if form.layout is not None:
        return _by_places(path, form, form.layout, columns)
    header, records = _unquoted(path, form) or _strictly(path, form)
    names = [name.strip() for name in header]
    blank = len(names) - max((place for place, name in enumerate(names, 1) if name), default=1)
    names = as_wanted(names, columns)
    require_named(path, names[: len(names) - blank], columns, form)
    try:
        table = _fast(path, form, header)
    except pa.ArrowInvalid:
        _strictly(path, form)  # says which line it is, and what of it
        raise
    if table.num_rows != records or table.column_names != header:
        raise InputError(f"cannot read {path}: its records cannot be told apart for sure")
    while blank:
        if not {*table.column(len(names) - 1).unique().to_pylist()} <= {"", None}:
            break
        table, names, blank = table.remove_column(len(names) - 1), names[:-1], blank - 1
    require_named(path, names, ())
    if not form.plain:
        table = with_plain_numbers(table, form)
    return table.rename_columns(names)


def _by_places(path: Path, form: Format, layout: Layout, columns: Sequence[str]) -> pa.Table:
    """A file of columns of a fixed width; a line that ends before the last one is refused."""
    names = as_wanted([name for name, _, _ in layout], columns)
    require_named(path, names, columns, form)
    cells: list[list[str]] = [[] for _ in layout]
    last = max(begin for _, begin, _ in layout)
    with _text_stream(path, form) as text:
        for number, line in enumerate(text, 1):
            line = line.rstrip("\r\n")
            if not line.strip():
                continue
            if len(line) <= last:
                raise InputError(
                    f"cannot read {path}: line {number} has {plural(len(line), 'character')}, and "
                    f"a column of layout begins at {last + 1}; correct layout in [data], or pad "
                    "the line"
                )
            for cell, (_, begin, end) in zip(cells, layout, strict=True):
                cell.append(line[begin:end].strip())
    if not cells[0]:
        raise InputError(f"cannot read {path}: it is empty")
    table = pa.table([pa.array(cell, pa.string()) for cell in cells], names=names)
    return table if form.plain else with_plain_numbers(table, form)


def _fast(path: Path, form: Format, header: Sequence[str]) -> pa.Table:
    names = None if form.header else header
    with table_stream(path, form.encoding, form.skipped) as stream:
        return pyarrow.csv.read_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(
                block_size=max(BLOCK, LINE.value), column_names=names
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=form.separator, quote_char=form.quote or False, newlines_in_values=True
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
            ),
        )


def _unquoted(path: Path, form: Format) -> tuple[list[str], int] | None:
    """The header and the number of records of a file that has no quote and no empty line.

    None where it may have one, or ends lines otherwise than by a line feed. Counting line feeds
    takes 8 ms where the strict reader takes 33 (30,000 records of nine fields).
    """
    lines, last, quote = 0, b"\n", form.quote.encode() or b"\r"
    with table_stream(path, form.encoding, form.skipped) as stream:
        while block := stream.read(BLOCK):
            empty = b"\n\n" in block or last == block[:1] == b"\n"
            if empty or quote in block or b"\r" in block:
                return None
            lines, last = lines + block.count(b"\n"), block[-1:]
    with _text_stream(path, form) as text:
        header = _header(path, csv.reader([text.readline()], **form.dialect))
    records = lines + (last != b"\n")
    if not header or (form.columns is not None and len(header) != len(form.columns)):
        return None
    return (header, records - 1) if form.columns is None else ([*form.columns], records)


def _strictly(path: Path, form: Format) -> tuple[list[str], int]:
    """The header of a CSV file and the number of its records, each as long as the header."""
    with _long_fields(), _text_stream(path, form) as text:
        reader = csv.reader(text, strict=True, **form.dialect)
        try:
            header = _header(path, reader) if form.columns is None else [*form.columns]
            records = 0
            for row in reader:
                if len(row) != len(header) and row:
                    line = f"cannot read {path}: line {reader.line_num + form.skipped} has "
                    raise _ragged(form, header, row, not records).at(line)
                records += bool(row)
        except csv.Error:
            raise InputError(
                f"cannot read {path}: line {reader.line_num + form.skipped} is not CSV; is a "
                "quote left open?",
                'Set quote = "" in [data] if quotes are part of the texts' if form.quote else "",
                section="data" if form.quote else None,
                key="quote",
            ) from None
    if not header or not (records or form.header):
        raise InputError(f"cannot read {path}: it is empty")
    return header, records


def _ragged(
    form: Format, header: Sequence[str], row: Sequence[str], first: bool = False
) -> InputError:
    """The error about a line of too many or few fields, with a way out where one is likely.

    ``first``: whether it is the line after the header.
    """
    fields = plural(len(row), "field")
    if form.columns is not None:
        words = f"{fields}, columns in [data] names {len(header)}"
        return InputError(words, section="data", key="columns", value=form.columns)
    unlike = f"{fields}, the header {len(header)}"
    if header[0].lstrip().startswith(COMMENT):
        return InputError(unlike, f"remove the lines of comments, which begin by {header[0][0]!r}")
    if len(header) == 1:
        return InputError(unlike, "remove lines before the one that names the columns")
    if len(row) == len(header) + 1 and not row[-1]:
        return InputError(unlike, f"end the header by {form.separator!r} as the lines do")
    if len(row) == len(header) - 1 and not header[-1]:
        return InputError(unlike, f"remove the last {form.separator!r} of the header")
    if form.quote == '"' and any(each.lstrip().startswith("'") for each in row):
        remedy = """set quote = "'" in [data] if texts are in these"""
        return InputError(unlike, remedy, section="data", key="quote", value=form.quote)
    if len(row) == len(header) + 1 and first:
        return InputError(
            unlike,
            "if the first field of each line is the name of a row, as R writes it, begin the "
            f"header by {'row' + form.separator!r}, or write the table by write.csv(row.names = "
            "FALSE); if the first line is a title, remove it",
        )
    return InputError(unlike)


def _header(path: Path, reader: Iterable[list[str]]) -> list[str]:
    """The first row that is not empty."""
    header = next((row for row in reader if row), [])
    if len(header) > COLUMNS.value:
        raise COLUMNS.refuse(path, "its first line names more than {} columns")
    longest = max(map(len, header), default=0)
    if longest > LONGEST_NAME:
        raise InputError(
            f"cannot read {path}: it has a column whose name has {longest:,} letters; does its "
            "first line name the columns?"
        )
    return header


@contextmanager
def _text_stream(path: Path, form: Format) -> Iterator[io.TextIOWrapper]:
    with table_stream(path, form.encoding, form.skipped) as stream:
        yield io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


@contextmanager
def _long_fields() -> Iterator[None]:
    """Lift the limit that Python's reader sets a field."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)
