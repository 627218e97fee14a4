"""Tables of Polars, Arrow, DuckDB, Dask and Spark, through narwhals: one piece for all.

An engine only groups by raw values: what values mean, and which get which labels, is decided on the
distinct ones, in memory, so that every engine comes to the same. Small tables of numbers and labels
are then joined to a table. Spark and Dask read folders of Parquet, too, on this machine or on a
cluster of many: every machine of one has to see the folders by the same path, as this one does.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.errors import AnonymizerError, InputError, installing, require_columns
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.delimited import write_table
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.opening import files_of, is_converted, require_named
from anonymizer.tables.files.parquet import UNNAMED_INDEX, exact_frame
from anonymizer.tables.relations.coded import (
    MOST_KEYS,
    CountedColumn,
    Known,
    coded,
    labels_of,
    tallied,
    values_of,
)
from anonymizer.tables.relations.relation import Moves, NotToldApartError, Rounded, named
from anonymizer.tables.values import Step

AS_TEXTS = (nw.Int128, nw.UInt128, nw.Unknown)
"""Types whose values are counted by their texts: Python, or Arrow, has nothing else for them."""

SAMPLE = 200_000
"""Records that distinct combinations are estimated by where there is no sketch."""

ENGINES = {
    "polars": "polars.PolarsFrame",
    "pyarrow": "arrow.ArrowFrame",
    "duckdb": "duckdb.DuckFrame",
    "dask": "dask.DaskFrame",
    "pyspark": "spark.SparkFrame",
    "pyspark[connect]": "spark.SparkFrame",
}
"""Where that lies which narwhals cannot express for a library."""

LIBRARIES = {"spark": "pyspark", "dask": "dask"}

How = Literal["left", "inner"]

ClusterEngine = Literal["spark", "dask"]


class Frame:
    """A table of one of these libraries; ``table`` is narwhals' view of it."""

    called: ClassVar[str]
    """What it is called."""

    ordered: ClassVar[bool] = False
    """Whether records have an order, which they keep."""

    as_texts: ClassVar[tuple[type[nw.dtypes.DType], ...]] = AS_TEXTS
    """Types whose values are counted by their texts."""

    by_bytes: ClassVar[bool] = False
    """Whether texts are counted and joined by their bytes: a collation may make several equal."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._schema = self._known_schema()
        self.known: Known = {}

    def __repr__(self) -> str:
        """What it is; not the values of anybody."""
        return f"{type(self).__name__}({len(self.columns)} columns)"

    @property
    def columns(self) -> Sequence[str]:
        """As ``Relation.columns``."""
        return [*self._schema.names()]

    @property
    def records(self) -> int:
        """As ``Relation.records``."""
        return int(self.collected(self.table.select(nw.len()))[0][0].as_py())

    @property
    def native(self) -> Any:
        """As ``Relation.native``."""
        return self.table.to_native()

    def tally(self, columns: Sequence[str]) -> Tally:
        """As ``Relation.tally``."""
        self.require_distinct(columns)
        names = {f"{self.unused}{place}": name for place, name in enumerate(columns)}
        with self.worded():
            counted = self.collected(self.counted(names, self.unused))
            for new, name in names.items():
                if self.by_bytes and self.is_text(name):
                    place = counted.column_names.index(new)
                    counted = counted.set_column(place, new, counted[new].cast(pa.string()))
            tally, known = tallied(counted, names, self.unused)
        self.known |= known
        return tally

    def estimate(self, columns: Sequence[str]) -> int:
        """As ``Relation.estimate``: by the library's sketch, or by a sample where it has none."""
        self.require_distinct(columns)
        with self.worded():
            return self.sketched(self.comparable(columns), columns)

    def spread(self, columns: Sequence[str], most: int) -> pd.DataFrame | None:
        """As ``Relation.spread``."""
        if not self.ordered:
            return None
        step = max(1, -(-self.records // most))
        return self._values(self.comparable(columns).gather_every(step), columns)

    def sample(self, columns: Sequence[str], most: int) -> pd.DataFrame:
        """As ``Relation.sample``."""
        spread = self.spread(columns, most)
        if spread is not None:
            return spread
        return self._values(self.comparable(columns).head(most), columns)

    def multiplicities(self, columns: Sequence[str]) -> tuple[Ints, Ints]:
        """As ``Relation.multiplicities``."""
        self.require_distinct(columns)
        names = {f"{self.unused}{place}": name for place, name in enumerate(columns)}
        sizes = self.counted(names, self.unused).group_by(self.unused)
        found = self.collected(sizes.agg(nw.len().alias(f"{self.unused}n")))
        size, times = (found[name].to_numpy() for name in (self.unused, f"{self.unused}n"))
        return size.astype(np.int64), times.astype(np.int64)

    def guessed(self, given: Sequence[str], about: str) -> int:
        """As ``Relation.guessed``."""
        names = {f"{self.unused}{place}": name for place, name in enumerate([*given, about])}
        size, best = nw.col(self.unused), self.counted(names, self.unused)
        if given:
            groups = [*names][: len(given)]
            best = best.group_by(*groups, drop_null_keys=False).agg(size.max())
        total = size.sum() if given else size.max()
        return int(self.collected(best.select(total))[0][0].as_py() or 0)

    def beginning(self, column: str, characters: str) -> Tally:
        """As ``Relation.beginning``."""
        if not isinstance(self._schema[column], nw.String | nw.Categorical | nw.Enum):
            return Tally(pd.DataFrame({column: []}), np.zeros(0, np.int64))
        first = nw.col(column).str.slice(0, 1).is_in([*characters])
        return type(self)(self.comparable([column]).filter(first)).tally([column])

    def named(self, columns: Mapping[str, str]) -> Self:
        """As ``Relation.named``."""
        return type(self)(self.table.select(*columns).rename(dict(columns)))

    def rounded(self, column: str, step: Step) -> Rounded | None:
        """As ``Relation.rounded``."""
        return None

    def frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """As ``Relation.frame``."""
        return exact_frame(self.collected(self.table.select(*columns)))

    def recoded(self, moves: Moves) -> Self:
        """As ``Relation.recoded``."""
        with self.worded():
            return type(self)(self._recoded(moves))

    def shuffled(self) -> Self:
        """As ``Relation.shuffled``."""
        raise NotImplementedError

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """As ``Relation.write``, in one file; the table is computed in memory."""
        if parts is not None:
            raise InputError(f"a table of {self.called} is written to one file, not in parts")
        write_table(self.frame(self.columns), path, form)

    def computed(self) -> Self:
        """The table, computed once: it stays what it is whatever happens to what it was made of.

        Types list no other values than its records have.
        """
        return self

    def require_in_memory(self, because: str) -> None:
        """Require that the records are in memory, in their order."""
        if not isinstance(self.table, nw.DataFrame):
            raise InputError(
                f"{because}, which a {type(self.native).__name__} of {self.called} does not hold "
                "in memory; give a DataFrame of pandas or Polars, or a table of Arrow"
            )

    def assigned(self, columns: Mapping[str, pd.Series]) -> Self:
        """A table in memory with more columns."""
        added = self._held(pd.DataFrame({name: each.array for name, each in columns.items()}))
        return type(self)(self.table.with_columns(*(added[name] for name in columns)))

    def chosen(self, columns: Sequence[str]) -> Self:
        """Some columns of the table."""
        return type(self)(self.table.select(*columns))

    def holding(self, table: pd.DataFrame) -> Any:
        """Other records as the library holds them in memory."""
        return self._held(table).to_native()

    def type_of(self, name: str) -> Any:
        """The type of a column, as its library has it."""
        raise NotImplementedError

    def tells_apart(self, kind: Any) -> bool:
        """Whether a type of the library is one of those whose equal values are alike."""
        raise NotImplementedError

    def is_text(self, name: str) -> bool:
        """Whether values of a column are counted as texts."""
        texts: Any = (nw.String, nw.Categorical, nw.Enum, *self.as_texts)
        return isinstance(self._schema[name], texts)

    def in_bytes(self, table: Any, texts: Sequence[str]) -> Any:
        """A table in which columns of texts are the bytes of these."""
        raise NotImplementedError

    def sketched(self, table: Any, columns: Sequence[str]) -> int:
        """About how many combinations of values some columns of a table have."""
        records = len(table)
        chosen = np.random.default_rng(0).permutation(records)[:SAMPLE]
        sample = exact_frame(table.select(*columns)[np.sort(chosen).tolist(), :].to_arrow())
        return distinct_of_sample(sample, columns, records)

    def as_native(self, small: pa.Table) -> Any:
        """A small table of the same library, which can be joined to this one."""
        raise NotImplementedError

    def joined(self, table: Any, small: pa.Table, on: str, how: How = "inner") -> Any:
        """A table with the columns of a small one, which has a value of one column once."""
        return table.join(self.as_native(small), on=on, how=how)

    def dealt(self, table: Any, moves: Moves, row: str, move: str) -> Any:
        """A table of the records that a move is of, with the number of one in a column.

        ``row``: the column that says of which row of the counted table a record is. Which records
        of a row get which of its moves is drawn.
        """
        raise InputError(
            f"{self.called} cannot draw values for the records of a table; choose a recoding that "
            "generalizes, or give a table of Polars, Arrow, DuckDB or Spark"
        )

    def comparable(self, columns: Sequence[str]) -> Any:
        """Some columns, with values that every engine compares alike; no values of other types.

        Few engines bring those into memory.
        """
        known = {name: self.tells_apart(self.type_of(name)) for name in columns}
        apart = [name for name in columns if known[name]]
        names = {f"{self.unused}{place}": name for place, name in enumerate(apart)}
        keys = self.with_keys(self.plain(self.table, apart), names)
        new = {name: nw.col(key) for key, name in names.items()}
        none = nw.lit(None, dtype=nw.String)
        return keys.select(*(new.get(name, none).alias(name) for name in columns))

    def counted(self, names: Mapping[str, str], size: str) -> Any:
        """The records of each combination of values of the columns that have new names.

        They are in a column that is called ``size``.
        """
        keys = self.keyed(self.plain(self.table, [*names.values()]), names)
        return keys.group_by(*names, drop_null_keys=False).agg(nw.len().alias(size))

    def keyed(self, table: Any, names: Mapping[str, str]) -> Any:
        """A table with columns by whose values others are counted and joined, texts as bytes."""
        texts = [new for new, name in names.items() if self.by_bytes and self.is_text(name)]
        keys = self.with_keys(table, names)
        return self.in_bytes(keys, texts) if texts else keys

    def _values(self, table: Any, columns: Sequence[str]) -> pd.DataFrame:
        found = self.collected(table)
        return pd.DataFrame({name: values_of(found[name]) for name in columns})

    @contextmanager
    def worded(self) -> Iterator[None]:
        """Say of errors only what they are: their words may hold values of records."""
        try:
            yield
        except (AnonymizerError, OSError, MemoryError):
            raise
        except Exception as error:
            raise InputError(
                f"{self.called} could not compute the table ({type(error).__name__}); compute it "
                f"with {self.called} alone to see why"
            ) from None

    def collected(self, table: Any) -> pa.Table:
        """What a query gives, in memory."""
        with self.worded():
            if isinstance(table, nw.LazyFrame):
                table = table.collect("pyarrow")
            return table.to_arrow()

    def with_keys(self, table: Any, names: Mapping[str, str]) -> Any:
        """A table with more columns, of values that every engine compares alike."""
        if not names:
            return table
        return table.with_columns(
            *(
                (nw.col(name).cast(nw.String) if self.is_text(name) else nw.col(name)).alias(new)
                for new, name in names.items()
            )
        )

    def plain(self, table: Any, columns: Sequence[str]) -> Any:
        """A table in whose columns of numbers no value is NaN, and none -0.0."""
        plain = []
        for name in columns:
            if (kind := self._schema[name]).is_float():
                zero = nw.when(nw.col(name) == 0).then(nw.lit(0.0, dtype=kind))
                other = nw.when(~nw.col(name).is_nan()).then(nw.col(name))
                plain.append(zero.otherwise(other).alias(name))
        return table.with_columns(*plain) if plain else table

    def require_distinct(self, columns: Sequence[str]) -> None:
        """Require columns of types whose values are equal only where nobody tells them apart."""
        require_columns(self.columns, columns)
        for name in columns:
            kind = self.type_of(name)
            if not self.tells_apart(kind):
                raise NotToldApartError.of(name, kind)

    def _known_schema(self) -> Any:
        """The types of columns; InputError names one that narwhals does not have."""
        with self.worded():
            try:
                return self.table.collect_schema()
            except Exception:
                for name in self.table.columns:
                    self._require_known(name)
                raise

    def _require_known(self, name: str) -> None:
        try:
            self.table.select(name).collect_schema()
        except Exception:
            kind = named(self.type_of(name))
            raise InputError(
                f"column {name!r} is of type {kind}, which cannot be released; cast it, such as "
                "to text, or leave it out"
            ) from None

    @property
    def unused(self) -> str:
        """What no name of a column begins with."""
        new = "anonymizer "
        while any(name.casefold().startswith(new) for name in self.columns):
            new += "_"
        return new

    def _held(self, table: pd.DataFrame) -> Any:
        arrow = pa.Table.from_pandas(table, preserve_index=False)
        return nw.from_arrow(arrow.replace_schema_metadata(), backend=self.table.implementation)

    def _recoded(self, moves: Moves) -> Any:
        new = self.unused
        columns = coded(moves.raw, self.known)
        table = self.plain(self.table, [*columns])
        for place, (name, column) in enumerate(columns.items()):
            table = self._numbered(table, name, column, f"{new}{place}")
        key, move = f"{new}key", f"{new}move"
        table, keys = self._packed(table, [*columns.values()], new)
        labels = {f"{new}label {place}": each for place, each in enumerate(labels_of(moves))}
        if moves.drawn:
            table = self.joined(table, pa.table({key: keys, f"{new}row": range(len(keys))}), key)
            table = self.dealt(table, moves, f"{new}row", move)
            table = self.joined(table, pa.table({move: range(len(moves.of)), **labels}), move)
        else:
            table = self.joined(table, pa.table({key: keys[moves.of], **labels}), key)
        names = dict(zip(moves.released.columns, labels, strict=True))
        return table.select(*(nw.col(names.get(name, name)).alias(name) for name in moves.columns))

    def _numbered(self, table: Any, name: str, column: CountedColumn, new: str) -> Any:
        """A table with the numbers of the values of a column; none of one that was not counted."""
        key, code = f"{new} key", f"{new} code"
        table = self.keyed(table, {key: name})
        found = nw.lit(None, dtype=nw.Int64)
        if len(column.values):
            values = column.values
            if self.by_bytes and self.is_text(name):
                values = values.cast(pa.binary())
            numbers = pa.table({key: values, code: range(len(values))})
            table, found = self.joined(table, numbers, key, "left"), nw.col(code)
        missing = nw.when(nw.col(key).is_null()).then(nw.lit(len(column.values), dtype=nw.Int64))
        return table.with_columns(missing.otherwise(found).alias(code))

    def _packed(self, table: Any, columns: Sequence[CountedColumn], new: str) -> tuple[Any, Codes]:
        """A table with the number of each record's combination, and that of each counted one."""
        # Of the columns so far: records and counted combinations of equal values have one number,
        # which is below the bound.
        number, bound, keys = nw.col(f"{new}0 code"), columns[0].bound, columns[0].codes
        for place, column in enumerate(columns[1:], 1):
            if bound * column.bound >= MOST_KEYS:  # numbered anew, a key never overflows
                known, keys = np.unique(keys, return_inverse=True)
                on, dense = f"{new}{place} packed", f"{new}{place} number"
                small = pa.table({on: known, dense: range(len(known))})
                table = self.joined(table.with_columns(number.alias(on)), small, on)
                number, bound = nw.col(dense), len(known)
            number = number * column.bound + nw.col(f"{new}{place} code")
            keys, bound = keys * column.bound + column.codes, bound * column.bound
        return table.with_columns(number.alias(f"{new}key")), keys


def viewed(table: object) -> Any:
    """A table as narwhals sees it, without its warning that Dask is to be another package's."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Dask support is moving", FutureWarning)
        return nw.from_native(table)


def distinct_of_sample(sample: pd.DataFrame, columns: Sequence[str], records: int) -> int:
    """About how many combinations of values all records have, by those of a random sample.

    sqrt(N / n) f_1 + f_2 + f_3 + ..., where f_i are the combinations that i of n records have, of N
    in all. No estimate by a sample has a smaller error in the worst case than this one, a factor
    of sqrt(N / n) (Charikar et al., 2000).

    >>> distinct_of_sample(pd.DataFrame({"a": [1, 1, 2, 2]}), ["a"], 400)
    2
    >>> distinct_of_sample(pd.DataFrame({"a": [1, 2, 3, 4]}), ["a"], 400)
    40
    """
    sizes = engine.tally(sample, columns).sizes
    alone = int((sizes == 1).sum())
    scale = np.sqrt(max(records, len(sample)) / max(len(sample), 1))
    return int(min(round(scale * alone) + len(sizes) - alone, records))


def relation_of(table: object) -> Frame:
    """The relation that a table of one of these libraries is; InputError of any other."""
    try:
        seen = viewed(table)
        module, name = ENGINES[str(seen.implementation)].split(".")
    except (TypeError, KeyError):
        raise InputError(
            f"a table must be a DataFrame of pandas, Polars, Dask or Spark, a table of Arrow or a "
            f"relation of DuckDB, not {type(table).__name__}"
        ) from None
    known: type[Frame] = getattr(
        import_module(f"anonymizer.tables.relations.libraries.{module}"), name
    )
    return known(seen)


@contextmanager
def opened_on(
    engine: ClusterEngine,
    path: Path,
    form: Format,
    master: str | None,
    columns: Sequence[str] = (),
) -> Iterator[Frame]:
    """A table of Parquet files that Spark or Dask reads, counts, recodes and writes.

    Parameters
    ----------
    engine, master
        Which of them, and the address of its cluster: a master URL of Spark, such as ``local[2]``
        or ``spark://host:7077``, or that of a scheduler of Dask, such as ``tcp://host:8786``. None
        is what Spark is configured for, and the threads of this process for Dask.
    path, form
        One file, a pattern or a folder; Parquet.
    columns
        That it must have.

    Raises InputError when the table is none of Parquet, the library is not installed, or there is
    no cluster at that address.
    """
    if is_converted(path) or not form.parquet:
        raise InputError(
            f'{path} is not Parquet, which is what engine = "{engine}" reads; leave engine out, or '
            "write the table as Parquet"
        )
    files = [str(each.absolute()) for each in files_of(path)]
    try:
        library = import_module(f"anonymizer.tables.relations.libraries.{engine}")
    except ModuleNotFoundError:
        raise InputError(
            f'engine = "{engine}" needs {LIBRARIES[engine]}, which is not installed: '
            f"{installing(engine)}"
        ) from None
    with library.session(master) as read:
        table = relation_of(read(files))
        found = table.chosen([n for n in table.columns if not UNNAMED_INDEX.fullmatch(n)])
        require_named(path, found.columns, columns, form)
        yield found


def named_parts(written: Sequence[Path], path: Path, parts: int | None) -> None:
    """Give the files that a library wrote the names of a release, in their order."""
    if parts is None:
        (alone,) = written
        alone.rename(path)
        return
    path.mkdir(exist_ok=True)
    for number, file in enumerate(sorted(written)):
        file.rename(path / f"part-{number:0{len(str(parts - 1))}}.parquet")


def require_parquet(form: Format, library: str) -> None:
    """Require that a table is written as Parquet."""
    if not form.parquet:
        raise InputError(
            f'{library} writes Parquet alone; set file = "released.parquet" in [output]'
        )
