"""Tables of Arrow: records keep their order, and columns types that Arrow cannot compute with."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from anonymizer.kernels.arrays import Codes
from anonymizer.tables.relations.coded import tells_apart
from anonymizer.tables.relations.frames import Frame, How, viewed
from anonymizer.tables.relations.relation import Moves, dealt, runs_of
from anonymizer.tables.traces import PLAIN, anew

Kind = Callable[[pa.DataType], pa.DataType]

COUNTED: list[tuple[Callable[[pa.DataType], bool], Kind]] = [
    (kinds.is_dictionary, lambda kind: kind.value_type),
    (kinds.is_run_end_encoded, lambda kind: kind.value_type),
    (lambda kind: kind in PLAIN, PLAIN.__getitem__),
    (kinds.is_decimal32, lambda kind: pa.decimal128(38, kind.scale)),
    (kinds.is_decimal64, lambda kind: pa.decimal128(38, kind.scale)),
    (kinds.is_null, lambda kind: pa.string()),
]
"""Types whose values Arrow counts only in another type, and that one."""


class ArrowFrame(Frame):
    """A table of Arrow.

    >>> from anonymizer import Anonymizer, KAnonymity
    >>> policy = Anonymizer({"age": {"widths": [10, 50]}}, privacy=[KAnonymity(2)])
    >>> table = pa.table({"age": [31, 34, 38, 52, 57], "visits": [1, 0, 2, 1, 4]})
    >>> released = policy.fit_transform(table)
    >>> str(released.schema.field("visits").type), str(released["age"][4])
    ('int64', '[50, 60)')
    """

    called = "Arrow"
    ordered = True
    as_texts = ()

    def type_of(self, name: str) -> Any:
        """As ``Frame.type_of``."""
        return self.native.schema.field(name).type

    def tells_apart(self, kind: Any) -> bool:
        """As ``Frame.tells_apart``."""
        return tells_apart(kind)

    def recoded(self, moves: Moves) -> Self:
        """As ``Relation.recoded``; nothing of records that are left out stays in memory."""
        native = super().recoded(moves).native
        columns = dict(zip(native.column_names, map(anew, native.columns), strict=True))
        return type(self)(viewed(pa.table(columns)))

    def with_keys(self, table: Any, names: Mapping[str, str]) -> Any:
        """As ``Frame.with_keys``."""
        native = table.to_native()
        for new, name in names.items():
            native = native.append_column(new, _countable(native[name]))
        return viewed(native)

    def joined(self, table: Any, small: pa.Table, on: str, how: How = "inner") -> Any:
        """As ``Frame.joined``; Arrow's own joins keep no order, and take few types."""
        native = table.to_native()
        place = pc.index_in(native[on], value_set=small[on].cast(native[on].type))
        if how == "inner" and place.null_count:
            found = np.flatnonzero(place.is_valid().to_numpy())
            native, place = _taken(native, found), place.drop_null()
        for name in small.drop_columns(on).column_names:
            native = native.append_column(name, small[name].take(place))
        return viewed(native)

    def dealt(self, table: Any, moves: Moves, row: str, move: str) -> Any:
        """As ``Frame.dealt``."""
        native = table.to_native()
        rng = np.random.default_rng(moves.seed)
        found = dealt(native[row].to_numpy(), runs_of(moves), rng)
        return viewed(native.append_column(move, pa.array(found)))

    def shuffled(self) -> Self:
        """As ``Relation.shuffled``."""
        order = np.random.default_rng().permutation(self.records)
        return type(self)(viewed(_taken(self.native, order)))


def _countable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in a type that Arrow can count."""
    if kinds.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    for holds, other in COUNTED:
        if holds(column.type):
            return _countable(column.cast(other(column.type)))
    return column


def _taken(table: pa.Table, places: Codes) -> pa.Table:
    index = pa.array(places)
    columns = [_taken_of(column, index) for column in table.columns]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))


def _taken_of(column: pa.ChunkedArray, index: pa.Array) -> pa.ChunkedArray:
    if kinds.is_run_end_encoded(column.type):
        runs = column.type.run_end_type
        return pc.run_end_encode(pc.run_end_decode(column).take(index), run_end_type=runs)
    if column.type in PLAIN:
        return column.cast(PLAIN[column.type]).take(index).cast(column.type)
    return column.take(index)
