"""What may be released for a number: alphabets that no partition into ranges does better on."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.ranges import best_ranges
from anonymizer.channels.source import Floats, numbers_of
from anonymizer.privacy import PrivacyModel, models_of

__all__ = ["default_alphabet"]


def default_alphabet(
    joint: ArrayLike,
    values: ArrayLike,
    *,
    slopes: Sequence[float] = (),
    privacy: Sequence[PrivacyModel] = (),
    unit: str = "bits",
) -> Floats:
    """The values that occur and the centroids of the best ranges, sorted, shape (k,).

    Ranges are channels. A channel of least distortion, or of least leakage at a distortion, is
    therefore never worse than the ranges it is compared with if, and in general only if, it may
    release what they release: their centroids.

    Parameters
    ----------
    joint, values
        See :func:`best_ranges`.
    slopes
        What leakage is worth: the best ranges of each are among those to beat.
    privacy
        Models: the best ranges that satisfy them are to be beaten.

    Raises
    ------
    InputError, PolicyUnreachableError
        As :func:`best_ranges`.
    """
    models_of(privacy)
    prices = numbers_of("slopes", slopes)
    found = [best_ranges(joint, values, slope=price, unit=unit) for price in prices.ravel()]
    if privacy:
        found.append(best_ranges(joint, values, privacy=privacy, unit=unit))
    present = np.asarray(values, float)[np.asarray(joint, float).sum(axis=1) > 0]
    return np.unique(np.concatenate([present, *(ranges.centroids for ranges in found)]))
