"""Whose each record is: the columns that tell persons apart who have several records.

A key of persons has no gap, and tells what a person has all along. Its name says so, or its values
do, or what they tell, or that it has one record of each time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pandas as pd

from anonymizer.kernels.arrays import Codes
from anonymizer.profiling.among import NOBODY
from anonymizer.profiling.columns import FEW, Kind, ProfiledColumn
from anonymizer.profiling.dependence import (
    BY_CHANCE,
    DOUBTFUL,
    SAMPLED,
    WRONG,
    WRONG_OF_PERSONS,
    guesses,
    is_personal,
    tells,
    unit_in,
)
from anonymizer.profiling.hints import (
    AGE,
    DATES,
    HOUSEHOLD,
    NAME,
    PERSON,
    RECORD,
    SEX,
    TIMES,
    is_key_of_one,
    is_of_something,
    words_of,
)
from anonymizer.profiling.identifying import OF_EACH_PERSON, makes_identifier

COARSER = 0.8
"""Values of a key, by those of another one, up to which it names other units.

Of two keys of the same persons one may have namesakes, or a few mistakes.
"""

NUMBERING: tuple[Kind, ...] = ("whole number", "category", "code", "identifier")
"""The kinds of values that number something; what is measured has others."""


LAST = 5
"""The rank of a key that what persons have all along speaks against."""


@dataclass(frozen=True)
class PersonKey:
    """Columns that together tell whose each record is, and why they seem to."""

    names: tuple[str, ...]
    why: str


@dataclass(frozen=True, eq=False)
class RankedKey:
    """A key that may be that of persons, and the number of each record's person.

    The lower its ``rank``, the surer it is.
    """

    key: PersonKey
    rank: int
    codes: Codes
    persons: int


def key_of_persons(
    columns: Iterable[ProfiledColumn], taken: Container[str] = ()
) -> PersonKey | None:
    """Find the columns that tell whose each record is; None where no person seems to have several.

    Columns that are ``taken`` are none of them.

    Of several keys those of the surest rank are looked at. The one that names most persons is
    taken: staff, say, are fewer than those whom they serve. But where each of these belongs to one
    of another key, as each stay in a hospital to one patient, that one is taken: who is several in
    the first is one person in it.
    """
    found = [
        each for each in _candidates([*columns]) if not any(n in taken for n in each.key.names)
    ]
    rank = min((each.rank for each in found), default=0)
    surest = sorted((c for c in found if c.rank == rank), key=lambda each: each.persons)
    if not surest:
        return None
    most = max(surest, key=lambda each: each.persons)
    for each in surest:
        if each.persons <= COARSER * most.persons and belongs_to(most.codes, each.codes):
            return each.key
    return most.key


def together(columns: Sequence[ProfiledColumn]) -> Codes:
    """Number the combinations of values of some columns in the records that are looked at."""
    return reduce(_crossed, (column.codes.astype(np.intp) for column in columns))


def _crossed(codes: Codes, others: Codes) -> Codes:
    return np.asarray(pd.factorize(codes * (int(others.max()) + 1) + others)[0], np.intp)


def belongs_to(codes: Codes, others: Codes) -> bool:
    """Return whether nearly every value goes with a single one of another column.

    ``codes`` and ``others``: the values of both in some records, numbered.
    """
    pairs = int(_crossed(codes.astype(np.intp), others).max()) + 1
    return pairs <= (1 + WRONG) * len(np.unique(codes))


def _candidates(columns: Sequence[ProfiledColumn]) -> Iterator[RankedKey]:
    personal = [column for column in columns if is_personal(column)]
    for column in columns:
        sign = _sign(column, personal, columns) if _repeats(column) else None
        found = None if sign is None else _consistent(column, *sign, personal, columns)
        if found is not None:
            yield found


def _repeats(column: ProfiledColumn) -> bool:
    """Return whether values repeat and every record has one: those without may be anybody's."""
    if column.missing or len(column.values) < 2 or column.sizes.max() < 2:
        return False
    return NOBODY.isdisjoint(text.strip().casefold() for text in column.some_texts)


def _sign(
    column: ProfiledColumn, personal: Sequence[ProfiledColumn], columns: Sequence[ProfiledColumn]
) -> tuple[int, str] | None:
    """Return the rank of the surest sign that a column is a key of persons, and what it is.

    The name of a key of persons, that of another key of theirs, values that are of one person, what
    the values tell, and that there is one record of each time. That a name tells a sex is no sign.
    """
    hint, found, of_person = column.hint, column.identifying, unit_in(column) == "person"
    if hint is not None and of_person and is_key_of_one(column.name):
        return int(hint.about != PERSON), f"by its name it is {hint.about}, and values repeat"
    if found is not None and makes_identifier(found) and found.kind in OF_EACH_PERSON:
        return 2, f"its values are {found.kind} ({found.count:,} of {found.of:,} looked at)"
    numbers = hint is None and column.kind in NUMBERING and not is_of_something(column.name)
    if (not numbers and not of_person) or is_time(column):
        return None
    told = [each for each in personal if not (_is_about(column, NAME) and _is_about(each, SEX))]
    about = next((each.name for each in told if tells(column, each)), None)
    if about is not None:
        return 3, f"it repeats and tells {about!r}, as the key of a person does"
    return _followed(column, columns) if numbers else None


def _followed(column: ProfiledColumn, columns: Sequence[ProfiledColumn]) -> tuple[int, str] | None:
    """Return the same of a column that has one record of each time, and tells another column."""
    if len(column.values) <= FEW:
        return None
    others = [each for each in columns if each is not column and not is_time(each)]
    for time in filter(is_time, columns):
        about = (each.name for each in others if tells(column, each))
        if _once_each(column, time) and (name := next(about, None)) is not None:
            return 4, (
                f"it has one record of each {time.name!r} and tells {name!r}, as the key of "
                "somebody does who was seen several times"
            )
    return None


def is_time(column: ProfiledColumn) -> bool:
    """Return whether a column says when a record was made: by its name, or as its values are dates.

    What a name says to be something else is none, such as a date of birth.
    """
    if column.hint is not None and column.hint.about not in DATES:
        return False
    return column.moments is not None or not TIMES.isdisjoint(words_of(column.name))


def _once_each(column: ProfiledColumn, time: ProfiledColumn) -> bool:
    """Return whether a value has one record of each time, where by chance it would have several.

    N^2 / 2 sum p_x^2 sum p_t^2 pairs of records would share both, where the two columns have
    nothing to do with each other.
    """
    first = [each.codes[:SAMPLED] for each in (column, time)]
    if _pairs(*first) > WRONG * len(first[0]):  # most columns are passed over by these
        return False
    shares = [np.bincount(each.codes) / len(each.codes) for each in (column, time)]
    chance = len(column.codes) ** 2 / 2 * float(np.prod([each @ each for each in shares]))
    return chance >= BY_CHANCE and _pairs(column.codes, time.codes) <= WRONG * chance


def _pairs(codes: Codes, others: Codes) -> int:
    """Count the pairs of records that share values of both columns."""
    sizes = np.bincount(_crossed(codes.astype(np.intp), others))
    return int((sizes * (sizes - 1) // 2).sum())


def _consistent(
    column: ProfiledColumn,
    rank: int,
    why: str,
    personal: Sequence[ProfiledColumn],
    columns: Sequence[ProfiledColumn],
) -> RankedKey | None:
    """Return a key that tells what its persons have all along, perhaps with a column around it.

    Persons may be numbered within a household, or within a centre: then they have a sex each only
    together with that column. Few numbers next to those of households are taken for those of their
    members. What is called the key of a person may be one whatever else is told, such as the sex of
    a physician; it is the last that is taken. Who is several in truth is one person by it, which
    makes the policy stricter.
    """
    lasting = [each for each in personal if not _is_about(each, AGE)]
    others = [each for each in columns if each is not column and _repeats(each)]
    homes = [each for each in others if unit_in(each) == "household"]
    alone = RankedKey(PersonKey((column.name,), why), rank, column.codes, len(column.values))
    many = len(column.values) > FEW
    if not any(_differs(column.codes, each) for each in lasting):
        if many or not homes or any(_agrees(column.codes, each) for each in lasting):
            return alone
        told: Sequence[ProfiledColumn] = ()
    else:
        told = lasting
        others = sorted(filter(_may_surround, others), key=lambda each: len(each.values))
    within = (_within(each, column, rank, told) for each in homes or others)
    found = next((each for each in within if each is not None), None)
    return replace(alone, rank=LAST) if found is None and many and rank == 0 else found


def _within(
    other: ProfiledColumn, column: ProfiledColumn, rank: int, told: Sequence[ProfiledColumn]
) -> RankedKey | None:
    """Return the key of persons who are numbered within another column's values.

    None where each record would be of its own, or persons do not have one of what is ``told``.
    """
    codes = together([other, column])
    persons = int(codes.max()) + 1
    agree = not told or any(_agrees(codes, each) for each in told)
    if persons == len(codes) or not agree or any(_differs(codes, each) for each in told):
        return None
    words = f"{other.name!r} and {column.name!r} tell persons apart only together"
    return RankedKey(PersonKey((other.name, column.name), words), rank, codes, persons)


def _may_surround(column: ProfiledColumn) -> bool:
    """Return whether persons may be numbered within each value, as within a centre."""
    silent = column.hint is None or column.hint.about in (RECORD, HOUSEHOLD)
    return silent and column.kind in NUMBERING and not is_time(column)


def _is_about(column: ProfiledColumn, what: str) -> bool:
    return column.hint is not None and column.hint.about == what


def _differs(codes: Codes, lasting: ProfiledColumn) -> bool:
    """Return whether persons would have several of what each has one of."""
    wrong, chance = _guesses(codes, lasting)
    return chance >= BY_CHANCE and wrong > DOUBTFUL * chance


def _agrees(codes: Codes, lasting: ProfiledColumn) -> bool:
    """Return whether persons have one of what each has one of, and not by chance."""
    wrong, chance = _guesses(codes, lasting)
    return chance >= BY_CHANCE and wrong <= WRONG_OF_PERSONS * chance


def _guesses(codes: Codes, lasting: ProfiledColumn) -> tuple[float, float]:
    there = lasting.codes < len(lasting.values)  # a sex that is written once is no other one
    return guesses(codes[there], lasting.codes[there])
