"""Inference of a sensitive value: homogeneity, skewness, the Bayes-optimal guess, similarity."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.kernels.arrays import Codes
from anonymizer.release.results import Result
from anonymizer.risk.profile import Inference

SKEW = 2.0
"""A class is skewed if it makes a value at least this many times likelier."""

ROUNDING = 1e-12
"""The relative rounding error of a gain."""


@dataclass(frozen=True)
class Guesses(Result):
    """What an attacker who knows everybody's class infers of one sensitive attribute.

    ``expected`` is sum_g max_w n_gw, the records guessed right by naming the most frequent value of
    each class: no other guess expects more (Bayes).
    """

    records: int  # N
    homogeneous_records: int  # where everybody has the same value, which is certain then
    homogeneous_classes: int
    max_posterior: float  # max p(w|g), in (0, 1]
    max_gain: float  # max p(w|g) / p(w): by how much the release makes a value likelier
    skew: float
    skewed_records: int  # in classes where some value becomes at least skew times likelier
    expected: int
    accuracy: float  # expected / N
    baseline: float  # max_w p(w): guessed right by naming the most frequent value of all
    i1_max: float  # max_g D(p(w|g) || p(w)), in bits
    i2_max: float  # max_g H(W) - H(W|g), in bits


def guesses(joint: ArrayLike, skew: float = SKEW) -> Guesses:
    """Homogeneity, skewness and Bayes-optimal inference, from a count matrix (classes, values).

    Raises
    ------
    InputError
        When it is no count matrix, or has no records.

    >>> found = guesses([[2, 0], [1, 1]])
    >>> found.homogeneous_records, found.accuracy, found.baseline
    (2, 0.75, 0.75)
    """
    about = Inference.of(joint)
    measured, sizes, alike = about.measures, about.sizes, about.homogeneous
    cells = np.diff(about.starts, append=len(about.counts))
    shares = about.counts / np.repeat(sizes, cells)
    gains = np.maximum.reduceat(shares * (about.records / about.margin[about.values]), about.starts)
    return Guesses(
        records=about.records,
        homogeneous_records=int(sizes[alike].sum()),
        homogeneous_classes=int(alike.sum()),
        max_posterior=measured.max_posterior,
        max_gain=float(gains.max()),
        skew=float(skew),
        skewed_records=int(sizes[gains >= skew * (1 - ROUNDING)].sum()),
        expected=int(np.maximum.reduceat(about.counts, about.starts).sum()),
        accuracy=about.guessed,
        baseline=about.guessed_without,
        i1_max=measured.i1_max,
        i2_max=measured.i2_max,
    )


def guessed_right(joint: ArrayLike, class_of: Codes, values: Codes) -> int:
    """The number of people whose own value is the most frequent one of their class.

    Of values that are as frequent, the first one is guessed. ``joint`` (classes, values) are the
    records of the release, ``class_of`` and ``values`` (people,) are -1 where there is none.
    """
    named = np.asarray(joint).argmax(axis=1)
    known = (class_of >= 0) & (values >= 0)
    return int((named[class_of[known]] == values[known]).sum())


@dataclass(frozen=True)
class Similar(Result):
    """What classes disclose once values of one group of a hierarchy are taken as one."""

    level: int  # of the hierarchy of the sensitive values
    groups: int  # of that level that occur
    homogeneous_records: int  # where all values are of one group
    homogeneous_classes: int
    max_posterior: float  # the largest share that a group has of a class, in (0, 1]


def similarity(
    joint: ArrayLike, values: Sequence[object], hierarchy: Hierarchy, attribute: str = "sensitive"
) -> tuple[Similar, ...]:
    """Similarity attack (Li et al. 2007) at every level below the top, the finest first.

    ``joint`` are the records by class and value, shape (classes, values), ``values`` what each
    column counts; messages name the ``attribute``.

    Raises
    ------
    InputError
        When the hierarchy lacks values.

    >>> organs = Hierarchy.from_rows([["ulcer", "stomach"], ["reflux", "stomach"], ["flu", "-"]])
    >>> similarity([[1, 1, 0], [1, 0, 1]], ["ulcer", "reflux", "flu"], organs)[0].max_posterior
    1.0
    """
    keys = [hierarchy.key(value) for value in values]
    lacking = sum(key is not None and not hierarchy.covers(key) for key in keys)
    if lacking:  # they are counted, not named: values are sensitive
        raise InputError(
            f"the hierarchy of {attribute!r} lacks {lacking} of its {len(keys)} values; add them"
        )
    taxonomy, counts = hierarchy.over(attribute, values), np.asarray(joint, np.int64)
    codes = taxonomy.encode(values)
    return tuple(
        _at(level, counts, taxonomy.levels[level].groups[codes])
        for level in range(1, taxonomy.height)
    )


def _at(level: int, counts: np.ndarray, groups: np.ndarray) -> Similar:
    """The attack at one level; ``groups`` (values,) is the group of each value."""
    grouped = np.zeros((len(counts), int(groups.max()) + 1), np.int64)
    np.add.at(grouped.T, groups, counts.T)
    about = Inference.of(grouped)
    return Similar(
        level,
        int((about.margin > 0).sum()),
        int(about.sizes[about.homogeneous].sum()),
        int(about.homogeneous.sum()),
        float(about.posterior.max()),
    )
