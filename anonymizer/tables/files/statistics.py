"""What the statistics of a Parquet file tell of its columns without reading them."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from anonymizer.tables.files.parquet import is_text
from anonymizer.tables.values import number_of

__all__ = ["never_missing"]

LAST = "\U0010ffff"
"""The last character there is."""


def never_missing(
    metadata: pa.parquet.FileMetaData, field: pa.Field, missing_values: Sequence[str] = ()
) -> bool:
    """Whether every record surely has a value of a column, blank texts being none.

    False where the statistics are not there, or do not tell.
    """
    found = list(_statistics(metadata, field.name))
    if not all(one is not None and one.has_null_count and not one.null_count for one in found):
        return False
    if is_text(field.type):
        return all(one.has_min_max and _all_written(one, missing_values) for one in found)
    if pa.types.is_integer(field.type):
        return all(number_of(text) is None for text in missing_values)
    return not missing_values and not pa.types.is_dictionary(field.type)


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
