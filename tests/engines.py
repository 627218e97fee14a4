"""The libraries whose tables are released where they lie: a table of each, made of one of Arrow."""

import atexit
import os
import shutil
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache

import pandas as pd
import pytest
from lengths import LONG

from anonymizer.tables.files.parquet import exact_frame
from anonymizer.tables.relations.frames import relation_of


def arrow(table):
    return table


def polars(table):
    import polars

    return polars.from_arrow(table)


def lazy(table):
    return polars(table).lazy()


def duckdb(table):
    import duckdb

    return duckdb.connect().from_arrow(table)


def dask(table):
    """Three partitions, one of them without a record."""
    import dask.dataframe

    frame = exact_frame(table)
    half = len(frame) // 2
    parts = [frame[:half], frame[:0], frame[half:]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dask.dataframe.from_map(lambda part: part, parts, meta=frame[:0])


# Small tables are counted faster by Java that compiles little, and by few tasks.
os.environ.setdefault(
    "PYSPARK_SUBMIT_ARGS",
    '--driver-memory 1g --driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" '
    "--conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2 pyspark-shell",
)


@cache
def spark_session():
    """The one session of this process, on two of its cores; ended with the process."""
    if not (shutil.which("java") or "JAVA_HOME" in os.environ):
        pytest.skip("Spark needs Java, which is not installed")
    from pyspark.sql import SparkSession

    from anonymizer.tables.relations.libraries.spark import session

    opened = ExitStack()
    opened.enter_context(session("local[2]"))
    atexit.register(opened.close)
    return SparkSession.getActiveSession()


def spark(table):
    return spark_session().createDataFrame(table)


KINDS = {each.__name__: each for each in (arrow, polars, lazy, duckdb, dask, spark)}
"""What makes a table of each kind."""


EACH = [kind for kind in KINDS if LONG or kind != "spark"]
"""The kinds that each feature is tried with, Spark at full length alone: its jobs take a second.

What differs with the kind is how a table is counted, joined and recoded where it lies. Those of
Spark are in test_engines, test_cluster, test_person_warnings and in tests/tables, which carry out
each line of its relation.
"""


def kinds_with(cases: Sequence[object]) -> list[tuple[str, object]]:
    """Each kind of table with each case; Dask, whose jobs are slow, with the first alone.

    At full length all take all. What differs between cases is decided on counts, in memory.
    """
    few = {"dask"} if not LONG else {}
    return [(kind, case) for kind in EACH for case in (cases[:1] if kind in few else cases)]


def records_of(table):
    """The records of a table of any kind as texts, in any order, to compare them by."""
    if not isinstance(table, pd.DataFrame):
        table = relation_of(table).frame(relation_of(table).columns)
    plain = table.astype(object).where(table.notna(), None)
    return sorted(repr(tuple(row)) for row in plain.itertuples(index=False))
