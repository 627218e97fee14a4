"""A reproduction for people at a terminal, and for programs."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.padding import Padding
from rich.text import Text

from anonymizer.feedback.display import Table
from anonymizer.papers.contents import points_of, rows_of, summary
from anonymizer.papers.row import PublishedSection
from anonymizer.report.console import console, table_of

SAID = ("place", "quantity", "computed", "published", "status", "remark")


def flattened(sections: Iterable[PublishedSection]) -> list[dict[str, object]]:
    """The rows of all sections, one after the other, as JSON has them."""
    return [
        {"section": section.title, **vars(row), "series": row.series and row.series.to_dict()}
        for section in sections
        for row in section.rows
    ]


def print_reproduction(
    title: str, sections: Sequence[PublishedSection], picture: Path | None = None
) -> None:
    """Print a paper's sections one by one, and how many of its figures agree.

    ``picture``: where its figures were drawn.
    """
    out = console()
    out.print(Text(title, style="bold underline"))
    for section in sections:
        out.print()
        out.print(_table(rows_of(section, SAID)))
        if section.note:
            out.print(Padding(Text(section.note, style="dim"), (0, 1)))
        for table in points_of(section):
            out.print(_table(table))
    out.print()
    out.print(summary(sections))
    if picture:
        out.print(f"The picture is in {picture}.")


def _table(table: Table) -> object:
    return table_of(table.title, table.columns, table.rows)
