"""DataFrames of Dask, computed a partition at a time."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.parquet import exact_frame
from anonymizer.tables.relations.counting import viewed
from anonymizer.tables.relations.dealing import Runs, dealt, runs_of
from anonymizer.tables.relations.frames import Frame, How
from anonymizer.tables.relations.relation import Moves

PATIENCE = 10
"""Seconds to wait for a scheduler."""


class DaskFrame(Frame):
    """A DataFrame of Dask; its index is left out where values are recoded."""

    library = "Dask"

    def collected(self, table: Any) -> pa.Table:
        """As ``Frame.collected``, without the index."""
        with self.told():
            frame = table.to_native().compute()
            return pa.Table.from_pandas(frame, preserve_index=False)

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """As ``Relation.write``, by the workers, Parquet alone."""
        from anonymizer.tables.relations.cluster import named_parts, require_parquet

        require_parquet(form, self.library)
        scratch = path.with_name(f".{path.name}-dask")
        spread = self.native.repartition(npartitions=parts or 1)
        with self.told():
            spread.to_parquet(str(scratch.absolute()), write_index=False, name_function=_numbered)
        named_parts([*scratch.glob("part-*.parquet")], path, parts)
        shutil.rmtree(scratch)

    def joined(self, table: Any, small: pa.Table, on: str, how: How = "inner") -> Any:
        """As ``Frame.joined``: to one partition, whose key is of the type that the table's is."""
        native = table.to_native()
        frame = exact_frame(small).astype({on: native.dtypes[on]})
        right = dask.dataframe.from_pandas(  # type: ignore[no-untyped-call]
            frame, npartitions=1
        )
        return viewed(native.merge(right, on=on, how=how))

    def some(self, most: int) -> Any:
        """As ``Looking.some``: drawn, since the first ones may be of one kind."""
        share = min(most / max(self.records, 1), 1.0)
        return viewed(self.native.sample(frac=share, random_state=0))

    def dealt(self, table: Any, moves: Moves, row: str, move: str) -> Any:
        """As ``Frame.dealt``, in each partition once all records of a row are in one."""
        native = table.to_native().shuffle(row)
        options = {"runs": runs_of(moves), "seed": moves.seed, "row": row, "move": move}
        meta = native._meta.assign(**{move: np.zeros(0, np.int64)})
        return viewed(native.map_partitions(_dealt, **options, meta=meta))

    def shuffled(self, table: Any, seed: int) -> Any:
        """As ``Frame.shuffled``: records go to partitions, and lie in each, at random."""
        native, chance = table.to_native(), self.unused
        meta = native._meta.assign(**{chance: np.zeros(0, np.int64)})
        drawn = native.map_partitions(_drawn, seed + 1, chance, meta=meta).shuffle(chance)
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


def _numbered(part: int) -> str:
    """A name of a file that is in the order of the parts."""
    return f"part-{part:06}.parquet"


@contextmanager
def session(master: str | None) -> Iterator[Callable[[list[str]], Any]]:
    """What reads Parquet files, by the workers of a scheduler where there is the address of one."""
    with ExitStack() as opened:
        if master is not None:
            opened.enter_context(_client(master))
        yield lambda files: dask.dataframe.read_parquet(files, split_row_groups=True)


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise InputError(
            "a scheduler of Dask needs distributed, which is not installed: pip install "
            "'dask[distributed]'"
        ) from None
    try:
        return Client(address, timeout=PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"no scheduler of Dask answers at {address} ({type(error).__name__}); check master"
        ) from None
