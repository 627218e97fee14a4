"""Tables of Polars, Arrow, DuckDB, Dask and Spark through narwhals: one small piece for all.

An engine only groups by raw values and joins small tables of numbers and labels to them: what
values mean is decided on the distinct ones, in memory, so that every engine comes to the same.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.kernels.arrays import Ints
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.format import Format
from anonymizer.tables.files.parquet import exact_frame
from anonymizer.tables.relations import coded
from anonymizer.tables.relations.relation import Moves, Relation

RECORDS = "anonymizer records"
"""A column of counts, next to those of the table."""

ROW = "anonymizer row"
"""A column that numbers the records of a table that has an order."""


class Frame:
    """A table of one of these libraries; ``table`` is narwhals' view of it."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __repr__(self) -> str:
        """What it is; not the values of anybody."""
        return f"{type(self).__name__}({len(self.columns)} columns)"

    @property
    def columns(self) -> Sequence[str]:
        """As ``Relation.columns``."""
        return list(self.table.collect_schema().names())

    @property
    def records(self) -> int:
        """As ``Relation.records``."""
        return int(self._arrow(self.table.lazy().select(nw.len()))[0][0].as_py())

    @property
    def native(self) -> Any:
        """As ``Relation.native``."""
        return self.table.to_native()

    def tally(self, columns: Sequence[str]) -> Tally:
        """As ``Relation.tally``."""
        return coded.tally_of(self._arrow(self._counted(columns)), columns, RECORDS)

    def spread(self, columns: Sequence[str], most: int) -> pd.DataFrame | None:
        """As ``Relation.spread``; tables that are computed have no order."""
        if not isinstance(self.table, nw.DataFrame):
            return None
        step = max(1, -(-len(self.table) // most))
        return exact_frame(self.table.select(*columns).gather_every(step).to_arrow())

    def sample(self, columns: Sequence[str], most: int) -> pd.DataFrame:
        """As ``Relation.sample``."""
        some = self.spread(columns, most)
        if some is not None:
            return some
        return exact_frame(self._arrow(self._some(most).lazy().select(*columns)))

    def _some(self, most: int) -> Any:
        """At most about so many records."""
        return self.table.head(most)

    def multiplicities(self, column: str) -> tuple[Ints, Ints]:
        """As ``Relation.multiplicities``."""
        sizes = self._counted([column]).group_by(RECORDS).agg(nw.len().alias(ROW))
        found = self._arrow(sizes)
        return found[RECORDS].to_numpy().astype(np.int64), found[ROW].to_numpy().astype(np.int64)

    def guessed(self, given: Sequence[str], about: str) -> int:
        """As ``Relation.guessed``."""
        counted = self._counted([*given, about]).group_by(*given, drop_null_keys=False)
        best = counted.agg(nw.col(RECORDS).max()).select(nw.col(RECORDS).sum())
        return int(self._arrow(best)[0][0].as_py() or 0)

    def beginning(self, column: str, characters: str) -> Tally:
        """As ``Relation.beginning``."""
        if self._kinds[column] not in (nw.String, nw.Categorical, nw.Enum):
            return Tally(pd.DataFrame({column: []}), np.zeros(0, np.int64))
        text = self.table.lazy().select(*self._plain([column]))
        first = nw.col(column).str.slice(0, 1).is_in([*characters])
        return type(self)(text.filter(first)).tally([column])

    def named(self, columns: Mapping[str, str]) -> Relation:
        """As ``Relation.named``."""
        return type(self)(self.table.select(*columns).rename(dict(columns)))

    def _counted(self, columns: Sequence[str]) -> Any:
        """The records of each combination of values, not computed yet."""
        chosen = self.table.lazy().select(*self._plain(columns))
        return chosen.group_by(*columns, drop_null_keys=False).agg(nw.len().alias(RECORDS))

    def frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """As ``Relation.frame``."""
        return exact_frame(self._arrow(self.table.lazy().select(*columns)))

    def recoded(self, moves: Moves) -> Relation:
        """As ``Relation.recoded``."""
        if isinstance(self.table, nw.DataFrame):
            return type(self)(self._in_order(moves))
        changed = [*moves.released.columns]
        kept = [name for name in moves.columns if name not in changed]
        plain = [name for name in moves.raw.columns if name in kept]
        others = [name for name in kept if name not in plain]
        keyed = self._keyed(self.table.select(*others, *self._renamed(moves)), moves)
        back = [nw.col(f"{RECORDS} {name}").alias(name) for name in plain]
        labelled = [nw.col(f"{ROW} {name}").alias(name) for name in changed]
        return type(self)(keyed.select(*others, *back, *labelled).select(*moves.columns))

    def _in_order(self, moves: Moves) -> Any:
        """The recoded table, records in their order, whatever the order of what joins give."""
        changed = [*moves.released.columns]
        narrow = self.table.select(*self._renamed(moves)).with_row_index(ROW)
        found = self._keyed(narrow.lazy(), moves).sort(ROW).collect()
        found = nw.from_arrow(found.to_arrow(), backend=self.table.implementation)
        plain = [name for name in moves.raw.columns if name in moves.columns]
        plain = [name for name in plain if name not in changed]
        table = self.table[found[ROW].to_list()]
        columns = [found[f"{RECORDS} {name}"].alias(name) for name in plain]
        columns += [found[f"{ROW} {name}"].alias(name) for name in changed]
        return table.with_columns(*columns).select(*moves.columns)

    def _renamed(self, moves: Moves) -> list[Any]:
        """The counted columns, under names of their own."""
        names = [str(name) for name in moves.raw.columns]
        return [
            expression.alias(f"{RECORDS} {name}")
            for name, expression in zip(names, self._plain(names, texts=False), strict=True)
        ]

    def _keyed(self, table: Any, moves: Moves) -> Any:
        """A table with the released values of the records that some move is of."""
        keys = coded.keys_of(moves)
        for number, (name, values) in enumerate(keys.values.items()):
            raw, code = nw.col(f"{RECORDS} {name}"), f"{ROW} code {number}"
            if isinstance(self._kinds[name], nw.Categorical | nw.Enum):
                raw = raw.cast(nw.String)
            key = f"{ROW} value {number}"
            small = self._beside(pa.table({key: values, code: pa.array(range(len(values)))}))
            table = table.with_columns(raw.alias(key)).join(small, on=key, how="left")
            table = table.with_columns(nw.col(code).fill_null(len(values)))
        packed = []
        for number, weights in enumerate(keys.weights):
            parts = [nw.col(f"{ROW} code {place}") * weight for place, weight in weights.items()]
            packed.append(nw.sum_horizontal(*parts).alias(f"{ROW} key {number}"))
        table = table.with_columns(*packed)
        names = {name: f"{ROW} {name}" for name in moves.released.columns}
        small = self._beside(keys.table(f"{ROW} key {{}}".format, names))
        return table.join(small, on=[f"{ROW} key {i}" for i in range(len(packed))], how="inner")

    def write(self, path: Path, form: Format) -> None:
        """As ``Relation.write``."""
        raise NotImplementedError

    @property
    def _kinds(self) -> Any:
        """The types of the columns."""
        return self.table.collect_schema()

    def _plain(self, columns: Sequence[str], texts: bool = True) -> list[Any]:
        """Columns whose equal values are one to every engine: no -0.0, no NaN, no categories."""
        return [_plain(name, self._kinds[name], texts) for name in columns]

    def _arrow(self, lazy: Any) -> pa.Table:
        """What a query gives, in memory."""
        return lazy.collect("pyarrow").to_native()

    def _beside(self, small: pa.Table) -> Any:
        """A small table of the same library, which can be joined to this one."""
        return nw.from_arrow(small, backend=self.table.implementation).lazy()


class DuckFrame(Frame):
    """A relation of DuckDB, in the connection of whoever holds it."""

    def _beside(self, small: pa.Table) -> Any:
        found = self.native.query("anonymizer", "SELECT * FROM small")
        return nw.from_native(found)


class DaskFrame(Frame):
    """A DataFrame of Dask."""

    def _some(self, most: int) -> Any:
        share = min(most / max(self.records, 1), 1.0)
        return nw.from_native(self.native.sample(frac=share, random_state=0))

    def _beside(self, small: pa.Table) -> Any:
        import dask.dataframe as dd

        return nw.from_native(dd.from_pandas(exact_frame(small), npartitions=1))


class SparkFrame(Frame):
    """A DataFrame of Spark."""

    def _some(self, most: int) -> Any:
        return nw.from_native(self.native.sample(min(most / max(self.records, 1), 1.0), seed=0))

    def _beside(self, small: pa.Table) -> Any:
        return nw.from_native(self.native.sparkSession.createDataFrame(small))


KINDS = {"duckdb": DuckFrame, "dask": DaskFrame, "pyspark": SparkFrame}


def relation_of(table: object) -> Frame:
    """The relation that a table of one of these libraries is."""
    return KINDS.get(type(table).__module__.split(".")[0], Frame)(nw.from_native(table))


def _plain(name: str, kind: Any, texts: bool) -> Any:
    column = nw.col(name)
    if texts and isinstance(kind, nw.Categorical | nw.Enum):
        return column.cast(nw.String)
    if not kind.is_float():
        return column
    column = nw.when(~column.is_nan()).then(column)
    return nw.when(column == 0).then(nw.lit(0.0, dtype=kind)).otherwise(column).alias(name)
