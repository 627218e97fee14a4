"""Releases in parts, and how a recipient reads them: every command takes the folder."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from oddities import STUDY, lay, people

from anonymizer.cli import main
from anonymizer.errors import InputError
from anonymizer.release.publish import publish
from anonymizer.release.verification.verification import verify_release

TABLE = "released.parquet"


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    """A release in three parts, and the same in one file next to it."""
    home = tmp_path_factory.mktemp("parts")
    for name, output in (("parts", "parts = 3"), ("whole", "")):
        wanted = f'{STUDY}\n[output]\nfile = "{TABLE}"\n{output}'
        publish(lay(home, people(), wanted), home / name)
    return home


def run(capsys, *arguments: object) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out + shown.err


def about(path: Path) -> list[object]:
    """The checks of a release that say something of its records."""
    found = verify_release(path)
    checks = [check for check in found.checks if not check.field.startswith("table.")]
    return [found.satisfied, *checks, *found.verdicts]


def test_parts_are_verified_as_one_table(released):
    begun: dict[str, tuple[int, int | None]] = {}
    found = verify_release(
        released / "parts", watch=lambda what, done, of: begun.setdefault(what, (done, of))
    )
    assert found.satisfied
    steps = ["reading the table", "comparing checksums", "counting the table"]
    assert begun == dict.fromkeys(steps, (0, None))
    assert [*begun] == steps
    assert about(released / "parts") == about(released / "whole")
    assert about(released / "parts" / TABLE) == about(released / "whole")
    assert {"table.parts", "table.parts.part-2.parquet"} <= {each.field for each in found.checks}


def changed(part: Path) -> None:
    frame = pd.read_parquet(part)
    frame.iloc[::-1].to_parquet(part, index=False)


def added(part: Path) -> None:
    shutil.copy(part, part.with_name("part-3.parquet"))


def hidden(part: Path) -> None:
    shutil.copy(part, part.with_name(".part-1.parquet.crc"))


def below(part: Path) -> None:
    (part.parent / "below").mkdir()
    shutil.copy(part, part.parent / "below" / "part-4.parquet")


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed": (changed, "table.parts.part-1.parquet: the table was changed after"),
    "lacking": (Path.unlink, "table.parts.part-1.parquet: the table lacks it"),
    "added": (added, "table.parts: the manifest says 3 parts, the table has 1 file that it does"),
    "hidden": (hidden, "table.parts: the manifest says 3 parts, the table has 1 file that it does"),
    "below": (below, "table.parts: the manifest says 3 parts, the table has 1 file that it does"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_part_that_is_not_what_was_released_is_named(released, tmp_path, capsys, wrong):
    shutil.copytree(released / "parts", tmp_path / "r")
    change, said = WRONG[wrong]
    change(tmp_path / "r" / TABLE / "part-1.parquet")
    found = verify_release(tmp_path / "r")
    assert not found.satisfied
    assert said in "\n".join(map(str, found.differences))
    code, printed = run(capsys, "verify", tmp_path / "r")
    assert (code, said.split(":")[0] in printed) == (1, True)
    code, printed = run(capsys, "report", tmp_path / "r", "-o", tmp_path / "r.md")
    assert (code, (tmp_path / "r.md").exists()) == (1, False)


def test_a_folder_without_its_manifest_is_no_release(released, tmp_path):
    shutil.copytree(released / "parts" / TABLE, tmp_path / TABLE)
    with pytest.raises(InputError, match=r"there is no release\.json next to"):
        verify_release(tmp_path / TABLE)
    study = released / "study.toml"
    assert verify_release(tmp_path / TABLE, study).satisfied


def test_every_reader_of_a_release_takes_parts(released, tmp_path, capsys):
    parts = released / "parts"
    for number, path in enumerate((parts, parts / TABLE)):
        page = tmp_path / f"{number}.md"
        assert run(capsys, "report", path, "-o", page)[0] == 0
        assert "120 records" in page.read_text(encoding="utf-8")
        assert run(capsys, "export", path, "--csv", "-o", tmp_path / f"e{number}")[0] == 0
        assert run(capsys, "check", path)[0] == 0
        assert run(capsys, "risk", path)[0] == 0
        new = tmp_path / f"a{number}"
        assert run(capsys, "apply", path, released / "people.csv", "-o", new)[0] == 0
        manifest = json.loads((new / "release.json").read_text())
        assert manifest["released"] == 120


def test_the_checksum_of_a_report_is_what_its_command_prints(released, tmp_path, capsys):
    run(capsys, "report", released / "parts", "-o", tmp_path / "r.md")
    page = (tmp_path / "r.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^ *(\(cd .* \| sha256sum\))$", page, re.MULTILINE)
    printed = subprocess.run(
        ["sh", "-c", command], cwd=released, capture_output=True, check=True, text=True
    )
    about = json.loads((released / "parts" / "release.json").read_text())["table"]
    assert printed.stdout.split()[0] == about["sha256"]


@pytest.mark.parametrize("command", ["verify", "report", "export", "apply"])
def test_one_part_is_not_taken_for_the_release(released, tmp_path, capsys, command):
    more = {"export": ["--csv"], "apply": [released / "people.csv"]}.get(command, [])
    output = [] if command == "verify" else ["-o", tmp_path / "out"]
    part = released / "parts" / TABLE / "part-0.parquet"
    code, said = run(capsys, command, part, *more, *output)
    assert (code, f"{part} is a part of the released table {part.parent}" in said) == (2, True)
    assert not (tmp_path / "out").exists()


def test_apply_reads_a_database_and_writes_parts(released, tmp_path, capsys):
    path = tmp_path / "months.duckdb"
    with duckdb.connect(str(path)) as months:
        months.execute(f"CREATE TABLE june AS FROM read_csv('{released / 'people.csv'}')")
        months.execute("CREATE TABLE july AS FROM june")
    out = tmp_path / "out"
    given = ("apply", released / "whole", path, "-o", out)
    code, said = run(capsys, *given)
    assert (code, "'july', 'june'; name one of them with --table" in said) == (2, True)
    code, said = run(capsys, *given, "--table", "june", "--memory", "4 apples")
    assert (code, "memory = '4 apples' must be bytes with their unit" in said) == (2, True)
    people = released / "people.csv"
    code, said = run(capsys, "apply", released / "whole", people, "-o", out, "--table", "june")
    assert (code, f"{people} is no database; leave out --table" in said) == (2, True)
    code, said = run(capsys, "apply", released / "whole", people, "-o", out, "--parts", 2)
    assert (code, "--parts is for Parquet; add --file released.parquet" in said) == (2, True)
    assert not out.exists()
    assert run(capsys, *given, "--table", "june", "--memory", "1GB", "--parts", 2)[0] == 0
    assert sorted(path.name for path in (out / TABLE).iterdir()) == [
        "part-0.parquet",
        "part-1.parquet",
    ]
    assert verify_release(out).satisfied
    as_csv = tmp_path / "as-csv"
    given = ("apply", out, path, "-o", as_csv, "--table", "july", "--file", "released.csv")
    assert run(capsys, *given)[0] == 0
    assert verify_release(as_csv).satisfied
    in_parts = pd.read_parquet(out / TABLE).astype(object)
    alone = pd.read_csv(as_csv / "released.csv", dtype=object, keep_default_na=False)
    texts = in_parts.where(in_parts.notna(), "").map(str)
    assert sorted(texts.to_numpy().tolist()) == sorted(alone.to_numpy().tolist())
