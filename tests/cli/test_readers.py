"""Commands that read tables take every table that a run takes, and every release of one."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from forked import unwarned

from anonymizer.cli import main

Run = Callable[..., tuple[int, str, str]]

STUDY = """[data]
{data}
[quasi-identifiers]
age = {{ widths = [10, 50] }}
sex = "suppress"
[sensitive]
attributes = ["illness"]
[identifiers]
attributes = ["name"]
[[privacy]]
model = "k-anonymity"
k = 3
{more}"""

PARTS = '[output]\nfile = "released.parquet"\nparts = 2\n'

KNOWN = ("--quasi-identifiers", "age,sex", "--sensitive", "illness")


def people() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    columns = {
        "name": [f"person {place}" for place in range(60)],
        "age": rng.integers(20, 60, 60).astype(str),
        "sex": rng.choice(["f", "m"], 60),
        "illness": rng.choice(["flu", "cold"], 60),
    }
    return pd.DataFrame(columns)


def as_csv(table: pd.DataFrame) -> str:
    table.to_csv("people.csv", index=False)
    return "people.csv"


def as_folder(table: pd.DataFrame) -> str:
    Path("people").mkdir()
    for number, place in enumerate((0, 25, 50)):
        table[place : place + 25].to_parquet(f"people/{number}.parquet", index=False)
    return "people"


def as_pattern(table: pd.DataFrame) -> str:
    Path("lists").mkdir()
    for number, place in enumerate((0, 30)):
        table[place : place + 30].to_csv(f"lists/{number}.csv", index=False)
    return "lists/*.csv"


def as_duckdb(table: pd.DataFrame) -> str:
    with duckdb.connect("people.duckdb") as database:
        database.register("given", table)
        database.execute("CREATE TABLE people AS FROM given")
        database.execute("CREATE TABLE others AS SELECT 1 AS one")
    return "people.duckdb"


def as_sqlite(table: pd.DataFrame) -> str:
    connection = sqlite3.connect("people.sqlite")
    table.to_sql("people", connection, index=False)
    connection.close()
    return "people.sqlite"


TABLES = (as_csv, as_folder, as_pattern, as_duckdb, as_sqlite)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, unwarned(shown.err)

    return run


def study_of(path: str, more: str = "") -> str:
    table = '\ntable = "people"' if path.endswith(".duckdb") else ""
    file = Path(f"{Path(path).name.strip('*.')}.toml")
    file.write_text(STUDY.format(data=f'path = "{path}"{table}', more=more))
    return str(file)


def measured(run: Run, path: str, release: str) -> list[str]:
    """What each command says of one table; the same wherever it lies."""
    study, named = study_of(path), ("--table", "people") if path.endswith("duckdb") else ()
    found = [
        run("check", path, *named, *KNOWN, "--require", "k-anonymity=2", "--json"),
        run("risk", path, "-s", study, "--by", "attribute", "--json"),
        run("risk", path, *named, *KNOWN, "--by", "record", "-o", "risks.csv", "--force"),
        run("advise", study, "--json"),
        run("compare", study, "--recoding", "full-domain", "--json"),
        run("lattice", study, "--json"),
        run("audit", release, "--against", path, *named, "--json"),
        run("quality", release, "-s", study, "--no-classifiers", "--json"),
        run("init", path, *named, "-y", "--force", "-o", "drafted", "--json"),
    ]
    assert not any(err for *_, err in found), found
    return [*(f"{code} {out}" for code, out, _ in found), Path("risks.csv").read_text("utf-8")]


def test_every_table_is_measured_alike(run: Run) -> None:
    first = as_csv(people())
    assert run("run", study_of(first, PARTS), "-o", "release")[0] == 0
    expected = measured(run, first, "release")
    assert json.loads(expected[0][1:])["records"] == 60
    for lay in TABLES[1:]:
        found = measured(run, lay(people()), "release/released.parquet")
        for one, other in zip(found, expected, strict=True):
            assert one.replace("release/released.parquet", "release") == other, lay


def test_a_release_of_counts_is_measured(run: Run) -> None:
    study = study_of(as_csv(people()))
    run("count", "people.csv", "-s", study, "-o", "people.counts")
    assert run("run", study, "--counts", "people.counts", "-o", "counted")[0] == 0
    assert run("run", study, "-o", "whole")[0] == 0
    for arguments in (("check",), ("check", "-s", study), ("risk",), ("risk", "--by", "class")):
        command, *options = arguments
        assert run(command, "counted", *options, "--json") == run(
            command, "whole", *options, "--json"
        )
    code, _, said = run("risk", "counted", "--by", "record", "-o", "risks.csv")
    assert (code, "counts of the table, not its records; measure risks by class" in said) == (
        2,
        True,
    )
    code, _, said = run("quality", "counted", "-s", study)
    assert (code, "holds counts, and quality compares" in said) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "people.duckdb", *KNOWN), "is an option, such as --table"),
        (("check", "people.duckdb", "--table", "person", *KNOWN), "'people'"),
        (("check", "people.csv", "--table", "people", *KNOWN), "people.csv is no database"),
        (("init", "people.duckdb", "-y"), "is an option, such as --table"),
        (("audit", "release", "--against", "people.duckdb"), "or name it with --table"),
        (
            ("check", "people.duckdb", "--table", "people", "-s", "people.toml"),
            "leave out the others",
        ),
        (("risk", "nobody/*.csv", *KNOWN), "no file has a name such as nobody"),
    ],
)
def test_mistakes(run: Run, arguments: tuple[str, ...], words: str) -> None:
    as_csv(people())
    as_duckdb(people())
    if arguments[0] == "audit":
        run("run", study_of("people.csv"), "-o", "release")
    code, _, said = run(*arguments)
    assert (code, words in said) == (2, True), said


def test_records_are_held_up_to_a_limit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(as_folder(people()), PARTS)
    assert run("run", study, "-o", "release")[0] == 0
    monkeypatch.setenv("ANONYMIZER_MAX_COMBINATIONS", "59")
    for arguments in (
        ("quality", "release", "-s", study),
        ("audit", "release", "-a", "people"),
    ):
        code, _, said = run(*arguments)
        assert (code, "has 60, more than the 59 that are held in memory" in said) == (2, True)


def test_a_population_is_counted_where_it_lies(run: Run) -> None:
    everybody = pd.concat([people(), people()])
    as_duckdb(everybody)
    everybody.to_csv("everybody.csv", index=False)
    as_csv(people())
    policy = '[[privacy]]\nmodel = "k-map"\nk = 4\npopulation = {}\n'
    policy += '[output]\norder = "kept"\n'  # else sums of figures differ in their last digit
    found: list[tuple[int, str, str]] = []
    for place in ('"everybody.csv"', '{ path = "people.duckdb", table = "people" }'):
        study = study_of("people.csv", policy.format(place))
        assert run("run", study, "-o", "release", "--force")[0] == 0
        tables = ("people.csv", "release")
        found += [run("check", table, "-s", study, "--json") for table in tables]
        found.append(run("audit", "release", "-a", "people.csv", "-s", study, "--json"))
        for code, out, err in found:
            assert (code, err) == (0, "") or "k-map" in out, (out, err)
    same = [[figure for _, figure, _ in part] for part in (found[:3], found[3:])]
    assert len(same[0]) == 3
    for one, other in zip(*same, strict=True):
        assert one.replace("everybody.csv", "people.duckdb") == other
    study = study_of("people.csv", policy.format('"people.duckdb"'))
    code, _, said = run("run", study, "-o", "other")
    assert (code, 'population = { path = "people.duckdb", table = ... }' in said) == (2, True), said
    study = study_of("people.csv", policy.format("7"))
    code, _, said = run("run", study, "-o", "other")
    assert (code, "must be the path of a table, which may lie" in said) == (
        2,
        True,
    ), said
