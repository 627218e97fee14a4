"""Tables without traces of what is no longer in them: records left out, and notes of their owner.

A categorical keeps categories that no record has, a column of Arrow the dictionary and the buffers
of the table it was cut out of, a nullable number whatever lies under a missing one, an index of
several levels all values it ever had. All of it is pickled with a DataFrame, and most of it written
to Parquet.
"""

from typing import Any

import numpy as np
import pandas as pd
from pandas.arrays import ArrowExtensionArray, BooleanArray, FloatingArray, IntegerArray

from anonymizer.tables.arrow import anew


def without_traces(table: pd.DataFrame) -> pd.DataFrame:
    """The records of a table and nothing else, its ``attrs`` and flags left out.

    Index and columns, their names, and the types of columns stay as they are.
    """
    # A DataFrame made of another takes over its columns alone; of a subclass, no attribute either.
    bare = pd.DataFrame(table, copy=False).copy(deep=False)
    for name in bare.columns:
        column = bare[name]
        cleared = _cleared(column.array)
        if cleared is not None:
            bare[name] = pd.Series(cleared, index=column.index, copy=False)
    bare.index = _index_cleared(bare.index)
    bare.attrs = {}
    return bare


def _cleared(values: Any) -> Any:
    """Values without what lies around and beneath them; None where nothing can."""
    kind = values.dtype
    if isinstance(values, pd.Categorical):
        return _without_categories(values)
    if isinstance(kind, pd.ArrowDtype):
        return ArrowExtensionArray(anew(values.__arrow_array__()))
    if isinstance(kind, pd.StringDtype) and kind.storage == "pyarrow":
        return kind.__from_arrow__(anew(values.__arrow_array__()))  # type: ignore[attr-defined]
    if isinstance(values, IntegerArray | FloatingArray | BooleanArray):
        numbers = values.to_numpy(dtype=kind.numpy_dtype, na_value=kind.numpy_dtype.type(0))
        return type(values)(numbers, np.array(values.isna()))
    return None


def _without_categories(values: pd.Categorical) -> pd.Categorical:
    """Only the categories that are there."""
    left = values.remove_unused_categories()
    cleared = _cleared(left.categories.array)
    return left if cleared is None else left.rename_categories(cleared)


def _index_cleared(index: Any) -> Any:
    if isinstance(index, pd.MultiIndex):
        index = index.remove_unused_levels()
        return index.set_levels([_index_cleared(level) for level in index.levels])
    cleared = _cleared(index.array)
    return index if cleared is None else pd.Index(cleared, name=index.name)
