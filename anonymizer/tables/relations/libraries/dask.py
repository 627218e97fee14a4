"""DataFrames of Dask, computed a partition at a time, each as a table of Arrow.

Functions of partitions, which pandas holds, are sent to the machines that hold these, with all that
they need.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
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
from anonymizer.kernels.arrays import Codes
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.parquet import exact_frame, is_text
from anonymizer.tables.relations.coded import Known, coded, labels_of, tells_apart
from anonymizer.tables.relations.frames import Frame, named_parts, require_parquet, viewed
from anonymizer.tables.relations.libraries.arrow import ArrowFrame
from anonymizer.tables.relations.relation import (
    NONE,
    Moves,
    NotToldApartError,
    Runs,
    dealt,
    runs_of,
)
from anonymizer.tables.traces import without_traces

PATIENCE = 10
"""Seconds to wait for a scheduler."""

HEAP = 16
"""Partitions whose counts are added up at a time."""

COUNTED = re.compile(
    r"bool(ean)?|u?int\d+|float(32|64)|(datetime|timedelta)64\[.*\]|str(ing)?|category|object", re.I
)
"""Names of types of pandas whose equal values are alike, or can be found to be so."""

ALIKE = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_binary,
    pa.types.is_date32,
    pa.types.is_null,
)
"""Types of Arrow of which Python's objects are equal only where they are written alike."""


def counts_of(part: pd.DataFrame, names: Mapping[str, str], size: str) -> pa.Table:
    """The records of each combination of values of the columns that have new names."""
    held = _arrow(part)
    for name in names.values():
        _require_alike(part[name], held.schema.field(name).type)
    counted: pa.Table = ArrowFrame(viewed(held)).counted(names, size).to_native()
    return counted


def added(counts: Sequence[pa.Table], size: str) -> pa.Table:
    """Add up counts of partitions; types of columns may differ where one has no value."""
    # Copied: Arrow warns of numbers that lie where a message of another machine had them.
    table = pa.concat_tables(counts, promote_options="permissive").combine_chunks()
    names = [name for name in table.column_names if name != size]
    total = table.group_by(names, use_threads=False).aggregate([(size, "sum")])
    return total.select([*names, f"{size}_sum"]).rename_columns([*names, size])


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a counted table, by which records are numbered in a new column.

    ``raw`` was counted of the table, ``known`` of its columns.
    """

    raw: Tally = field(repr=False)
    known: Known = field(repr=False)
    name: str

    def __call__(self, part: pd.DataFrame) -> pd.DataFrame:
        """The records of a partition, each with its row; ``NONE`` where it was not counted."""
        place = f"{self.name} place"
        every = np.arange(len(self.raw.sizes))
        rows = pd.DataFrame({self.name: every})
        frame = ArrowFrame(viewed(self._held(part).append_column(place, [np.arange(len(part))])))
        frame.known |= self.known
        moves = Moves(self.raw, rows, every, self.raw.sizes, (self.name, place))
        found = frame.recoded(moves).native
        number = np.full(len(part), NONE)
        number[found[place].to_numpy()] = found[self.name].to_numpy()
        plain = {name: part[name] + 0 for name in self.raw.columns if part[name].dtype.kind == "f"}
        return engine.replaced(part, plain).assign(**{self.name: number})

    def _held(self, part: pd.DataFrame) -> pa.Table:
        """The counted columns of a partition, Python's objects in the type that the table has."""
        held = _arrow(part[[*self.raw.columns]])
        for name, column in coded(self.raw, self.known).items():
            if part[name].dtype == object:
                place = held.column_names.index(name)
                held = held.set_column(place, name, held[name].cast(column.values.type))
        return held


@dataclass(frozen=True, eq=False)
class Alike:
    """What becomes of records where those of a row fare alike.

    ``row``: the column that has their rows; ``move`` is that of each row, shape (rows,).
    """

    row: str
    move: Codes = field(repr=False)

    @classmethod
    def of(cls, moves: Moves, row: str) -> "Alike":
        """The moves of the rows; ``NONE`` of those that are left out."""
        move = np.full(len(moves.raw.sizes), NONE)
        move[moves.of] = np.arange(len(moves.of))
        return cls(row, move)

    def moves(self, part: pd.DataFrame) -> Codes:
        """The move of each record of a partition, shape (records,)."""
        rows = part[self.row].to_numpy(np.int64)
        return np.asarray(np.append(self.move, NONE)[rows])  # NONE takes what is last


@dataclass(frozen=True, eq=False)
class DrawnPartitions:
    """What becomes of them where it is drawn, of partitions that have all records of their rows.

    ``chance``: a column of random numbers, since records come to a partition in any order; whenever
    the table is computed, records get the same.
    """

    row: str
    chance: str
    runs: Runs = field(repr=False)
    seed: int = field(repr=False)

    def moves(self, part: pd.DataFrame) -> Codes:
        """As ``Alike.moves``; random numbers depend on which rows a partition has."""
        order = np.argsort(part[self.chance].to_numpy(np.int64))
        rows = part[self.row].to_numpy(np.int64)[order]
        order, rows = order[rows != NONE], rows[rows != NONE]
        found = np.full(len(part), NONE)
        rng = np.random.default_rng([self.seed, *np.sort(rows)[:1]])
        found[order] = dealt(rows, self.runs, rng)
        return found


@dataclass(frozen=True, eq=False)
class RecodedPartition:
    """The records of a partition with the values that they are released with.

    ``labels`` has a row for each move.
    """

    fate: Alike | DrawnPartitions
    labels: pd.DataFrame = field(repr=False)
    columns: tuple[str, ...]

    @classmethod
    def of(cls, moves: Moves, fate: Alike | DrawnPartitions) -> "RecodedPartition":
        """InputError where the labels of a column are of several types."""
        labels = dict(zip(moves.released.columns, labels_of(moves), strict=True))
        return cls(fate, exact_frame(pa.table(labels)), moves.columns)

    def __call__(self, part: pd.DataFrame) -> pd.DataFrame:
        """The records that are released, without the index that they had."""
        move = self.fate.moves(part)
        kept = np.flatnonzero(move != NONE)
        columns = {}
        for name in self.columns:
            held, places = (self.labels, move[kept]) if name in self.labels else (part, kept)
            columns[name] = held[name].iloc[places].reset_index(drop=True)
        return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class Cleared:
    """A partition without traces of other records; ``kinds``: the types of categories."""

    kinds: Mapping[str, pd.CategoricalDtype] = field(repr=False)

    def __call__(self, part: pd.DataFrame) -> pd.DataFrame:
        """Clear the records of a partition."""
        cleared = without_traces(part)
        columns = {
            name: cleared[name].cat.set_categories(kind.categories, ordered=kind.ordered)
            for name, kind in self.kinds.items()
        }
        return engine.replaced(cleared, columns)


def categories_of(part: pd.DataFrame) -> dict[str, pd.Index]:
    """The categories of which a partition has records, by columns of categories."""
    return {
        str(name): column.cat.remove_unused_categories().cat.categories
        for name, column in part.items()
    }


@dataclass(frozen=True, eq=False)
class Scattered:
    """A number drawn for each record, in a new column, by which it goes to another place."""

    seed: int = field(repr=False)
    name: str

    def __call__(self, part: pd.DataFrame, partition_info: Any = None) -> pd.DataFrame:
        """The records of a partition with their numbers; Dask says which partition it is."""
        rng = np.random.default_rng([self.seed, (partition_info or {}).get("number", 0)])
        return part.assign(**{self.name: rng.integers(0, 2**62, len(part))})


def in_order(part: pd.DataFrame, by: str) -> pd.DataFrame:
    """The records of a partition in the order of a column, and without it."""
    return part.sort_values(by).drop(columns=by)


def _require_alike(column: pd.Series, kind: pa.DataType) -> None:
    """Require that equal objects of Python are written alike: 1 and 1.0 are equal, and numbers."""
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    objects = column.cat.categories.dtype if categories else column.dtype
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if objects == np.dtype("O") and not (is_text(value) or any(holds(value) for holds in ALIKE)):
        raise NotToldApartError.of(str(column.name), f"object of {value}")


def _arrow(part: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(part.copy(), preserve_index=False)  # copied as in ``added``


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

    def sketched(self, table: Any, columns: Sequence[str]) -> int:
        """As ``Frame.sketched``."""
        return int(table.to_native()[list(columns)].nunique_approx().compute())

    def computed(self) -> Self:
        """As ``Frame.computed``: in the memory of the workers, or of this process."""
        with self.worded():
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
        with self.worded():
            return len(self.native)

    def collected(self, table: Any) -> pa.Table:
        """As ``Frame.collected``, without the index."""
        if isinstance(table, nw.DataFrame):
            return super().collected(table)
        with self.worded():
            frame = table.to_native().compute()
            return pa.Table.from_pandas(frame, preserve_index=False)

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """As ``Relation.write``, by the workers, Parquet alone."""
        require_parquet(form, self.called)
        scratch = path.with_name(f".{path.name}-dask")
        cleared = self.native.map_partitions(without_traces, meta=self.native._meta)
        spread = cleared.repartition(npartitions=parts or 1)
        with self.worded():
            spread.to_parquet(str(scratch.absolute()), write_index=False, name_function=_numbered)
        named_parts([*scratch.glob("part-*.parquet")], path, parts)
        shutil.rmtree(scratch)

    def counted(self, names: Mapping[str, str], size: str) -> Any:
        """As ``Frame.counted``: of each partition, and added up."""
        parts = self.native[[*names.values()]].to_delayed()
        counts = [delayed(counts_of)(part, names, size) for part in parts]
        while len(counts) > 1:
            heaps = [counts[begin : begin + HEAP] for begin in range(0, len(counts), HEAP)]
            counts = [delayed(added)(heap, size) for heap in heaps]
        with self.worded():
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
