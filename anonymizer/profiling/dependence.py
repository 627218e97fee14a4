"""Columns that another one determines, and keys of persons, by counts of pairs of values.

A key has a value for each person, which repeats where one has several rows. Names say so, or
values, or what these tell: an age, a sex, a date of birth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.profiling.columns import FEW, ProfiledColumn
from anonymizer.profiling.hints import HOUSEHOLD, PERSON, PERSONAL, SEX, unit_of, words_of
from anonymizer.profiling.identifying import OWNER, makes_identifier
from anonymizer.tables.numbering import crossed

SAMPLED = 20_000
"""Records by which pairs of columns are compared, evenly spread over the table."""

COMPARED = 1000
"""Values of a column that are looked at where it has more, and records are many."""

WRONG = 0.02
"""Part of the records off the commonest value whose value a determining column may get wrong."""

REPEATED = 3
"""Records per value that a determining column has on average: a key determines everything."""

ENOUGH = 10
"""Records off the commonest value from which on guessing them all right means something."""

DENSE = 4
"""Pairs of values per record that are counted in a table of all of them."""


@dataclass(frozen=True)
class Determined:
    """A column whose value is known from another one, and whether the other's is known from it."""

    name: str
    by: str
    mutual: bool


def determined(columns: Sequence[ProfiledColumn], records: Codes | None = None) -> list[Determined]:
    """Find the columns that another one determines, at most once each; of a mutual pair both.

    Pairs are compared on ``SAMPLED`` records at most: a column that is determined on these may
    differ elsewhere, so that this is a proposal and no proof. ``records``: the places of those that
    are compared, as one of each person; by default all.
    """
    some: dict[str, Codes] = {}
    for column in columns:
        codes = column.codes if records is None else column.codes[records]
        codes = codes[:: step_of(len(codes))]
        some[column.name] = np.asarray(pd.factorize(codes)[0], np.intp)
    known = {
        (one, other)
        for one, codes in some.items()
        for other, others in some.items()
        if one != other and _determines(codes, others)
    }
    return [
        Determined(name, by, (name, by) in known)
        for name in some
        for by in [next((one for one in some if (one, name) in known), None)]
        if by is not None
    ]


def step_of(records: int) -> int:
    """Return the step by which records are looked at, so that there are ``SAMPLED`` at most."""
    return max(-(-records // SAMPLED), 1)


def _determines(codes: Codes, others: Codes) -> bool:
    """Return whether the likeliest value of the others, given the codes, is right nearly always."""
    records, number, bound = len(codes), int(codes.max()) + 1, int(others.max()) + 1
    rarer = records - int(np.bincount(others).max())
    # Fewer values cannot determine more, and a key would determine everything.
    if number < bound or rarer < ENOUGH or number * REPEATED > records:
        return False
    return records - _right(codes, others, number, bound) <= WRONG * rarer


def _right(codes: Codes, others: Codes, number: int, bound: int) -> int:
    """Count the records that have the likeliest of the others given their code."""
    if number * bound <= DENSE * len(codes):
        return int(crossed([(codes, number), (others, bound)], len(codes)).max(axis=1).sum())
    pairs, sizes = np.unique(codes * bound + others, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // bound, prepend=-1))
    return int(np.maximum.reduceat(sizes, starts).sum())


BY_CHANCE = 7
"""Wrong guesses that chance would leave at least, for a tenth of them to mean something.

As of ``ENOUGH`` in ``anonymizer.release.warnings``.
"""

CODED = re.compile(r"(?=.*\d)(?=.*[^\W\d])[\w./:@#-]{2,}")
"""A word of letters and digits."""

WRONG_OF_PERSONS = 0.1
"""Part of these that a key of persons may leave: an age goes up, and records have mistakes."""

DOUBTFUL = 0.5
"""The same among some records, from which on all of them need not be counted."""

COPY = 0.9
"""Correlation of ranks from which on a column is a finer copy of another one, and no key."""

FEWEST = 3
"""Codes or numbers from which on they may be those of persons, where the name says so."""


def is_personal(column: ProfiledColumn) -> bool:
    """Return whether a column has what a person has all along, exactly: a key of persons tells it.

    Labels of ages are known by whatever says roughly how old somebody is.
    """
    hint = column.hint
    if hint is None or hint.about not in PERSONAL:
        return False
    return hint.about == SEX or column.numbers is not None or column.moments is not None


def is_named_key(column: ProfiledColumn) -> bool:
    """Return whether the name is that of an identifier, and values are many enough for one."""
    hint = column.hint
    if hint is None or hint.role != "identifier" or column.kind in ("boolean", "decimal number"):
        return False
    if len(column.values) > FEW or column.records < FEW:
        return True
    numbered = all(any(map(str.isdecimal, text)) for text in column.texts)
    sure = hint.about in (PERSON, HOUSEHOLD) or {*words_of(column.name)} == {"id"}
    return sure and len(column.values) >= FEWEST and numbered


def unit_in(column: ProfiledColumn) -> str | None:
    """Name the owner of each value by a column's name or values: a person, a household, or None."""
    if makes_identifier(column.identifying) and column.identifying is not None:
        return OWNER.get(column.identifying.kind)
    if not is_named_key(column):
        return None
    by_values = column.hint is not None and column.hint.about == HOUSEHOLD
    return "household" if by_values else unit_of(column.name)


def is_of_codes(column: ProfiledColumn) -> bool:
    """Return whether many values are codes that records share and no name explains: whose, perhaps.

    Ranges that are written as texts have digits, too; those of ages are few.
    """
    if column.hint is not None or column.kind != "category" or len(column.values) <= FEW:
        return False
    return all(map(CODED.fullmatch, column.texts))


def repeated_keys(columns: Iterable[ProfiledColumn]) -> list[ProfiledColumn]:
    """Find the columns that are keys of persons of whom some have several records.

    What others may know of people by its name, and what is sensitive, is no key.
    """
    given = [*columns]
    personal = [column for column in given if is_personal(column)]

    def is_key(column: ProfiledColumn) -> bool:
        silent = column.hint is None or column.hint.role == "identifier"
        told = (tells(column, other) for other in personal)
        return unit_in(column) is not None or (silent and any(told))

    return [each for each in given if each.sizes.max(initial=0) > 1 and is_key(each)]


def tells(column: ProfiledColumn, other: ProfiledColumn) -> bool:
    """Return whether a column repeats and tells another one, by some records, and is no copy."""
    some = _of_some_values(column)
    there = some[column.codes[some] < len(column.values)]
    told = is_key_to(column.codes[there], other.codes[there])
    return told and not is_copy(column, other)


def _of_some_values(column: ProfiledColumn) -> Codes:
    """Return the places of at most ``SAMPLED`` records by which a column is looked at.

    Of many values all records of some: of any records hardly two would be of the same value.
    """
    step = max(min(step_of(len(column.codes)), len(column.values) // COMPARED), 1)
    places = np.flatnonzero(column.codes % step == 0)
    return places[:: step_of(len(places))]


def is_copy(one: ProfiledColumn, other: ProfiledColumn) -> bool:
    """Return whether numbers or dates rise or fall with another column's: years with an age."""
    scales = [
        column.moments if column.numbers is None else column.numbers for column in (one, other)
    ]
    if scales[0] is None or scales[1] is None:
        return False
    there = (one.codes < len(scales[0])) & (other.codes < len(scales[1]))
    pairs = pd.DataFrame(
        {"one": scales[0][one.codes[there]], "other": scales[1][other.codes[there]]}
    )
    if (pairs.nunique() < 2).any():
        return False
    return bool(abs(np.corrcoef(pairs["one"].rank(), pairs["other"].rank())[0, 1]) > COPY)


def is_key_to(codes: Codes, others: Codes, sizes: Ints | None = None) -> bool:
    """Return whether a value that repeats tells another column's, which does not tell it.

    ``codes`` and ``others``: the values of both columns in some rows, numbered; ``sizes``: how many
    records each row stands for, by default 1.
    """
    wrong, chance = _wrong(codes, others, sizes)
    return chance >= BY_CHANCE and wrong <= WRONG_OF_PERSONS * chance


def may_be_key_to(codes: Codes, others: Codes) -> bool:
    """Return whether some records leave open that all of them show a key."""
    wrong, chance = _wrong(codes, others, None)
    return chance < BY_CHANCE or wrong <= DOUBTFUL * chance


def _wrong(codes: Codes, others: Codes, sizes: Ints | None) -> tuple[float, float]:
    """Count wrong guesses: see ``guesses``.

    No chance would do it where a column has too few values for a key, or no more than the other.
    """
    keys, values = len(pd.unique(codes)), len(pd.unique(others))
    if keys and keys <= max(values, FEW):
        return np.inf, BY_CHANCE
    return guesses(codes, others, sizes)


def guesses(codes: Codes, others: Codes, sizes: Ints | None = None) -> tuple[float, float]:
    """Count wrong guesses of the others given the codes, and those by chance at least.

    A column of V values, N records long, leaves a share (N - V) / N of the wrong guesses that there
    are without it where the two have nothing to do with each other.
    """
    if not len(codes):
        return 0.0, 0.0
    codes, keys = pd.factorize(codes)
    others, values = pd.factorize(others)
    weights = np.ones(len(codes)) if sizes is None else np.asarray(sizes, float)
    pairs, place = np.unique(codes * len(values) + others, return_inverse=True)
    joint = np.bincount(place, weights)
    starts = np.flatnonzero(np.diff(pairs // len(values), prepend=-1))
    records = weights.sum()
    rarer = records - np.bincount(others, weights).max()
    chance = (records - len(keys)) * rarer / records
    return float(records - np.maximum.reduceat(joint, starts).sum()), float(chance)
