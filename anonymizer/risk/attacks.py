"""Attacks on the counts of releases: how far an attacker who tries succeeds.

Linkage, inference (with similarity) and intersection take class sizes, count matrices or classes of
people, and return a frozen result; ``minimality`` is one more. No attack reads a file: ``audit``
does, and calls them.

In every one of several releases a person is in some class. Two attackers combine these classes:

- one who knows which records of the releases belong together (by other columns, say, or by the
  order of the records) sees the common refinement of the classes (Longpré et al. 2017), the worst
  case;
- one who does not is left with the sensitive values that occur in all classes of a person: the
  composition attack of Ganta, Kasiviswanathan and Smith (2008).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from anonymizer.counts.columns import as_read, histograms
from anonymizer.counts.counts import Counts
from anonymizer.counts.pairs import tabulated
from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.information.matrices import (
    AT_ONCE,
    CountMatrix,
    dense,
    is_sparse,
    likeliest,
    pairs_of,
)
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.privacy import PrivacyModel, Verdict, acceptable, verdicts
from anonymizer.privacy.population import journalist, marketer, prosecutor
from anonymizer.privacy.query_loss import Labels, together
from anonymizer.release.results import Result
from anonymizer.risk.profile import Inference
from anonymizer.tables import engine


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
    shares = about.counts / np.repeat(sizes, about.occurring)
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


def intersect(
    classes: Sequence[Labels],
    sensitive: Mapping[str, Labels] | None = None,
    population: Sequence[Labels] | None = None,
) -> tuple[Counts, Codes]:
    """Count the common refinement of several releases' classes: what linking them shows.

    ``classes`` are for each release the class of each person, shape (people,), ``sensitive`` their
    values by attribute, ``population`` for each release the classes of everybody for whom the
    people may be taken, shape (others,). Returns the counts, and the class of each person there.

    Raises InputError when the releases are not about the same number of people, or there are none.

    >>> counts, _ = intersect(["aabb", "abab"], {"disease": ["flu", "flu", "cold", "flu"]})
    >>> counts.sizes.tolist()
    [1, 1, 1, 1]
    """
    people = [_series(of) for of in classes]
    known = {name: _series(of).rename(name) for name, of in (sensitive or {}).items()}
    lengths = {len(of) for of in [*people, *known.values()]}
    if len(lengths) != 1 or lengths == {0}:
        raise InputError("an intersection needs the class and the values of every person")
    number = lengths.pop()
    if population is not None:
        others = map(_series, population)
        people = [pd.concat(pair, ignore_index=True) for pair in zip(people, others, strict=True)]
    class_of = together(*people)
    first = np.unique(class_of, return_index=True)[1]
    mine = class_of[:number]
    table = pd.DataFrame(known, columns=[*known])
    joint, values = histograms(table, known, mine, len(first), as_read)
    counts = Counts(
        tuple(f"release {place}" for place in range(1, len(people) + 1)),
        np.column_stack([engine.distinct(of)[0][first] for of in people]).astype(np.intp),
        np.bincount(mine, minlength=len(first)).astype(np.int64),
        joint,
        {name: np.asarray(matrix.sum(axis=0)) for name, matrix in joint.items()},
        number,
        values,
        population=None
        if population is None
        else np.bincount(class_of[number:], minlength=len(first)).astype(np.int64),
    )
    return counts, mine


def _series(labels: Labels) -> pd.Series:
    return pd.Series(list(labels) if isinstance(labels, str) else labels)


def failing(
    counts: Counts, models: Sequence[PrivacyModel], priors: Sequence[Mapping[str, Ints]] = ()
) -> tuple[list[Verdict], Mask]:
    """Test models on counts under several priors: each has to hold under all of them.

    ``priors`` are records by sensitive value that attackers may know in addition to the margins of
    the counts, such as those of the releases: by attribute, shape (values,); attributes left out
    keep the margin. Returns for each model the verdict under its worst prior, and the classes where
    a model breaks, shape (classes,).
    """
    broken = np.zeros(len(counts), bool)
    worst: list[Verdict] = []
    for prior in [{}, *priors]:
        against = replace(counts, margins={**counts.margins, **prior})
        broken |= ~acceptable(against, models)
        found = verdicts(against, models)
        worst = [_worse(*pair) for pair in zip(worst, found, strict=True)] if worst else found
    return worst, broken


def _worse(one: Verdict, other: Verdict) -> Verdict:
    if one.violating != other.violating:
        return max(one, other, key=lambda verdict: verdict.violating)
    return replace(one, worst=one.model.worst(np.array([one.worst, other.worst])))


def candidates(cells: Codes, supports: Sequence[CountMatrix | None]) -> Ints:
    """Count the sensitive values in all classes of a person: |W_1(g_1) & W_2(g_2) & ...|.

    ``cells`` (rows, releases) are the classes in each release, ``supports`` (classes, values) the
    values that occur in each class of a release, sparse or not, None where it does not show the
    attribute.

    >>> flu_cold, flu = np.array([[True, True]]), np.array([[True, False]])
    >>> candidates(np.array([[0, 0]]), [flu_cold, flu]).tolist()
    [1]
    """
    shown = [(place, support) for place, support in enumerate(supports) if support is not None]
    if not shown:
        raise InputError("no release shows the sensitive attribute")
    rows = max(AT_ONCE // max(shown[0][1].shape[1], 1), 1)
    number = np.zeros(len(cells), np.int64)
    for low in range(0, len(cells), rows):
        some = cells[low : low + rows]
        seen = [dense(support[some[:, place]]) for place, support in shown]
        number[low : low + rows] = np.logical_and.reduce(seen).sum(axis=1)
    return number


def membership_bounds(
    people: Ints, cells: Codes, released: Sequence[Ints], placed: Sequence[Ints]
) -> tuple[Ints, Ints]:
    """Bound the records of each intersection, where it is not known who is in the releases.

    Of o people with some classes g_i at most n_i(g_i) are in release i, and at most
    o_i(g_i) - n_i(g_i) are not: max(0, o - sum_i (o_i - n_i)) and min(o, min_i n_i).

    ``people`` (rows,) are the known people o of each combination of classes, ``cells`` (rows,
    releases) its classes, ``released`` and ``placed`` for each release the records n_i and the
    known people o_i >= n_i of each class, shape (classes,).
    """
    least, most = people.copy(), people.copy()
    for place, (records, known) in enumerate(zip(released, placed, strict=True)):
        least -= (known - records)[cells[:, place]]
        most = np.minimum(most, records[cells[:, place]])
    return np.maximum(least, 0), most
