"""Table files and their formats: read whole, and written so that they read back alike."""

import csv
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from anonymizer.tables import engine
from anonymizer.tables.files.delimited import csv_columns, read_csv
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.opening import readable, require_named
from anonymizer.tables.files.parquet import parquet_columns, read_parquet, write_parquet
from anonymizer.tables.files.places import is_spread
from anonymizer.tables.values import text_of

if TYPE_CHECKING:
    from anonymizer.tables.relations.relation import Relation


def columns_in(path: Path, form: Format) -> list[str]:
    """The columns of a table file, without its records; InputError when it cannot be read."""
    if is_spread(path):
        with _where_it_lies(path, form) as table:
            return list(table.columns)
    with readable(path, form.encoding):
        return parquet_columns(path) if form.parquet else csv_columns(path, form)


def read_table(path: Path, form: Format, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a whole table; CSV fields stay texts, so that nothing is lost on the way back.

    Columns that are numbers throughout in another notation get a point and no thousands marks.
    ``columns`` must be there and are cleaned: blanks around a text are no part of the value, empty
    texts and ``form.missing_values`` are missing. A CSV file may be compressed (.gz, .bz2, .zst).
    Several files, those of a folder or a pattern, are one table.
    InputError when it cannot be read to its end: the message names file and line, no value.
    """
    frame = _read(path, form, columns)
    return engine.replaced(frame, {name: cleaned(frame[name], form) for name in columns})


def _read(path: Path, form: Format, columns: Sequence[str]) -> pd.DataFrame:
    if is_spread(path):
        with _where_it_lies(path, form) as table:
            require_named(path, table.columns, columns, form)
            return table.frame(table.columns)
    with readable(path, form.encoding):
        return read_parquet(path, columns) if form.parquet else read_csv(path, form, columns)


def _where_it_lies(path: Path, form: Format) -> "AbstractContextManager[Relation]":
    from anonymizer.tables.relations.embedded.files import opened

    return opened(path, form)


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


def cleaned(column: pd.Series, form: Format) -> pd.Series:
    """Strip blanks around texts; empty texts and values declared missing become missing."""
    column = engine.stripped(column)
    codes, values = engine.distinct(column)
    absent = {"", *form.missing_values}
    missing = np.array([text_of(value) in absent for value in values], bool)
    return column.mask(missing[codes]) if missing.any() else column
