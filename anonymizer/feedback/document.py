"""The one model of a document, whatever shows it: lines, tables and drawings.

A subject says its figures once, as blocks. A renderer shows them: ``html_of`` in a notebook,
``report.console`` on a terminal, ``report.page.page`` as HTML, Markdown, PDF and DOCX. HTML for
notebooks has no scripts and no colours of its own, so that light and dark ones both suit it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Note:
    """Some sentences that stand apart from the text."""

    text: str
    kind = "note"


@dataclass(frozen=True)
class Points:
    """A list of sentences; ``tone`` is ``""`` or ``"warning"``."""

    items: Sequence[str]
    tone: str = ""
    kind = "points"


@dataclass(frozen=True)
class TermList:
    """Words and what they mean, or names and values."""

    items: Sequence[tuple[str, str]]
    kind = "terms"


@dataclass(frozen=True)
class TypedCommands:
    """Lines to be typed."""

    lines: Sequence[str]
    kind = "commands"


@dataclass(frozen=True)
class Table:
    """Texts and numbers in rows, of which the first column names each.

    ``forms``: how numbers are written, column by column, the last for all that are left:
    "s , .2%". ``numeric``: places of the columns that are set as numbers are.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    forms: str = "s"
    numeric: Sequence[int] = ()
    kind = "table"


@dataclass(frozen=True)
class Drawing:
    """A picture as SVG, with what it shows in words for those who cannot see it."""

    svg: str
    caption: str
    kind = "drawing"


@dataclass(frozen=True)
class Heading:
    """The title of a part."""

    text: str
    kind = "heading"


Block = str | Note | Points | TermList | TypedCommands | Table | Drawing | Heading
"""A part of a document; a text is a paragraph, or a line on a terminal."""


@dataclass(frozen=True)
class Display:
    """A document in short: a title and blocks."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class ReportSection:
    """A section with the name that links go to."""

    anchor: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class ReportPage:
    """A report: its title, what it is about in a line, whether it holds, and the rest."""

    title: str
    subtitle: str
    verdict: str
    lead: Sequence[Block]
    sections: Sequence[ReportSection]
    footer: str


MOST_ROWS = 12
"""Rows of a table that are shown; a last one says how many more there are."""

MOST_COLUMNS = 8
"""Columns of a table that are shown; the rest is left out under an ellipsis."""

LONGEST = 80
"""Characters of a cell; what is longer is cut."""

LINE = 160
"""Characters of a representation in one line."""

CELL = "padding:.15em .7em .15em 0;text-align:left;vertical-align:top;overflow-wrap:break-word"
RULE = "border-bottom:1px solid rgba(128,128,128,.45)"


class Displayed:
    """What a notebook shows as HTML: ``display`` says what."""

    def display(self) -> Display:
        """What is shown of it."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_of(self.display())


def html_of(display: Display) -> str:
    """Return a document as HTML, every text of it escaped; warnings come first."""
    blocks = sorted(display.blocks, key=lambda block: not isinstance(block, Points))
    parts = [f"<strong>{cell_of(display.title)}</strong>", *map(_block, blocks)]
    style = "max-width:60em;overflow-x:auto;font-size:.95em;line-height:1.45"
    return f'<div style="{style}">{"".join(parts)}</div>'


def _block(block: Block) -> str:
    """A line, a table that has rows, or warnings: what a notebook shows."""
    if isinstance(block, str):
        return f"<div>{_text(block)}</div>"
    if isinstance(block, Points):
        return "".join(f"<div>⚠ {_text(item)}</div>" for item in block.items)
    if isinstance(block, Table):
        return _table(block) if block.rows else ""
    raise TypeError(f"a notebook shows no {type(block).__name__}")


def _table(table: Table) -> str:
    """A table with a caption; what is too much of it is counted."""
    width = len(table.columns)
    shown = [*table.columns[:MOST_COLUMNS], *(["…"] if width > MOST_COLUMNS else [])]
    heads = "".join(f'<th scope="col" style="{CELL};{RULE}">{cell_of(each)}</th>' for each in shown)
    rows = "".join(_row(row) for row in table.rows[:MOST_ROWS])
    more = len(table.rows) - MOST_ROWS
    if more > 0:
        rows += f'<tr><td colspan="{len(shown)}" style="{CELL}">… and {more:,} more</td></tr>'
    caption = f'<caption style="text-align:left;caption-side:top">{cell_of(table.title)}</caption>'
    style = "border-collapse:collapse;margin:.6em 0"
    return (
        f'<table style="{style}">{caption}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _row(row: Sequence[object]) -> str:
    cells = [*row[:MOST_COLUMNS], *(["…"] if len(row) > MOST_COLUMNS else [])]
    return "<tr>" + "".join(f'<td style="{CELL}">{cell_of(each)}</td>' for each in cells) + "</tr>"


def cell_of(value: object) -> str:
    """A value as a cell shows it: escaped, not too long; nothing of None."""
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else text
    return _text(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")


def _text(text: str) -> str:
    return escape(plain_text(text))


def plain_text(text: str) -> str:
    r"""A text in one line, without characters that XML cannot hold.

    >>> plain_text("a\x00b")
    'a b'
    """
    return "".join(each if each.isprintable() else " " for each in text)


def listing(labels: Iterable[object], number: int, most: int = 6) -> str:
    """Some labels in a line, and how many there are where these are not all."""
    some = [str(label) for label, _ in zip(labels, range(most), strict=False)]
    return ", ".join(some) + (f", … ({number:,} in all)" if number > most else "")


def in_a_line(kind: object, *parts: str) -> str:
    """A representation in one line: the name of the class, and facts about it."""
    text = plain_text(f"<{type(kind).__name__}: {', '.join(part for part in parts if part)}>")
    return text if len(text) <= LINE else text[: LINE - 2] + "…>"
