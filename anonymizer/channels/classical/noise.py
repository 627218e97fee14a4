"""Noise added to numbers, independent of each other or like the numbers themselves."""

import numpy as np
import pandas as pd

from anonymizer.channels.classical.numeric import columns_in, framed
from anonymizer.channels.validation import LARGEST, number_of, require_flag, require_generator
from anonymizer.kernels.arrays import Floats

__all__ = ["additive_noise", "correlated_noise"]


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
    rng
        Where chance comes from.

    Raises
    ------
    InputError
        When columns hold no numbers, or the share is not above 0.
    """
    numbers, share = _checked(frame, share, rng)
    spread = np.sqrt(share * _covariance(numbers).diagonal())
    return framed(frame, numbers + rng.standard_normal(numbers.shape) * spread)


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
    rng
        Where chance comes from.
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
    return framed(frame, masked)


def _checked(frame: pd.DataFrame, share: float, rng: np.random.Generator) -> tuple[Floats, float]:
    require_generator(rng)
    return columns_in(frame), number_of("share", share, above=0, most=LARGEST)


def _covariance(numbers: Floats) -> Floats:
    """S with denominator N - 1, shape (columns, columns); 0 for a single record."""
    centred = numbers - numbers.mean(axis=0)
    return np.asarray(centred.T @ centred / max(len(numbers) - 1, 1))
