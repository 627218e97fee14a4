"""The way of a table through ``anonymizer run``: between how many rooms, and how often back up."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from structure.graph import House
from structure.sources import Figure, Library

__all__ = ["Call", "TracedRun", "climbs", "figures", "traced", "way"]

HEADING = "The way of a table through `anonymizer run`"
NOTE = """A study of full-domain recoding with k-anonymity and a CSV file. A call has the table if a
pandas DataFrame is among its arguments, or an object of the package that holds one as an attribute
(`self` too). The caller is the nearest one within the library. Changes of room are from the room of
such a call to that of the next one in the same thread: down once and up once is the least.
Functions are those of the library that the run enters; opens of the table are those by Python, and
statements what DuckDB is given."""
STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = "age.toml"
sex = "suppress"
[sensitive]
attributes = ["diagnosis"]
[[privacy]]
model = "k-anonymity"
k = 3
"""
RULE = "widths = [10, 20]\n"
RECORDS = 48


@dataclass(frozen=True)
class Call:
    """A call of a function of the library that receives a table."""

    thread: int
    caller: str | None
    room: str
    function: str
    kind: str

    @property
    def enters(self) -> bool:
        """Whether it comes from another room."""
        return self.caller not in (None, self.room)


@dataclass(frozen=True)
class TracedRun:
    """A run: its calls with the table, the functions and files it enters, and how deep they lie.

    ``opens`` of the table by Python, and SQL ``statements``.
    """

    calls: list[Call]
    functions: int
    files: int
    depth: int
    opens: int
    statements: int


def traced(root: Path) -> TracedRun:
    """Run a small study by the command line of a checkout, and follow it."""
    with tempfile.TemporaryDirectory() as scratch:
        study = _study(Path(scratch))
        output = Path(scratch, "calls.json")
        run = [str(root.resolve()), str(output), str(study.with_name("people.csv"))]
        run += ["run", str(study), "-o", f"{scratch}/release"]
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("trace.py")), *run],
            env={**os.environ, "PYTHONPATH": str(root.resolve()), "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=scratch,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"the study cannot be run in {root}:\n{done.stderr[-2000:]}")
        assert Path(scratch, "release", "released.csv").exists()
        found = json.loads(output.read_text(encoding="utf-8"))
        return TracedRun(**found | {"calls": [Call(*call) for call in found["calls"]]})


def way(calls: Sequence[Call]) -> list[tuple[str, str]]:
    """Changes of room: from the room of a call to that of the next one in the same thread."""
    changes = []
    latest: dict[int, str] = {}
    for call in calls:
        before = latest.get(call.thread, call.room)
        if before != call.room:
            changes.append((before, call.room))
        latest[call.thread] = call.room
    return changes


def climbs(changes: Iterable[tuple[str, str]], floors: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the changes that go to a higher floor."""
    return [(here, there) for here, there in changes if floors[there] > floors[here]]


def figures(library: Library) -> list[Figure]:
    """Moves by calls, and changes of room in the order of time."""
    floors = House(library).floors
    run = traced(library.root)
    calls = run.calls
    moves = [call for call in calls if call.enters]
    direct = [call for call in moves if call.kind == "argument"]
    changes = way(calls)
    up = climbs([(str(call.caller), call.room) for call in moves], floors)
    rooms = {room for call in calls for room in (call.caller, call.room) if room}
    listed = [f"{call.thread}: {call.caller} -> {call.function} ({call.kind})" for call in moves]
    return [
        Figure("calls into another room with the table", str(len(moves)), listed),
        Figure("of these calls, with the DataFrame itself as an argument", str(len(direct))),
        Figure("of these calls, up to a higher floor", str(len(up))),
        Figure("rooms that have the table", str(len(rooms)), sorted(rooms)),
        Figure("changes of room in the order of time", str(len(changes)), _shown(changes, floors)),
        Figure("of these changes, up to a higher floor", str(len(climbs(changes, floors)))),
        Figure("functions of the library that are entered", f"{run.functions:,}"),
        Figure("files in which these are", str(run.files)),
        Figure("deepest call", str(run.depth)),
        Figure("opens of the table by Python", str(run.opens)),
        Figure("SQL statements", str(run.statements)),
    ]


def _shown(changes: list[tuple[str, str]], floors: Mapping[str, int]) -> list[str]:
    ups = climbs(changes, floors)
    return [
        f"{here} {'-up->' if (here, there) in ups else '->'} {there}" for here, there in changes
    ]


def _study(directory: Path) -> Path:
    """Write records of invented people, a rule for their ages, and the study."""
    diagnoses = ("flu", "cold", "asthma")
    rows = [
        f"{20 + 7 * number % 40},{'fm'[number % 2]},{diagnoses[number % 3]}"
        for number in range(RECORDS)
    ]
    lines = "\n".join(["age,sex,diagnosis", *rows, ""])
    (directory / "people.csv").write_text(lines, encoding="utf-8")
    (directory / "age.toml").write_text(RULE, encoding="utf-8")
    study = directory / "study.toml"
    study.write_text(STUDY, encoding="utf-8")
    return study
