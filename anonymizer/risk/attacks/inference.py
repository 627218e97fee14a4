"""Inference: what has this person got? Homogeneity, skewness, and the guess of Bayes."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonymizer.risk import Inference

__all__ = ["SKEW", "Guesses", "guessed_right", "guesses"]

Codes = NDArray[np.intp]
Ints = NDArray[np.int64]

SKEW = 2.0
"""How many times likelier a value has to become in a class for it to count as skewed."""


ROUNDING = 1e-12
"""By what share of itself a gain may come out below what it is."""


@dataclass(frozen=True)
class Guesses:
    """What an attacker who knows everybody's class infers of one sensitive attribute.

    Parameters
    ----------
    records
        N.
    homogeneous_records, homogeneous_classes
        Those where everybody has the same value: it is known for sure.
    max_posterior
        max p(w|g), in (0, 1].
    max_gain
        max p(w|g) / p(w): how many times likelier the release makes a value, at the most.
    skew, skewed_records
        The records in classes where some value becomes at least ``skew`` times likelier.
    expected
        sum_g max_w n_gw: the records guessed right by whoever names the most frequent value of each
        class, which nobody can do better (Bayes).
    accuracy, baseline
        ``expected`` over N, and max_w p(w): the share guessed right by whoever has no release, and
        names the most frequent value of all.
    i1_max, i2_max
        max_g D(p(w|g) || p(w)) and max_g H(W) - H(W|g), in bits.
    """

    records: int
    homogeneous_records: int
    homogeneous_classes: int
    max_posterior: float
    max_gain: float
    skew: float
    skewed_records: int
    expected: int
    accuracy: float
    baseline: float
    i1_max: float
    i2_max: float

    def to_dict(self) -> dict[str, float]:
        """The attack as JSON has it."""
        return asdict(self)


def guesses(joint: ArrayLike, skew: float = SKEW) -> Guesses:
    """Homogeneity, skewness and Bayes-optimal inference, from a count matrix (classes, values).

    Raises
    ------
    InputError
        When it is no count matrix, or holds no records.

    >>> found = guesses([[2, 0], [1, 1]])
    >>> found.homogeneous_records, found.accuracy, found.baseline
    (2, 0.75, 0.75)
    """
    about = Inference.of(joint)
    measured = about.measures
    counts: Ints = np.asarray(joint, np.int64)
    counts = counts[counts.any(axis=1)]
    sizes, most, margin = counts.sum(axis=1), counts.max(axis=1), counts.sum(axis=0)
    gains = np.zeros(len(counts))
    for value in np.flatnonzero(margin):  # a column at a time: the matrix may be large
        gains = np.maximum(gains, counts[:, value] / sizes * (margin.sum() / margin[value]))
    homogeneous = most == sizes
    return Guesses(
        records=int(sizes.sum()),
        homogeneous_records=int(sizes[homogeneous].sum()),
        homogeneous_classes=int(homogeneous.sum()),
        max_posterior=measured.max_posterior,
        max_gain=float(gains.max()),
        skew=float(skew),
        skewed_records=int(sizes[gains >= skew * (1 - ROUNDING)].sum()),
        expected=int(most.sum()),
        accuracy=about.guessed,
        baseline=about.guessed_without,
        i1_max=measured.i1_max,
        i2_max=measured.i2_max,
    )


def guessed_right(joint: ArrayLike, class_of: Codes, values: Codes) -> int:
    """People whose own value is the most frequent one of their class: the guess, tried.

    Where several values are as frequent the first of them is named.

    Parameters
    ----------
    joint
        The release: records by class and value, shape (classes, values).
    class_of, values
        The class and the value of each person, -1 where there is none, shapes (people,).
    """
    named = np.asarray(joint).argmax(axis=1)
    known = (class_of >= 0) & (values >= 0)
    return int((named[class_of[known]] == values[known]).sum())
