"""One line of a comparison with a paper: its figures, its agreement, its series; and sections.

A published figure need not follow from the definition next to it. Its row then lists the readings
that were tried with the value of each, so that anybody can see which of them, if any, gives it. A
series is what a figure shows, as numbers: columns of parameters and measures of the same points.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Form = Literal["lines", "bars", "surface"]


@dataclass(frozen=True)
class Column:
    """One quantity along a figure, shape (points,).

    JSON calls it ``name``, people ``label``; ``unit`` is "bits", "records" or empty. ``values`` are
    texts where they name the bars of a chart.
    """

    name: str
    label: str
    values: Sequence[float] | Sequence[str]
    unit: str = ""

    @property
    def heading(self) -> str:
        """The label with the unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class PlottedSeries:
    """A panel of a figure: parameters that were varied, and measures, of the same points.

    ``axis`` names the parameter that measures are drawn against, ``by`` the one that distinguishes
    curves, if there are several. ``form`` is what it is drawn as. ``limits`` are what measures must
    not exceed, by their names, drawn as lines. ``over`` is the quantity of another row, into whose
    panel this one is drawn, as points. ``varies``: as of a row. ``what`` is what the measures are,
    the name of the axis of lines.
    """

    parameters: Sequence[Column]
    measures: Sequence[Column]
    axis: str
    by: str = ""
    form: Form = "lines"
    limits: Mapping[str, float] = field(default_factory=dict)
    over: str = ""
    varies: bool = False
    what: str = "metric"

    @property
    def columns(self) -> list[Column]:
        """All of it, parameters first."""
        return [*self.parameters, *self.measures]

    def __len__(self) -> int:
        return len(self.parameters[0].values)

    def __getitem__(self, name: str) -> Column:
        """A column by its name."""
        return next(column for column in self.columns if column.name == name)

    def to_dict(self) -> dict[str, list[float | str]]:
        """The columns by name, as JSON has them."""
        return {column.name: list(column.values) for column in self.columns}


def bars_of(
    axis: str,
    labels: Sequence[str],
    measures: Mapping[str, ArrayLike],
    limits: Mapping[str, float] | None = None,
) -> PlottedSeries:
    """One group of bars for each label, a bar for each measure, and the limits of measures."""
    columns = [
        Column(name, name, np.asarray(values, float).tolist(), "bits")
        for name, values in measures.items()
    ]
    return PlottedSeries(
        [Column(axis, axis, list(labels))], columns, axis, form="bars", limits=limits or {}
    )


AS_PUBLISHED = "as published"
TRUNCATED = "truncated"
DIFFERS = "differs"
"""What is computed is not what was published."""
IMPOSSIBLE = "cannot be"
"""No reading gives what was published, by a proof or by other figures of the paper."""

NUMBER = re.compile(r"(-?\d+)(?:[.,](\d+))?( ?%)?")
SLACK = 1e-9
"""Numbers that lie on the edge of a printed digit to the last bits lie on it."""
SAME = 1e-12
"""Steps of a series that are smaller come from rounding."""


def agreement(value: float, published: str, why: str = "", cannot: str = "") -> str:
    """``AS_PUBLISHED``, ``TRUNCATED``, or that it is not, and why; empty if it is no number.

    ``why`` it differs; ``cannot``: why it cannot be, where that is known.

    >>> agreement(0.363636, "0,36"), agreement(0.548795, "0,54"), agreement(0.8784, "88 %")
    ('as published', 'truncated', 'as published')
    >>> agreement(1.25, "1,0", "a slip"), agreement(0.3, "0.5", cannot="more than all there is")
    ('differs: a slip', 'cannot be: more than all there is')
    """
    agreed = agrees(value, published)
    return agreed or (disagreement(why, cannot) if NUMBER.fullmatch(published) else "")


def disagreement(why: str, cannot: str = "") -> str:
    """``IMPOSSIBLE`` where it cannot be, else ``DIFFERS``, and why, if that is known."""
    verdict, reason = (IMPOSSIBLE, cannot) if cannot else (DIFFERS, why)
    return f"{verdict}: {reason}" if reason else verdict


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
class Row:
    """A quantity, its computed and its published value as texts, and whether the two agree.

    ``published`` is empty where the paper says nothing; ``value`` is the number behind
    ``computed``; ``status`` is one of the words of ``agreement``, and why not; ``series`` is the
    panel of a figure, where that was computed. ``place`` is where it is in the paper, "Eq. 8" or
    "Table 4", and ``where`` in the library, a dotted name. ``varies``: whether it differs from
    machine to machine, by their clocks, or by rounding that many steps have enlarged.
    """

    quantity: str
    computed: str
    published: str = ""
    remark: str = ""
    value: float | None = None
    status: str = ""
    series: PlottedSeries | None = None
    place: str = ""
    where: str = ""
    varies: bool = False

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
        cannot: str = "",
        place: str = "",
        where: str = "",
    ) -> "Row":
        """A row of one number; ``why`` it differs if it does, or ``cannot`` be as published."""
        status, shown = agreement(value, published, why, cannot), format(value, form)
        found = cls(quantity, shown, published, remark, float(value), status)
        return replace(found, place=place, where=where)

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
        cannot: str = "",
        place: str = "",
        where: str = "",
        series: PlottedSeries | None = None,
    ) -> "Row":
        """A sentence of a paper, and whether it holds; ``why`` it does not, or ``cannot``."""
        status = AS_PUBLISHED if holds else disagreement(why, cannot)
        found = cls(quantity, computed, published, remark, status=status)
        return replace(found, place=place, where=where, series=series)


@dataclass(frozen=True)
class PublishedSection:
    """The rows of one table, figure or example of a paper, and a note on all of them.

    ``place`` and ``where`` are those of rows that have none of their own.
    """

    title: str
    rows: Sequence[Row]
    note: str = ""
    place: str = ""
    where: str = ""

    def __post_init__(self) -> None:
        own = (
            replace(row, place=row.place or self.place, where=row.where or self.where)
            for row in self.rows
        )
        object.__setattr__(self, "rows", tuple(own))


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
        status = disagreement("; ".join([*tried, *([why] if why else [])]))
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
