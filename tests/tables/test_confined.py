"""A database that somebody else made reads no file but itself, and never holds up its reader."""

import csv
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow.parquet as parquet
import pytest
from waiting import until

from anonymizer import InputError
from anonymizer.release.publish import publish
from anonymizer.release.study import Study

STUDY = """
[data]
path = "{path}"
table = "{table}"

[quasi-identifiers]
age = "suppress"

[sensitive]
attributes = ["d"]

[[privacy]]
model = "k-anonymity"
k = 2

[output]
file = "{output}"
"""
SECRET = "the words of another file"


def study(path: Path, table: str = "v", output: str = "released.csv") -> Study:
    text = STUDY.format(path=path, table=table, output=output)
    return Study.parsed(text, path.parent / "study.toml")


def laid(directory: Path, view: str) -> Path:
    """A database with a view ``v``, next to files that are none of its business."""
    (directory / "other.csv").write_text(f"age,d\n30,{SECRET}\n30,{SECRET}\n", encoding="utf-8")
    duckdb.read_csv(str(directory / "other.csv")).to_parquet(str(directory / "other.parquet"))
    with duckdb.connect(str(directory / "v.duckdb")) as database:
        database.execute(
            "CREATE TABLE t AS SELECT 30 + i // 20 AS age, 'flu' AS d FROM range(40) r(i)"
        )
        database.execute(view.format(path=directory)).fetchall()
    return directory / "v.duckdb"


OUTSIDE = {
    "read_csv": "CREATE VIEW v AS FROM read_csv('{path}/other.csv')",
    "read_text": "CREATE VIEW v AS SELECT 30 AS age, content AS d FROM read_text('{path}/other.*')",
    "read_blob": "CREATE VIEW v AS SELECT 30 AS age, size AS d FROM read_blob('{path}/other.*')",
    "glob": "CREATE VIEW v AS SELECT 30 AS age, file AS d FROM glob('{path}/*')",
    "parquet": "CREATE VIEW v AS FROM '{path}/other.parquet'",
    "within": "CREATE VIEW w AS FROM '{path}/other.csv'; CREATE VIEW v AS SELECT * FROM w",
    "macro": (
        "CREATE MACRO m(p) AS TABLE SELECT * FROM read_csv(p); "
        "CREATE VIEW v AS FROM m('{path}/other.csv')"
    ),
    "subquery": (
        "CREATE VIEW v AS SELECT age, (SELECT max(d) FROM '{path}/other.csv') AS d FROM t"
    ),
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_a_view_that_reads_a_file_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    path = laid(tmp_path, OUTSIDE[kind])
    with pytest.raises(InputError) as error:
        publish(study(path), tmp_path / "out")
    assert f"the view 'v' of {path} reads what is outside of the database" in str(error.value)
    assert "make a table of it there, by CREATE TABLE" in str(error.value)
    assert SECRET not in str(error.value)
    assert not (tmp_path / "out" / "released.csv").exists()


@pytest.mark.parametrize("output", ["released.csv", "released.parquet"])
@pytest.mark.parametrize("table", ["t", "v"])
def test_tables_and_views_of_a_database_are_released(
    tmp_path: Path, output: str, table: str
) -> None:
    path = laid(tmp_path, "CREATE VIEW v AS SELECT age, upper(d) AS d FROM t")
    publish(study(path, table, output), tmp_path / "out")
    file = tmp_path / "out" / output
    if output.endswith("csv"):
        rows = [tuple(row) for row in csv.reader(file.read_text(encoding="utf-8").splitlines())][1:]
    else:
        rows = [(str(row["age"]), row["d"]) for row in parquet.read_table(file).to_pylist()]
    ill = "flu" if table == "t" else "FLU"
    assert Counter(rows) == {("30", ill): 20, ("31", ill): 20}


def test_types_of_a_database_list_no_values_of_records_that_are_left_out(tmp_path: Path) -> None:
    job = "CASE i WHEN 7 THEN 'SECRETPILOT' ELSE 'nurse' END::job"
    with duckdb.connect(str(tmp_path / "e.duckdb")) as database:
        database.execute(
            "CREATE TYPE job AS ENUM ('UNUSEDVALUE', 'nurse', 'SECRETPILOT');"
            "CREATE TABLE v AS SELECT if(i = 7, 99, 30) AS age, 'flu' AS d, "
            f"{job} AS job, [{job}] AS jobs, {{'a': {job}}} AS inner FROM range(40) r(i)"
        ).fetchall()
    text = STUDY.format(path=tmp_path / "e.duckdb", table="v", output="released.parquet")
    text += '[recoding]\nmethod = "full-domain"\nsuppression = 0.1\nremove = true\n'
    publish(Study.parsed(text, tmp_path / "study.toml"), tmp_path / "out")
    file = tmp_path / "out" / "released.parquet"
    assert {row["job"] for row in parquet.read_table(file).to_pylist()} == {"nurse"}
    for value in (b"SECRETPILOT", b"UNUSEDVALUE"):
        assert value in (tmp_path / "e.duckdb").read_bytes()
        assert value not in file.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_view_without_a_last_record_ends_when_it_is_to(tmp_path: Path, number: int) -> None:
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i AS age, 'flu' AS d FROM n"
        )
    database.close()
    (tmp_path / "study.toml").write_text(
        STUDY.format(path=path, table="v", output="released.csv"), encoding="utf-8"
    )
    command = [sys.executable, "-m", "anonymizer", "run", "study.toml", "--output", "out"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        try:
            until(lambda: [*tmp_path.rglob(".anonymizer-*")] or run.poll())
            time.sleep(1)  # it reads, and would for ever
            assert run.poll() is None
            run.send_signal(number)
            said = run.communicate(timeout=30)[0]
        finally:
            run.kill()
    assert (run.returncode, "interrupted; nothing was written" in said) == (130, True)
    assert not (tmp_path / "out").exists()
