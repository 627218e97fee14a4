"""Warnings about columns that are the key of persons who have several records.

Models count records. Where a person has several, a class of k records may be of fewer people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Number

import numpy as np
import pandas as pd

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.privacy import AlphaKAnonymity, DifferentialPrivacy, KAnonymity, PrivacyModel
from anonymizer.profiling.among import NOBODY
from anonymizer.profiling.columns import FEW as SEVERAL
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.dependence import is_copy, is_key_to, is_personal, may_be_key_to, unit_in
from anonymizer.profiling.hints import PERSONAL, hint_of
from anonymizer.profiling.identifying import identifying
from anonymizer.profiling.ladders import measured_in
from anonymizer.profiling.profile import TableProfile, is_countable
from anonymizer.release.column_warnings import FEW
from anonymizer.release.warnings import (
    AS_HOUSEHOLD,
    AS_PERSON,
    ONE_EACH,
    ReleaseWarning,
    singled_out,
)
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.relations.relation import Relation
from anonymizer.tables.values import is_missing, text_of

SCREENED = 1 << 14
"""Records by which columns are passed over that tell nothing of a person."""

CERTAIN = 0.99
"""People per record from which on a few who share a name, say, are no sign of several records."""


BY_SIZE = KAnonymity, AlphaKAnonymity
"""Models whose k says how many shall share a class."""

HALF = 2
"""The k where none of the models has one."""

PLURALS = {"person": "people", "household": "households"}

REPEATED, SHARED = "repeated-identifier", "shared-identifier"


@dataclass(frozen=True, eq=False)
class Keyed:
    """A raw table, in memory or where it lies, in which keys of persons are looked for.

    ``identifiers`` are left out of a release, ``others`` have no role. ``classed``: the table whose
    columns ``classes`` make the classes of records, found once a key was. ``person``: the columns
    by which the policy counts persons, where it does; ``household``: those of households.
    """

    table: pd.DataFrame | Relation
    quasi_identifiers: Sequence[str]
    identifiers: Sequence[str]
    others: Sequence[str]
    classes: Sequence[str]
    classed: Callable[[], pd.DataFrame | Relation]
    person: Sequence[str] = ()
    household: Sequence[str] = ()

    @cached_property
    def candidates(self) -> list[str]:
        """The columns that may be keys of which no policy knows."""
        names = dict.fromkeys((*self.identifiers, *self.others, *self.quasi_identifiers))
        there = [name for name in names if isinstance(name, str) and name in self.table.columns]
        return [name for name in there if name not in (*self.person, *self.household)]

    @cached_property
    def personal(self) -> list[str]:
        """The columns that keys of persons tell."""
        return [each.name for each in self.columns.values() if each and is_personal(each)]

    @cached_property
    def columns(self) -> dict[str, ProfiledColumn | None]:
        """The columns of ``some``; None where the values of one cannot be told apart."""
        return {str(name): ProfiledColumn.of(column) for name, column in self.some.items()}

    @cached_property
    def some(self) -> pd.DataFrame:
        """Some records, by which most columns are passed over."""
        hints = {name: hint_of(name) for name in self.table.columns if isinstance(name, str)}
        known = [name for name, hint in hints.items() if hint and hint.about in PERSONAL]
        there = [name for name in self.quasi_identifiers if name in self.table.columns]
        return some_of(self.table, [*dict.fromkeys((*self.candidates, *known, *there))])

    def is_of_one_each(self, column: ProfiledColumn) -> bool:
        """Whether a column of ``some`` has a value of its own for each record of the table.

        Then nobody has several records by it, and where persons have them it is no household's.
        """
        if self.person or int(column.sizes.max()) > 1:
            return False
        table = self.table
        return len(self.some) == (len(table) if isinstance(table, pd.DataFrame) else table.records)

    @cached_property
    def with_classes(self) -> pd.DataFrame | Relation:
        """The same table with the class of each record."""
        return self.classed()


def some_of(table: pd.DataFrame | Relation, names: Sequence[str]) -> pd.DataFrame:
    """Some columns of at most about ``FEW`` records; all where there are no more."""
    if not names:
        return pd.DataFrame()
    if not isinstance(table, pd.DataFrame):
        return table.sample(names, FEW)
    return table[[*names]].iloc[:: max(-(-len(table) // FEW), 1)]


def person_warnings(
    table: pd.DataFrame | Relation,
    counted: engine.Table,
    schema: Schema,
    models: Sequence[PrivacyModel],
    identifiers: Sequence[str] = (),
) -> Iterator[ReleaseWarning]:
    """Warn of persons who have several records in a table as it is, and of values that find one.

    ``counted``: its records by the columns with a role. ``identifiers``: columns that a release of
    it leaves out, whose values nobody sees.
    """
    known = schema.quasi_identifiers
    others = [name for name in table.columns if name not in (*schema.columns, *identifiers)]
    keys = schema.person, schema.household
    keyed = Keyed(table, known, identifiers, others, known, lambda: table, *keys)
    yield from repeated_warnings(keyed, models)
    shown = [name for name in schema.columns if name not in schema.withheld]
    yield from identifying_warnings(counted, shown)
    yield from other_warnings(table, others)


def profile_warnings(profile: TableProfile, person: Sequence[str] = ()) -> Iterator[ReleaseWarning]:
    """Warn of persons who have several records in a raw table of which no classes are known.

    ``person``: the columns by which a policy counts persons; then of those who are several of them.
    """
    for name in profile.united_by(person) if person else profile.repeated:
        column = profile.counted[name]
        people = len(column.values) + column.missing
        if not person:
            found = "there are fewer people than records"
            remedy = _remedy(unit_in(column))
            yield ReleaseWarning(REPEATED, name, people, column.records, found=found, remedy=remedy)
            continue
        persons = len(np.unique(profile.person_codes(person)))
        found = f"there are fewer {PLURALS[unit_in(column) or 'person']} than persons"
        yield ReleaseWarning(SHARED, name, people, persons, found=found)


def repeated_warnings(keyed: Keyed, models: Sequence[PrivacyModel]) -> Iterator[ReleaseWarning]:
    """Warn of each column that is the key of persons and repeats, with what a class has of them.

    Under differential privacy classes do not matter: how many records one has does. Of keys with
    the same figures only the first one is named.
    """
    said = set()
    private = any(isinstance(model, DifferentialPrivacy) for model in models)
    for name in keyed.candidates:
        unit = _unit(keyed, name)
        if unit is None:
            continue
        warning = _of_one(keyed, name, unit) if private else _counted(keyed, name, unit, models)
        if warning is not None and (warning.count, warning.found) not in said:
            said.add((warning.count, warning.found))
            yield warning


def _unit(keyed: Keyed, name: str) -> str | None:
    """What has a value of its own in a column; None where nobody has."""
    column = keyed.columns[name]
    if column is None or not column.values or keyed.is_of_one_each(column):
        return None
    if (unit := unit_in(column)) or keyed.person:  # what persons have tells a sex of them, too
        return unit
    hint, known = hint_of(name), keyed.quasi_identifiers
    if name in known or (hint is not None and hint.role != "identifier"):
        return None
    left_out = name in keyed.identifiers
    person = (left_out and _is_code(column)) or any(
        _tells(keyed, name, about) for about in keyed.personal
    )
    # What is left out without a name that says why: only a key tells all that others may know.
    person = person or (left_out and bool(known) and all(_tells(keyed, name, n) for n in known))
    return "person" if person else None


def _is_code(column: ProfiledColumn) -> bool:
    """Whether the values of an identifier are codes: a column of words is left out for them."""
    texts = column.some_texts
    if measured_in(column) is not None:  # numbers with a unit look like codes
        return False
    coded = all(" " not in text and any(map(str.isdecimal, text)) for text in texts)
    return coded and column.numbers is None and column.moments is None and len(texts) > SEVERAL


def _tells(keyed: Keyed, name: str, about: str) -> bool:
    """Whether a column that repeats tells the value of another one."""
    few = keyed.some.iloc[:: max(-(-len(keyed.some) // SCREENED), 1)]
    if not may_be_key_to(*_present(few, name, about)[:2]):
        return False
    pairs = _tally(keyed.table, [name, about])
    if pairs is None:
        return False
    codes, others, sizes = _present(pairs.combinations, name, about, pairs.sizes)
    one, other = keyed.columns[name], keyed.columns[about]
    # A finer form of another column, as a date of birth is of an age, is no key to it.
    finer = one is not None and other is not None and is_copy(one, other)
    return is_key_to(codes, others, sizes) and not finer


def _present(
    rows: pd.DataFrame, name: str, about: str, sizes: np.ndarray | None = None
) -> tuple[Codes, Codes, np.ndarray]:
    """The values of two columns, numbered, in rows that have one of the first."""
    sizes = np.ones(len(rows), np.int64) if sizes is None else sizes
    try:
        codes, values = engine.distinct(rows[name])
        others = engine.distinct(rows[about])[0]
    except InputError:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.int64)
    there = ~np.array([*map(_is_nobody, values)], bool)[codes]
    return codes[there], others[there], sizes[there]


def _is_nobody(value: object) -> bool:
    """Whether a value stands for no person: missing, or a word for that."""
    if not isinstance(value, str):  # no number is such a word
        return is_missing(value)
    return value.strip().casefold() in NOBODY


def _tally(table: pd.DataFrame | Relation, names: Sequence[str]) -> Tally | None:
    """The records by some columns; None where they are too many, or cannot be told apart."""
    names = [*dict.fromkeys(names)]
    try:
        if isinstance(table, pd.DataFrame):
            return engine.tally(table, names)
        return table.tally(names) if is_countable(table, names) else None
    except InputError:
        return None


def _counted(
    keyed: Keyed, name: str, unit: str, models: Sequence[PrivacyModel]
) -> ReleaseWarning | None:
    """How many people the classes have by the column that is their key; None of one record each.

    A record without a value is taken for that of a person of its own. Where the policy counts
    persons, those who are one of them each are no matter.
    """
    classes = [*keyed.classes]
    tally = _tally(keyed.with_classes, [*classes, name])
    if tally is None:
        return _uncounted(keyed, name, f"how many {PLURALS[unit]} a class has")
    codes, missing = _keys(tally, name)
    sizes, records = tally.sizes, int(tally.sizes.sum())
    group, _ = engine.grouped(tally.combinations, classes)
    people = np.bincount(group, np.where(missing, sizes, 1)).astype(np.int64)
    most = np.zeros(len(people), np.int64)
    np.maximum.at(most, group[~missing], sizes[~missing])
    k = max((model.k for model in models if isinstance(model, BY_SIZE)), default=HALF)
    dominated = int((most * k > np.bincount(group, sizes)).sum())
    everybody = len(np.unique(codes[~missing])) + int(sizes[missing].sum())
    least = int(people.min())
    found = (
        f"the smallest class has {least:,} {unit if least == 1 else PLURALS[unit]}, and in "
        f"{dominated:,} of {len(people):,} classes one {unit} has more than "
        f"1/{k} of the records"
    )
    if keyed.person:
        return _shared(keyed, name, unit, found)
    if everybody == records or (everybody > CERTAIN * records and not dominated):
        return None
    return ReleaseWarning(REPEATED, name, everybody, records, found=found, remedy=_remedy(unit))


def _remedy(unit: str | None) -> str:
    return AS_HOUSEHOLD if unit == "household" else AS_PERSON


def _shared(keyed: Keyed, name: str, unit: str, found: str) -> ReleaseWarning | None:
    """The warning of a key by which several of the persons are one; None where none are.

    Then every class has as many of these as it has persons, and none of them a larger share.
    """
    tally = _tally(keyed.table, [*keyed.person, name])
    if tally is None:
        return _uncounted(keyed, name, f"how many {PLURALS[unit]} a class has")
    there = ~_keys(tally, name)[1]
    persons = len(engine.grouped(tally.combinations, keyed.person)[1])
    units = len(engine.grouped(tally.combinations[there], [name])[1])
    if int(there.sum()) == units:
        return None
    return ReleaseWarning(SHARED, name, units, persons, found=found)


def _keys(tally: Tally, name: str) -> tuple[Codes, Mask]:
    """The values of a key, numbered row by row, and which rows have none."""
    codes, values = engine.distinct(tally[name])
    return codes, np.array([*map(_is_nobody, values)], bool)[codes]


def _of_one(keyed: Keyed, name: str, unit: str) -> ReleaseWarning | None:
    """How many records people have where one record of each is protected."""
    tally = _tally(keyed.table, [name])
    if tally is None:
        what = f"how many records {PLURALS[unit]} have"
        return _uncounted(keyed, name, what, ONE_EACH)
    codes, missing = _keys(tally, name)
    own = np.bincount(codes[~missing], tally.sizes[~missing]).astype(np.int64)
    records, most = int(tally.sizes.sum()), int(own.max(initial=0))
    everybody = int(np.count_nonzero(own)) + int(tally.sizes[missing].sum())
    if everybody == records or (everybody > CERTAIN * records and most <= HALF):
        return None
    found = f"epsilon protects a single record of {PLURALS[unit]} who have up to {most:,}"
    return ReleaseWarning(REPEATED, name, everybody, records, found=found, remedy=ONE_EACH)


def _uncounted(
    keyed: Keyed, name: str, what: str, remedy: str = AS_PERSON
) -> ReleaseWarning | None:
    """The same where people are too many to be counted one by one."""
    found = f"{what} is not examined, as they are too many to count"
    everybody, records = _distinct(keyed, [name])
    if keyed.person:
        persons, pairs = (_distinct(keyed, [*keyed.person, *more])[0] for more in ((), (name,)))
        shared = ReleaseWarning(SHARED, name, everybody, persons, found=found)
        return shared if everybody < pairs else None
    repeated = ReleaseWarning(REPEATED, name, everybody, records, found=found, remedy=remedy)
    return repeated if everybody < records else None


def _distinct(keyed: Keyed, names: Sequence[str]) -> tuple[int, int]:
    """How many combinations of values some columns have, and how many records."""
    assert not isinstance(keyed.table, pd.DataFrame)
    sizes, values = keyed.table.multiplicities(names)
    return int(values.sum()), int((sizes * values).sum())


def identifying_warnings(table: engine.Table, names: Sequence[str]) -> Iterator[ReleaseWarning]:
    """Warn of columns that show e-mail addresses, IBANs and the like; by their distinct values."""
    rows = engine.rows_of(table)
    for name in names:
        try:
            values = engine.distinct(rows[name])[1]
        except InputError:  # such as lists
            continue
        texts = (text_of(each) for each in values if not isinstance(each, Number | None))
        if found := identifying(texts):
            yield ReleaseWarning(
                "identifying-values", str(name), found.count, found.of, found=found.kind
            )


def other_warnings(
    table: pd.DataFrame | Relation, names: Sequence[str]
) -> Iterator[ReleaseWarning]:
    """Warn of columns without a role that show such values, or one that a single record has.

    Numbers and dates are passed over: of most columns of these some are of one record.
    """
    some = some_of(table, names)
    for name in names:
        found = [*identifying_warnings(some, [name])]
        yield from found or _of_one_record(table, some, name)


def _of_one_record(
    table: pd.DataFrame | Relation, some: pd.DataFrame, name: str
) -> Iterator[ReleaseWarning]:
    """Warn of values of one record, as of a city of one person; nearly unique columns are known."""
    column = ProfiledColumn.of(some[name])
    if column is None or column.numbers is not None or column.moments is not None:
        return
    if len(some) >= FEW // 2:  # fewer than half of the records that may be looked at are all
        tally = _tally(table, [name])
        if tally is None:
            return
        column = ProfiledColumn.counted(tally[name], tally.sizes, np.arange(len(tally.sizes)))
    records = column.sizes[[not _is_nobody(value) for value in column.values]]
    own, values = int((records == 1).sum()), len(records)
    if own and not singled_out(*np.unique(column.all_sizes, return_counts=True)):
        found = "of one record each"
        yield ReleaseWarning("identifying-values", name, own, values, found=found)
