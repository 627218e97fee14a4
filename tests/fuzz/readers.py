"""How people read a released table: four readers of CSV, three of Parquet; none is the library's.

A view is what one of them sees: for each column one number per record, the same number where the
reader takes two values for equal, None where it takes one for missing (a NaN is). Python's reader
sees the texts; what the others infer can only take different texts for the same, so that its view
is the finest.
"""

import csv
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

__all__ = ["CSV_READERS", "PARQUET_READERS", "ReaderError", "View", "views_of"]

View = dict[str, list[int | None]]
HERE = threading.local()


class ReaderError(Exception):
    """A reader cannot read a release."""


def views_of(path: Path, separator: str) -> dict[str, "View | ReaderError"]:
    """What each reader sees of a release, or why it sees nothing."""
    readers = PARQUET_READERS if path.suffix == ".parquet" else CSV_READERS
    found: dict[str, View | ReaderError] = {}
    for name, read in readers.items():
        try:
            found[name] = read(path, separator)
        except Exception as error:  # whatever a reader raises is what is looked for
            found[name] = ReaderError(f"{type(error).__name__}: {str(error)[:300]}")
    return found


def texts_of(path: Path, separator: str) -> dict[str, list[str | None]]:
    """The columns of a release as texts; what is missing in Parquet is None, in CSV empty."""
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        columns = zip(table.column_names, table.columns, strict=True)
        return {
            name: [None if v is None or v != v else str(v) for v in column.to_pylist()]
            for name, column in columns
        }
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter=separator, strict=True)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return {name: list(column) for name, column in zip(header, columns, strict=True)}


def _text(path: Path, separator: str) -> View:
    return {name: _numbered(column) for name, column in texts_of(path, separator).items()}


def _pandas(path: Path, separator: str) -> View:
    return _of_frame(pd.read_csv(path, sep=separator))


def _arrow(path: Path, separator: str) -> View:
    parse = pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    return _of_arrow(pyarrow.csv.read_csv(path, parse_options=parse))


def _duckdb(path: Path, separator: str) -> View:
    laid_out = "?, delim=?, quote='\"', escape='\"', header=true, comment=''"
    try:
        return _of_duckdb(f"select * from read_csv({laid_out})", [str(path), separator])
    except duckdb.ConversionException:  # it guessed a type that not all values have: read as texts
        query = f"select * from read_csv({laid_out}, all_varchar=true)"
        return _of_duckdb(query, [str(path), separator])


def _duckdb_parquet(path: Path, separator: str) -> View:
    return _of_duckdb("select * from read_parquet(?)", [str(path)])


def _of_duckdb(query: str, parameters: list[str]) -> View:
    if not hasattr(HERE, "connection"):
        HERE.connection = duckdb.connect(config={"threads": 1})
    return _of_arrow(HERE.connection.sql(query, params=parameters).to_arrow_table())


def _of_arrow(table: pa.Table) -> View:
    columns = zip(table.column_names, table.columns, strict=True)
    return {name: _codes(column) for name, column in columns}


def _codes(column: pa.ChunkedArray) -> list[int | None]:
    """Equal values by Python's equality where there are floats, by Arrow's elsewhere."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return [None] * len(column)
    if pa.types.is_floating(column.type):
        return _numbered([None if v is None or v != v else v for v in column.to_pylist()])
    try:
        codes: list[int | None] = column.combine_chunks().dictionary_encode().indices.to_pylist()
    except pa.ArrowNotImplementedError:  # DuckDB's large whole numbers, say
        return _numbered([None if v is None else str(v) for v in column.to_pylist()])
    return codes


def _of_frame(frame: pd.DataFrame) -> View:
    return {str(name): _codes_of(frame[name]) for name in frame.columns}


def _codes_of(column: pd.Series) -> list[int | None]:
    try:
        codes, values = pd.factorize(column)
    except TypeError:  # lists, say
        codes, values = pd.factorize(column.map(repr))
    gaps = {code for code, value in enumerate(values) if value is None or value != value}
    return [None if code < 0 or code in gaps else code for code in codes.tolist()]


def _numbered(values: list) -> list[int | None]:
    number: dict[object, int] = {}
    return [None if v is None else number.setdefault(v, len(number)) for v in values]


CSV_READERS: dict[str, Callable[[Path, str], View]] = {
    "text": _text,
    "pandas": _pandas,
    "pyarrow": _arrow,
    "duckdb": _duckdb,
}
PARQUET_READERS: dict[str, Callable[[Path, str], View]] = {
    "text": _text,
    "pandas": lambda path, separator: _of_frame(pd.read_parquet(path)),
    "pyarrow": lambda path, separator: _of_arrow(pyarrow.parquet.read_table(path)),
    "duckdb": _duckdb_parquet,
}
