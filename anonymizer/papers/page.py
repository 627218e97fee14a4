"""A reproduction as a page of the documentation."""

import re
from collections.abc import Iterator, Sequence

from anonymizer.feedback.display import Table
from anonymizer.papers.contents import VARIES, points_of, rows_of, summary
from anonymizer.papers.row import PublishedSection

SAID = {
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
        yield from _table(rows_of(section, [*SAID]))
        if section.note:
            yield f"{_escaped(section.note)}\n"
        for table in points_of(section):
            yield f"### {_escaped(table.title)}\n"
            yield from _table(table)
    if picture:
        yield f"## Pictures\n\n![The figures, drawn from the numbers above]({picture})\n"


def _texts(section: PublishedSection) -> Iterator[str]:
    for table in (rows_of(section, ["computed"]), *points_of(section)):
        yield from (str(cell) for row in table.rows for cell in row)


def _table(table: Table) -> Iterator[str]:
    yield _line(_escaped(SAID.get(name, name)) for name in table.columns)
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
