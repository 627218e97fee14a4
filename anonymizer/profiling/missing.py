"""Spellings of missing values: what a table writes where it has none."""

import pandas as pd

from anonymizer.errors import InputError
from anonymizer.tables import engine

SPELLINGS = frozenset("? NA N/A n/a na NaN nan NULL null #N/A . -".split())  # noqa: SIM905
"""Texts that stand for a missing value, and for nothing else; ``None`` may be an answer."""


def columns_of_texts(table: pd.DataFrame) -> list[str]:
    """The columns that may hold texts whose values can be told apart."""
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
    """The spellings of missing values that occur in any column, in alphabetical order."""
    found: set[str] = set()
    for name in columns_of_texts(table):
        values = engine.distinct(table[name])[1]
        found |= SPELLINGS & {value.strip() for value in values if isinstance(value, str)}
    return tuple(sorted(found))
