"""Warnings about the order of a table's records."""

from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.release.warnings.warnings import UNORDERED, ReleaseWarning
from anonymizer.tables import engine
from anonymizer.tables.values import is_missing

LOOKED_AT = 1 << 14
"""Records that are looked at, at the most, evenly spread: some of a sorted table are sorted."""

LEAST = 4
"""Pairs that break an order in a random one, at least, for an unbroken one to mean something.

The likeliest chance is that of two values with eight records each: one of 6,435 of their orders is
sorted, up or down. Where texts are sorted in two ways it is at most twice that.
"""


def order_warnings(table: pd.DataFrame, names: Iterable[Hashable]) -> tuple[ReleaseWarning, ...]:
    """Warn of columns that the records of a table are sorted or grouped by.

    ``table``: the raw records in the order in which they are released. ``names``: columns that the
    release does not show as they are.
    """
    found = []
    for name in names:
        pairs = _pairs_in_order(table[name])
        if pairs is not None:
            found.append(ReleaseWarning("telling-order", str(name), *pairs))
    return tuple(found)


def _pairs_in_order(column: pd.Series) -> tuple[int, int] | None:
    """How many neighbours are in order, and of how many; None where that may be chance.

    Groups of equal values are found too, however they follow each other: of the few steps from one
    to the next, at most half break the order that fits best. Missing values have no place.
    """
    step = max(-(-len(column) // LOOKED_AT), 1)
    try:
        codes, values = engine.distinct_at(column, np.arange(0, len(column), step))
    except InputError:
        return None
    present = np.array([not is_missing(value) for value in values], bool)
    codes = (np.cumsum(present) - 1)[codes[present[codes]]]
    values = [value for value, there in zip(values, present, strict=True) if there]
    pairs, expected = len(codes) - 1, _expected(codes)
    if expected < LEAST:
        return None
    broken = min(_broken(codes, values))
    return (pairs - broken, pairs) if broken <= UNORDERED * expected else None


def _expected(codes: Codes) -> float:
    """Pairs of neighbours whose first value is the larger, on average over all orders."""
    records = len(codes)
    if records < 2:
        return 0.0
    sizes = np.bincount(codes)
    differ = 1 - float((sizes * (sizes - 1.0)).sum()) / (records * (records - 1.0))
    return (records - 1) * differ / 2


def _broken(codes: Codes, values: Sequence[object]) -> Iterator[int]:
    """Pairs that break each order that people sort by, rising and falling."""
    for ranks in _orders(values):
        places = ranks[codes]
        yield int((places[1:] < places[:-1]).sum())
        yield int((places[1:] > places[:-1]).sum())


def _orders(values: Sequence[object]) -> Iterator[Floats]:
    """The places of some values: by size where all are numbers, else by letter, or shorter first.

    The last is how ``P9`` and ``P10`` follow each other.
    """
    texts = [str(value).strip() for value in values]
    numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(float)
    if not np.isnan(numbers).any():
        yield numbers
        return
    for keys in (texts, [(len(text), text) for text in texts]):
        places = np.empty(len(keys))
        places[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        yield places
