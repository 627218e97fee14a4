"""From the columns of a table to count matrices: what a schema's counts are made of."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonymizer.counts import Counts
from anonymizer.engines import pandas as engine
from anonymizer.errors import InputError
from anonymizer.hierarchy import Taxonomy
from anonymizer.hierarchy.values import is_missing, text_of

__all__ = ["beside", "by_text", "encoded", "histograms", "require_everybody", "spread"]

MOST_CELLS = 200_000_000
"""Cells of a count matrix beyond are refused before they are allocated (1.6 GB)."""


def encoded(column: pd.Series, taxonomy: Taxonomy) -> np.ndarray:
    """The code of each value of a column, shape (rows,)."""
    codes, values = engine.distinct(column)
    return taxonomy.encode(values)[codes]


def spread(column: pd.Series, sizes: np.ndarray) -> tuple[np.ndarray, tuple[object, ...]]:
    """The sizes of a tally's rows, each in the column of its sensitive value, and the values."""
    codes, values = by_text(column)
    _require_countable(column, len(sizes), len(values))
    joint = np.zeros((len(sizes), len(values)), np.int64)
    joint[np.arange(len(sizes)), codes] = sizes
    return joint, values


def by_text(column: pd.Series) -> tuple[np.ndarray, tuple[object, ...]]:
    """Number the distinct values of a column in the order of their texts: codes and values.

    So neither sums of logarithms nor draws of records depend on the order of the records. A missing
    value comes after a text that looks like it.
    """
    codes, values = _as_read(column)
    keys = [(str(value), is_missing(value)) for value in values]
    order = sorted(range(len(values)), key=keys.__getitem__)
    if order == list(range(len(values))):
        return codes, tuple(values)
    return np.argsort(order)[codes], tuple(values[place] for place in order)


def histograms(
    column: pd.Series, class_of: np.ndarray, classes: int
) -> tuple[np.ndarray, tuple[object, ...]]:
    """Records by class and value, shape (classes, values), and the values."""
    codes, values = _as_read(column)
    _require_countable(column, classes, len(values))
    cells = np.bincount(class_of * len(values) + codes, minlength=classes * len(values))
    return cells.astype(np.int64).reshape(classes, len(values)), tuple(values)


def _as_read(column: pd.Series) -> tuple[np.ndarray, list[object]]:
    """Number the distinct values of a column, those that read alike being one: codes and values.

    1 and "1" are to whoever reads the release: told apart they would only seem diverse.
    """
    codes, values = engine.distinct(column)
    texts = [None if is_missing(value) else str(value).strip() for value in values]
    first = {text: place for place, text in reversed(list(enumerate(texts)))}
    if len(first) == len(texts):
        return codes, values
    kept = sorted(first.values())
    number = {texts[place]: code for code, place in enumerate(kept)}
    merged = np.array([number[text] for text in texts], np.intp)
    return merged[codes], [values[place] for place in kept]


def beside(table: pd.DataFrame, population: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The quasi-identifiers of a table and, below, of a population, as texts.

    One may hold numbers where the other, read from a file, holds texts.
    """
    columns = {}
    for name in names:
        parts = []
        for column in (table[name], population[name]):
            codes, values = engine.distinct(column)
            texts = [None if is_missing(value) else text_of(value) for value in values]
            parts.append(np.array([*texts, None], object)[:-1][codes])
        columns[name] = np.concatenate(parts)
    return pd.DataFrame(columns)


def require_everybody(counts: Counts) -> None:
    """Require that the population holds every record of the table."""
    if counts.population is None:
        return
    lacking = counts.population < counts.sizes
    if lacking.any():
        records = int((counts.sizes - counts.population)[lacking].sum())
        raise InputError(
            f"the population lacks {records:,} records of the table, in {int(lacking.sum()):,} of "
            f"its {counts.occupied:,} combinations of quasi-identifiers; it must hold everybody "
            "who is in the table"
        )


def _require_countable(column: pd.Series, rows: int, values: int) -> None:
    if rows * values > MOST_CELLS:
        raise InputError(
            f"column {column.name!r} has {values:,} distinct values, too many to count in "
            f"{rows:,} combinations; is it a sensitive attribute, or an identifier?"
        )
