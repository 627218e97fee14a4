"""Counts: the only view of a table that search, privacy models and objectives ever see."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from anonymizer.counts.linked import JoinedRecords, sets_in
from anonymizer.counts.pairs import chosen, dealt_among, dealt_out, merged, permuted, row_keys
from anonymizer.counts.persons import (
    HIDDEN,
    HOUSEHOLD,
    MEMBER,
    PERSON,
    SOMEBODY,
    Attribute,
    PersonValues,
    by_persons,
    counted_as,
    of_column,
    of_items,
    too_many,
)
from anonymizer.errors import InputError
from anonymizer.hierarchy import Partition
from anonymizer.information.matrices import CountMatrix, dense, is_sparse, occurring, too_large
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask

Partitions = Mapping[str, Partition]


@runtime_checkable
class Grouping(Protocol):
    """A recoding that puts whole combinations of values into classes."""

    def class_of(self, cells: Codes) -> Codes:
        """The class of each row of value codes, -1 where no class covers it, shape (rows,)."""


class Least(Protocol):
    """What counts the people of classes where they do not add up.

    See ``LeastPeople``, which bounds them, and ``WeighedPersons``.
    """

    @property
    def total(self) -> int:
        """How many people there are in all."""

    def people(self, names: tuple[str, ...], cells: Codes, sizes: Ints) -> Ints:
        """The people of classes of so many records, shape (classes,)."""

    def recoded(self, partitions: Partitions) -> "Least":
        """The same for classes of coarser values."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The count matrix C of one sensitive attribute: all that a per-class quantity depends on.

    ``joint`` (classes, values) are the records of each class by sensitive value, of very many
    values a sparse matrix (``anonymizer.information.matrices``); models that do not say that they
    read one are given an array. ``margin`` (values,) are those of the whole table: the distribution
    p(w) an adversary is taken to know, which no recoding changes. ``values`` are what the columns
    of ``joint`` count, empty where no model needs to know; ``attribute`` is their name, for
    messages. ``population`` (classes,) are the records of a population that have the class's
    quasi-identifiers; a class may then have no record in the table itself. Where no sensitive
    attribute matters, all records have the same value. ``gap``: the last column are records that
    miss a value, which counts as nothing to privacy models. ``others``: the same classes counted in
    other ways, in which a model has to hold, too. ``each``: their records by person and value,
    where a person counts each of their values in full, too. ``linked``: what a model has to hold of
    as well, where a release shows which records are of one person.
    """

    joint: CountMatrix
    margin: Ints
    values: tuple[object, ...] = field(default=(), repr=False)
    population: Ints | None = None
    attribute: str | None = None
    gap: bool = False
    others: "tuple[Classes, ...]" = field(default=(), repr=False)
    each: PersonValues | None = field(default=None, repr=False)
    linked: "tuple[Linked, ...]" = field(default=(), repr=False)

    def __len__(self) -> int:
        return int(self.joint.shape[0])

    @property
    def known(self) -> "Classes":
        """The classes without records that miss a value, where a missing one counts as nothing."""
        if not self.gap:
            return self
        return replace(
            self,
            joint=self.joint[:, :-1],
            margin=self.margin[:-1],
            values=self.values[:-1],
            gap=False,
            others=tuple(each.known for each in self.others),
            each=None,
            linked=(),
        )

    @cached_property
    def sizes(self) -> Ints:
        """Records per class, shape (classes,)."""
        return np.asarray(self.joint.sum(axis=1), np.int64)

    @property
    def shares(self) -> Floats:
        """p(w|g), shape (classes, values), an array; 0 in a class without records.

        InputError where that array would be too large.
        """
        joint = dense(self.joint, self.attribute)
        return np.asarray(joint / np.maximum(self.sizes, 1)[:, None])

    @property
    def households(self) -> Codes | None:
        """The household of each person, shape (persons,), where records are counted by these.

        None where nobody has several records, or no column tells who lives together.
        """
        known = self.values and self.attribute == of_column(PERSON)
        return np.array(self.values, np.intp) if known else None

    @property
    def persons(self) -> Ints:
        """The persons of each class where records are counted by these, else its records."""
        if self.attribute == of_column(PERSON):
            return np.asarray(occurring(self.joint), np.int64)
        return self.sizes

    @property
    def prior(self) -> Floats:
        """p(w) of the whole table, shape (values,)."""
        return np.asarray(self.margin / self.margin.sum())

    @property
    def occupied(self) -> "Classes":
        """The classes that the table has records of."""
        if self.population is None:
            return self
        return self.select(self.sizes > 0)

    def select(self, some: Mask | Codes) -> "Classes":
        """Some of the classes, by mask or places."""
        people = None if self.population is None else self.population[some]
        others = tuple(each.select(some) for each in self.others)
        each = None if self.each is None else self.each.select(some)
        linked = tuple(sets.select(some, len(self)) for sets in self.linked)
        joint = chosen(self.joint, some)
        return replace(
            self, joint=joint, population=people, others=others, each=each, linked=linked
        )


@dataclass(frozen=True, eq=False)
class Linked:
    """Sets of records that a model judges as it does classes; each class fares as its worst set.

    ``sets`` are counted as classes are. Of each pair of a set and a class that it has records in
    ``row`` and ``class_of`` are the places, shape (pairs,). See ``anonymizer.counts.linked``.
    """

    sets: Classes
    row: Codes = field(repr=False)
    class_of: Codes = field(repr=False)

    def select(self, some: Mask | Codes, classes: int) -> "Linked":
        """The sets of some of so many classes, which stay what they are in the whole table."""
        places = np.full(classes, -1)
        kept = np.arange(classes)[some]
        places[kept] = np.arange(len(kept))
        there = places[self.class_of] >= 0
        return replace(self, row=self.row[there], class_of=places[self.class_of[there]])


@dataclass(frozen=True, eq=False)
class Counts:
    """Records of each class and, within it, of each sensitive value.

    ``cells`` (classes, names) has the code of each class in each of the quasi-identifiers
    ``names``; a group of values goes by the smallest of its value codes, so that recodings of
    nested partitions compose. ``sizes`` (classes,) are the records of each class, ``joint``
    (classes, values) those by value of each sensitive attribute and target, of very many values a
    sparse matrix (``anonymizer.counts.pairs``), ``values`` what its columns count. ``margins``
    (values,) and ``records`` are the same of the whole table: what classes are measured against,
    whichever of them these counts hold. No privacy model is about the ``targets``. ``population``
    (classes,) are the records of a population; classes of which only that has records are then
    among the others, of size 0. ``gaps`` are the sensitive attributes whose last value is a missing
    one that counts as nothing. Where persons have several records, ``joint`` has two more kinds of
    counts, under names that no column has: ``PERSON``, and ``by_persons`` of every sensitive
    attribute; ``of_persons`` are the records by person and value of each of these. Without them
    nobody knows what a person counts in each class. Where people live together there is
    ``HOUSEHOLD``, and the ``values`` of ``PERSON`` are the household of each. Where the cells of an
    attribute list items there are the counts ``by_item``, in which one item is a value. ``least``:
    where of the population only margins are known, what bounds the people of classes, which do not
    add up then. Merged classes without a recoding of their own have the sum of the bounds of their
    parts.
    """

    names: tuple[str, ...]
    cells: Codes
    sizes: Ints
    joint: Mapping[str, CountMatrix]
    margins: Mapping[str, Ints]
    records: int
    values: Mapping[str, tuple[object, ...]] = field(default_factory=dict, repr=False)
    targets: tuple[str, ...] = ()
    population: Ints | None = None
    gaps: tuple[str, ...] = ()
    of_persons: Mapping[str, PersonValues] = field(default_factory=dict, repr=False)
    least: "Least | None" = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        cells: Codes,
        sizes: Ints,
        joint: Mapping[str, CountMatrix],
        values: Mapping[str, tuple[object, ...]] | None = None,
        targets: tuple[str, ...] = (),
        population: Ints | None = None,
        gaps: tuple[str, ...] = (),
        of_persons: Mapping[str, PersonValues] | None = None,
    ) -> "Counts":
        """Count a whole table from rows that may repeat a cell."""
        margins = {name: np.asarray(matrix.sum(axis=0)) for name, matrix in joint.items()}
        records = int(sizes.sum())
        counts = cls(
            names,
            cells,
            sizes,
            joint,
            margins,
            records,
            values or {},
            targets,
            population,
            gaps,
            of_persons or {},
        )
        # Rows that repeat a cell become one class.
        return counts.at(cells)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def occupied(self) -> int:
        """Classes that the table has records of."""
        return len(self) if self.population is None else int((self.sizes > 0).sum())

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes."""
        return tuple(name for name in self.attributes if name not in self.targets)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The sensitive attributes and the targets: columns whose values are counted."""
        return tuple(name for name in self.joint if not name.startswith(HIDDEN))

    def judged(self, attribute: Attribute | None, unit: str | None = None) -> Classes:
        """Return what a model judges: as ``about``, and in every way that persons may be counted.

        ``unit``: ``PERSON``, ``HOUSEHOLD``, ``MEMBER`` or ``SOMEBODY`` where it is by that of each
        record.
        """
        names = judged_by(attribute, unit, self.joint)
        ways = [self.about(name) for name in names]
        values = None if attribute is None else self.of_persons.get(counted_as(attribute))
        if values is None or len(ways) == 1:
            return replace(ways[0], others=tuple(ways[1:]))
        found = _in_all_ways(ways, values)
        if not values.numbered:
            return found
        return replace(found, linked=tuple(_of_sets(ways, sets) for sets in sets_in(values)))

    @property
    def additive(self) -> "Counts":
        """The counts without what does not add up where classes merge."""
        return replace(self, of_persons={}) if self.of_persons else self

    @property
    def dense(self) -> "Counts":
        """The counts with arrays only; InputError where one would be too large."""
        for unit in (PERSON, HOUSEHOLD):
            counted = self.joint.get(unit)
            if counted is not None and too_large(counted):
                raise too_many(counted.shape[1], len(self), unit)
        joint = {name: dense(each, of_column(name)) for name, each in self.joint.items()}
        return replace(self, joint=joint)

    def about(self, attribute: Attribute | None) -> Classes:
        """Return the classes by the values of an attribute; None: by their sizes alone."""
        if attribute is None:
            margin = np.array([self.records], np.int64)
            return Classes(self.sizes[:, None], margin, (), self.population)
        attribute = counted_as(attribute)
        return Classes(
            self.joint[attribute],
            self.margins[attribute],
            self.values.get(attribute, ()),
            self.population,
            of_column(attribute),
            attribute in self.gaps,
        )

    def recode(self, recoding: "Partitions | Grouping") -> "Counts":
        """Merge the classes that a recoding no longer tells apart; refused: those it has not.

        The counts may have been recoded before, by partitions nested in these; but not where the
        recoding is of whole combinations of values.
        """
        if isinstance(recoding, Grouping):
            return self.grouped(recoding.class_of(self.cells))
        cells = self.cells.copy()
        for name, partition in recoding.items():
            column = self.names.index(name)
            # A group goes by its smallest code, so that nested recodings compose.
            cells[:, column] = partition.representatives[cells[:, column]]
        found = self.at(cells)
        return found if self.least is None else found.by_least(self.least.recoded(recoding))

    def project(self, names: tuple[str, ...]) -> "Counts":
        """Keep some quasi-identifiers, merging the classes that agree on them."""
        kept = [self.names.index(name) for name in names]
        found = replace(self, names=names).at(self.cells[:, kept])
        return found if self.least is None else found.by_least(self.least)

    def by_least(self, least: "Least") -> "Counts":
        """The counts with the people that each class has, where these do not add up."""
        people = least.people(self.names, self.cells, self.sizes)
        return replace(self, population=people, least=least)

    def select(self, classes: Mask | Codes) -> "Counts":
        """Keep some classes, or those in some places; the table they are measured against stays."""
        return self._with(self.cells[classes], lambda rows: chosen(rows, classes))

    def without(self, classes: Mask) -> "Counts":
        """The table without the records of some classes: what the others are measured against."""
        left = self.select(~classes)
        alone = left.names, left.cells, left.sizes, left.joint, left.values, left.targets
        pairs = {name: each.alone for name, each in left.of_persons.items()}
        found = Counts.of(*alone, left.population, left.gaps, pairs)
        return replace(found, least=self.least)

    def merge(self, classes: Mask) -> "Counts":
        """Merge some classes into one, which goes by the cell of the first of them."""
        cells = self.cells.copy()
        cells[classes] = cells[np.argmax(classes)]
        return self.at(cells) if classes.any() else self

    def grouped(self, class_of: Codes) -> "Counts":
        """Merge the classes of one number; each goes by the cell of the first of its classes.

        A number below 0, which stands for none, is refused.
        """
        if (class_of < 0).any():
            raise InputError("combinations of values stand in no class of the recoding")
        # Of the classes of a number the first one is the last to be written.
        first = np.zeros(class_of.max(initial=-1) + 1, np.intp)
        first[class_of[::-1]] = np.arange(len(class_of))[::-1]
        return self.at(self.cells[first[class_of]])

    def at(self, cells: Codes) -> "Counts":
        """Put the classes into other cells, shape (classes, names), merged where these agree."""
        key = row_keys(cells)
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        return self._with(cells[order[starts]], lambda rows: merged(rows, order, starts))

    def shuffled(self, rng: np.random.Generator) -> "Counts":
        """Deal each attribute out at random among the same classes: margins stay.

        Records that are dealt out are of no person.
        """
        joint = {name: _dealt(self.joint[name], rng) for name in self.attributes}
        return replace(self, joint=joint, of_persons={})

    def _with(self, cells: Codes, rows_of: Callable[[CountMatrix], Any]) -> "Counts":
        """Return other classes: their cells, and a function that makes their rows of these."""
        return replace(
            self,
            cells=cells,
            sizes=rows_of(self.sizes),
            joint={name: rows_of(matrix) for name, matrix in self.joint.items()},
            population=None if self.population is None else rows_of(self.population),
            of_persons={
                name: replace(each, joint=rows_of(each.joint))
                for name, each in self.of_persons.items()
            },
        )


def _in_all_ways(ways: Sequence[Classes], values: PersonValues) -> Classes:
    """Return classes that are counted in several ways, of persons and of records, in all of them.

    ``ways``: those that add up, of persons first; ``values``: the same by person and value.
    """
    once = replace(ways[0], joint=values.by_class)
    last = replace(once, each=values) if values.each else once
    return replace(ways[0], others=(*ways[1:], last))


def _of_sets(ways: Sequence[Classes], sets: JoinedRecords) -> Linked:
    """Return sets of records in all ways; the ``ways`` are those of classes, of persons first."""
    counted = sets.values.in_parts, sets.values.in_records
    own = [
        replace(way, joint=joint, population=None) for way, joint in zip(ways, counted, strict=True)
    ]
    return Linked(_in_all_ways(own, sets.values), sets.row, sets.class_of)


def judged_by(
    attribute: Attribute | None, unit: str | None, known: Collection[str]
) -> tuple[str | None, ...]:
    """Return the names of the counts that a model judges, of those that are known and add up.

    InputError where it is about persons or households, and nobody knows whose each record is; or
    about several attributes that were not counted together.
    """
    if unit == MEMBER:
        unit = PERSON if PERSON in known and HOUSEHOLD in known else HOUSEHOLD
    if unit == SOMEBODY:
        unit = PERSON if PERSON in known else None
    if unit is not None and unit not in known:
        example = 'person = "patient_id"' if unit == PERSON else 'household = "household_id"'
        raise InputError(
            f"a model of the policy is about {of_column(unit)}s; name the column, or the columns, "
            f"that tell whose each record is, such as {example}"
        )
    if unit is not None:
        return (unit,)
    if attribute is None:
        return (None,)
    name = counted_as(attribute)
    if name not in known:
        raise InputError(
            f"{of_column(name)} are not counted together here; name them in a model of the policy "
            "that the table is counted for"
        )
    if by_persons(name) in known:
        return by_persons(name), name
    return (name, *of_items(name, known))


MANY = 1 << 17
"""Records from which on counts are dealt out, not records, where there are fewer of those."""

MOST_PERMUTED = 1 << 26
"""Records up to which they are dealt out one by one, some 24 bytes each."""


def _dealt(joint: CountMatrix, rng: np.random.Generator) -> CountMatrix:
    """Deal out a count matrix of the same margins: the values of the records, permuted."""
    if is_sparse(joint):
        return dealt_out(joint, rng)
    records, (classes, values) = int(joint.sum()), joint.shape
    # A record takes less time than a count, of which there are many where classes are small.
    if records > max(MANY, min(classes * values, MOST_PERMUTED)):
        return _drawn(joint, rng)
    return permuted(joint, rng)


def _drawn(joint: Ints, rng: np.random.Generator) -> Ints:
    """Deal out without a number for each record: each value goes to the places that are left.

    Which places the records of one value take is hypergeometric, whatever the others got.
    """
    places, found = joint.sum(axis=1), np.zeros_like(joint)
    for value, records in enumerate(joint.sum(axis=0)):
        found[:, value] = dealt_among(places, int(records), rng)
        places = places - found[:, value]
    return found
