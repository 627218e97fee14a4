"""What warnings need of a table that narwhals sees: some records, and how many are guessed."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from anonymizer.kernels.arrays import Ints
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.parquet import exact_frame

TEXTS = (nw.String, nw.Categorical, nw.Enum)
"""Types whose values are texts."""


class Looking:
    """The operations of a relation that look at it without a tally; ``table`` is narwhals' view."""

    table: Any
    unused: str

    def sample(self, columns: Sequence[str], most: int) -> pd.DataFrame:
        """As ``Relation.sample``."""
        some = self.spread(columns, most)
        if some is not None:
            return some
        return exact_frame(self.collected(self.some(most).select(*columns)))

    def some(self, most: int) -> Any:
        """At most about so many records, of a table without an order."""
        return self.table.head(most)

    def multiplicities(self, column: str) -> tuple[Ints, Ints]:
        """As ``Relation.multiplicities``."""
        size, values = f"{self.unused}size", f"{self.unused}values"
        sizes = self._sizes([column], size).group_by(size).agg(nw.len().alias(values))
        found = self.collected(sizes)
        return _whole(found[size]), _whole(found[values])

    def guessed(self, given: Sequence[str], about: str) -> int:
        """As ``Relation.guessed``."""
        size = f"{self.unused}size"
        groups = [f"{self.unused}{place}" for place in range(len(given))]
        sizes = self._sizes([*given, about], size).group_by(*groups, drop_null_keys=False)
        best = self.collected(sizes.agg(nw.col(size).max()))
        return int(_whole(best[size]).sum())

    def beginning(self, column: str, characters: str) -> Tally:
        """As ``Relation.beginning``."""
        if not isinstance(self.table.collect_schema()[column], TEXTS):
            return Tally(pd.DataFrame({column: []}), np.zeros(0, np.int64))
        first = self._key(column).str.slice(0, 1).is_in([*characters])
        return type(self)(self.table.filter(first)).tally([column])

    def named(self, columns: Mapping[str, str]) -> Self:
        """As ``Relation.named``."""
        return type(self)(
            self.table.select(*(nw.col(old).alias(new) for old, new in columns.items()))
        )

    def _sizes(self, columns: Sequence[str], size: str) -> Any:
        """The records of each combination of values, whose columns are numbered."""
        names = {f"{self.unused}{place}": name for place, name in enumerate(columns)}
        keys = self.with_keys(self._plain(self.table, columns), names)
        return keys.group_by(*names, drop_null_keys=False).agg(nw.len().alias(size))


def _whole(column: pa.ChunkedArray) -> Ints:
    return column.to_numpy().astype(np.int64)
