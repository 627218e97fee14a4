"""Columns of numbers: extreme values cut off, rounding, noise, and swaps between near ranks."""

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
from anonymizer.kernels.arrays import Codes, Floats


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
    require_one_of("replacement", replacement, ("limit", "mean"))
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


def additive_noise(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """X + e with independent e_j ~ N(0, share Var X_j) for every column j.

    Means are kept in expectation, covariances too; variances grow by the factor 1 + share, so that
    correlations shrink by it (Brand, 2002). There is no guarantee: who knows a value nearly finds
    its record, and the extreme ones stand out as before.

    Parameters
    ----------
    frame
        Columns of numbers, none missing.
    share
        The variance of the noise as a share of that of the column. Noise of p percent of the
        standard deviation, sdcMicro's ``noise = p``, is ``share = (p / 100)**2``.
    """
    numbers, share = _checked(frame, share, rng)
    spread = np.sqrt(share * _covariance(numbers).diagonal())
    masked = numbers + rng.standard_normal(numbers.shape) * spread
    return pd.DataFrame(masked, index=frame.index, columns=frame.columns)


def correlated_noise(
    frame: pd.DataFrame, share: float, rng: np.random.Generator, *, corrected: bool = False
) -> pd.DataFrame:
    """X + e with e ~ N(0, share S), S the covariance of the columns; or shrunk back to S.

    Means and correlations are kept in expectation, covariances grow by the factor 1 + share. With
    ``corrected``, m + (X + e - m) / sqrt(1 + share), m the means: means and covariances are kept in
    expectation (Kim, 1986; Sullivan, 1989). Neither gives a guarantee about any record.

    Parameters
    ----------
    frame
        Columns of numbers, none missing.
    share
        The covariance of the noise as a share of that of the columns; sdcMicro's ``noise = p`` of
        correlated noise is ``share = p / 100``.
    corrected
        Whether covariances are restored.
    """
    require_flag("corrected", corrected)
    numbers, share = _checked(frame, share, rng)
    # By eigenvectors: a column that is a sum of others has no Cholesky factor.
    values, vectors = np.linalg.eigh(share * _covariance(numbers))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    masked = numbers + rng.standard_normal(numbers.shape) @ root.T
    if corrected:
        mean = numbers.mean(axis=0)
        masked = mean + (masked - mean) / np.sqrt(1 + share)
    return pd.DataFrame(masked, index=frame.index, columns=frame.columns)


def rank_swapping(frame: pd.DataFrame, percent: float, rng: np.random.Generator) -> pd.DataFrame:
    """Swap each value with one whose rank is at most percent / 100 * N away, column by column.

    In the order of ranks every value that was not swapped yet changes places with another such,
    drawn from those up to floor(percent N / 100) ranks above it (Moore, 1996). Margins are kept
    exactly; what columns say of each other is blurred. There is no guarantee: a value is released,
    if of another record, and one of rare size betrays its neighbours in rank.

    Parameters
    ----------
    frame
        Columns of numbers, none missing. Equal numbers are ranked at random.
    percent
        Of the records: above 0, up to 100.

    Raises
    ------
    InputError
        When columns hold no numbers, or so few percent are less than one record.
    """
    require_generator(rng)
    numbers = columns_of(frame)
    percent = number_of("percent", percent, above=0, most=100)
    window = int(len(numbers) * percent / 100)
    if not window:
        raise InputError(
            f"percent = {percent:g} of {len(numbers):,} records is less than one: nothing would be "
            f"swapped; take at least {100 / len(numbers):.3g}"
        )
    masked = {}
    for place, name in enumerate(frame.columns):
        shuffled = rng.permutation(len(numbers))
        order = shuffled[np.argsort(numbers[shuffled, place], kind="stable")]
        taken = np.empty(len(order), np.intp)
        taken[order] = order[_partners(len(order), window, rng)]
        masked[name] = frame[name].array.take(taken)
    return pd.DataFrame(masked, index=frame.index)


def _checked(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> tuple[Floats, float]:
    require_generator(rng)
    return columns_of(frame), number_of("share", share, above=0, most=LARGEST)


def _covariance(numbers: Floats) -> Floats:
    """S with denominator N - 1, shape (columns, columns); 0 for a single record."""
    centred = numbers - numbers.mean(axis=0)
    return np.asarray(centred.T @ centred / max(len(numbers) - 1, 1))


def _partners(ranks: int, window: int, rng: np.random.Generator) -> Codes:
    """The rank that each rank is swapped with; its own where none is left; shape (ranks,)."""
    partner = np.arange(ranks)
    free = np.ones(ranks, bool)
    for rank, chance in enumerate(rng.random(ranks)):
        if free[rank]:
            above = np.flatnonzero(free[rank + 1 : rank + 1 + window])
            if len(above):
                other = rank + 1 + above[int(chance * len(above))]
                partner[rank], partner[other] = other, rank
                free[other] = False
    return partner
