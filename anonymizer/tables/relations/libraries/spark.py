"""DataFrames of Spark."""

import os
import re
import shutil
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import randbits
from typing import Any, Self

import numpy as np
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.tables.files.format import Format
from anonymizer.tables.relations.frames import Frame, named_parts, require_parquet, viewed
from anonymizer.tables.relations.relation import Moves, runs_of

COUNTED = re.compile(
    r"boolean|byte|short|integer|long|float|double|decimal|string|char|varchar|binary|date|"
    r"timestamp(_ntz)?|daytimeinterval|void"
)
"""Types of Spark whose equal values are alike."""


class SparkFrame(Frame):
    """A DataFrame of Spark, of a session of its own or one that it is connected to."""

    called = "Spark"
    by_bytes = True

    def type_of(self, name: str) -> Any:
        """As ``Frame.type_of``."""
        return self.native.schema[name].dataType

    def tells_apart(self, kind: Any) -> bool:
        """As ``Frame.tells_apart``."""
        return COUNTED.fullmatch(kind.typeName()) is not None

    def sketched(self, table: Any, columns: Sequence[str]) -> int:
        """As ``Frame.sketched``."""
        names = ", ".join("`" + name.replace("`", "``") + "`" for name in columns)
        found = table.to_native().selectExpr(f"approx_count_distinct(xxhash64({names}))")
        return int(found.first()[0])

    def in_bytes(self, table: Any, texts: Sequence[str]) -> Any:
        """As ``Frame.in_bytes``: a column may have a collation."""
        from pyspark.sql import functions as sql

        bytes_of = {name: sql.col(f"`{name}`").cast("binary") for name in texts}
        return viewed(table.to_native().withColumns(bytes_of))

    def computed(self) -> Self:
        """As ``Frame.computed``: with the machines of the cluster, which do not compute it again.

        A machine that is lost takes its records with it: Spark says so then.
        """
        with self.worded():
            return type(self)(viewed(self.native.localCheckpoint(eager=True)))

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """As ``Relation.write``, by the machines of the cluster, Parquet alone."""
        require_parquet(form, self.called)
        scratch = path.with_name(f".{path.name}-spark")
        spread = self.native.coalesce(1) if parts is None else self.native.repartition(parts)
        with self.worded():
            spread.write.parquet(str(scratch.absolute()))
        named_parts([*scratch.glob("part-*.parquet")], path, parts)
        shutil.rmtree(scratch)

    def as_native(self, small: pa.Table) -> Any:
        """As ``Frame.as_native``."""
        return viewed(self.native.sparkSession.createDataFrame(small))

    def dealt(self, table: Any, moves: Moves, row: str, move: str) -> Any:
        """As ``Frame.dealt``: whenever the table is computed, records alike get the same."""
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        runs = runs_of(moves)
        begins = np.append(np.flatnonzero(np.diff(runs.row, prepend=-1)), len(runs.row))
        parts = pa.array(begins, type=pa.int32())
        of_rows = {
            row: runs.row[begins[:-1]],
            f"{row} firsts": pa.ListArray.from_arrays(parts, pa.array(runs.first)),
            f"{row} moves": pa.ListArray.from_arrays(parts, pa.array(runs.move)),
        }
        found = self.joined(table, pa.table(of_rows), row).to_native()
        window = Window.partitionBy(f"`{row}`").orderBy(_chance(found, moves.seed))
        rank = sql.row_number().over(window) - 1
        before = sql.filter(f"`{row} firsts`", lambda first: first <= sql.col(f"`{row} rank`"))
        place = sql.element_at(f"`{row} moves`", sql.size(before))
        return viewed(found.withColumn(f"{row} rank", rank).withColumn(move, place))

    def shuffled(self) -> Self:
        """As ``Relation.shuffled``: by digests of the values, which Spark has none of maps for."""
        for field in self.native.schema.fields:
            if any(f'"{kind}"' in field.dataType.json() for kind in ("map", "variant")):
                raise InputError(
                    f"column {field.name!r} holds maps, by which Spark cannot put records in "
                    "random order; list it among the identifiers, or leave engine out of [data]"
                )
        return type(self)(viewed(self.native.orderBy(_chance(self.native, randbits(128)))))


def _chance(native: Any, seed: int) -> Any:
    """An order of records that nobody knows who does not know the seed."""
    from pyspark.sql import functions as sql

    salt = sql.lit(str(seed))
    digest = sql.xxhash64(salt, *(sql.col(f"`{name}`") for name in native.columns))
    return sql.sha2(sql.concat(salt, digest.cast("string")), 256)


@contextmanager
def session(master: str | None) -> Iterator[Callable[[list[str]], Any]]:
    """A session of Spark, ended afterwards where it was begun here, as what reads Parquet files."""
    with warnings.catch_warnings():  # such as that this pandas is too new: known, and harmless
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        found = active or _begun(master)
        try:
            yield lambda files: found.read.parquet(*files)
        finally:
            if active is None:
                found.stop()


def _begun(master: str | None) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("anonymizer")
    if master is not None:
        builder = builder.master(master)
    try:
        with _own_interrupts():
            return builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    except Exception as error:  # of Java, of the network, of an address that is none
        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            raise InputError(
                "Spark needs Java, which is not found; install Java 17 or later, or set JAVA_HOME"
            ) from None
        raise InputError(
            f"Spark could not be started with master {master or 'as configured'} "
            f"({type(error).__name__}); start it alone to see why"
        ) from None


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep what becomes of an interrupt: Spark puts a handler of its own in its place."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
