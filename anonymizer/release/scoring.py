"""Rows recoded for a model that scores them: no release.

A row of 8 attributes takes 3 to 5 ms to place by rules and groups, of which pandas' work on columns
of one value is most, and 0.5 ms to look up. So values that a plan has placed before are remembered,
each attribute by itself, for as long as the plan lives in memory; they are never pickled.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import pandas as pd

from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, require_columns, require_one_of
from anonymizer.hierarchy import ANY
from anonymizer.recoding.apply import UnknownValuesError, relabelled
from anonymizer.release.applied import AppliedPlan, plan_for
from anonymizer.release.request import (
    NO_RELEASE,
    UNSEEN,
    Unseen,
    require_unshifted,
    require_unweighed,
)
from anonymizer.tables import engine
from anonymizer.tables.values import text_of

if TYPE_CHECKING:
    from anonymizer.release.plan import Plan

FEW = 100
"""Rows up to which a look at each value is faster."""

MOST = 10_000
"""Values of an attribute that are remembered at once."""

Labels = dict[tuple[type, object], object]

_MEMORIES: WeakKeyDictionary["Plan", dict[tuple[Unseen, str], Labels]] = WeakKeyDictionary()


def unverified(plan: "Plan", table: pd.DataFrame, unseen: Unseen) -> pd.DataFrame:
    """A table recoded as it stands: every row, in its order, without a recount.

    Raises InputError where a quasi-identifier is absent, holds what is not covered, misses a value
    that it must not miss, or values are drawn at random.
    """
    require_one_of("unseen", unseen, UNSEEN)
    if plan.fitted.random or plan.fitted.private:
        raise InputError(
            "verify = False is for recodings that generalize; values, or records, that are drawn "
            "at random need the whole table"
        )
    require_unshifted(plan.shift)
    require_unweighed(plan.schema)
    recoded = recalled(plan, table, unseen)
    if recoded is None:
        recoded = _recoded(plan, _admitted(plan.schema, table), unseen)
        remember(plan, table, recoded, unseen)
    recoded.attrs["anonymizer"] = NO_RELEASE
    return recoded


def _admitted(schema: Schema, table: pd.DataFrame) -> pd.DataFrame:
    """The rows with the columns that may be left, blanks around values stripped."""
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"expected a pandas DataFrame, got {type(table).__name__}")
    names = schema.quasi_identifiers
    require_columns(table.columns, names)
    left = table.drop(columns=[name for name in schema.left_out if name in table.columns])
    rows = engine.replaced(left, {name: engine.stripped(left[name]) for name in names})
    if schema.missing == "error":
        schema.refuse_missing(engine.missing_values(rows, names), len(rows))
    return rows


def _recoded(plan: "Plan", rows: pd.DataFrame, unseen: Unseen) -> pd.DataFrame:
    """Rows under the labels of the plan; of what it does not cover as it is wished."""
    if plan.followed is None:
        try:
            return relabelled(rows, plan.recoding, plan.taxonomies)
        except UnknownValuesError:
            pass
    found: AppliedPlan = plan_for(plan.source, rows, unseen, scored=True)[0]
    if unseen == "suppress" and not isinstance(found.recoding, Regions):
        strange = found.strange(rows)
        if strange.any():
            return found.hidden(rows, strange)
    return relabelled(rows, found.recoding, found.taxonomies)


def recalled(plan: "Plan", table: pd.DataFrame, unseen: Unseen) -> pd.DataFrame | None:
    """Some rows recoded by what is remembered of a plan; None where that is not enough."""
    memory = _MEMORIES.get(plan)
    if memory is None or not _is_small(plan, table):
        return None
    columns: dict[str, object] = {}
    for name in table.columns:
        if name in plan.schema.quasi_identifiers:
            found = _labels(table[name], memory.get((unseen, name), {}))
            if found is None:
                return None
            columns[name] = found
        elif name not in plan.schema.left_out:
            columns[name] = table[name]
    return pd.DataFrame(columns, index=table.index)


def _labels(column: pd.Series, known: Mapping[tuple[type, object], object]) -> object:
    """The labels of a column: itself where nothing changes, texts, or None where one is unknown."""
    values = column.tolist()
    try:
        labels = [known[type(value), value] for value in values]
    except (KeyError, TypeError):  # a value that cannot be a key is refused elsewhere
        return None
    if all(map(_same, values, labels)):
        return column
    return labels if all(isinstance(label, str) for label in labels) else None


def remember(plan: "Plan", table: pd.DataFrame, recoded: pd.DataFrame, unseen: Unseen) -> None:
    """Remember what became of the values of some rows, unless whole records were suppressed."""
    names = list(plan.schema.quasi_identifiers)
    if not _is_small(plan, table):
        return
    if unseen == "suppress" and (recoded[names] == ANY).all(axis=1).any():
        return
    memory = _MEMORIES.setdefault(plan, {})
    for name in names:
        known = memory.setdefault((unseen, name), {})
        if len(known) > MOST:
            known.clear()
        for value, label in zip(table[name].tolist(), recoded[name].tolist(), strict=True):
            # A label that reads as the value was made a text by other values of its column.
            changed = isinstance(label, str) and label != text_of(value)
            if changed or _same(value, label):
                known[type(value), value] = label


def _is_small(plan: "Plan", table: pd.DataFrame) -> bool:
    """Whether a table is of few rows, and a plan one that looks at each attribute by itself."""
    few = isinstance(table, pd.DataFrame) and 0 < len(table) <= FEW
    if not few or isinstance(plan.recoding, Regions) or not table.columns.is_unique:
        return False
    return all(name in table.columns for name in plan.schema.quasi_identifiers)


def _same(value: object, label: object) -> bool:
    return type(value) is type(label) and value == label
