"""Documents in a notebook, and results in one line.

In: a :class:`~anonymizer.feedback.document.Display`, what a class says of itself. Out: HTML without
scripts and without colours of its own, so that light and dark notebooks both suit it.
"""

from collections.abc import Iterable, Sequence
from html import escape

from anonymizer.feedback.document import Block, Display, Points, Table

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
    """Escaped, nothing unprintable."""
    return escape("".join(each if each.isprintable() else " " for each in text))


def listing(labels: Iterable[object], number: int, most: int = 6) -> str:
    """Some labels in a line, and how many there are where these are not all."""
    some = [str(label) for label, _ in zip(labels, range(most), strict=False)]
    return ", ".join(some) + (f", … ({number:,} in all)" if number > most else "")


def in_a_line(kind: object, *parts: str) -> str:
    """A representation in one line: the name of the class, and facts about it."""
    text = f"<{type(kind).__name__}: {', '.join(part for part in parts if part)}>"
    text = "".join(each if each.isprintable() else " " for each in text)
    return text if len(text) <= LINE else text[: LINE - 2] + "…>"
