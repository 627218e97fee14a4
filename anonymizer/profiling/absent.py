"""What stands in place of a missing value, in all columns of texts of a table."""

from __future__ import annotations

import pandas as pd

from anonymizer.errors import InputError
from anonymizer.tables import engine

SPELLINGS = frozenset("? NA N/A n/a na NaN nan NULL null #N/A . -".split())  # noqa: SIM905
"""Texts that stand for a missing value, and for nothing else; ``None`` may be an answer."""

NOBODY = frozenset(("", "none", "unknown", "no", *(each.casefold() for each in SPELLINGS)))
"""What stands in place of a key where there is none."""


def columns_of_texts(table: pd.DataFrame) -> list[str]:
    """Return the columns that may hold texts whose values can be distinguished."""
    found = []
    for name in table.columns:
        column = table[name]
        if not (pd.api.types.is_string_dtype(column) or column.dtype in (object, "category")):
            continue
        try:
            engine.distinct(column)
        except InputError:  # lists, say
            continue
        found.append(name)
    return found


def spellings_of_missing(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the spellings of missing values that occur in any column, sorted."""
    found: set[str] = set()
    for name in columns_of_texts(table):
        values = engine.distinct(table[name])[1]
        found |= SPELLINGS & {value.strip() for value in values if isinstance(value, str)}
    return tuple(sorted(found))
