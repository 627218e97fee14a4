"""What is being done, shown on a terminal once that takes long."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from anonymizer.feedback.progress import AFTER, FollowingWatch, TerminalBar
from anonymizer.recoding import Watch, ignore


@contextmanager
def progress(console: Console | None = None, after: float = AFTER) -> Iterator[Watch]:
    """Show on standard error what is being done, once that takes longer than ``after`` seconds.

    Nothing at all is shown where standard error is no terminal.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield ignore
        return
    following = FollowingWatch(lambda: TerminalBar(console), after)
    try:
        yield following
    finally:
        following.end()
