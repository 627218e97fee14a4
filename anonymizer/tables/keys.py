"""Combinations of numbers as one number each: what counting and grouping go by."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables.engine import Digits

BLOCK = 1 << 16
"""Records packed at a time."""


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
