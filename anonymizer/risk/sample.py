"""The risk of a sample: how many people its records stand for, and who lives with whom."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum

import numpy as np
import pandas as pd

from anonymizer.counts.pairs import tabulated
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, column_names, require_columns, shown
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.privacy.events import alike
from anonymizer.privacy.population import household, individual
from anonymizer.release.results import Result
from anonymizer.risk.measured import MeasuredTable
from anonymizer.risk.refinement import Columnar, Refinement, refined_by, rows_in
from anonymizer.tables import engine
from anonymizer.tables.counts_file import as_text
from anonymizer.tables.population import require_weights
from anonymizer.tables.values import number_of

HIGH = 0.1
"""Records whose risk lies above are counted."""

MOST_CLASSES = 10
"""Classes that are listed, of those with the highest risk."""

DIGITS = 12
"""Digits of a risk beyond which two may differ by the order of sums alone."""


@dataclass(frozen=True)
class SampleColumns:
    """The column of sampling weights, and those that together tell households apart.

    Neither is known to an attacker.
    """

    weight: str | None = None
    household: tuple[str, ...] = ()

    @classmethod
    def of(cls, weight: str | None, household: str | Sequence[str]) -> "SampleColumns":
        """Take names as somebody gives them."""
        return cls(weight_of(weight), column_names("household", household))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return (*(() if self.weight is None else (self.weight,)), *self.household)

    def require_apart(self, schema: Schema) -> None:
        """Require that the columns have no other role in which they are measured."""
        if self.names and schema.person:
            raise InputError(
                "a weight and a household are those of persons who have one record each; measure "
                "them of a table with a row for each person, or leave out person"
            )
        taken = (*schema.quasi_identifiers, *schema.counted)
        for place, name in enumerate(self.names):
            if name in taken or name in self.names[:place]:
                raise InputError(f"column {name!r} has more than one role; give it one")


def weight_of(given: object) -> str | None:
    """Return the column of sampling weights that somebody names, if any."""
    if given is None or isinstance(given, str):
        return given
    raise InputError(f"weight must name a column, not {shown(given)}")


NO_SAMPLE = SampleColumns()
"""Of a table without weights and households."""


@dataclass(frozen=True)
class RecordRisk(Result):
    """The probabilities with which records are found."""

    highest: float
    average: float
    expected: float  # records that are found: the sum
    above: int  # records with a probability above HIGH

    @classmethod
    def of(cls, risks: Floats, records: Ints) -> "RecordRisk":
        """Summarize the risk of each row and the records that it stands for, shape (rows,)."""
        total = int(records.sum())
        # Exact, so that the order of the rows does not show.
        expected = fsum((risks * records).tolist())
        above = int(records[risks > HIGH].sum())
        return cls(float(risks.max()), min(expected / total, 1.0), expected, above)


@dataclass(frozen=True)
class ClassRisk(Result):
    """The risk of the records of one class, by how many people they stand for.

    ``number``: of the class, from 1, as ``by_class`` has it; its values would tell of records.
    """

    number: int
    records: int  # f_g
    people: float  # F_g, the sum of their weights
    risk: float  # with which each of them is found


@dataclass(frozen=True)
class SampleRisk(Result):
    """The risk of a sample whose records stand for people, or who live in households.

    Without weights a record stands for itself. ``of_household`` is the risk that any member of a
    record's household is found. A household is alone where no other one has as many members in
    each class. ``riskiest`` are at most ``MOST_CLASSES`` classes, those of the highest risk by
    weights first, of fewer people first where these are equal.
    """

    of_record: RecordRisk
    people: float | None = None  # whom all records stand for
    fewest_people: float | None = None  # whom those of a class do
    of_household: RecordRisk | None = None
    households: int | None = None
    households_alone: int | None = None
    riskiest: tuple[ClassRisk, ...] = ()


def sample_risk(
    measured: MeasuredTable, schema: Schema, columns: SampleColumns, numbered: Refinement
) -> SampleRisk | None:
    """Measure a sample by its weights and households; None where no column is given.

    ``numbered``: the classes of the admitted records, by whose numbers some are listed.

    Raises InputError when a column is unknown, a weight is no number above 0, or a record misses
    its household.
    """
    if not columns.names:
        return None
    require_columns(measured.columns, columns.names)
    table = measured.with_columns(schema.quasi_identifiers, columns.names)
    classes = refined_by(table, schema.quasi_identifiers)
    records = np.ones(rows_in(table), np.int64) if classes.weights is None else classes.weights
    if columns.weight is None:
        people, risks = None, 1 / classes.sizes
    else:
        weights = _weights(table[columns.weight], columns.weight, records)
        people = np.bincount(classes.class_of, weights * records)
        risks = individual(classes.sizes, people)
    own = risks[classes.class_of]
    riskiest: tuple[ClassRisk, ...] = ()
    if people is not None:
        order = np.lexsort([people, -risks.round(DIGITS)])[:MOST_CLASSES]
        numbers = _numbers(measured.table, numbered, table, classes, schema, order)
        figures = classes.sizes[order], people[order], risks[order]
        rows = zip(numbers, *(each.tolist() for each in figures), strict=True)
        riskiest = tuple(ClassRisk(*row) for row in rows)
    found = SampleRisk(
        RecordRisk.of(own, records),
        None if people is None else fsum(people.tolist()),
        None if people is None else float(people.min()),
        riskiest=riskiest,
    )
    if not columns.household:
        return found
    home = _households(table, columns.household, records)
    return _with_households(found, own, classes.class_of, home, records)


def _numbers(
    table: Columnar,
    numbered: Refinement,
    other: Columnar,
    classes: Refinement,
    schema: Schema,
    some: Codes,
) -> list[int]:
    """Return the numbers, from 1, that some ``classes`` of another table have in a table.

    Both have the same classes, in another order where they were counted by other columns. Values
    are compared by their texts.
    """
    rows = np.array([int(np.argmax(classes.class_of == each)) for each in some])
    there = np.ones((len(some), len(numbered.class_of)), bool)
    for name in schema.quasi_identifiers:
        codes, values = engine.distinct(table[name])
        texts = np.array([as_text(value) for value in values], object)
        for own, value in zip(there, other[name].iloc[rows].tolist(), strict=True):
            own &= (texts == as_text(value))[codes]
    return [int(number) + 1 for number in numbered.class_of[there.argmax(axis=1)]]


def _with_households(
    found: SampleRisk, own: Floats, class_of: Codes, home: Codes, records: Ints
) -> SampleRisk:
    """Add the households; ``own`` risk, class, household and records of each row (rows,)."""
    one_by_one = np.repeat(np.arange(len(records)), records)
    risks = household(own[one_by_one], home[one_by_one])
    return replace(
        found,
        of_household=RecordRisk.of(risks, np.ones(len(risks), np.int64)),
        households=int(home.max()) + 1,
        households_alone=_alone(home, class_of, records),
    )


def _weights(column: pd.Series, name: str, records: Ints) -> Floats:
    """The weight of each row, shape (rows,)."""
    require_weights(engine.Tally(pd.DataFrame({name: column}), records), name)
    codes, values = engine.distinct(column)
    weights: Floats = np.array([float(number_of(value) or 0) for value in values])[codes]
    return weights


def _households(table: Columnar, names: Sequence[str], records: Ints) -> Codes:
    """The household of each row, numbered from 0, shape (rows,)."""
    rows = pd.DataFrame({name: engine.stripped(table[name]) for name in names})
    for name in names:
        missing = int(records[engine.missing(rows[name])].sum())
        if missing:
            raise InputError(
                f"column {name!r}, which tells households apart, misses the value of {missing} of "
                f"{records.sum()} records; leave these records out, or give who lives alone a "
                "household of their own"
            )
    return refined_by(rows, names).class_of


def _alone(home: Codes, class_of: Codes, records: Ints) -> int:
    """Count the households that no other one equals in how many members each class has.

    >>> _alone(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 0, 0]), np.ones(5, np.int64))
    1
    """
    shape = int(class_of.max()) + 1, int(home.max()) + 1
    return int((alike(tabulated(class_of, home, records, shape)) == 1).sum())
