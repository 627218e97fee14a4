"""Kill runs at random moments, and let the disk fill up: what lies there is whole or nothing.

    python benchmarks/bench_kill.py

Writes benchmarks/results/kill.md. Each run is a process of its own, forked from one that has loaded
the package, and is killed (SIGKILL) after a random part of the time that a run takes. Then the
directory is looked at: the release of before, or the new one, which has to be verified, or nothing.
The next run must work and leave nothing else behind. A small disk is a tmpfs, which needs root.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from anonymizer import cli
from anonymizer.release.manifest import Manifest

K = 5
RESULTS = Path(__file__).parent / "results" / "kill.md"
STUDY = f"""
[data]
path = "people.csv"
[quasi-identifiers]
age = {{ widths = [5, 20] }}
sex = "suppress"
region = "suppress"
[sensitive]
attributes = ["illness"]
[identifiers]
attributes = ["name"]
[[privacy]]
model = "k-anonymity"
k = {K}
[recoding]
method = "full-domain"
suppression = 0.02
"""
OUTPUTS = {
    "CSV": "",
    "Parquet in 3 parts": '[output]\nfile = "released.parquet"\nparts = 3\n',
    "Parquet": '[output]\nfile = "released.parquet"\n',
}


def lay(place: Path, records: int) -> dict[str, Path]:
    """A table and its studies, by what they write."""
    rng = np.random.default_rng(0)
    pd.DataFrame(
        {
            "name": [f"n{number}" for number in range(records)],
            "age": rng.integers(18, 90, records),
            "sex": rng.choice(["f", "m"], records),
            "region": rng.choice(["north", "south", "east"], records),
            "illness": rng.choice(["flu", "cold", "none"], records),
            "note": [f"a note on number {number}" for number in range(records)],
        }
    ).to_csv(place / "people.csv", index=False)
    studies = {name: place / f"{name}.toml" for name in OUTPUTS}
    for name, path in studies.items():
        path.write_text(STUDY + OUTPUTS[name], encoding="utf-8")
    return studies


def in_child(work: Callable[[], object]) -> int:
    """Do something in a child, whose exit code it gives; gives its process id."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        work()
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def forked(arguments: Sequence[str], said: Path) -> int:
    """Run the command line in a child, which writes to a file what it says."""

    def work() -> None:
        descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        cli.main(arguments)

    return in_child(work)


def ended(child: int) -> int:
    """The exit code of a child, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def holds(out: Path) -> None:
    """Require, without the package, that every class of a released table has 5 records."""
    table = next(out.glob("released.*"))
    read = pd.read_csv if table.suffix == ".csv" else pd.read_parquet
    sizes = read(table).groupby(["age", "sex", "region"]).size()
    sys.exit(int(sizes.min() < K))


def whole(out: Path) -> bool:
    """Whether a release lies there that its manifest is about, to the byte, and that holds."""
    Manifest.read(out / "release.json").table_at(out)
    return ended(in_child(lambda: holds(out))) == 0


def judged(out: Path, before: bool) -> Iterator[str]:
    """What is wrong with what lies there after a run was killed."""
    there = sorted(path.name for path in out.iterdir()) if out.exists() else []
    if before and "release.json" not in there:
        yield f"the release of before is gone: {there}"
    elif not there and not before:
        return
    elif "release.json" not in there:
        yield f"a part of a release: {there}"
    elif not whole(out):
        yield "the release does not hold"


def left(out: Path) -> list[str]:
    """What lies next to a release that is no part of it."""
    return sorted(path.name for path in out.parent.iterdir() if path.name.startswith("."))


def struck(place: Path, study: Path, name: str, share: float, tally: Counter[str]) -> Iterator[str]:
    """Kill a first run and one that replaces a release, then let one end."""
    out, said = place / "out", place / "said"
    shutil.rmtree(out, ignore_errors=True)
    run = ["run", str(study), "-o", str(out), "--force"]
    begin = time.monotonic()
    if ended(forked(run, said)) != 0:
        yield f"{name}: {said.read_text()}"
        return
    takes = time.monotonic() - begin
    for before in (False, True):
        if not before:
            shutil.rmtree(out)
        child = forked(run, said)
        time.sleep(share * takes)
        os.kill(child, signal.SIGKILL)
        tally["killed" if ended(child) == -signal.SIGKILL else "ended before"] += 1
        tally["temporary files to be cleared"] += bool(left(out))
        yield from (f"{name}, at {share:.0%}: {wrong}" for wrong in judged(out, before))
        code = ended(forked(run, said))
        if code or left(out) or not whole(out):
            yield f"{name}, next run: exit code {code}, {said.read_text()}, {left(out)} are left"


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path | None]:
    """A disk of so many bytes; None where none can be mounted."""
    disk = place / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    done = shutil.which("mount") and subprocess.run(mount, capture_output=True, check=False)
    try:
        yield disk if done and done.returncode == 0 else None
    finally:
        if done and done.returncode == 0:
            subprocess.run(["umount", str(disk)], check=True)


def filled(place: Path, studies: dict[str, Path], tally: Counter[str]) -> Iterator[str]:
    """Write to a disk that is too small."""
    size = (place / "people.csv").stat().st_size
    for name, study in studies.items():
        shutil.rmtree(place / "disk", ignore_errors=True)
        with small_disk(place, str(max(size // 40, 4096))) as disk:
            if disk is None:
                return
            said = place / "said"
            code = ended(forked(["run", str(study), "-o", str(disk / "out")], said))
            text = said.read_text()
            tally["disks filled"] += 1
            if code != 2 or "nothing was written" not in text or [*disk.iterdir()]:
                yield f"{name}, disk full: exit code {code}, {text!r}, {[*disk.iterdir()]}"


def wrongs(place: Path, rounds: int, records: int, tally: Counter[str]) -> Iterator[str]:
    """Everything that is wrong."""
    rng = random.Random(0)
    studies = lay(place, records)
    yield from filled(place, studies, tally)
    for turn in range(rounds):
        name = [*studies][turn % len(studies)]
        share = rng.uniform(0, 1.1) if turn else 0.5  # so that one is killed for sure
        yield from struck(place, studies[name], name, share, tally)


def report(records: int, rounds: int, tally: Counter[str], bad: Sequence[str]) -> str:
    """The result in Markdown."""
    lines = [
        "# Killed runs and full disks",
        "",
        f"Made by `python benchmarks/bench_kill.py`: {records:,} records; {rounds} rounds, in each "
        "a first run and one",
        "that replaces a release are killed at a random moment, and the next one has to work.",
        "",
        "| what | how often |",
        "|---|---|",
        *(f"| {name} | {count} |" for name, count in sorted(tally.items())),
        f"| wrong | {len(bad)} |",
        "",
        *(f"- {wrong}" for wrong in bad),
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Kill, look, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--print", action="store_true", help="print the result; write no file")
    given = parser.parse_args()
    tally: Counter[str] = Counter()
    for each in ("publish", "verification"):  # so that runs are killed at work, not at loading
        import_module(f"anonymizer.release.{each}")
    with tempfile.TemporaryDirectory() as place:
        bad = [*wrongs(Path(place), given.rounds, given.records, tally)]
    text = report(given.records, given.rounds, tally, bad)
    if given.print:
        sys.stdout.write(text)
    else:
        RESULTS.write_text(text, encoding="utf-8")
    sys.exit(min(len(bad), 1))


if __name__ == "__main__":
    main()
