"""Proposed hierarchies: a rule for each quasi-identifier, and why it is that one."""

from collections.abc import Sequence

import numpy as np

from anonymizer.kernels.arrays import Codes
from anonymizer.profiling.columns import Column
from anonymizer.profiling.numbers import Ladder, ranges_of

LEAST_SHOWN = 5
"""Records that have a value at least that a proposal names."""

FEW_VALUES = 3
"""Values up to which an attribute is kept or replaced, with nothing between."""

SHARES = (0.02, 0.1, 0.3)
"""Share of the records from which on a value is kept at each level; the rarer are ``other``."""

MOST_KEPT = 30
"""Values that are kept by their names at the most."""

SHRINKS = 0.7
"""Part of the groups that a shorter prefix leaves at the most, to be a level."""

SUPPRESS = {"suppress": True}


def ladder_of(column: Column, k: int, by: Column | None = None) -> Ladder:
    """The hierarchy that is proposed for a column.

    Only values that five records, or ``k``, have are named. ``by`` is a column of numbers that says
    the same, and so in which order the values are.
    """
    if column.kind == "code":
        return _prefixes(column)
    if column.kind in ("date", "datetime"):
        return _calendar(column)
    if column.numbers is not None and column.kind not in ("boolean", "identifier"):
        return ranges_of(column.numbers, column.sizes, whole=column.whole)
    if len(column.values) <= FEW_VALUES:
        return Ladder(SUPPRESS, "few values: kept, or replaced by *")
    return _kept(column, max(k, LEAST_SHOWN))


def _prefixes(column: Column) -> Ladder:
    """Prefixes of a code, of those lengths by which groups become fewer."""
    texts = column.texts
    lengths = {len(text) for text in texts}
    if len(lengths) > 1:  # zeros in front were lost: digits are cut off as of numbers
        if column.numbers is None:
            return Ladder(SUPPRESS, "codes of several lengths: kept, or replaced by *")
        most = max(lengths)
        widths = [10**power for power in range(1, most)][:4]
        return Ladder({"widths": widths}, "codes without their leading zeros: the last digits go")
    chosen: list[int] = []
    groups = len(texts)
    for length in range(max(lengths) - 1, 0, -1):
        left = len({text[:length] for text in texts})
        if 1 < left <= SHRINKS * groups:
            chosen, groups = [*chosen, length], left
    if not chosen:
        return Ladder(SUPPRESS, "codes whose prefixes say no less: kept, or replaced by *")
    return Ladder({"prefixes": chosen}, "codes of one length: the last characters are masked")


def _calendar(column: Column) -> Ladder:
    """Months and years of dates as ISO writes them."""
    return Ladder({"prefixes": [7, 4]}, "dates as ISO 8601 writes them: the month, then the year")


def _kept(column: Column, least: int) -> Ladder:
    """The frequent values are kept, fewer of them at each level, and the rest is ``other``."""
    levels: list[list[str]] = []
    before = len(column.values)
    for share in SHARES:
        kept = _frequent(column, max(least, share * column.records))
        if kept and len(kept) < before - (not levels):  # one value alone is not called other
            levels.append(kept)
            before = len(kept)
    if not levels:
        return Ladder(SUPPRESS, "values of which none can be joined by itself: kept, or replaced")
    known = {text.casefold() for text in column.texts}
    other = next(label for label in ("other", "any other", "the rest") if label not in known)
    return Ladder(
        {"keep": levels, "other": other},
        "values without an order: the most frequent are kept, the rest is joined",
    )


def _frequent(column: Column, least: float) -> list[str]:
    """The values that at least so many records have, most frequent first."""
    return [column.texts[place] for place in np.flatnonzero(column.sizes >= least)[:MOST_KEPT]]


def in_order(column: Column, by: Column) -> Sequence[str] | None:
    """The values of a column in the order of the numbers that go with them; None where one is rare.

    Each value goes with the number that most of its records have.
    """
    if by.numbers is None or column.sizes.min(initial=0) < LEAST_SHOWN:
        return None
    order = np.argsort(_likeliest(column, by), kind="stable")
    return [column.texts[place] for place in order]


def _likeliest(column: Column, by: Column) -> Codes:
    """The number of the most frequent value of another column for each value, shape (values,)."""
    assert by.numbers is not None
    both = (column.codes < len(column.values)) & (by.codes < len(by.values))
    keys = column.codes[both] * len(by.values) + by.codes[both]
    pairs, sizes = np.unique(keys, return_counts=True)
    numbers = np.zeros(len(column.values))
    order = np.argsort(sizes, kind="stable")  # the most frequent is written last
    numbers[pairs[order] // len(by.values)] = by.numbers[pairs[order] % len(by.values)]
    return numbers  # type: ignore[return-value]
