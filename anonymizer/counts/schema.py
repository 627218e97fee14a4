"""The role of every column that matters to privacy, and the way from a tally to counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
import pandas as pd

from anonymizer.counts.columns import (
    Numbering,
    by_text,
    cells_of,
    distinct_cells,
    histograms,
    missing_last,
    of_households,
    of_persons,
    of_sets,
    one_list,
    one_of_each_text,
    one_spelling,
    require_everybody,
    require_one_household,
)
from anonymizer.counts.counts import Counts
from anonymizer.counts.margin_labels import placed
from anonymizer.counts.margins import LeastPeople
from anonymizer.counts.pairs import in_columns, with_empty_rows
from anonymizer.counts.persons import (
    HIDDEN,
    Attribute,
    PerPerson,
    Persons,
    PersonValues,
    by_persons,
    of_items,
)
from anonymizer.counts.roles import (
    NOTHING_WITHHELD,
    number_column,
    require_fitting,
    require_joint,
    require_listed,
    require_releasable,
)
from anonymizer.errors import InputError, PolicyBrokenError, did_you_mean, require_columns
from anonymizer.hierarchy import Hierarchy, Taxonomy
from anonymizer.information.matrices import CountMatrix
from anonymizer.kernels.arrays import Codes
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.population import (
    WEIGHTS,
    CountedMargin,
    Margins,
    Population,
    people_weighed,
    require_one_weight,
    require_weights,
)
from anonymizer.tables.spelling import alike_keys
from anonymizer.tables.values import is_missing

Missing = Literal["error", "drop", "gap", "category"]
"""What to do with records that miss a value: refuse, leave them out, or keep them.

Of a quasi-identifier a missing value that is kept is one like any other. Of a sensitive attribute
it is a ``"gap"``, which counts as nothing to privacy models, or a ``"category"``, which counts as
one more value.
"""

MISSING: tuple[Missing, ...] = get_args(Missing)

Values = tuple[object, ...]

ALIKE = partial(by_text, keys=alike_keys)
"""Number the values of a column in the order of their texts, those that read alike as one."""


@dataclass(frozen=True)
class Schema:
    """The role of each column; an attribute has one.

    A release leaves out the ``identifiers`` and is to keep much information about the ``targets``,
    which may be sensitive too. ``missing``, one of ``MISSING``, is about the other columns. The
    ``insensitive`` columns are released as they are: all without another role if None, else those
    that are listed, and a table that has any further column is refused. ``person`` are the columns
    that together tell whose each record is, none where each is of a person of its own; those of
    ``household`` tell which records are of people who live together; ``weight`` has the sampling
    weights of a survey, which tell strata. A release leaves all of them out, too.
    ``per_person``, one of ``PER_PERSON``: what somebody with several sensitive values counts. One
    that ``releases_weight`` has in that column the mean weight of each class.
    ``person_numbers``: a release has a number for each person in the place of ``person``.
    ``items``: the sensitive attributes whose cells list several items, and what stands between.
    ``joint``: sensitive attributes that a model is about together, of which each combination of
    values is one value.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifiers: tuple[str, ...] = ()
    missing: Missing = "error"
    targets: tuple[str, ...] = ()
    insensitive: tuple[str, ...] | None = None
    person: tuple[str, ...] = ()
    weight: str | None = None
    per_person: PerPerson = "share"
    household: tuple[str, ...] = ()
    releases_weight: bool = False
    person_numbers: bool = False
    items: tuple[tuple[str, str], ...] = ()
    joint: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        for name in self.named:
            if not isinstance(name, str):
                raise InputError(
                    f"column names must be texts, not {name!r}; rename(columns=str) mends it"
                )
            if HIDDEN in name:
                raise InputError(f"column name {name!r} has a NUL character; rename it")
        if not self.quasi_identifiers:
            raise InputError("name at least one quasi-identifier and its hierarchy")
        if self.missing not in MISSING:
            raise InputError(
                f"missing = {self.missing!r} is none of {', '.join(MISSING)}"
                + did_you_mean(str(self.missing), MISSING)
            )
        named = Counter(self.named)
        twice = [name for name, count in named.items() if count > 1]
        if twice:
            roles = self._roles(twice[0])
            raise InputError(f"column {twice[0]!r} has more than one role; give it one{roles}")
        counted = self.per_person, self.person_numbers
        require_fitting(self.person, self.household, *counted)
        if self.items:
            require_listed(self.items, self.sensitive, self.quasi_identifiers, self.keys)
        if self.joint:
            require_joint(self.joint, self.sensitive, self.items, self.missing)
        if self.releases_weight:
            require_releasable(self.weight, self.household, self.person)

    def _roles(self, name: str) -> str:
        """The roles of a column that has several, in words."""
        named = {
            "a quasi-identifier": self.quasi_identifiers,
            "sensitive": self.sensitive,
            "an identifier": self.identifiers,
            "a target": self.targets_alone,
            "insensitive": self.insensitive or (),
            "that of persons": self.person,
            "that of households": self.household,
            "the sampling weight": (self.weight,),
        }
        of_it = [role for role, names in named.items() if name in names]
        return f" (it is {' and '.join(of_it)})" if len(of_it) > 1 else ""

    @property
    def named(self) -> tuple[str, ...]:
        """The columns whose role is given."""
        return (*self.columns, *self.identifiers, *(self.insensitive or ()))

    @property
    def keeps_missing(self) -> bool:
        """True where records that miss a value stay in the table."""
        return self.missing in ("gap", "category")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are counted."""
        weight = () if self.weight is None else (self.weight,)
        return (*self.quasi_identifiers, *self.counted, *self.keys, *weight)

    @property
    def withheld(self) -> tuple[str, ...]:
        """The columns that are counted, and that no release has."""
        released = self.weight is None or self.releases_weight
        return self.keys if released else (*self.keys, str(self.weight))

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell persons apart, or households."""
        return (*self.person, *self.household)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that no release has."""
        return (*self.identifiers, *self.withheld)

    @property
    def without_persons(self) -> Schema:
        """The roles in a release: nobody sees whose a record is, or for how many it stands.

        Persons who have numbers there are those of the column of numbers.
        """
        if not self.withheld and self.weight is None:
            return self
        if self.number is None:
            return replace(self, identifiers=self.left_out, **NOTHING_WITHHELD)
        names = tuple(name for name in self.left_out if name != self.number)
        return replace(self, identifiers=names, person=(self.number,))

    @property
    def number(self) -> str | None:
        """The column of a release that has a number for each person; None where there is none."""
        return number_column(self.person) if self.person_numbers else None

    @property
    def counted(self) -> tuple[str, ...]:
        """The attributes whose values are counted in every class."""
        return (*self.sensitive, *self.targets_alone)

    @property
    def targets_alone(self) -> tuple[str, ...]:
        """The targets that are not sensitive."""
        return tuple(name for name in self.targets if name not in self.sensitive)

    def with_quasi_identifier(self, name: str) -> Schema:
        """Return the roles in a release that has one more column to tell its classes by."""
        # An identifier of that name is gone from the release.
        others = tuple(other for other in self.identifiers if other != name)
        return replace(self, quasi_identifiers=(*self.quasi_identifiers, name), identifiers=others)

    def require_pinned(self, columns: Iterable[object]) -> None:
        """Require, where columns are pinned, that a table has those with a role and no others."""
        if self.insensitive is None:
            return
        given = list(columns)
        require_columns(given, self.insensitive)
        others = [name for name in given if name not in self.named]
        if others:
            raise InputError(
                f"the table has columns that have no role: {', '.join(map(repr, others))}; columns "
                "are pinned, and nobody decided that these may be released: list them as "
                "identifiers to leave them out, or as insensitive to release them as they are"
            )

    def admit(self, table: T, *, respell: bool = True) -> T:
        """Check that a table has the columns and values it needs; leave out what is to be dropped.

        Blanks around the texts of quasi-identifiers and sensitive attributes are stripped: they
        would make one value look like two. Of a sensitive value that is written in several ways
        one spelling is kept, since diversity of spellings is none; none is changed without
        ``respell``. InputError on a column that is unknown or stands twice, a table without
        records, or missing values under ``missing = "error"``.
        """
        if not isinstance(table, pd.DataFrame | engine.Tally):
            raise InputError(f"expected a pandas DataFrame, got {type(table).__name__}")
        rows = engine.rows_of(table)
        self._require_no_index(rows)
        # A tally has none but the columns that were counted.
        others = self.identifiers if isinstance(table, engine.Tally) else ()
        self.require_shape([*rows.columns, *others], engine.records(table))
        table = engine.changed(table, self.columns, engine.stripped)
        if self.missing == "drop":
            table = engine.drop_missing(table, [n for n in self.columns if n != self.weight])
            self.require_left(engine.records(table))
        if self.weight is not None:
            require_weights(table, self.weight)
        if self.missing != "drop":
            if self.keys:
                self.require_persons(table)
            self._require_values(table)
        found = engine.changed(table, self.sensitive, one_spelling) if respell else table
        for name, mark in self.items if respell else ():
            found = engine.changed(found, [name], partial(one_list, mark=mark))
        found = engine.changed(found, self.keys, one_of_each_text) if self.keys else found
        if self.person and self.household:
            require_one_household(found, self.person, self.household)
        if self.person and self.weight is not None:
            require_one_weight(found, self.weight, self.person)
        return found

    def _require_no_index(self, rows: pd.DataFrame) -> None:
        """Refuse a column with a role that is an index of pandas."""
        for name in (*self.columns, *self.identifiers):
            if name in rows.index.names and name not in rows.columns:
                raise InputError(
                    f"{name!r} is the index of the DataFrame, which is no column, and in no "
                    "release; make it a column by reset_index(), or leave it out"
                )

    def require_shape(self, columns: Iterable[object], records: int) -> None:
        """Require that a table has the columns it needs, none twice, and records."""
        require_columns(columns, [*self.columns, *self.identifiers])
        if not records:
            raise InputError("the table has no records")

    def refuse_missing(self, missing: Mapping[str, int], records: int) -> None:
        """Refuse a table where any record misses a value, given how many do in each column."""
        for column, count in missing.items():
            raise InputError(
                f"column {column!r} misses the value of {count} of {records} records; "
                'choose missing = "drop" or "gap", or clean the column'
            )

    def require_left(self, records: int) -> None:
        """Require that some records miss no value."""
        if not records:
            raise InputError("every record misses a value, so that none is left to release")

    def admit_population(self, population: T) -> T:
        """The quasi-identifiers of a population, checked as ``admit`` checks a table."""
        # Nothing but the quasi-identifiers of a population is read.
        alone = replace(self, sensitive=(), identifiers=(), targets=(), insensitive=None, joint=())
        only = replace(alone, **NOTHING_WITHHELD)
        try:
            return engine.chosen(only.admit(population), self.quasi_identifiers)
        except InputError as error:
            raise InputError(f"the population: {error}") from None

    def admit_margins(
        self, margins: Margins, hierarchies: Mapping[str, Hierarchy | None]
    ) -> list[CountedMargin]:
        """The margins of a population, by those quasi-identifiers that each has, as ``placed``.

        Checked as ``admit`` checks a table; but nobody who misses a value is dropped.
        """
        found = []
        for each in margins.counted(self.quasi_identifiers):
            names = tuple(map(str, each.table.columns))
            only = Schema(names, (), missing="category" if self.keeps_missing else "error")
            try:
                admitted = engine.chosen(only.admit(each.table), names)
                found.append(placed(each._replace(table=admitted), hierarchies))
            except InputError as error:
                raise InputError(f"the population: the margin {each.name!r}: {error}") from None
        return found

    def _fewest(
        self, margins: Margins, table: engine.Table, hierarchies: Mapping[str, Hierarchy]
    ) -> engine.Tally:
        """The fewest people that the combinations of values of a table can have."""
        tally = engine.tally(table, self.quasi_identifiers)
        known = self.admit_margins(margins, hierarchies)
        raw = dict.fromkeys(self.quasi_identifiers, Hierarchy.suppression())
        raw |= {name: hierarchies[name] for each in known for name in each.levels}
        taxonomies = taxonomies_of(tally, raw, [each.table for each in known])
        cells = cells_of(tally, taxonomies, self.quasi_identifiers)
        least = LeastPeople.by(known, taxonomies)
        return replace(tally, sizes=least.among(self.quasi_identifiers, cells, tally.sizes))

    def people_of(
        self,
        population: Population | None,
        table: engine.Table,
        hierarchies: Mapping[str, Hierarchy] = MappingProxyType({}),
    ) -> engine.Table | None:
        """The quasi-identifiers of a population, None without one; by the weights of a raw table.

        Of margins, placed by ``hierarchies``, the fewest people that each combination of the table
        can have. InputError where a table has no weights, or the population does not fit.
        """
        if population is None:
            return None
        if isinstance(population, Margins):
            return self._fewest(population, table, hierarchies)
        if population is not WEIGHTS:
            found: engine.Table = self.admit_population(population.table)
            return found
        weighed = self.people_weighed(table)
        if weighed is None:
            raise InputError(
                f'population = "{WEIGHTS.name}" is the people whom the records of a sample stand '
                "for, and no column tells how many each does; name the column of sampling weights, "
                'such as weight = "sampling_weight" (below [data] in a study)'
            )
        return weighed

    def people_weighed(self, table: engine.Table) -> engine.Tally | None:
        """Count the people whom the records of a raw table stand for; None without weights."""
        if self.weight is None:
            return None
        return people_weighed(table, self.weight, self.quasi_identifiers, self.person)

    def require_released(self, table: engine.Table) -> None:
        """Refuse as a release a table that misses columns, records or values, or has an identifier.

        An identifier is a ``PolicyBrokenError``.
        """
        columns = table.columns
        require_columns(columns, self.columns)
        self.require_unnamed(columns)
        if not engine.records(table):
            raise InputError("the table has no records")
        self._require_values(table)

    def require_unnamed(self, columns: Iterable[object]) -> None:
        """Refuse as those of a release columns among which there is an identifier."""
        there = {*columns}
        present = [name for name in self.identifiers if name in there]
        if present:
            raise PolicyBrokenError(f"the table holds the identifier {present[0]!r}: no release")

    def _require_values(self, table: engine.Table) -> None:
        if not self.keeps_missing and (missing := engine.missing_values(table, self.columns)):
            self.refuse_missing(missing, engine.records(table))

    def require_persons(self, table: engine.Table) -> None:
        """Require that every record says whose it is: missing values may be those of one."""
        for column in self.keys:
            codes, values = engine.distinct(table[column])
            nobody = np.array([is_missing(value) or value == "" for value in values], bool)
            if count := engine.records_in(table, nobody[codes]):
                who = "persons" if column in self.person else "households"
                raise InputError(
                    f"column {column!r}, which tells {who} apart, misses the value of {count} "
                    f"of {engine.records(table)} records; leave these records out, or give each "
                    f"{who[:-1]} among them a value"
                )

    def persons_of(self, table: engine.Table) -> Persons | None:
        """Return the persons of a table; None where no column tells whose each record is."""
        return Persons.of(table, self.person) if self.person else None

    def counts(
        self,
        tally: engine.Tally,
        taxonomies: Mapping[str, Taxonomy],
        people: engine.Tally | None = None,
        persons: Persons | None = None,
    ) -> Counts:
        """Turn a tally into counts, cells being codes of the taxonomies.

        ``people`` tallies the quasi-identifiers of a population, which must hold the whole table;
        ``persons`` are those of the table that the tally is a part of.
        """
        cells = cells_of(tally, taxonomies, self.quasi_identifiers)
        cells, class_of = distinct_cells(cells)
        sizes = engine.sized(tally, class_of, len(cells))
        joint, values, gaps, pairs = self.histograms(tally, class_of, len(cells), persons, ALIKE)
        population = None
        if people is not None:  # cells of the table, then rows of the population
            before, after = (0, len(people.sizes)), (len(sizes), 0)
            cells = np.concatenate([cells, cells_of(people, taxonomies, self.quasi_identifiers)])
            sizes, population = np.pad(sizes, before), np.pad(people.sizes, after)
            joint = {name: with_empty_rows(each, len(people.sizes)) for name, each in joint.items()}
            pairs = {name: each.padded(len(people.sizes)) for name, each in pairs.items()}
        counts = Counts.of(
            self.quasi_identifiers,
            cells,
            sizes,
            joint,
            values,
            self.targets_alone,
            population,
            gaps,
            pairs,
        )
        require_everybody(counts)
        return counts

    def counts_by_person(
        self, tally: engine.Tally, taxonomies: Mapping[str, Taxonomy]
    ) -> tuple[Counts, Codes]:
        """Count the records of each person in each cell, and say whose they are, shape (rows,).

        A row for each person and cell: a cell stands once for each person who has records in it.
        """
        persons = Persons.of(tally, self.person)
        cells = cells_of(tally, taxonomies, self.quasi_identifiers)
        rows, row_of = distinct_cells(np.column_stack([cells, persons.person_of]))
        joint, values, gaps, pairs = self.histograms(tally, row_of, len(rows), None, ALIKE)
        counts = Counts(
            self.quasi_identifiers,
            rows[:, :-1],
            engine.sized(tally, row_of, len(rows)),
            joint,
            {name: np.asarray(matrix.sum(axis=0)) for name, matrix in joint.items()},
            engine.records(tally),
            values,
            self.targets_alone,
            None,
            gaps,
            pairs,
        )
        return counts, rows[:, -1]

    def histograms(
        self,
        table: engine.Table,
        class_of: Codes,
        classes: int,
        among: Persons | None,
        number: Numbering,
    ) -> tuple[dict[str, CountMatrix], dict[str, Values], tuple[str, ...], dict[str, PersonValues]]:
        """Count the attributes of a table by class, and its persons: see ``Counts``.

        Returned are the histograms, what they count, those whose last value counts as nothing, and
        the records by person and value. ``class_of``: of each row, shape (rows,); ``among``: the
        persons of the table that it is a part of; ``number``: which values of an attribute are one.
        """
        about: tuple[Attribute, ...] = (*self.sensitive, *self.joint)
        names = *about, *self.targets_alone
        joint, values = histograms(table, names, class_of, classes, number)
        for name, mark in self.items:
            more_by = of_sets(table, name, mark, class_of, classes, number)
            joint, values = joint | more_by[0], values | more_by[1]
        persons, pairs = self.persons_of(table), dict[str, PersonValues]()
        if persons is not None:
            ways = self.per_person, self.person_numbers
            more, pairs = of_persons(table, about, class_of, classes, persons, among, number, *ways)
            joint, values = joint | more[0], values | more[1]
        if self.household:
            homes = Persons.of(table, self.household)
            more_of = of_households(table, class_of, classes, homes, persons)
            joint, values = joint | more_of[0], values | more_of[1]
        gaps = []
        for name in self.sensitive if self.missing == "gap" else ():
            others = () if persons is None else (by_persons(name),)
            for each in (name, *of_items(name, values), *others):
                order = missing_last(values[each])
                if order is None:
                    break
                joint[each] = in_columns(joint[each], order)
                values[each] = tuple(values[each][place] for place in order)
                gaps.append(each)
            if order is not None and name in pairs:
                value_of = np.argsort(order)[pairs[name].value_of]
                pairs[name] = replace(pairs[name], value_of=value_of, gap=True)
        return joint, values, tuple(gaps), pairs


def taxonomies_of(
    tally: engine.Tally,
    hierarchies: Mapping[str, Hierarchy],
    people: engine.Tally | Sequence[engine.Tally] | None = None,
) -> dict[str, Taxonomy]:
    """Each quasi-identifier's hierarchy over the values that occur, in the population too.

    Of several tables of a population, margins, each may have some of the columns. A hierarchy that
    lacks values is refused; the message says whether of table or population.
    """
    known = [] if people is None else [people] if isinstance(people, engine.Tally) else people
    return {name: _taxonomy(name, each, tally, known) for name, each in hierarchies.items()}


def _taxonomy(
    name: str, hierarchy: Hierarchy, tally: engine.Tally, people: Sequence[engine.Tally]
) -> Taxonomy:
    values, sizes = _sized(tally, name)
    taxonomy = hierarchy.over(name, values, sizes)
    have = [each for each in people if name in each.columns]
    if not have:
        return taxonomy
    others: dict[object, int] = {}
    for each in have:  # raw values are the same in all, and labels are placed by others
        others = dict(zip(*_sized(each, name), strict=True)) | others
    try:
        return hierarchy.over(name, [*values, *others], [*sizes, *others.values()])
    except InputError as error:
        raise InputError(f"the population: {error}") from None


def _sized(tally: engine.Tally, name: str) -> tuple[list[object], list[int]]:
    codes, values = engine.distinct(tally.combinations[name])
    sizes = np.bincount(codes, tally.sizes, minlength=len(values))
    return list(values), sizes.astype(np.int64).tolist()
