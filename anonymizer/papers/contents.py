"""What a report of a paper says, whatever its form: tables of texts, and how many rows agree."""

from collections.abc import Iterable, Iterator, Sequence

from anonymizer.feedback.display import Table
from anonymizer.feedback.words import plural
from anonymizer.papers.row import (
    AS_PUBLISHED,
    DIFFERS,
    IMPOSSIBLE,
    TRUNCATED,
    PublishedSection,
    Row,
)
from anonymizer.papers.series import PlottedSeries

POINTS = 14
"""So many points of a figure are printed at the most, and its last."""
VARIES = "†"
"""Marks what differs from machine to machine."""


def rows_of(section: PublishedSection, names: Sequence[str]) -> Table:
    """The rows of a section, with those columns that say anything."""
    said = [name for name in names if any(getattr(row, name) for row in section.rows)]
    return Table(section.title, said, [[_said(row, name) for name in said] for row in section.rows])


def points_of(section: PublishedSection) -> Iterator[Table]:
    """Some points of each panel of its figures."""
    return (_points(row, row.series) for row in section.rows if row.series)


def summary(sections: Iterable[PublishedSection]) -> str:
    """How many published figures agree."""
    said = [row.status for section in sections for row in section.rows]
    agreed = [status for status in said if status.startswith(AS_PUBLISHED)]
    cut, differ, cannot = (
        sum(status.startswith(word) for status in said) for word in (TRUNCATED, DIFFERS, IMPOSSIBLE)
    )
    return (
        f"Of {len(agreed) + cut + differ + cannot} published figures and statements {len(agreed)} "
        f"are as published ({len(agreed) - agreed.count(AS_PUBLISHED)} by another reading or in a "
        f"table that is assumed or fitted), {cut} truncated, {differ} differ and {cannot} cannot "
        "be."
    )


def _said(row: Row, name: str) -> str:
    text: str = getattr(row, name)
    return f"{text} {VARIES}" if row.varies and name == "computed" else text


def _points(row: Row, series: PlottedSeries) -> Table:
    step = -(-len(series) // POINTS)
    shown = sorted({*range(0, len(series), step), len(series) - 1})
    how_many = plural(len(series), "point")
    if step > 1:
        how_many = f"{len(shown)} of {how_many}, all by --json"
    title = "; ".join([": ".join(filter(None, [row.quantity, row.remark])), how_many])
    mark = f" {VARIES}" if series.varies else ""
    cells = [[_cell(column.values[n]) for column in series.columns] for n in shown]
    columns = [column.heading for column in series.columns]
    return Table(title, columns, [[first + mark, *others] for first, *others in cells])


def _cell(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.6f}"
