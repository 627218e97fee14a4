"""Counted columns as numbers: what engines give of a GROUP BY, and what they join to a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.parquet import exact_column, is_text
from anonymizer.tables.relations.relation import Moves

MOST_KEYS = 2**62
"""Bound on the numbers that combinations are packed into."""

ALIKE: list[Callable[[pa.DataType], bool]] = [
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    lambda kind: pa.types.is_decimal(kind) and kind.scale >= 0,
    is_text,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
    pa.types.is_duration,
    pa.types.is_null,
]
"""Types whose equal values are alike."""

Known: TypeAlias = "dict[str, tuple[pd.Index, pa.Array]]"
"""Categories of columns that Python has other values for than Arrow, and those of Arrow."""


class CountedColumn(NamedTuple):
    """The distinct values of a counted column, and the number of each row's; a missing one last."""

    values: pa.Array
    codes: Codes

    @property
    def bound(self) -> int:
        """A bound on the numbers."""
        return len(self.values) + 1


def tells_apart(kind: pa.DataType) -> bool:
    """Whether a type is one of those whose equal values are alike, or is encoded from one."""
    if isinstance(kind, pa.BaseExtensionType):
        return False
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return tells_apart(kind.value_type)
    return any(holds(kind) for holds in ALIKE)


def tallied(counted: pa.Table, names: Mapping[str, str], size: str) -> tuple[Tally, Known]:
    """The tally that a table of combinations is, in any order, and what is known of its columns.

    ``names``: those of columns, by those of the table; ``size``: that of the column of sizes.
    """
    found = {name: _sorted(counted[given]) for given, name in names.items()}
    order = _order([*found.values()])
    columns, known = {}, {}
    for name, column in found.items():
        kinds = pd.Index(values_of(column.values))
        codes = np.where(column.codes < len(kinds), column.codes, -1)
        columns[name] = pd.Categorical.from_codes(codes[order], kinds)
        if pd.api.types.is_string_dtype(kinds.dtype) and not is_text(column.values.type):
            known[name] = columns[name].categories, column.values
    sizes = counted[size].to_numpy().astype(np.int64)
    return Tally(pd.DataFrame(columns), sizes[order]), known


def coded(raw: Tally, known: Known) -> dict[str, CountedColumn]:
    """The columns of a tally, their values as the table has them."""
    found = {}
    for name, column in raw.combinations.items():
        kinds, codes = column.cat.categories, column.cat.codes.to_numpy().astype(np.int64)
        own, values = known.get(str(name), (None, None))
        values = values if own is kinds else pa.array(kinds.array)
        found[str(name)] = CountedColumn(values, np.where(codes < 0, len(kinds), codes))
    return found


def labels_of(moves: Moves) -> list[pa.Array]:
    """The released values of each move, by columns; InputError where they are of several types."""
    found = []
    for name, column in moves.released.items():
        try:
            labels = pa.array(column, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise InputError(
                f"column {name!r} is released with values of several types, which only pandas "
                "can hold in one column; make the labels of its hierarchy texts"
            ) from None
        found.append(labels.dictionary_decode() if pa.types.is_dictionary(labels.type) else labels)
    return found


def _sorted(column: pa.ChunkedArray) -> CountedColumn:
    """The values of a column in their order, and their numbers."""
    import pyarrow.compute as pc  # 0.04 s, which a study with a mistake does without

    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if not len(column):  # Arrow combines no chunks that are none, where they are of time
        return CountedColumn(pa.array([], column.type), np.zeros(0, np.int64))
    encoded = column.dictionary_encode().combine_chunks()
    values = encoded.dictionary
    order = pc.array_sort_indices(values).to_numpy()
    place = np.empty(len(values) + 1, np.int64)  # a missing value comes after all others
    place[order], place[-1] = np.arange(len(values)), len(values)
    indices = encoded.indices
    if indices.null_count:
        indices = indices.fill_null(len(values))
    return CountedColumn(values.take(order), place[indices.to_numpy()])


def _order(columns: Sequence[CountedColumn]) -> Codes:
    """The order of combinations, which are distinct: by one number each where there is one."""
    if prod(column.bound for column in columns) > MOST_KEYS:
        return np.lexsort([column.codes for column in reversed(columns)])
    keys = np.zeros(len(columns[0].codes), np.int64)
    for column in columns:
        keys *= column.bound
        keys += column.codes
    return keys.argsort()


def values_of(column: pa.Array | pa.ChunkedArray) -> pd.Series:
    """Values as Python has them; those that it cannot hold are texts."""
    if column.type == pa.time64("ns"):
        return _times(column)
    values = exact_column(column)
    try:
        if pa.types.is_temporal(column.type):
            values.tolist()
    except OverflowError:
        return exact_column(column.cast(pa.string()))
    return values


def _times(column: pa.Array | pa.ChunkedArray) -> pd.Series:
    """Times of day as Python has them; as texts where it would cut them to microseconds."""
    try:
        return exact_column(column.cast(pa.time64("us")))
    except pa.ArrowInvalid:
        return exact_column(column.cast(pa.string()))
