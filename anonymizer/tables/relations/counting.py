"""Tables of many libraries counted through narwhals: one small piece for all.

An engine only groups by raw values: what values mean is decided on the distinct ones, in memory,
so that every engine comes to the same.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.errors import AnonymizerError, InputError, require_columns
from anonymizer.kernels.arrays import Ints
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.parquet import exact_frame
from anonymizer.tables.relations.coded import Known, tallied, values_of
from anonymizer.tables.relations.estimating import estimated
from anonymizer.tables.relations.relation import NotToldApartError, Rounded
from anonymizer.tables.steps import Step

NESTED = (nw.List, nw.Array, nw.Struct, nw.Map, nw.Object)
"""Types whose values cannot be told apart."""

AS_TEXTS = (nw.Int128, nw.UInt128, nw.Unknown)
"""Types whose values are counted by their texts: Python, or Arrow, has nothing else for them."""


class Countable:
    """A table of one of the libraries that narwhals knows; ``table`` is narwhals' view of it."""

    called: ClassVar[str]
    """What it is called."""

    ordered: ClassVar[bool] = False
    """Whether records have an order, which they keep."""

    as_texts: ClassVar[tuple[type[nw.dtypes.DType], ...]] = AS_TEXTS
    """Types whose values are counted by their texts."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._schema = table.collect_schema()
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
        with self.told():
            counted = self.counted(names, self.unused)
        tally, known = tallied(self.collected(counted), names, self.unused)
        self.known |= known
        return tally

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

    def estimate(self, columns: Sequence[str]) -> int:
        """As ``Relation.estimate``."""
        self.require_distinct(columns)
        with self.told():
            return estimated(self.comparable(columns), columns)

    def comparable(self, columns: Sequence[str]) -> Any:
        """Some columns, with values that every engine compares alike."""
        names = {f"{self.unused}{place}": name for place, name in enumerate(columns)}
        keys = self.with_keys(self.plain(self.table, columns), names)
        return keys.select(*(nw.col(new).alias(name) for new, name in names.items()))

    def counted(self, names: Mapping[str, str], size: str) -> Any:
        """The records of each combination of values of the columns that have new names.

        They are in a column that is called ``size``.
        """
        keys = self.with_keys(self.plain(self.table, [*names.values()]), names)
        return keys.group_by(*names, drop_null_keys=False).agg(nw.len().alias(size))

    def _values(self, table: Any, columns: Sequence[str]) -> pd.DataFrame:
        """Records in memory, values as a tally has them."""
        found = self.collected(table)
        return pd.DataFrame({name: values_of(found[name]) for name in columns})

    def frame(self, columns: Sequence[str]) -> pd.DataFrame:
        """As ``Relation.frame``."""
        return exact_frame(self.collected(self.table.select(*columns)))

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say of errors only what they are: their words may hold values of records."""
        try:
            yield
        except (AnonymizerError, OSError, MemoryError, NotImplementedError):
            raise
        except Exception as error:
            raise InputError(
                f"{self.called} could not compute the table ({type(error).__name__}); compute it "
                f"with {self.called} alone to see why"
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

    def plain(self, table: Any, columns: Sequence[str]) -> Any:
        """A table in whose columns of numbers no value is NaN, and none -0.0."""
        floats = [name for name in columns if self._schema[name].is_float()]
        plain = [_plain(name, self._schema[name]) for name in floats]
        return table.with_columns(*plain) if plain else table

    def _key(self, name: str) -> Any:
        """A column with values that every engine compares alike."""
        texts: Any = (nw.Categorical, nw.Enum, *self.as_texts)
        column = nw.col(name)
        return column.cast(nw.String) if isinstance(self._schema[name], texts) else column

    def require_distinct(self, columns: Sequence[str]) -> None:
        """Require columns whose values can be told apart."""
        require_columns(self.columns, columns)
        for name in columns:
            if isinstance(self._schema[name], NESTED):
                raise NotToldApartError(name)

    @property
    def unused(self) -> str:
        """What no name of a column begins with."""
        new = "anonymizer "
        while any(name.casefold().startswith(new) for name in self.columns):
            new += "_"
        return new


def viewed(table: object) -> Any:
    """A table as narwhals sees it, without its warning that Dask is to be another package's."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Dask support is moving", FutureWarning)
        return nw.from_native(table)


def _plain(name: str, kind: Any) -> Any:
    column = nw.when(~nw.col(name).is_nan()).then(nw.col(name))
    zero = nw.lit(0.0, dtype=kind)
    return nw.when(nw.col(name) == 0).then(zero).otherwise(column).alias(name)
