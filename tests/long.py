"""Everything at full length, before a release: ``make long``, or ``python tests/long.py PART ...``.

The last result of each part is kept in ``long.md``, with the commit it is of.
"""

import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).with_name("long.md")
APART = ("explorer", "papers", "docs", "benchmarks")
"""Tests that `make test` leaves to suites of their own."""

PARTS = {
    "tests": ["pytest", "-n", "2", "-q", *(f"--ignore=tests/{part}" for part in APART)],
    **{part: ["pytest", "-n", "2", "-q", f"tests/{part}"] for part in APART},
    "fuzz": ["tests.fuzz", "--minutes", "10"],
    "problems": ["tests.problems", "--number", "10000", "--jobs", "2"],
    "persons": ["tests.problems", "--number", "10000", "--seed", "1000001", "--jobs", "2"],
    "rehearsed": ["tests.problems", "--number", "3000", "--seed", "5000001", "--jobs", "2"],
    "attacked": ["tests.attacked", "--jobs", "2"],
    "rehearsals": ["tests.rehearsals"],
    "borders": ["tests.borders", "--number", "10000", "--jobs", "2"],
    "kill_points": ["tests.kill_points"],
}
"""What is carried out: the modules and their arguments."""

HEAD = """\
# Everything at full length

The last result of each part of `make long`; `tests/README.md` says what each is for.

| part | command | result | minutes | day | commit |
| --- | --- | --- | --- | --- | --- |
"""


def main(parts: list[str]) -> int:
    """Carry out some parts, or all, and write what came of each; 1 if any failed."""
    if unknown := [name for name in parts if name not in PARTS]:
        sys.exit(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    failed = [name for name in parts or PARTS if carried_out(name)]
    return int(bool(failed))


def carried_out(name: str) -> bool:
    """Carry out a part and note its result; whether it failed."""
    module, *arguments = PARTS[name]
    of, since = commit(), time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, "ANONYMIZER_TESTS": "long"},
        stdout=subprocess.PIPE,
        text=True,
    )
    sys.stdout.write(done.stdout)
    last = re.sub(r" in .*$", "", (done.stdout.strip().splitlines() or ["nothing"])[-1].strip("= "))
    command = f"`{' '.join(['python -m', module, *arguments])}`"
    minutes = f"{(time.monotonic() - since) / 60:.0f}"
    rows = {**noted(), name: [command, last, minutes, f"{datetime.now(UTC):%Y-%m-%d}", of]}
    lines = [f"| {' | '.join([part, *rows[part]])} |\n" for part in PARTS if part in rows]
    RESULT.write_text(HEAD + "".join(lines), encoding="utf-8")
    return done.returncode != 0


def noted() -> dict[str, list[str]]:
    """What is known of each part."""
    if not RESULT.exists():
        return {}
    lines = RESULT.read_text(encoding="utf-8").removeprefix(HEAD).splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines]
    return {part: row for part, *row in rows}


def commit() -> str:
    """The commit that is tested."""
    return subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
