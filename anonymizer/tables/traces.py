"""Tables without traces of what is no longer in them: records left out, and notes of their owner.

A categorical keeps categories that no record has, a column of Arrow the dictionary and the buffers
of the table it was cut out of, bytes that lay under a missing value, a nullable number whatever
lies under a missing one, an index of several levels all values it ever had. All of it is pickled
with a DataFrame, and most of it written to Parquet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.types as kinds
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Mask

Offsets = NDArray[np.integer]

PLAIN = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""Types whose values lie in one buffer, by those whose values lie in many."""


def without_traces(table: pd.DataFrame) -> pd.DataFrame:
    """The records of a table and nothing else, its ``attrs`` and flags left out.

    Index and columns, their names, and the types of columns stay as they are, but that sparse
    columns are dense: what fills the others may be a value of somebody who is left out.
    """
    # A DataFrame made of another takes over its columns alone; of a subclass, no attribute either.
    bare = pd.DataFrame(table, copy=False).copy(deep=False)
    for name in bare.columns:
        column = bare[name]
        cleared = _cleared(column.array)
        if cleared is not None:
            bare[name] = pd.Series(cleared, index=column.index, copy=False)
    bare.index, bare.columns = _index_cleared(bare.index), _index_cleared(bare.columns)
    bare.attrs = {}
    return bare


def _cleared(values: Any) -> Any:
    """Values without what lies around and beneath them; None where nothing can."""
    kind = values.dtype
    if isinstance(values, pd.Categorical):
        left = values.remove_unused_categories()
        categories = _cleared(left.categories.array)
        return left if categories is None else left.rename_categories(categories)
    if isinstance(kind, pd.SparseDtype):
        return np.asarray(values)
    if isinstance(kind, pd.ArrowDtype):
        return pd.arrays.ArrowExtensionArray(anew(values.__arrow_array__()))
    if isinstance(kind, pd.StringDtype) and kind.storage == "pyarrow":
        return kind.__from_arrow__(anew(values.__arrow_array__()))  # type: ignore[attr-defined]
    if isinstance(
        values, pd.arrays.IntegerArray | pd.arrays.FloatingArray | pd.arrays.BooleanArray
    ):
        numbers = values.to_numpy(dtype=kind.numpy_dtype, na_value=kind.numpy_dtype.type(0))
        return type(values)(numbers, np.array(values.isna()))
    return None


def _index_cleared(index: Any) -> Any:
    if isinstance(index, pd.MultiIndex):
        index = index.remove_unused_levels()
        return index.set_levels([_index_cleared(level) for level in index.levels])
    cleared = _cleared(index.array)
    return index if cleared is None else pd.Index(cleared, name=index.name)


def anew(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Copy values, of the same type, to buffers that hold nothing else.

    Metadata that a file has of the fields of nested types is left out.
    """
    return pa.chunked_array([_anew(chunk) for chunk in column.chunks], type=_bare(column.type))


def as_texts(column: pd.Series) -> pd.Series:
    """A column of Arrow's as texts, which Python need not hold the values for."""
    return column.astype(pd.ArrowDtype(pa.string()))


def _anew(array: pa.Array) -> pa.Array:
    for holds, rebuilt in REBUILT:
        if holds(array.type):
            return rebuilt(array)
    return array.take(pa.array(np.arange(len(array))))  # zeros where a value is missing


def _of_dictionary(array: pa.DictionaryArray) -> pa.Array:
    """Only the entries that some value refers to, in their order."""
    missing = _nulls(array.indices)
    numbers = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
    used = np.zeros(len(array.dictionary), bool)
    used[numbers[~missing]] = True
    place = np.append(np.cumsum(used) - 1, 0)
    indices = np.where(missing, 0, place[np.where(missing, -1, numbers)])
    return pa.DictionaryArray.from_arrays(
        pa.array(indices.astype(numbers.dtype), type=array.type.index_type, mask=missing),
        _anew(_filtered(array.dictionary, used)),
        ordered=array.type.ordered,
    )


def _of_runs(array: pa.RunEndEncodedArray) -> pa.Array:
    begin, length = array.find_physical_offset(), array.find_physical_length()
    ends = array.run_ends.slice(begin, length).to_numpy() - array.offset
    ends = pa.array(np.minimum(ends, len(array)), type=array.type.run_end_type)
    values = _anew(array.values.slice(begin, length))
    return pa.RunEndEncodedArray.from_arrays(ends, values)


def _of_struct(array: pa.StructArray) -> pa.Array:
    if not array.type.num_fields:
        return array.take(pa.array(np.arange(len(array))))
    children = [_anew(child) for child in array.flatten()]  # missing where the struct is
    mask = pa.array(_nulls(array))
    return pa.StructArray.from_arrays(children, fields=list(_bare(array.type)), mask=mask)


def _of_list(array: pa.Array) -> pa.Array:
    kind, missing = _bare(array.type), _nulls(array)
    lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    values = _anew(array.flatten())  # none of a missing list
    offsets, mask = np.append(0, np.cumsum(lengths)), pa.array(missing)
    if kinds.is_list(kind) or kinds.is_large_list(kind):
        make = pa.ListArray if kinds.is_list(kind) else pa.LargeListArray
        return make.from_arrays(_numbers(kind, offsets), values, type=kind, mask=mask)
    make = pa.ListViewArray if kinds.is_list_view(kind) else pa.LargeListViewArray
    begins, sizes = _numbers(kind, offsets[:-1]), _numbers(kind, lengths)
    return make.from_arrays(begins, sizes, values, type=kind, mask=mask)


def _of_map(array: pa.MapArray) -> pa.Array:
    missing, offsets = _nulls(array), array.offsets.to_numpy()
    lengths = np.where(missing, 0, np.diff(offsets))
    inside = np.zeros(len(array.keys), bool)
    inside[offsets[0] : offsets[-1]] = np.repeat(~missing, np.diff(offsets))
    parts = [_anew(_filtered(part, inside)) for part in (array.keys, array.items)]
    begins = _numbers(pa.list_(pa.null()), np.append(0, np.cumsum(lengths)))
    return pa.MapArray.from_arrays(begins, *parts, type=_bare(array.type), mask=pa.array(missing))


def _of_fixed_list(array: pa.FixedSizeListArray) -> pa.Array:
    missing, size = _nulls(array), array.type.list_size
    slots = array.values.slice(array.offset * size, len(array) * size)
    values = _anew(_blanked(slots, np.repeat(~missing, size)))
    mask = pa.array(missing)
    return pa.FixedSizeListArray.from_arrays(values, type=_bare(array.type), mask=mask)


def _of_union(array: pa.UnionArray) -> pa.Array:
    """Each child is missing where a value is of another one."""
    kind = array.type
    names = [kind.field(place).name for place in range(kind.num_fields)]
    array = array.take(pa.array(np.arange(len(array))))  # the codes of a slice begin at its first
    if kind.mode == "dense":
        children = [_anew(array.field(place)) for place in range(kind.num_fields)]
        parts = array.type_codes, array.offsets, children
        return pa.UnionArray.from_dense(*parts, names, kind.type_codes)
    codes = array.type_codes.to_numpy()
    children = [
        _anew(_blanked(array.field(place), codes == code))
        for place, code in enumerate(kind.type_codes)
    ]
    return pa.UnionArray.from_sparse(_anew(array.type_codes), children, names, kind.type_codes)


REBUILT: list[tuple[Callable[[Any], bool], Callable[[Any], pa.Array]]] = [
    (
        lambda kind: isinstance(kind, pa.BaseExtensionType),
        lambda array: array.type.wrap_array(_anew(array.storage)),
    ),
    (
        lambda kind: kind in PLAIN,
        lambda array: _anew(array.cast(PLAIN[array.type])).cast(array.type),
    ),
    (kinds.is_dictionary, _of_dictionary),
    (kinds.is_run_end_encoded, _of_runs),
    (kinds.is_struct, _of_struct),
    (kinds.is_map, _of_map),
    (kinds.is_fixed_size_list, _of_fixed_list),
    (kinds.is_union, _of_union),
    (kinds.is_null, lambda array: pa.nulls(len(array), array.type)),
    (kinds.is_nested, _of_list),
]
"""How arrays of types that are no plain ones are made anew; nested ones that are left are lists."""


def _nulls(array: pa.Array) -> Mask:
    missing: Mask = array.is_null().to_numpy(zero_copy_only=False)
    return missing


def _numbers(kind: pa.DataType, numbers: Offsets) -> pa.Array:
    """Offsets or lengths, as wide as a type of lists has them."""
    large = kinds.is_large_list(kind) or kinds.is_large_list_view(kind)
    return pa.array(numbers, type=pa.int64() if large else pa.int32())


def _filtered(array: pa.Array, kept: Mask) -> pa.Array:
    """The values that are kept; Arrow itself filters no views and no runs."""
    pieces = [array.slice(begin, size) for begin, size, inside in _runs(kept) if inside]
    return pa.concat_arrays(pieces) if pieces else array.slice(0, 0)


def _blanked(array: pa.Array, kept: Mask) -> pa.Array:
    """The array with missing values in place of those that are not kept."""
    pieces = [
        array.slice(begin, size) if inside else pa.nulls(size, array.type)
        for begin, size, inside in _runs(kept)
    ]
    return pa.concat_arrays(pieces) if pieces else array


def _runs(mask: Mask) -> Iterator[tuple[int, int, bool]]:
    """Where each run of equal values of a mask begins, how long it is, and its value."""
    begins = np.flatnonzero(np.diff(mask, prepend=~mask[:1]))
    sizes = np.diff(np.append(begins, len(mask)))
    yield from zip(begins.tolist(), sizes.tolist(), mask[begins].tolist(), strict=True)


def _bare_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _bare(field.type), field.nullable)


def _bare(kind: pa.DataType) -> pa.DataType:
    """A type whose fields have nothing but names and types."""
    if isinstance(kind, pa.BaseExtensionType) or not kinds.is_nested(kind):
        return kind
    if kinds.is_struct(kind):
        return pa.struct([_bare_field(field) for field in kind])
    if kinds.is_map(kind):
        return pa.map_(_bare_field(kind.key_field), _bare_field(kind.item_field), kind.keys_sorted)
    if kinds.is_fixed_size_list(kind):
        return pa.list_(_bare_field(kind.value_field), kind.list_size)
    makers = {
        kinds.is_list: pa.list_,
        kinds.is_large_list: pa.large_list,
        kinds.is_list_view: pa.list_view,
        kinds.is_large_list_view: pa.large_list_view,
    }
    for holds, make in makers.items():
        if holds(kind):
            return make(_bare_field(kind.value_field))
    return kind
