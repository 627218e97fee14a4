"""Spellings of missing values: what a table writes where it has none."""

import pandas as pd

from anonymizer.tables import engine

SPELLINGS = frozenset(
    ["?", "NA", "N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "#N/A", ".", "-"]
)
"""Texts that stand for a missing value, and for nothing else; ``None`` may be an answer."""


def spellings_of_missing(table: pd.DataFrame) -> tuple[str, ...]:
    """The spellings of missing values that occur in any column, in alphabetical order."""
    found: set[str] = set()
    for name in table.columns:
        column = table[name]
        if pd.api.types.is_string_dtype(column) or column.dtype == object:
            try:
                values = engine.distinct(column)[1]
            except ValueError:  # lists, say
                continue
            texts = {value.strip() for value in values if isinstance(value, str)}
            found |= texts & SPELLINGS
    return tuple(sorted(found))
