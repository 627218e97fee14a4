"""Cells that a spreadsheet would run as formulas, and how a release disarms them.

A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe
before it, unless it is a number (``-5`` is no formula). So does one that begins with apostrophes
and then one of these, so that no two texts become one and none is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.tables import engine
from anonymizer.tables.engine import T, Tally
from anonymizer.tables.relations.relation import Moves, Relation
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


def formulas_in(table: Relation, counted: Tally, source: Relation) -> dict[str, int]:
    """How many cells of each column a spreadsheet would run, its name included; those with any.

    ``counted``: the table by some of its columns, which need not be counted again then.
    ``source``: that which it was made of, whose other columns it has; what they have none of is
    found there without recoding a record.
    """
    found = formulas(counted)
    for name in table.columns:
        if name not in counted.columns and formulas(source.beginning(name, BEGINNINGS)):
            found |= formulas(table.beginning(name, BEGINNINGS))
    return {name: found[name] for name in map(str, table.columns) if name in found}


def disarmed_in(table: Relation) -> Relation:
    """The table with an apostrophe before every text that a spreadsheet would run."""
    for name in table.columns:
        texts = table.beginning(name, BEGINNINGS)
        if disarmed(texts) is not texts:
            raw = table.tally([name])
            released, every = disarmed(raw).combinations, np.arange(len(raw.sizes))
            table = table.recoded(Moves(raw, released, every, raw.sizes, tuple(table.columns)))
    return table


def with_safe_names_in(table: Relation, roles: Iterable[str]) -> Relation:
    """The table with columns without a role that may be named in a spreadsheet.

    InputError when a column with a role would need another name: the study goes by that.
    """
    for name in roles:
        if _is_armed(name):
            raise InputError(
                f"a spreadsheet would run the name of column {name!r}; rename it in the table and "
                "the study, or leave out csv-safe"
            )
    names = {name: disarmed_text(name) for name in table.columns}
    return table.named(names) if any(old != new for old, new in names.items()) else table
