"""Numbers of values, and of their combinations: what counting and grouping go by.

Those of the values of a column are remembered for as long as it lives. A release numbers the values
of each column a dozen times: to admit it, count it, recode it, prove it, warn of it. Factorizing
30,000 texts takes 1.1 ms, for all columns more than counting their combinations. Arrow's arrays
never change (pandas puts another array in the place of one that it writes to), so that what was
found for one holds until it is gone. Columns of other kinds are numbered anew.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Ints, Mask

Digits = tuple[NDArray[np.integer], int]
"""Numbers below a bound, and the bound."""

MOST_VALUES = 1 << 16
"""Distinct values of a column that is remembered: two bytes a record, and few Python objects."""

BLOCK = 1 << 16
"""Records packed at a time."""

Numbering = tuple[Codes, list[Any]]


class _Known(NamedTuple):
    """The array, which is not kept alive; its narrow codes and its values."""

    array: weakref.ref[Any]
    codes: np.ndarray[Any, np.dtype[np.unsignedinteger[Any]]]
    values: list[Any]


_known: dict[int, _Known] = {}


def remembered(column: pd.Series, number: Callable[[pd.Series], Numbering]) -> Numbering:
    """The codes and values that a function finds for a column, found once for each array."""
    array, known = _known_of(column)
    if known is not None:
        return known.codes.astype(np.intp), list(known.values)
    codes, values = number(column)
    if array is not None:
        _remember(array, codes, values)
    return codes, values


def remembered_at(
    column: pd.Series, records: Codes, number: Callable[[pd.Series], Numbering]
) -> Numbering:
    """The same for some records of a column, taken from what is known of all of them."""
    known = _known_of(column)[1]
    if known is None:
        return number(column.iloc[records])
    return _appearing(known.codes[records], known.values)


def records_of(table: pd.DataFrame, records: Codes | Mask) -> pd.DataFrame:
    """Some records of a table; of columns that are numbered the numbers are taken over.

    InputError of a column of whose type Arrow takes no records.
    """
    try:
        some = table.loc[records] if records.dtype == bool else table.iloc[records]
    except pa.ArrowNotImplementedError:
        raise _not_taken(table, records) from None
    for (_, column), (_, taken) in zip(table.items(), some.items(), strict=True):
        known = _known_of(column)[1]
        if known is not None:
            _remember(_known_of(taken)[0], *_appearing(known.codes[records], known.values))
    return some


def _not_taken(table: pd.DataFrame, records: Codes | Mask) -> InputError:
    """What is said of the first column of whose type Arrow takes no records."""
    for name, column in table.items():
        try:
            column[records] if records.dtype == bool else column.iloc[records]
        except pa.ArrowNotImplementedError:
            return InputError(
                f"column {name!r} is of type {column.dtype}, of which pandas takes no records; "
                "cast it, such as to 'string', or leave it out"
            )
    return InputError("Arrow takes no records of the table; cast its columns, such as to 'string'")


def _known_of(column: pd.Series) -> tuple[Any, _Known | None]:
    """The array of Arrow that holds a column, None where another kind does; what is known of it."""
    values = column.array
    if not isinstance(values, pd.arrays.ArrowExtensionArray):
        return None, None
    array = values.__arrow_array__()
    known = _known.get(id(array))  # perhaps of one that had its place in memory before
    return array, known if known is not None and known.array() is array else None


def _remember(array: Any, codes: Codes, values: list[Any]) -> None:
    if len(values) > MOST_VALUES:
        return
    place = id(array)
    gone = weakref.ref(array, lambda _: _known.pop(place, None))
    narrow = codes.astype(np.min_scalar_type(max(len(values) - 1, 0)))
    _known[place] = _Known(gone, narrow, list(values))


def _appearing(codes: np.ndarray[Any, Any], values: list[Any]) -> Numbering:
    """The same for the values that occur, in order of appearance."""
    first = np.full(len(values), len(codes), np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    order = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    place = np.zeros(len(values), np.intp)
    place[order] = np.arange(len(order))
    return place[codes], [values[number] for number in order]


def packed(digits: Sequence[Digits], records: int) -> Codes:
    """Numbers of several digits, shape (records,)."""
    return np.concatenate([np.zeros(0, np.intp), *blocks(digits, records)])


def crossed(digits: Sequence[Digits], records: int) -> Ints:
    """The records of each combination of numbers, shape (bound, ...); for few combinations."""
    shape = tuple(number for _, number in digits)
    counts = np.zeros(prod(shape), np.int64)
    kind = np.int16 if len(counts) < 2**15 else np.intp  # narrow numbers multiply faster
    for keys in blocks(digits, records, max(BLOCK, len(counts)), kind):
        counts += np.bincount(keys, minlength=len(counts))
    return counts.reshape(shape)


def blocks(
    digits: Sequence[Digits],
    records: int,
    size: int | None = None,
    kind: type[np.signedinteger[Any]] = np.intp,
) -> Iterator[NDArray[Any]]:
    """The same in blocks, each of which stays in the processor's cache while it is made."""
    size = size or BLOCK
    for begin in range(0, records, size):
        block = slice(begin, min(begin + size, records))
        key = np.zeros(block.stop - begin, kind)
        for place, (codes, number) in enumerate(digits):
            if place:
                key *= number
            key += codes[block]
        yield key


def first_records(group: Codes) -> Codes:
    """The first record of each combination, these being numbered in order of appearance.

    A combination is new where the highest number so far rises.
    """
    first, highest = [], -1
    for begin in range(0, len(group), BLOCK):
        so_far = np.maximum.accumulate(np.maximum(group[begin : begin + BLOCK], highest))
        first.append(begin + np.flatnonzero(np.diff(so_far, prepend=highest) > 0))
        highest = int(so_far[-1])
    return np.concatenate(first) if first else np.zeros(0, np.intp)
