"""Rows recoded for a model that scores them: no release."""

from typing import TYPE_CHECKING

import pandas as pd

from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, require_columns, require_one_of
from anonymizer.recoding.apply import UnknownValuesError, relabelled
from anonymizer.release.applying.applied import AppliedPlan
from anonymizer.release.applying.remembered import recalled, remember
from anonymizer.release.applying.tables import plan_for
from anonymizer.release.request import UNSEEN, Unseen
from anonymizer.tables import engine

if TYPE_CHECKING:
    from anonymizer.release.plan import Plan

NO_RELEASE = "not a release: not verified"
"""What ``attrs["anonymizer"]`` of such a table says."""


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
    left = table.drop(columns=[name for name in schema.identifiers if name in table.columns])
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
