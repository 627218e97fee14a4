"""One line of a comparison with a paper: its figures, its agreement; and sections of lines.

A published figure need not follow from the definition next to it. Its row then lists the readings
that were tried with the value of each, so that anybody can see which of them, if any, gives it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

AS_PUBLISHED = "as published"
TRUNCATED = "truncated"
NOT_REPRODUCED = "cannot be reproduced"

NUMBER = re.compile(r"(-?\d+)(?:[.,](\d+))?( ?%)?")
SLACK = 1e-9
"""Numbers that lie on the edge of a printed digit to the last bits lie on it."""
SAME = 1e-12
"""Steps of a series that are smaller come from rounding."""


def agreement(value: float, published: str, why: str = "") -> str:
    """``AS_PUBLISHED``, ``TRUNCATED``, or ``NOT_REPRODUCED`` and why; empty if it is no number.

    >>> agreement(0.363636, "0,36"), agreement(0.548795, "0,54"), agreement(0.8784, "88 %")
    ('as published', 'truncated', 'as published')
    >>> agreement(1.25, "1,0", "a slip")
    'cannot be reproduced: a slip'
    """
    return agrees(value, published) or (not_reproduced(why) if NUMBER.fullmatch(published) else "")


def not_reproduced(why: str) -> str:
    """``NOT_REPRODUCED`` and why, if that is known."""
    return f"{NOT_REPRODUCED}: {why}" if why else NOT_REPRODUCED


def agrees(value: float, published: str) -> str:
    """``AS_PUBLISHED`` when rounding gives the published digits, ``TRUNCATED`` when cutting does.

    Decimal points and commas are the same. Empty when neither does.
    """
    match = NUMBER.fullmatch(published)
    if not match:
        return ""
    whole, decimals, percent = match.groups(default="")
    printed = float(f"{whole}.{decimals}")
    shown, unit = value * (100 if percent else 1), 10.0 ** -len(decimals)
    if abs(shown - printed) <= unit / 2 + SLACK:
        return AS_PUBLISHED
    cut = np.trunc(shown / unit + np.copysign(SLACK, shown)) * unit
    return TRUNCATED if abs(cut - printed) <= SLACK else ""


@dataclass(frozen=True)
class Column:
    """One quantity along a figure, shape (points,).

    JSON calls it ``name``, people ``label``; ``unit`` is "bits", "records" or empty.
    """

    name: str
    label: str
    values: Sequence[float]
    unit: str = ""

    @property
    def heading(self) -> str:
        """The label with the unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Series:
    """A panel of a figure: parameters that were varied, and measures, of the same points.

    ``axis`` names the parameter that measures are drawn against, ``by`` the one that distinguishes
    curves, if there are several.
    """

    parameters: Sequence[Column]
    measures: Sequence[Column]
    axis: str
    by: str = ""

    @property
    def columns(self) -> list[Column]:
        """All of it, parameters first."""
        return [*self.parameters, *self.measures]

    def __len__(self) -> int:
        return len(self.parameters[0].values)

    def __getitem__(self, name: str) -> Column:
        """A column by its name."""
        return next(column for column in self.columns if column.name == name)

    def to_dict(self) -> dict[str, list[float]]:
        """The columns by name, as JSON has them."""
        return {column.name: list(column.values) for column in self.columns}


@dataclass(frozen=True)
class Row:
    """A quantity, its computed and its published value as texts, and whether the two agree.

    ``published`` is empty where the paper says nothing; ``value`` is the number behind
    ``computed``; ``status`` is one of the words of ``agreement``, and why not; ``series`` is the
    panel of a figure, where that was computed.
    """

    quantity: str
    computed: str
    published: str = ""
    remark: str = ""
    value: float | None = None
    status: str = ""
    series: Series | None = None

    @classmethod
    def number(
        cls,
        quantity: str,
        value: float,
        published: str = "",
        remark: str = "",
        form: str = ".6f",
        *,
        why: str = "",
    ) -> "Row":
        """A row of one number; ``why``: the reason to give if it is not the published one."""
        status = agreement(value, published, why)
        return cls(quantity, format(value, form), published, remark, float(value), status)

    @classmethod
    def claim(
        cls,
        quantity: str,
        holds: bool,
        computed: str,
        published: str,
        remark: str = "",
        *,
        why: str = "",
    ) -> "Row":
        """A sentence of a paper, and whether it holds; ``why``: the reason to give if not."""
        status = AS_PUBLISHED if holds else not_reproduced(why)
        return cls(quantity, computed, published, remark, status=status)


@dataclass(frozen=True)
class Section:
    """The rows of one table, figure or example of a paper, and a note on all of them."""

    title: str
    rows: Sequence[Row]
    note: str = ""


@dataclass(frozen=True)
class Reading:
    """A way to read a paper: its name, its value as a text, whether that was published.

    ``agreement`` is empty when it was not; ``value`` is the number, if it is one.
    """

    name: str
    shown: str
    agreement: str
    value: float | None = None


def read(quantity: str, published: str, readings: Sequence[Reading], why: str = "") -> Row:
    """The first reading that gives what was published; the paper's own when none does."""
    own, *others = readings
    found = next((reading for reading in readings if reading.agreement), own)
    if not found.agreement:
        tried = [f"{reading.name} gives {reading.shown}" for reading in readings if others]
        status = not_reproduced("; ".join([*tried, *([why] if why else [])]))
    elif found is own:
        status = own.agreement
    else:
        status = f"{found.agreement}, though not by {own.name}, which gives {own.shown}"
    return Row(quantity, found.shown, published, found.name, found.value, status)


def within(rows: Iterable[Row], table: str) -> list[Row]:
    """Rows of a table that the paper does not fix: agreement with it is no more than possible."""
    agreed = (AS_PUBLISHED, TRUNCATED)
    return [
        replace(row, status=f"{row.status}, in {table}") if row.status.startswith(agreed) else row
        for row in rows
    ]


def numbers(published: str, readings: Mapping[str, float]) -> list[Reading]:
    """Readings that come to numbers."""
    return [
        Reading(name, f"{value:.6f}", agrees(value, published), float(value))
        for name, value in readings.items()
    ]


def trends(expected: str, readings: Mapping[str, ArrayLike]) -> list[Reading]:
    """Readings that come to series, of which the paper says that they rise, or fall."""
    found = []
    for name, values in readings.items():
        series, way = np.asarray(values, float), trend(values)
        course = f"{way}, {series[0]:.6f} to {series[-1]:.6f}"
        found.append(Reading(name, course, AS_PUBLISHED if way == expected else ""))
    return found


def trend(values: ArrayLike) -> str:
    """``"rises"``, ``"falls"``, ``"is constant"`` or ``"rises and falls"``; may rest in between.

    >>> trend([0, 1, 1, 2]), trend([1, 1]), trend([0, 1, 0])
    ('rises', 'is constant', 'rises and falls')
    """
    steps = np.diff(np.asarray(values, float))
    up, down = bool((steps > SAME).any()), bool((steps < -SAME).any())
    if up and down:
        return "rises and falls"
    return "rises" if up else "falls" if down else "is constant"
