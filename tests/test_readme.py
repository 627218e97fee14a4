"""What the README tells to do works, and what it says of the code is so."""

import re
import shlex
from pathlib import Path

import pytest

from anonymizer import Study
from anonymizer.cli import main
from anonymizer.objectives import OBJECTIVES
from anonymizer.privacy import MODELS, markdown
from anonymizer.recoding import STRATEGIES
from anonymizer.release.warnings.warnings import WARNINGS, warnings_markdown

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_python_example_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    names: dict = {}
    exec(blocks("python")[0], names)
    assert names["proof"]["privacy"][0]["satisfied"]
    assert len(names["released"]) == 30_000


def test_the_check_of_a_table_runs():
    names: dict = {}
    exec(blocks("python")[1], names)
    assert names["found"].records == 30_000


def test_the_example_of_several_attributes_is_a_study(tmp_path):
    text = blocks("toml")[1]
    frame = '[data]\npath = "t.csv"\n[quasi-identifiers]\nsex = "suppress"\n'
    (tmp_path / "study.toml").write_text(frame + text)
    (tmp_path / "diagnosis.csv").write_text("flu;airways;*\ncold;airways;*\n")
    study = Study(tmp_path / "study.toml")
    assert [model.attribute for model in study.privacy] == ["diagnosis", "income"]
    assert study.schema.targets == ("outcome",)


def test_the_study_example_is_a_study(tmp_path):
    text = blocks("toml")[0]
    (tmp_path / "study.toml").write_text(text)
    for comment, name in [("widths", "age.toml"), ("prefixes", "zip.toml")]:
        (rule,) = re.findall(rf"{comment} = \[[^]]*\]", text)
        (tmp_path / name).write_text(rule)
    (tmp_path / "education.csv").write_text("basic;*\nhigher;*\n")
    study = Study(tmp_path / "study.toml")
    assert list(study.hierarchies) == ["age", "zip", "education", "sex"]
    assert study.anonymizer().suppression == 0.02


@pytest.mark.parametrize("block", [2, 3])
def test_the_examples_of_maskings_are_of_studies(tmp_path, block):
    frame = '[data]\npath = "t.csv"\n[quasi-identifiers]\nage = "suppress"\n[[privacy]]\n'
    (tmp_path / "study.toml").write_text(blocks("toml")[block] + frame)
    masking = Study(tmp_path / "study.toml").masking
    assert masking.method == "pram"
    assert masking.masked(["age"]) == ("age",)


def test_the_functions_on_arrays_run():
    names: dict = {}
    exec(blocks("python")[2], names)
    assert names["least"].distortion <= 0.5 + 1e-12


def test_the_table_of_models_is_that_of_the_code():
    (table,) = re.findall(r"<!-- models -->\n(.*)\n<!-- end of models -->", README, re.DOTALL)
    assert table == markdown(MODELS.values())
    assert all(f"`{name}`" in table for name in MODELS)


def test_the_table_of_warnings_is_that_of_the_code():
    (table,) = re.findall(r"<!-- warnings -->\n(.*)\n<!-- end of warnings -->", README, re.DOTALL)
    assert table == warnings_markdown()
    assert all(f"`{code}`" in table for code in WARNINGS)


@pytest.mark.parametrize("name", [*OBJECTIVES, *STRATEGIES])
def test_every_objective_and_strategy_is_in_its_table(name):
    assert re.search(rf"^\| .*`{name}`", README, flags=re.MULTILINE)


def test_the_comparisons_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^anonymizer (compare .*)$", README, flags=re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        demo = command.replace("study.toml", str(ROOT / "data" / "demo.toml"))
        with pytest.raises(SystemExit) as stop:
            main([*shlex.split(demo), "--recoding", "variable-range"])
        assert (stop.value.code, capsys.readouterr().err) == (0, "")
    assert (tmp_path / "frontier.svg").exists()


def test_the_two_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in ("demo", "test"):
        assert f"make {command}" in README
        assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE)


def test_no_link_leads_nowhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
