"""Table files whose columns are read one at a time."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from anonymizer.counts.schema import Schema
from anonymizer.tables.files import Format, ParquetColumns, read_table
from anonymizer.tables.files.opening import require_named


def open_columns(path: Path, form: Format, schema: Schema) -> ParquetColumns | pd.DataFrame:
    """A table file whose columns are to be read one at a time, admitted by a schema.

    Parquet is read as its columns are requested; CSV whole. InputError as ``read_table`` and
    ``Schema.admit`` raise it.
    """
    if not form.parquet:
        return schema.admit(read_table(path, form, schema.columns))
    table = ParquetColumns(path, form)
    require_named(path, table.columns, schema.columns)
    schema.require_shape(table.columns, len(table))
    if schema.missing == "category":
        return table
    lacking = np.zeros(len(table), bool)
    for name in schema.columns:
        if table.never_missing(name):
            continue
        lacks = table[name].isna().to_numpy()
        if schema.missing == "error" and lacks.any():
            schema.refuse_missing({name: int(lacks.sum())}, len(table))
        lacking |= lacks
    schema.require_left(len(table) - int(lacking.sum()))
    return replace(table, kept=~lacking) if lacking.any() else table
