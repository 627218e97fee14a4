"""What queries about the people of a table cost their privacy (Longpré et al. 2017).

In go a table, or a file, and queries as texts; out comes the loss of each query, and of all
together. ``query_language`` reads the queries.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from anonymizer.counts.columns import by_text
from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import InputError, column_names, shown
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.privacy.query_loss import (
    QueryLoss,
    loss_of_sizes,
    losses_by_answer,
    query_loss,
    together,
)
from anonymizer.release.frames import table_of
from anonymizer.risk.file import Subject
from anonymizer.risk.measured import MeasuredTable
from anonymizer.risk.query_language import (
    Condition,
    Not,
    Query,
    Value,
    conditions,
    parse,
    placed,
)
from anonymizer.tables.engine import Table, Tally
from anonymizer.tables.values import is_missing, number_of, text_of, texts_apart

NOTHING = 1e-9
"""Losses in bits that are as little are rounding."""
TOGETHER = "all together"
MOST_NOTES = 8
"""Notes beyond are counted: a list of a thousand names is misspelled as a whole."""


@dataclass(frozen=True)
class Question:
    """A query, and the loss that its answer means to the person that it is about.

    Parameters
    ----------
    text
        The query, "by" and the columns of a group-by, or ``"all together"``.
    answers
        How many answers occur; one about missing values is an answer of its own.
    loss
        In bits.
    least, most
        Records that the answer of largest loss leaves, and that of smallest loss.
    gaining
        The probability of an answer of negative loss.
    """

    text: str
    answers: int
    loss: QueryLoss
    least: int
    most: int
    gaining: float

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON has it."""
        return {
            "query": self.text,
            "answers": self.answers,
            **self.loss.to_dict(),
            "records_left_by_largest": self.least,
            "records_left_by_smallest": self.most,
            "probability_of_negative_loss": self.gaining,
        }


@dataclass(frozen=True)
class QueriesLoss:
    """The loss by some queries about one person of a table, drawn at random.

    ``about``: the columns whose values are uncertain; empty where the record is. ``questions``:
    each query; ``jointly``: all of them, the same as the one of a single query. ``notes``: likely
    slips in queries.
    """

    records: int
    about: tuple[str, ...]
    questions: tuple[Question, ...]
    jointly: Question
    notes: tuple[str, ...]

    @property
    def uncertainty(self) -> float:
        """S_0 in bits: the uncertainty of the person before any answer."""
        return self.jointly.loss.uncertainty

    @property
    def sum_of_averages(self) -> float:
        """Sum of the average losses in bits, with which Eq. 5 compares that of all together."""
        return sum(question.loss.average for question in self.questions)

    def to_dict(self) -> dict[str, Any]:
        """Return the losses as JSON has them."""
        return {
            "records": self.records,
            "about": list(self.about),
            "uncertainty": self.uncertainty,
            "queries": [question.to_dict() for question in self.questions],
            "together": self.jointly.to_dict(),
            "sum_of_averages": self.sum_of_averages,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class QueryRequest:
    """Queries that were read, with the columns that they need."""

    texts: tuple[str, ...]
    queries: tuple[Query, ...]
    groups: tuple[tuple[str, ...], ...]
    about: tuple[str, ...]

    @classmethod
    def of(
        cls,
        queries: str | Sequence[str],
        group_by: Iterable[str | Sequence[str]],
        about: str | Sequence[str],
    ) -> "QueryRequest":
        """Read queries; InputError where one cannot be read, or there is none."""
        texts = (queries,) if isinstance(queries, str) else tuple(queries)
        by = (group_by,) if isinstance(group_by, str) else tuple(group_by)
        groups = tuple(column_names("group_by", each) for each in by)
        if not all(groups) or not (texts or groups):
            what = "a group-by names no column" if groups else "there is no query"
            raise InputError(f"{what}: give a condition, such as age > 40, or a column to group by")
        return cls(texts, tuple(map(parse, texts)), groups, column_names("about", about))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed, each once."""
        compared = [c.column for query in self.queries for c in conditions(query)]
        listed = [name for names in (*self.groups, self.about) for name in names]
        return tuple(dict.fromkeys([*compared, *listed]))

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Let an error about an unknown column say where a query has it."""
        try:
            yield
        except InputError as error:
            for query, text in zip(self.queries, self.texts, strict=True):
                for condition in conditions(query):
                    if condition.column == error.value:
                        raise error.at(f"{placed(text, condition.place)}: ") from None
            raise


def query_losses(
    table: Any,
    queries: str | Sequence[str] = (),
    group_by: Iterable[str | Sequence[str]] = (),
    about: str | Sequence[str] = (),
    missing: Missing = "category",
) -> QueriesLoss:
    """Measure what the answers to queries about a person of a table cost the person's privacy.

    The person is any of the table's, each as likely. What is uncertain is which record is theirs:
    log2 of the records that an answer leaves, so that a loss is never negative.

    Parameters
    ----------
    table
        A DataFrame of pandas or Polars, say, as ``Anonymizer.fit`` takes it.
    queries
        Conditions, such as ``"age > 40 and sex = 'Female'"``; see
        :mod:`anonymizer.risk.query_language`. The answer is yes, no, or unknown where a value
        that decides it is missing.
    group_by
        Columns whose value is the answer: a name, or several names for one query of their
        combinations. A missing value is a value.
    about
        Columns whose combination of values is uncertain, instead of the record. An answer may then
        make it less certain: a negative loss.
    missing
        ``"category"``; ``"drop"`` leaves out records that miss a value of these columns,
        ``"error"`` refuses them.

    Raises
    ------
    InputError
        When a query cannot be read or compares what has no order, a column is unknown, or the
        table has no records.
    """
    request = QueryRequest.of(queries, group_by, about)
    schema = Schema(request.columns, (), missing=missing)
    with request.placing():
        measured = MeasuredTable.of(table_of(table), schema, respell=False)
    return _losses(measured.table, request)


def query_losses_of(
    path: Path,
    queries: str | Sequence[str] = (),
    group_by: Iterable[str | Sequence[str]] = (),
    about: str | Sequence[str] = (),
    missing: Missing = "category",
    watch: Watch = ignore,
    **form: Any,
) -> QueriesLoss:
    """Measure the losses in a table file, or in the table of a release's directory.

    ``form``: ``table`` of a database, and how a file is written; see ``Subject.of_names``.
    """
    request = QueryRequest.of(queries, group_by, about)
    with request.placing():
        subject = Subject.of_names(path, request.columns, missing=missing, **form)
        with subject.measured(watch, respell=False) as measured:
            return _losses(measured.table, request)


def _losses(table: Table, request: QueryRequest) -> QueriesLoss:
    coded = {c.column: CodedColumn(table[c.column]) for q in request.queries for c in conditions(q)}
    answers = [
        answered(query, coded, text)
        for query, text in zip(request.queries, request.texts, strict=True)
    ]
    answers += [_combined(table, names) for names in request.groups]
    texts = [*request.texts, *(f"by {', '.join(names)}" for names in request.groups)]
    sizes = table.sizes if isinstance(table, Tally) else np.ones(len(answers[0]), np.int64)
    about = _combined(table, request.about) if request.about else None
    found = (note for query in request.queries for note in unheard(query, coded))
    notes = tuple(dict.fromkeys(found))
    more = len(notes) - MOST_NOTES
    if more > 1:
        notes = (*notes[:MOST_NOTES], f"{more:,} more of the kind")
    return QueriesLoss(
        records=int(sizes.sum()),
        about=request.about,
        questions=tuple(
            _question(text, codes, sizes, about) for text, codes in zip(texts, answers, strict=True)
        ),
        jointly=_question(TOGETHER, together(*answers), sizes, about),
        notes=notes,
    )


def _combined(table: Table, names: Sequence[str]) -> Codes:
    return together(*(by_text(table[name])[0] for name in names))


def _question(text: str, codes: Codes, sizes: Ints, about: Codes | None) -> Question:
    """Return the loss of answers by their codes; of an extreme loss the answer of fewest records.

    About the record, S_j is the logarithm of the records that an answer leaves.
    """
    left = np.bincount(together(codes), sizes).astype(np.int64)
    if about is None:
        loss, losses = loss_of_sizes(left), np.log2(left.sum()) - np.log2(left)
        chance = left / left.sum()
    else:
        loss = query_loss(codes, sizes, about)
        chance, losses = losses_by_answer(codes, sizes, about)
    extreme = [left[np.abs(losses - end) < NOTHING].min() for end in (losses.max(), losses.min())]
    least, most = map(int, extreme)
    gaining = float(chance[losses < -NOTHING].sum())
    return Question(text, len(left), loss, least, most, gaining)


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
            way_out = "" if {"inf", "-inf"}.isdisjoint(self.texts) else INFINITY
            self._refuse(condition, query, why, way_out)
        known = (each for each in (*own, limit) if each is not None)
        if len({isinstance(each, datetime) and each.tzinfo is not None for each in known}) > 1:
            self._refuse(condition, query, "some times have a time zone and others have none")
        return own, limit

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


def _unordered(text: str) -> str:
    if number_of(text) is not None:
        return f"{text!r} is a text, and the number is written without quotes"
    return f"{text!r} is no number and no day as 2020-12-31"


def _with(condition: Condition, operator: str, value: Value) -> Condition:
    return Condition(condition.column, operator, (value,), condition.place)  # type: ignore[arg-type]
