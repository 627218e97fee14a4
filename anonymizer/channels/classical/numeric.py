"""Columns of numbers, checked once."""

import numpy as np
import pandas as pd

from anonymizer.channels.validation import LARGEST
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats

WHOLE = 2.0**53
"""Whole numbers beyond are not all distinct."""


def numbers_in(frame: pd.DataFrame | pd.Series) -> Floats:
    """The finite numbers of a DataFrame, or of one column, shape (records, columns)."""
    if isinstance(frame, pd.Series):
        frame = frame.to_frame("of this name" if frame.name is None else frame.name)
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"a DataFrame of numbers is needed, not {type(frame).__name__}")
    if not len(frame) or not len(frame.columns):
        raise InputError("there are no records, or no columns, to be masked")
    if not frame.columns.is_unique:
        raise InputError("two columns have the same name; rename one of them")
    return np.column_stack([_numbers(frame[name], name) for name in frame.columns])


def columns_in(frame: pd.DataFrame) -> Floats:
    """The numbers of a DataFrame; a column alone is refused, as what is released is a DataFrame."""
    if isinstance(frame, pd.Series):
        raise InputError("a DataFrame of numbers is needed, not Series; take column.to_frame()")
    return numbers_in(frame)


def framed(frame: pd.DataFrame, numbers: Floats) -> pd.DataFrame:
    """Numbers with the index and the columns of a DataFrame."""
    return pd.DataFrame(numbers, index=frame.index, columns=frame.columns)


def _numbers(column: pd.Series, name: object) -> Floats:
    missing = int(column.isna().sum())
    if missing:
        raise InputError(
            f"column {name!r} misses {missing:,} values; drop these records, or fill them in"
        )
    kind = pd.api.types
    if not kind.is_numeric_dtype(column) or kind.is_bool_dtype(column):
        raise InputError(f"column {name!r} holds no numbers; leave it out, or convert it")
    if kind.is_complex_dtype(column) or not np.isfinite(column.to_numpy(float)).all():
        raise InputError(f"column {name!r} holds values that are no finite numbers")
    numbers = np.asarray(column.to_numpy(float))
    largest = WHOLE if kind.is_integer_dtype(column) else LARGEST
    if np.abs(numbers).max() > largest:
        raise InputError(
            f"column {name!r} holds numbers beyond {largest:.3g}, too large to be reckoned with; "
            "subtract what they have in common, or divide them"
        )
    return numbers
