"""What a user gets: warm fits, and runs from CSV to CSV, in units of what pandas takes.

    python benchmarks/bench_user.py [--against DIRECTORY] [fits] [runs] [million]

Needs arx-adult/ in the directory of data sets that ANONYMIZER_DATA names. Writes
benchmarks/results/user.md. ``--against`` names another checkout of the project, which is measured
in the same rounds: all take turns, and the least time of each counts, as other work on the machine
only ever adds to it. Seconds are of the processor, of all threads, where others share the machine.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import workloads
from measure import table as markdown
from workloads import Workload

RESULTS = Path(__file__).parent / "results" / "user.md"
HERE = Path(__file__).parents[1]
FITS, RUNS, MILLION_RUNS = 12, 7, 2
MILLION = 1_000_000

INTRODUCTION = """# What a user gets

Made by `python benchmarks/bench_user.py` with ANONYMIZER_DATA set: the Adult extract (30,162
records) or records drawn from it, nine quasi-identifiers with ARX's hierarchies, k = 5. Seconds of
the processor, all threads; the least of several rounds in which all take turns.
"""

READ_AND_WRITE = """
import sys
import pandas as pd
pd.read_csv(sys.argv[1]).to_csv(sys.argv[2], index=False)
"""


def fits(trees: Mapping[str, Path]) -> list[str]:
    """Warm fits in units of one group-by over the same nine columns."""
    kinds = ("group-by", "fit", "fit, 2 % suppressed")
    servers = {(name, kind): _server(tree) for name, tree in trees.items() for kind in kinds}
    taken: dict[tuple[str, str], list[float]] = {}
    for turn in range(FITS + 1):
        for kind in kinds:
            for name in trees:
                seconds = _ask(servers[name, kind], kind)
                if turn:  # the first is not warm
                    taken.setdefault((name, kind), []).append(float(seconds))
    for server in servers.values():
        server.communicate()
    unit = min(min(taken[name, "group-by"]) for name in trees)
    middle = median(taken[next(iter(trees)), "group-by"])
    rows = [
        [
            kind,
            name,
            f"{1000 * min(taken[name, kind]):.0f}",
            f"{min(taken[name, kind]) / unit:.1f}",
            f"{median(taken[name, kind]) / middle:.1f}",
        ]
        for kind in kinds
        for name in trees
    ]
    header = ["", "tree", "ms", "group-bys", "medians of both"]
    return [
        "## Warm fits",
        "",
        "A process that has fitted before; `df.groupby(columns, observed=True).size()` is 1. At",
        "most 6 and 20. Objectives: loss, and discernibility where records are suppressed.",
        "",
        *markdown(header, rows),
        "",
    ]


def _server(tree: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("user_process.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(tree),
        cwd=Path(
            __file__
        ).parent,  # not the project's: the interpreter would import what lies there
    )


def _ask(server: "subprocess.Popen[str]", kind: str) -> str:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(kind + "\n")
    server.stdin.flush()
    return server.stdout.readline()


def _environment(tree: Path) -> dict[str, str]:
    """That of a user, whose interpreter keeps the code that it compiled."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(tree)}


def runs(trees: Mapping[str, Path], records: int | None, rounds: int) -> list[str]:
    """`anonymizer run` as a process, in units of pandas reading and writing the same file."""
    both = workloads.nine_attributes() if records is None else workloads.scaled(records)[:2]
    rows = []
    for workload in both:
        with tempfile.TemporaryDirectory() as directory:
            times = _processes(trees, workload, Path(directory), rounds)
        unit = times.pop("pandas")
        rows.append([workload.title, "pandas", f"{min(unit):.2f}", "1.0", "1.0"])
        rows += [
            [
                workload.title,
                name,
                f"{min(seconds):.2f}",
                f"{min(seconds) / min(unit):.1f}",
                f"{median(seconds) / median(unit):.1f}",
            ]
            for name, seconds in times.items()
        ]
    return [
        f"## From CSV to CSV, {len(both[0].table):,} records",
        "",
        "Whole processes: interpreter, imports, search, both verifications. 1 is a process that",
        "imports pandas, reads the CSV with it and writes it again. Within 2. Objective: loss.",
        "",
        *markdown(["", "tree", "s", "times", "medians"], rows),
        "",
    ]


def _processes(
    trees: Mapping[str, Path], workload: Workload, directory: Path, rounds: int
) -> dict[str, list[float]]:
    from bench_search import written

    study = written(workload, directory)
    earlier = directory / "earlier.toml"  # where suppression was an option of the search
    earlier.write_text(study.read_text("utf-8").replace("[recoding]", "[search]"), "utf-8")
    table, copy = str(directory / "table.csv"), str(directory / "copy.csv")
    code = [sys.executable, "-c", READ_AND_WRITE, table, copy]
    work = {"pandas": (code, _environment(HERE))}
    for name, tree in trees.items():
        has_recodings = (tree / "anonymizer" / "recoding").is_dir()
        given = str(study if has_recodings else earlier)
        command = [sys.executable, "-m", "anonymizer", "run", given, "--force", "--output"]
        work[name] = ([*command, str(directory / name)], _environment(tree))
    taken: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, (command, environment) in work.items():
            before = _children()
            subprocess.run(command, env=environment, cwd=directory, capture_output=True, check=True)
            if turn:
                taken[name].append(_children() - before)
    return taken


def _children() -> float:
    """Processor seconds of the processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and write."""
    options = argparse.ArgumentParser()
    options.add_argument("--against", type=Path)
    options.add_argument("sections", nargs="*", default=["fits", "runs", "million"])
    given = options.parse_args()
    trees = {"this": HERE}
    if given.against is not None:
        trees["before"] = given.against.resolve()
    lines = [INTRODUCTION]
    if "fits" in given.sections:
        lines += fits(trees)
    if "runs" in given.sections:
        lines += runs(trees, None, RUNS)
    if "million" in given.sections:
        lines += runs(trees, MILLION, MILLION_RUNS)
    RESULTS.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
