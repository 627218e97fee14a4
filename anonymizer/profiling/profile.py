"""The profile of a raw table: what each column is, and the role that it is proposed."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.counts.ground import COMBINATIONS, OFF
from anonymizer.errors import InputError, column_names, require_columns
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.profiling.among import columns_of_texts, spellings_of_missing
from anonymizer.profiling.columns import (
    Kind,
    ProfiledColumn,
    as_numbers,
    distinction,
    separation,
    share_alone,
)
from anonymizer.profiling.dependence import repeated_keys, step_of, unit_in
from anonymizer.profiling.hints import Role
from anonymizer.profiling.persons import belongs_to, together
from anonymizer.profiling.roles import GivenRoles, RoleReason, proposed
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, cleaned
from anonymizer.tables.relations.relation import NotToldApartError, Relation
from anonymizer.tables.values import text_of

HELD = 1 << 20
"""Records up to which a table is profiled in memory, and by which columns of others are compared.

Evenly spread over these, where they have an order.
"""

Sizes = tuple[Ints] | tuple[Ints, Ints]
"""The records of each combination; or different numbers of them, and how many have each."""


@dataclass(frozen=True, eq=False)
class Raw:
    """The columns of a raw table, in their order, None for those that cannot be counted.

    ``records`` has the table, ``compared`` of them serve to compare pairs of columns.
    ``combinations`` counts the combinations of values of some columns.
    """

    records: int
    compared: int
    columns: Mapping[str, ProfiledColumn | None] = field(repr=False)
    combinations: Callable[[Sequence[str]], Sizes] = field(repr=False)

    @classmethod
    def of(cls, table: pd.DataFrame) -> Raw:
        """Count a table in memory."""

        def combinations(names: Sequence[str]) -> Sizes:
            return (np.bincount(engine.grouped(table, names)[0]),)

        columns = {
            name: None if column is None else as_numbers(column)
            for name in table.columns
            for column in [ProfiledColumn.of(table[name])]
        }
        return cls(len(table), _compared(len(table)), columns, combinations)

    @classmethod
    def stored(
        cls, relation: Relation, form: Format, orders: Mapping[str, Sequence[object]] | None = None
    ) -> tuple[Raw, Format]:
        """Count a table in a file, and find its format with the spellings of missing values.

        ``orders``: the values of ordered categories, by column.
        """
        raw, form = cls._stored(relation, form)
        columns = dict(raw.columns)
        for name, values in (orders or {}).items():
            column = columns[name]
            if column is not None:
                columns[name] = replace(column, order=tuple(map(text_of, values)))
        return replace(raw, columns=columns), form

    @classmethod
    def _stored(cls, relation: Relation, form: Format) -> tuple[Raw, Format]:
        if relation.records <= HELD:
            frame = relation.frame(relation.columns)
            form = replace(form, missing_values=spellings_of_missing(frame))
            texts = {name: cleaned(frame[name], form) for name in columns_of_texts(frame)}
            return cls.of(engine.replaced(frame, texts)), form
        names = list(relation.columns)
        spread = relation.spread(names, HELD)
        # Where records have no order, some at random.
        some = relation.sample(names, HELD) if spread is None else spread
        counted = dict(_counted(relation))
        spellings = {
            each for tally in counted.values() for each in spellings_of_missing(tally.combinations)
        }
        form = replace(form, missing_values=tuple(sorted(spellings)))
        columns = {
            name: _column(counted[name], some[name], form) if name in counted else None
            for name in names
        }

        def combinations(known: Sequence[str]) -> Sizes:
            return _combinations(relation, known, form)

        return cls(relation.records, _compared(len(some)), columns, combinations), form


def _compared(records: int) -> int:
    return len(range(0, records, step_of(records)))


def _counted(relation: Relation) -> Iterator[tuple[str, Tally]]:
    for name in relation.columns:
        if is_countable(relation, [name]):
            with suppress(NotToldApartError):
                yield name, relation.tally([name])


def is_countable(relation: Relation, names: Sequence[str]) -> bool:
    """Return whether memory holds the combinations of values of some columns."""
    most = COMBINATIONS.value
    return relation.records <= most or relation.estimate(names) <= OFF * most


def _column(tally: Tally, some: pd.Series, form: Format) -> ProfiledColumn:
    """Return a counted column, with the codes of some of its records."""
    raw = tally[str(some.name)]
    clean = cleaned(raw, form) if columns_of_texts(raw.to_frame()) else raw
    codes = pd.Categorical(some, categories=raw.cat.categories).codes
    row_of = pd.Index(raw.cat.codes).get_indexer(pd.Index(codes))
    return as_numbers(ProfiledColumn.counted(clean, tally.sizes, row_of))


def _combinations(relation: Relation, names: Sequence[str], form: Format) -> Sizes:
    """Count combinations by clean values where memory holds them, else as they are written."""
    if not is_countable(relation, names):
        return relation.multiplicities(names)
    raw = relation.tally(names)
    texts = columns_of_texts(raw.combinations)
    clean = engine.replaced(raw, {name: cleaned(raw[name], form) for name in texts})
    return (engine.tally(clean, names).sizes,)


@dataclass(frozen=True)
class ColumnProfile:
    """A column of a raw table in figures, the role that it is proposed, and why.

    Parameters
    ----------
    name, kind
        ``kind`` is ``"whole number"``, ``"decimal number"``, ``"date"``, ``"datetime"``,
        ``"ordered category"``, ``"category"``, ``"code"``, ``"boolean"``, ``"text"``,
        ``"identifier"``, or ``"empty"``.
    values, missing
        Distinct values that are present, and records that miss one.
    most_common
        The share of the records that have the commonest value, in [0, 1].
    distinction, separation
        Distinct values by records, and the share of pairs of records that differ; a missing value
        is a value.
    role, why
        ``"quasi-identifier"``, ``"sensitive"``, ``"identifier"``, ``"left out"``,
        ``"insensitive"``, ``"person"`` or ``"weight"``, and the reason in one sentence.
    """

    name: str
    kind: Kind
    values: int
    missing: int
    most_common: float
    distinction: float
    separation: float
    role: Role
    why: RoleReason


@dataclass(frozen=True)
class TableProfile:
    """A raw table: its columns, and what the proposed quasi-identifiers tell together.

    ``compared``: the records by which pairs of columns were compared. ``combinations``: the
    distinct combinations of the quasi-identifiers. ``share_alone``: the share of the records that
    are the only one with theirs, in [0, 1]. ``repeated``: the keys of persons of whom some have
    several records, so that classes, which count records, may be of fewer people. ``persons``: how
    many records each person has whom the columns of that role tell apart, as ``Sizes``.
    """

    records: int
    columns: tuple[ColumnProfile, ...]
    compared: int
    combinations: int
    share_alone: float
    counted: Mapping[str, ProfiledColumn] = field(repr=False, compare=False)
    orders: Mapping[str, str] = field(default_factory=dict, repr=False)
    repeated: tuple[str, ...] = ()
    persons: Sizes | None = field(default=None, repr=False, compare=False)

    @property
    def person(self) -> tuple[str, ...]:
        """The columns that together tell whose each record is; none where each is of its own."""
        return self.of_role("person")

    @property
    def weight(self) -> str | None:
        """The column of sampling weights; None where no column seems to have any."""
        return next(iter(self.of_role("weight")), None)

    @property
    def units(self) -> int:
        """Whom a class shall have several of: persons, or records where each is of its own."""
        return self.records if self.persons is None else _number(self.persons)

    @property
    def most_records(self) -> int:
        """The records of the person who has most of them."""
        return 1 if self.persons is None else int(self.persons[0].max())

    def united_by(self, person: Sequence[str]) -> tuple[str, ...]:
        """Return the repeated keys by which several persons are one, as those of a household are.

        ``person``: the columns that tell them apart.
        """
        codes, others = self.person_codes(person), [n for n in self.repeated if n not in person]
        keys = [self.counted[name] for name in others if unit_in(self.counted[name])]
        return tuple(each.name for each in keys if not belongs_to(each.codes, codes))

    def person_codes(self, person: Sequence[str]) -> Codes:
        """Return the number of each record's person, of the records that are looked at."""
        return together([self.counted[name] for name in person])

    def order_of(self, name: str) -> ProfiledColumn | None:
        """Return the column of numbers that says the same as another one, which has their order."""
        return self.counted[self.orders[name]] if name in self.orders else None

    def of_role(self, *roles: Role) -> tuple[str, ...]:
        """Return the columns that are proposed one of some roles."""
        return tuple(column.name for column in self.columns if column.role in roles)

    def __getitem__(self, name: str) -> ColumnProfile:
        """Return the profile of a column; KeyError where there is none."""
        return {column.name: column for column in self.columns}[name]

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as JSON has it; no value of any record."""
        return {
            "records": self.records,
            "compared": self.compared,
            "combinations": self.combinations,
            "share_alone": self.share_alone,
            "repeated": [*self.repeated],
            "person": [*self.person],
            "persons": self.units if self.person else None,
            "most_records": self.most_records if self.person else None,
            "columns": [asdict(column) for column in self.columns],
        }


def profile(
    table: pd.DataFrame | Raw,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    identifiers: Sequence[str] | None = None,
    person: str | Sequence[str] | None = None,
    insensitive: Sequence[str] | None = None,
    max_quasi_identifiers: int | None = None,
) -> TableProfile:
    """Profile a raw table: its columns, and the roles in a study that are proposed for them.

    Each column is counted once, and the proposed quasi-identifiers once together. Pairs of columns
    are compared on some records where there are many, see ``compared``. Roles follow from names in
    several languages, from how well values distinguish records, and from columns that determine
    each other.

    Parameters
    ----------
    table
        A DataFrame.
    quasi_identifiers, sensitive, identifiers
        Columns that keep the role they are given here.
    person
        The columns that together tell whose each record is; empty where each is of a person of its
        own.
    insensitive
        Columns that are released as they are; ``Q*`` is all whose names begin with a Q.
    max_quasi_identifiers
        How many quasi-identifiers are proposed at the most; the others are released as they are,
        or left out where their names say that people know them. None: 8, the others left out.

    Returns
    -------
    TableProfile
        The figures, the role and the reason for each column; no value of any record.

    Raises
    ------
    InputError
        When the table is none or has no records, a column has no text for a name, stands twice or
        is not there, or has two roles; when a column of ``person`` misses a value.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [23, 27, 35], "diagnosis": ["flu", "flu", "cold"]})
    >>> [(column.name, column.role) for column in profile(people).columns]
    [('age', 'quasi-identifier'), ('diagnosis', 'sensitive')]
    """
    told = None if person is None else column_names("person", person)
    if not isinstance(table, Raw):
        engine.rows_of(table)
    names = [name for name in table.columns if isinstance(name, str)]
    shown = None if insensitive is None else _matching(insensitive, names)
    most = max_quasi_identifiers
    given = GivenRoles(quasi_identifiers, sensitive, identifiers, told, shown, most)
    if not isinstance(table, Raw):
        _require_table(table.columns, len(table), given)
        table = Raw.of(table)
    columns = table.columns
    _require_table(columns, table.records, given)
    _require_persons(columns, told or ())
    proposal = proposed(columns, given)
    roles = proposal.roles
    known = [name for name, (role, _) in roles.items() if role == "quasi-identifier"]
    sizes = table.combinations(known)
    keys = [name for name, (role, _) in roles.items() if role == "person"]
    counted = {name: column for name, column in columns.items() if column is not None}
    return TableProfile(
        records=table.records,
        columns=tuple(_described(name, columns[name], *roles[name]) for name in columns),
        compared=table.compared,
        combinations=_number(sizes),
        share_alone=share_alone(*sizes),
        counted=counted,
        orders=proposal.orders,
        repeated=tuple(column.name for column in repeated_keys(counted.values())),
        persons=table.combinations(keys) if keys else None,
    )


def _matching(patterns: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of some names, or patterns such as ``Q*``; InputError of one of none."""
    found: dict[str, None] = {}
    for pattern in patterns:
        known = [pattern] if pattern in names else fnmatch.filter(names, pattern)
        if "*" in pattern and not known:
            raise InputError(f"no column has a name such as {pattern!r}; correct the pattern")
        found |= dict.fromkeys(known or [pattern])
    return tuple(found)


def _number(sizes: Sizes) -> int:
    """Count combinations by their sizes, or by how many have each of these."""
    return int(sizes[-1].sum()) if len(sizes) > 1 else len(sizes[0])


def _require_persons(columns: Mapping[str, ProfiledColumn | None], names: Sequence[str]) -> None:
    """Require that every record says whose it is."""
    for name in names:
        column = columns[name]
        if column is None:
            raise InputError(
                f"the values of column {name!r} cannot be told apart, as those of lists, so that "
                "they tell no persons apart; name another column"
            )
        if column.missing:
            raise InputError(
                f"column {name!r}, which tells persons apart, misses the value of "
                f"{column.missing:,} of {column.records:,} records; leave these records out, or "
                "give each person among them a value"
            )


def _require_table(columns: Iterable[object], records: int, given: GivenRoles) -> None:
    names = [*columns]
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"column names must be texts, not {name!r}; rename(columns=str) mends it"
            )
    require_columns(names, ())
    given.require_known([*map(str, names)])
    if not records or not names:
        raise InputError(f"the table has no {'columns' if records else 'records'}")


def _described(
    name: str, column: ProfiledColumn | None, role: Role, why: RoleReason
) -> ColumnProfile:
    """Return the figures of a column; one that cannot be counted has none."""
    if column is None:
        return ColumnProfile(name, "text", 0, 0, 0.0, 1.0, 1.0, role, why)
    sizes = column.all_sizes
    return ColumnProfile(
        name=name,
        kind=column.kind,
        values=len(column.values),
        missing=column.missing,
        most_common=float(column.sizes.max(initial=0) / column.records),
        distinction=distinction(sizes),
        separation=separation(sizes),
        role=role,
        why=why,
    )
