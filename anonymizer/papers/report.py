"""Reports of a paper: a page of the documentation, lines at a terminal, rows for programs.

All have the same tables of texts, and the same count of the rows that agree.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from anonymizer.feedback.document import Block, Heading, Note, Table
from anonymizer.feedback.words import plural
from anonymizer.papers.row import (
    AS_PUBLISHED,
    DIFFERS,
    IMPOSSIBLE,
    TRUNCATED,
    PlottedSeries,
    PublishedSection,
    Row,
)

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
    """Count the published figures that agree."""
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


HEADINGS = {
    "place": "in the paper",
    "quantity": "what",
    "published": "published",
    "computed": "computed",
    "status": "verdict",
    "remark": "remark",
    "where": "in the library",
}
"""Columns of a page, and what they are called there."""
MACHINE = (
    f"{VARIES} of the machine that made this page: by its clock, or by rounding that many steps "
    "enlarge."
)
MARKUP = re.compile(r"([\\`*|$<\[\]~])")


def page(paper: str, title: str, sections: Sequence[PublishedSection], picture: str = "") -> str:
    """The page of a paper, in Markdown.

    ``paper``: its name at the command line. ``title``: its heading. ``picture``: the file name of
    its figures, next to the page; empty where there is none.
    """
    return "\n".join(_lines(paper, title, sections, picture))


def _lines(
    paper: str, title: str, sections: Sequence[PublishedSection], picture: str
) -> Iterator[str]:
    yield f"# {_escaped(title)}\n"
    varies = any(VARIES in text for section in sections for text in _texts(section))
    mark = f" {VARIES}" if varies else ""
    yield f"Computed by `anonymizer reproduce {paper}`. {summary(sections)}{mark}\n"
    if varies:
        yield f"{MACHINE}\n"
    for section in sections:
        yield f"## {_escaped(section.title)}\n"
        yield from _markdown(rows_of(section, [*HEADINGS]))
        if section.note:
            yield f"{_escaped(section.note)}\n"
        for table in points_of(section):
            yield f"### {_escaped(table.title)}\n"
            yield from _markdown(table)
    if picture:
        yield f"## Pictures\n\n![The figures, drawn from the numbers above]({picture})\n"


def _texts(section: PublishedSection) -> Iterator[str]:
    for table in (rows_of(section, ["computed"]), *points_of(section)):
        yield from (str(cell) for row in table.rows for cell in row)


def _markdown(table: Table) -> Iterator[str]:
    yield _line(_escaped(HEADINGS.get(name, name)) for name in table.columns)
    yield _line("---" for _ in table.columns)
    coded = [name == "where" for name in table.columns]
    for row in table.rows:
        pairs = zip(map(str, row), coded, strict=True)
        yield _line(f"`{cell}`" if cell and code else _escaped(cell) for cell, code in pairs)
    yield ""


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return MARKUP.sub(r"\\\1", text)


PRINTED = ("place", "quantity", "computed", "published", "status", "remark")


def flattened(sections: Iterable[PublishedSection]) -> list[dict[str, object]]:
    """The rows of all sections, one after the other, as JSON has them."""
    return [
        {"section": section.title, **vars(row), "series": row.series and row.series.to_dict()}
        for section in sections
        for row in section.rows
    ]


def reproduction_report(
    title: str, sections: Sequence[PublishedSection], picture: Path | None = None
) -> Iterator[Block]:
    """Yield a paper's sections one by one, and how many of its figures agree.

    ``picture``: where its figures were drawn.
    """
    yield Heading(title)
    for section in sections:
        yield ""
        yield rows_of(section, PRINTED)
        if section.note:
            yield Note(section.note)
        yield from points_of(section)
    yield ""
    yield summary(sections)
    if picture:
        yield f"The picture is in {picture}."
