"""Claims of persons who have several records, released with and without the column of persons.

    python benchmarks/bench_persons.py [RECORDS PERSONS]

Writes benchmarks/results/persons.md. From CSV to CSV by the command line, each run a process of its
own. All take turns after a run of each that is not counted, which compiles machine code where there
is none. The limit: DuckDB reads the same file and counts the distinct persons of each raw class.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pandas as pd
from measure import table as markdown

ROUNDS = 3
RESULTS = Path(__file__).parent / "results" / "persons.md"
STUDY = """\
[data]
path = "claims.csv"
{person}
[quasi-identifiers]
age = {{ widths = [5, 10, 20, 40] }}
sex = "suppress"
zip = {{ prefixes = [4, 3, 2] }}
month = {{ widths = [3, 6] }}
[sensitive]
attributes = "diagnosis"
[identifiers]
attributes = "member"
[[privacy]]
model = "k-anonymity"
k = 5
[[privacy]]
model = "t-closeness"
distance = "equal"
t = 0.3
[recoding]
method = "full-domain"
suppression = 0.02
"""
LIMIT = """\
import sys, duckdb
each = "SELECT age, sex, zip, month, count(DISTINCT member) FROM '{}' GROUP BY ALL"
duckdb.sql(f"SELECT count(*) FROM ({each.format(sys.argv[1])})").fetchall()
"""


def claims(records: int, persons: int) -> pd.DataFrame:
    """Claims of invented members: few have many, most have some, everybody has one."""
    rng = np.random.default_rng(1)
    weight = rng.gamma(0.9, 1, persons)
    more = rng.choice(persons, records - persons, p=weight / weight.sum())
    member = rng.permutation(np.concatenate([np.arange(persons), more]))
    age, sex = rng.integers(0, 95, persons), rng.integers(0, 2, persons)
    home, chronic = rng.integers(10_000, 10_400, persons), rng.integers(0, 40, persons)
    diagnosis = np.where(rng.random(records) < 0.5, chronic[member], rng.integers(0, 60, records))
    return pd.DataFrame(
        {
            "member": [f"M{each:07d}" for each in member],
            "age": age[member] + (rng.random(records) < 0.1),
            "sex": np.array(["F", "M"])[sex[member]],
            "zip": home[member],
            "month": rng.integers(1, 13, records),
            "diagnosis": [f"D{each:02d}" for each in diagnosis],
            "cost": rng.integers(10, 2000, records),
        }
    )


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Run a command: its seconds, and the GiB that its process had at the most."""
    start = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    return perf_counter() - start, usage.ru_maxrss / 2**20


def main(records: int = 1_000_000, persons: int = 150_000) -> None:
    """Measure both, and the limit; write the results."""
    with TemporaryDirectory() as directory:
        place = Path(directory)
        claims(records, persons).to_csv(place / "claims.csv", index=False)
        work = {"one GROUP BY of DuckDB": [sys.executable, "-c", LIMIT, str(place / "claims.csv")]}
        for name, person in (("records", ""), ("persons", 'person = "member"')):
            (place / f"{name}.toml").write_text(STUDY.format(person=person))
            output = ["--output", str(place / name), "--force", "--json"]
            run = ["-m", "anonymizer", "run", str(place / f"{name}.toml"), *output]
            work[f"run, policy of {name}"] = [sys.executable, *run]
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in work}
        for turn in range(ROUNDS + 1):
            for name, command in work.items():
                measured = timed(command)
                if turn:
                    found[name].append(measured)
    medians = {
        name: [median(column) for column in zip(*taken, strict=True)]
        for name, taken in found.items()
    }
    seconds, peak = medians["run, policy of records"]
    rows = [
        [name, f"{own:.1f}", f"{own / seconds:.2f}", f"{memory:.2f}", f"{memory / peak:.2f}"]
        for name, (own, memory) in medians.items()
    ]
    lines = [
        f"# {records:,} claims of {persons:,} persons",
        "",
        "Made by `python benchmarks/bench_persons.py`; from CSV to CSV, medians of "
        f"{ROUNDS} runs each, which took turns.",
        "",
        *markdown(["", "seconds", "of records", "GiB", "of records"], rows),
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
