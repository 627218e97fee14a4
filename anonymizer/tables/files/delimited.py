"""CSV files: read whole or refused."""

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv

from anonymizer.errors import InputError
from anonymizer.tables.files.opening import require_columns_few, require_named, table_stream
from anonymizer.tables.reading import LINE

BLOCK = 16 * 1024 * 1024
"""Bytes that CSV is read by; a record must fit in."""

LONGEST_NAME = 10_000
"""Letters of a column's name: a whole question may be one, a whole table is none."""


def csv_columns(path: Path, separator: str) -> list[str]:
    """The columns of a CSV file, by its first line that is not empty."""
    with _long_fields(), _text_stream(path) as text:
        header = _header(path, csv.reader(text, delimiter=separator, strict=True))
        return [name.strip() for name in header]


def read_csv(path: Path, separator: str, columns: Sequence[str]) -> pd.DataFrame:
    """Read CSV twice: strictly, to refuse what is not CSV, and fast, for the table.

    The fast parser forgives a quote that is left open and takes the records up to the next one
    for a single field; the strict one does not. Both must find the same number of records.
    """
    header, records = _strictly(path, separator)
    names = [name.strip() for name in header]
    require_named(path, names, columns)
    with table_stream(path) as stream:
        table = pyarrow.csv.read_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(block_size=max(BLOCK, LINE.value)),
            parse_options=pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
            ),
        )
    if table.num_rows != records or table.column_names != header:
        raise InputError(f"cannot read {path}: its records cannot be told apart for sure")
    frame: pd.DataFrame = table.to_pandas()
    return frame.set_axis(names, axis=1)


def _strictly(path: Path, separator: str) -> tuple[list[str], int]:
    """The header of a CSV file and the number of its records, each as long as the header."""
    with _long_fields(), _text_stream(path) as text:
        reader = csv.reader(text, delimiter=separator, strict=True)
        try:
            header = _header(path, reader)
            records = 0
            for row in reader:
                if len(row) != len(header) and row:
                    raise InputError(
                        f"cannot read {path}: line {reader.line_num} has {len(row)} fields, "
                        f"the header {len(header)}"
                    )
                records += bool(row)
        except csv.Error:
            raise InputError(
                f"cannot read {path}: line {reader.line_num} is not CSV; is a quote left open?"
            ) from None
    if not header:
        raise InputError(f"cannot read {path}: it is empty")
    return header, records


def _header(path: Path, reader: Iterable[list[str]]) -> list[str]:
    """The first row that is not empty."""
    header = next((row for row in reader if row), [])
    require_columns_few(path, len(header))
    longest = max(map(len, header), default=0)
    if longest > LONGEST_NAME:
        raise InputError(
            f"cannot read {path}: it has a column whose name has {longest:,} letters; does its "
            "first line name the columns?"
        )
    return header


@contextmanager
def _text_stream(path: Path) -> Iterator[io.TextIOWrapper]:
    with table_stream(path) as stream:
        yield io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


@contextmanager
def _long_fields() -> Iterator[None]:
    """Lift the limit that Python's reader sets a field."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)
