"""Tables of any size: counted where they lie, recoded in a stream, next to bare engines.

    python benchmarks/bench_size.py [--records N ...] [--scratch DIRECTORY] [SECTION ...]

Sections are parquet, csv, database, spark and dask; all of them where none is named. Each writes
benchmarks/results/size/<section>.md. Needs arx-adult/ in the directory of data sets that
ANONYMIZER_DATA names, and in ``--scratch`` about 10 bytes for each record of the largest table of
Parquet, 90 of CSV. ``--records`` replaces the sizes of the sections that are named. The whole takes
about half an hour on two cores, most of it for the 10^8 records of parquet and database.

Each measurement is a process of its own (size_process.py), so that its memory is its own. All take
turns, and the least time of each counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "size"
NINE = "sex age race marital-status education native-country workclass occupation salary-class"
MASTER = "local[2]"
ROUNDS = 3
"""Turns of all; one alone from ``LARGE`` records on."""
LARGE = 30_000_000

Rows = list[list[object]]


class Run(NamedTuple):
    """What a process took: seconds by the clock and of the processor, its peak memory in GiB.

    ``said``: what it reported.
    """

    wall: float
    processor: float
    peak: float
    said: Mapping[str, object]

    @property
    def seconds(self) -> float:
        """Those of the work alone where they were reported."""
        return float(str(self.said.get("seconds", self.wall)))


class Result(NamedTuple):
    """A section of the results."""

    title: str
    text: str
    header: Sequence[str]
    rows: Rows


def run(command: Sequence[str]) -> Run:
    """Carry a command out, and measure its process."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begins = perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=_environment())
        _, status, used = os.wait4(process.pid, 0)
        wall = perf_counter() - begins
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)}\n{errors.read()}")
        lines = output.read().strip().splitlines()
    said = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20, said)


def act(*words: object) -> Run:
    """An action of size_process.py."""
    return run([sys.executable, str(HERE / "size_process.py"), *map(str, words)])


def in_turns(work: Mapping[str, Callable[[], Run]], records: int) -> dict[str, Run]:
    """The fastest run of each; they take turns."""
    rounds = 1 if records >= LARGE else ROUNDS
    turns = [{name: do() for name, do in work.items()} for _ in range(rounds)]
    return {name: min((turn[name] for turn in turns), key=_seconds) for name in work}


def _seconds(run: Run) -> float:
    return run.seconds


def _environment() -> dict[str, str]:
    """That of a user, whose interpreter keeps the code that it compiled."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {"PYTHONPATH": str(HERE.parent), **kept}


def study_of(path: Path, suppression: float, lines: Sequence[str] = (), output: str = "") -> Path:
    """A study of nine quasi-identifiers with ARX's hierarchies, k = 5, least loss."""
    source = Path(os.environ["ANONYMIZER_DATA"], "arx-adult").resolve()
    known = [f'{name} = "{source / f"adult_hierarchy_{name}.csv"}"' for name in NINE.split()]
    text = [
        *("[data]", f'path = "{path}"', *lines, "[quasi-identifiers]", *known),
        *("[recoding]", 'method = "full-domain"', f"suppression = {suppression}"),
        *("[objective]", 'name = "loss"', "[[privacy]]", 'model = "k-anonymity"', "k = 5"),
        *(("[output]", output) if output else ()),
    ]
    study = path.with_name(f"{path.name}-{suppression}.toml")
    study.write_text("\n".join(text), encoding="utf-8")
    return study


def release(study: Path, directory: Path) -> Run:
    """`anonymizer run` as a process."""
    command = [sys.executable, "-m", "anonymizer", "run", str(study), "--force", "--output"]
    return run([*command, str(directory)])


def parquet(sizes: Sequence[int], scratch: Path) -> Iterator[Result]:
    """Counting, recoding and whole runs, from Parquet to Parquet."""
    counts: Rows = []
    writes: Rows = []
    runs: Rows = []
    for records in sizes:
        with _space(scratch) as space:
            source = space / "table.parquet"
            act("make", records, source)
            _against(source, records, space, counts, writes)
            runs += [_whole(study_of(source, s), records, s, space) for s in (0, 0.02)]
    yield from _compared(counts, writes)
    yield Result(
        "Whole runs",
        "`anonymizer run` from Parquet to Parquet: counted, searched, recoded, written, counted "
        "again from what was written. At most 4 GiB; the search alone within 3 s.",
        [
            *("records", "suppression", "s, whole process", "peak GiB", "us per record"),
            *("classes", "phases of another run, s"),
        ],
        runs,
    )


def _whole(study: Path, records: int, suppression: float, space: Path) -> list[object]:
    found = in_turns(
        {
            "run": lambda: release(study, space / "released"),
            "phases": lambda: act("phases", study, space / "phases"),
        },
        records,
    )
    done, said = found["run"], found["phases"].said
    parts = said["phases"]
    assert isinstance(parts, dict)
    listed = "; ".join(f"{name} {taken:.2f}" for name, taken in parts.items() if taken >= 0.005)
    return [
        *(f"{records:,}", f"{suppression:.0%}", f"{done.wall:.2f}", f"{done.peak:.2f}"),
        *(f"{1e6 * done.wall / records:.2f}", said["classes"], listed),
    ]


def _against(source: Path, records: int, space: Path, counts: Rows, writes: Rows) -> None:
    """Add what counting and what writing take, next to DuckDB alone."""
    study, copy, recoded = study_of(source, 0.02), space / "copy.parquet", space / "new.parquet"
    found = in_turns(
        {
            "bare count": lambda: act("bare-count", source),
            "count": lambda: act("count", source),
            "bare copy": lambda: act("bare-copy", source, copy),
            "recode": lambda: act("recode", source, study, recoded),
        },
        records,
    )
    bare, ours = found["bare count"], found["count"]
    if bare.said["cells"] != ours.said["cells"]:
        raise SystemExit("the counts differ")
    counts.append([f"{records:,}", f"{int(str(ours.said['cells'])):,}", *_pair(bare, ours)])
    writes.append([f"{records:,}", *_pair(found["bare copy"], found["recode"])])


def _pair(bare: Run, ours: Run) -> list[object]:
    times = f"{ours.seconds / bare.seconds:.2f}"
    peaks = [f"{bare.peak:.2f}", f"{ours.peak:.2f}"]
    return [f"{bare.seconds:.2f}", f"{ours.seconds:.2f}", times, *peaks]


def _compared(counts: Rows, writes: Rows) -> Iterator[Result]:
    measured = ("DuckDB, s", "ours, s", "times", "DuckDB, peak GiB", "ours, peak GiB")
    yield Result(
        "Counting",
        "DuckDB's own GROUP BY over the nine columns, its result in Arrow, and our tally of them. "
        "At most 1.5 times.",
        ["records", "cells", *measured],
        counts,
    )
    yield Result(
        "Recoding and writing",
        "DuckDB's own COPY of the table as it is, and ours of the recoded table, 2 % suppressed; "
        "our peak includes the search before. At most 2 times.",
        ["records", *measured],
        writes,
    )


def csv(sizes: Sequence[int], scratch: Path) -> Iterator[Result]:
    """Whole processes from CSV to CSV: pandas, DuckDB, ours."""
    rows: Rows = []
    for records in sizes:
        with _space(scratch) as space:
            source, copy = space / "table.csv", space / "copy.csv"
            act("make", records, space / "table.parquet")
            act("convert", space / "table.parquet", source)
            plain, suppressed = (study_of(source, share) for share in (0, 0.02))
            found = in_turns(
                {
                    "pandas reads and writes": lambda c=copy, s=source: act("pandas-copy", s, c),
                    "DuckDB reads and writes": lambda c=copy, s=source: act("duckdb-copy", s, c),
                    "anonymizer run": lambda p=plain, d=space: release(p, d / "a"),
                    "anonymizer run, 2 % suppressed": lambda p=suppressed, d=space: release(
                        p, d / "b"
                    ),
                },
                records,
            )
            size = source.stat().st_size / 2**30
            rows += [_row(name, done, found, records, size) for name, done in found.items()]
    yield Result(
        "From CSV to CSV",
        "Whole processes: interpreter, imports, search, both verifications. pandas and DuckDB read "
        "the same file and write it again. At most 0.7 times pandas, 2 times DuckDB, and less "
        "memory than twice the file.",
        [
            *("records", "", "s", "s of the processor", "times pandas", "times DuckDB"),
            *("peak GiB", "times the file"),
        ],
        rows,
    )


def _row(name: str, done: Run, found: Mapping[str, Run], records: int, size: float) -> list[object]:
    pandas, duckdb, *_ = (run.wall for run in found.values())
    return [
        *(f"{records:,}", name, f"{done.wall:.2f}", f"{done.processor:.2f}"),
        *(f"{done.wall / pandas:.2f}", f"{done.wall / duckdb:.2f}"),
        *(f"{done.peak:.2f}", f"{done.peak / size:.1f}"),
    ]


def database(sizes: Sequence[int], scratch: Path) -> Iterator[Result]:
    """From a table of a database of DuckDB to a folder of Parquet files."""
    counts: Rows = []
    writes: Rows = []
    runs: Rows = []
    for records in sizes:
        with _space(scratch) as space:
            source = space / "people.duckdb"
            act("make", records, space / "table.parquet")
            act("convert", space / "table.parquet", source)
            lines, output = ['table = "people"'], 'file = "released.parquet"\nparts = 8'
            study = study_of(source, 0.02, lines, output)
            runs.append(_whole(study, records, 0.02, space))
            bare, ours = act("bare-count", source), act("count", source)
            counts.append([f"{records:,}", f"{ours.said['cells']:,}", *_pair(bare, ours)])
            copy, new = space / "copy.parquet", space / "new.parquet"
            recoded = act("recode", source, study, new)
            writes.append([f"{records:,}", *_pair(act("bare-copy", source, copy), recoded)])
    yield from _compared(counts, writes)
    yield Result(
        "Whole runs",
        "`anonymizer run` from a database to eight Parquet files.",
        [
            *("records", "suppression", "s, whole process", "peak GiB", "us per record"),
            *("classes", "phases of another run, s"),
        ],
        runs,
    )


def spark(sizes: Sequence[int], scratch: Path) -> Iterator[Result]:
    """Spark on this machine, next to DuckDB."""
    yield from _library("spark", f'Spark, `master = "{MASTER}"`', sizes, scratch, MASTER)


def dask(sizes: Sequence[int], scratch: Path) -> Iterator[Result]:
    """Dask on this machine, next to DuckDB."""
    yield from _library("dask", "Dask, in threads", sizes, scratch)


def _library(
    name: str, title: str, sizes: Sequence[int], scratch: Path, *options: str
) -> Iterator[Result]:
    rows: Rows = []
    shown = ["count", "count and search", "recode and write", "count what was written"]
    for records in sizes:
        with _space(scratch) as space:
            source = space / "table.parquet"
            act("make", records, source)
            study = study_of(source, 0.02)
            done = {
                "DuckDB": act("embedded", source, study, space / "duckdb"),
                name: act(name, source, study, space / name, *options),
            }
            if len({found.said["classes"] for found in done.values()}) > 1:
                raise SystemExit("the releases differ")
            for each, found in done.items():
                seconds = [f"{found.said[part]:.2f}" for part in shown]
                process = [f"{found.wall:.1f}", f"{found.peak:.2f}"]
                rows.append([f"{records:,}", each, *seconds, *process, found.said["classes"]])
    yield Result(
        title,
        "From Parquet to Parquet by tables of the library, 2 % suppressed; the counts of each are "
        "held against those of the embedded DuckDB, and the released table is counted again from "
        "what was written. The peak is of the Python process: Spark's own memory is Java's.",
        ["records", "", *(f"{part}, s" for part in shown), "process, s", "peak GiB", "classes"],
        rows,
    )


@contextmanager
def _space(scratch: Path) -> Iterator[Path]:
    """A directory of the tables of one size, gone afterwards."""
    with tempfile.TemporaryDirectory(dir=scratch) as directory:
        yield Path(directory)


SECTIONS: dict[str, tuple[Callable[[Sequence[int], Path], Iterator[Result]], list[int]]] = {
    "parquet": (parquet, [10**6, 10**7, 10**8]),
    "csv": (csv, [10**6, 3 * 10**6]),
    "database": (database, [10**8]),
    "spark": (spark, [10**6, 10**7]),
    "dask": (dask, [10**6, 10**7]),
}


def written(section: str, results: Sequence[Result], command: str) -> None:
    """Write the results of a section."""
    from measure import table as markdown

    lines = [f"# Tables of any size: {section}", "", f"Made by `{command}`"]
    lines += [
        "with ANONYMIZER_DATA set, on two cores: records drawn from Adult with ages moved and"
    ]
    lines += ["cells redrawn (see workloads.py), nine quasi-identifiers with ARX's hierarchies,"]
    lines += [
        f"k = 5, objective loss. Least of {ROUNDS} rounds in which all take turns, of one for"
    ]
    lines += [f"{LARGE:,} records and more, for databases and for clusters. Each is a process."]
    for result in results:
        lines += ["", f"## {result.title}", "", result.text, ""]
        lines += markdown(result.header, result.rows)
    RESULTS.mkdir(exist_ok=True, parents=True)
    (RESULTS / f"{section}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Measure and write."""
    options = argparse.ArgumentParser()
    options.add_argument("--records", type=float, nargs="+")
    options.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()))
    options.add_argument("sections", nargs="*", metavar="SECTION", default=[*SECTIONS])
    given = options.parse_args()
    if unknown := {*given.sections} - {*SECTIONS}:
        options.error(f"unknown section {min(unknown)}; there are {', '.join(SECTIONS)}")
    for section in given.sections:
        measure, usual = SECTIONS[section]
        sizes = usual if given.records is None else [int(size) for size in given.records]
        command = f"python benchmarks/bench_size.py {section}"
        if given.records is not None:
            command += f" --records {' '.join(map(str, sizes))}"
        results = [*measure(sizes, given.scratch)]
        written(section, results, command)


if __name__ == "__main__":
    main()
