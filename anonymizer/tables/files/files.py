"""Table files: their columns, and how they are written so that they read back alike."""

import csv
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from anonymizer.tables import engine
from anonymizer.tables.files.delimited import csv_columns
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.opening import readable
from anonymizer.tables.files.parquet import parquet_columns, write_parquet
from anonymizer.tables.files.places import is_spread
from anonymizer.tables.values import text_of


def columns_in(path: Path, form: Format) -> list[str]:
    """The columns of a table file, without its records; InputError when it cannot be read."""
    if is_spread(path):
        from anonymizer.tables.relations.embedded.files import opened  # slow to load

        with opened(path, form) as table:
            return list(table.columns)
    with readable(path, form.encoding):
        return parquet_columns(path) if form.parquet else csv_columns(path, form)


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
