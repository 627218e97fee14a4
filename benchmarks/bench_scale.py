"""Boxes and merged cells of a million records, beside the best node of the lattice.

    python benchmarks/bench_scale.py

Needs the directory of data sets in ANONYMIZER_DATA (adult/ and arx-adult/). Writes
benchmarks/results/scale.md. Each run is a process of its own, so that its memory is its own; the
seconds are from a DataFrame to a verified DataFrame, one job, compiled code on disk.
"""

import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import workloads
from measure import table as markdown

from anonymizer import Anonymizer, EntropyLDiversity, KAnonymity
from anonymizer.release.request import RECODINGS

RECORDS = 1_000_000
RUNS = (
    ("full-domain", None),
    ("boxes, greedy", None),
    ("boxes", None),
    ("boxes", 10),
    ("merged-cells", None),
    ("merged-cells", 10),
)
RESULTS = Path(__file__).parent / "results" / "scale.md"
INTRODUCTION = f"""# A million records, nine quasi-identifiers

Made by `python benchmarks/bench_scale.py` with ANONYMIZER_DATA set: {RECORDS:,} records drawn from
Adult with ages moved and cells redrawn (see workloads.py), nine quasi-identifiers with ARX's
hierarchies, W = relationship, k = 5, l = 2. Seconds from a DataFrame to a verified DataFrame, one
job; the peak of the process's memory, the table in it; I(X~;W) in bits.
"""
HEADER = [
    "recoding",
    "time-limit",
    "seconds",
    "GiB",
    "I(X~;W)",
    "Miller-Madow",
    "classes",
    "found by",
]


def run(recoding: str, limit: float | None) -> None:
    """Release the table once, and print a row."""
    like, hierarchies = workloads.nine_and_relationship()
    table = workloads.enlarged(RECORDS, like)
    kind, _, greedy = recoding.partition(", ")
    asked = Anonymizer(
        hierarchies,
        "relationship",
        [KAnonymity(5), EntropyLDiversity(2)],
        recoding=RECODINGS[kind](**({"refinement": "heuristic"} if greedy else {})),
        time_limit=limit,
    )
    start = perf_counter()
    asked.fit(table)
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    kept, release = asked.release_.information, asked.release_
    figures = [f"{seconds:.1f}", f"{peak:.2f}", f"{kept.retained:.4f}", f"{kept.miller_madow:.4f}"]
    print(*figures, release.classes, release.search.strategy, f"{kept.ceiling:.4f}", sep="\t")


def main() -> None:
    """Run each recoding in a process of its own and write the results."""
    rows = []
    for recoding, limit in RUNS:
        command = [sys.executable, __file__, recoding, *([] if limit is None else [str(limit)])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        *cells, ceiling = done.stdout.strip().split("\t")
        rows.append([recoding, "" if limit is None else f"{limit} s", *cells])
    lines = [
        INTRODUCTION,
        *markdown(HEADER, rows),
        "",
        f"No recoding keeps more than {ceiling} bits.",
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else None)
    else:
        main()
