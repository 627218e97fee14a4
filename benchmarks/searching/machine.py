"""The limits that the machine sets: how fast it reads memory, groups a table, merges classes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import duckdb
import numpy as np
import pandas as pd
from measure import problem_of
from workloads import nine_attributes

from anonymizer.kernels import NATIVE, FrequencySet, Words
from anonymizer.recoding import Problem, solve
from searching.ways import encoded

__all__ = ["bandwidth", "bytes_read", "calibration", "group_by", "ns_per_row"]

MEMORY = 512 * 2**20
"""Bytes that are read, far more than any cache holds."""
TURNS = 5


def bandwidth() -> float:
    """Bytes per second that one thread reads, or reads and writes: the faster of sum and copy."""
    numbers = np.ones(MEMORY // 8, np.int64)
    copied = np.empty_like(numbers)
    summing = _least(lambda: numbers.sum())
    copying = _least(lambda: np.copyto(copied, numbers))
    return max(MEMORY / summing, 2 * MEMORY / copying)


def ns_per_row() -> float:
    """Nanoseconds per row of one roll-up: nine attributes, two of them suppressed."""
    evaluator = encoded(problem_of(nine_attributes()[0])).evaluator
    heights = evaluator.encoding.heights
    node = tuple(
        height if name in ("age", "native-country") else 0
        for name, height in zip(evaluator.encoding.names, heights, strict=True)
    )
    mask, kernel = evaluator.encoding.mask(node), NATIVE
    taken = _least(lambda: kernel.roll_up(evaluator.base, mask))
    return 1e9 * taken / len(evaluator.base)


def calibration(speed: float) -> list[str]:
    """How fast the machine was, in words; ``speed`` is that of its memory, in bytes per second."""
    return [
        f"The machine meanwhile: {ns_per_row():.1f} ns per row of one roll-up (30,162 records,",
        "nine attributes, ages and countries suppressed, compiled kernels), and",
        f"{speed / 1e9:.1f} GB/s read by one thread (the faster of NumPy's sum and copy).",
    ]


def group_by(table: pd.DataFrame, columns: Sequence[str]) -> Mapping[str, float]:
    """Seconds of one GROUP BY of some columns in DuckDB, in memory, texts as enumerations."""
    texts = {name: "category" for name in columns if not pd.api.types.is_numeric_dtype(table[name])}
    frame = table[list(columns)].astype(texts)
    groups = f"SELECT count(*) AS n FROM held GROUP BY {', '.join(map(_quoted, columns))}"
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE held AS SELECT * FROM frame")
        taken = {}
        query = f"SELECT max(n), count(*) FROM ({groups})"
        taken["DuckDB, all threads"] = _least(lambda: connection.execute(query).fetchall())
        connection.execute("SET threads = 1")
        taken["DuckDB, 1 thread"] = _least(lambda: connection.execute(query).fetchall())
    return taken


def bytes_read(problem: Problem) -> int:
    """The bytes that roll-ups of one search read, in Python over compiled kernels."""
    kernel, read = NATIVE, 0

    def counted(source: FrequencySet, mask: Words) -> FrequencySet:
        nonlocal read
        read += source.nbytes
        return kernel.roll_up(source, mask)

    solve(encoded(replace(problem, kernel=replace(kernel, roll_up=counted, drives=False))))
    return read


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _least(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few turns."""
    taken = []
    for _ in range(TURNS):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return min(taken)
