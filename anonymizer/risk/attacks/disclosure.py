"""What the counts of one release disclose: identities by linkage, sensitive values by inference."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.counts.pairs import tabulated
from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.information.matrices import CountMatrix, is_sparse, likeliest, pairs_of
from anonymizer.kernels.arrays import Codes
from anonymizer.privacy.population import journalist, marketer, prosecutor
from anonymizer.release.results import Result
from anonymizer.risk.profile import Inference


@dataclass(frozen=True)
class Success(Result):
    """The success of an attacker who takes one of the records that fit, all equally likely."""

    highest: float  # the largest probability with which a record is re-identified
    average: float  # the mean probability over the records of the release
    expected: float  # the expected number of records that are re-identified
    certain: int  # records that only one person fits: re-identified with certainty


@dataclass(frozen=True)
class Linkage(Result):
    """Linkage with the original quasi-identifiers.

    The prosecutor knows that the target is in the release. The journalist does not, and the target
    may be anybody of the original table; None where nobody else is in that table.
    """

    prosecutor: Success
    journalist: Success | None
    marketer: float  # the share of records that an attacker who matches all matches rightly


def linkage(sizes: ArrayLike, population: ArrayLike | None = None) -> Linkage:
    """Return the success of prosecutor, journalist and marketer: sum n_g / n_g, sum n_g / P_g.

    ``sizes`` are the records n_g of each class, ``population`` the people P_g >= n_g to whom they
    may belong, shape (classes,) each.

    Raises InputError when they are no counts, or there are fewer people than records in a class.

    >>> linkage([1, 3], [2, 4]).journalist
    Success(highest=0.5, average=0.3125, expected=1.25, certain=0)
    """
    records = np.asarray(sizes)
    people = records if population is None else np.asarray(population)
    known, guessed, alone = prosecutor(records), journalist(records, people), records == 1
    inside = Success(known.highest, known.average, float((records > 0).sum()), int(alone.sum()))
    expected, certain = guessed.average * float(records.sum()), int((alone & (people == 1)).sum())
    anybody = Success(guessed.highest, guessed.average, expected, certain)
    larger = bool((people > records)[records > 0].any())
    return Linkage(inside, anybody if larger else None, marketer(records, people))


SKEW = 2.0
"""A class is skewed if it makes a value at least this many times likelier."""

ROUNDING = 1e-12
"""The relative rounding error of a gain."""


@dataclass(frozen=True)
class Guesses(Result):
    """Inference of one sensitive attribute by an attacker who knows everybody's class.

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


def guesses(joint: ArrayLike | CountMatrix, skew: float = SKEW) -> Guesses:
    """Infer from a count matrix (classes, values): homogeneity, skewness, Bayes-optimal guesses.

    Raises InputError when it is no count matrix, or has no records.

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


def guessed_right(joint: ArrayLike | CountMatrix, class_of: Codes, values: Codes) -> int:
    """Count the people whose own value is the most frequent one of their class.

    Of values that are as frequent, the first one is guessed. ``joint`` (classes, values) are the
    records of the release, ``class_of`` and ``values`` (people,) are -1 where there is none.
    """
    named = likeliest(joint if is_sparse(joint) else np.asarray(joint))
    known = (class_of >= 0) & (values >= 0)
    return int((named[class_of[known]] == values[known]).sum())


@dataclass(frozen=True)
class Similar(Result):
    """Disclosure by classes once values of one group of a hierarchy are taken as one."""

    level: int  # of the hierarchy of the sensitive values
    groups: int  # of that level that occur
    homogeneous_records: int  # where all values are of one group
    homogeneous_classes: int
    max_posterior: float  # the largest share that a group has of a class, in (0, 1]


def similarity(
    joint: ArrayLike | CountMatrix,
    values: Sequence[object],
    hierarchy: Hierarchy,
    attribute: str = "sensitive",
) -> tuple[Similar, ...]:
    """Attack by similarity (Li et al. 2007) at every level below the top, the finest first.

    ``joint`` are the records by class and value, shape (classes, values), ``values`` what each
    column counts; messages name the ``attribute``.

    Raises InputError when the hierarchy lacks values.

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
    taxonomy = hierarchy.over(attribute, values)
    codes = taxonomy.encode(values)
    return tuple(
        _at(level, joint, taxonomy.levels[level].groups[codes])
        for level in range(1, taxonomy.height)
    )


def _at(level: int, joint: ArrayLike | CountMatrix, groups: Codes) -> Similar:
    """Attack at one level; ``groups`` (values,) is the group of each value."""
    counts = joint if is_sparse(joint) else np.asarray(joint, np.int64)
    class_of, values = pairs_of(counts)
    records = counts.data if is_sparse(counts) else counts[class_of, values]
    shape = counts.shape[0], int(groups.max()) + 1
    about = Inference.of(tabulated(class_of, groups[values], records, shape))
    return Similar(
        level,
        int((about.margin > 0).sum()),
        int(about.sizes[about.homogeneous].sum()),
        int(about.homogeneous.sum()),
        float(about.posterior.max()),
    )
