"""One job compared with two, of everything that takes ``n_jobs``.

    python benchmarks/bench_jobs.py [records]

For an idle machine of two cores. Needs adult/ and arx-adult/ in the directory of data sets that
ANONYMIZER_DATA names; ``records`` (1,000,000) are drawn from Adult. Writes
benchmarks/results/jobs.md: wall seconds, the least of several rounds in which both take turns.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import workloads
from measure import problem_of
from measure import table as markdown

from anonymizer import Anonymizer, EntropyLDiversity, KAnonymity, compare
from anonymizer.kernels import NATIVE
from anonymizer.recoding import Run, solve

RESULTS = Path(__file__).parent / "results" / "jobs.md"
ROUNDS = 1
INTRODUCTION = """# One job and two

Made by `python benchmarks/bench_jobs.py` with ANONYMIZER_DATA set. Wall seconds, the least of the
rounds after a first one (rounds: {}); compiled code is loaded. Two idle cores are to gain 1.6
times. Incognito, suppression and tables of Adult's size are searched in one job whatever is
requested: their ratios show how much the machine's speed drifts.
"""

Work = Callable[[int], object]


def searches(records: int) -> dict[str, Work]:
    """Searches of encoded tables."""
    nine, suppressed = (problem_of(workload) for workload in workloads.nine_attributes())
    large = [problem_of(workload) for workload in workloads.scaled(records)[:2]]
    work: dict[str, Work] = {}
    for title, problem, strategy in (
        ("Adult, incognito", nine, "incognito"),
        ("Adult, exhaustive", nine, "exhaustive"),
        ("Adult, 2 % suppressed", suppressed, "automatic"),
        (f"{records:,} records, exhaustive", large[0], "exhaustive"),
        (f"{records:,} records, 2 % suppressed", large[1], "automatic"),
    ):
        warm = replace(problem, kernel=NATIVE)
        work[title] = lambda n, p=warm, s=strategy: solve(p, s, Run(n_jobs=n))
    return work


def releases(records: int) -> dict[str, Work]:
    """Whole fits, and recodings compared."""
    like, hierarchies = workloads.nine_and_relationship()
    table = workloads.enlarged(records, like)

    def request(recoding: str, jobs: int) -> Anonymizer:
        policy = [KAnonymity(5), EntropyLDiversity(2)]
        return Anonymizer(hierarchies, "relationship", policy, recoding=recoding, n_jobs=jobs)

    work: dict[str, Work] = {
        f"{records:,} records, {recoding}": lambda n, r=recoding: request(r, n).fit(table)
        for recoding in ("boxes", "merged-cells")
    }
    work["Adult, compare"] = lambda n: compare(request("full-domain", n), like)
    return work


def main(records: int) -> None:
    """Measure and write."""
    rows = []
    for title, work in {**searches(records), **releases(records)}.items():
        least = {1: float("inf"), 2: float("inf")}
        for turn in range(ROUNDS + 1):
            for jobs in least:
                start = perf_counter()
                work(jobs)
                if turn:
                    least[jobs] = min(least[jobs], perf_counter() - start)
        rows.append([title, f"{least[1]:.2f}", f"{least[2]:.2f}", f"{least[1] / least[2]:.2f}"])
        lines = [INTRODUCTION.format(ROUNDS), *markdown(["", "1 job", "2 jobs", "times"], rows)]
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
