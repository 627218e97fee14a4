"""Every command loads what it needs, and nothing heavy that it does not."""

import inspect
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Barrier

import pandas as pd
import pytest

from anonymizer.cli import LateModule

HEAVY = {
    *("clarabel", "cryptography", "joblib", "matplotlib", "networkx", "pandas"),
    *("pyarrow.compute", "pyarrow.parquet", "pydantic", "rich", "scipy", "sklearn"),
}
"""Libraries that take 20 ms to 1 s to import."""

ROOMS = {"channels", "masking", "papers", "risk", "utility"}
"""Rooms that a full-domain release has no need of."""

LISTED = """
import json, os, sys
from importlib import import_module

def load(command, file):
    code = None
    if command.startswith("import "):
        exec(command)
    else:
        from anonymizer.cli import program
        sys.argv = ["anonymizer", *command.split()]
        try:
            program()
        except SystemExit as end:
            code = end.code
    found = [name for name, each in sys.modules.items() if type(each).__name__ != "LateModule"]
    with open(file, "w") as out:
        json.dump([code, sorted(found)], out)

for number, command in enumerate(sys.argv[1:]):
    if not os.fork():
        load(command, f"{number}.json")
        os._exit(0)
    assert not os.wait()[1], command
    if command.startswith("run study"):
        with open(f"{number}.json") as file:
            for name in json.load(file)[1]:
                if name.partition(".")[0] in ("anonymizer", "pandas", "pydantic", "rich"):
                    import_module(name)
"""
"""Each command in a process of its own, forked from one that runs none.

It imports what a run has loaded, which all later commands may load, too: the table below says so.
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

USUAL = {"pandas", "pyarrow.compute", "pydantic", "rich"}  # pandas loads pyarrow.compute

COMMANDS = {
    "--help": (set(), set()),
    "models": (set(), set()),
    "run unknown-key.toml --output release": ({"pydantic"}, {"masking"}),
    "run unknown-column.toml --output release": ({"pydantic"}, {"masking"}),
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
def loaded(tmp_path_factory):
    """The exit code of each command, and the modules that were loaded then."""
    directory = tmp_path_factory.mktemp("study")
    ages = [20 + number % 30 for number in range(120)]
    people = {
        "age": ages,
        "sex": ["fm"[number % 2] for number in range(120)],
        "disease": ["abc"[number % 3] for number in range(120)],
    }
    pd.DataFrame(people).to_csv(directory / "people.csv", index=False)
    (directory / "study.toml").write_text(STUDY)
    for wrong, right in {"key": "data", "column": "disease"}.items():
        study = STUDY.replace(right, f"un{right}")
        (directory / f"unknown-{wrong}.toml").write_text(study)
    (directory / "age.csv").write_text("".join(f"{age};{age // 5 * 5}+\n" for age in range(60)))
    commands = ["import anonymizer.report.release", *COMMANDS]
    process = [sys.executable, "-c", LISTED, *commands]
    done = subprocess.run(process, cwd=directory, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    found = [json.loads((directory / f"{n}.json").read_text()) for n in range(len(commands))]
    return dict(zip(commands, found, strict=True))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_what_it_needs_and_no_more(loaded, command):
    libraries, rooms = COMMANDS[command]
    code, modules = loaded[command]
    # Without the study an audit cannot examine all.
    assert code == 2 if "unknown" in command else code in (0, 1, 3)
    assert HEAVY.intersection(modules) == libraries
    inside = {name.split(".")[1] for name in modules if name.startswith("anonymizer.")}
    assert inside.intersection(ROOMS) <= rooms


def test_a_late_library_is_loaded_when_something_of_it_is_used(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    late = LateModule("colorsys")
    monkeypatch.setitem(sys.modules, "colorsys", late)
    assert import_module("colorsys") is late
    assert late.__spec__.name == "colorsys"
    assert "hls_to_rgb" not in vars(late)
    assert late.hls_to_rgb(0.0, 0.5, 0.0) == (0.5, 0.5, 0.5)
    assert import_module("colorsys") is not late
    assert import_module("colorsys").hls_to_rgb is late.hls_to_rgb
    with pytest.raises(AttributeError, match="'colorsys' has no attribute 'nothing'"):
        late.nothing  # noqa: B018


def test_threads_that_use_a_late_library_at_once_get_all_of_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    late = LateModule("colorsys")
    monkeypatch.setitem(sys.modules, "colorsys", late)
    together = Barrier(8)

    def used(_: int) -> object:
        together.wait()
        return late.rgb_to_yiq

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(used, range(8))) == {import_module("colorsys").rgb_to_yiq}


def test_reports_do_not_load_each_other(loaded):
    _, modules = loaded["import anonymizer.report.release"]
    reports = {name for name in modules if name.startswith("anonymizer.report.")}
    assert reports == {"anonymizer.report.release"}


@pytest.mark.parametrize("declaring", ["authoring", "checking", "releasing"])
def test_what_carries_a_command_out_takes_what_the_command_gives(declaring):
    declared = import_module(f"anonymizer.cli.{declaring}")
    text = Path(declared.__file__).read_text(encoding="utf-8")
    found = re.findall(r'@carried_out\("([\w.]+)"\)\ndef (\w+)', text)
    assert len(found) == text.count("@carried_out(") > 0
    for home, name in found:
        given = {each.name for each in getattr(declared, name).params if each.expose_value}
        given -= {each for each in given if each.startswith("more_")}  # several_option takes them
        taken = inspect.signature(getattr(import_module(home), name))
        taken.bind(**dict.fromkeys(given))  # else a TypeError
