"""Signals that ask a process to end: acted on as interrupts are, and never lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anonymizer.errors import Ended

if TYPE_CHECKING:
    from anonymizer.search import Watch

__all__ = ["ends_as_interrupts", "never_lost"]


@contextmanager
def ends_as_interrupts() -> Iterator[None]:
    """Let a request to end clean up as an interrupt does, so that nothing half-written stays."""

    def interrupt(*_: object) -> None:
        raise Ended

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, interrupt) for number in _asking_to_end()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def never_lost(watch: "Watch") -> Iterator["Watch"]:
    """Raise an interrupt again that was swallowed, as those are that hit a compiler at work.

    It was when what was being done then goes on: whoever caught it would have ended that.
    """
    if threading.current_thread() is not threading.main_thread():
        yield watch
        return
    now = ""
    struck: tuple[str, int] | None = None
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *_asking_to_end())}

    def interrupt(number: int, frame: object) -> None:
        nonlocal struck
        struck = now, number
        raise KeyboardInterrupt if number == signal.SIGINT else Ended

    def watching(doing: str, done: int, of: int | None) -> None:
        nonlocal now, struck
        last, now, struck = struck, doing, None
        if last and last[0] == doing:
            raise KeyboardInterrupt if last[1] == signal.SIGINT else Ended
        watch(doing, done, of)

    for number in before:
        signal.signal(number, interrupt)
    try:
        yield watching
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _asking_to_end() -> list[int]:
    """The signals that ask a process to end, where the system has them."""
    return [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
