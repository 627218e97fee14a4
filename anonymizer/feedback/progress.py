"""A progress bar that shows itself where somebody watches, once something takes long.

Somebody watches an interactive session: Python's or IPython's prompt on a terminal, or a notebook.
Scripts, tests, pipes, worker processes and other threads show nothing. What is quick costs a look
at ``sys``: whatever draws a bar is imported when a second has passed.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from rich.console import Console

AFTER = 1.0
"""Seconds after which a bar is shown."""

OFTEN = 0.2
"""Seconds between two looks of a bar at what is done."""

PACED = 1.0
"""Seconds of a work after which its pace says how much time is left."""

FAST = 1000
"""Rate in a second from which on it is shown: that of records, not that of nodes."""

Watch = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it, and of how much in all where that is known."""

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class Silence:
    """A watch that ignores the progress; as a default it reads well in ``help()``."""

    def __call__(self, doing: str, done: int, of: int | None) -> None:
        """Ignore the progress."""

    def __repr__(self) -> str:
        return "<ignore>"


ignore = Silence()


class ProgressBar(Protocol):
    """What shows progress: called now and then with what is done, and once when all is."""

    def show(self, doing: str, done: int, of: int | None, left: float | None) -> None:
        """Show what is being done, how much of how much, and the seconds left."""

    def close(self) -> None:
        """Show nothing any more."""


class FollowingWatch:
    """A watch that takes note of what is being done, and a bar that is drawn of it late."""

    def __init__(self, bar: Callable[[], ProgressBar], after: float = AFTER) -> None:
        self._bar, self._ended = bar, threading.Event()
        self._now: tuple[str, int, int | None] = ("fitting", 0, None)
        self._since = monotonic()
        self._after = after
        self._thread = threading.Thread(target=self._draw, daemon=True)
        self._thread.start()

    def __call__(self, doing: str, done: int, of: int | None) -> None:
        """Take note of what is being done."""
        if doing != self._now[0]:
            self._since = monotonic()
        self._now = doing, done, of

    def end(self) -> None:
        """Take the bar away."""
        self._ended.set()
        self._thread.join()

    def _draw(self) -> None:
        if self._ended.wait(self._after):
            return
        with suppress(Exception):  # a bar that cannot be drawn is no reason to stop the work
            bar = self._bar()
            try:
                while True:
                    doing, done, of = self._now
                    bar.show(doing, done, of, time_left(monotonic() - self._since, done, of))
                    if self._ended.wait(OFTEN):
                        break
            finally:
                bar.close()


@contextmanager
def progress(console: "Console | None" = None, after: float = AFTER) -> Iterator[Watch]:
    """Show on standard error what is being done, once that takes longer than ``after`` seconds.

    Nothing at all is shown where standard error is no terminal.
    """
    if console is None and not (sys.stderr and sys.stderr.isatty()):
        yield ignore
        return
    from rich.console import Console  # 0.1 s, which a pipe does without

    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield ignore
        return
    watch = FollowingWatch(lambda: TerminalBar(console), after)
    try:
        yield watch
    finally:
        watch.end()


current: FollowingWatch | None = None
"""What is followed at present: one thing at a time."""


@contextmanager
def following(progress: object) -> Iterator[None]:
    """Follow what is done by a bar, where none was given and somebody watches."""
    global current
    bar = bar_here() if progress is None and current is None else None
    if bar is None:
        yield
        return
    current = FollowingWatch(bar)
    try:
        yield
    finally:
        current.end()
        current = None


def followed() -> FollowingWatch | None:
    """What takes note of progress for the bar of what is done at present; None without one."""
    return current


def watched(method: Method) -> Method:
    """Follow a method of an object whose ``progress`` is None, False for no bar, or a function."""

    @wraps(method)
    def follows(self: Any, *args: Any, **kwargs: Any) -> Any:
        with following(self.progress):
            return method(self, *args, **kwargs)

    return cast(Method, follows)


def bar_here() -> Callable[[], ProgressBar] | None:
    """What makes a bar for who watches this session; None where nobody does."""
    if threading.current_thread() is not threading.main_thread():
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return NotebookBar
    prompt = shell is not None or hasattr(sys, "ps1")
    return TerminalBar if prompt and sys.stderr is not None and sys.stderr.isatty() else None


def time_left(elapsed: float, done: int, of: int | None) -> float | None:
    """The seconds left at the pace so far; None where it is not known, as at the beginning.

    >>> time_left(10.0, 1, 5), time_left(10.0, 3, None), time_left(10.0, 0, 5)
    (40.0, None, None)
    >>> time_left(0.1, 1, 100) is None
    True
    """
    known = of and 0 < done <= of and elapsed >= PACED
    return elapsed * (of - done) / done if of and known else None


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds.

    >>> clock(3671.2)
    '61:11'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def sentence(doing: str, done: int, of: int | None, left: float | None) -> str:
    """What is being done, as a line; with its rate, where it goes by thousands.

    >>> sentence("searching the lattice", 30, 120, 9.5)
    'searching the lattice: 30 of 120, 0:09 left'
    >>> sentence("counting the table", 400_000, 1_000_000, 3.0)
    'counting the table: 400,000 of 1,000,000, 200,000 per second, 0:03 left'
    """
    counted = f": {done:,} of {of:,}" if of else f": {done:,}" if done else ""
    rate = (of - done) / left if of and left else 0
    paced = f", {rate:,.0f} per second" if rate >= FAST else ""
    return doing + counted + paced + ("" if left is None else f", {clock(left)} left")


class NotebookBar:
    """A bar in the output of a notebook's cell, which is empty again afterwards."""

    def __init__(self) -> None:
        self._display = sys.modules["IPython"].display
        self._handle = self._display.display(self._display.HTML(""), display_id=True)

    def show(self, doing: str, done: int, of: int | None, left: float | None) -> None:
        """Show what is being done."""
        value = f' value="{min(done / of, 1):.4f}"' if of else ""
        text = escape(sentence(doing, done, of, left))
        self._handle.update(self._display.HTML(f"<progress{value}></progress> {text}"))

    def close(self) -> None:
        """Leave nothing."""
        self._handle.update(self._display.HTML(""))


class TerminalBar:
    """A bar on a terminal, standard error when left out, which is taken away afterwards."""

    def __init__(self, console: "Console | None" = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
        )
        self._bar = Progress(*columns, console=console or Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=None)
        self._bar.start()

    def show(self, doing: str, done: int, of: int | None, left: float | None) -> None:
        """Show what is being done."""
        text = sentence(doing, done, of, left)
        self._bar.update(self._task, description=text, completed=done, total=of)

    def close(self) -> None:
        """Leave nothing."""
        self._bar.stop()
