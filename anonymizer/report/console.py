"""Documents on a terminal or in a pipe."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.style import StyleType
from rich.table import Table as Grid
from rich.text import Text

from anonymizer.errors import printable
from anonymizer.feedback.document import Block, Heading, Note, Table

LONGEST_NAME = 20
"""Characters of a text that is not broken: a name or a role, say."""


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
        if isinstance(block, Table):
            _print_table(out, block)
        else:
            out.print(_shown(block))


def _print_table(out: Console, table: Table) -> None:
    """Print a table in the width there is, or in the one that breaks no number and no name."""
    grid, width = _grid(table), out.width
    if _least(grid) > width:
        grid = _grid(table, narrow=True)
        out.width = max(width, _least(grid))
    out.print(grid)
    out.width = width


def _least(grid: Grid) -> int:
    """The least width of a table, by those of its columns and the lines between them."""
    return 1 + sum(3 + (each.min_width or 0) for each in grid.columns)


def _shown(block: Block) -> RenderableType:
    """A block as a terminal shows it."""
    if isinstance(block, str):
        return block
    if isinstance(block, Heading):
        return Text(block.text, style="bold underline")
    if isinstance(block, Note):
        return Padding(Text(block.text, style="dim"), (0, 1))
    raise TypeError(f"a terminal shows no {type(block).__name__}")


def _grid(table: Table, narrow: bool = False) -> Grid:
    """A table whose texts are taken as they are.

    Columns have the width of their longest text. ``narrow``: these do not fit, so that columns of
    numbers and names keep it, and texts get the rest.
    """
    grid = Grid(title=table.title, title_justify="left", title_style="bold")
    rows = [[*map(printable, row)] for row in texts_in(table)]
    titles = map(printable, table.columns)
    for place, (column, form) in enumerate(zip(titles, forms_in(table), strict=True)):
        shown = [row[place] for row in rows]
        least, fixed = _longest([column, *shown]), True
        if narrow:
            least, fixed = _widths(shown, column, form)
        grid.add_column(
            column, overflow="fold", min_width=least or None, width=least if fixed else None
        )
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


def _widths(cells: Sequence[str], title: str, form: str) -> tuple[int, bool]:
    """The least width of a column, and whether it has no other one."""
    longest, words = _longest(cells), _longest(title.split())
    fixed = form != "s" or longest <= LONGEST_NAME
    return max(words, longest if fixed else LONGEST_NAME), fixed


def _longest(texts: Sequence[str]) -> int:
    return max(map(cell_len, texts), default=0)


def texts_in(table: Table) -> list[list[str]]:
    """The cells of a table as its forms write them; None is ``-``, several names are a list.

    >>> texts_in(Table("", ["name", "part", "of"], [("a", 0.25, None)], "s .1% ,"))
    [['a', '25.0%', '-']]
    """
    forms = forms_in(table)
    return [[_written(*pair) for pair in zip(row, forms, strict=True)] for row in table.rows]


def forms_in(table: Table) -> list[str]:
    """The form of each column of a table."""
    forms = table.forms.split()
    return forms + forms[-1:] * (len(table.columns) - len(forms))


def _written(value: object, form: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(value)
    return "-" if value is None else format(value, form.removesuffix("s"))
