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

A fourth way, where it is chosen, is of somebody who asks of one value whether a person of the class
has it in any record: see ``PersonValues.of_value``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import lcm
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from anonymizer.counts.pairs import by_pairs, chosen, csr_of, runs, tabulated, with_empty_rows
from anonymizer.errors import InputError
from anonymizer.information.matrices import CountMatrix, is_sparse
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables import engine

HIDDEN = "\0"
"""How names of counts begin that are of no column by itself; no name of a column has it.

What is counted follows, and then of which column: so no two of them are one, whatever columns are
called.
"""

PERSON = f"{HIDDEN}unit{HIDDEN}person"
"""The counts of each class by the person whose record it is."""

PerPerson = Literal["share", "each"]
"""What a person with several values counts: a share of each, or each of them in full, too."""

PER_PERSON: tuple[PerPerson, ...] = get_args(PerPerson)

MOST_REST = 2**36
"""Parts of all other values than one: times the persons of a class they fit into 64 bits."""

AT_ONCE = 2**23
"""Counts of classes that are compared together (64 MB)."""

HOUSEHOLD = f"{HIDDEN}unit{HIDDEN}household"
"""The counts of each class by the household that its records are of."""

MEMBER = f"{HIDDEN}unit{HIDDEN}member"
"""The counts by member of a household: by ``PERSON`` where persons have several records.

What the columns count is then the number of the household of each. Else a record is a member, and
they are those by ``HOUSEHOLD``.
"""

SOMEBODY = f"{HIDDEN}unit{HIDDEN}somebody"
"""The counts by ``PERSON`` where persons have several records, else those of the records alone."""

MOST_PARTS = 2**53
"""Bound on the parts of all persons together: up to there floats hold whole numbers exactly."""


def by_persons(attribute: str) -> str:
    """Return the name of the counts of an attribute in which each person counts once."""
    return f"{HIDDEN}persons{HIDDEN}{attribute}"


def by_item(attribute: str, item: str) -> str:
    """Return the name of the counts in which an item is one value, whatever else is listed."""
    return f"{HIDDEN}item{HIDDEN}{attribute}{HIDDEN}{item}"


Attribute = str | tuple[str, ...]
"""What a model is about: a sensitive attribute, or several that are one together."""


def counted_as(attribute: Attribute) -> str:
    """Return the name of the counts of an attribute, or of several together.

    >>> counted_as("diagnosis")
    'diagnosis'
    """
    return attribute if isinstance(attribute, str) else HIDDEN.join(("", "joint", *attribute))


def joint_of(about: Iterable[Attribute | None]) -> tuple[tuple[str, ...], ...]:
    """Return the attributes that models are about together, of those that they are about."""
    return tuple(dict.fromkeys(each for each in about if isinstance(each, tuple)))


def of_items(attribute: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, among those of counts, of the counts by one item of an attribute each."""
    begin = by_item(attribute, "")
    return tuple(name for name in names if name.startswith(begin))


def of_column(name: Attribute) -> str:
    """Return what messages call some counts, or what these are about.

    >>> of_column(by_persons("diagnosis")), of_column(by_item("diagnosis", "flu"))
    ('diagnosis', 'diagnosis')
    >>> of_column(PERSON)
    'person'
    >>> of_column(by_persons(counted_as(("diagnosis", "drug"))))
    'diagnosis and drug'
    """
    if not isinstance(name, str):
        return " and ".join(name)
    if not name.startswith(HIDDEN):
        return name
    kind, about = name.removeprefix(HIDDEN).split(HIDDEN, 1)
    if kind == "persons":
        return of_column(about)
    names = about.split(HIDDEN)
    return of_column(tuple(names)) if kind == "joint" else names[0]


def too_many(units: int, combinations: int, unit: str = PERSON) -> InputError:
    """Return what is said of persons, say, who are too many for an array by combination."""
    return InputError(
        f"there are {units:,} {of_column(unit)}s, too many to look at all of them at once in each "
        f"of {combinations:,} combinations of quasi-identifiers; choose coarser quasi-identifiers, "
        "or a simpler recoding, such as full-domain"
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


class HeldValues(NamedTuple):
    """What persons hold in classes, a row for each class, person and value that occur together.

    In the order of classes, and of persons within each. ``parts`` are what it counts where persons
    count once in each class. ``person`` numbers them, in each class anew: the rows of one are
    ``lengths`` from ``starts`` on, (persons,).
    """

    class_of: Codes
    value_of: Codes
    parts: Ints
    person: Codes
    starts: Codes
    lengths: Codes


@dataclass(frozen=True, eq=False)
class PersonValues:
    """The records of each class by person and value, which add up where classes merge.

    ``joint`` (classes, pairs) has a column for each pair of a person and a value that occurs;
    ``person_of`` and ``value_of`` (pairs,) say which, by person first; there are ``values``.
    ``records`` (pairs,) are those of the whole table. ``each``: a person counts each of their
    values in full, too. ``gap``: the last value is a missing one, which counts as nothing.
    ``numbered``: the release shows which records are of one person.
    """

    joint: CountMatrix = field(repr=False)
    person_of: Codes = field(repr=False)
    value_of: Codes = field(repr=False)
    values: int
    records: Ints = field(repr=False)
    each: bool = False
    gap: bool = False
    numbered: bool = False

    def padded(self, rows: int) -> "PersonValues":
        """Append classes that have no record."""
        return replace(self, joint=with_empty_rows(self.joint, rows))

    def select(self, some: Any) -> "PersonValues":
        """Some of the classes, by mask or places."""
        return replace(self, joint=chosen(self.joint, some))

    @property
    def alone(self) -> "PersonValues":
        """The same of a table that has no records but these."""
        return replace(self, records=np.asarray(self.joint.sum(axis=0), np.int64))

    @property
    def in_records(self) -> CountMatrix:
        """The classes by value, where each record counts once, (classes, values)."""
        return self._weighed(np.ones(len(self.records), np.int64))

    @property
    def in_parts(self) -> CountMatrix:
        """The same where each person of the table counts once in all, in whole parts of one."""
        records = np.bincount(self.person_of, self.records).astype(np.int64)
        return self._weighed(_parts_of(np.maximum(records, 1), len(records))[self.person_of])

    def _weighed(self, weights: Ints) -> CountMatrix:
        """The classes by value, a record of each pair counting so much, (classes, values)."""
        held = by_pairs(self.joint)
        class_of = np.repeat(np.arange(held.shape[0]), np.diff(held.indptr))
        shape, places = (held.shape[0], self.values), held.indices
        return tabulated(class_of, self.value_of[places], held.data * weights[places], shape)

    @cached_property
    def by_class(self) -> CountMatrix:
        """The classes by value, where each person counts once in each class, (classes, values).

        In whole parts of a person, as of ``Persons.parts``.
        """
        held = self._held
        shape = self.joint.shape[0], self.values
        return tabulated(held.class_of, held.value_of, held.parts, shape)

    def of_value(self, value: int) -> tuple[Codes, CountMatrix]:
        """Classes as who asks of one value counts them, and the classes that these rows are of.

        Whoever has the value in any record of the class counts once, in it alone, and all others as
        in ``by_class``: its share is that of the persons who have it. A row, (rows, values), for
        each class where somebody has the value and others, too; elsewhere nothing differs.
        """
        held = self._held
        rows = self._several(value)
        starts, lengths = held.starts[held.person[rows]], held.lengths[held.person[rows]]
        classes, row_of = np.unique(held.class_of[rows], return_inverse=True)
        # What a person counts in any value moves to the one in question.
        other, row_of = runs(starts, lengths), np.repeat(row_of, lengths)
        found, row_of = chosen(self.by_class, classes), np.append(row_of, row_of)
        values = np.append(held.value_of[other], np.full(len(other), value))
        changes = np.append(-held.parts[other], held.parts[other])
        if not is_sparse(found):
            np.add.at(found, (row_of, values), changes)
            return classes, found
        found = found + csr_of(row_of, values, changes, found.shape)
        found.eliminate_zeros()
        found.sort_indices()
        return classes, found

    def compared(self, value: int, margin: Ints) -> Iterator[tuple[Codes, Ints, Ints]]:
        """Yield the same as who compares with the table counts them, where that tells anything.

        These are the classes of ``of_value`` in which a larger share of persons has the value than
        of all persons: that it is rarer in a class tells nothing of who has records elsewhere, too.
        Each stands for what tells least of all classes with such a share. The rest has other values
        as often, among these, as the records of the table, ``margin`` (values,).

        Some classes at a time: their places, their rows, (rows, values), and the margin that they
        are compared with, (values,).
        """
        classes = np.unique(self._held.class_of[self._several(value)])
        having, everywhere = self._having(value)[classes], int(self.whole._having(value)[0])
        persons, everybody = self._persons[classes], int(self.whole._persons[0])
        above = having * everybody > everywhere * persons
        classes, having, persons = classes[above], having[above], persons[above]
        rest = np.maximum(np.rint(margin * min(1.0, MOST_REST / margin.sum())), margin > 0)
        rest = rest.astype(np.int64)
        rest[value] = 0
        if self.gap:
            rest[-1] = 0
        known = np.zeros(self.values, np.int64)
        known[value] = rest.sum()
        for some in np.array_split(
            np.arange(len(classes)), 1 + len(classes) * self.values // AT_ONCE
        ):
            rows = np.outer(persons[some] - having[some], rest) + np.outer(having[some], known)
            yield classes[some], rows, (everybody - everywhere) * rest + everywhere * known

    @property
    def of_several(self) -> list[int]:
        """The values that somebody has in a class together with others; a missing one is none."""
        known = range(self.values - self.gap)
        return [value for value in known if len(self._several(value))]

    @cached_property
    def whole(self) -> "PersonValues":
        """The whole table as one class."""
        return replace(self, joint=self.records[None, :])

    @cached_property
    def _persons(self) -> Ints:
        """The persons of each class who have a value, shape (classes,); a missing one is none."""
        held = self._held
        rows = held.value_of < self.values - self.gap
        _, first = np.unique(held.person[rows], return_index=True)
        return np.bincount(held.class_of[rows][first], minlength=self.joint.shape[0])

    def _having(self, value: int) -> Ints:
        """The persons of each class who have a value, shape (classes,)."""
        rows = self._rows_by_value[value]
        return np.bincount(self._held.class_of[rows], minlength=self.joint.shape[0])

    def _several(self, value: int) -> Codes:
        """The rows that are held of a value, and whose persons have others in the class, too."""
        rows = self._rows_by_value[value]
        return rows[self._held.lengths[self._held.person[rows]] > 1]

    @cached_property
    def _rows_by_value(self) -> list[Codes]:
        """The rows that are held of each value, a person each."""
        value_of = self._held.value_of
        order = np.argsort(value_of, kind="stable")
        return np.split(order, np.searchsorted(value_of[order], np.arange(1, self.values)))

    @cached_property
    def _held(self) -> HeldValues:
        found = by_pairs(self.joint)
        found.sort_indices()
        class_of = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        # Pairs stand by person, so that those of a person in a class are next to each other.
        person, value_of = self.person_of[found.indices], self.value_of[found.indices]
        first = np.ones(len(person), bool)
        first[1:] = (class_of[1:] != class_of[:-1]) | (person[1:] != person[:-1])
        starts = np.flatnonzero(first)
        records = np.add.reduceat(found.data, starts) if len(starts) else found.data
        number = np.cumsum(first) - 1
        return HeldValues(
            class_of,
            value_of,
            found.data * _parts_of(records, len(starts))[number],
            number,
            starts,
            np.diff(np.append(starts, len(number))),
        )


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
