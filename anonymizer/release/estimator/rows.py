"""Rows that a model learns from or scores: recoded without a recount, and no release.

Every row stays where it is, and quasi-identifiers are texts, whichever level or fold they come
from: an encoder that was fitted to numbers would not know them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, PolicyBrokenError, require_columns
from anonymizer.masking import RandomRecoding
from anonymizer.recoding.apply import overwritten
from anonymizer.recoding.recoding import Recoding
from anonymizer.release.frames import table_of
from anonymizer.release.plan import Plan
from anonymizer.release.release import Release
from anonymizer.release.request import Unseen
from anonymizer.tables import engine
from anonymizer.tables.values import texts_of

if TYPE_CHECKING:
    from anonymizer.tables.relations.frames import Frame

FEW = 100
"""Rows up to which it is faster to look at each value of a column than to number them first."""

MODELLED = "; rows that a model scores are no release, and need verify=False"
"""What is added where a verified release is refused that a prediction may have no need of."""


def verified(
    plan: Plan, table: "pd.DataFrame | Frame", fitted: Sequence[str], unseen: Unseen
) -> tuple["pd.DataFrame | Frame", Release]:
    """The release of a table by a plan, whose errors say that a model needs none.

    ``fitted``: the columns of the table that was fitted.
    """
    for name in plan.schema.counted:
        if name not in table.columns and name not in fitted:
            raise InputError(
                f"the table has no column {name!r}, which the policy is held against{MODELLED}"
            )
    try:
        given = table if isinstance(table, pd.DataFrame) else table.native
        released, release = plan.release(given, unseen=unseen)
        return table_of(released), release
    except PolicyBrokenError as error:
        raise PolicyBrokenError(f"{error}{MODELLED}") from None


def scored(
    plan: Plan, table: pd.DataFrame, fitted: Sequence[str], released: Sequence[str], unseen: Unseen
) -> pd.DataFrame:
    """All rows of a table, recoded without proof.

    ``fitted``, ``released``: the columns of the table that was fitted, and of its release.
    """
    schema = plan.schema
    needless = {*schema.counted, *schema.identifiers}
    require_columns(table.columns, [name for name in fitted if name not in needless])
    recoded = plan.apply(_chosen(table, fitted), verify=False, unseen=unseen)
    return _as_features(_chosen(recoded, released), schema.quasi_identifiers)


def require_rows(recoding: Recoding) -> None:
    """Refuse a recoding that draws at random: it has no rows of its own for a table's rows."""
    if recoding.private or isinstance(recoding, RandomRecoding):
        raise InputError(
            f"recoding {recoding.name!r} draws values, or records, at random, for "
            "which it needs the whole table; verify = False needs one that generalizes"
        )


def learned(released: pd.DataFrame, rows: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Every row of a table that was fitted, as its release has it; see ``_aligned``."""
    names = schema.quasi_identifiers
    return _as_features(_aligned(released, rows, names), names)


def _chosen(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The named columns of a table, as far as it has them, in the order of the names."""
    present = [name for name in names if name in table.columns]
    return table if present == list(table.columns) else table[present]


def _aligned(released: pd.DataFrame, rows: pd.DataFrame, quasi: Sequence[str]) -> pd.DataFrame:
    """Every row of a table as its release has it; rows that were left out are ``*``.

    ``rows`` are numbered by their index, which the ``released`` records kept. Columns are those of
    the release; one that numbers classes is 0 where there is none.
    """
    left_out = ~rows.index.isin(released.index)
    if not left_out.any():
        return released
    table = {name: rows[name].copy() for name in released.columns if name in rows}
    for name in released.columns:
        if name in quasi:
            table[name] = overwritten(released[name].reindex(rows.index), left_out)
        elif name not in rows:
            table[name] = released[name].reindex(rows.index, fill_value=0)
    return pd.DataFrame(table)[list(released.columns)]


def _as_features(table: pd.DataFrame, textual: Sequence[str]) -> pd.DataFrame:
    """Recoded rows whose ``textual`` columns are texts, missing values left as they are.

    The DataFrame says by its ``attrs`` that it is no release.
    """
    from anonymizer.release.applying.scoring import NO_RELEASE  # loads what only other tables need

    given = {name: table[name] for name in textual}
    texts = {name: _texts(column) for name, column in given.items()}
    changed = {name: column for name, column in texts.items() if column is not given[name]}
    table = engine.replaced(table, changed)
    table.attrs["anonymizer"] = NO_RELEASE
    return table


def _texts(column: pd.Series) -> pd.Series:
    """The values of a column as texts: the column itself where they are."""
    few = len(column) <= FEW
    values = column.tolist() if few else engine.distinct(column)[1]
    texts = texts_of(values)
    if texts == values and isinstance(column.dtype, pd.StringDtype):
        return column
    codes = np.arange(len(texts)) if few else engine.distinct(column)[0]
    return engine.relabel(column, codes, texts)
