"""Persons who have several records: whose each record is, and what it counts where all count alike.

Readers of a class may take its records for equally likely, or its persons. Three ways of counting
say what they guess, and a sensitive model has to hold in each:

- Every record counts 1: who knows nothing of persons picks a record.
- Of a person with n records in the table each counts 1 / n, in whole parts of a common denominator:
  who picks a person, and one of their records. So counts stay whole numbers that add up: whatever
  merges classes merges these, too, and every bound on shares that holds of classes holds of what
  they merge to.
- Of a person with n records in the class each counts 1 / n: who picks a person of the class. These
  do not add up, since a person of two classes is one of what they merge to (``PersonValues``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import lcm

import numpy as np

from anonymizer.counts.pairs import by_pairs, tabulated, with_empty_rows
from anonymizer.errors import InputError
from anonymizer.information.matrices import CountMatrix
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables import engine

HIDDEN = "\0"
"""How names of counts begin that are of no column by itself; no column has such a name."""

PERSON = f"{HIDDEN}person"
"""The counts of each class by the person whose record it is."""

MOST_PARTS = 2**53
"""Bound on the parts of all persons together: up to there floats hold whole numbers exactly."""


def by_persons(attribute: str) -> str:
    """Return the name of the counts of an attribute in which each person counts once."""
    return HIDDEN + attribute


def of_column(name: str) -> str:
    """Return what messages call some counts.

    >>> of_column(by_persons("diagnosis")), of_column(PERSON)
    ('diagnosis', 'person')
    """
    return name.removeprefix(HIDDEN)


def too_many(persons: int, combinations: int) -> InputError:
    """Return what is said of persons who are too many for an array of them by combination."""
    return InputError(
        f"there are {persons:,} persons, too many to look at all of them at once in each of "
        f"{combinations:,} combinations of quasi-identifiers; choose coarser quasi-identifiers, or "
        "a simpler recoding, such as full-domain"
    )


@dataclass(frozen=True, eq=False)
class Persons:
    """The persons of a table: how many records each has, by the columns that tell them apart.

    ``person_of`` is the number of each row's, shape (rows,), ``records`` those of each person,
    shape (persons,).
    """

    names: tuple[str, ...]
    table: engine.Table = field(repr=False)
    person_of: Codes = field(repr=False)
    records: Ints = field(repr=False)

    @classmethod
    def of(cls, table: engine.Table, names: Sequence[str]) -> "Persons":
        """Return the persons of a table."""
        person_of, first = engine.grouped(table, names)
        return cls(tuple(names), table, person_of, engine.sized(table, person_of, len(first)))

    def __len__(self) -> int:
        return len(self.records)

    @cached_property
    def parts(self) -> Ints:
        """What a record of each person counts, in parts of a person, shape (persons,).

        The same parts for all records of a person. Where no common denominator is small enough they
        are rounded: a person counts 1 to within n / 2^53 times the number of persons.
        """
        return _parts_of(self.records, len(self))

    def parts_of(self, persons: "Persons") -> Ints:
        """Return what a record counts of the persons of another table, shape (persons,).

        Of a table that has some of the records of this one each counts what it does in this one.
        """
        if persons is self:
            return self.parts
        known = dict(zip(self._keys, self.parts.tolist(), strict=True))
        return np.array([known[key] for key in persons._keys], np.int64)

    @property
    def _keys(self) -> list[object]:
        """The values that tell each person apart."""
        first = np.zeros(len(self), np.intp)
        first[self.person_of[::-1]] = np.arange(len(self.person_of))[::-1]
        columns = (engine.distinct_at(self.table[name], first) for name in self.names)
        return [*zip(*([values[code] for code in codes] for codes, values in columns), strict=True)]

    def parts_in_rows(self, among: "Persons | None" = None) -> Ints:
        """Return what the records of each row count in parts of a person, shape (rows,).

        ``among``: the persons of the table that this one is a part of.
        """
        parts = (among or self).parts_of(self)[self.person_of]
        sizes = engine.sizes_of(self.table)
        return parts if sizes is None else parts * sizes


@dataclass(frozen=True, eq=False)
class PersonValues:
    """The records of each class by person and value, which add up where classes merge.

    ``joint`` (classes, pairs) has a column for each pair of a person and a value that occurs;
    ``person_of`` and ``value_of`` (pairs,) say which, by person first; there are ``values``.
    """

    joint: CountMatrix = field(repr=False)
    person_of: Codes = field(repr=False)
    value_of: Codes = field(repr=False)
    values: int

    def padded(self, rows: int) -> "PersonValues":
        """Append classes that have no record."""
        return replace(self, joint=with_empty_rows(self.joint, rows))

    @cached_property
    def by_class(self) -> CountMatrix:
        """The classes by value, where each person counts once in each class, (classes, values).

        In whole parts of a person, as of ``Persons.parts``.
        """
        found = by_pairs(self.joint)
        found.sort_indices()
        class_of = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        # Pairs stand by person, so that those of a person in a class are next to each other.
        person = self.person_of[found.indices]
        first = np.ones(len(person), bool)
        first[1:] = (class_of[1:] != class_of[:-1]) | (person[1:] != person[:-1])
        starts = np.flatnonzero(first)
        records = np.add.reduceat(found.data, starts) if len(starts) else found.data
        parts = _parts_of(records, len(starts))[np.cumsum(first) - 1]
        shape = found.shape[0], self.values
        return tabulated(class_of, self.value_of[found.indices], found.data * parts, shape)


def _parts_of(records: Ints, persons: int) -> Ints:
    """Return the parts of a record of each of some persons, by their records, same shape."""
    numbers, number_of = np.unique(records, return_inverse=True)
    return _parts(numbers.tolist(), persons)[number_of]


def _parts(numbers: Sequence[int], persons: int) -> Ints:
    """Return the parts of a record of persons with so many records each, shape (numbers,)."""
    whole = 1
    for number in numbers:
        whole = lcm(whole, number)
        if whole * persons > MOST_PARTS:
            whole = MOST_PARTS // persons
            break
    # A record counts something, however many its person has.
    return np.maximum(np.rint(whole / np.array(numbers)), 1).astype(np.int64)
