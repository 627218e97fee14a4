"""Intersection: what several releases about the same people disclose together.

In every release a person is in some class. Two attackers combine these classes:

- one who knows which records of the releases belong together (by other columns, say, or by the
  order of the records) sees the common refinement of the classes (Longpré et al. 2017), the worst
  case;
- one who does not is left with the sensitive values that occur in all classes of a person: the
  composition attack of Ganta, Kasiviswanathan and Smith (2008).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from anonymizer.counts.columns import histograms
from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.information.matrices import AT_ONCE, CountMatrix, dense
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.privacy import PrivacyModel, Verdict, acceptable, verdicts
from anonymizer.privacy.query_loss import Labels, together
from anonymizer.tables import engine


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
    found = {name: histograms(table, name, mine, len(first)) for name in known}
    joint = {name: matrix for name, (matrix, _) in found.items()}
    counts = Counts(
        tuple(f"release {place}" for place in range(1, len(people) + 1)),
        np.column_stack([engine.distinct(of)[0][first] for of in people]).astype(np.intp),
        np.bincount(mine, minlength=len(first)).astype(np.int64),
        joint,
        {name: np.asarray(matrix.sum(axis=0)) for name, matrix in joint.items()},
        number,
        {name: values for name, (_, values) in found.items()},
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
