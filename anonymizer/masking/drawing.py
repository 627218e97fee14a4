"""Drawing a table from channels, so carefully that the drawn table holds its policy.

A channel promises what is expected; the table that is released is one draw. It is held against the
policy like any other table: counted, and drawn again where it fails.

How many records of each kind get each released symbol is rounded so that the draw stays near its
channel. Drawing every record by itself would do, but the counts of a symbol would be off by the
square root of what is expected. Here every record still gets each symbol with exactly the channel's
chance, while the number of records with a symbol is off by less than one: dependent rounding of a
bipartite graph (Gandhi, Khuller, Parthasarathy, Srinivasan, "Dependent rounding and its
applications to approximation algorithms", J. ACM 53, 2006), of which systematic rounding is the
case of one row.

Only the numbers are drawn so. Which records get a symbol is left to chance: records one by one are
shuffled, and of those that a row stands for the number that gets each symbol is drawn without
replacement, which is the same law.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

import numpy as np

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats, Ints
from anonymizer.masking.part import Contingency
from anonymizer.privacy import PrivacyModel
from anonymizer.tables import engine
from anonymizer.tables.engine import T, Tally

FEW = 256
"""Records of a kind up to which they are shuffled one by one, faster than a draw for each row."""

MOST_ALIKE = 1_000_000_000
"""Records of a kind, from which on numbers of them cannot be drawn (NumPy's hypergeometric)."""


@dataclass(frozen=True, eq=False)
class Dealt:
    """The symbols of the records of a table, shape (pieces,) for each part.

    ``rows``: which row of the table the records of each piece are of, shape (pieces,), and
    ``sizes``, how many of them; None where a piece is one record, in the order of the table.
    """

    symbol_of: list[Codes]
    rows: Codes | None = field(default=None, repr=False)
    sizes: Ints | None = field(default=None, repr=False)

    def records_of(self, table: T) -> T:
        """Return a table with a row for each piece, on the index of the old rows."""
        if self.rows is None or self.sizes is None:
            return table
        rows = engine.records_of(cast(Tally, table), self.rows)
        return cast(T, replace(rows, sizes=self.sizes))


def dealt(tables: Sequence[Contingency], kinds: Sequence[Ints], rng: np.random.Generator) -> Dealt:
    """Deal out what was drawn for each part of a table.

    ``kinds``, of each part: row, stratum, symbol, and the records of that kind, shape (kinds, 4).
    """
    pairs = zip(tables, kinds, strict=True)
    if tables[0].row_sizes is None:
        return Dealt([_one_by_one(*each, rng) for each in pairs])
    sizes = tables[0].row_sizes
    rows: Codes = np.arange(len(sizes))
    symbol_of: list[Codes] = []
    for table, some in pairs:
        piece, symbol, sizes = _by_count(table, some, rows, sizes, rng)
        rows, symbol_of = rows[piece], [*(known[piece] for known in symbol_of), symbol]
    return Dealt(symbol_of, rows, sizes)


def _one_by_one(table: Contingency, kinds: Ints, rng: np.random.Generator) -> Codes:
    """Deal each record a symbol at random among records that are alike, shape (records,)."""
    # Both sides in the order of rows, then strata: what was drawn for a kind goes to its records.
    shuffled = rng.permutation(len(table.row_of))
    order = np.lexsort((table.stratum_of[shuffled], table.row_of[shuffled]))
    _, _, symbol, records = kinds[np.lexsort((kinds[:, 1], kinds[:, 0]))].T
    symbol_of = np.empty(len(shuffled), np.intp)
    symbol_of[shuffled[order]] = np.repeat(symbol, records)
    return symbol_of


def _by_count(
    table: Contingency, kinds: Ints, rows: Codes, sizes: Ints, rng: np.random.Generator
) -> tuple[Codes, Codes, Ints]:
    """Deal the symbols of one part among pieces, some ``sizes`` of records of ``rows`` of a table.

    Returns the piece that each new one is of, its symbol, and its records.
    """
    strata = table.records.shape[1]
    kind_of = kinds[:, 0] * strata + kinds[:, 1]
    cell_of = (table.row_of * strata + table.stratum_of)[rows]
    records = np.zeros(table.records.size, np.int64)
    np.add.at(records, cell_of, sizes)
    few, fewer = records[cell_of] <= FEW, records[kind_of] <= FEW
    small = _shuffled(cell_of[few], sizes[few], kind_of[fewer], kinds[fewer, 2:], rng)
    large = _counted(cell_of[~few], sizes[~few], kind_of[~fewer], kinds[~fewer, 2:], rng)
    pieces = np.concatenate([np.flatnonzero(few)[small[0]], np.flatnonzero(~few)[large[0]]])
    symbol, dealt_out = map(np.concatenate, zip(small[1:], large[1:], strict=True))
    return pieces, symbol, dealt_out


def _shuffled(
    cell_of: Codes, sizes: Ints, kind_of: Codes, drawn: Ints, rng: np.random.Generator
) -> tuple[Codes, Codes, Ints]:
    """Deal ``drawn``, symbols and their records, among the pieces of each cell, record by record.

    Returns as ``_by_count``.
    """
    # Both sides in the order of cells, symbols at random within each: record by record they meet.
    piece = np.repeat(np.arange(len(sizes)), sizes)
    piece = piece[np.argsort(cell_of[piece], kind="stable")]
    symbol, records = drawn[np.argsort(kind_of, kind="stable")].T
    cell = np.repeat(np.sort(kind_of), records)
    symbol = np.repeat(symbol, records)[np.lexsort((rng.random(len(cell)), cell))]
    pairs, found = np.unique(np.column_stack([piece, symbol]), axis=0, return_counts=True)
    return pairs[:, 0], pairs[:, 1], found


def _counted(
    cell_of: Codes, sizes: Ints, kind_of: Codes, drawn: Ints, rng: np.random.Generator
) -> tuple[Codes, Codes, Ints]:
    """Deal symbols by drawing how many records of each piece of a cell get each."""
    found = [np.zeros((0, 3), np.int64)]
    for pieces, symbols in zip(_alike(cell_of), _alike(kind_of), strict=True):
        split = _split(sizes[pieces], drawn[symbols, 1], rng)
        piece, symbol = np.nonzero(split)
        found.append(np.column_stack([pieces[piece], drawn[symbols, 0][symbol], split[split > 0]]))
    piece, symbol, records = np.concatenate(found).T
    return piece, symbol, records


def _alike(cell_of: Codes) -> Iterator[Codes]:
    order = np.argsort(cell_of, kind="stable")
    ends = np.flatnonzero(np.diff(cell_of[order])) + 1
    return iter(np.split(order, ends)) if len(order) else iter(())


def _split(sizes: Ints, drawn: Ints, rng: np.random.Generator) -> Ints:
    """Records by piece and symbol, of these margins, as if they were dealt out one by one."""
    if len(sizes) < len(drawn):  # the longer side is drawn as a whole
        return _split(drawn, sizes, rng).T
    left = sizes.copy()
    found = np.empty((len(sizes), len(drawn)), np.int64)
    for place, records in enumerate(drawn[:-1].tolist()):
        if left.sum() >= MOST_ALIKE:
            raise InputError(
                f"{left.sum():,} records are alike in all that is counted, too many to draw from; "
                "split the table in parts of fewer, such as by region"
            )
        found[:, place] = rng.multivariate_hypergeometric(left, records, method="marginals")
        left -= found[:, place]
    found[:, -1] = left
    return found


@dataclass(frozen=True, eq=False)
class DrawnTable:
    """Values drawn for the records of a table.

    ``by_class``: records by class, all parts together, and stratum, shape (classes, strata).
    """

    dealt: Dealt
    by_class: Ints


@dataclass(frozen=True, eq=False)
class Drawing:
    """Way to draw tables from channels: ``draws`` times at the most, until all models hold.

    Of the records of each part, and its channel q(y|x), shape (rows, symbols).
    ``independent``: every record by itself, which local differential privacy is about; otherwise
    the records of every symbol are kept near to what is expected. ``kept_of``: what every row
    has of attributes that are no part of any channel and separate classes all the same, shape
    (rows,); None where there are none.
    """

    tables: Sequence[Contingency] = field(repr=False)
    models: Sequence[PrivacyModel]
    draws: int
    rng: np.random.Generator
    independent: bool = False
    kept_of: Codes | None = field(default=None, repr=False)

    def draw(self, matrices: Sequence[Floats]) -> DrawnTable | None:
        """The first draw that satisfies every model; None where all break one."""
        attempts = (self._attempt(matrices) for _ in range(self.draws))
        return next((drawn for drawn in attempts if drawn is not None), None)

    @property
    def _alone(self) -> bool:
        return len(self.tables) == 1 and self.kept_of is None

    def is_hopeless(self, matrices: Sequence[Floats]) -> bool:
        """Return whether the table nearest to the expectation breaks a model: draws are further.

        False where several parts or kept attributes make the classes.
        """
        whole = self.tables[0]
        expected = np.rint(matrices[0].T @ whole.records).astype(np.int64)
        return self._alone and not whole.acceptable(expected, self.models).all()

    def _attempt(self, matrices: Sequence[Floats]) -> DrawnTable | None:
        """Draw the symbols of all records once; None where a class of them breaks a model."""
        kinds = list(map(self._kinds, self.tables, matrices))
        whole = self.tables[0]
        if self._alone:
            # The classes are known before any record has its symbol.
            by_class = np.zeros((matrices[0].shape[1], whole.records.shape[1]), np.int64)
            _, stratum, symbol, records = kinds[0].T
            np.add.at(by_class, (symbol, stratum), records)
            if not whole.acceptable(by_class, self.models).all():
                return None
            return DrawnTable(dealt(self.tables, kinds, self.rng), by_class)
        found = dealt(self.tables, kinds, self.rng)
        by_class = self._by_class(found)
        return (
            DrawnTable(found, by_class) if whole.acceptable(by_class, self.models).all() else None
        )

    def _by_class(self, found: Dealt) -> Ints:
        """Records by class, all that tells classes apart together, and stratum.

        Shape (classes, strata).
        """
        whole, kept = self.tables[0], [] if self.kept_of is None else [self.kept_of]
        stratum_of = whole.stratum_of
        if found.rows is not None:
            stratum_of, kept = stratum_of[found.rows], [each[found.rows] for each in kept]
        codes = np.column_stack([*found.symbol_of, *kept])
        _, class_of = np.unique(codes, axis=0, return_inverse=True)
        strata = whole.records.shape[1]
        by_class = np.zeros((class_of.max() + 1, strata), np.int64)
        sizes = 1 if found.sizes is None else found.sizes
        np.add.at(by_class, (class_of.reshape(-1), stratum_of), sizes)
        return by_class

    def _kinds(self, table: Contingency, matrix: Floats) -> Ints:
        """Draw from a channel, stratum by stratum of equal sensitive values.

        Every record gets each symbol with the channel's chance. Rounded, the records of a symbol
        with some sensitive values are within one of what is expected. Returns row, stratum, symbol,
        and the records of that kind, shape (kinds, 4).
        """
        found = []
        for stratum, sizes in enumerate(table.records.T):
            rows = np.flatnonzero(sizes)
            columns = np.flatnonzero(matrix[rows].max(axis=0, initial=0.0) > 0)
            channel = matrix[np.ix_(rows, columns)]
            if self.independent:
                records = self.rng.multinomial(sizes[rows], channel)
            else:
                records = rounded(sizes[rows], channel, self.rng)
            row, column = np.nonzero(records)
            kind = [rows[row], np.full(len(row), stratum), columns[column], records[row, column]]
            found.append(np.column_stack(kind))
        return np.concatenate(found)


ONE = 1 << 36
"""Chances are whole multiples of 1 / ONE (1.5e-11), so that sums of them are exact."""

HALF = 1 << 18
"""Products of chances are made of numbers of records below."""

MOST_EDGES = 2_000
"""Entries to round beyond are rounded row by row: a walk through so many takes too long."""

Graph = list[dict[int, int]]
"""What is left to round of every entry, by its row and by its column, in units of 1 / ONE."""


def rounded(records: Ints, channel: Floats, rng: np.random.Generator) -> Ints:
    """Whole numbers of records by symbol, whose expectation is records * channel.

    Every entry is the expectation rounded up or down, every row sums to its records, and every
    column to its expectation rounded up or down (beyond ``MOST_EDGES`` entries columns may be off
    by more). Of records by true value, shape (n,), and q(y|x), shape (n, k); returns records by
    true value and symbol, shape (n, k).
    """
    whole, rest = _parts(records, channel)
    if np.count_nonzero(rest) > MOST_EDGES:
        # Systematic rounding: each row by itself, one uniform number deciding all of its entries.
        # The last end is a multiple of ONE, so that the row sums to its records.
        ends = np.cumsum(rest, axis=1)
        offset = rng.integers(0, ONE, size=(len(rest), 1))
        return np.asarray(whole + (ends + offset) // ONE - (ends - rest + offset) // ONE)
    graph = _graph(rest)
    rows = len(rest)
    for start in range(rows):
        # Every walk rounds an entry at the least, so that it ends.
        while graph[start]:
            # A cycle, or a path between two ends that cannot be prolonged, each with a single entry
            # left to round. A row never ends one: what is left of it sums to whole records, which
            # no single rest does.
            walk = _prolonged(graph, start)
            if walk[0] != walk[-1]:
                walk = _prolonged(graph, walk[-1])
            for row, column in _shifted(graph, walk, rng):
                whole[min(row, column), max(row, column) - rows] += 1
    return whole


def _parts(records: Ints, channel: Floats) -> tuple[Ints, Ints]:
    """The whole part of every expectation and the rest in units of 1 / ONE, shape (n, k) each.

    Rows of the rest sum to whole records exactly: what rounding to units took or gave is made good
    at the likeliest symbol, which has room for it.
    """
    units = np.rint(channel * ONE).astype(np.int64)
    likeliest = channel.argmax(axis=1)
    units[np.arange(len(units)), likeliest] += ONE - units.sum(axis=1)
    # In two steps: 64 bits hold products with 10^8 records, not with 10^9.
    high, low = np.divmod(records[:, None], HALF)
    above, rest = np.divmod(units * high, ONE // HALF)
    below, rest = np.divmod(rest * HALF + units * low, ONE)
    return above + below, rest


def _graph(rest: Ints) -> Graph:
    """Rows, then columns, each with the entries that are left to round."""
    rows, columns = rest.shape
    graph: Graph = [{} for _ in range(rows + columns)]
    for row, column in zip(*(places.tolist() for places in np.nonzero(rest)), strict=True):
        value = int(rest[row, column])
        graph[row][rows + column] = value
        graph[rows + column][row] = value
    return graph


def _prolonged(graph: Graph, start: int) -> list[int]:
    """Go on from a node until one comes again (then the cycle) or none is left (then the path)."""
    path, place, last = [start], {start: 0}, -1
    while True:
        here = path[-1]
        ahead = next((node for node in graph[here] if node != last), None)
        if ahead is None:
            return path
        if ahead in place:
            return [*path[place[ahead] :], ahead]
        place[ahead] = len(path)
        path.append(ahead)
        last = here


def _shifted(graph: Graph, walk: list[int], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Move rests along a walk, up and down by turns, until one of them is 0 or a whole record.

    Up by ``up`` with the chance down / (up + down), otherwise down by ``down``: nothing is expected
    to change. Returns the entries that became a whole record; those and the ones that became 0
    leave the graph.
    """
    entries = list(pairwise(walk))
    rests = [graph[here][there] for here, there in entries]
    rising, falling = rests[0::2], rests[1::2]
    up = min([ONE - rest for rest in rising] + falling)
    down = min(rising + [ONE - rest for rest in falling])
    step = up if rng.integers(0, up + down) < down else -down
    full = []
    for place, (here, there) in enumerate(entries):
        rest = rests[place] + (-step if place % 2 else step)
        if 0 < rest < ONE:
            graph[here][there] = graph[there][here] = rest
            continue
        del graph[here][there], graph[there][here]
        if rest:
            full.append((here, there))
    return full
