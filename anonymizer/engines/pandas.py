"""Tables in memory, as pandas DataFrames."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["SIZE", "distinct", "drop_missing", "missing_values", "relabel", "tally"]

SIZE = "number of records"
"""The column of a tally that holds the sizes; a tally has it last."""

Codes = NDArray[np.intp]


def tally(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Count the distinct combinations of values of some columns: one GROUP BY.

    Missing values count as one value of their own. The combinations come in no promised order;
    the last column, ``SIZE``, says how many records each has.
    """
    group = np.zeros(len(table), np.intp)
    for column in columns:
        codes, distinct = pd.factorize(table[column], use_na_sentinel=True)
        mixed = group * (len(distinct) + 1) + codes + 1
        # Renumbered after every column, a key never exceeds records x values: no overflow.
        group = pd.factorize(mixed)[0].astype(np.intp)
    first = np.unique(group, return_index=True)[1]
    counted = table.iloc[first][list(columns)].reset_index(drop=True)
    counted.insert(len(columns), SIZE, np.bincount(group), allow_duplicates=True)
    return counted


def distinct(column: pd.Series) -> tuple[Codes, list[object]]:
    """Number the distinct values of a column, a missing one being a value: codes and values."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    return codes, list(values)


def relabel(column: pd.Series, codes: Codes, labels: Sequence[Hashable]) -> pd.Series:
    """The column of the labels that stand at the codes, on the old index."""
    texts = np.empty(len(labels), dtype=object)
    texts[:] = labels
    return pd.Series(texts[codes], index=column.index, name=column.name)


def missing_values(table: pd.DataFrame, columns: Sequence[str]) -> Mapping[str, int]:
    """How many records miss the value of each column, for the columns where any does."""
    counts = {column: int(table[column].isna().sum()) for column in columns}
    return {column: count for column, count in counts.items() if count}


def drop_missing(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Leave out the records that miss a value of any of the columns."""
    return table.dropna(subset=list(columns))
