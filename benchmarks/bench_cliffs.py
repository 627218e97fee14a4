"""Where time once rose as at a cliff: ranges of two numbers, hundreds of values, 15 attributes.

    python benchmarks/bench_cliffs.py [--against DIRECTORY] [--rounds N] [NAME ...]

Needs adult/ and arx-adult/ in the directory of data sets that ANONYMIZER_DATA names. Writes
benchmarks/results/cliffs.md. ``--against`` names another checkout of the project, which is measured
in turn; NAME a part of what a row is called. Each measurement is a process of its own, which is
ended after two minutes or where it wants more than 4 GiB, and the least time of each counts.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from resource import RLIMIT_AS, RLIMIT_CPU, RUSAGE_CHILDREN, RUSAGE_SELF, getrusage, setrlimit
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd
import workloads
from measure import table as markdown

from anonymizer import (
    Anonymizer,
    EntropyLDiversity,
    FullDomain,
    Hierarchy,
    KAnonymity,
    TCloseness,
    load_adult,
)

RESULTS = Path(__file__).parent / "results" / "cliffs.md"
HERE = Path(__file__).parents[1]
LONGEST = 120
"""Seconds of the processor after which a process is ended."""
MOST_BYTES = 4 * 2**30
"""Memory that a process may have."""

FIFTEEN = {
    **workloads.BEYOND_ARX,
    "capital-loss": Hierarchy.ranges(widths=[500, 1000]),
    "education-num": Hierarchy.ranges(widths=[2, 4, 8]),
    "fnlwgt": Hierarchy.ranges(widths=[10_000, 100_000]),
}
FURTHER = {
    9: {},
    10: {"fnlwgt": FIFTEEN["fnlwgt"]},
    11: {name: FIFTEEN[name] for name in ("capital-gain", "hours-per-week")},
    12: workloads.BEYOND_ARX,
    15: FIFTEEN,
    20: FIFTEEN | {f"drawn-{n}": Hierarchy.ranges(widths=[5, 20]) for n in range(5)},
}
"""What is added to the nine attributes, by how many attributes that makes."""

DRAFTED = "init and run"
"""In place of a recoding: the commands, as they are, on a table of people from CSV to CSV."""

DECIMALS = 0
"""In place of a number of sensitive values: as many as records, under ordered t-closeness."""

INTRODUCTION = """# Cliffs

Made by `python benchmarks/bench_cliffs.py` with ANONYMIZER_DATA set: records of UCI's Adult, ARX's
hierarchies of nine attributes and ranges of the others (10 with `fnlwgt`, thousands of values; 11
and 12 with two more numbers, 15 with all of them, 20 with five that are drawn), a sensitive value
that is drawn, k = 5, l = 2; of decimals k = 5 and t = 0.2 in their order. `full-domain` suppresses
2 %, within the seconds that are named. `init and run` are both commands on zip code, birth date,
sex and race of people who are drawn; their last column is I(X~;W) in bits. Seconds
of the processor and peak MiB of a process that fits once; the least of all turns. A dash: not done
in two minutes of the processor, or within 4 GiB.
"""


class Fit(NamedTuple):
    """A fit: records, quasi-identifiers, sensitive values, the recoding and its time limit."""

    records: int
    attributes: int
    values: int
    recoding: str
    limit: float | None = None

    @property
    def title(self) -> str:
        """What results call it."""
        values = "decimals" if self.values == DECIMALS else f"{self.values:,} values"
        limit = "" if self.limit is None else f", {self.limit:.0f} s"
        return f"{self.recoding}, {self.records:,} records, {self.attributes} QIs, {values}{limit}"


FITS = [
    Fit(30_162, 9, 5, "variable-range"),
    Fit(30_162, 9, 500, "variable-range"),
    Fit(30_162, 9, 5_000, "variable-range"),
    Fit(3_000, 10, 50, "variable-range"),
    Fit(10_000, 11, 5, "variable-range"),
    Fit(5_000, 11, 500, "variable-range"),
    Fit(30_162, 12, 5, "variable-range"),
    Fit(30_162, 9, 50, "boxes"),
    Fit(30_162, 9, 500, "boxes"),
    Fit(30_162, 9, 5_000, "boxes"),
    Fit(30_162, 9, 50, "merged-cells"),
    Fit(30_162, 9, 500, "merged-cells"),
    Fit(8_000, 9, DECIMALS, "variable-range"),
    Fit(30_162, 9, DECIMALS, "variable-range"),
    Fit(30_162, 9, 5, "full-domain"),
    Fit(30_162, 12, 5, "full-domain"),
    Fit(30_162, 15, 5, "full-domain", 10),
    Fit(30_162, 20, 5, "full-domain", 20),
    Fit(300_000, 4, 20, DRAFTED),
]


def fitted(fit: Fit) -> None:
    """Fit once, and print the seconds, the memory and the value found."""
    setrlimit(RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    setrlimit(RLIMIT_CPU, (LONGEST, LONGEST))
    found = drafted(fit) if fit.recoding == DRAFTED else searched(fit)
    print(json.dumps(found))


def searched(fit: Fit) -> list[float]:
    """Fit a table of Adult; the seconds, the memory and the value found."""
    table = load_adult().dropna(subset=list(workloads.NINE)).reset_index(drop=True)
    table = table.iloc[: fit.records]
    named = {name: workloads._arx_hierarchy(name) for name in workloads.NINE}
    hierarchies = named | FURTHER[fit.attributes]
    rng = np.random.default_rng(workloads.SEED)
    noise = rng.normal(0, 20, len(table))
    if fit.values == DECIMALS:
        code, second = np.round(rng.lognormal(10, 0.5, len(table)), 2), TCloseness(0.2, "ordered")
    else:
        code = workloads._tied(table["age"].to_numpy(float) + noise, fit.values)
        second = EntropyLDiversity(2)
    drawn = {name: rng.integers(0, 60, len(table)) for name in hierarchies if "drawn" in name}
    table = pd.DataFrame(table.assign(**drawn)[[*hierarchies]]).assign(code=code)
    recoding = FullDomain(suppression=0.02) if fit.recoding == "full-domain" else fit.recoding
    models = [KAnonymity(5), second]
    anonymizer = Anonymizer(hierarchies, "code", models, recoding=recoding, time_limit=fit.limit)
    begins = process_time()
    anonymizer.fit(table)
    seconds, peak = process_time() - begins, getrusage(RUSAGE_SELF).ru_maxrss / 1024
    return [seconds, peak, anonymizer.search_.value]


def people(fit: Fit) -> pd.DataFrame:
    """Draw people: 2,000 zip codes, births of 75 years, and a diagnosis."""
    rng, records = np.random.default_rng(workloads.SEED), fit.records
    zips = np.sort(rng.choice(np.arange(10_000, 99_999), 2_000, replace=False)).astype(str)
    weights = rng.pareto(1.2, len(zips)) + 0.1
    days = rng.integers(0, 75 * 365, records).astype("timedelta64[D]")
    races = ["White", "Black", "Asian", "Other"]
    return pd.DataFrame(
        {
            "zip": rng.choice(zips, records, p=weights / weights.sum()),
            "birth_date": (np.datetime64("1930-01-01") + days).astype(str),
            "sex": rng.choice(["F", "M"], records),
            "race": rng.choice(races, records, p=[0.7, 0.15, 0.1, 0.05]),
            "diagnosis": rng.choice([f"D{number:02}" for number in range(fit.values)], records),
        }
    )


def drafted(fit: Fit) -> list[float]:
    """Draft a study of people and run it; the seconds and memory of both, and I(X~;W)."""
    program = [sys.executable, "-c", "from anonymizer.cli import program; program()"]
    with TemporaryDirectory() as place:
        people(fit).to_csv(Path(place, "people.csv"), index=False)
        init = ["init", "people.csv", "--yes", "--sensitive", "diagnosis", "--output", "drafted"]
        for command in (init, ["run", "drafted/study.toml", "--output", "release"]):
            subprocess.run([*program, *command], cwd=place, check=True, stdout=subprocess.DEVNULL)
        release = json.loads(Path(place, "release", "release.json").read_text(encoding="utf-8"))
    used = getrusage(RUSAGE_CHILDREN)
    seconds, kept = used.ru_utime + used.ru_stime, release["information"]["retained"]
    return [seconds, used.ru_maxrss / 1024, kept]


def measured(tree: Path, fit: Fit) -> list[float] | None:
    """Fit in a process that finds a checkout; None where that takes too long, or too much."""
    command = [sys.executable, __file__, "--fit", json.dumps(fit)]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    except subprocess.CalledProcessError:
        return None
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def rows(trees: Mapping[str, Path], fits: list[Fit], rounds: int) -> list[list[str]]:
    """A row for each fit and tree; all take turns."""
    found = []
    for fit in fits:
        best: dict[str, list[float] | None] = {}
        for turn in range(rounds):
            for name, tree in trees.items():
                if not turn or best[name] is not None:
                    best[name] = min(
                        filter(None, [measured(tree, fit), best.get(name)]), default=None
                    )
        for name, each in best.items():
            cells = (
                ["-"] * 3
                if each is None
                else [f"{each[0]:.1f}", f"{each[1]:.0f}", f"{each[2]:.9g}"]
            )
            found.append([fit.title, name, *cells])
            print(found[-1], flush=True)
    return found


def main() -> None:
    """Measure and write."""
    options = argparse.ArgumentParser()
    options.add_argument("--against", type=Path)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--fit", type=json.loads)
    options.add_argument("names", nargs="*")
    given = options.parse_args()
    if given.fit:
        fitted(Fit(*given.fit))
        return
    trees = {"this": HERE}
    if given.against is not None:
        trees["before"] = given.against.resolve()
    fits = [fit for fit in FITS if all(name in fit.title for name in given.names)]
    header = ["", "tree", "s", "MiB", "objective"]
    lines = [INTRODUCTION, *markdown(header, rows(trees, fits, given.rounds))]
    RESULTS.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
