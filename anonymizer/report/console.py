"""Where reports go, and how their lines and tables look."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.style import StyleType
from rich.table import Table
from rich.text import Text

from anonymizer.errors import printable


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


def table_of(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], forms: str = "s"
) -> Table:
    """A table of texts and numbers.

    ``forms``: how numbers are written, column by column, the last for all that are left: "s , .2%".
    Texts are taken as they are, None is ``-``, and several names are a list of them.
    """
    grid = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        grid.add_column(column, overflow="fold")
    given = forms.split()
    given += given[-1:] * (len(columns) - len(given))
    for row in rows:
        grid.add_row(*(spelled_out(_cell(*pair)) for pair in zip(row, given, strict=True)))
    return grid


def share_of(share: float | None, form: str = ".2%") -> str:
    """A share, or that it is not determined: its denominator is within noise."""
    return "not determined" if share is None else format(share, form)


def _cell(value: object, form: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(value)
    return "-" if value is None else format(value, form.removesuffix("s"))
