"""The tests that answer first, for whoever changes one room: ``make quick``.

Of each room in which a file differs from main all tests are chosen, and of the rooms above it those
that were worked out by hand (a name says so) in files that import something of it. The floors say
what can be affected at all. What failed last comes first, then the files that are nearest to the
change by their imports; the first failure ends the run. Tests that take seconds (``slow``), and
those that have not begun ``SECONDS`` after the first one, wait for ``make test``.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from lengths import WITHIN
from test_architecture import FLOOR, imported

ROOT = Path(__file__).parents[1]
BY_HAND = re.compile(r"test_\w*(by_hand|worked)\w*")
ALWAYS = ("tests/test_architecture.py", "tests/test_examples.py")
OPTIONS = ("-n", "2", "--dist=load", "--maxschedchunk=1", "-x", "--ff", "-q", "-m", "not slow")
SECONDS = 30
"""To collect the tests, and to end those that have begun, takes up to twenty more."""


def changed() -> list[str]:
    """The files that differ from main, or are not tracked yet."""
    found = [_git("diff", "--name-only", "--no-renames", "main", "--")]
    found.append(_git("ls-files", "--others", "--exclude-standard"))
    return sorted({line for text in found for line in text.splitlines()})


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"make quick asks git what differs from main: {done.stderr.strip()}")
    return done.stdout


def selected(files: Sequence[str]) -> list[str]:
    """The tests of some files, as arguments of pytest."""
    rooms = {room for file in files if (room := room_of(file)) in FLOOR}
    found = {file for file in files if Path(file).name.startswith("test_")} | {*ALWAYS}
    found |= {f"tests/{room}" for room in rooms}
    found |= {f"tests/{part}" for file in files if (part := file.split("/")[0]) in OTHERS}
    found |= {"tests/docs" for file in files if file.endswith(".md")}
    for room in rooms:
        found |= {*hand_worked_above(room)}
    helpers = {Path(file).stem for file in files if is_helper(file)}
    found |= {each for each in _files() if helpers & imported(ROOT / each)}
    found = {each for each in _in_files(found) if (ROOT / each.partition("::")[0]).exists()}
    nearest = distances(files)
    return sorted(found, key=lambda each: (nearest.get(each.partition("::")[0], FAR), each))


FAR = 99
"""Imports from a test to a change that it does not reach."""


def _in_files(found: Iterable[str]) -> Iterator[str]:
    """The same with the test files of each folder one by one."""
    for each in found:
        yield from [file for file in _files() if file.startswith(f"{each}/")] or [each]


def distances(files: Sequence[str]) -> dict[str, int]:
    """How many imports it takes from each test file to one that changed, or to itself."""
    users, found, here = _users(), dict.fromkeys(files, 0), {*files}
    while here:
        above = {user for file in here for user in users.get(_module(file), ())}
        here = above - {*found}
        found |= dict.fromkeys(here, max(found.values()) + 1)
    return found


@cache
def _users() -> dict[str, set[str]]:
    """The files that import each module."""
    found: dict[str, set[str]] = {}
    sources = [str(path.relative_to(ROOT)) for path in (ROOT / "anonymizer").rglob("*.py")]
    for file in [*sources, *_files()]:
        for name in imported(ROOT / file):
            found.setdefault(name, set()).add(file)
    return found


def _module(file: str) -> str:
    parts = Path(file).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


OTHERS = {"docs", "benchmarks"}
"""Parts of the repository that are no rooms, and have tests."""


def room_of(file: str) -> str:
    """The room that a file of the library, or of its tests, belongs to."""
    parts = Path(file).with_suffix("").parts
    return parts[1] if len(parts) > 1 and parts[0] in ("anonymizer", "tests") else ""


def is_helper(file: str) -> bool:
    """Whether tests import a file: it lies next to them, and has none."""
    return file.startswith("tests/") and not Path(file).name.startswith(("test_", "conftest"))


@cache
def _files() -> tuple[str, ...]:
    return tuple(str(p.relative_to(ROOT)) for p in sorted((ROOT / "tests").rglob("test_*.py")))


def hand_worked_above(room: str) -> Iterator[str]:
    """The hand-worked tests of higher rooms, in files that import something of this one."""
    for file in _files():
        if FLOOR.get(room_of(file), -1) > FLOOR[room] and _uses(file, room):
            yield from (f"{file}::{name}" for name in _hand_worked(file))


def _uses(file: str, room: str) -> bool:
    home = f"anonymizer.{room}"
    return any(f"{name}.".startswith(f"{home}.") for name in imported(ROOT / file))


def _hand_worked(file: str) -> list[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]
    return [name for name in names if BY_HAND.fullmatch(name)]


def main(files: Sequence[str]) -> int:
    """Run the tests of some files; without any, of those that differ from main."""
    files = files or changed()
    if not files:
        sys.stdout.write("Nothing differs from main. `make test` runs all tests.\n")
        return 0
    os.environ[WITHIN] = str(SECONDS)  # workers read it
    return pytest.main([*OPTIONS, *selected(files)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
