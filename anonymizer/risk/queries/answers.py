"""The answer to a query about each record, by the values of its columns."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from operator import ge, gt, le, lt
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.errors import InputError, shown
from anonymizer.kernels.arrays import Codes
from anonymizer.risk.queries.language import (
    Condition,
    Not,
    Query,
    Value,
    conditions,
    placed,
)
from anonymizer.tables.values import is_missing, number_of, text_of, texts_apart

NO, UNKNOWN, YES = 0, 1, 2
"""Answers in the order of truth: ``and`` is the least, ``or`` the greatest, ``not`` turns it."""
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
MOMENT = re.compile(DAY.pattern + r"([T ].*)?", re.ASCII)
"""A day, or a time on it."""
LIMITS = ("2020-12-31", "2020-12-31T00:00")
"""A day and a time: what a value is compared with says which of the two is meant."""
Key = Decimal | str | date
"""What a value may equal."""
INFINITY = "; infinite ones can be let count as missing: --missing-values=inf --missing-values=-inf"
"""Numbers divided by 0, or a code for no number: they are none that is more than 40."""
HOW = {"<": lt, "<=": le, ">": gt, ">=": ge}


def answered(query: Query, columns: Mapping[str, "CodedColumn"], text: str) -> Codes:
    """Answer a query about each row: 0 for no, 1 for unknown, 2 for yes, shape (rows,).

    InputError when values are compared that have no order.
    """
    if isinstance(query, Condition):
        return columns[query.column].answers(query, text)
    if isinstance(query, Not):
        return YES - answered(query.part, columns, text)
    parts = [answered(part, columns, text) for part in query.parts]
    return np.asarray((np.minimum if query.word == "and" else np.maximum).reduce(parts))


class CodedColumn:
    """A column as its distinct values: ``codes`` (rows,) says which each row has."""

    def __init__(self, column: pd.Series) -> None:
        self.codes, values = by_text(column)
        self.missing = np.array([is_missing(value) for value in values], bool)
        self.texts = [text or "" for text in texts_apart(values)]
        self.apart = {
            text_of(value)
            for value, text in zip(values, self.texts, strict=True)
            if text and text != text_of(value)
        }
        self.numbers = [number_of(text) for text in self.texts]

    def answers(self, condition: Condition, query: str) -> Codes:
        """The answers of one condition, shape (rows,)."""
        if condition.operator == "missing":
            return np.where(self.missing, YES, NO)[self.codes]
        if condition.operator in ("=", "!=", "in"):
            found = np.array(self._among(condition.values), bool)
            yes = ~found if condition.operator == "!=" else found
        else:
            yes = np.array(self._ordered(condition, query), bool)
        return np.where(self.missing, UNKNOWN, np.where(yes, YES, NO))[self.codes]

    def lacks(self, value: Value) -> bool:
        """Return whether no record has the value."""
        return self._present.isdisjoint(self._keys_of(value))

    def _among(self, values: Sequence[Value]) -> list[bool]:
        # By sets: a list of a thousand names is compared with a million in seconds.
        wanted = {key for value in values for key in self._keys_of(value)}
        return [not wanted.isdisjoint(self._own_keys(at)) for at in range(len(self.texts))]

    @cached_property
    def _present(self) -> set[Key]:
        here = np.flatnonzero(~self.missing).tolist()
        return {key for at in here for key in self._own_keys(at)}

    def _own_keys(self, at: int) -> set[Key]:
        text = self.texts[at]
        found = {self.numbers[at], text, *(moment_of(text, limit) for limit in LIMITS)}
        return {key for key in found if key is not None}

    def _keys_of(self, value: Value) -> set[Key]:
        """Return the keys of a value, one of which must match; texts split by the column."""
        if isinstance(value, Decimal):
            return {value}
        text, moment = text_of(value), moment_of(value, value)
        found: set[Key] = {value.strip() if text in self.apart else text}
        return found if moment is None else {*found, moment}

    def _ordered(self, condition: Condition, query: str) -> list[bool]:
        """Mark the distinct values that lie as the condition wants it; missing ones do not."""
        if condition.operator == "between":
            low, high = condition.values
            above = self._ordered(_with(condition, ">=", low), query)
            below = self._ordered(_with(condition, "<=", high), query)
            return [one and other for one, other in zip(above, below, strict=True)]
        (value,) = condition.values
        own, limit = self._comparable(value, condition, query)
        how = HOW[condition.operator]
        return [each is not None and how(each, limit) for each in own]

    def _comparable(
        self, value: Value, condition: Condition, query: str
    ) -> tuple[Sequence[Any], Decimal | date]:
        """Return the distinct values and a limit: numbers, days or times; None where one misses."""
        limit = value if isinstance(value, Decimal) else moment_of(value, value)
        if limit is None:
            self._refuse(condition, query, _unordered(str(value)))
        own: Sequence[Decimal | date | None] = self.numbers
        need = "numbers"
        if not isinstance(value, Decimal):
            own = [moment_of(text, value) for text in self.texts]
            need = "days as 2020-12-31"
        if any(each is None for each, gone in zip(own, self.missing, strict=True) if not gone):
            why = f"column {condition.column!r} does not hold {need} only"
            self._refuse(condition, query, why, INFINITY if self._infinite else "")
        if len({_zoned(each) for each in (*own, limit) if each is not None}) > 1:
            self._refuse(condition, query, "some times have a time zone and others have none")
        return own, limit

    @property
    def _infinite(self) -> bool:
        return not {"inf", "-inf"}.isdisjoint(self.texts)

    @staticmethod
    def _refuse(condition: Condition, query: str, why: str, way: str = "") -> NoReturn:
        raise InputError(
            f"{placed(query, condition.place)}: {why}, so that {condition.operator} has no "
            f"meaning; compare with =, != or in{way}"
        )


def unheard(query: Query, columns: Mapping[str, CodedColumn]) -> list[str]:
    """List values of the query that no record has, or can have: likely misspelled."""
    return [note for condition in conditions(query) for note in _slips(condition, columns)]


def _slips(condition: Condition, columns: Mapping[str, CodedColumn]) -> Iterator[str]:
    if condition.operator == "between":
        low, high = condition.values
        if isinstance(low, Decimal) == isinstance(high, Decimal) and low > high:  # type: ignore[operator]
            yield f"nothing is between {low} and {high}; the lower bound comes first"
    if condition.operator in ("=", "!=", "in"):
        for value in condition.values:
            if columns[condition.column].lacks(value):
                yield f"no record has {shown(str(value))} in column {condition.column!r}"


def moment_of(text: str, limit: str) -> date | None:
    """Read the day that a text names, or the time where the limit is one; None for neither.

    A limit that is a day is compared with days: every time of that day is on it.

    >>> moment_of("2020-12-31 23:59:00", "2020-12-31")
    datetime.date(2020, 12, 31)
    >>> moment_of("2020-12-31", "2020-12-31T12:00")
    datetime.datetime(2020, 12, 31, 0, 0)
    """
    if not (MOMENT.fullmatch(text) and MOMENT.fullmatch(limit)):
        return None
    try:
        found = datetime.fromisoformat(text_of(text))
    except ValueError:  # no such day
        return None
    return found.date() if DAY.fullmatch(limit) else found


def _zoned(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _unordered(text: str) -> str:
    if number_of(text) is not None:
        return f"{text!r} is a text, and the number is written without quotes"
    return f"{text!r} is no number and no day as 2020-12-31"


def _with(condition: Condition, operator: str, value: Value) -> Condition:
    return Condition(condition.column, operator, (value,), condition.place)  # type: ignore[arg-type]
