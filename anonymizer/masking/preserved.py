"""Which statistics of its numbers a drawn table keeps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonymizer.channels import moments_kept, probabilistic_loss

LARGEST = 1e50
"""Numbers beyond have moments that are no floats."""

FEWEST = 4
"""Records that the variance of a sample's covariance can be estimated from."""


@dataclass(frozen=True)
class Preserved:
    """Probabilistic information loss of the columns of numbers, each from 0 to 1.

    Parameters
    ----------
    columns
        The drawn attributes that are numbers, and the sensitive ones that are.
    mean, variance
        pil of each column.
    covariance
        The largest pil of a pair of columns; None of one column.
    mean_kept, covariance_kept
        Whether the means, and the covariances, differ by no more than chance would have it.
    """

    columns: tuple[str, ...]
    mean: tuple[float, ...]
    variance: tuple[float, ...]
    covariance: float | None
    mean_kept: bool
    covariance_kept: bool


def preserved(
    table: pd.DataFrame, released: pd.DataFrame, drawn: Sequence[str], sensitive: Sequence[str]
) -> Preserved | None:
    """What a release keeps of its columns of numbers; None where it has none, or few records.

    ``drawn``: the attributes that were drawn as numbers.
    """
    if not drawn or len(table) < FEWEST:
        return None
    columns = [*drawn, *(name for name in sensitive if _numeric(table[name]))]
    before, after = (each[columns].to_numpy(float) for each in (table, released))
    loss, moments = probabilistic_loss(before, after, quantiles=()), moments_kept(before, after)
    pairs = loss.covariance[np.tril_indices(len(columns), -1)].tolist()
    return Preserved(
        tuple(columns),
        tuple(loss.mean.tolist()),
        tuple(loss.variance.tolist()),
        max(pairs, default=None),
        moments.mean,
        moments.covariance,
    )


def _numeric(column: pd.Series) -> bool:
    """Whether a column holds numbers alone, none of them beyond all sizes."""
    types, kind = pd.api.types, column.dtype
    if not (types.is_integer_dtype(kind) or types.is_float_dtype(kind)) or column.isna().any():
        return False
    return bool((np.abs(column.to_numpy(float)) < LARGEST).all())
