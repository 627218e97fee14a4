"""Cells that a spreadsheet would run as formulas, and how a release disarms them.

A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe
before it, unless it is a number (``-5`` is no formula). So does one that begins with apostrophes
and then one of these, so that no two texts become one and none is lost.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.values import number_of

BEGINNINGS = "=+-@\t\r'"
"""What a text begins with that is disarmed, or looks as if it was."""

ARMED = re.compile(r"'*[=+\-@\t\r]")


def formulas(table: engine.Table) -> dict[str, int]:
    """How many cells of each column a spreadsheet would run, its name included; those with any."""
    found = {}
    for name in table.columns:
        cells = int(_runs(name))
        if _has_texts(table[name]):
            codes, values = engine.distinct(table[name])
            runs = np.array([_runs(value) for value in values], np.intp)
            cells += int(engine.sized(table, runs[codes], 2)[1])
        if cells:
            found[str(name)] = cells
    return found


def disarmed(table: T) -> T:
    """The table with an apostrophe before every text that a spreadsheet would run."""
    return _mapped(table, disarmed_text)


def rearmed(table: pd.DataFrame) -> pd.DataFrame:
    """What ``disarmed`` was given, names as they were."""
    return _mapped(table, rearmed_text).rename(columns=rearmed_text)


def require_safe_names(roles: Iterable[str]) -> None:
    """Require that no column with a role would need another name: the study goes by that."""
    for name in roles:
        if _is_armed(name):
            raise InputError(
                f"a spreadsheet would run the name of column {name!r}; rename it in the table and "
                "the study, or leave out csv-safe"
            )


def _is_armed(value: object) -> bool:
    """Whether a value is a text that a spreadsheet would run, apostrophes before it or not."""
    return isinstance(value, str) and ARMED.match(value) is not None and number_of(value) is None


def _runs(value: object) -> bool:
    return _is_armed(value) and not str(value).startswith("'")


def disarmed_text(value: Any) -> Any:
    """A value with an apostrophe before it where a spreadsheet would run it."""
    return "'" + value if _is_armed(value) else value


def rearmed_text(value: Any) -> Any:
    """What ``disarmed_text`` was given."""
    return value[1:] if _is_armed(value) and value.startswith("'") else value


def _has_texts(column: pd.Series) -> bool:
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        kind = kind.categories.dtype
    return pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind)


def _mapped(table: T, change: Callable[[Any], Any]) -> T:
    """The table with every text changed; columns in which none does stay as they are."""
    columns = {}
    for name in table.columns:
        if _has_texts(table[name]):
            codes, values = engine.distinct(table[name])
            changed = [change(value) if isinstance(value, str) else value for value in values]
            if any(old is not new for old, new in zip(values, changed, strict=True)):
                columns[name] = engine.relabel(table[name], codes, changed)
    return engine.replaced(table, columns) if columns else table
