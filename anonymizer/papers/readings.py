"""What a paper prints, read in several ways: its own definition first, then what may be meant.

A published figure need not follow from the definition next to it. The row then lists the readings
that were tried with the value of each, so that anybody can see which of them, if any, gives it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.papers.row import (
    AS_PUBLISHED,
    TRUNCATED,
    Row,
    agrees,
    not_reproduced,
)

SAME = 1e-12
"""Steps of a series that are smaller come from rounding."""


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
