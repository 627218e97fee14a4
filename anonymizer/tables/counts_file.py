"""Counts of a table in a file: Parquet, a row for each combination of values, and its records.

The columns are those that were counted, as texts: so a table that lies as CSV and one that lies as
Parquet are counted alike. The last column has the records of each combination, 64-bit integers.
Rows are sorted, so that nothing is left of the order of the records. What a file is about is JSON
text in its metadata, under the key ``anonymizer``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Ints
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.opening import readable
from anonymizer.tables.files.parquet import is_text, parquet_file
from anonymizer.tables.reading import TABLE
from anonymizer.tables.values import is_missing, text_of

RECORDS = "records"
"""The last column; underscores are added where a counted column has this name."""

KEY = b"anonymizer"

MOST = 2**53
"""Sums of whole numbers below it are exact as floats."""


def as_texts(table: Tally) -> Tally:
    """Replace every value by its text, None where it is missing.

    Equal numbers and equal instants have one text, whatever type they are of.
    """
    columns = {name: _texts(table[name]) for name in table.columns}
    return Tally(pd.DataFrame(columns, index=table.index), table.sizes)


def as_text(value: object) -> str | None:
    """The text of a value; None for a missing one."""
    return None if is_missing(value) else text_of(value)


def _texts(column: pd.Series) -> pd.Series:
    codes, values = engine.distinct(column)
    texts = [*map(as_text, values)]
    known = sorted({text for text in texts if text is not None})
    places = {text: place for place, text in enumerate(known)}
    numbers = np.array([-1 if text is None else places[text] for text in texts], np.intp)
    found = pd.Categorical.from_codes(numbers[codes], categories=pd.Index(known, dtype=object))
    return pd.Series(found, index=column.index, name=column.name)


def compared(tables: Sequence[Tally]) -> tuple[pd.DataFrame, Ints]:
    """The combinations of tables of one set of columns, and the records that each table has.

    Values are compared by their texts. The second has the shape (tables, combinations).
    """
    names = [*tables[0].columns]
    frames = [as_texts(engine.chosen(table, names)).combinations.astype(object) for table in tables]
    rows = pd.concat(frames, ignore_index=True)
    group, first = engine.grouped(rows, names)
    ends = np.cumsum([0, *map(len, frames)])
    sizes = [
        engine.sized(table, group[start:end], len(first))
        for table, start, end in zip(tables, ends, ends[1:], strict=False)
    ]
    return rows.iloc[first].reset_index(drop=True), np.array(sizes, np.int64)


def added(tables: Sequence[Tally]) -> Tally:
    """The counts of the union of tables, values being texts: sums over the tables."""
    combinations, sizes = compared(tables)
    return as_texts(Tally(combinations, sizes.sum(axis=0)))


def write_counts(path: Path, tally: Tally, about: Mapping[str, Any]) -> None:
    """Write the counts of a table, and what they are about."""
    import pyarrow.parquet as pq  # loads what reads the cloud

    counts = added([tally])
    names = [*counts.columns]
    order = counts.combinations.astype(object).sort_values(names, kind="stable").index.to_numpy()
    rows = engine.records_of(counts, order)
    texts = [pa.array(rows[name].astype(object), pa.string()) for name in names]
    records = RECORDS
    while records in names:
        records += "_"
    schema = pa.schema(
        [*((name, pa.string()) for name in names), (records, pa.int64())],
        metadata={KEY: json.dumps(about, ensure_ascii=False).encode()},
    )
    table = pa.table([*texts, pa.array(rows.sizes, pa.int64())], schema=schema)
    pq.write_table(table, path)


def read_counts(path: Path) -> tuple[Tally, dict[str, Any]]:
    """The counts in a file, and what they are about.

    Raises InputError when it cannot be read, holds no counts, or was damaged.
    """
    with readable(path):
        try:
            file = parquet_file(path)
        except pa.ArrowInvalid:
            raise _none(path) from None
        with file:
            about = _about(path, file.schema_arrow)
            groups = map(file.metadata.row_group, range(file.num_row_groups))
            if sum(group.total_byte_size for group in groups) > TABLE.value:
                raise TABLE.refuse(path, "it has more than {} bytes, decompressed")
            table = file.read()
    table.validate(full=True)
    return _tally(path, table), about


def _about(path: Path, schema: pa.Schema) -> dict[str, Any]:
    try:
        found = json.loads((schema.metadata or {})[KEY])
    except (KeyError, ValueError):
        raise _none(path) from None
    if not isinstance(found, dict):
        raise _none(path)
    return found


def _tally(path: Path, table: pa.Table) -> Tally:
    *texts, records = table.schema
    names = [field.name for field in texts]
    known = all(is_text(field.type) for field in texts) and len({*names}) == len(names)
    if not names or not known or records.type != pa.int64() or not len(table):
        raise _none(path)
    column = table.column(len(names))
    sizes = np.zeros(len(table), np.int64) if column.null_count else column.to_numpy()
    frame = table.select(range(len(names))).to_pandas().astype(object)
    whole = bool((sizes > 0).all()) and float(sizes.astype(float).sum()) < MOST
    if not whole or frame.duplicated().any():
        raise InputError(
            f"{path} was damaged: every combination must stand there once, with the number of its "
            "records; count the part again"
        )
    return as_texts(Tally(frame.where(frame.notna(), None), np.asarray(sizes, np.int64)))


def _none(path: Path) -> InputError:
    return InputError(f"{path} holds no counts; `anonymizer count` writes such files")
