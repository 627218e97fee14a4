"""The recipes of docs/how-to/automate.md do for each exit code what the page says."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from pages import ROOT, blocks

TEXTS = [
    block.text for block in blocks(ROOT / "docs/how-to/automate.md") if block.language == "text"
]


class FailedForGoodError(Exception):
    """In place of Airflow's exception that ends a task without another try."""


@pytest.fixture
def ending(tmp_path: Path, monkeypatch):
    """Put a program on the path that is called anonymizer and ends with a code."""

    def put(code: int, verified: int = 0) -> None:
        program = tmp_path / "anonymizer"
        program.write_text(
            f'#!/bin/sh\necho "$1" >> {tmp_path}/calls\necho why >&2\n'
            f'test "$1" = run && exit {code}\nexit {verified}\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return put


@pytest.mark.parametrize(("code", "verified"), [(0, 0), (0, 1), (1, 0), (2, 0), (130, 0)])
def test_the_script_ends_with_the_code(ending, tmp_path, code: int, verified: int) -> None:
    ending(code, verified)
    (script,) = (text for text in TEXTS if text.startswith("#!/bin/sh"))
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == (code or verified)
    assert (tmp_path / "calls").read_text().split() == ["run", "verify"][: 1 + (code == 0)]
    said = {0: "", 1: "data steward", 2: "who delivers them", 130: "start it again"}
    assert said[code] in done.stderr


def airflow(monkeypatch) -> dict:
    """The names of the recipe, carried out with nothing but what it takes of Airflow."""
    decorators, exceptions = ModuleType("airflow.decorators"), ModuleType("airflow.exceptions")
    decorators.task = lambda **options: lambda function: function  # type: ignore[attr-defined]
    decorators.dag = lambda **options: lambda function: lambda: None  # type: ignore[attr-defined]
    exceptions.AirflowFailException = FailedForGoodError  # type: ignore[attr-defined]
    for module in (ModuleType("airflow"), decorators, exceptions):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    (recipe,) = (text for text in TEXTS if "from airflow" in text)
    names: dict = {}
    exec(recipe, names)
    return names


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (0, None),
        (1, FailedForGoodError),
        (2, FailedForGoodError),
        (130, subprocess.CalledProcessError),
    ],
)
def test_airflow_tries_again_only_what_was_interrupted(ending, monkeypatch, code, error) -> None:
    ending(code)
    release = airflow(monkeypatch)["release"]
    if error is None:
        assert release("study.toml", "release") == "release"
        return
    with pytest.raises(error):
        release("study.toml", "release")
