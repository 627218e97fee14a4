"""Time whole processes: imports, the help, runs from CSV to CSV, and studies with a mistake.

    python benchmarks/bench_startup.py [--against DIRECTORY]

Needs arx-adult/ in the directory of data sets that ANONYMIZER_DATA names. Writes
benchmarks/results/startup.md. ``--against`` names another checkout of the project, whose processes
take turns with those of this one. An interpreter that does nothing is measured with the rest.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from measure import table as markdown

REPEATS = 9
RESULTS = Path(__file__).parent / "results" / "startup.md"
STUDY = """
[data]
path = "{directory}/adult.csv"
[quasi-identifiers]
age = "{directory}/adult_hierarchy_age.csv"
sex = "{directory}/adult_hierarchy_sex.csv"
race = "{directory}/adult_hierarchy_race.csv"
education = "{directory}/adult_hierarchy_education.csv"
[sensitive]
attributes = ["marital-status"]
[[privacy]]
model = "entropy-l-diversity"
l = 2
[[privacy]]
model = "k-anonymity"
k = 5
[recoding]
method = "{recoding}"
"""
SMALL = """
[data]
path = "small.csv"
[quasi-identifiers]
age = {{ widths = [5, 20] }}
sex = "suppress"
[sensitive]
attributes = ["{sensitive}"]
[[{privacy}]]
model = "k-anonymity"
k = 5
"""
RECORDS = 120
INTRODUCTION = f"""# Whole processes

Made by `python benchmarks/bench_startup.py` with ANONYMIZER_DATA set: seconds, the least of
{REPEATS} rounds in which all take turns, after a warm-up. *Processor* is that of all threads. The
runs of Adult (30 162 records, 9 columns) search 80 nodes (k = 5, l = 2; age, sex, race, education),
verify and write; the small table has {RECORDS} records.

"""


def commands(scratch: Path) -> dict[str, list[str]]:
    """What is measured, the yardstick first."""
    data = Path(os.environ["ANONYMIZER_DATA"], "arx-adult").resolve()
    rows = [f"{20 + n % 30},{'fm'[n % 2]},{'abc'[n % 3]}" for n in range(RECORDS)]
    (scratch / "small.csv").write_text("\n".join(["age,sex,ill", *rows, ""]), encoding="utf-8")
    studies = {
        "Adult, full-domain": STUDY.format(directory=data, recoding="full-domain"),
        "Adult, variable-range": STUDY.format(directory=data, recoding="variable-range"),
        "small table": SMALL.format(sensitive="ill", privacy="privacy"),
        "wrong column": SMALL.format(sensitive="il", privacy="privacy"),
        "wrong key": SMALL.format(sensitive="ill", privacy="privcy"),
    }
    python = [sys.executable, "-c"]
    return {
        "python -c pass": [*python, "pass"],
        "python -c 'import anonymizer'": [*python, "import anonymizer"],
        "python -c 'from anonymizer import Anonymizer'": [
            *python,
            "from anonymizer import Anonymizer",
        ],
        "python -c 'import pandas'": [*python, "import pandas"],
        "anonymizer --help": [sys.executable, "-m", "anonymizer", "--help"],
        **{f"anonymizer run, {name}": run(scratch, name, each) for name, each in studies.items()},
    }


def run(scratch: Path, name: str, study: str) -> list[str]:
    """The command that carries a study out."""
    path = scratch / f"{name}.toml"
    path.write_text(study, encoding="utf-8")
    output = str(scratch / f"{name} released")
    return [sys.executable, "-m", "anonymizer", "run", str(path), "-o", output, "--force"]


def seconds(command: list[str], tree: Path) -> tuple[float, float]:
    """Wall and processor seconds of a process that imports the package of a tree."""
    start, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    place = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=place, capture_output=True, check=False)
    wall, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    wrong = "wrong" in " ".join(command)
    if done.returncode != (2 if wrong else 0):
        raise SystemExit(done.stderr.decode())
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(trees: Mapping[str, Path], work: Mapping[str, list[str]]) -> list[str]:
    """A row for each process: the least wall and processor seconds of each tree."""
    rounds = [
        {
            (name, key): seconds(each, tree)
            for name, each in work.items()
            for key, tree in trees.items()
        }
        for _ in range(REPEATS + 1)
    ][1:]
    rows = []
    for name in work:
        least = [min(each[name, tree][n] for each in rounds) for tree in trees for n in (0, 1)]
        rows.append([name, *(f"{each:.3f}" for each in least)])
    headings = [f"{what}, {tree}" for tree in trees for what in ("wall", "processor")]
    return markdown(["process", *headings], rows)


def main() -> None:
    """Measure and write."""
    options = argparse.ArgumentParser()
    options.add_argument("--against", type=Path)
    given = options.parse_args()
    trees = {"this": Path(__file__).resolve().parents[1]}
    if given.against is not None:
        trees["before"] = given.against.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        lines = measured(trees, commands(Path(scratch)))
    RESULTS.write_text(INTRODUCTION + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
