"""Signals that request a process to end: acted on as interrupts are, never lost, and held back."""

import atexit
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from anonymizer.errors import Ended

if TYPE_CHECKING:
    from anonymizer.recoding import Watch

Handler = Callable[[int, FrameType | None], object] | int | None


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt if number == signal.SIGINT else Ended


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let a handler act on signals that request to end, until the block is over."""
    before = {number: signal.signal(number, handler) for number in _heard()}
    try:
        yield
    finally:
        for number, own in before.items():
            signal.signal(number, own)


@contextmanager
def ends_as_interrupts() -> Iterator[None]:
    """Let a request to end clean up as an interrupt does, so that nothing half-written stays."""
    with _handled_by(_interrupt):
        yield


@contextmanager
def never_lost(watch: "Watch") -> Iterator["Watch"]:
    """Raise an interrupt again that was swallowed, as those are that hit a compiler at work.

    It was when what was being done then goes on: whoever caught it would have ended that.
    """
    now = ""
    struck: tuple[str, int] | None = None

    def interrupt(number: int, frame: object) -> None:
        nonlocal struck
        struck = now, number
        _interrupt(number, frame)

    def watching(doing: str, done: int, of: int | None) -> None:
        nonlocal now, struck
        last, now, struck = struck, doing, None
        if last and last[0] == doing:
            _interrupt(last[1], None)
        watch(doing, done, of)

    with _handled_by(interrupt):
        yield watching


@contextmanager
def held() -> Iterator["Held"]:
    """Hold signals back while what must not be left halfway is done; then let them act.

    A mask of the thread would not do: the system hands a signal to any other thread, and Python
    acts on it in this one. Outside the main thread, where no signal acts, nothing is held.
    """
    holding = Held()
    try:
        for number in _heard():
            holding.take(number)
        yield holding
    finally:
        holding.let_go()


class Held:
    """Signals that wait, and what each of them did before it was held.

    A handler that stays behind, since a signal came while they were put back, does what the one
    before it did.
    """

    def __init__(self) -> None:
        self.before: dict[int, Handler] = {}
        self.waiting: list[int] = []
        self.holding = True

    def take(self, number: int) -> None:
        """Hold a signal from now on."""
        self.before[number] = signal.getsignal(number)
        signal.signal(number, self._came)

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Let signals act for a while: what takes long can be interrupted."""
        self.holding = False
        try:
            self._deliver()
            yield
        finally:
            self.holding = True

    def let_go(self) -> None:
        """Put every handler back, then let act what came meanwhile."""
        self.holding = False
        for number, handler in self.before.items():
            signal.signal(number, handler)
        self._deliver()

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self.holding:
            self.waiting.append(number)
        else:
            self._act(number, frame)

    def _deliver(self) -> None:
        # What ends the process for good goes first: an interrupt by hand may only end a search.
        waiting, self.waiting = sorted(self.waiting, key=lambda n: n == signal.SIGINT), []
        for number in waiting:
            self._act(number, None)

    def _act(self, number: int, frame: FrameType | None) -> None:
        handler = self.before[number]
        if callable(handler):
            handler(number, frame)
        else:
            signal.signal(number, handler)
            signal.raise_signal(number)


def settled() -> None:
    """Let requests to end change nothing unless somebody handles them: a process ends by itself.

    As Python ends it gives signals that it handled back to the system, which would kill it.
    """
    for number in _heard():
        signal.signal(number, lambda *_: None)
    atexit.register(lambda: [signal.signal(number, signal.SIG_IGN) for number in _heard()])


def _heard() -> list[int]:
    """The signals that request to end, if the system has them and Python acts on them here.

    It does in the main thread alone. One that is ignored stays so, as ``nohup`` expects.
    """
    if threading.current_thread() is not threading.main_thread():
        return []
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [int(getattr(signal, name)) for name in names]
    return [n for n in numbers if signal.getsignal(n) not in (None, signal.SIG_IGN)]
