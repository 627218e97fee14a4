"""DataFrames of Dask, computed a partition at a time."""

from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.tables.files.parquet import exact_frame
from anonymizer.tables.relations.dealing import Runs, dealt, runs_of, seed_of
from anonymizer.tables.relations.frames import Frame, How, viewed
from anonymizer.tables.relations.relation import Moves


class DaskFrame(Frame):
    """A DataFrame of Dask; its index is left out where values are recoded."""

    library = "Dask"

    def collected(self, table: Any) -> pa.Table:
        """As ``Frame.collected``, without the index."""
        with self.told():
            frame = table.to_native().compute()
            return pa.Table.from_pandas(frame, preserve_index=False)

    def joined(self, table: Any, small: pa.Table, on: str, how: How = "inner") -> Any:
        """As ``Frame.joined``: to one partition, whose key is of the type that the table's is."""
        native = table.to_native()
        frame = exact_frame(small).astype({on: native.dtypes[on]})
        right = dask.dataframe.from_pandas(frame, npartitions=1)
        return viewed(native.merge(right, on=on, how=how))

    def some(self, most: int) -> Any:
        """As ``Looking.some``: drawn, since the first ones may be of one kind."""
        share = min(most / max(self.records, 1), 1.0)
        return viewed(self.native.sample(frac=share, random_state=0))

    def dealt(self, table: Any, moves: Moves, row: str, move: str) -> Any:
        """As ``Frame.dealt``, in each partition once all records of a row are in one."""
        native = table.to_native().shuffle(row)
        options = {"runs": runs_of(moves), "seed": seed_of(), "row": row, "move": move}
        meta = native._meta.assign(**{move: np.zeros(0, np.int64)})
        return viewed(native.map_partitions(_dealt, **options, meta=meta))

    def shuffled(self, table: Any) -> Any:
        """As ``Frame.shuffled``: records go to partitions, and lie in each, at random."""
        native, chance = table.to_native(), self.unused
        meta = native._meta.assign(**{chance: np.zeros(0, np.int64)})
        drawn = native.map_partitions(_drawn, seed_of(), chance, meta=meta).shuffle(chance)
        return viewed(drawn.map_partitions(_sorted, chance, meta=native._meta))


def _drawn(part: pd.DataFrame, seed: int, chance: str, partition_info: Any = None) -> pd.DataFrame:
    """The records of a partition, with a number drawn for each."""
    rng = np.random.default_rng([seed, 0 if partition_info is None else partition_info["number"]])
    return part.assign(**{chance: rng.integers(0, 2**62, len(part))})


def _sorted(part: pd.DataFrame, by: str) -> pd.DataFrame:
    return part.sort_values(by).drop(columns=by)


def _dealt(part: pd.DataFrame, runs: Runs, seed: int, row: str, move: str) -> pd.DataFrame:
    """The records of a partition with their moves; which rows it has makes its stream another."""
    rows = part[row].to_numpy(np.int64)
    rng = np.random.default_rng([seed, *rows[:1]])
    return part.assign(**{move: dealt(rows, runs, rng)})
