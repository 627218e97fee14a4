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
from anonymizer.tables.relations.relation import NotToldApartError, Rounded, named
from anonymizer.tables.steps import Step

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
        with self.told():
            counted = self.collected(self.counted(names, self.unused))
            for new, name in names.items():
                if self.by_bytes and self.is_text(name):
                    place = counted.column_names.index(new)
                    counted = counted.set_column(place, new, counted[new].cast(pa.string()))
            tally, known = tallied(counted, names, self.unused)
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

    def in_bytes(self, table: Any, texts: Sequence[str]) -> Any:
        """A table in which columns of texts are the bytes of these."""
        raise NotImplementedError

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
        except (AnonymizerError, OSError, MemoryError):
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
        """A table with more columns, of values that every engine compares alike."""
        if not names:
            return table
        return table.with_columns(*(self._key(name).alias(new) for new, name in names.items()))

    def plain(self, table: Any, columns: Sequence[str]) -> Any:
        """A table in whose columns of numbers no value is NaN, and none -0.0."""
        floats = [name for name in columns if self._schema[name].is_float()]
        plain = [_plain(name, self._schema[name]) for name in floats]
        return table.with_columns(*plain) if plain else table

    def _key(self, name: str) -> Any:
        """A column with values that every engine compares alike."""
        column = nw.col(name)
        return column.cast(nw.String) if self.is_text(name) else column

    def is_text(self, name: str) -> bool:
        """Whether values of a column are counted as texts."""
        texts: Any = (nw.String, nw.Categorical, nw.Enum, *self.as_texts)
        return isinstance(self._schema[name], texts)

    def require_distinct(self, columns: Sequence[str]) -> None:
        """Require columns of types whose values are equal only where nobody tells them apart."""
        require_columns(self.columns, columns)
        for name in columns:
            kind = self.type_of(name)
            if not self.tells_apart(kind):
                raise NotToldApartError.of(name, kind)

    def type_of(self, name: str) -> Any:
        """The type of a column, as its library has it."""
        raise NotImplementedError

    def tells_apart(self, kind: Any) -> bool:
        """Whether a type of the library is one of those whose equal values are alike."""
        raise NotImplementedError

    def _known_schema(self) -> Any:
        """The types of columns; InputError names one that narwhals does not have."""
        with self.told():
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


def viewed(table: object) -> Any:
    """A table as narwhals sees it, without its warning that Dask is to be another package's."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Dask support is moving", FutureWarning)
        return nw.from_native(table)


def _plain(name: str, kind: Any) -> Any:
    column = nw.when(~nw.col(name).is_nan()).then(nw.col(name))
    zero = nw.lit(0.0, dtype=kind)
    return nw.when(nw.col(name) == 0).then(zero).otherwise(column).alias(name)
