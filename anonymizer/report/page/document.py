"""The parts of a page, in plain words: what HTML, Markdown and PDF have alike."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Paragraph:
    """Some sentences; ``tone`` is ``""`` or ``"note"``."""

    text: str
    tone: str = ""
    kind = "paragraph"


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
class ReportTable:
    """A table whose first column names its rows.

    ``numeric`` are the places of the columns that hold numbers.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[int] = ()
    kind = "table"


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG, with what it shows in words for those who cannot see it."""

    svg: str
    caption: str
    kind = "picture"


@dataclass(frozen=True)
class Heading:
    """The title of a part of a section."""

    text: str
    kind = "heading"


Block = Paragraph | Points | TermList | TypedCommands | ReportTable | Picture | Heading


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
