"""Parquet files: every value as it stands there."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from anonymizer.tables.arrow import anew
from anonymizer.tables.files.refusals import require_named
from anonymizer.tables.files.stream import require_room
from anonymizer.tables.traces import without_traces

__all__ = [
    "UNNAMED_INDEX",
    "exact_frame",
    "is_text",
    "parquet_columns",
    "read_parquet",
    "write_parquet",
]

UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls an index without a name in Parquet."""


def parquet_columns(path: Path) -> list[str]:
    """The columns of a Parquet file."""
    with pyarrow.parquet.ParquetFile(path) as file:
        return [str(name) for name in file.schema_arrow.names]


def read_parquet(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read Parquet; every column as such, also a named index that pandas wrote.

    An index without a name is left out: it numbers the records of some other table.
    """
    with pyarrow.parquet.ParquetFile(path) as file:
        require_named(path, file.schema_arrow.names, columns)
        require_room(path, file.metadata)
        table = file.read()
    table = table.drop_columns([n for n in table.column_names if UNNAMED_INDEX.fullmatch(n)])
    table.validate(full=True)
    return exact_frame(table)


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write Parquet, every column encoded anew from its values, without the index.

    Nothing is said of its columns but their types: what another file said of them, or of its
    fields, is left out, and so are pandas' own names of types, some of which it cannot read itself.
    """
    table = pa.Table.from_pandas(without_traces(frame), preserve_index=False)
    columns = [anew(column) for column in table]
    schema = pa.schema(
        [
            pa.field(name, column.type)
            for name, column in zip(table.column_names, columns, strict=True)
        ]
    )
    pyarrow.parquet.write_table(pa.table(columns, schema=schema), path)


def exact_frame(table: pa.Table) -> pd.DataFrame:
    """The table in pandas, every value as it is in Parquet."""
    frame: pd.DataFrame = table.to_pandas(types_mapper=_exact_type, ignore_metadata=True)
    return frame


def is_text(kind: pa.DataType) -> bool:
    """Whether values are texts, whichever way they lie in memory."""
    return str(kind) in ("string", "large_string", "string_view")


def _exact_type(kind: pa.DataType) -> pd.ArrowDtype | None:
    """Types that keep every value: whole numbers beside missing ones, dates of any year."""
    return None if is_text(kind) or pa.types.is_dictionary(kind) else pd.ArrowDtype(kind)
