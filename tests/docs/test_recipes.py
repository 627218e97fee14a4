"""The recipes of docs/how-to/automate.md and lint.md do what the pages say."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from pages import ROOT, blocks

from anonymizer.risk.lint import RULES

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


PAGE = ROOT / "docs/how-to/lint.md"
LINT = [block.text for block in blocks(PAGE) if block.language == "text"]
WEAK = """[data]
path = "t.csv"
[quasi-identifiers]
sex = "suppress"
[[privacy]]
model = "k-anonymity"
k = 1
"""


def recipe(begin: str) -> dict:
    (text,) = (text for text in LINT if text.startswith(begin))
    return yaml.safe_load(text)


@pytest.mark.parametrize(("k", "expected"), [(5, 0), (1, 1)])
def test_the_workflow_lints_and_hands_on_what_was_found(tmp_path, monkeypatch, run, k, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(WEAK.replace("k = 1", f"k = {k}"))
    workflow = recipe("name: studies")
    assert workflow[True] == ["push", "pull_request"]  # YAML 1.1 reads on as true
    steps = workflow["jobs"]["lint"]["steps"]
    assert [{*step} & {"run", "uses"} for step in steps] == [{"uses"}] * 2 + [{"run"}] * 2 + [
        {"uses"}
    ]
    program, *arguments = shlex.split(steps[3]["run"])
    assert program == "anonymizer"
    assert run(*arguments)[0] == expected
    assert (tmp_path / steps[4]["with"]["sarif_file"]).exists()
    assert f"hashFiles('{steps[4]['with']['sarif_file']}')" in steps[4]["if"]
    assert workflow["permissions"] == {"contents": "read", "security-events": "write"}


def test_the_hook_lints_each_study_and_fails_if_one_does(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    ((hook,),) = (repo["hooks"] for repo in recipe("repos:")["repos"])
    named = [
        n for n in ("study.toml", "a/study.toml", "b.study.toml") if re.search(hook["files"], n)
    ]
    assert len(named) == 3
    assert not re.search(hook["files"], "hierarchies/age.toml")
    program = tmp_path / "anonymizer"
    program.write_text('#!/bin/sh\necho "$@" >> calls\n! grep -q "k = 1" "$2"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "weak.study.toml").write_text(WEAK)
    (tmp_path / "study.toml").write_text(WEAK.replace("k = 1", "k = 5"))

    def code(*names: str) -> int:
        return subprocess.run([*shlex.split(hook["entry"]), *names], check=False).returncode

    assert (code("study.toml"), code("weak.study.toml", "study.toml")) == (0, 1)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == ["lint study.toml", "lint weak.study.toml", "lint study.toml"]
    assert [run(*call.split())[0] for call in calls] == [0, 1, 0]


def test_the_image_has_run_one_command_of_the_readme_and_runs_the_other():
    lines = (ROOT / ".ci/Dockerfile").read_text().replace("\\\n", " ").splitlines()
    known = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "CMD"}
    assert {line.split()[0] for line in lines if not line.startswith("#")} == known
    assert "RUN make demo" in lines
    assert lines[-1] == 'CMD ["make", "test"]'
    makefile = (ROOT / "Makefile").read_text()
    assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in ("demo", "test"))
    docker = [text for text in LINT if text.startswith("docker build")]
    assert "--file .ci/Dockerfile" in docker[0]


def test_the_page_has_every_rule():
    table = PAGE.read_text().partition("<!-- rules -->\n")[2].partition("<!-- end of rules -->")[0]
    rows = [
        tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in table.splitlines()
    ]
    named = [(name, rule) for name, rule in RULES.items() if not name.startswith("safe-harbor-")]
    assert rows[2:] == [(f"`{name}`", rule.level, rule.finds) for name, rule in named]
