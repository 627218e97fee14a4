"""What is being done, shown on a terminal once that takes long."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console

from anonymizer.recoding import Watch, ignore

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

AFTER = 1.0
"""Seconds after which progress is shown."""

OFTEN = 0.1
"""Seconds between two looks at it."""


@contextmanager
def progress(console: Console | None = None, after: float = AFTER) -> Iterator[Watch]:
    """Show on standard error what is being done, once that takes longer than a second.

    Nothing at all is shown where standard error is no terminal.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield ignore
        return
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    start = Timer(after, bar.start)
    start.daemon = True
    start.start()
    try:
        yield Shown(bar)
    finally:
        start.cancel()
        start.join()
        bar.stop()


class Shown:
    """Tells a progress bar what is being done, not more often than eyes can follow."""

    def __init__(self, bar: "Progress") -> None:
        self.bar = bar
        self.task: TaskID | None = None
        self.doing, self.due = "", 0.0

    def __call__(self, doing: str, done: int, of: int | None) -> None:
        """Show what is being done, how much of it, and of how much in all."""
        if doing == self.doing and monotonic() < self.due:
            return
        if doing != self.doing:
            if self.task is not None:
                self.bar.remove_task(self.task)
            self.task, self.doing = self.bar.add_task(doing, total=of), doing
        if self.task is not None:
            counted = f" ({done:,})" if of is None and done else ""
            self.bar.update(self.task, description=doing + counted, completed=done)
        self.due = monotonic() + OFTEN
