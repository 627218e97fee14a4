"""Cases on several processes, each of which may hang or die without taking the others along."""

import multiprocessing
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

from .exercise import SECONDS, Outcome, exercise, keep
from .mutations import exercise_parser
from .studies import case_of

__all__ = ["outcomes", "tried"]

ADDRESSES = 6 * 2**30
"""Bytes of address space that a worker may use beyond what it starts with."""

CASES = 2500
"""Cases after which a worker is replaced, so that what the readers keep does not add up."""

SCRATCH = Path("/dev/shm")
"""In memory, where there is such a place: much faster."""


def tried(
    name: str,
    kept: Path | None = None,
    within: Path | None = None,
    seconds: float = SECONDS,
) -> Outcome:
    """Carry out one case in a directory of its own; keep its files where it fails."""
    place = within or (SCRATCH if SCRATCH.is_dir() else None)
    directory = Path(tempfile.mkdtemp(prefix="fuzz-", dir=place))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name.startswith("study:"):
                outcome = exercise(case_of(name), directory, seconds)
            else:
                outcome = exercise_parser(name, directory, seconds)
        if outcome.failures and kept is not None:
            keep(outcome, directory, kept)
        return outcome
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def survived(name: str, kept: Path | None, within: Path) -> Outcome:
    """The same, where an error of the fuzzer itself is a failure, too."""
    try:
        return tried(name, kept, within)
    except Exception:
        detail = " ".join(traceback.format_exc().split())[-400:]
        return Outcome(name, "fuzzer", failures=[("error of the fuzzer", detail)])


WARM = ("boxes", "merged-cells", "random", "cut")
"""Recodings that compile or load something when they first run."""


def warm_up(within: Path) -> None:
    """Let that happen now, so that the first case of each does not seem to hang."""
    left = set(WARM)
    for name in (f"study:{number}" for number in range(500)):
        recoding = case_of(name).recoding
        if recoding in left and tried(name, None, within, seconds=0).ended == "released":
            left.remove(recoding)


def outcomes(names: Iterator[str], jobs: int, kept: Path | None) -> Iterator[Outcome]:
    """What comes of each case, in any order, on so many processes."""
    within = Path(tempfile.mkdtemp(prefix="fuzz-", dir=SCRATCH if SCRATCH.is_dir() else None))
    workers: list[Worker] = []
    try:
        workers += [Worker(kept, within) for _ in range(jobs)]
        busy = [worker for worker in workers if worker.start(names)]
        while busy:
            ready = wait([worker.pipe for worker in busy], timeout=1)
            for worker in list(busy):
                if worker.pipe in ready or worker.late:
                    yield worker.outcome()
                    if not worker.start(names):
                        busy.remove(worker)
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.join()
        shutil.rmtree(within, ignore_errors=True)


class Worker:
    """A process that carries out one case after the other."""

    def __init__(self, kept: Path | None, within: Path) -> None:
        self.kept, self.within = kept, within
        self.left = CASES
        self._spawn()

    def _spawn(self) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.process = context.Process(
            target=_work, args=(other, self.kept, self.within), daemon=True
        )
        self.process.start()
        other.close()
        self.pipe.recv()  # it is warm

    def start(self, names: Iterator[str]) -> bool:
        """Begin the next case; whether there is one."""
        name = next(names, None)
        if name is None:
            return False
        self.left -= 1
        if not self.left:
            self._replace()
        self.name, self.since = name, time.monotonic()
        self.pipe.send(name)
        return True

    @property
    def late(self) -> bool:
        """Whether not even the alarm within the process could end the case."""
        return time.monotonic() - self.since > 3 * SECONDS

    def outcome(self) -> Outcome:
        """What came of the case; a process that hung or died is replaced."""
        try:
            if not self.late or self.pipe.poll():
                found: Outcome = self.pipe.recv()
                return found
            ended = "hang"
        except (EOFError, ConnectionError):
            ended = "died"
        self._replace()
        return Outcome(self.name, ended, failures=[(f"process {ended}", "and was replaced")])

    def _replace(self) -> None:
        self.process.kill()
        self.process.join()
        self.left = CASES
        self._spawn()


def _work(pipe: Connection, kept: Path | None, within: Path) -> None:
    """Carry out what is named until nothing more comes; the other process says when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm_up(within)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESSES, resource.RLIM_INFINITY))
    pipe.send("warm")
    while True:
        try:
            pipe.send(survived(pipe.recv(), kept, within))
        except (EOFError, ConnectionError):
            return
