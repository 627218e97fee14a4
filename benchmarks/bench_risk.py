"""Risk of ten million records from Parquet: each attribute alone, and all of them together.

    python benchmarks/bench_risk.py [DIRECTORY]

Makes the files (see risk_files.py; 1.6 GB) in a directory that it removes, or in one that is named,
where they are found again. Writes benchmarks/results/risk.md. Every run is a process of its own,
so that its memory is its own.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from risk_files import ATTRIBUTES, FILES, RECORDS, SENSITIVE, made

RESULTS = Path(__file__).parent / "results" / "risk.md"
EVERY = [*ATTRIBUTES, SENSITIVE]
INTRODUCTION = f"""# Risk of {RECORDS:,} records, from Parquet

Made by `python benchmarks/bench_risk.py` on {os.cpu_count()} cores. The files are made with fixed
seeds (see risk_files.py): `three` (identifier, age of 120 values, disease of 100), `wide` (128
attributes of ten values, disease of ten) and `real` (128 attributes of 1 to 5000 values, skewed,
some coarser forms of others, numbers and texts; every person two or three times, so that no class
is ever of one record, and no disease ever certain). All are in the system's file cache.

Seconds: of the process, with the start of the interpreter and all imports; and of the work
alone, from opening the file. CPU: user and system, all threads. MiB: the peak of the process's
memory. Medians where there are several runs. The study's rules on missing values are applied
(`missing = "error"`). Lines in italics are limits: the same columns read by pyarrow and nothing
done with them, one at a time, or grouped and counted by pyarrow in memory.

Bkakria et al. (2021) used four nodes and 100 Spark workers for ITPR and print no times: nothing
here is said to be faster than theirs.
"""
HEADER = [
    "what",
    "file",
    "ITPR",
    "process s",
    "work s",
    "CPU s",
    "MiB",
    "at most s",
    "at most MiB",
    "runs",
]


class Case(NamedTuple):
    """A measurement: what it is, of which file, and what it must not exceed."""

    what: str
    file: str
    work: Callable[[Path], object]
    seconds: float | None = None
    mebibytes: int | None = None
    runs: int = 1


def itpr(*names: str, sensitive: str | None = None) -> Callable[[Path], object]:
    """Combined ITPR of some columns."""

    def work(path: Path) -> object:
        from anonymizer import risk

        return risk.itpr(columns_of(path, names, sensitive), names, sensitive)

    return work


def each_alone(path: Path) -> object:
    """The largest ITPR of an attribute alone; re-identification and inference of each."""
    from anonymizer import risk

    found = list(risk.attribute_risks(columns_of(path, ATTRIBUTES, SENSITIVE), EVERY, SENSITIVE))
    return max(max(one.reidentification.itpr, one.itpr) for one in found[:-1])


def all_measures(path: Path) -> object:
    """Every metric of the classes by all attributes, not ITPR alone."""
    from anonymizer import risk

    found = risk.refined_by(columns_of(path, ATTRIBUTES, SENSITIVE), ATTRIBUTES)
    return found.reidentification().measures.itpr


def columns_of(path: Path, names: Sequence[str], sensitive: str | None) -> object:
    """The columns of a file, as a study admits them."""
    from anonymizer.counts.counting import open_columns
    from anonymizer.counts.schema import Schema
    from anonymizer.tables.files import describe_file

    about = () if sensitive is None else (sensitive,)
    return open_columns(path, describe_file(path), Schema(tuple(names), about))


def read(*names: str) -> Callable[[Path], object]:
    """Read some columns, one at a time."""

    def work(path: Path) -> object:
        with pq.ParquetFile(path) as file:
            for name in names:
                file.read(columns=[name])
        return None

    return work


def grouped(*names: str) -> Callable[[Path], object]:
    """Group the records by some columns and count them."""

    def work(path: Path) -> object:
        count: list[tuple[list[str], str]] = [([], "count_all")]
        pq.read_table(path, columns=list(names)).group_by(names).aggregate(count)
        return None

    return work


THREE = [
    Case("age: re-identification", "three", itpr("age"), 1, 512, 5),
    Case("*age read by pyarrow*", "three", read("age"), runs=5),
    Case("*age grouped by pyarrow*", "three", grouped("age"), runs=5),
    Case("age: inference", "three", itpr("age", sensitive=SENSITIVE), 1, 512, 5),
    Case("*age, disease grouped by pyarrow*", "three", grouped("age", SENSITIVE), runs=5),
    Case("*age, id grouped by pyarrow*", "three", grouped("age", "id")),
    Case("id: re-identification", "three", itpr("id"), runs=3),
    Case("age, disease, id: re-identification", "three", itpr("age", SENSITIVE, "id"), runs=3),
]
MANY = [
    Case("129 attributes, each alone: both", "wide", each_alone, 10, 1024, 3),
    Case("*129 attributes read by pyarrow*", "wide", read(*EVERY)),
    Case("128 attributes: re-identification", "wide", itpr(*ATTRIBUTES), 3, 3072, 3),
    Case("128 attributes: inference", "wide", itpr(*ATTRIBUTES, sensitive=SENSITIVE), 3, 3072, 3),
    Case("128 attributes: all classes and metrics", "wide", all_measures, 30, 3072),
    Case("129 attributes, each alone: both", "real", each_alone),
    Case("*129 attributes read by pyarrow*", "real", read(*EVERY)),
    Case("128 attributes: re-identification", "real", itpr(*ATTRIBUTES), 30, 3072),
    Case("128 attributes: inference", "real", itpr(*ATTRIBUTES, sensitive=SENSITIVE), 30, 3072),
    Case("128 attributes: all classes and metrics", "real", all_measures, 30, 3072),
]
CASES = [*THREE, *MANY]


def run(place: int, path: Path) -> None:
    """Do a case, and print its result, seconds, CPU seconds and MiB."""
    if not CASES[place].what.startswith("*"):
        from anonymizer.tables import files as tables  # noqa: F401 (loaded before the clock starts)
    start = perf_counter()
    found = CASES[place].work(path)
    seconds = perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    result = f"{found:.6f}" if isinstance(found, float) else ""
    print(result, seconds, used.ru_utime + used.ru_stime, peak(), sep="\t")


def peak() -> float:
    """The most memory that this process had resident, in MiB.

    Not what getrusage says: that includes the process it was started from.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measured(place: int, directory: Path) -> list[object]:
    """A row of the results."""
    case = CASES[place]
    command = [sys.executable, __file__, str(place), str(made(case.file, directory))]
    runs = []
    for _ in range(case.runs):
        start = perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        result, *figures = done.stdout.rstrip("\n").split("\t")
        runs.append([perf_counter() - start, *map(float, figures)])
    process, work, cpu, mebibytes = (median(values) for values in zip(*runs, strict=True))
    most = ["" if one is None else one for one in (case.seconds, case.mebibytes)]
    cells = [f"{process:.2f}", f"{work:.2f}", f"{cpu:.2f}", f"{mebibytes:.0f}"]
    row = [case.what, f"`{case.file}`", result, *cells, *most, case.runs]
    print(*row, sep="\t", flush=True)
    return row


def read_first(directory: Path) -> None:
    """See to the files being in the system's cache."""
    for name in FILES:
        with pa.OSFile(str(made(name, directory))) as file:
            while file.read(1 << 26):
                pass


def main(directory: Path) -> None:
    """Measure and write."""
    from measure import table as markdown  # loads what no run should have to

    read_first(directory)
    before = os.getloadavg()[0]
    rows = [measured(place, directory) for place in range(len(CASES))]
    load = f"Load average of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after."
    lines = [INTRODUCTION, *markdown(HEADER, rows), "", load]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        run(int(sys.argv[1]), Path(sys.argv[2]))
    elif len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
