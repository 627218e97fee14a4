"""Documents on a terminal or in a pipe."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.style import StyleType
from rich.table import Table as Grid
from rich.text import Text

from anonymizer.errors import printable
from anonymizer.feedback.document import Block, Heading, Note, Table


class Pipe(Console):
    """A console that leaves it to the caller what a closed pipe means, and takes texts as they are.

    What cannot be printed is spelled out: a column's name must not steer a terminal.
    """

    def print(self, *objects: Any, **how: Any) -> None:
        """Print lines of text as long as they are; only tables fit themselves to the width."""
        how.setdefault("soft_wrap", all(isinstance(each, str) for each in objects))
        super().print(*objects, **how)

    def render_str(self, text: str, **how: Any) -> Text:
        """The text of a line, a title or a heading: neither marked up nor with pictures."""
        return spelled_out(text, how.get("style") or "")

    def on_broken_pipe(self) -> None:
        """Let the error through instead of exiting."""
        raise BrokenPipeError


def spelled_out(text: str, style: StyleType = "") -> Text:
    """The text with its control characters spelled out, line breaks too."""
    return Text(printable(text), style)


def console() -> Console:
    """Standard output; a pipe gets lines as long as they are."""
    plain = Pipe(highlight=False, markup=False)
    return plain if plain.is_terminal else Pipe(highlight=False, markup=False, width=200)


def show(blocks: Iterable[Block]) -> None:
    """Print a document on standard output, block by block."""
    out = console()
    for block in blocks:
        out.print(_shown(block))


def _shown(block: Block) -> RenderableType:
    """A block as a terminal shows it."""
    if isinstance(block, str):
        return block
    if isinstance(block, Table):
        return _grid(block)
    if isinstance(block, Heading):
        return Text(block.text, style="bold underline")
    if isinstance(block, Note):
        return Padding(Text(block.text, style="dim"), (0, 1))
    raise TypeError(f"a terminal shows no {type(block).__name__}")


def _grid(table: Table) -> Grid:
    """A table whose texts are taken as they are; None is ``-``, several names are a list."""
    grid = Grid(title=table.title, title_justify="left", title_style="bold")
    for column in table.columns:
        grid.add_column(column, overflow="fold")
    forms = table.forms.split()
    forms += forms[-1:] * (len(table.columns) - len(forms))
    for row in table.rows:
        grid.add_row(*(spelled_out(_cell(*pair)) for pair in zip(row, forms, strict=True)))
    return grid


def _cell(value: object, form: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(value)
    return "-" if value is None else format(value, form.removesuffix("s"))
