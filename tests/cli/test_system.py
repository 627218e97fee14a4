"""The command line as a tool of the system: closed pipes, no colours, nowhere to write."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from forked import start

TABLE = "age,sex,disease\n" + "".join(
    f"{20 + number % 9},{'mf'[number % 2]},{('flu', 'cold')[number % 3 == 0]}\n"
    for number in range(60)
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(TABLE)
    return tmp_path


def without_reader(*arguments: str) -> tuple[int, str]:
    """The exit code and the errors of a command whose reader is gone before it prints."""
    reading, writing = os.pipe()
    os.close(reading)
    with tempfile.TemporaryFile("w+") as err:
        code = start(*arguments, out=writing, err=err.fileno()).wait()
        os.close(writing)
        err.seek(0)
        return code, err.read()


def test_who_reads_no_output_has_the_files_all_the_same(here: Path) -> None:
    steps = [
        ("init", "people.csv", "--sensitive", "disease", "-o", "s"),
        ("run", "s/study.toml", "-o", "release"),
        ("verify", "release"),
        ("report", "release"),
        ("export", "release", "--csv", "-o", "mapping"),
        ("check", "people.csv", "--quasi-identifiers", "age,sex"),
    ]
    printed = [
        ("--help",),
        ("init", "--help"),
        ("models",),
        ("export", "release", "--sql"),
        ("report", "release", "--output", "-"),
    ]
    for command in (*steps, *printed):
        code, err = without_reader(*command)
        lines = [line for line in err.splitlines() if not line.startswith("WARNING")]
        assert (code, lines) == (0, []), command
    for path in ("s/study.toml", "release/released.csv", "release-report.html", "mapping/age.csv"):
        assert (here / path).exists()


@pytest.mark.usefixtures("here")
def test_a_closed_output_takes_no_page() -> None:
    subprocess.run([sys.executable, "-m", "anonymizer", "demo", "-o", "demo"], check=True)
    command = [sys.executable, "-m", "anonymizer", "report", "demo", "--markdown", "-o", "-"]
    closed = f"exec {' '.join(command)} >&-"
    done = subprocess.run(["sh", "-c", closed], stderr=subprocess.PIPE, text=True, check=True)
    assert done.stderr == ""


@pytest.mark.usefixtures("here")
def test_an_isolated_interpreter_in_a_plain_locale_without_colours() -> None:
    command = [sys.executable, "-I", "-m", "anonymizer", "init", "people.csv", "-o", "s"]
    plain = {"PATH": os.environ["PATH"], "LANG": "C", "NO_COLOR": "1", "HOME": "/nonexistent"}
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout
    assert "anonymizer run s/study.toml --output s/release" in done.stdout
