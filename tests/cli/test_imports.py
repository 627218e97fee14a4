"""Every command loads what it needs, and nothing heavy that it does not."""

import json
import subprocess
import sys

import pandas as pd
import pytest

from anonymizer.release.publish import publish
from anonymizer.release.study import Study

HEAVY = {
    *("clarabel", "cryptography", "joblib", "matplotlib", "networkx", "numba", "pandas"),
    *("pydantic", "rich", "scipy", "sklearn"),
}
"""Libraries that take 20 ms to 1 s to import."""

ROOMS = {"channels", "masking", "papers", "risk", "utility"}
"""Rooms that a full-domain release has no need of."""

LISTED = """
import json, sys
from anonymizer.cli import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    code = end.code
with open(sys.argv[1], "w") as file:
    json.dump([code, sorted(sys.modules)], file)
"""

STUDY = """
[data]
path = "people.csv"
[quasi-identifiers]
age = "age.csv"
sex = "suppress"
[sensitive]
attributes = ["disease"]
[[privacy]]
model = "k-anonymity"
k = 2
[[privacy]]
model = "entropy-l-diversity"
l = 2
"""

USUAL = {"pandas", "pydantic", "rich"}

COMMANDS = {
    "--help": (set(), {"papers"}),  # its commands are listed from their modules
    "models": ({"pandas"}, set()),
    "run study.toml --output release --force": (USUAL, {"masking"}),
    "verify release": (USUAL, {"masking"}),
    "check people.csv --study study.toml": (USUAL, {"masking", "risk"}),
    "risk people.csv --study study.toml": (USUAL, {"masking", "risk"}),
    "audit release --against people.csv": (USUAL, {"masking", "risk"}),
    "quality release/released.csv --study study.toml --no-classifiers": (
        USUAL,
        {"masking", "utility"},
    ),
    "compare study.toml --recoding full-domain": (USUAL, {"masking", "utility"}),
}
"""Each command, the heavy libraries that it loads, and the rooms that it may load."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A study, its table, and a release of it."""
    directory = tmp_path_factory.mktemp("study")
    ages = [20 + number % 30 for number in range(120)]
    people = {
        "age": ages,
        "sex": ["fm"[number % 2] for number in range(120)],
        "disease": ["abc"[number % 3] for number in range(120)],
    }
    pd.DataFrame(people).to_csv(directory / "people.csv", index=False)
    (directory / "study.toml").write_text(STUDY)
    (directory / "age.csv").write_text("".join(f"{age};{age // 5 * 5}+\n" for age in range(60)))
    publish(Study(directory / "study.toml"), directory / "release")
    return directory


def loaded(directory, command):
    """The exit code of a command in a process of its own, and the modules that it loaded."""
    process = [sys.executable, "-c", LISTED, "loaded.json", *command.split()]
    done = subprocess.run(process, cwd=directory, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return json.loads((directory / "loaded.json").read_text())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_what_it_needs_and_no_more(directory, command):
    libraries, rooms = COMMANDS[command]
    code, modules = loaded(directory, command)
    assert code in (0, 1)
    assert HEAVY.intersection(name.split(".")[0] for name in modules) == libraries
    inside = {name.split(".")[1] for name in modules if name.startswith("anonymizer.")}
    assert inside.intersection(ROOMS) <= rooms


def test_reports_do_not_load_each_other():
    code = "import sys, anonymizer.report.release; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    reports = {name for name in loaded.stdout.split() if name.startswith("anonymizer.report.")}
    assert reports == {f"anonymizer.report.{name}" for name in ("console", "release", "verdicts")}
