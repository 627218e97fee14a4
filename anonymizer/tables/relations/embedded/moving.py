"""Moves as SQL: a record is told by the hash of its values, and gets the released ones by it.

Nothing is joined unless values are drawn: DuckDB leaves the order of what it joins open, and
records are released in the order that they have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from anonymizer.kernels.arrays import Codes
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.parquet import is_text
from anonymizer.tables.relations.embedded.connection import Connection, literal
from anonymizer.tables.relations.embedded.hashing import HashedQuery, chance, told_by_hash
from anonymizer.tables.relations.relation import Moves
from anonymizer.tables.traces import without_traces

LISTED = 1000
"""Values of a column that DuckDB is given as a list, which it copies for each 2 048 records.

There are no more in an ENUM: Parquet files have all its values for each 122 880 records.
"""

MOST_PACKED = 2**62
"""Bound on the number that says of several columns which value of its list each one gets."""


class Numbered(NamedTuple):
    """The values of a column, a missing one included, and the number of each row's."""

    values: pa.Array
    codes: Codes


def moved(source: HashedQuery, moves: Moves) -> tuple[str, dict[str, pa.DataType]]:
    """A query of the recoded table, and the names and types of its columns ``c0``, ``c1`` ..."""
    counted = [str(name) for name in moves.raw.columns]
    all_kept = int(moves.records.sum()) == int(moves.raw.sizes.sum())
    moves = _narrowed(moves)
    released = _released(moves)
    new = released.column_names
    known, query = source.known, source.query
    kinds = {name: released[name].type if name in new else known[name][1] for name in moves.columns}
    if moves.drawn:
        query = _drawn(source, moves, released)
    elif new or not all_kept:
        query = _replaced(source, moves, released)
    shown = [
        f"r{new.index(name)}" if name in new else _as_it_is(*known[name], name in counted)
        for name in moves.columns
    ]
    columns = ", ".join(f"{each} AS c{number}" for number, each in enumerate(shown))
    return f"SELECT {columns} FROM ({query}) AS m", kinds


def _as_it_is(place: str, kind: pa.DataType, counted: bool) -> str:
    if counted and pa.types.is_floating(kind):
        return f"CASE WHEN {place} = 0 THEN 0 ELSE {place} END"
    return place


def _narrowed(moves: Moves) -> Moves:
    """The same moves by fewer columns: those that stay as they are mostly decide nothing."""
    raw = moves.raw
    needed = [name for name in raw.columns if name in moves.released.columns]
    if moves.drawn or not needed or len(needed) == len(raw.columns):
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


def _replaced(source: HashedQuery, moves: Moves, released: pa.Table) -> str:
    """The records that some move is of, with the released values ``r0``, ``r1`` ..."""
    connection = source.connection
    told, combinations = told_by_hash(source, moves.raw)
    move = np.full(len(moves.raw.index), -1)
    move[moves.of] = np.arange(len(moves.of))
    columns = [_numbered(column) for column in released.columns]
    few = {n: each for n, each in enumerate(columns) if len(each.values) <= LISTED}
    found = {
        f"r{n}": connection.function(
            combinations.values(_at(each.codes, move), each.values), each.values.type
        )
        for n, each in enumerate(columns)
        if n not in few
    }
    packs = _packs(few)
    for number, pack in enumerate(packs):
        packed = sum((few[n].codes * weight for n, weight in pack.items()), 0 * moves.of)
        numbers = combinations.numbers(_at(packed, move))
        found[f"p{number}"] = connection.function(numbers, pa.int64())
    shown = ", ".join(["*", *(f"{each}(h) AS {name}" for name, each in found.items())])
    # Also where all are kept: a record that was not counted never gets through.
    query = f"SELECT * FROM (SELECT {shown} FROM ({told})) WHERE p0 IS NOT NULL"
    return _labelled(connection, query, few, packs) if few else query


def _labelled(
    connection: Connection,
    query: str,
    columns: Mapping[int, Numbered],
    packs: Sequence[Mapping[int, int]],
) -> str:
    """Records with values of short lists, by their numbers there."""
    lists = {
        f"l{n}": pa.ListArray.from_arrays([0, len(each.values)], each.values)
        for n, each in columns.items()
    }
    kinds = {
        f"l{n}": f"{_enumeration(each.values)}[]"
        for n, each in columns.items()
        if is_text(each.values.type) and each.values.drop_null()
    }
    table = connection.keep(pa.table(lists), kinds)
    shown = ", ".join(
        f"l{n}[p{number} // {weight} % {len(columns[n].values)} + 1] AS r{n}"
        for number, pack in enumerate(packs)
        for n, weight in pack.items()
    )
    return f"SELECT s.*, {shown} FROM ({query}) AS s, {table}"


def _numbered(column: pa.ChunkedArray) -> Numbered:
    encoded = _plain(column).dictionary_encode(null_encoding="encode")
    return Numbered(encoded.dictionary, encoded.indices.to_numpy().astype(np.int64))


def _enumeration(texts: pa.Array) -> str:
    """The type that has these texts; Parquet files have each of them once for many records."""
    return f"ENUM({', '.join(literal(each) for each in texts.drop_null().to_pylist())})"


def _at(numbers: Codes, move: Codes) -> Codes:
    """What is known of moves, by combinations; -1 of one that has no move."""
    return np.append(numbers, -1)[move]


def _packs(columns: Mapping[int, Numbered]) -> list[dict[int, int]]:
    """The weights of columns in each of the numbers that say which values they get."""
    packs: list[dict[int, int]] = [{}]
    bound = 1
    for n, column in columns.items():
        if bound * len(column.values) > MOST_PACKED:
            packs.append({})
            bound = 1
        packs[-1][n] = bound
        bound *= len(column.values)
    return packs


def _drawn(source: HashedQuery, moves: Moves, released: pa.Table) -> str:
    """Records of a combination in random order: the first get its first move, and so on.

    The order is that of digests of a secret and of the number of the record, so that it is the
    same whenever the table is computed.
    """
    connection = source.connection
    told, combinations = told_by_hash(source, moves.raw)
    numbers = combinations.numbers(np.arange(len(moves.raw.index)))
    row = connection.function(numbers, pa.int64())
    ends = _ends(moves.of, moves.records)
    table = connection.keep(
        pa.table(
            {
                "of": moves.of,
                "ends": ends,
                "begins": ends - moves.records,
                **{f"r{n}": _plain(column) for n, column in enumerate(released.columns)},
            }
        )
    )
    numbered = f"SELECT *, {row}(h) AS k, row_number() OVER () AS n FROM ({told})"
    ranked = (
        "SELECT *, row_number() OVER (PARTITION BY k ORDER BY "
        f"{chance(moves.seed, 'n')}, n) AS place FROM ({numbered})"
    )
    shown = ", ".join(["s.*", *(f"p.r{n}" for n in range(released.num_columns))])
    return (
        f"SELECT {shown} FROM ({ranked}) AS s ASOF JOIN {table} AS p "
        f"ON s.k = p.of AND s.place > p.begins WHERE s.place <= p.ends ORDER BY s.n"
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


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Values as such, not as numbers of distinct ones."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
