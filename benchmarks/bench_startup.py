"""Time whole processes: the bare import, the help, and a run from CSV to CSV.

    python benchmarks/bench_startup.py

Needs arx-adult/ in the directory of data sets that ANONYMIZER_DATA names. Writes
benchmarks/results/startup.md. An interpreter that does nothing is measured in turn with the rest.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

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
INTRODUCTION = f"""# Whole processes

Made by `python benchmarks/bench_startup.py` with ANONYMIZER_DATA set; medians of {REPEATS} rounds
in which all take turns, after a warm-up. The runs read the Adult extract (30 162 records, 9
columns), search 80 nodes (k = 5, l = 2; age, sex, race, education), verify and write.

| process | s, median | s, least | times the bare interpreter |
|---|---|---|---|
"""


def commands(scratch: Path) -> dict[str, list[str]]:
    """What is measured, the yardstick first."""
    data = Path(os.environ["ANONYMIZER_DATA"], "arx-adult").resolve()
    command = [sys.executable, "-m", "anonymizer"]
    runs = {}
    for recoding in ("full-domain", "variable-range"):
        study = scratch / f"{recoding}.toml"
        study.write_text(STUDY.format(directory=data, recoding=recoding), encoding="utf-8")
        output = str(scratch / recoding)
        runs[f"anonymizer run, {recoding}"] = [*command, "run", str(study), "-o", output, "--force"]
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import anonymizer'": [sys.executable, "-c", "import anonymizer"],
        "python -c 'from anonymizer import Anonymizer'": [
            sys.executable,
            "-c",
            "from anonymizer import Anonymizer",
        ],
        "python -c 'import pandas'": [sys.executable, "-c", "import pandas"],
        "anonymizer --help": [*command, "--help"],
        **runs,
    }


def seconds(command: list[str]) -> float:
    """Wall seconds of a process."""
    start = perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return perf_counter() - start


def main() -> None:
    """Measure and write."""
    with tempfile.TemporaryDirectory() as scratch:
        work = commands(Path(scratch))
        rounds = [{n: seconds(c) for n, c in work.items()} for _ in range(REPEATS + 1)][1:]
    bare = median(times["python -c pass"] for times in rounds)
    lines = []
    for name in work:
        times = [round_[name] for round_ in rounds]
        lines.append(
            f"| {name} | {median(times):.3f} | {min(times):.3f} | {median(times) / bare:.1f} |"
        )
    RESULTS.write_text(INTRODUCTION + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
