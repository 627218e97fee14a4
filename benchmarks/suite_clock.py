"""A plugin of pytest that keeps where the time of a run goes; used by ``bench_suite.py``.

Each process of the run writes one file of lines into the directory that SUITE_CLOCK names: of each
part of each test, how long it took, and how much of that was spent waiting for other
processes.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Generator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

DIRECTORY = Path(os.environ["SUITE_CLOCK"])
STARTED = time.perf_counter()


class Stopwatch:
    """Seconds within something, however often it is within itself."""

    def __init__(self) -> None:
        self.spent, self._depth, self._since = 0.0, 0, 0.0

    def start(self) -> None:
        """Enter what is timed."""
        if self._depth == 0:
            self._since = time.perf_counter()
        self._depth += 1

    def stop(self) -> None:
        """Leave it."""
        self._depth -= 1
        if self._depth == 0:
            self.spent += time.perf_counter() - self._since

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Time the calls of a function."""

        @wraps(function)
        def within(*arguments: Any, **options: Any) -> Any:
            self.start()
            try:
                return function(*arguments, **options)
            finally:
                self.stop()

        return within


WAITING = Stopwatch()


for _name in ("wait", "communicate"):
    setattr(subprocess.Popen, _name, WAITING.timed(getattr(subprocess.Popen, _name)))
os.waitpid = WAITING.timed(os.waitpid)


def write(**line: object) -> None:
    """Add a line to the file of this process."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "controller")
    with (DIRECTORY / f"{worker}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"worker": worker, **line}) + "\n")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write how long it took to collect the tests, imports included."""
    seconds = time.perf_counter() - STARTED
    write(part="collection", test="", seconds=seconds, tests=len(session.items))


def _clocked(part: str, item: pytest.Item) -> Generator[None, object, object]:
    start, before = time.perf_counter(), WAITING.spent
    cpu = time.process_time()
    try:
        return (yield)
    finally:
        write(
            part=part,
            test=item.nodeid,
            seconds=time.perf_counter() - start,
            cpu=time.process_time() - cpu,
            waiting=WAITING.spent - before,
            fixtures=[*getattr(item, "fixturenames", ())],
        )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Time the setup of a test."""
    return (yield from _clocked("setup", item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Time the call of a test."""
    return (yield from _clocked("call", item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Time the teardown of a test."""
    return (yield from _clocked("teardown", item))
