"""Table files and their formats: read whole, and written so that they read back alike."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.tables import engine
from anonymizer.tables.files.delimited import csv_columns, read_csv
from anonymizer.tables.files.opening import readable, table_stream
from anonymizer.tables.files.parquet import parquet_columns, read_parquet, write_parquet
from anonymizer.tables.reading import separator_of
from anonymizer.tables.values import text_of

SEPARATORS = ",;\t|"
SNIFFED = 64 * 1024
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Format:
    """How a table lies in a file: as Parquet, else as CSV with a separator between its fields.

    ``missing_values`` are missing, and so is an empty field, in the columns where that matters.
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
    """A file's format by its name, and a CSV file's separator by its first lines.

    InputError when there is no such file.
    """
    try:
        exists, is_file = path.exists(), path.is_file()
    except (OSError, ValueError):
        raise InputError(f"cannot read {str(path)!r}: no file has such a name") from None
    if not is_file:
        raise InputError(f"there is no {'table in' if exists else 'file'} {path}")
    if path.suffix.lower() in PARQUET:
        return Format(True, missing_values=tuple(missing_values))
    separator = separator or separator_of(_first_lines(path), SEPARATORS)
    return Format(False, separator, tuple(missing_values))


def _first_lines(path: Path) -> list[str]:
    """Some whole lines of a text file, decompressed."""
    with readable(path), table_stream(path) as stream:
        start = stream.read(SNIFFED)
    lines: list[str] = start.decode("utf-8-sig", errors="replace").splitlines()
    return lines[:-1] if len(start) == SNIFFED else lines


def columns_in(path: Path, form: Format) -> list[str]:
    """The columns of a table file, without its records; InputError when it cannot be read."""
    with readable(path):
        return parquet_columns(path) if form.parquet else csv_columns(path, form.separator)


def read_table(path: Path, form: Format, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a whole table; CSV fields stay texts, so that nothing is lost on the way back.

    ``columns`` must be there and are cleaned: blanks around a text are no part of the value, empty
    texts and ``form.missing_values`` are missing. A CSV file may be compressed (.gz, .bz2, .zst).
    InputError when it cannot be read to its end: the message names file and line, no value.
    """
    with readable(path):
        frame = (
            read_parquet(path, columns) if form.parquet else read_csv(path, form.separator, columns)
        )
    return engine.replaced(frame, {name: cleaned(frame[name], form) for name in columns})


def write_table(frame: pd.DataFrame, path: Path, form: Format) -> None:
    """Write a table in a format: its values, and nothing else that lies with them in memory."""
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


def cleaned(column: pd.Series, form: Format) -> pd.Series:
    """Strip blanks around texts; empty texts and values declared missing become missing."""
    column = engine.stripped(column)
    codes, values = engine.distinct(column)
    absent = {"", *form.missing_values}
    missing = np.array([text_of(value) in absent for value in values], bool)
    return column.mask(missing[codes]) if missing.any() else column
