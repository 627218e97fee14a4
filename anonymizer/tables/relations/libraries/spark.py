"""DataFrames of Spark."""

from typing import Any

import numpy as np
import pyarrow as pa

from anonymizer.tables.relations.dealing import runs_of, seed_of
from anonymizer.tables.relations.frames import Frame, viewed
from anonymizer.tables.relations.relation import Moves


class SparkFrame(Frame):
    """A DataFrame of Spark, of a session of its own or one that it is connected to."""

    library = "Spark"

    def beside(self, small: pa.Table) -> Any:
        """As ``Frame.beside``."""
        return viewed(self.native.sparkSession.createDataFrame(small))

    def some(self, most: int) -> Any:
        """As ``Looking.some``: drawn, since the first ones may be of one kind."""
        return viewed(self.native.sample(min(most / max(self.records, 1), 1.0), seed=0))

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
        window = Window.partitionBy(f"`{row}`").orderBy(_chance(found))
        rank = sql.row_number().over(window) - 1
        before = sql.filter(f"`{row} firsts`", lambda first: first <= sql.col(f"`{row} rank`"))
        place = sql.element_at(f"`{row} moves`", sql.size(before))
        return viewed(found.withColumn(f"{row} rank", rank).withColumn(move, place))

    def shuffled(self, table: Any) -> Any:
        """As ``Frame.shuffled``."""
        native = table.to_native()
        return viewed(native.orderBy(_chance(native)))


def _chance(native: Any) -> Any:
    """An order of records that nobody knows who does not know the seed."""
    from pyspark.sql import functions as sql

    seed = sql.lit(str(seed_of()))
    digest = sql.xxhash64(seed, *(sql.col(f"`{name}`") for name in native.columns))
    return sql.sha2(sql.concat(seed, digest.cast("string")), 256)
