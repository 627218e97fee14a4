"""The loss of privacy by queries about the people of a table: each, and all together."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.counts.columns import by_text
from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import InputError, column_names
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
from anonymizer.risk.measured import MeasuredTable
from anonymizer.risk.queries.answers import CodedColumn, answered, unheard
from anonymizer.risk.queries.language import Query, conditions, parse, placed
from anonymizer.risk.subject import Subject
from anonymizer.tables.engine import Table, Tally

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
        :mod:`anonymizer.risk.queries.language`. The answer is yes, no, or unknown where a value
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
    notes = [note for query in request.queries for note in unheard(query, coded)]
    return QueriesLoss(
        records=int(sizes.sum()),
        about=request.about,
        questions=tuple(
            _question(text, codes, sizes, about) for text, codes in zip(texts, answers, strict=True)
        ),
        jointly=_question(TOGETHER, together(*answers), sizes, about),
        notes=_few(list(dict.fromkeys(notes))),
    )


def _few(notes: list[str]) -> tuple[str, ...]:
    more = len(notes) - MOST_NOTES
    return (*notes[:MOST_NOTES], f"{more:,} more of the kind") if more > 1 else tuple(notes)


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
