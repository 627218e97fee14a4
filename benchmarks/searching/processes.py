"""Fresh processes with limits of time and memory, so that what one takes is its own."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.errors import InputError

__all__ = ["MOST_MEMORY", "Report", "ask", "forget_peak", "peak", "within_memory"]

HERE = Path(__file__).parents[1]
MOST_MEMORY = 6 * 2**30
"""Bytes that a process may take."""


class Report(NamedTuple):
    """The lines that a process printed, and why it ended early; "" where it did not."""

    lines: list[dict[str, Any]]
    ended: str

    @property
    def line(self) -> dict[str, Any]:
        """The only line; empty where the process ended before it."""
        return self.lines[0] if self.lines else {}


@contextmanager
def within_memory() -> Iterator[None]:
    """Take no more than ``MOST_MEMORY``; report when that is too little, or the table too large."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    try:
        yield
    except MemoryError:
        print(json.dumps({"ended": f"over {MOST_MEMORY // 2**30} GiB"}), flush=True)
    except InputError:
        print(json.dumps({"ended": "refused"}), flush=True)


def ask(*words: object, seconds: float) -> Report:
    """Carry out a measure in a process of its own, for so many seconds at the most."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        command = [sys.executable, "-m", "searching", *map(str, words)]
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, cwd=HERE, env=_environment()
        )
        ended = ""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            ended = f"over {seconds:g} s"
        output.seek(0)
        errors.seek(0)
        if process.returncode and not ended:
            raise SystemExit(f"{' '.join(command)}\n{errors.read()}")
        lines = [json.loads(line) for line in output.read().splitlines()]
    reasons = [line["ended"] for line in lines if "ended" in line]
    return Report([line for line in lines if "ended" not in line], ended or "".join(reasons))


def peak() -> int:
    """The most memory that this process held, or held since ``forget_peak``, in bytes.

    The kernel's own mark: what getrusage has is inherited from the process that started this one.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 2**10
    marks = dict(line.split(":", 1) for line in status.read_text("ascii").splitlines())
    return int(marks["VmHWM"].split()[0]) * 2**10


def forget_peak() -> None:
    """Let the peak begin anew at what is held now, where the system can do that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _environment() -> dict[str, str]:
    """That of this process, and the library that it tests."""
    return {**os.environ, "PYTHONPATH": str(HERE.parent)}
