"""One measurement of bench_size.py, in a process of its own: what it did, as JSON.

    python benchmarks/size_process.py make 1000000 table.parquet

Each function is an action: it gets the words of the command line, and gives what is reported.
Seconds are of the work alone; who starts the process measures it as a whole.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

Result = Mapping[str, object]


def make(records: str, path: str) -> Result:
    """Write the records of ``workloads.enlarged`` to Parquet, a million at a time."""
    import pyarrow as pa
    import pyarrow.parquet
    import workloads

    writer = None
    for part in workloads.enlarged_parts(int(records)):
        texts = {name: column.astype(column.cat.categories.dtype) for name, column in part.items()}
        table = pa.table({name: pa.array(column) for name, column in texts.items()})
        writer = writer or pa.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return {}


def convert(source: str, path: str) -> Result:
    """Write a Parquet file as CSV, or into a database of DuckDB, as table people."""
    import duckdb

    scanned = f"SELECT * FROM read_parquet('{source}')"
    if path.endswith(".csv"):
        duckdb.sql(f"COPY ({scanned}) TO '{path}' (HEADER)")
    else:
        with duckdb.connect(path) as database:
            database.execute(f"CREATE TABLE people AS {scanned}")
    return {}


def bare_count(source: str) -> Result:
    """DuckDB's GROUP BY over all columns, its result as an Arrow table."""
    import duckdb
    import workloads

    names = ", ".join(f'"{name}"' for name in workloads.NINE)
    query = f"SELECT {names}, count(*) AS n FROM {_scanned(source)} GROUP BY ALL"
    with _clock() as clock:
        found = duckdb.sql(query).to_arrow_table()
    return {**clock, "cells": len(found)}


def count(source: str) -> Result:
    """Our count of the same."""
    import workloads

    with _relation(source) as relation:
        with _clock() as clock:
            tally = relation.tally(workloads.NINE)
        return {**clock, "cells": len(tally.index)}


def bare_copy(source: str, path: str) -> Result:
    """DuckDB's COPY of the table as it is."""
    import duckdb

    options = "HEADER" if path.endswith(".csv") else "FORMAT parquet"
    with _clock() as clock:
        duckdb.sql(f"COPY (SELECT * FROM {_scanned(source)}) TO '{path}' ({options})")
    return clock


def recode(source: str, study: str, path: str) -> Result:
    """Our recoding of the table by a plan that was found before, written."""
    from anonymizer import Study
    from anonymizer.release.fitting import fitted

    anonymizer = Study(Path(study)).anonymizer()
    with _relation(source) as relation:
        carried = fitted(anonymizer, relation)
        with _clock() as clock:
            carried.table.write(Path(path), _form(path))
    return clock


def phases(study: str, directory: str) -> Result:
    """A whole run, and when each of its phases began, by what it reports of its progress."""
    from anonymizer import Study
    from anonymizer.release.publish import publish

    seconds: dict[str, float] = {}
    began, current = perf_counter(), "opening"

    def watch(doing: str, done: int, of: int | None) -> None:
        nonlocal began, current
        if doing != current:
            seconds[current] = seconds.get(current, 0) + perf_counter() - began
            began, current = perf_counter(), doing

    release, _ = publish(Study(Path(study)), Path(directory), force=True, watch=watch)
    watch("", 0, None)
    return {"phases": seconds, "classes": release.classes}


def pandas_copy(source: str, path: str) -> Result:
    """What pandas takes: it reads a CSV file and writes it again."""
    import pandas as pd

    pd.read_csv(source).to_csv(path, index=False)
    return {}


def duckdb_copy(source: str, path: str) -> Result:
    """DuckDB reads a CSV file as texts, strictly, and writes it again."""
    import duckdb

    scanned = f"read_csv('{source}', all_varchar = true, strict_mode = true)"
    duckdb.sql(f"COPY (SELECT * FROM {scanned}) TO '{path}' (HEADER)")
    return {}


def spark(source: str, study: str, path: str, master: str) -> Result:
    """Count, search, recode, write and count again what was written, by Spark."""
    from pyspark.sql import SparkSession

    starts = perf_counter()
    session = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.shuffle.partitions", "8")
        .getOrCreate()
    )
    started = perf_counter() - starts
    try:
        read, write = session.read.parquet, lambda table: table.write.parquet(path)
        return {
            "start of Spark": started,
            **_library(lambda p: read(p), write, source, study, path),
        }
    finally:
        session.stop()


def dask(source: str, study: str, path: str) -> Result:
    """The same, by Dask."""
    import dask.dataframe as dd

    return _library(
        lambda place: dd.read_parquet(place, split_row_groups=True),
        lambda table: table.to_parquet(path, write_index=False),
        source,
        study,
        path,
    )


def embedded(source: str, study: str, path: str) -> Result:
    """The same, by DuckDB within this process: what the others are compared with."""
    import duckdb

    return _library(
        lambda place: duckdb.read_parquet(
            place if place.endswith(".parquet") and Path(place).is_file() else f"{place}/*.parquet"
        ),
        lambda table: (Path(path).mkdir(), table.write_parquet(f"{path}/part-0.parquet")),
        source,
        study,
        path,
    )


def _library(
    read: Callable[[str], Any],
    write: Callable[[Any], object],
    source: str,
    study: str,
    path: str,
) -> Result:
    """A release by a library's own tables; its counts are held against DuckDB's."""
    import workloads

    from anonymizer import Study
    from anonymizer.release.fitting import fitted
    from anonymizer.tables.relations.frames import relation_of

    relation, seconds = relation_of(read(source)), dict[str, float]()
    with _part(seconds, "count"):
        tally = relation.tally(workloads.NINE)
    with _relation(source) as same:
        _require_same(tally, same.tally(workloads.NINE))
    with _part(seconds, "count and search"):
        carried = fitted(Study(Path(study)).anonymizer(), relation)
    with _part(seconds, "recode and write"):
        write(carried.table.native)
    with _part(seconds, "count what was written"):
        carried.verify(relation_of(read(path)))
    return {**seconds, "cells": len(tally.index), "classes": carried.release.classes}


def _require_same(one: Any, other: Any) -> None:
    counts = [
        {
            tuple(map(str, row)): size
            for row, size in zip(
                tally.combinations.astype(str).itertuples(index=False), tally.sizes, strict=True
            )
        }
        for tally in (one, other)
    ]
    if counts[0] != counts[1]:
        raise SystemExit("the counts differ")


@contextmanager
def _relation(source: str) -> Iterator[Any]:
    from anonymizer.tables.relations.embedded.files import opened

    path = Path(source)
    options = {"table": "people"} if path.suffix == ".duckdb" else {}
    with opened(path, _form(source), scratch=path.parent, **options) as relation:
        yield relation


def _form(path: str) -> Any:
    from anonymizer.tables.files import Format

    return Format(not path.endswith(".csv"))


def _scanned(source: str) -> str:
    if source.endswith(".duckdb"):
        import duckdb

        duckdb.sql(f"ATTACH '{source}' AS stored (READ_ONLY)")
        return "stored.people"
    return f"read_parquet('{source}')"


@contextmanager
def _part(seconds: dict[str, float], name: str) -> Iterator[None]:
    with _clock() as clock:
        yield
    seconds[name] = clock["seconds"]


@contextmanager
def _clock() -> Iterator[dict[str, float]]:
    taken: dict[str, float] = {}
    begins = perf_counter()
    yield taken
    taken["seconds"] = perf_counter() - begins


if __name__ == "__main__":
    action = globals()[sys.argv[1].replace("-", "_")]
    print(json.dumps(action(*sys.argv[2:])))
