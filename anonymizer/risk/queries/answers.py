"""The answer to a query about each record, by the values of its columns."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes
from anonymizer.risk.queries.language import Condition, Not, Query, Value, conditions
from anonymizer.tables.values import is_missing, number_of, text_of

NO, UNKNOWN, YES = 0, 1, 2
"""Answers in the order of truth: ``and`` is the least, ``or`` the greatest, ``not`` turns it."""
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?", re.ASCII)
"""Texts that sort as the days they name."""
HOW = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}


def answered(query: Query, columns: Mapping[str, "Coded"], text: str) -> Codes:
    """0 for no, 1 for unknown, 2 for yes, shape (rows,); ``text``: the query, for messages.

    InputError when values are compared that have no order.
    """
    if isinstance(query, Condition):
        return columns[query.column].answers(query, text)
    if isinstance(query, Not):
        return YES - answered(query.part, columns, text)
    parts = [answered(part, columns, text) for part in query.parts]
    return np.asarray((np.minimum if query.word == "and" else np.maximum).reduce(parts))


class Coded:
    """A column as its distinct values: ``codes`` (rows,) says which each row has."""

    def __init__(self, column: pd.Series) -> None:
        self.codes, values = by_text(column)
        self.missing = np.array([is_missing(value) for value in values], bool)
        self.texts = ["" if is_missing(value) else text_of(value) for value in values]
        self.numbers = [number_of(text) for text in self.texts]

    def answers(self, condition: Condition, query: str) -> Codes:
        """The answers of one condition, shape (rows,)."""
        if condition.operator == "missing":
            return np.where(self.missing, YES, NO)[self.codes]
        if condition.operator in ("=", "!=", "in"):
            found = np.array([self._is_any(at, condition.values) for at in range(len(self.texts))])
            yes = ~found if condition.operator == "!=" else found
        else:
            yes = np.array(self._ordered(condition, query), bool)
        return np.where(self.missing, UNKNOWN, np.where(yes, YES, NO))[self.codes]

    def lacks(self, value: Value) -> bool:
        """Whether no record has the value."""
        return not any(
            self._is_any(at, (value,)) for at in range(len(self.texts)) if not self.missing[at]
        )

    def _is_any(self, at: int, values: Sequence[Value]) -> bool:
        """Whether a distinct value is one of some: numbers by what they are, texts as written."""
        text, number = self.texts[at], self.numbers[at]
        return any(
            number == value if isinstance(value, Decimal) else text == text_of(value)
            for value in values
        )

    def _ordered(self, condition: Condition, query: str) -> list[bool]:
        """Whether each distinct value lies as the condition wants it; missing ones do not."""
        if condition.operator == "between":
            low, high = condition.values
            above = self._ordered(_with(condition, ">=", low), query)
            below = self._ordered(_with(condition, "<=", high), query)
            return [one and other for one, other in zip(above, below, strict=True)]
        (value,) = condition.values
        return [
            not missing and HOW[condition.operator](_side(own, limit), 0)
            for own, limit, missing in self._pairs(value, condition, query)
        ]

    def _pairs(
        self, value: Value, condition: Condition, query: str
    ) -> list[tuple[Value, Value, bool]]:
        """Each distinct value and the limit, comparable: both numbers, or both days."""
        known = ~self.missing
        own: Sequence[Value | None]
        if isinstance(value, Decimal):
            own, need = self.numbers, "numbers"
        else:
            own, need = [t if DATE.fullmatch(t) else None for t in self.texts], "days as 2020-12-31"
            if not DATE.fullmatch(value):
                self._refuse(condition, query, f"{value!r} is no number and no day as 2020-12-31")
        if any(each is None for each in np.array(own, object)[known]):
            self._refuse(condition, query, f"column {condition.column!r} does not hold {need} only")
        return [
            (value if each is None else each, value, bool(gone))
            for each, gone in zip(own, self.missing, strict=True)
        ]

    @staticmethod
    def _refuse(condition: Condition, query: str, why: str) -> None:
        raise InputError(
            f"query {query!r}, position {condition.place}: {why}, so that "
            f"{condition.operator} has no meaning; compare with =, != or in"
        )


def unheard(query: Query, columns: Mapping[str, Coded]) -> list[str]:
    """What the query says that no record has: likely misspelled."""
    return [
        f"no record has {str(value)!r} in column {condition.column!r}"
        for condition in conditions(query)
        if condition.operator in ("=", "!=", "in")
        for value in condition.values
        if columns[condition.column].lacks(value)
    ]


def _side(own: Value, limit: Value) -> int:
    """-1, 0 or 1 as a value is below, at or above a limit of its kind."""
    if isinstance(own, Decimal) and isinstance(limit, Decimal):
        return int(own > limit) - int(own < limit)
    return int(str(own) > str(limit)) - int(str(own) < str(limit))


def _with(condition: Condition, operator: str, value: Value) -> Condition:
    return Condition(condition.column, operator, (value,), condition.place)  # type: ignore[arg-type]
