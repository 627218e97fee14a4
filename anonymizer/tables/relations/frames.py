"""Tables of Polars, Arrow, DuckDB, Dask and Spark through narwhals: one small piece for all.

An engine only groups by raw values and joins small tables of numbers and labels to them: what
values mean is decided on the distinct ones, in memory, so that every engine comes to the same.
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

from anonymizer.errors import AnonymizerError, InputError, require_columns
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, write_table
from anonymizer.tables.files.parquet import exact_frame
from anonymizer.tables.relations.coded import MOST_KEYS, Column, Known, coded, labels_of, tallied
from anonymizer.tables.relations.looking import Looking
from anonymizer.tables.relations.relation import Moves

NESTED = (nw.List, nw.Array, nw.Struct, nw.Map, nw.Object)
"""Types whose values cannot be told apart."""

AS_TEXTS = (nw.Int128, nw.UInt128, nw.Unknown)
"""Types whose values are counted by their texts: Python, or Arrow, has nothing else for them."""

How = Literal["left", "inner"]

ENGINES = {
    "polars": "polars.PolarsFrame",
    "pyarrow": "arrow.ArrowFrame",
    "duckdb": "duckdb.DuckFrame",
    "dask": "dask.DaskFrame",
    "pyspark": "spark.SparkFrame",
    "pyspark[connect]": "spark.SparkFrame",
}
"""Where that lies which narwhals cannot express for a library."""


class Frame(Looking):
    """A table of one of these libraries; ``table`` is narwhals' view of it."""

    library: ClassVar[str]
    """What it is called."""

    ordered: ClassVar[bool] = False
    """Whether records have an order, which they keep."""

    as_texts: ClassVar[tuple[type[nw.dtypes.DType], ...]] = AS_TEXTS
    """Types whose values are counted by their texts."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._schema = table.collect_schema()
        self._known: Known = {}

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
        self._require_distinct(columns)
        new = self.unused
        names = {f"{new}{place}": name for place, name in enumerate(columns)}
        keys = self.with_keys(self._plain(self.table, columns), names)
        counted = keys.group_by(*names, drop_null_keys=False).agg(nw.len().alias(new))
        tally, known = tallied(self.collected(counted), names, new)
        self._known |= known
        return tally

    def spread(self, columns: Sequence[str], most: int) -> pd.DataFrame | None:
        """As ``Relation.spread``."""
        if not self.ordered:
            return None
        step = max(1, -(-self.records // most))
        return exact_frame(self.collected(self.table.select(*columns).gather_every(step)))

    def frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """As ``Relation.frame``."""
        return exact_frame(self.collected(self.table.select(*columns)))

    def recoded(self, moves: Moves) -> Self:
        """As ``Relation.recoded``."""
        with self.told():
            return type(self)(self._recoded(moves))

    def require_in_memory(self, because: str) -> None:
        """Require that the records are in memory, in their order."""
        if not isinstance(self.table, nw.DataFrame):
            raise InputError(
                f"{because}, which a {type(self.native).__name__} of {self.library} does not hold "
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

    def _held(self, table: pd.DataFrame) -> Any:
        arrow = pa.Table.from_pandas(table, preserve_index=False)
        return nw.from_arrow(arrow.replace_schema_metadata(), backend=self.table.implementation)

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """As ``Relation.write``; the table is computed in memory."""
        write_table(self.frame(self.columns), path, form)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say of errors only what they are: their words may hold values of records."""
        try:
            yield
        except (AnonymizerError, OSError, MemoryError, NotImplementedError):
            raise
        except Exception as error:
            raise InputError(
                f"{self.library} could not compute the table ({type(error).__name__}); compute it "
                f"with {self.library} alone to see why"
            ) from None

    def collected(self, table: Any) -> pa.Table:
        """What a query gives, in memory."""
        with self.told():
            if isinstance(table, nw.LazyFrame):
                table = table.collect("pyarrow")
            return table.to_arrow()

    def with_keys(self, table: Any, names: Mapping[str, str]) -> Any:
        """A table with more columns, by whose values others are counted and joined."""
        return table.with_columns(*(self._key(name).alias(new) for new, name in names.items()))

    def joined(self, table: Any, small: pa.Table, on: str, how: How = "inner") -> Any:
        """A table with the columns of a small one, which has a value of one column once."""
        return table.join(self.beside(small), on=on, how=how)

    def beside(self, small: pa.Table) -> Any:
        """A small table of the same library, which can be joined to this one."""
        raise NotImplementedError

    def dealt(self, table: Any, moves: Moves, row: str, move: str) -> Any:
        """A table of the records that a move is of, with the number of one in a column.

        ``row``: the column that says of which row of the counted table a record is. Which records
        of a row get which of its moves is drawn.
        """
        raise InputError(
            f"{self.library} cannot draw values for the records of a table; choose a recoding that "
            "generalizes, or give a table of Polars, Arrow, DuckDB or Spark"
        )

    def shuffled(self, table: Any) -> Any:
        """A table in random order; one that has no order stays as it is."""
        return table

    def _recoded(self, moves: Moves) -> Any:
        new = self.unused
        columns = coded(moves.raw, self._known)
        table = self._plain(self.table, [*columns])
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
        table = table.select(*(nw.col(names.get(name, name)).alias(name) for name in moves.columns))
        return self.shuffled(table) if moves.shuffled else table

    def _numbered(self, table: Any, name: str, column: Column, new: str) -> Any:
        """A table with the numbers of the values of a column; none of one that was not counted."""
        key, code = f"{new} key", f"{new} code"
        table = self.with_keys(table, {key: name})
        found = nw.lit(None, dtype=nw.Int64)
        if len(column.values):
            numbers = pa.table({key: column.values, code: range(len(column.values))})
            table, found = self.joined(table, numbers, key, "left"), nw.col(code)
        missing = nw.when(nw.col(key).is_null()).then(nw.lit(len(column.values), dtype=nw.Int64))
        return table.with_columns(missing.otherwise(found).alias(code))

    def _packed(self, table: Any, columns: Sequence[Column], new: str) -> tuple[Any, Codes]:
        """A table with the number of each record's combination, and that of each counted one."""
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

    def _plain(self, table: Any, columns: Sequence[str]) -> Any:
        """A table in whose columns of numbers no value is NaN, and none -0.0."""
        floats = [name for name in columns if self._schema[name].is_float()]
        plain = [_plain(name, self._schema[name]) for name in floats]
        return table.with_columns(*plain) if plain else table

    def _key(self, name: str) -> Any:
        """A column with values that every engine compares alike."""
        texts = (nw.Categorical, nw.Enum, *self.as_texts)
        column = nw.col(name)
        return column.cast(nw.String) if isinstance(self._schema[name], texts) else column

    def _require_distinct(self, columns: Sequence[str]) -> None:
        require_columns(self.columns, columns)
        for name in columns:
            if isinstance(self._schema[name], NESTED):
                raise InputError(
                    f"column {name!r} holds values that cannot be told apart, such as lists; "
                    "it can be neither a quasi-identifier nor sensitive"
                )

    @property
    def unused(self) -> str:
        """What no name of a column begins with."""
        new = "anonymizer "
        while any(name.casefold().startswith(new) for name in self.columns):
            new += "_"
        return new


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


def viewed(table: object) -> Any:
    """A table as narwhals sees it, without its warning that Dask is to be another package's."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Dask support is moving", FutureWarning)
        return nw.from_native(table)  # type: ignore[call-overload]


def _plain(name: str, kind: Any) -> Any:
    column = nw.when(~nw.col(name).is_nan()).then(nw.col(name))
    zero = nw.lit(0.0, dtype=kind)
    return nw.when(nw.col(name) == 0).then(zero).otherwise(column).alias(name)
