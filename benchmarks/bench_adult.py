"""Time the searches of the Adult experiments beside a group-by per node.

    python benchmarks/bench_adult.py

Needs the directory of data sets in ANONYMIZER_DATA (adult/ and arx-adult/). Writes
benchmarks/results/adult.md. Everything runs in one process, in turn, so that ratios hold when the
machine's speed drifts; absolute times are of the machine at hand.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import pandas as pd

from anonymizer import EntropyLDiversity, Hierarchy, KAnonymity, TCloseness, load_adult
from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.objectives import MutualInformation
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding import Problem, Refiner, refine_jointly, solve
from anonymizer.recoding.lattice import level_recoding
from anonymizer.tables import engine
from anonymizer.tables.datasets import adult_hierarchy

SENSITIVE = "marital-status"
OTHERS = ("sex", "race", "education")
REPEATS = 7
RESULTS = Path(__file__).parent / "results" / "adult.md"
INTRODUCTION = f"""# Searches of the Adult experiments

Made by `python benchmarks/bench_adult.py` with ANONYMIZER_DATA set: 30 162 records, age, sex, race
and education as quasi-identifiers, sensitive {SENSITIVE}; medians of {REPEATS} rounds in which all
take turns, one process, one job. A single scan of the records is the second line; the rest never
sees them.
"""


@dataclass(frozen=True)
class Setting:
    """A table, its hierarchies and a policy."""

    title: str
    table: pd.DataFrame
    hierarchies: Mapping[str, Hierarchy]
    models: list[PrivacyModel]

    def count(self) -> Problem:
        """Count the table."""
        schema = Schema(tuple(self.hierarchies), (SENSITIVE,))
        tally = engine.tally(self.table, schema.columns)
        taxonomies = taxonomies_of(tally, self.hierarchies)
        return Problem(schema.counts(tally, taxonomies), taxonomies, self.models)


def settings() -> list[Setting]:
    """The experiment of the paper, and the extract with ARX's hierarchies."""
    directory = Path(os.environ["ANONYMIZER_DATA"], "arx-adult")
    age = Hierarchy.read(adult_hierarchy("age-bezzi2010"))
    return [
        Setting(
            "Bezzi 2010: 32 nodes, t = 0.55, l = 2.7",
            load_adult().dropna(),
            {"age": age, **dict.fromkeys(OTHERS, Hierarchy.suppression())},
            [TCloseness(0.55, distance="kl"), EntropyLDiversity(2.7)],
        ),
        Setting(
            "Extract with ARX's hierarchies: 80 nodes, k = 5, l = 2",
            pd.read_csv(directory / "adult.csv", sep=";"),
            {n: Hierarchy.read(directory / f"adult_hierarchy_{n}.csv") for n in ("age", *OTHERS)},
            [KAnonymity(5), EntropyLDiversity(2)],
        ),
    ]


def group_by_every_node(setting: Setting, problem: Problem) -> None:
    """The naive way: recode the records and let pandas count them, for every node."""
    names = problem.counts.names
    table = setting.table
    columns = {name: engine.distinct(table[name]) for name in names}
    codes = {name: problem.taxonomies[name].encode(v)[c] for name, (c, v) in columns.items()}
    for node in problem.lattice:
        recoding = level_recoding(problem.taxonomies, names, node)
        recoded = {name: recoding[name].groups[codes[name]] for name in names}
        frame = pd.DataFrame({**recoded, SENSITIVE: table[SENSITIVE].to_numpy()})
        frame.groupby([*names, SENSITIVE]).size()


def work_on(setting: Setting) -> dict[str, Callable[[], float | None]]:
    """Every way to do the work, the naive one first; those that choose give what they keep."""
    problem, objective = setting.count(), MutualInformation()

    def best(name: str) -> float:
        found = solve(problem, name)
        return float("nan") if found is None else found.score

    return {
        "pandas group-by of the records at every node": lambda: group_by_every_node(
            setting, problem
        ),
        "count the table once (tally, encode)": lambda: setting.count() and None,
        "exhaustive": lambda: best("exhaustive"),
        "incognito": lambda: best("incognito"),
        "automatic": lambda: best("automatic"),
        "A1* over age, exact, all levels of the others": lambda: (
            refine_jointly(problem, ["age"], Refiner(objective)).value
        ),
    }


def measured(work: Mapping[str, Callable[[], float | None]]) -> list[str]:
    """One line per piece of work; the pieces take turns, after a warm-up."""
    times: dict[str, list[float]] = {name: [] for name in work}
    kept: dict[str, float | None] = {}
    for repeat in range(REPEATS + 1):
        for name, function in work.items():
            start = perf_counter()
            kept[name] = function()
            if repeat:
                times[name].append(perf_counter() - start)
    taken = {name: median(values) for name, values in times.items()}
    naive = next(iter(taken.values()))
    return [
        f"| {name} | {1000 * time:.1f} | {naive / time:.1f} | "
        f"{'' if kept[name] is None else format(kept[name], '.6f')} |"
        for name, time in taken.items()
    ]


def main() -> None:
    """Measure and write."""
    lines = [INTRODUCTION]
    for setting in settings():
        lines += [f"## {setting.title}", ""]
        lines += ["| work | ms | times faster than the first | I(X~;W) |", "|---|---|---|---|"]
        lines += [*measured(work_on(setting)), ""]
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
