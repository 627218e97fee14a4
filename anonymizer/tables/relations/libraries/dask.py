"""DataFrames of Dask, computed a partition at a time."""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import randbits
from typing import Any, Self

import dask.dataframe
import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from dask.dataframe.utils import UNKNOWN_CATEGORIES
from dask.delayed import delayed

from anonymizer.errors import InputError
from anonymizer.tables.files.format import Format
from anonymizer.tables.relations.coded import tells_apart
from anonymizer.tables.relations.counting import viewed
from anonymizer.tables.relations.dealing import runs_of
from anonymizer.tables.relations.frames import Frame
from anonymizer.tables.relations.partitions import (
    Alike,
    Cleared,
    DrawnPartitions,
    RecodedPartition,
    Rows,
    Scattered,
    added,
    categories_of,
    counts_of,
    in_order,
)
from anonymizer.tables.relations.relation import Moves
from anonymizer.tables.traces import without_traces

PATIENCE = 10
"""Seconds to wait for a scheduler."""

HEAP = 16
"""Partitions whose counts are added up at a time."""

COUNTED = re.compile(
    r"bool(ean)?|u?int\d+|float(32|64)|(datetime|timedelta)64\[.*\]|str(ing)?|category|object", re.I
)
"""Names of types of pandas whose equal values are alike, or can be found to be so."""


class DaskFrame(Frame):
    """A DataFrame of Dask; its index is left out where values are recoded.

    Every partition is counted and recoded as a table of Arrow, in one step for all its columns:
    a query that Dask plans and joins takes seconds for a dozen of them, however small the table.

    >>> from anonymizer import Anonymizer, KAnonymity
    >>> policy = Anonymizer({"age": {"widths": [10, 50]}}, privacy=[KAnonymity(2)])
    >>> table = dask.dataframe.from_dict(
    ...     {"age": [31, 34, 38, 52, 57], "visits": [1, 0, 2, 1, 4]}, npartitions=2
    ... )
    >>> released = policy.fit_transform(table)
    >>> type(released).__name__, str(released.dtypes["visits"])
    ('DataFrame', 'int64')
    >>> released["age"].compute().tolist()
    ['[30, 40)', '[30, 40)', '[30, 40)', '[50, 60)', '[50, 60)']
    """

    called = "Dask"

    def type_of(self, name: str) -> Any:
        """As ``Frame.type_of``."""
        return self.native.dtypes[name]

    def tells_apart(self, kind: Any) -> bool:
        """As ``Frame.tells_apart``; what Python's objects are is only known of each partition."""
        if isinstance(kind, pd.ArrowDtype):
            return tells_apart(kind.pyarrow_dtype)
        return COUNTED.fullmatch(kind.name) is not None

    def computed(self) -> Self:
        """As ``Frame.computed``: in the memory of the workers, or of this process."""
        with self.told():
            native = self.native.persist()
            names = [each for each, kind in native.dtypes.items() if kind.name == "category"]
            parts = [delayed(categories_of)(part) for part in native[names].to_delayed()]
            found = delayed(list)(parts).compute()
            kinds = {each: _found(native.dtypes[each], [p[each] for p in found]) for each in names}
            cleared = Cleared(kinds)
            native = native.map_partitions(cleared, meta=cleared(native._meta)).persist()
            return type(self)(viewed(native))

    @property
    def records(self) -> int:
        """As ``Relation.records``."""
        with self.told():
            return len(self.native)

    def collected(self, table: Any) -> pa.Table:
        """As ``Frame.collected``, without the index."""
        if isinstance(table, nw.DataFrame):
            return super().collected(table)
        with self.told():
            frame = table.to_native().compute()
            return pa.Table.from_pandas(frame, preserve_index=False)

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """As ``Relation.write``, by the workers, Parquet alone."""
        from anonymizer.tables.relations.cluster import named_parts, require_parquet

        require_parquet(form, self.called)
        scratch = path.with_name(f".{path.name}-dask")
        cleared = self.native.map_partitions(without_traces, meta=self.native._meta)
        spread = cleared.repartition(npartitions=parts or 1)
        with self.told():
            spread.to_parquet(str(scratch.absolute()), write_index=False, name_function=_numbered)
        named_parts([*scratch.glob("part-*.parquet")], path, parts)
        shutil.rmtree(scratch)

    def some(self, most: int) -> Any:
        """As ``Looking.some``: drawn, since the first ones may be of one kind."""
        share = min(most / max(self.records, 1), 1.0)
        return viewed(self.native.sample(frac=share, random_state=0))

    def counted(self, names: Mapping[str, str], size: str) -> Any:
        """As ``Countable.counted``: of each partition, and added up."""
        parts = self.native[[*names.values()]].to_delayed()
        counts = [delayed(counts_of)(part, names, size) for part in parts]
        while len(counts) > 1:
            heaps = [counts[begin : begin + HEAP] for begin in range(0, len(counts), HEAP)]
            counts = [delayed(added)(heap, size) for heap in heaps]
        with self.told():
            return viewed(counts[0].compute())

    def shuffled(self) -> Self:
        """As ``Relation.shuffled``: records go to partitions, and lie in each, at random."""
        scattered = self._scattered(self.native, randbits(128)).shuffle(self._chance)
        meta = scattered._meta.drop(columns=self._chance)
        ordered = scattered.map_partitions(in_order, self._chance, meta=meta)
        return type(self)(viewed(ordered))

    @property
    def _chance(self) -> str:
        return f"{self.unused}chance"

    def _scattered(self, native: Any, seed: int) -> Any:
        """A table with a random number for each record."""
        meta = native._meta.assign(**{self._chance: np.zeros(0, np.int64)})
        return native.map_partitions(Scattered(seed, self._chance), meta=meta)

    def _recoded(self, moves: Moves) -> Any:
        row = f"{self.unused}row"
        names = dict.fromkeys([*moves.columns, *moves.raw.columns])
        native = self.native[[name for name in names if name in self.columns]].clear_divisions()
        native = _mapped(native, Rows(moves.raw, self.known, row))
        fate: Alike | DrawnPartitions = Alike.of(moves, row)
        if moves.drawn:  # all records of a row have to be in one partition
            native = self._scattered(native, moves.seed + 2).shuffle(row)
            fate = DrawnPartitions(row, self._chance, runs_of(moves), moves.seed)
        return viewed(_mapped(native, RecodedPartition.of(moves, fate)))


def _found(kind: Any, parts: Sequence[pd.Index]) -> pd.CategoricalDtype:
    """The type of a column with those categories that some partition has records of."""
    found = parts[0]
    for part in parts[1:]:
        found = found.append(part.difference(found, sort=False))
    if UNKNOWN_CATEGORIES not in kind.categories:
        found = kind.categories[kind.categories.isin(found)]
    return pd.CategoricalDtype(found, kind.ordered)


def _mapped(native: Any, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Any:
    """A table whose partitions are changed; what it needs for that is sent once."""
    return native.map_partitions(_changed, delayed(change), meta=change(native._meta))


def _changed(part: pd.DataFrame, change: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    return change(part)


def _numbered(part: int) -> str:
    """A name of a file that is in the order of the parts."""
    return f"part-{part:06}.parquet"


@contextmanager
def session(master: str | None) -> Iterator[Callable[[list[str]], Any]]:
    """What reads Parquet files, by the workers of a scheduler where there is the address of one."""
    with ExitStack() as opened:
        if master is not None:
            opened.enter_context(_client(master))
        # What pandas calls an index is a column to every other reader.
        yield lambda files: dask.dataframe.read_parquet(files, split_row_groups=True, index=False)


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
