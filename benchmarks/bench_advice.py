"""Whether what advice says comes true, and how long it takes.

    python benchmarks/bench_advice.py

The real tables need the directory of data sets in ANONYMIZER_DATA. Writes
benchmarks/results/advice.md.
"""

import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from measure import table as markdown

from anonymizer import (
    Anonymizer,
    FullDomain,
    Hierarchy,
    KAnonymity,
    advise,
    load_adult,
    load_census,
)

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import advised  # noqa: E402 (brute force, which the tests use)

STUDIES = 200
RECORDS = 1_000_000
INTRODUCTION = f"""# Advice

Made by `python benchmarks/bench_advice.py` with ANONYMIZER_DATA set.

## Held against brute force

The first {STUDIES} of random studies (`tests/advised.py`, seeds from 0) that are out of reach or
drastic: three to five attributes, one to three models, any of five objectives, up to 10 %
suppressed, given levels in a third, some with `max-level`. Every change that the advice lists was
made, and every node of the lattice then released on records in plain Python, which shares no code
with the search. Held are the levels and what is freed of every change; that every attribute is in
the list, left out and at every coarser level; that the three attributes named free most; that
every way out is one, and that one step less is not where it is said to be the least; and the
records that stand in the way. A difference would have ended the run.
"""
TIMES = """
## Times

Seconds of `advise` from a DataFrame in memory, compiled code loaded, on a machine of two cores that
others used, too. *changes*: how many were searched; *points*: thresholds of the frontier. k = 5
alone, W = marital-status.
"""


def main() -> None:
    """Hold the advice against brute force, time it, and write what came out."""
    lines = [INTRODUCTION, *markdown(*held()), TIMES, *markdown(*timed())]
    place = ROOT / "benchmarks" / "results" / "advice.md"
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")


def held() -> tuple[list[str], list[list[object]]]:
    """Studies and changes of each kind that were held."""
    studies, changes, named = Counter(), Counter(), Counter()
    for _, study, found in islice(advised.studies(), STUDIES):
        kind = "drastic" if found.reachable else "out of reach"
        studies[kind] += 1
        changes[kind] += advised.hold(study, found)
        named[kind] += len(found.most)
    columns = ["studies", "number", "changes made", "attributes named", "differences"]
    return columns, [[kind, studies[kind], changes[kind], named[kind], 0] for kind in studies]


def timed() -> tuple[list[str], list[list[object]]]:
    """Seconds of the advice on the census, Adult and a million records like Adult's."""
    adult = load_adult()
    rng = np.random.default_rng(0)
    many = adult.iloc[rng.integers(0, len(adult), RECORDS)].reset_index(drop=True)
    many["age"] = np.clip(many["age"] + rng.integers(-2, 3, RECORDS), 17, 90)
    four = dict.fromkeys(("sex", "race", "education"), "suppress")
    cases = [
        ("census, 4 attributes", load_census(), {"age": ages(), **four}),
        ("Adult, 9 attributes", adult, nine()),
        ("a million like Adult, 9 attributes", many, nine()),
    ]
    rows = [row(*case, sweep) for case in cases for sweep in (True, False)]
    return ["table", "records", "frontier", "seconds", "points", "changes"], rows


def row(
    name: str, table: pd.DataFrame, hierarchies: dict[str, object], sweep: bool
) -> list[object]:
    """One case, timed."""
    anonymizer = Anonymizer(
        hierarchies,
        sensitive="marital-status",
        privacy=[KAnonymity(5)],
        recoding=FullDomain(),
        missing="category",
    )
    start = perf_counter()
    found = advise(anonymizer, table, sweep=sweep)
    seconds = perf_counter() - start
    points = sum(len(each.points) for each in found.sweeps)
    yes = "yes" if sweep else "no"
    return [name, f"{len(table):,}", yes, f"{seconds:.1f}", points, len(found.changes)]


def ages() -> Hierarchy:
    """Ages as the demonstration has them."""
    return Hierarchy.read(ROOT / "hierarchies" / "adult" / "age-bezzi2010.toml")


def nine() -> dict[str, object]:
    """The hierarchies of nine attributes of Adult."""
    files = ("age.toml", "sex.toml", "race.csv", "education.csv", "workclass.csv")
    files += ("occupation.csv", "relationship.csv", "native-country.csv", "hours-per-week.toml")
    place = ROOT / "hierarchies" / "adult"
    return {name.partition(".")[0]: Hierarchy.read(place / name) for name in files}


if __name__ == "__main__":
    main()
