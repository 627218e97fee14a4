"""Tables of Polars, eager or lazy: records keep their order."""

from collections.abc import Sequence
from secrets import randbits
from typing import Any, Self

import numpy as np
import pandas as pd
import polars
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.tables.relations.frames import Frame, How, viewed
from anonymizer.tables.relations.relation import Moves, dealt, runs_of

COUNTED = (
    polars.Boolean,
    polars.String,
    polars.Categorical,
    polars.Enum,
    polars.Binary,
    polars.Null,
)
"""Types whose equal values are alike, with those of numbers and of time; not halves."""


def _bare(kind: Any, values: polars.Series | None = None) -> Any:
    """A type that lists only values which occur: an Enum has those of a column, or is text."""
    if isinstance(kind, polars.Enum):
        found = set() if values is None else {*values.unique()}
        return polars.Enum([each for each in kind.categories if each in found])
    if isinstance(kind, polars.List):
        return polars.List(_text(kind.inner))
    if isinstance(kind, polars.Array):
        return polars.Array(_text(kind.inner), kind.shape[0])
    if isinstance(kind, polars.Struct):
        return polars.Struct({field.name: _text(field.dtype) for field in kind.fields})
    return kind


def _text(kind: Any) -> Any:
    """A type within a nested one, with texts in place of an Enum."""
    return polars.String() if isinstance(kind, polars.Enum) else _bare(kind)


def from_pandas(table: pd.DataFrame) -> polars.DataFrame:
    """A table as Polars has it, which knows no index; InputError where it cannot."""
    try:
        return polars.from_pandas(table.reset_index(drop=True))
    except (TypeError, ValueError, polars.exceptions.PolarsError):
        raise InputError(
            "a column of the table holds values of several types, which Polars cannot have; "
            "make it texts, or take a pandas DataFrame"
        ) from None


class PolarsFrame(Frame):
    """A DataFrame or LazyFrame of Polars.

    >>> from anonymizer import Anonymizer, KAnonymity
    >>> policy = Anonymizer({"age": {"widths": [10, 50]}}, privacy=[KAnonymity(2)])
    >>> table = polars.LazyFrame({"age": [31, 34, 38, 52, 57], "visits": [1, 0, 2, 1, 4]})
    >>> released = policy.fit_transform(table)
    >>> type(released).__name__, released.collect_schema()["visits"]
    ('LazyFrame', Int64)
    >>> released.collect()["age"].to_list()
    ['[30, 40)', '[30, 40)', '[30, 40)', '[50, 60)', '[50, 60)']
    """

    called = "Polars"
    ordered = True

    def type_of(self, name: str) -> Any:
        """As ``Frame.type_of``."""
        return self.native.collect_schema()[name]

    def tells_apart(self, kind: Any) -> bool:
        """As ``Frame.tells_apart``."""
        known = kind.is_numeric() or kind.is_temporal() or isinstance(kind, COUNTED)
        return bool(known) and str(kind) != "Float16"

    def computed(self) -> Self:
        """As ``Frame.computed``: in memory, also where it is lazy."""
        with self.worded():
            native = self.native.lazy().collect()
            native = native.with_columns(
                polars.col(name).cast(_bare(kind, native[name]))
                for name, kind in native.schema.items()
                if _bare(kind) != kind
            )
        lazy = isinstance(self.native, polars.LazyFrame)
        return type(self)(viewed(native.lazy() if lazy else native))

    def sketched(self, table: Any, columns: Sequence[str]) -> int:
        """As ``Frame.sketched``."""
        hashed = polars.struct(*columns).hash()
        return int(table.to_native().lazy().select(hashed.approx_n_unique()).collect().item())

    def joined(self, table: Any, small: pa.Table, on: str, how: How = "inner") -> Any:
        """As ``Frame.joined``, in the order of the table, which narwhals does not promise."""
        left: Any = table.to_native()
        right: Any = polars.DataFrame(small)
        right = right.lazy() if isinstance(left, polars.LazyFrame) else right
        return viewed(left.join(right, on=on, how=how, maintain_order="left"))

    def dealt(self, table: Any, moves: Moves, row: str, move: str) -> Any:
        """As ``Frame.dealt``."""
        runs, seed = runs_of(moves), moves.seed

        def drawn(rows: polars.Series) -> polars.Series:
            return polars.Series(dealt(rows.to_numpy(), runs, np.random.default_rng(seed)))

        found = polars.col(row).map_batches(drawn, return_dtype=polars.Int64)
        return viewed(table.to_native().with_columns(found.alias(move)))

    def shuffled(self) -> Self:
        """As ``Relation.shuffled``."""
        chance = polars.int_range(polars.len()).shuffle(randbits(62))
        return type(self)(viewed(self.native.sort(chance)))
