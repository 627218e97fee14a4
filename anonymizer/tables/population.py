"""A population, given as a table of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.kernels.arrays import Ints
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.values import exactly, number_of

MOST_PEOPLE = 2**53
"""Bound on the people of a row: floats count that far."""

MILLION = 1_000_000
"""Parts of a person in which sampling weights are added up: whole numbers, in any order the same.

Decimals after the sixth are left out.
"""

DECIMALS = 6
"""Of the mean weight of a class: totals of a million records are off by less than 1."""

MOST_WEIGHED = 2**43
"""Bound on the people whom all records stand for: their parts are 64-bit numbers."""


def people_counted(table: engine.Table, count: str, name: str = "population") -> Tally:
    """Count the people of a table whose rows say how many each is, in the column ``count``.

    Combinations of values that it does not list are those of nobody. InputError where a row has no
    whole number of people.

    >>> census = pd.DataFrame({"sex": ["f", "m"], "people": [3, 0]})
    >>> people_counted(census, "people").sizes.tolist()
    [3]
    """
    codes, values = engine.distinct(table[count])
    numbers = [number_of(value) for value in values]
    wrong = sum(
        number is None or number != int(number) or not 0 <= number < MOST_PEOPLE
        for number in numbers
    )
    if wrong:
        raise InputError(
            f"the population {name!r}: column {count!r} holds {wrong} values that are no whole "
            "numbers of people, of 0 or more; write each in digits alone, such as 1200"
        )
    people = np.array([int(number or 0) for number in numbers], np.int64)[codes]
    sizes = engine.sizes_of(table)
    people = people if sizes is None else people * sizes
    rows = engine.rows_of(table).drop(columns=count)[people > 0].reset_index(drop=True)
    return Tally(rows, people[people > 0])


def people_weighed(
    table: engine.Table, weight: str, names: Sequence[str], person: Sequence[str] = ()
) -> Tally:
    """Count the people whom records stand for, by the columns ``names``: F_c, rounded down.

    The sum of the sampling weights of each combination of values that stands in the table, where a
    record stands for itself at least. Rounded down, people are never more than the weights say.
    ``require_weights`` tells which columns hold weights. Of those who have several records by the
    columns ``person`` each counts once in a combination.

    >>> sample = pd.DataFrame({"sex": ["f", "m", "m"], "w": [2.9, 0.5, 1.75], "id": [1, 2, 2]})
    >>> people_weighed(sample, "w", ["sex"]).sizes.tolist()
    [2, 2]
    >>> people_weighed(sample.assign(w=3), "w", ["sex"], ["id"]).sizes.tolist()
    [3, 3]
    """
    parts, sizes = weights_in_rows(table, weight), engine.sizes_of(table)
    group, first = engine.grouped(table, names)
    people = np.zeros(len(first), np.int64)
    if person:
        _, once = engine.grouped(table, [*names, *person])
        np.add.at(people, group[once], parts[once])
    else:
        np.add.at(people, group, parts if sizes is None else parts * sizes)
    kinds = engine.rows_of(table)[[*names]].iloc[first].reset_index(drop=True)
    return Tally(kinds, people // MILLION)


def weights_in_rows(table: engine.Table, weight: str) -> Ints:
    """Return the millionths of people whom a record of each row stands for, shape (rows,)."""
    codes, values = engine.distinct(table[weight])
    numbers = [max(number_of(value) or Decimal(1), Decimal(1)) for value in values]
    records = np.bincount(codes, engine.sizes_of(table), minlength=len(values))
    if float((np.array(numbers, float) * records).sum()) >= MOST_WEIGHED:
        raise InputError(
            f"column {weight!r}, the sampling weight, comes to {MOST_WEIGHED:,} people or more in "
            "all, which is more than can be counted; give weights that add up to the population"
        )
    with exactly():
        return np.array([int(number * MILLION) for number in numbers], np.int64)[codes]


def require_weights(table: engine.Table, weight: str) -> None:
    """Refuse a column that does not say, in a number above 0, how many people a record stands for.

    The message has no value of it, since it tells the stratum that a record was drawn from.
    """
    codes, values = engine.distinct(table[weight])
    numbers = [number_of(value) for value in values]
    wrong = np.array([number is None or number <= 0 for number in numbers], bool)
    if count := engine.records_in(table, wrong[codes]):
        raise InputError(
            f"column {weight!r}, the sampling weight, has no number above 0 in {count} of "
            f"{engine.records(table)} records; correct it, or leave these records out"
        )


def require_one_weight(table: engine.Table, weight: str, person: Sequence[str]) -> None:
    """Require that all records of a person have the same weight; the message has none of them."""
    codes, values = engine.distinct(table[weight])
    first: dict[Decimal | None, int] = {}
    number = np.array([first.setdefault(number_of(each), len(first)) for each in values], np.intp)
    person_of, _ = engine.grouped(table, person)
    once = np.unique(np.column_stack([person_of, number[codes]]), axis=0)
    several = int((np.bincount(once[:, 0]) > 1).sum())
    if several:
        raise InputError(
            f"column {weight!r}, the sampling weight, must be that of a person in all records, and "
            f"has several for {plural(several, 'person')} by {' and '.join(map(repr, person))}; "
            "give each person one weight, or leave out weight or person"
        )


def mean_weights(table: engine.Table, weight: str, names: Sequence[str]) -> tuple[pd.Series, Ints]:
    """Return the mean weight of each row's class, and how many weights each class has (classes,).

    Classes are those of the columns ``names``. Means are rounded to ``DECIMALS``.

    >>> sample = pd.DataFrame({"sex": ["f", "m", "m"], "w": [2.9, 0.5, 1.5]})
    >>> mean_weights(sample, "w", ["sex"])[0].tolist()
    [2.9, 1.0, 1.0]
    """
    codes, values = engine.distinct(table[weight])
    numbers = [number_of(value) or Decimal(0) for value in values]
    group, first = engine.grouped(table, names)
    sizes = engine.sizes_of(table)
    each = np.unique(np.column_stack([group, codes]), axis=0, return_inverse=True)
    records = np.bincount(each[1].ravel(), sizes)
    sums = [Decimal(0)] * len(first)
    with exactly():
        for (own, code), many in zip(each[0].tolist(), records.tolist(), strict=True):
            sums[own] += numbers[code] * int(many)
    counted = engine.sized(table, group, len(first)).tolist()
    means = [
        round(float(total) / many, DECIMALS) for total, many in zip(sums, counted, strict=True)
    ]
    column = pd.Series(np.array(means)[group], table.index, name=weight)
    distinct = np.unique([float(number) for number in numbers], return_inverse=True)[1]
    pairs = np.unique(np.column_stack([each[0][:, 0], distinct[each[0][:, 1]]]), axis=0)
    return column, np.bincount(pairs[:, 0], minlength=len(first))


@dataclass(frozen=True, eq=False)
class Population:
    """A table of everybody that the records of another one may be taken for.

    ``table`` has one record per person and the quasi-identifiers among its columns, held one by one
    or counted: ``people_counted`` makes it of numbers of people, such as those of a census.
    ``name`` is what a manifest calls it. ``counting`` counts other columns of it, where it lies
    elsewhere.
    """

    table: engine.Table = field(repr=False)
    name: str = "population"
    counting: Callable[[Sequence[str]], Tally] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, model: str, given: object) -> Population:
        """A population, or a DataFrame made one."""
        if isinstance(given, Population):
            return given
        if isinstance(given, pd.DataFrame | Tally):
            return cls(given)
        if isinstance(given, str) and given == WEIGHTS.name:
            return WEIGHTS
        raise InputError(
            f"{model}: population must be a DataFrame with the quasi-identifiers of everybody, or "
            f'"{WEIGHTS.name}", not a {type(given).__name__}'
        )

    def one_by_one(self, names: Sequence[str]) -> Population:
        """Return these people with some columns, a record for each, in an order of their own."""
        lacking = {*names} - {*self.table.columns}
        table = self.counting(names) if self.counting and lacking else self.table
        return replace(self, table=table.one_by_one() if isinstance(table, Tally) else table)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its values and of how many have them, in whatever order, counted or not."""
        rows, sizes = (
            (self.table.combinations, self.table.sizes)
            if isinstance(self.table, Tally)
            else (self.table, np.ones(len(self.table), np.int64))
        )
        hashes = pd.util.hash_pandas_object(rows.astype(object).astype(str), index=False)
        kinds, kind_of = np.unique(hashes.to_numpy(), return_inverse=True)
        people = np.bincount(kind_of, sizes, minlength=len(kinds)).astype(np.int64)
        return "sha256:" + hashlib.sha256(kinds.tobytes() + people.tobytes()).hexdigest()

    def describe(self) -> object:
        """What a manifest reports of it.

        Not its digest: who knows all of it but one could try every person until that is the same.
        """
        return {"name": self.name, "records": engine.records(self.table)}


class Weights(Population):
    """The people whom the records of a table stand for, by its column of sampling weights.

    Who they are is known with the table alone: see ``people_weighed``.
    """

    name = "weights"

    def __init__(self) -> None:
        """Have no table, which would be one of pandas."""

    @cached_property
    def table(self) -> pd.DataFrame:
        """No people."""
        return pd.DataFrame()

    def describe(self) -> object:
        """Return its name alone: how many they are is a figure of the raw table."""
        return self.name

    def __reduce__(self) -> str:
        return "WEIGHTS"


WEIGHTS = Weights()
"""The only one: of each table its own people."""


MOST_MARGINS = 8
"""Bound on the margins of a population: bounds by some of them are tried one by one."""


class CountedMargin(NamedTuple):
    """The people of a margin by their values, and its ``name``.

    ``levels``: of columns that have labels of a level above the values, which level that is; a
    value that has the label stands in its place.
    """

    name: str
    table: Tally
    levels: Mapping[str, int] = MappingProxyType({})


class Margins(Population):
    """A population of which only margins are known: how many people have some values together.

    ``tables`` have the counts, such as of age by sex and of age by region: ``people_counted`` makes
    them. Each has some of the quasi-identifiers among its columns; people who differ by others are
    added up. ``names`` are what messages and manifests call them.
    """

    tables: tuple[engine.Table, ...]
    names: tuple[str, ...]

    def __init__(self, tables: Sequence[Tally | pd.DataFrame], names: Sequence[str] = ()) -> None:
        given = tables if isinstance(tables, list | tuple) else ()
        if not 1 <= len(given) <= MOST_MARGINS:
            raise InputError(
                f"margins must be a list of 1 to {MOST_MARGINS} tables of counts, such as "
                'margins = [{ path = "age_sex.csv", count = "people" }] in a study, and '
                'Margins([people_counted(ages, "people")]) in Python'
            )
        for each in given:
            engine.rows_of(each)
        known = tuple(names) or tuple(str(place) for place in range(1, len(given) + 1))
        object.__setattr__(self, "tables", tuple(given))
        object.__setattr__(self, "names", known)
        object.__setattr__(self, "table", pd.DataFrame())
        object.__setattr__(self, "name", " and ".join(known))
        object.__setattr__(self, "counting", None)

    def counted(self, names: Sequence[str]) -> list[CountedMargin]:
        """Count the people of each margin by those of some columns that it has, with its name.

        InputError where it has none of them.
        """
        found = []
        for name, table in zip(self.names, self.tables, strict=True):
            there = [column for column in names if column in table.columns]
            if not there:
                raise InputError(
                    f"the population: the margin {name!r} has none of the quasi-identifiers "
                    f"{', '.join(map(repr, names))} among its columns; name one of them as the "
                    "table does, or leave the margin out"
                )
            found.append(CountedMargin(name, engine.tally(table, there)))
        return found

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the digests of its tables."""
        own = "".join(Population(each).digest for each in self.tables)
        return "sha256:" + hashlib.sha256(own.encode()).hexdigest()

    def describe(self) -> object:
        """What a manifest reports of it: names, and how many people each has."""
        return {
            "name": self.name,
            "records": max(engine.records(each) for each in self.tables),
            "margins": list(self.names),
        }


class Withheld(Population):
    """A population without its records: only what a manifest reports of it."""

    def __init__(self, people: Population) -> None:
        object.__setattr__(self, "name", people.name)
        object.__setattr__(self, "_described", people.describe())

    @property
    def table(self) -> engine.Table:
        """Raise InputError: it is not there any more."""
        raise InputError(
            f"the population {self.name!r} was left out when this was fitted and pickled; state "
            "the models about it anew, such as set_params(privacy=[...])"
        )

    def describe(self) -> object:
        """Return what a manifest reports of it with its records."""
        return dict(vars(self)["_described"])
