"""Time the searches of the lattice beside every node, a group-by per node, and the peers.

    python benchmarks/bench_search.py [section ...]

Sections: goals, values, growth, search, suppression, jobs, large, peers, process,
refinement, limits; all when none is named. The first three, in searching/, take ten minutes.
Needs the directory of data sets in ANONYMIZER_DATA (adult/ and arx-adult/); peers need
``pip install anjana crowds``, in an environment of their own if need be (see peers.py). Writes
benchmarks/results/search/<section>.md. What is compared takes turns in one process, so that ratios
hold when the machine's speed drifts; absolute times are of the machine at hand.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import workloads
from measure import ROUNDS, Timed, described, problem_of, rounds, table
from naive import group_by_sampled_nodes
from peers import answers
from searching.goals import goals
from searching.growth import growth
from searching.values import values
from workloads import Workload

from anonymizer import Anonymizer, Hierarchy
from anonymizer.kernels import NATIVE
from anonymizer.objectives import OBJECTIVES, MutualInformation, Objective
from anonymizer.recoding import Refiner, Run, Suppression, refine_jointly, solve
from anonymizer.tables.datasets import adult_hierarchy, load_adult

RESULTS = Path(__file__).parent / "results" / "search"
COMMAND = "python benchmarks/bench_search.py"
MILLION = 1_000_000


def search() -> Iterator[str]:
    """Searches of encoded tables, warm."""
    targets = {80: "2", 4_320: "8", 12_960: "10", 777_600: "200"}
    yield "Search only: the table is counted and encoded, kernels are loaded. Median ms of"
    yield f"{ROUNDS} rounds. A group-by per node is extrapolated from 24 nodes, and `exhaustive` of"
    yield "777,600 nodes is left out. Gives the whole frontier and the optimum."
    yield ""
    rows = []
    chosen = [w for w in workloads.adult() if not w.suppression]
    for workload in chosen:
        problem = replace(problem_of(workload), kernel=NATIVE)
        work: dict[str, Timed] = {
            name: partial(solve, problem, name) for name in ("automatic", "bisection", "top-down")
        }
        taken = rounds(work)
        found = solve(problem)
        small = workload.nodes <= 20_000
        every = rounds({"exhaustive": partial(solve, problem, "exhaustive")}, 1) if small else {}
        naive = 1000 * group_by_sampled_nodes(workload).extrapolated
        rows.append(
            [
                workload.title,
                f"{workload.nodes:,}",
                targets.get(workload.nodes, ""),
                *(f"{taken[name]:.2f}" for name in work),
                f"{every['exhaustive']:.0f}" if every else "",
                f"{naive:,.0f}",
                f"{naive / taken['automatic']:,.0f}",
                *described(problem, found),
            ]
        )
    yield from table(
        [
            *("workload", "nodes", "at most", "automatic", "bisection", "top-down", "exhaustive"),
            *("group-by", "times faster", "checked", "feasible", "minimal", "objective"),
        ],
        rows,
    )


def suppression() -> Iterator[str]:
    """The optimum with 2 % of the records suppressed."""
    yield "Search only, warm, the optimum; median ms of 5 rounds. *exempt*: the suppressed records"
    yield "form a class that need not satisfy the models, as in other tools (never released here);"
    yield "*kept*: it satisfies them or its records are removed; *removed*: they always are."
    yield ""
    targets = {"marital-status, k = 5, l = 2,": "320", "9 QIs, k = 5": "160"}
    rows = []
    about = [
        replace(w, suppression=0.02, title=w.title.replace(", 2% suppression", ""))
        for w in workloads.eight_attributes()
        if not w.suppression
    ]
    nine = workloads.nine_attributes()[1]
    cases: list[tuple[Workload, Objective]] = [(w, MutualInformation()) for w in about]
    others = [kind for kind in OBJECTIVES.values() if not issubclass(kind, MutualInformation)]
    cases += [(nine, kind()) for kind in others]
    for workload, objective in cases:
        target = next((t for part, t in targets.items() if part in workload.title + ","), "")
        for name, budget in (
            ("exempt", Suppression(0.02, suppress="any", exempt=True)),
            ("kept", Suppression(0.02, suppress="any")),
            ("removed", Suppression(0.02, True, "any")),
        ):
            problem = replace(problem_of(workload, objective), suppression=budget, kernel=NATIVE)
            taken = rounds({"best": partial(solve, problem)}, 5)["best"]
            every = ""
            if name == "kept":
                start = perf_counter()
                solve(problem, "exhaustive")
                every = f"{1000 * (perf_counter() - start):.0f}"
            checked, _, _, value = described(problem, solve(problem))
            rows.append([workload.title, name, target, f"{taken:.0f}", every, checked, value])
    yield from table(
        ["workload", "suppressed", "at most", "ms", "exhaustive", "checked", "objective"], rows
    )


def jobs() -> Iterator[str]:
    """One job beside two."""
    yield "Median ms of 3, threads; the machine has two cores. Roll-ups let go of the interpreter's"
    yield "lock, what drives them does not: jobs pay for many classes, not for many nodes."
    yield ""
    nine = workloads.nine_attributes()[0]
    million = replace(workloads.scaled(MILLION)[2], suppression=0.02)
    rows = []
    for workload, strategy in ((nine, "exhaustive"), (million, "automatic")):
        problem = replace(problem_of(workload), kernel=NATIVE)
        taken = rounds(
            {str(n): partial(solve, problem, strategy, Run(n_jobs=n)) for n in (1, 2)}, 3
        )
        rows.append([workload.title, strategy, *(f"{ms:.0f}" for ms in taken.values())])
    yield from table(["workload", "strategy", "1 job", "2 jobs"], rows)


def large() -> Iterator[str]:
    """Tables of a million and of thirty million records."""
    yield "One process each, kernels loaded; seconds, the median of 3 rounds. Counting and encoding"
    yield "starts from columns of categories (one byte a cell). At most: 1.2 s for 1 M with 2 %"
    yield "suppression; 1.5 s to count and encode, 0.5 s to search and 6 GiB for 30 M."
    yield ""
    rows = []
    for records in (MILLION, 30 * MILLION):
        for number in range(3):
            command = [sys.executable, __file__, "--scaled", str(records), str(number)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(done.stdout.strip().split("\t"))
    yield from table(
        ["workload", "cells", "count and encode", "search", "checked", "objective", "peak GiB"],
        rows,
    )


def scaled(records: int, number: int) -> None:
    """Time one large workload, and print a row."""
    workload = workloads.scaled(records)[number]
    counting, searching = [], []
    for _ in range(4):
        start = perf_counter()
        problem = problem_of(workload)
        problem.evaluator.judgement  # noqa: B018 (encodes)
        counting.append(perf_counter() - start)
        start = perf_counter()
        found = solve(problem)
        searching.append(perf_counter() - start)
    checked, _, _, value = described(problem, found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    cells = f"{len(problem.counts):,}"
    times = [f"{median(part[1:]):.2f}" for part in (counting, searching)]
    print(workload.title, cells, *times, checked, value, f"{peak:.1f}", sep="\t")


def peers() -> Iterator[str]:
    """Other tools, given the same table and as much of the policy as they can state."""
    yield "Seconds from a DataFrame to a released DataFrame, one run each, at most 120 s. *kept*:"
    yield "whether the released table, recounted, satisfies what the tool was asked for, and the"
    yield "policy of the workload."
    yield ""
    rows = []
    chosen = [*workloads.four_attributes(), workloads.eight_attributes()[0]]
    for workload in [*chosen, workloads.nine_attributes()[0]]:
        start = perf_counter()
        anonymizer = Anonymizer(
            workload.hierarchies,
            workload.sensitive,
            workload.models,
            objective="mutual-information" if workload.sensitive else "loss",
        ).fit(workload.table)
        ours = perf_counter() - start
        levels = tuple(anonymizer.release_.levels.values())
        rows.append([workload.title, "anonymizer", f"{ours:.2f}", "", levels, "yes", "yes"])
        for answer in answers(workload):
            audit = answer.audit
            rows.append(
                [
                    "",
                    answer.ask,
                    "" if answer.seconds is None else f"{answer.seconds:.2f}",
                    "" if answer.seconds is None else f"{answer.seconds / ours:.0f}",
                    audit.levels if audit else answer.failure,
                    "" if audit is None else ("yes" if audit.as_asked else "NO"),
                    "" if audit is None else ("yes" if audit.policy else "NO"),
                ]
            )
    yield from table(
        ["workload", "tool", "s", "times ours", "levels", "kept: asked", "kept: policy"], rows
    )


def process() -> Iterator[str]:
    """`anonymizer run`, CSV in, CSV out, as a whole process."""
    yield "Nine attributes, k = 5, objective loss; at most 1.5 s. Median seconds of 5, after a"
    yield "warm-up; interpreter, imports, two readings of the table, both verifications included."
    yield ""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        for workload in workloads.nine_attributes():
            study = written(workload, Path(directory))
            command = [sys.executable, "-m", "anonymizer", "run", str(study), "--force"]
            command += ["--output", str(Path(directory) / "release")]
            run = partial(subprocess.run, command, capture_output=True, check=True)
            taken = rounds({"run": run}, 5)
            rows.append([workload.title, f"{taken['run'] / 1000:.2f}"])
    yield from table(["workload", "s"], rows)


def written(workload: Workload, directory: Path) -> Path:
    """A study of a workload, its table and hierarchies beside it."""
    source = Path(workloads.directory())
    workload.table.to_csv(directory / "table.csv", index=False)
    lines = ['[data]\npath = "table.csv"\n[quasi-identifiers]']
    lines += [f'{n} = "{source / f"adult_hierarchy_{n}.csv"}"' for n in workload.names]
    lines += [f"[recoding]\nsuppression = {workload.suppression}", '[objective]\nname = "loss"']
    lines += ['[[privacy]]\nmodel = "k-anonymity"\nk = 5']
    path = directory / "study.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def refinement() -> Iterator[str]:
    """A1* over two ordered attributes, exactly, over all levels of the others."""
    yield "UCI Adult, age and education-num in ranges, sex and race at levels; W = marital-status,"
    yield "t = 0.55, l = 2.7. At most 200 ms, 0.24158 bits. Median of 5, search only."
    yield ""
    adult = load_adult().dropna()
    four = workloads.four_attributes()[0]
    hierarchies = {
        "age": Hierarchy.read(adult_hierarchy("age-bezzi2010")),
        "education-num": Hierarchy.ranges(widths=[4]),
        "sex": Hierarchy.suppression(),
        "race": Hierarchy.suppression(),
    }
    workload = replace(four, table=adult, hierarchies=hierarchies)
    problem = problem_of(workload)
    names = ["age", "education-num"]

    def refined() -> float:
        return refine_jointly(problem, names, Refiner(problem.objective)).value

    taken = rounds({"A1*": refined}, 5)
    proven = refine_jointly(problem, names, Refiner(problem.objective)).proven
    yield from table(
        ["ms", "I(X~;W)", "proven"], [[f"{taken['A1*']:.0f}", f"{refined():.5f}", proven]]
    )


def limits() -> Iterator[str]:
    """Branch and bound with a time limit, beside the proven optimum."""
    yield "The gap is what is certified when time is up: no node is better by more."
    yield ""
    rows = []
    nine, suppressed = workloads.nine_attributes()
    cases = [nine, suppressed, workloads.eight_attributes()[0], *workloads.twelve_attributes()]
    for workload in cases:
        problem = replace(problem_of(workload), kernel=NATIVE)
        best = solve(problem)
        for seconds in (0.05, 0.5, 5.0):
            found = solve(problem, run=Run(time_limit=seconds))
            if best is None or found is None:
                continue
            values = [
                f"{problem.evaluator.objective.quantity(score, problem.counts.records):.6f}"
                for score in (best.score, found.score, found.bound)
            ]
            rows.append([workload.title, seconds, *values, found.proven, found.checked])
    yield from table(
        ["workload", "limit s", "optimum", "found", "bound", "proven", "checked"], rows
    )


SECTIONS: Mapping[str, Callable[[], Iterator[str]]] = {
    function.__name__: function
    for function in (
        goals,
        values,
        growth,
        search,
        suppression,
        jobs,
        large,
        peers,
        process,
        refinement,
        limits,
    )
}


def main(asked: Sequence[str]) -> None:
    """Measure and write."""
    if asked[:1] == ["--scaled"]:
        scaled(int(asked[1]), int(asked[2]))
        return
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in asked or SECTIONS:
        section = SECTIONS[name]
        title = f"# {section.__doc__}".rstrip(".")
        made = f"Made by `{COMMAND} {name}`."
        lines = [title, "", made, *section(), ""]
        (RESULTS / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
