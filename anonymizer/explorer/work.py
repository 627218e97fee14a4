"""Computations for a page, in threads: a newer one ends an older one of its kind."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import TypeVar

T = TypeVar("T")

BRIEF = 0.01
"""Seconds between two looks whether a thread has ended."""

THREADS = 8
"""Computations at a time: some of them are old ones that have not noticed yet that they ended."""


class SupersededError(BaseException):
    """Nobody waits for a computation any more.

    No ``Exception``: whatever reads a file takes those for mistakes in it.
    """


class StoppedError(Exception):
    """A computation was stopped before there was anything to show."""


@dataclass(eq=False)
class Work:
    """One computation, which looks here now and then whether it should go on.

    ``doing``, ``done`` and ``of`` are what it said last.
    """

    doing: str = ""
    done: int = 0
    of: int | None = None
    since: float = field(default_factory=monotonic)
    ended: bool = False
    settles: bool = False

    def __call__(self, doing: str, done: int, of: int | None) -> None:
        """Take note of the progress, and end where that is wished.

        SupersededError when nobody waits any more; KeyboardInterrupt, once, when the best that was
        found so far shall do: searches take it for that.
        """
        if self.ended:
            raise SupersededError
        self.doing, self.done, self.of = doing, done, of
        if self.settles:
            self.settles = False
            raise KeyboardInterrupt

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return monotonic() - self.since


class Works:
    """The computations of one page, at most one of each kind that anybody waits for.

    ``on_change`` is called whenever one has begun or ended, with how many there are.
    """

    def __init__(self, on_change: Callable[[int], None] = lambda _: None) -> None:
        self._on_change = on_change
        self._pool = ThreadPoolExecutor(THREADS, "anonymizer")
        self._running: dict[str, Work] = {}
        self._at_work: set[Work] = set()
        self._closed = False

    @property
    def running(self) -> list[Work]:
        """What is being computed, the longest first."""
        return sorted(self._running.values(), key=lambda work: work.since)

    async def ask(self, kind: str, function: Callable[[Work], T]) -> T:
        """What a function computes, which is given its ``Work`` to report to.

        SupersededError when another one of the kind was requested meanwhile, StoppedError when it
        was stopped too early; else whatever the function raises.
        """
        if self._closed:
            raise SupersededError
        self.end(kind)
        work = self._running[kind] = Work()
        self._on_change(len(self._running))
        try:
            found = await asyncio.get_running_loop().run_in_executor(
                self._pool, self._carried_out, function, work
            )
        finally:
            if self._running.get(kind) is work:
                del self._running[kind]
                self._on_change(len(self._running))
        if work.ended:
            raise SupersededError
        return found

    def busy(self, kind: str) -> bool:
        """Whether a computation of a kind goes on."""
        return kind in self._running

    def end(self, kind: str) -> None:
        """End the computation of a kind, if there is one."""
        if kind in self._running:
            self._running[kind].ended = True

    def settle(self) -> None:
        """Let all computations take the best that they have found so far."""
        for work in self._running.values():
            work.settles = True

    def close(self) -> None:
        """End all computations, and begin no other one."""
        self._closed = True
        for kind in [*self._running]:
            self.end(kind)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def ended(self, seconds: float) -> bool:
        """Whether no thread is at work any more after so many seconds, once all was closed."""
        until = monotonic() + seconds
        while self._at_work and monotonic() < until:
            sleep(BRIEF)
        return not self._at_work

    def _carried_out(self, function: Callable[[Work], T], work: Work) -> T:
        self._at_work.add(work)
        try:
            return function(work)
        except KeyboardInterrupt:  # it would end the whole server
            raise StoppedError from None
        finally:
            self._at_work.discard(work)
