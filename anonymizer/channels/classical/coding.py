"""Extreme values cut off, and numbers rounded."""

import numpy as np
import pandas as pd

from anonymizer.channels.validation import (
    DISTINCT,
    LARGEST,
    columns_of,
    number_of,
    require_flag,
    require_generator,
)
from anonymizer.errors import InputError, require_one_of
from anonymizer.kernels.arrays import Floats

REPLACEMENTS = ("limit", "mean")


def top_bottom_coding(
    column: pd.Series,
    *,
    bottom: float | None = None,
    top: float | None = None,
    replacement: str = "limit",
) -> pd.Series:
    """min(max(x, bottom), top); or the mean of what lies beyond, which keeps the total.

    Hides how extreme the extremes are, not whose they are (Hundepool et al., 2012):
    there is no guarantee, least of all where a mean is that of few.

    Parameters
    ----------
    column
        Numbers, none missing.
    bottom, top, replacement
        Values below or above are replaced by ``"limit"`` or ``"mean"``; one may be left out.

    Raises
    ------
    InputError
        When there is neither limit, they are in the wrong order, or the column holds no numbers.
    """
    require_one_of("replacement", replacement, REPLACEMENTS)
    if bottom is None and top is None:
        raise InputError("neither bottom nor top is given: nothing would be coded")
    low = -np.inf if bottom is None else number_of("bottom", bottom, most=LARGEST)
    high = np.inf if top is None else number_of("top", top, most=LARGEST)
    if low >= high:
        raise InputError(f"bottom = {bottom!r} must be below top = {top!r}")
    numbers = _column(column)
    if replacement == "limit":
        return _like(column, np.clip(numbers, low, high))
    coded = numbers.copy()
    for beyond in (numbers < low, numbers > high):
        coded[beyond] = numbers[beyond].mean() if beyond.any() else 0.0
    return _like(column, coded)


def rounding(column: pd.Series, base: float) -> pd.Series:
    """The nearest multiple of a base; halfway between two the even one.

    Wrong by base / 2 at the most. There is no guarantee.

    Parameters
    ----------
    column, base
        Numbers, none missing; and a number above 0, in their unit.

    Raises
    ------
    InputError
        When the column holds no numbers, or the base is not above 0.
    """
    base, multiples = _multiples(column, base)
    return _like(column, base * np.rint(multiples))


def random_rounding(
    column: pd.Series, base: float, rng: np.random.Generator, *, controlled: bool = True
) -> pd.Series:
    """A neighbouring multiple of a base: b floor(x/b) or that + b, with mean x.

    Unbiased (Nargundkar and Saveland, 1972). Controlled, the sum of any first records is rounded to
    a neighbouring multiple, too, that of all among them (Cox, 1987): numbers are rounded up where
    the sum of the remainders so far, begun at random, passes a multiple. Multiples stay what they
    are. There is no guarantee.

    Parameters
    ----------
    column, base
        Numbers, none missing; and a number above 0, in their unit.
    controlled
        Whether sums are controlled; otherwise numbers are rounded independently of each other.

    Raises
    ------
    InputError
        When the column holds no numbers, or the base is not above 0.
    """
    require_generator(rng)
    require_flag("controlled", controlled)
    base, multiples = _multiples(column, base)
    below = np.floor(multiples)
    rest = multiples - below
    if controlled:
        passed = np.floor(np.concatenate([[0.0], rest.cumsum()]) + rng.random())
        up = np.diff(passed)
    else:
        up = rng.random(len(rest)) < rest
    return _like(column, base * (below + up))


def _multiples(column: pd.Series, base: float) -> tuple[float, Floats]:
    """The base b, and x / b, shape (records,)."""
    base = number_of("base", base, above=0, most=LARGEST)
    with np.errstate(over="ignore"):
        multiples = _column(column) / base
    if np.abs(multiples).max() > DISTINCT:
        raise InputError(
            f"base = {base:g} is too small compared with the numbers: none would be rounded"
        )
    return base, multiples


def _column(column: pd.Series) -> Floats:
    if not isinstance(column, pd.Series):
        raise InputError(f"a column of numbers is needed, not {type(column).__name__}")
    name = "of this name" if column.name is None else column.name
    return np.asarray(columns_of(column.to_frame(name))[:, 0])


def _like(column: pd.Series, numbers: Floats) -> pd.Series:
    """Whole numbers where they were and are; of the same type as long as that holds them."""
    masked = pd.Series(numbers, index=column.index, name=column.name)
    if not pd.api.types.is_integer_dtype(column) or (numbers != np.rint(numbers)).any():
        return masked
    fits = column.min() <= numbers.min() and numbers.max() <= column.max()
    return masked.astype(column.dtype if fits else "int64")
