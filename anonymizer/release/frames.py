"""Tables as users give and take them: of pandas, and of the libraries that narwhals knows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, installing, require_columns, require_one_of
from anonymizer.tables import engine

T = TypeVar("T", "pd.DataFrame", "Frame")

if TYPE_CHECKING:
    from anonymizer.tables.relations.frames import Frame

LIBRARIES = {"dask", "duckdb", "polars", "pyarrow", "pyspark"}
"""Whose tables are counted and recoded where they lie."""


def table_of(X: object) -> pd.DataFrame | Frame:
    """A table of pandas as it is, one of another library as a relation.

    Raises InputError when it is neither: columns without names have no roles.
    """
    table = X if isinstance(X, pd.DataFrame) else relation_if_any(X)
    if table is not None:
        return table
    kind = "a sparse matrix" if hasattr(X, "tocsr") else type(X).__name__
    raise InputError(
        f"expected a pandas DataFrame, got {kind}, which has no column names; give a "
        'DataFrame, and call set_output(transform="pandas") on the steps before this one'
    )


def relation_if_any(table: object) -> Frame | None:
    """The relation that a table of another library than pandas is; None where it is none."""
    if not LIBRARIES.intersection(kind.__module__.split(".")[0] for kind in type(table).__mro__):
        return None
    from anonymizer.tables.relations.frames import relation_of  # loads narwhals

    return relation_of(table)


def rows_of(table: pd.DataFrame | Frame) -> pd.DataFrame:
    """The rows of a table that are needed one by one; InputError where they lie elsewhere."""
    if isinstance(table, pd.DataFrame):
        return table
    table.require_in_memory("verify = False gives every row in its order")
    return table.frame(table.columns)


def without_index(released: pd.DataFrame) -> pd.DataFrame:
    """A release with its records numbered from 0 by its index.

    That of the table may have names, and its gaps are the places of records that were left out.
    """
    return released.reset_index(drop=True)


def with_target(X: T, y: object, schema: Schema) -> T:
    """A table with the sensitive attributes and targets that it lacks, taken from ``y``.

    ``y``: a DataFrame or a Series with the name of what is missing; or values without a name where
    one column is missing. It is not looked at where none is. Raises InputError when it does not
    fit.
    """
    missing = [name for name in schema.counted if name not in X.columns]
    if y is None:
        require_columns(X.columns, missing, "put it into X, or give it as y")
    if not missing:
        return X
    if not isinstance(X, pd.DataFrame):
        X.require_in_memory("y has the values of its records, in their order")
    columns, records = _targets(y, missing), len(X) if isinstance(X, pd.DataFrame) else X.records
    for values in columns.values():
        if len(values) != records:
            raise InputError(f"y has {len(values)} values for the {records} records of X")
    if not isinstance(X, pd.DataFrame):
        return X.assigned(columns)
    return engine.replaced(X, {name: each.set_axis(X.index) for name, each in columns.items()})


def _targets(y: object, missing: Sequence[str]) -> dict[str, pd.Series]:
    """The columns of ``y`` that are missing from X, in the order in which they are missing."""
    y = y.to_pandas() if hasattr(y, "to_pandas") else y
    named = " and ".join(map(repr, missing))
    if isinstance(y, pd.DataFrame):
        require_columns(y.columns, missing, f"X lacks {named}, and y must have what X lacks")
        return {name: y[name] for name in missing}
    name = getattr(y, "name", None) if isinstance(y, pd.Series) else None
    if len(missing) > 1:
        raise InputError(f"X lacks {named}; give y as a DataFrame that has these columns")
    if name not in (None, "", *missing):
        raise InputError(f"X lacks {named}, and y is {name!r}; rename y, or put {named} into X")
    return {missing[0]: y if isinstance(y, pd.Series) else _column(y)}


def _column(y: object) -> pd.Series:
    """Values without a name, shape (records,) or (records, 1), as a column."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"y must have one value per record, not the shape {values.shape}")
    return pd.Series(values)


def container_of(given: object) -> str:
    """The kind of table that ``set_output`` names; what scikit-learn is configured for if none."""
    require_one_of("transform", given, CONTAINERS)
    return str(given)


def configured() -> str:
    """The kind of table that scikit-learn gives wherever nothing else is set."""
    sklearn = sys.modules.get("sklearn")  # who configured it has imported it
    return "default" if sklearn is None else str(sklearn.get_config()["transform_output"])


def _polars(table: pd.DataFrame) -> Any:
    """A table as Polars has it, which knows no index."""
    try:
        from anonymizer.tables.relations.libraries.polars import from_pandas
    except ModuleNotFoundError:
        raise InputError(
            f"a Polars DataFrame needs polars, which is not installed: {installing('polars')}"
        ) from None
    return from_pandas(table)


def output(table: pd.DataFrame | Frame, chosen: str, given: pd.DataFrame | Frame) -> Any:
    """A released table as the kind that was chosen: by default, as that which was given."""
    if chosen == "default" and not isinstance(given, pd.DataFrame):
        return table.native if not isinstance(table, pd.DataFrame) else given.holding(table)
    table = table if isinstance(table, pd.DataFrame) else table.frame(table.columns)
    return CONTAINERS[chosen](table)


CONTAINERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "default": lambda table: table,
    "pandas": lambda table: table,
    "polars": _polars,
}
"""What makes a table of each kind that ``set_output`` knows."""
