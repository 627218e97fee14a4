"""Moves as SQL: the hash of a record's values identifies it, and gives it the released ones.

Nothing is joined unless values are drawn: DuckDB leaves the order of what it joins open, and
records are released in the order that they have. A function of a record keeps it: Python answers
for two thousand records at a time, 10^7 records in 1.5 s on two cores, next to 4 s of writing them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.parquet import is_text
from anonymizer.tables.relations.coded import Known as Exact
from anonymizer.tables.relations.coded import coded
from anonymizer.tables.relations.embedded.connection import Connection, literal
from anonymizer.tables.relations.relation import Moves
from anonymizer.tables.traces import without_traces

LISTED = 1000
"""Values of a column that DuckDB is given as a list, which it copies for each 2 048 records.

There are no more in an ENUM: Parquet files have all its values for each 122 880 records.
"""

MOST_PACKED = 2**62
"""Bound on the number that says of several columns which value of its list each one gets."""

SALTS = 8
"""Tries to find a hash that no two combinations share; two of 10^7 do once in 400 000 times."""

AS_TEXT = re.compile('ENUM|"NULL"')
"""Types of DuckDB whose values have their hash as texts: an ENUM hashes its numbers."""

Known = Mapping[str, tuple[str, pa.DataType]]
"""Columns of a query: what each is called there, and its type."""

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]


class HashedQuery(NamedTuple):
    """A query whose records are identified by the hash of their values.

    ``exact``: values that Python has none for, as the table has them.
    """

    connection: Connection
    query: str
    known: Known
    exact: Exact

    def types(self) -> Mapping[str, str]:
        """The types of the columns of the query, as DuckDB calls them."""
        described = self.connection.arrow(f"DESCRIBE {self.query}")
        return dict(zip(*(described.column(n).to_pylist() for n in (0, 1)), strict=True))


class Combinations:
    """Combinations of values, by their hashes, shape (combinations,)."""

    def __init__(self, hashes: Hashes) -> None:
        self._order = np.argsort(hashes)
        # One after the last: no search goes beyond the end.
        self._hashes = np.append(hashes[self._order], np.uint64(np.iinfo(np.uint64).max))
        # By the leading bits of a hash: where those begin that have them. Hashes are spread evenly,
        # so that the place of one is a step or two from there.
        bits = len(hashes).bit_length()
        self._shift = np.uint64(63 - bits)
        first = (self._hashes >> self._shift).astype(np.int64)
        sizes = np.bincount(first, minlength=2 << bits)
        self._begins = np.cumsum(sizes) - sizes

    @property
    def distinct(self) -> bool:
        """Whether no two have the same hash."""
        hashes = self._hashes[:-1]
        return bool((hashes[1:] != hashes[:-1]).all())

    def numbers(self, of: Codes) -> Callable[[pa.ChunkedArray], pa.Array]:
        """A function of hashes that gives the number of each one's combination.

        ``of`` (combinations,): these numbers; -1, as for a hash that none has, gives null.
        """
        # In the order of the hashes; -1 after the last is for a hash that none has.
        arranged = np.append(np.asarray(of, np.int64)[self._order], -1)

        def found(hashes: pa.ChunkedArray) -> pa.Array:
            numbers = arranged[self._places(hashes.to_numpy())]
            return pa.array(numbers, mask=numbers < 0)

        return found

    def values(self, of: Codes, values: pa.Array) -> Callable[[pa.ChunkedArray], pa.Array]:
        """A function of hashes that gives values by these numbers; null for -1."""
        found = self.numbers(of)
        return lambda hashes: values.take(found(hashes))

    def _places(self, hashes: Hashes) -> Codes:
        """The places of hashes among those in order; that after the last where none is equal."""
        places = self._begins[(hashes >> self._shift).astype(np.int64)]
        before = np.flatnonzero(self._hashes[places] < hashes)
        while len(before):  # of these the place is of a hash that is less
            places[before] += 1
            before = before[self._hashes[places[before]] < hashes[before]]
        return np.where(self._hashes[places] == hashes, places, len(self._order))


class Numbered(NamedTuple):
    """The values of a column, a missing one included, and the number of each row's."""

    values: pa.Array
    codes: Codes


def moved(source: HashedQuery, moves: Moves) -> tuple[str, dict[str, pa.DataType]]:
    """A query of the recoded table, and the names and types of its columns ``c0``, ``c1`` ..."""
    counted = [str(name) for name in moves.raw.columns]
    all_kept = int(moves.records.sum()) == int(moves.raw.sizes.sum())
    moves = _narrowed(moves)
    frame = without_traces(moves.released.reset_index(drop=True))
    released = pa.table({})
    if len(frame.columns):
        released = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
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
    """Reduce moves to fewer columns: those that stay as they are mostly decide nothing."""
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


def _replaced(source: HashedQuery, moves: Moves, released: pa.Table) -> str:
    """The records that some move is of, with the released values ``r0``, ``r1`` ..."""
    connection = source.connection
    hashed, combinations = with_hashes(source, moves.raw)
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
    query = f"SELECT * FROM (SELECT {shown} FROM ({hashed})) WHERE p0 IS NOT NULL"
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
        f"l{n}": f"ENUM({', '.join(map(literal, each.values.drop_null().to_pylist()))})[]"
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


def _at(numbers: Codes, move: Codes) -> Codes:
    """Spread numbers of moves over combinations; -1 where one has no move."""
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
    hashed, combinations = with_hashes(source, moves.raw)
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
    numbered = f"SELECT *, {row}(h) AS k, row_number() OVER () AS n FROM ({hashed})"
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
    # Records of all combinations before: what the total was at the first move of this one.
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


def with_hashes(source: HashedQuery, raw: Tally) -> tuple[str, Combinations]:
    """The query with a column ``h``, which identifies the combinations that were counted."""
    connection, types = source.connection, source.types()
    kinds, values, keys = {}, {"place": pa.array(np.arange(len(raw.index)))}, []
    for name, column in coded(raw, source.exact).items():
        (place, kind), stored = source.known[name], column.values
        if pa.types.is_duration(kind):  # time that passes is a number to DuckDB
            stored = stored.cast(kind).cast(pa.int64())
        codes = pa.array(column.codes, mask=column.codes == len(column.values))
        values[place] = pa.DictionaryArray.from_arrays(codes, stored)
        kinds[place] = "VARCHAR" if AS_TEXT.match(types[place]) else types[place]
        text = kinds[place] == "VARCHAR"
        keys.append(f"CAST({place} AS VARCHAR)" if text else equal_alike(place, kind))
    with connection.given(pa.table(values), kinds) as given:
        for salt in range(SALTS):
            hashed = f"hash({', '.join([*keys, str(salt)])})"
            found = connection.arrow(f"SELECT place, {hashed} AS h FROM ({given})")
            hashes = np.empty(len(found), np.uint64)
            hashes[found["place"].to_numpy()] = found["h"].to_numpy()
            combinations = Combinations(hashes)
            if combinations.distinct:
                return f"SELECT *, {hashed} AS h FROM ({source.query})", combinations
    raise InputError("records cannot be told by their values; count fewer different values")


def equal_alike(place: str, kind: pa.DataType) -> str:
    """A column whose equal values are one: no -0.0, and NaN is missing."""
    if not pa.types.is_floating(kind):
        return place
    return f"CASE WHEN isnan({place}) THEN NULL WHEN {place} = 0 THEN 0 ELSE {place} END"


def chance(seed: int, record: str) -> str:
    """What records are in random order by, for who does not know the seed.

    ``record``: what each has of its own. DuckDB's ``hash`` of several values is no such thing: that
    of the seed is only xored to that of the record, so that a few records tell it.
    """
    return f"left(sha256('{seed} ' || {record}), 16)"
