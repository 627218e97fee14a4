"""Where time once rose as at a cliff: ranges of two numbers, and hundreds of sensitive values.

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
from resource import RLIMIT_AS, RUSAGE_SELF, getrusage, setrlimit
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd
import workloads
from measure import table as markdown

from anonymizer import Anonymizer, EntropyLDiversity, Hierarchy, KAnonymity, load_adult

RESULTS = Path(__file__).parent / "results" / "cliffs.md"
HERE = Path(__file__).parents[1]
LONGEST = 120
"""Seconds by the clock after which a process is ended."""
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
}
"""What is added to the nine attributes, by how many attributes that makes."""

INTRODUCTION = """# Cliffs

Made by `python benchmarks/bench_cliffs.py` with ANONYMIZER_DATA set: records of UCI's Adult, ARX's
hierarchies of nine attributes and ranges of the others (10 with `fnlwgt`, thousands of values; 11
and 12 with two more numbers), a sensitive value that is drawn, k = 5, l = 2. Seconds of the
processor and peak MiB of a process that fits once; the least of all turns. A dash: not done in two
minutes, or within 4 GiB.
"""


class Fit(NamedTuple):
    """A fit: records, quasi-identifiers, sensitive values and the recoding."""

    records: int
    attributes: int
    values: int
    recoding: str

    @property
    def title(self) -> str:
        """What results call it."""
        about = f"{self.records:,} records, {self.attributes} QIs, {self.values:,} values"
        return f"{self.recoding}, {about}"


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
]


def fitted(fit: Fit) -> None:
    """Fit once, and print the seconds, the memory and the value found."""
    setrlimit(RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    table = load_adult().dropna(subset=list(workloads.NINE)).reset_index(drop=True)
    table = table.iloc[: fit.records]
    named = {name: workloads._arx_hierarchy(name) for name in workloads.NINE}
    hierarchies = named | FURTHER[fit.attributes]
    noise = np.random.default_rng(workloads.SEED).normal(0, 20, len(table))
    code = workloads._tied(table["age"].to_numpy(float) + noise, fit.values)
    table = pd.DataFrame(table[[*hierarchies]]).assign(code=code)
    models = [KAnonymity(5), EntropyLDiversity(2)]
    anonymizer = Anonymizer(hierarchies, "code", models, recoding=fit.recoding)
    begins = process_time()
    anonymizer.fit(table)
    seconds, peak = process_time() - begins, getrusage(RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([seconds, peak, anonymizer.search_.value]))


def measured(tree: Path, fit: Fit) -> list[float] | None:
    """Fit in a process that finds a checkout; None where that takes too long, or too much."""
    command = [sys.executable, __file__, "--fit", json.dumps(fit)]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, check=True, timeout=LONGEST, text=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
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
