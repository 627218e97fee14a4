"""Where reports go, and how their tables look."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["console", "table_of"]


class Pipe(Console):
    """A console that leaves it to the caller what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Let the error through instead of exiting."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output; a pipe gets lines as long as they are."""
    plain = Pipe(highlight=False, markup=False)
    return plain if plain.is_terminal else Pipe(highlight=False, markup=False, width=200)


def table_of(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of texts, taken as they are."""
    grid = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    return grid
