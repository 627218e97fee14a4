"""How large certificates of the optimum are, and how long they take: Adult, a million records.

    python benchmarks/bench_certificate.py [--records 1000000]

Writes benchmarks/results/certificate.md. ``certify`` is from the counted table to the certificate,
search and checker included; the checker has the reading of the counts in its time.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from measure import table
from workloads import (
    Workload,
    eight_attributes,
    four_attributes,
    nine_attributes,
    scaled,
    twelve_attributes,
)

from anonymizer import Anonymizer, FullDomain
from anonymizer.release.certificate import Claim, certified
from anonymizer.release.verifiers import optimum

RESULTS = Path(__file__).parent / "results" / "certificate.md"
HEADER = (
    "records",
    "policy",
    "nodes",
    "infeasible",
    "bounded",
    "counted",
    "certify, s",
    "check, s",
)


def workloads(records: int) -> Iterator[Workload]:
    """What there is a certificate for: with suppression, where it is by k alone."""
    yield from [*four_attributes(), *eight_attributes()[:2], *nine_attributes()]
    yield from [*twelve_attributes(), *scaled(records)]


def row(work: Workload) -> list[object]:
    """The entries of a certificate, and the seconds that it took."""
    anonymizer = Anonymizer(
        quasi_identifiers=work.hierarchies,
        sensitive=work.sensitive,
        privacy=work.models,
        recoding=FullDomain(suppression=work.suppression),
        missing="category",
    )
    task = anonymizer.task(work.table)
    begin = time.perf_counter()
    files = certified(Claim.of(task, anonymizer.chosen_recoding), task)
    made = time.perf_counter()
    claim = json.loads(files["certificate.json"])
    optimum.prove(claim, optimum.RawTable(claim, StringIO(files["counts.csv"])))
    seconds = f"{made - begin:.1f}", f"{time.perf_counter() - made:.1f}"
    policy = work.title.split(", ", 1)[1]
    entries = [len(claim[kind]) for kind in ("infeasible", "bounded", "counted")]
    return [f"{len(work.table):,}", policy, f"{work.nodes:,}", *entries, *seconds]


def main() -> None:
    """Make each certificate, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    rows = [row(work) for work in workloads(parser.parse_args().records)]
    lines = [
        "# Certificates of the optimum",
        "",
        f"Made by `python benchmarks/bench_certificate.py`, once each, on {os.cpu_count()} cores",
        "that others used as well. Entries are by the reason that closes nodes.",
        "",
        *table(HEADER, rows),
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
