"""Columns of numbers, checked once."""

from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.errors import InputError, is_whole, shown

__all__ = ["Floats", "columns_in", "number_in", "numbers_in", "whole_in"]

Floats = NDArray[np.float64]

WHOLE = 2.0**53
"""Whole numbers beyond are not all told apart."""

LARGEST = 1e100
"""Squares of numbers beyond might add up to more than any number."""


def numbers_in(frame: pd.DataFrame | pd.Series) -> Floats:
    """The numbers of a DataFrame, or of one column, shape (records, columns).

    Raises
    ------
    InputError
        When it has no records or columns, one twice, missing values, or what is no number.
    """
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
    """The numbers of a DataFrame, shape (records, columns).

    Raises
    ------
    InputError
        As :func:`numbers_in`, and for a column alone: what is released is a DataFrame.
    """
    if isinstance(frame, pd.Series):
        raise InputError("a DataFrame of numbers is needed, not Series; take column.to_frame()")
    return numbers_in(frame)


def number_in(what: str, stated: Any, least: float, most: float = LARGEST) -> float:
    """A number above ``least`` and up to ``most``.

    Raises
    ------
    InputError
        When it is none.
    """
    try:
        number = float(stated) if isinstance(stated, Real) else np.nan
    except OverflowError:
        number = np.inf
    if isinstance(stated, bool) or not least < number <= most:
        bound = "" if np.isinf(least) else f" above {least:g}"
        bound += "" if most == LARGEST else f" and up to {most:g}"
        raise InputError(f"{what} = {shown(stated)} must be a number{bound}")
    return number


def whole_in(what: str, stated: Any, least: int, most: int, of: str) -> int:
    """A whole number between bounds; ``of`` says what bounds it above.

    Raises
    ------
    InputError
        When it is none.
    """
    if not is_whole(stated, least=least):
        raise InputError(f"{what} = {shown(stated)} must be a whole number of at least {least}")
    if int(stated) > most:
        raise InputError(f"{what} = {shown(stated)} is more than {of}, {most}")
    return int(stated)


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
