"""Symbols as a column of a released table: of one kind, so that any format can hold them."""

from collections.abc import Hashable, Sequence
from math import isfinite

import numpy as np
import pandas as pd

from anonymizer.masking.contingency import Codes
from anonymizer.tables import engine
from anonymizer.tables.values import is_missing, text_of

__all__ = ["symbols_of"]

KINDS = (("int64", -(2**63), 2**63), ("uint64", 0, 2**64))
"""Whole numbers that columns hold: from, and up to but not including."""


def symbols_of(column: pd.Series, symbol_of: Codes, labels: Sequence[Hashable]) -> pd.Series:
    """The symbols of all records, in place of a column.

    Numbers where all symbols are, and texts where only some are: a stated alphabet, or the means of
    ranges, may be of another kind than the values beside them. Nothing reads otherwise then.
    """
    some = [label for label in labels if not is_missing(label)]
    numbers = [n for n in some if isinstance(n, int | float) and not isinstance(n, bool)]
    if len(numbers) < len(some) and len({type(label) for label in some}) > 1:
        labels = [None if is_missing(label) else text_of(label) for label in labels]
    drawn = engine.relabel(column, symbol_of, labels)
    kind = _kind(numbers) if len(numbers) == len(labels) else None
    return drawn if kind is None else drawn.astype(np.dtype(kind))


def _kind(numbers: Sequence[int | float]) -> str | None:
    """What numbers are the same as; None where nothing is that columns of numbers hold."""
    if any(isinstance(number, float) and not isfinite(number) for number in numbers):
        return None
    for kind, least, most in KINDS:
        if all(least <= number < most and number == int(number) for number in numbers):
            return kind
    exact = all(isinstance(number, float) or abs(number) < 2**53 for number in numbers)
    return "float64" if exact else None
