"""Tables of what a paper published and what is computed here."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.padding import Padding
from rich.text import Text

from anonymizer.papers.row import AS_PUBLISHED, NOT_REPRODUCED, TRUNCATED, Row, Section, Series
from anonymizer.report.console import console, table_of

POINTS = 14
"""So many points of a figure are printed at the most, and its last."""


def flattened(sections: Iterable[Section]) -> list[dict[str, object]]:
    """The rows of all sections, one after the other, as JSON has them."""
    return [
        {"section": section.title, **vars(row), "series": row.series and row.series.to_dict()}
        for section in sections
        for row in section.rows
    ]


def print_reproduction(
    title: str, sections: Sequence[Section], picture: Path | None = None
) -> None:
    """Print a paper's sections one by one, and how many of its figures agree.

    ``picture``: where its figures were drawn.
    """
    out = console()
    out.print(Text(title, style="bold underline"))
    for section in sections:
        out.print()
        out.print(_rows(section))
        if section.note:
            out.print(Padding(Text(section.note, style="dim"), (0, 1)))
        for row in section.rows:
            if row.series:
                out.print(_points(row, row.series))
    out.print()
    out.print(_summary([row.status for section in sections for row in section.rows]))
    if picture:
        out.print(f"The picture is in {picture}.")


def _rows(section: Section) -> object:
    """The columns that say anything."""
    names = ("quantity", "computed", "published", "status", "remark")
    said = [name for name in names if any(getattr(row, name) for row in section.rows)]
    rows = ([getattr(row, name) for name in said] for row in section.rows)
    return table_of(section.title, said, rows)


def _points(row: Row, series: Series) -> object:
    """Some points of a panel."""
    step = -(-len(series) // POINTS)
    shown = sorted({*range(0, len(series), step), len(series) - 1})
    how_many = f"{len(series)} points"
    if step > 1:
        how_many = f"{len(shown)} of {how_many}, all by --json"
    cells = ([_cell(column.values[n]) for column in series.columns] for n in shown)
    headings = [column.heading for column in series.columns]
    return table_of(f"{row.quantity}: {row.remark}; {how_many}", headings, cells)


def _cell(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6f}"


def _summary(said: Sequence[str]) -> str:
    """How many published figures agree."""
    agreed = [status for status in said if status.startswith(AS_PUBLISHED)]
    cut = sum(status.startswith(TRUNCATED) for status in said)
    not_reproduced = sum(status.startswith(NOT_REPRODUCED) for status in said)
    return (
        f"Of {len(agreed) + cut + not_reproduced} published figures and statements {len(agreed)} "
        f"are as published ({len(agreed) - agreed.count(AS_PUBLISHED)} of them by another reading, "
        f"or in a table that is assumed or fitted), {cut} as published but truncated, and "
        f"{not_reproduced} cannot be reproduced."
    )
