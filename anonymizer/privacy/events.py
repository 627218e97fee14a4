"""Events: who is left of the persons of a table to an attacker who knows some records of one.

El Emam et al. (2012) call the records of a person, such as visits, events, and ask what an attacker
learns who knows m of them. Here he knows the classes of m records of a person, whichever are the
worst ones: left are the persons who have as many records in each of these classes.

``fewest_left`` counts those who are left of the person who is hidden worst, which is what a policy
bounds; ``least_left`` those of every person, which takes ten times as long. To who knows all
records of a person those are left who have equally many in each class, and none elsewhere:
``alike`` counts them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Classes
from anonymizer.counts.linked import compositions
from anonymizer.counts.pairs import by_pairs
from anonymizer.errors import InputError
from anonymizer.information.matrices import CountMatrix
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.privacy.base import PrivacyModel, Whole, Wording, reads_sparse

MOST_EVENTS = 3
"""Up to so many events are looked at."""

MOST_CHOICES = 1 << 24
"""Bound on the choices of events of all persons together: at most some 2 GB and 10 seconds."""


def least_left(
    person_of: Codes, class_of: Codes, records: Ints | None = None, most: int = MOST_EVENTS
) -> list[Ints]:
    """Count the persons who are left to who knows m records of one, for m = 1, 2 ... ``most``.

    Every choice of m records of a person gives some classes; the least number over all choices is
    counted, the person among them. Of a person with fewer records all are known.

    Parameters
    ----------
    person_of, class_of
        The person and the class of each row, numbered from 0 without a gap, shape (rows,).
    records
        The records that each row stands for, one where there are none, shape (rows,).
    most
        The largest m.

    Returns
    -------
    list of arrays
        For m = 1, 2 ... the persons left of each person, shape (persons,). It ends before the first
        m for which there are more than ``MOST_CHOICES``.

    Examples
    --------
    Person 0 has records in classes 0 and 1, person 1 in 0 and 2, person 2 in 1 and twice in 2.

    >>> [left.tolist() for left in least_left([0, 0, 1, 1, 2, 2, 2], [0, 1, 0, 2, 1, 2, 2])]
    [[2, 2, 2], [1, 1, 1], [1, 1, 1]]
    """
    classes = int(np.max(class_of)) + 1
    keys = np.multiply(person_of, classes, dtype=np.int64) + class_of
    keys, row_of = np.unique(keys, return_inverse=True)
    held = np.bincount(row_of, records)
    person, kind = np.divmod(keys, classes)
    stop = np.searchsorted(person, person, side="right")
    # A choice is a multiset of classes in rising order, made of one of an event less. Of each are
    # known its number, the last cell of person and class in it, and how many are of that cell.
    choice, last, times = kind, np.arange(len(keys)), np.ones(len(keys), np.intp)
    left = np.full(int(person[-1]) + 1, len(keys))
    found: list[Ints] = []
    for events in range(1, most + 1):
        if events > 1:
            first = last + (times >= held[last])
            longer = stop[last] - first
            if longer.sum() > MOST_CHOICES:
                return found
            shorter = np.repeat(np.arange(len(last)), longer)
            cell = np.arange(len(shorter)) - (np.cumsum(longer) - longer - first)[shorter]
            times = np.where(cell == last[shorter], times[shorter] + 1, 1)
            choice, last = choice[shorter] * classes + kind[cell], cell
        choice = pd.factorize(choice)[0]
        sharing = np.bincount(choice)[choice]  # a person makes each choice once
        np.minimum.at(left, person[last], sharing)
        found.append(left.copy())
        # What no other person shares is shared by nobody with one more event, either.
        choice, last, times = (of[sharing > 1] for of in (choice, last, times))
    return found


MOST_TRIED = 1 << 30
"""Bound on the choices of three or more records of all persons together: 10 to 30 seconds."""

WORK_AT_ONCE = 1 << 24
"""Pairs of records that are counted together: at most some 200 MB."""


def fewest_left(joint: CountMatrix, known: int) -> int:
    """Return the fewest persons who are left to who knows up to ``known`` records of anybody.

    The least number that ``least_left`` has for ``known`` records. ``joint`` (classes, persons).
    InputError where three or more are known, and persons have more than ``MOST_TRIED`` choices.

    Examples
    --------
    Person 0 has records in classes 0 and 1, person 1 in 0 and 2, person 2 in 1 and twice in 2.

    >>> joint = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 2]])
    >>> fewest_left(joint, 1), fewest_left(joint, 2)
    (2, 1)
    """
    held = by_pairs(joint).T.tocsr()
    # What few persons have comes first, as nothing is left to look at once one is found alone.
    held = held[:, np.argsort(np.bincount(held.indices, minlength=held.shape[1]), kind="stable")]
    fewest = int(np.count_nonzero(np.diff(held.indptr)))
    # Of a person with fewer records all are known.
    for records in range(1, min(known, int(held.sum(axis=1).max(initial=0))) + 1):
        if records > 2:
            _require_few_choices(np.diff(held.indptr), records)
        for shared in _shared(held, records):
            fewest = min(fewest, shared)
            if fewest == 1:
                return fewest
    return fewest


def _require_few_choices(classes_of: Ints, records: int) -> None:
    """Refuse persons, of so many classes each, who have too many choices of some records."""
    # With repetition: (c + m - 1) over m.
    choices = np.ones(len(classes_of))
    for number in range(records):
        choices *= (classes_of + number) / (number + 1)
    if choices.sum() > MOST_TRIED:
        raise InputError(
            f"km-anonymity: persons have up to {choices.sum():,.0f} choices of {records} records "
            "by class, too many to hold all of them; choose a smaller m, or coarser "
            "quasi-identifiers, such as by min-level"
        )


def _shared(held: Any, records: int) -> Iterator[int]:
    """Yield numbers of persons who share choices of so many records, or fewer.

    The least number of all choices of exactly so many is among them. ``held`` (persons, classes).
    """
    persons = np.bincount(held.indices[held.data >= records])  # all of them in one class
    yield from _least(persons[persons > 0])
    if records == 2:
        yield from _in_pairs(held)
    if records > 2:
        yield from _from_each(held, records)


def _in_pairs(held: Any) -> Iterator[int]:
    """Yield the least number of persons in two classes, for some classes at a time."""
    ones = held.astype(np.int32)
    ones.data[:] = 1
    by_class = ones.T.tocsr()
    work = np.cumsum(by_class @ np.diff(held.indptr).astype(np.int64))
    low = 0
    while low < len(work):
        done = work[low - 1] if low else 0
        high = max(int(np.searchsorted(work, done + WORK_AT_ONCE, side="right")), low + 1)
        # (classes, classes): the persons in both; of a class with itself those of that class.
        yield from _least((by_class[low:high] @ ones).data)
        low = high


def _from_each(held: Any, records: int) -> Iterator[int]:
    """Yield the same of choices by their first class, and by how many of the records are there."""
    by_class = held.tocsc()
    for first in range(held.shape[1]):
        some = slice(by_class.indptr[first], by_class.indptr[first + 1])
        others = held[by_class.indices[some]][:, first + 1 :]
        for number in range(1, records):
            left = others[by_class.data[some] >= number]
            if not left.nnz:
                break
            yield from _shared(left, records - number)


def _least(persons: Ints) -> Iterator[int]:
    if len(persons):
        yield int(persons.min())


def alike(joint: CountMatrix) -> Ints:
    """Count the persons who have as many records in each class as each person, shape (persons,).

    The person among them; 0 of one without records. ``joint`` (classes, persons). Exact: no person
    is taken for another, as by a hash.

    Examples
    --------
    The first two have a record in each class, and the third two in the second.

    >>> alike(np.array([[1, 1, 0, 0], [1, 1, 2, 0]])).tolist()
    [2, 2, 1, 0]
    """
    composition = compositions(joint)
    there = composition >= 0
    found = np.zeros(len(composition), np.int64)
    found[there] = np.bincount(composition[there])[composition[there]]
    return found


class EventModel(PrivacyModel):
    """A model of who knows several records of a person: at least k persons are left."""

    unit = "persons"
    bounded_by = "k"
    absolute = True
    at_least = True
    sensitive = False
    per_class = False
    of_persons = True

    k: Whole

    @property
    @abstractmethod
    def known(self) -> float:
        """The records of a person that somebody may know."""


@dataclass(frozen=True)
class KmAnonymity(EventModel):
    """Who knows m records of a person is left with at least k persons: k^m-anonymity.

    He knows the classes of any m records of the person, or of all where there are fewer. Left are
    the persons who have as many records in each of these classes. Terrovitis, Mamoulis, Kalnis
    (2008), of sets of items, which are the classes here, each as often as a person has records in
    it; El Emam et al. (2012). With m = 1 it would be k-anonymity of persons, which it implies.

    Monotone: a person who has as many records as are known in each of some classes has as many in
    each of those that they merge to, so that nobody left before is lost; and any m records of a
    person were m records before. Not strongly monotone: other classes may break it by themselves.
    """

    name = "km-anonymity"
    condition = "persons with as many records in each of the classes of any m of a person's >= k"
    source = "Terrovitis et al. 2008; El Emam et al. 2012"
    beyond = (
        "exceeds the {best:.0f} persons who are left even where all records are in one class: no "
        "more have that many records; choose a smaller k or m"
    )
    wording = Wording(
        "Whoever knows the released values of {shared} of up to {m:number} records of a person is "
        "left with at least {k:people} who have such records.",
        "Of the person who is hidden worst {worst:people} are left.",
        "Who knows more: Somebody who knows more than {m:number} records of a person may find all "
        "records of that person.",
    )
    larger_stricter = {"m": True}
    start = {"k": 5, "m": 2}

    k: Whole
    m: Whole

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m < 2:
            raise InputError(
                f"{self.name}: m = {self.m} must be at least 2; who knows one record is what "
                "k-anonymity is about, and person-k-anonymity"
            )

    @property
    def known(self) -> float:
        return self.m

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        """The fewest persons left, shape (1,)."""
        return np.array([float(fewest_left(classes.joint, self.m))])


@dataclass(frozen=True)
class CompositionKAnonymity(EventModel):
    """Who knows all records of a person is left with at least k persons who have the same ones.

    He knows how many records the person has in each class, and that there are no others. Left are
    the persons who have exactly as many in each. Nergiz, Clifton, Nergiz (2009), of a table of
    persons and one of their records; He, Naughton (2009), of sets of items. It implies
    km-anonymity of every m: who has the same records has each choice of them.

    Monotone: persons who have equally many records in each class have equally many in each that
    they merge to, and those who are alike stay alike where classes are left out; persons without a
    record left are in no release. Not strongly monotone: other classes may break it by themselves.
    """

    name = "composition-k-anonymity"
    condition = "persons with exactly as many records in each class as a person has >= k"
    source = "Nergiz, Clifton, Nergiz 2009; He, Naughton 2009"
    beyond = (
        "exceeds the {best:.0f} persons who are left even where all records are in one class: no "
        "more have that number of records; choose a smaller k, or leave out the records of persons "
        "who have a number of records that few have"
    )
    wording = Wording(
        "Whoever knows the released values of {shared} of all records of a person is left with at "
        "least {k:people} who have exactly such records.",
        "Of the person who is hidden worst {worst:people} are left.",
        "What such persons have in common: Where all who are left have the same value of another "
        "column, whoever knows the records of one knows it.",
    )
    start = {"k": 5}

    k: Whole

    @property
    def known(self) -> float:
        return inf

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        """The fewest persons who have the same records, shape (1,)."""
        same = alike(classes.joint)
        return np.array([float(same[same > 0].min() if same.any() else 0)])


def records_known(models: Iterable[PrivacyModel]) -> float:
    """The most records of a person that somebody may know against whom a model holds; 1 or more.

    Infinite where these may be all.
    """
    known = (model.known for model in models if isinstance(model, EventModel) and model.of_persons)
    return max(known, default=1)
