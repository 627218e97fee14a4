"""Persons who have several records: whose each record is, and what it counts where all count alike.

Of a person with n records each counts 1 / n, in whole parts of a common denominator. So counts stay
whole numbers that add up: whatever merges classes merges these, too, and every bound on shares that
holds of classes holds of what they merge to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import lcm

import numpy as np

from anonymizer.errors import InputError
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
        numbers, number_of = np.unique(self.records, return_inverse=True)
        return _parts(numbers.tolist(), len(self))[number_of]

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
