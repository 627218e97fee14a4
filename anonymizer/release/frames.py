"""Tables as scikit-learn's users give and take them: DataFrames of pandas and of Polars."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, require_columns, require_one_of


def frame_of(X: object) -> pd.DataFrame:
    """A table as pandas has it.

    Raises InputError when it is neither a DataFrame of pandas nor one of Polars: columns without
    names have no roles.
    """
    if _is_polars(X, "DataFrame"):
        return X.to_pandas()  # type: ignore[attr-defined, no-any-return]
    if isinstance(X, pd.DataFrame):
        return X
    kind = "a sparse matrix" if hasattr(X, "tocsr") else type(X).__name__
    raise InputError(
        f"expected a pandas DataFrame, got {kind}, which has no column names; give a "
        'DataFrame, and call set_output(transform="pandas") on the steps before this one'
    )


def with_target(X: pd.DataFrame, y: object, schema: Schema) -> pd.DataFrame:
    """A table with the sensitive attributes and targets that it lacks, taken from ``y``.

    ``y``: a DataFrame or a Series with the name of what is missing; or values without a name where
    one column is missing. It is not looked at where none is. Raises InputError when it does not
    fit.
    """
    missing = [name for name in schema.counted if name not in X.columns]
    if y is None:
        require_columns(X.columns, missing, "; put it into X, or give it as y")
    if not missing:
        return X
    columns = _targets(y, missing)
    for name, values in columns.items():
        if len(values) != len(X):
            raise InputError(f"y has {len(values)} values for the {len(X)} records of X")
        columns[name] = values.set_axis(X.index)
    return X.assign(**columns)


def _targets(y: object, missing: Sequence[str]) -> dict[str, pd.Series]:
    """The columns of ``y`` that are missing from X, in the order in which they are missing."""
    y = y.to_pandas() if _is_polars(y, "DataFrame", "Series") else y  # type: ignore[attr-defined]
    named = " and ".join(map(repr, missing))
    if isinstance(y, pd.DataFrame):
        require_columns(y.columns, missing, f"; X lacks {named}, and y must have what X lacks")
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
        import polars
    except ModuleNotFoundError:
        raise InputError(
            "a Polars DataFrame needs polars, which is not installed: "
            "pip install 'anonymizer[polars]'"
        ) from None
    try:
        return polars.from_pandas(table.reset_index(drop=True))
    except (TypeError, ValueError, polars.exceptions.PolarsError):
        raise InputError(
            "a column of the table holds values of several types, which Polars cannot have; "
            "make it texts, or take a pandas DataFrame"
        ) from None


def _is_polars(given: object, *kinds: str) -> bool:
    """Whether something is of a class of Polars; it is not imported for that."""
    return type(given).__module__.split(".")[0] == "polars" and type(given).__name__ in kinds


CONTAINERS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "default": lambda table: table,
    "pandas": lambda table: table,
    "polars": _polars,
}
"""What makes a table of each kind that ``set_output`` knows."""
