"""Parquet files: every value exactly, and what their statistics show without reading them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from anonymizer.tables.reading import open_regular
from anonymizer.tables.traces import anew, without_traces
from anonymizer.tables.values import number_of

UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls an index without a name in Parquet."""

LEFT_OPEN = (pa.types.is_floating, pa.types.is_dictionary)
"""Types of which statistics show no NaN, and no blank texts: they may be missing all the same."""

LAST = "\U0010ffff"
"""The last character there is."""


def parquet_file(path: Path, **options: Any) -> pyarrow.parquet.ParquetFile:
    """Open a Parquet file, and nothing that is no regular file: a pipe would never end."""
    open_regular(path).close()
    return pyarrow.parquet.ParquetFile(path, **options)


def parquet_columns(path: Path) -> list[str]:
    """The columns of a Parquet file."""
    with parquet_file(path) as file:
        return [str(name) for name in file.schema_arrow.names]


def ordered_categories(path: Path) -> dict[str, list[Any]]:
    """The categories, in their order, of the columns of a Parquet file that have one."""
    with parquet_file(path) as file:
        if not file.metadata.num_rows:
            return {}
        fields = [each for each in file.schema_arrow if pa.types.is_dictionary(each.type)]
        names = [each.name for each in fields if each.type.ordered]
        table = file.read_row_group(0, columns=names)
        return {name: table.column(name).chunk(0).dictionary.to_pylist() for name in names}


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write Parquet, every column encoded anew from its values, without the index.

    The schema has nothing but types: metadata that another file had of its columns or fields is
    left out, and so are pandas' own names of types, some of which it cannot read itself.
    """
    table = pa.Table.from_pandas(without_traces(frame), preserve_index=False)
    columns = [anew(column) for column in table]
    schema = pa.schema(list(zip(table.column_names, (c.type for c in columns), strict=True)))
    pyarrow.parquet.write_table(pa.table(columns, schema=schema), path)


def exact_frame(table: pa.Table) -> pd.DataFrame:
    """The table in pandas, every value as it is in Parquet."""
    frame: pd.DataFrame = table.to_pandas(types_mapper=_exact_type, ignore_metadata=True)
    return frame


def is_text(kind: pa.DataType) -> bool:
    """Whether values are texts, whichever way they lie in memory."""
    return str(kind) in ("string", "large_string", "string_view")


def _exact_type(kind: pa.DataType) -> pd.ArrowDtype | None:
    """Types that keep every value: whole numbers with missing ones, dates of any year."""
    return None if is_text(kind) or pa.types.is_dictionary(kind) else pd.ArrowDtype(kind)


def never_missing(
    metadata: pa.parquet.FileMetaData, field: pa.Field, missing_values: Sequence[str] = ()
) -> bool:
    """Whether a file's statistics show that every record has a value of a column, no blank text.

    False where the statistics are missing, or leave it open.
    """
    found = list(_statistics(metadata, field.name))
    if not all(one is not None and one.has_null_count and not one.null_count for one in found):
        return False
    if is_text(field.type):
        return all(one.has_min_max and _all_written(one, missing_values) for one in found)
    if pa.types.is_integer(field.type):
        return all(number_of(text) is None for text in missing_values)
    return not (missing_values or any(is_one(field.type) for is_one in LEFT_OPEN))


def _statistics(metadata: pa.parquet.FileMetaData, name: str) -> Iterator[Any]:
    """Of a column, one for each row group; None where there are none."""
    schema = metadata.schema
    places = [i for i in range(metadata.num_columns) if schema.column(i).path == name]
    for group in range(metadata.num_row_groups):
        yield metadata.row_group(group).column(places[0]).statistics if len(places) == 1 else None


def _all_written(statistics: Any, missing_values: Sequence[str]) -> bool:
    """Whether texts within the least and the last can neither be blank nor declared missing.

    All of them begin with a character that is no blank, so that one which is cleaned to a
    declared text begins with that.
    """
    low, high = statistics.min, statistics.max
    if not (low[:1] >= "!" and high[:1] <= "~"):
        return False
    return all(high < text or low > text + LAST for text in missing_values)
