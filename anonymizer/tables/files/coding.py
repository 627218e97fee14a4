"""A column as small numbers, one for each distinct value, from batches that are read in turn."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

SmallCodes = NDArray[np.signedinteger[Any]]
Batches = Callable[[], Iterable[pa.Array]]
"""Reads a column anew, batch by batch."""

NARROW = 1 << 16
"""A range of so many whole numbers, or of as many as there are records, is counted from its least:
that costs a tenth of looking each of them up."""

BLOCK = 1 << 16
"""SmallCodes looked up at a time: what NumPy widens them to stays in the processor's cache."""


class NumberedColumn(NamedTuple):
    """A column as numbers: distinct values, and the code (records,) of each, -1 if missing."""

    codes: SmallCodes
    values: pa.Array


class _Part(NamedTuple):
    """A batch of whole numbers, from ``low`` on (-1 is missing), and how wide their range is."""

    low: int
    width: int
    codes: SmallCodes


def coded(kind: pa.DataType, batches: Batches, records: int) -> NumberedColumn | None:
    """Number the distinct values of a column of so many records; None for lists and their kin.

    Exact: whole numbers of any size, dates and decimals stay apart where they differ at all.
    """
    types = pa.types
    whole = types.is_integer(kind) or types.is_date32(kind) or types.is_boolean(kind)
    found = _ranged(kind, batches, records) if whole else None
    try:
        return found or _listed(kind, batches, records)
    except pa.ArrowNotImplementedError:
        return None


def smallest(number: int) -> np.dtype[np.signedinteger[Any]]:
    """The type for codes below a number, -1 and the number itself."""
    return np.dtype(np.int8 if number < 127 else np.int16 if number < 32767 else np.int32)


def looked_up(place: SmallCodes, codes: SmallCodes) -> SmallCodes:
    """What stands in a list at each code, at -1 its last entry; shape (records,)."""
    found = np.empty(len(codes), place.dtype)
    for begin in range(0, len(codes), BLOCK):
        block = slice(begin, begin + BLOCK)
        found[block] = place[codes[block]]
    return found


def _ranged(kind: pa.DataType, batches: Batches, records: int) -> NumberedColumn | None:
    """Whole numbers, counted from the least; None where they are too far apart."""
    most = max(NARROW, records)
    parts = []
    for batch in batches():
        part = _above_least(_as_whole(batch), most)
        if part is None:
            return None
        parts.append(part)
    least = min((part.low for part in parts if part.width), default=0)
    width = max((part.low + part.width for part in parts if part.width), default=0) - least
    if width > most:
        return None
    codes = np.empty(records, smallest(width))
    begin = 0
    for part in parts:
        into = codes[begin : begin + len(part.codes)]
        into[:] = part.codes
        if part.width and part.low > least:
            np.add(into, part.low - least, out=into, where=into >= 0)
        begin += len(part.codes)
    return _without_gaps(kind, codes, least, width)


def _as_whole(batch: pa.Array) -> pa.Array:
    """Dates as days, truth as 0 and 1."""
    if pa.types.is_date32(batch.type):
        return batch.view(pa.int32())
    return batch.cast(pa.uint8()) if pa.types.is_boolean(batch.type) else batch


def _above_least(batch: pa.Array, most: int) -> _Part | None:
    """The numbers of a batch less its least; they wrap around as its type does, which is right."""
    ends = pa.compute.min_max(batch).as_py()
    if ends["min"] is None:
        return _Part(0, 0, np.full(len(batch), -1, np.int8))
    low, width = ends["min"], ends["max"] - ends["min"] + 1
    if width > most:
        return None
    numbers = (batch.fill_null(low) if batch.null_count else batch).to_numpy()
    above = np.subtract(numbers, numbers.dtype.type(low)) if low else numbers
    codes = above.view(f"u{above.itemsize}").astype(smallest(width))
    if batch.null_count:
        codes[batch.is_null().to_numpy(zero_copy_only=False)] = -1
    return _Part(low, width, codes)


def _without_gaps(kind: pa.DataType, codes: SmallCodes, least: int, width: int) -> NumberedColumn:
    """Leave out the numbers of a range that no record has."""
    seen = _present(codes, width)
    days = pa.types.is_date32(kind)
    whole = np.dtype(kind.to_pandas_dtype()) if pa.types.is_integer(kind) else np.dtype(np.int32)
    numbers = pa.array(np.flatnonzero(seen).astype(whole) + np.asarray(least).astype(whole))
    values = numbers.view(kind) if days else numbers.cast(kind)
    if not seen.all():
        place = np.append(np.cumsum(seen) - 1, -1).astype(smallest(len(values)))
        codes = looked_up(place, codes)
    return NumberedColumn(codes, values)


def _present(codes: SmallCodes, number: int) -> NDArray[np.bool_]:
    """Which codes occur, shape (number,); it mostly takes few records to see them all."""
    seen = np.zeros(number + 1, bool)
    for begin in range(0, len(codes), BLOCK):
        seen[codes[begin : begin + BLOCK]] = True
        if seen[:-1].all():
            break
    return seen[:-1]


def _listed(kind: pa.DataType, batches: Batches, records: int) -> NumberedColumn:
    """Any values, looked up in a dictionary."""
    parts: list[SmallCodes] = []
    dictionaries = [pa.array([], kind.value_type if pa.types.is_dictionary(kind) else kind)]
    for batch in batches():
        encoded = batch if pa.types.is_dictionary(batch.type) else batch.dictionary_encode()
        number = len(encoded.dictionary)
        parts.append(_indices(encoded).astype(smallest(number)))
        dictionaries.append(encoded.dictionary.cast(dictionaries[0].type))
    together = pa.chunked_array(dictionaries).dictionary_encode()
    values = together.chunk(0).dictionary if together.num_chunks else dictionaries[0]
    codes = np.empty(records, smallest(len(values)))
    places = np.concatenate([np.zeros(0, np.int32), *map(_indices, together.chunks)])
    begin = first = 0
    for part, dictionary in zip(parts, dictionaries[1:], strict=True):
        place = places[first : first + len(dictionary)]
        same = np.array_equal(place, np.arange(len(place)))
        found = part if same else looked_up(np.append(place, -1).astype(codes.dtype), part)
        codes[begin : begin + len(part)] = found
        begin, first = begin + len(part), first + len(dictionary)
    return NumberedColumn(codes, values)


def _indices(encoded: pa.DictionaryArray) -> NDArray[np.int32]:
    indices = encoded.indices
    found: NDArray[np.int32] = (indices.fill_null(-1) if indices.null_count else indices).to_numpy()
    return found
