"""Parquet files: every value exactly, and what their statistics show without reading them.

:class:`ParquetColumns` is a file as a table whose columns are read one at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from anonymizer.tables import engine
from anonymizer.tables.files.format import Format, cleaned, missing_texts
from anonymizer.tables.files.opening import readable, require_named
from anonymizer.tables.reading import open_regular
from anonymizer.tables.traces import anew, without_traces
from anonymizer.tables.values import number_of

UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls an index without a name in Parquet."""

LEFT_OPEN = (pa.types.is_floating, pa.types.is_dictionary)
"""Types of which statistics show no NaN, and no blank texts: they may be missing all the same."""

LAST = "\U0010ffff"
"""The last character there is."""

BATCH = 1 << 18
"""Records read at a time: few enough that what they are decoded to is still in the cache."""


def parquet_file(path: Path, **options: Any) -> pa.parquet.ParquetFile:
    """Open a Parquet file, and nothing that is no regular file: a pipe would never end."""
    import pyarrow.parquet as pq  # loads what reads the cloud

    open_regular(path).close()
    return pq.ParquetFile(path, **options)


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
    import pyarrow.parquet as pq  # loads what reads the cloud

    table = pa.Table.from_pandas(without_traces(frame), preserve_index=False)
    columns = [anew(column) for column in table]
    schema = pa.schema(list(zip(table.column_names, (c.type for c in columns), strict=True)))
    pq.write_table(pa.table(columns, schema=schema), path)


def exact_frame(table: pa.Table) -> pd.DataFrame:
    """The table in pandas, every value as it is in Parquet."""
    frame: pd.DataFrame = table.to_pandas(types_mapper=_exact_type, ignore_metadata=True)
    return frame


def exact_column(column: pa.Array | pa.ChunkedArray) -> pd.Series:
    """The same of a column; a table of one takes eight times as long."""
    if not len(column):  # of which Arrow makes objects, whatever its type
        return exact_frame(pa.table({"": column}))[""]
    found: pd.Series = column.to_pandas(types_mapper=_exact_type)
    return found


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
    """Statistics of a column, one for each row group; None where there are none."""
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


@dataclass(frozen=True, eq=False)
class ParquetColumns:
    """A Parquet file, of which only one column at a time is in memory.

    A column has the distinct values that DuckDB gives it, cleaned, but as a categorical
    of small codes: some 10 MB for ten million records of up to 126 values.

    ``kept`` are the records that are part of the table, shape (records of the file,); all of them
    when left out.

    InputError when the file is damaged; where only a column is, when that is read.
    """

    path: Path
    form: Format
    kept: NDArray[np.bool_] | None = None

    @cached_property
    def _file(self) -> tuple[Any, pa.Schema]:
        with readable(self.path), parquet_file(self.path) as file:
            return file.metadata, file.schema_arrow

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name in self._file[1].names if not UNNAMED_INDEX.fullmatch(name))

    def __len__(self) -> int:
        return int(self._file[0].num_rows if self.kept is None else self.kept.sum())

    @cached_property
    def index(self) -> pd.Index:
        """Which record of the file each is."""
        if self.kept is None:
            return pd.RangeIndex(len(self))
        return pd.Index(np.flatnonzero(self.kept))

    def __getitem__(self, name: str, /) -> pd.Series:
        require_named(self.path, self.columns, [name])
        with readable(self.path):
            column = self._categories(name, self._file[1].field(name).type)
        if column is None:
            return self._whole(name)
        if self.kept is not None:
            column = column[self.kept]
        return pd.Series(column, index=self.index, name=name, copy=False)

    def never_missing(self, name: str) -> bool:
        """Whether the file's statistics show that every record has a value of a column."""
        metadata, schema = self._file
        declared = missing_texts(self.form.missing_values, name)
        return never_missing(metadata, schema.field(name), declared)

    def _batches(self, name: str) -> Iterator[pa.Array]:
        """A column in pieces; texts as Parquet keeps them, each distinct one once."""
        metadata, schema = self._file
        texts = [name] if is_text(schema.field(name).type) else None
        options = {"metadata": metadata, "read_dictionary": texts}
        ahead = metadata.num_rows
        with parquet_file(self.path, **options) as file:
            for batch in file.iter_batches(BATCH, columns=[name]):
                # By its place: columns=["a"] reads "a.b" too.
                column = batch.column(batch.schema.get_field_index(name))
                column.validate(full=True)
                ahead -= len(column)
                yield column
        if ahead:
            raise EOFError(f"{ahead} records of {name!r} are not there")

    def _categories(self, name: str, kind: pa.DataType) -> pd.Categorical | None:
        """The column by its distinct values; None where pandas cannot have them as categories."""
        try:
            parts = [*map(_listed, self._batches(name))] or [_listed(pa.array([], kind))]
            listed = pa.chunked_array(parts).unify_dictionaries()
        except pa.ArrowNotImplementedError:  # lists and their kin, and columns of no type
            return None
        values = _as_read(name, kind, listed.chunk(0).dictionary)
        small = np.min_scalar_type(-len(values) - 2)  # as pandas has them
        codes = np.concatenate(
            [part.indices.fill_null(-1).to_numpy().astype(small) for part in listed.chunks]
        )
        changes = (is_text, pa.types.is_dictionary, pa.types.is_floating)
        if self.form.missing_values or any(change(kind) for change in changes):
            values = cleaned(values, self.form)
            numbers, first = engine.grouped(values.to_frame(), [name])
            there = ~engine.missing(values.iloc[first])
            place = np.where(there, np.cumsum(there) - 1, -1)[numbers]
            values = values.iloc[first[there]]
            codes = np.append(place, -1).astype(small)[codes]
        categories = pd.Index(values)
        # 0.0 and -0.0 are two values in the file, and a column may be of no type.
        if not categories.is_unique or categories.hasnans:
            return None
        of_these = pd.CategoricalDtype(categories)
        return pd.Categorical.from_codes(codes, dtype=of_these, validate=False)

    def _whole(self, name: str) -> pd.Series:
        """A column of whatever type, as it is in the file; lists only fail who counts them."""
        with readable(self.path), parquet_file(self.path) as file:
            table = file.read(columns=[name]).select([name])
            table.validate(full=True)
            column = exact_frame(table)[name]
        if not pa.types.is_nested(self._file[1].field(name).type):
            column = cleaned(column, self.form)
        return column if self.kept is None else column[self.kept]


def _listed(batch: pa.Array) -> pa.DictionaryArray:
    """A batch by its distinct values, in codes that are wide enough for those of all batches."""
    if not pa.types.is_dictionary(batch.type):
        return batch.dictionary_encode()
    return pa.DictionaryArray.from_arrays(batch.indices.cast(pa.int32()), batch.dictionary)


def _as_read(name: str, kind: pa.DataType, values: pa.Array) -> pd.Series:
    """Return distinct values as pandas has those of whole columns."""
    if not pa.types.is_dictionary(kind):
        return exact_frame(pa.table({name: values.cast(kind)}))[name]
    numbers = pa.array(np.arange(len(values), dtype=np.int32))
    column = pa.DictionaryArray.from_arrays(numbers, values)
    return pd.Series(exact_frame(pa.table({name: column}))[name].cat.categories, name=name)
