"""Everything at full length, before a release: ``make long``. The last result is in ``long.md``."""

import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).with_name("long.md")
PARTS = {
    "all tests, every combination": ["pytest", "-n", "2", "-q"],
    "random studies and changed files": ["tests.fuzz", "--minutes", "10"],
    "random problems by brute force": ["tests.problems", "--number", "10000", "--jobs", "2"],
    "ends of ranges in random studies": ["tests.borders", "--number", "10000", "--jobs", "2"],
    "runs struck at every system call": ["tests.kill_points"],
}
"""What is carried out: the modules and their arguments."""


def main() -> int:
    """Carry out each part, and write what came of it; 1 if any failed."""
    environment = {**os.environ, "ANONYMIZER_TESTS": "long"}
    rows, failed = [], False
    for title, (module, *arguments) in PARTS.items():
        since = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        sys.stdout.write(done.stdout)
        failed |= done.returncode != 0
        minutes = (time.monotonic() - since) / 60
        last = re.sub(r" in .*$", "", done.stdout.strip().splitlines()[-1].strip("= "))
        command = " ".join(["python -m", module, *arguments])
        rows.append(f"| {title} | `{command}` | {last} | {minutes:.0f} |")
    RESULT.write_text(_page(rows), encoding="utf-8")
    return int(failed)


def _page(rows: list[str]) -> str:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    head = f"Made by `make long` on {datetime.now(UTC):%Y-%m-%d}, commit {commit}."
    table = ["| what | command | result | minutes |", "| --- | --- | --- | --- |", *rows]
    return "\n".join(["# Everything at full length", "", head, "", *table, ""])


if __name__ == "__main__":
    sys.exit(main())
