"""Noise added to numbers, and numbers swapped between records of near ranks."""

import numpy as np
import pandas as pd

from anonymizer.channels.validation import (
    LARGEST,
    columns_of,
    number_of,
    require_flag,
    require_generator,
)
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats


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

    Raises
    ------
    InputError
        When columns hold no numbers, or the share is not above 0.
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

    Raises
    ------
    InputError
        When columns hold no numbers, or the share is not above 0.
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
