"""What makes two raw values the same value, and a value a number."""

from collections.abc import Hashable, Iterable
from decimal import Decimal, InvalidOperation
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["exact", "is_missing", "named", "number_text", "numbers_of", "rank", "text_of"]

SHOWN = 3
"""How many values a message names at the most."""


def is_missing(value: Any) -> bool:
    """Whether a raw value is missing: None, NaN and their kin."""
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def text_of(value: object) -> str:
    """The text of a value, blanks around it stripped.

    >>> text_of(39), text_of(39.0), text_of(" 39"), text_of(0.5)
    ('39', '39', '39', '0.5')
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        number = exact(value)
        if number is not None and number == number.to_integral_value():
            return number_text(number)
    return str(value).strip()


def exact(value: object) -> Decimal | None:
    """The exact number that a value writes out; None when it is no finite number.

    >>> exact(" 0.1"), exact(0.1), exact("x"), exact("inf")
    (Decimal('0.1'), Decimal('0.1'), None, None)
    """
    try:
        number = value if isinstance(value, Decimal) else Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def numbers_of(keys: Iterable[Hashable]) -> NDArray[np.float64] | None:
    """Every key as a number (NaN for a missing one), or None where one is no number."""
    numbers = [(key, exact(key)) for key in keys]
    if any(number is None and key is not None for key, number in numbers):
        return None
    return np.array([np.nan if number is None else float(number) for _, number in numbers])


def rank(key: Hashable) -> tuple[bool, bool, Decimal, str]:
    """Numbers by size, then texts by letter, a missing value last: not as rows happen to come."""
    number = exact(key)
    return (key is None, number is None, number or Decimal(0), "" if key is None else str(key))


def number_text(number: Decimal) -> str:
    """A number as people write it.

    >>> number_text(Decimal("25.0")), number_text(Decimal("1E+2"))
    ('25', '100')
    """
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def named(values: list[str]) -> str:
    """Count some values and name the first of them, for messages.

    >>> named(["a", "b"])
    "2 values ('a', 'b')"
    """
    shown = ", ".join(map(repr, values[:SHOWN])) + (", ..." if len(values) > SHOWN else "")
    return f"{len(values)} value{'s' if len(values) > 1 else ''} ({shown})"
