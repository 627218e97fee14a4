"""Cells that a spreadsheet would run as formulas, in tables that are not in memory."""

from collections.abc import Iterable

import numpy as np

from anonymizer.tables.engine import Tally
from anonymizer.tables.files.spreadsheet import (
    BEGINNINGS,
    disarmed,
    disarmed_text,
    formulas,
    require_safe_names,
)
from anonymizer.tables.relations.relation import Moves, Relation


def formulas_in(table: Relation, counted: Tally) -> dict[str, int]:
    """How many cells of each column a spreadsheet would run, its name included; those with any.

    ``counted``: the table by some of its columns, which need not be counted again then.
    """
    found = formulas(counted)
    for name in table.columns:
        if name not in counted.columns:
            found |= formulas(table.beginning(name, BEGINNINGS))
    return {name: found[name] for name in map(str, table.columns) if name in found}


def disarmed_in(table: Relation) -> Relation:
    """The table with an apostrophe before every text that a spreadsheet would run."""
    for name in table.columns:
        texts = table.beginning(name, BEGINNINGS)
        if disarmed(texts) is not texts:
            table = table.recoded(_disarming(table, name))
    return table


def _disarming(table: Relation, name: str) -> Moves:
    """The moves that disarm a column."""
    raw = table.tally([name])
    released = disarmed(raw).combinations
    return Moves(raw, released, np.arange(len(raw.sizes)), raw.sizes, tuple(table.columns))


def with_safe_names_in(table: Relation, roles: Iterable[str]) -> Relation:
    """The table with columns without a role that may be named in a spreadsheet.

    InputError when a column with a role would need another name: the study goes by that.
    """
    require_safe_names(roles)
    names = {name: disarmed_text(name) for name in table.columns}
    return table.named(names) if any(old != new for old, new in names.items()) else table
