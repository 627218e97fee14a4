"""The one model of a document, whatever shows it: lines, tables and drawings, texts in plain words.

A subject says its figures once, as blocks. A renderer shows them: ``display`` in a notebook,
``report.console`` on a terminal, ``report.page.rendering`` as HTML, Markdown and PDF.
"""

from collections.abc import Sequence
from dataclasses import dataclass


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
