"""Symbols dealt out at random among records that are alike, held one by one or counted.

What is drawn is how many records of each kind get each symbol. Which of them do is left to chance:
records one by one are shuffled, and of those that a row stands for the number that gets each symbol
is drawn without replacement, which is the same law.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from anonymizer.counts.schema import T
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Ints
from anonymizer.masking.contingency import Contingency
from anonymizer.tables import engine

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
        """The table with a row for each piece; its index is that of the table's rows."""
        if self.rows is None:
            return table
        return replace(engine.records_of(table, self.rows), sizes=self.sizes)


def dealt(tables: Sequence[Contingency], kinds: Sequence[Ints], rng: np.random.Generator) -> Dealt:
    """Deal out what was drawn for each part of a table.

    ``kinds``, of each part: row, stratum, symbol, and the records of that kind, shape (kinds, 4).
    """
    pairs = zip(tables, kinds, strict=True)
    if tables[0].row_sizes is None:
        return Dealt([_one_by_one(*each, rng) for each in pairs])
    sizes = tables[0].row_sizes
    rows, symbol_of = np.arange(len(sizes)), []
    for table, some in pairs:
        piece, symbol, sizes = _by_count(table, some, rows, sizes, rng)
        rows, symbol_of = rows[piece], [*(known[piece] for known in symbol_of), symbol]
    return Dealt(symbol_of, rows, sizes)


def _one_by_one(table: Contingency, kinds: Ints, rng: np.random.Generator) -> Codes:
    """The symbol of each record, those alike being dealt theirs at random, shape (records,)."""
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
    """The same, drawing how many records of each piece of a cell get each symbol."""
    found = [np.zeros((0, 3), np.int64)]
    for pieces, symbols in zip(_alike(cell_of), _alike(kind_of), strict=True):
        split = _split(sizes[pieces], drawn[symbols, 1], rng)
        piece, symbol = np.nonzero(split)
        found.append(np.column_stack([pieces[piece], drawn[symbols, 0][symbol], split[split > 0]]))
    piece, symbol, records = np.concatenate(found).T
    return piece, symbol, records


def _alike(cell_of: Codes) -> Iterator[Codes]:
    """The places of each cell, in the order of the cells."""
    order = np.argsort(cell_of, kind="stable")
    ends = np.flatnonzero(np.diff(cell_of[order])) + 1
    return iter(np.split(order, ends)) if len(order) else iter(())


def _split(sizes: Ints, drawn: Ints, rng: np.random.Generator) -> Ints:
    """Records by piece and symbol, of these margins, as if they were dealt out one by one."""
    if len(sizes) < len(drawn):
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
