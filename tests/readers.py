"""A released file as four readers take it, each by its own defaults: rows of values.

They are told how the file is laid out (separator, quotes, header) and nothing of types.
"""

import csv
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.csv

Rows = list[dict[str, object]]

__all__ = ["READERS", "Rows"]


def texts(path: Path, separator: str = ",") -> Rows:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=separator))


def pandas(path: Path, separator: str = ",") -> Rows:
    return _rows(pd.read_csv(path, sep=separator, skip_blank_lines=False).astype(object))


def arrow(path: Path, separator: str = ",") -> Rows:
    options = pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    return [_known(row) for row in pa.csv.read_csv(path, parse_options=options).to_pylist()]


def duck(path: Path, separator: str = ",") -> Rows:
    # By SQL: names are as in the file, and instants with zones need no further package as texts.
    try:
        return _duck(path, separator)
    except duckdb.ConversionException:  # it guessed a type that not all of its texts have
        return texts(path, separator)


def _duck(path: Path, separator: str) -> Rows:
    kinds = _asked("DESCRIBE SELECT *", path, separator)
    columns = ", ".join(_printable(name, kind) for name, kind, *_ in kinds)
    found = _asked(f"SELECT {columns}", path, separator)
    names = [name for name, *_ in kinds]
    return [_known(dict(zip(names, row, strict=True))) for row in found]


def _asked(what: str, path: Path, separator: str) -> list[tuple]:
    laid_out = "read_csv(?, header=true, delim=?, quote='\"', comment='')"
    return _connection().execute(f"{what} FROM {laid_out}", [str(path), separator]).fetchall()


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def _printable(name: str, kind: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return f"{quoted}::VARCHAR" if kind.startswith(("TIMESTAMP", "DATE", "TIME")) else quoted


def _rows(frame: pd.DataFrame) -> Rows:
    return [_known(row) for row in frame.to_dict("records")]


def _known(row: Mapping[str, object]) -> dict[str, object]:
    """A missing value is one value, however a reader writes it."""
    return {
        name: None if value is None or (isinstance(value, float) and math.isnan(value)) else value
        for name, value in row.items()
    }


READERS: Mapping[str, Callable[..., Rows]] = {
    "csv": texts,
    "pandas": pandas,
    "pyarrow": arrow,
    "duckdb": duck,
}
