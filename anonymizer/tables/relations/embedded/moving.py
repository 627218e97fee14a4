"""Moves as SQL: values become numbers, numbers are packed into keys, keys find released values.

A join of nine small tables and one of keys costs DuckDB about a third more than copying a table
as it is; a join on nine texts at once costs more than twice as much (10^6 records).
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from anonymizer.kernels.arrays import Codes
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.relations import coded
from anonymizer.tables.relations.embedded.connection import Connection
from anonymizer.tables.relations.relation import Moves
from anonymizer.tables.traces import without_traces

Known = Mapping[str, tuple[str, pa.DataType]]
"""Columns of a query: what each is called there, and its type."""


def moved(
    connection: Connection, query: str, known: Known, moves: Moves
) -> tuple[str, dict[str, pa.DataType]]:
    """A query of the recoded table, and the names and types of its columns ``c0``, ``c1`` ..."""
    counted = [str(name) for name in moves.raw.columns]
    all_kept = int(moves.records.sum()) == int(moves.raw.sizes.sum())
    moves = _narrowed(moves)
    released = _released(moves)
    new = released.column_names
    kinds = {name: released[name].type if name in new else known[name][1] for name in moves.columns}
    source = query
    if new or not all_kept or moves.drawn or moves.shuffled:
        source = _joined(connection, query, known, moves, released)
    shown = [
        f"r{new.index(name)}" if name in new else _as_it_is(*known[name], name in counted)
        for name in moves.columns
    ]
    columns = ", ".join(f"{each} AS c{number}" for number, each in enumerate(shown))
    return f"SELECT {columns} FROM ({source}) AS m", kinds


def _as_it_is(place: str, kind: pa.DataType, counted: bool) -> str:
    if counted and pa.types.is_floating(kind):
        return f"CASE WHEN {place} = 0 THEN 0 ELSE {place} END"
    return place


def _narrowed(moves: Moves) -> Moves:
    """The same moves by fewer columns: those that stay as they are mostly decide nothing."""
    raw = moves.raw
    needed = [name for name in raw.columns if name in moves.released.columns]
    if moves.drawn or moves.shuffled or not needed or len(needed) == len(raw.columns):
        return moves
    group, first = engine.grouped(raw.combinations, needed)
    values = engine.grouped(moves.released, list(moves.released.columns))[0]
    move = np.full(len(group), -1, np.intp)
    move[moves.of] = values
    if (move != move[first][group]).any():
        return moves
    place = np.zeros(len(group), np.intp)
    place[moves.of] = np.arange(len(moves.of))
    sizes = np.bincount(group, weights=raw.sizes, minlength=len(first)).astype(np.int64)
    left = np.flatnonzero(move[first] >= 0)
    tally = Tally(raw.combinations[needed].iloc[first], sizes)
    released = moves.released.iloc[place[first[left]]]
    return replace(moves, raw=tally, released=released, of=left, records=sizes[left])


def _released(moves: Moves) -> pa.Table:
    """The released values, each column as Arrow has it."""
    frame = without_traces(moves.released.reset_index(drop=True))
    if not len(frame.columns):
        return pa.table({})
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)


def _joined(
    connection: Connection, query: str, known: Known, moves: Moves, released: pa.Table
) -> str:
    """The records that some move is of, with the released values ``r0``, ``r1`` ..."""
    keys = coded.keys_of(moves)
    coded_query = _coded(connection, query, known, keys)
    small = {
        **{f"k{n}": pa.array(each) for n, each in enumerate(_packed(keys, moves.of))},
        **{f"r{n}": _plain(column) for n, column in enumerate(released.columns)},
    }
    on = " AND ".join(f"s.k{n} = p.k{n}" for n in range(len(keys.weights)))
    shown = ", ".join(["s.*", *(f"p.r{n}" for n in range(released.num_columns))])
    if not (moves.drawn or moves.shuffled):
        table = connection.keep(pa.table(small))
        return f"SELECT {shown} FROM ({coded_query}) AS s JOIN {table} AS p ON {on}"
    ends = _ends(moves.of, moves.records)
    small |= {"ends": pa.array(ends), "begins": pa.array(ends - moves.records)}
    return _drawn(connection, coded_query, pa.table(small), len(keys.weights), on, shown, moves)


def _drawn(
    connection: Connection,
    query: str,
    small: pa.Table,
    keys: int,
    on: str,
    shown: str,
    moves: Moves,
) -> str:
    """Records of a combination in random order: the first get its first move, and so on.

    The order is that of a hash of the number of the record and of a secret one, so that it is the
    same whenever the table is computed.
    """
    table = connection.keep(small)
    among = ", ".join(f"k{n}" for n in range(keys))
    numbered = f"SELECT *, row_number() OVER () AS n FROM ({query})"
    ranked = (
        f"SELECT *, row_number() OVER (PARTITION BY {among} ORDER BY "
        f"hash(n, {moves.seed}::BIGINT), n) AS place FROM ({numbered})"
    )
    order = f"hash(s.n, {moves.seed + 1}::BIGINT), s.n" if moves.shuffled else "s.n"
    return (
        f"SELECT {shown} FROM ({ranked}) AS s ASOF JOIN {table} AS p "
        f"ON {on} AND s.place > p.begins WHERE s.place <= p.ends ORDER BY {order}"
    )


def _ends(of: Codes, records: Codes) -> Codes:
    """The place of the last record of each move among those of its combination."""
    order = np.argsort(of, kind="stable")
    total = np.cumsum(records[order])
    first = np.r_[True, of[order][1:] != of[order][:-1]]
    before = np.maximum.accumulate(np.where(first, total - records[order], 0))
    ends = np.empty(len(of), np.int64)
    ends[order] = total - before
    return ends


def _coded(connection: Connection, query: str, known: Known, keys: coded.Keys) -> str:
    """The query with the keys ``k0`` ... of the counted columns; none of an unknown value."""
    joins, codes = [], []
    for number, (name, values) in enumerate(keys.values.items()):
        place, kind = known[name]
        small = pa.table({"v": _plain(values), "code": np.arange(len(values))})
        table = connection.keep(small)
        value = f"s.{place}"
        if pa.types.is_floating(kind):
            value = f"nullif({value}, 'nan')"
        joins.append(f"LEFT JOIN {table} AS v{number} ON {value} = v{number}.v")
        codes.append(f"CASE WHEN {value} IS NULL THEN {len(values)} ELSE v{number}.code END")
    packed = [
        " + ".join(f"{codes[place]} * {weight}" for place, weight in weights.items())
        for weights in keys.weights
    ]
    shown = ", ".join(f"{each or 0} AS k{number}" for number, each in enumerate(packed))
    return f"SELECT s.*, {shown} FROM ({query}) AS s {' '.join(joins)}"


def _packed(keys: coded.Keys, rows: Codes) -> list[Codes]:
    """The keys of some combinations."""
    codes = keys.codes[rows]
    return [
        sum(
            (codes[:, place] * weight for place, weight in weights.items()),
            np.zeros(len(rows), np.int64),
        )
        for weights in keys.weights
    ]


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Values as such, not as numbers of distinct ones."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
