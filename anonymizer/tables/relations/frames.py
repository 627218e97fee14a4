"""Tables of Polars, Arrow, DuckDB, Dask and Spark recoded through narwhals: one piece for all.

Small tables of numbers and labels are joined to a table; which values get which labels was decided
on the distinct ones, in memory, so that every engine comes to the same.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.files import Format, write_table
from anonymizer.tables.relations.coded import MOST_KEYS, CountedColumn, coded, labels_of
from anonymizer.tables.relations.counting import Countable, viewed
from anonymizer.tables.relations.relation import Moves

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


class Frame(Countable):
    """A table of one of these libraries."""

    def recoded(self, moves: Moves) -> Self:
        """As ``Relation.recoded``."""
        with self.told():
            return type(self)(self._recoded(moves))

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

    def _held(self, table: pd.DataFrame) -> Any:
        arrow = pa.Table.from_pandas(table, preserve_index=False)
        return nw.from_arrow(arrow.replace_schema_metadata(), backend=self.table.implementation)

    def write(self, path: Path, form: Format, parts: int | None = None) -> None:
        """As ``Relation.write``, in one file; the table is computed in memory."""
        if parts is not None:
            raise InputError(f"a table of {self.called} is written to one file, not in parts")
        write_table(self.frame(self.columns), path, form)

    def shuffled(self) -> Self:
        """As ``Relation.shuffled``."""
        raise NotImplementedError

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
            f"{self.called} cannot draw values for the records of a table; choose a recoding that "
            "generalizes, or give a table of Polars, Arrow, DuckDB or Spark"
        )

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
