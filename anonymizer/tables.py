"""Table files, CSV and Parquet: read whole or refused, and written so that they read back alike."""

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from anonymizer.engines import pandas as engine
from anonymizer.errors import InputError
from anonymizer.hierarchy.values import text_of
from anonymizer.schema import require_columns

__all__ = ["Format", "cleaned", "columns_in", "format_of", "read_table", "write_table"]

SEPARATORS = ",;\t|"
SNIFFED = 64 * 1024
BLOCK = 16 * 1024 * 1024
"""Bytes that CSV is read by; a record must fit in."""
PARQUET = (".parquet", ".pq")
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls an index without a name in Parquet."""


@dataclass(frozen=True)
class Format:
    """How a table lies in a file.

    Parameters
    ----------
    parquet
        Parquet; CSV otherwise.
    separator
        Between the fields of a CSV file.
    missing_values
        What counts as missing beside an empty field, in the columns where that matters.
    """

    parquet: bool
    separator: str = ","
    missing_values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or not self.separator.isascii() or self.separator in '"\r\n':
            raise InputError(f"separator {self.separator!r} must be one ASCII character, no quote")

    @property
    def suffix(self) -> str:
        """The ending of a file name."""
        return ".parquet" if self.parquet else ".csv"


def format_of(
    path: Path, separator: str | None = None, missing_values: Sequence[str] = ()
) -> Format:
    """Tell a file's format by its name, and a CSV file's separator by its first lines.

    Raises
    ------
    InputError
        When there is no such file.
    """
    try:
        exists, is_file = path.exists(), path.is_file()
    except (OSError, ValueError):
        raise InputError(f"cannot read {str(path)!r}: no file has such a name") from None
    if not is_file:
        raise InputError(f"there is no {'table in' if exists else 'file'} {path}")
    if path.suffix.lower() in PARQUET:
        return Format(parquet=True, missing_values=tuple(missing_values))
    return Format(False, separator or _separator(path), tuple(missing_values))


def columns_in(path: Path, form: Format) -> list[str]:
    """The columns of a table file, without its records.

    Raises
    ------
    InputError
        When the file cannot be read.
    """
    with _readable(path):
        if form.parquet:
            with pyarrow.parquet.ParquetFile(path) as file:
                return [str(name) for name in file.schema_arrow.names]
        with _long_fields(), _text_stream(path) as text:
            reader = csv.reader(text, delimiter=form.separator, strict=True)
            return [name.strip() for name in next((row for row in reader if row), [])]


def read_table(path: Path, form: Format, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a whole table; CSV fields stay texts, so that nothing is lost on the way back.

    Parameters
    ----------
    path
        The file; a CSV file may be compressed (.gz, .bz2, .zst).
    form
        Its format.
    columns
        Columns that must be there and are cleaned: blanks around a text are no part of the value,
        empty texts and ``form.missing_values`` are missing.

    Raises
    ------
    InputError
        When the file cannot be read to its end: the message names the file and the line, no value.
    """
    with _readable(path):
        frame = (
            _read_parquet(path, columns)
            if form.parquet
            else _read_csv(path, form.separator, columns)
        )
    return engine.replaced(frame, {name: cleaned(frame[name], form) for name in columns})


def write_table(frame: pd.DataFrame, path: Path, form: Format) -> None:
    """Write a table in a format, without its index."""
    if form.parquet:
        frame.to_parquet(path, index=False)
        return
    # Python's writer leaves a lone carriage return bare, which readers take for the end of a line;
    # and what looks like another separator within a single column would be taken for one.
    quoted = len(frame.columns) == 1 or _has_carriage_return(frame)
    quoting: Literal[0, 1] = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    frame.to_csv(path, sep=form.separator, index=False, lineterminator="\n", quoting=quoting)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say in our own words why a file cannot be read: the parsers' messages quote the data.

    What a damaged file makes a parser raise is anybody's guess, hence the broad net.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except UnicodeDecodeError:
        raise InputError(f"cannot read {path}: it is not UTF-8 text") from None
    except PermissionError:
        raise InputError(f"cannot read {path}: permission denied") from None
    except Exception as error:
        empty = "it is empty" if "Empty CSV" in str(error) else ""
        reason = empty or "it is damaged, cut short, or not what its name says"
        raise InputError(f"cannot read {path}: {reason}") from None


def _read_parquet(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read Parquet; every column as such, also a named index that pandas wrote.

    An index without a name is left out: it numbers the records of some other table.
    """
    with pyarrow.parquet.ParquetFile(path) as file:
        _require_columns(path, file.schema_arrow.names, columns)
        table = file.read()
    table = table.drop_columns([n for n in table.column_names if UNNAMED_INDEX.fullmatch(n)])
    table.validate(full=True)
    frame: pd.DataFrame = table.to_pandas(types_mapper=_exact_type, ignore_metadata=True)
    return frame


def _exact_type(kind: pa.DataType) -> pd.ArrowDtype | None:
    """Types that keep every value: whole numbers beside missing ones, dates of any year."""
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return None if texts or pa.types.is_dictionary(kind) else pd.ArrowDtype(kind)


def _read_csv(path: Path, separator: str, columns: Sequence[str]) -> pd.DataFrame:
    """Read CSV twice: strictly, to refuse what is not CSV, and fast, for the table.

    The fast parser forgives a quote that is left open and takes the records up to the next one
    for a single field; the strict one does not. Both must find the same number of records.
    """
    header, records = _strictly(path, separator)
    names = [name.strip() for name in header]
    _require_columns(path, names, columns)
    table = pyarrow.csv.read_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(block_size=BLOCK),
        parse_options=pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
        ),
    )
    if table.num_rows != records or table.column_names != header:
        raise InputError(f"cannot read {path}: its records cannot be told apart for sure")
    frame: pd.DataFrame = table.to_pandas()
    return frame.set_axis(names, axis=1)


def _require_columns(path: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    try:
        require_columns(names, columns, "; does its first line name the columns?")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _strictly(path: Path, separator: str) -> tuple[list[str], int]:
    """The header of a CSV file and the number of its records, each as long as the header."""
    with _long_fields(), _text_stream(path) as text:
        reader = csv.reader(text, delimiter=separator, strict=True)
        try:
            header = next((row for row in reader if row), [])
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


@contextmanager
def _text_stream(path: Path) -> Iterator[io.TextIOWrapper]:
    with pa.input_stream(str(path), compression="detect") as stream:
        yield io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


@contextmanager
def _long_fields() -> Iterator[None]:
    """Lift the limit that Python's reader sets a field."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _separator(path: Path) -> str:
    """The character that cuts the first lines into the same number of fields, the most of them."""
    lines = _first_lines(path)

    def fields(separator: str) -> int:
        try:
            counts = {len(row) for row in csv.reader(lines, delimiter=separator) if row}
        except csv.Error:
            return 0
        return counts.pop() if len(counts) == 1 else 0

    best = max(SEPARATORS, key=fields)
    return best if fields(best) > 1 or not lines else max(SEPARATORS, key=lines[0].count)


def _first_lines(path: Path) -> list[str]:
    """Some whole lines of a text file, decompressed."""
    with _readable(path), pa.input_stream(str(path), compression="detect") as stream:
        start = stream.read(SNIFFED)
    lines: list[str] = start.decode("utf-8-sig", errors="replace").splitlines()
    return lines[:-1] if len(start) == SNIFFED else lines


def cleaned(column: pd.Series, form: Format) -> pd.Series:
    """Strip blanks around texts; empty texts and values declared missing become missing."""
    column = engine.stripped(column)
    codes, values = engine.distinct(column)
    absent = {"", *form.missing_values}
    missing = np.array([text_of(value) in absent for value in values], bool)
    return column.mask(missing[codes]) if missing.any() else column


def _has_carriage_return(frame: pd.DataFrame) -> bool:
    texts = [frame[name] for name in frame.columns if pd.api.types.is_string_dtype(frame[name])]
    return any(column.str.contains("\r", regex=False).any() for column in texts)
