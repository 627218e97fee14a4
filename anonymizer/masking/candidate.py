"""A channel that a release might be drawn from, and what is expected of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from anonymizer.kernels.arrays import Floats
from anonymizer.masking.contingency import Key, key_of
from anonymizer.masking.part import Block, Part, Symbol

TRACE = 2.0**-36
"""Chances below are none: they are less than what draws resolve."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A channel of one block: q(y|x), shape (n, k), of k symbols, combinations of values.

    No channel that satisfies the same models has an expected distortion below ``lower_bound``; NaN
    where that is not known.
    """

    block: Block
    matrix: Floats
    symbols: list[Symbol]
    lower_bound: float = nan


@dataclass(frozen=True, eq=False)
class CandidateChannel:
    """A channel of all blocks of a part: q(y|x) and d(x, y), shape (rows, symbols).

    Both are 0 between blocks. ``lower_bound``: as of a piece, over all of them. ``margin``: the
    share of the way from the limits of the policy to no information at all that was kept free; None
    where there is no such thing.
    """

    part: Part = field(repr=False)
    matrix: Floats = field(repr=False)
    distances: Floats = field(repr=False)
    symbols: list[Symbol] = field(repr=False)
    lower_bound: float
    margin: float | None

    @property
    def expected(self) -> Floats:
        """Expected records by symbol and stratum, shape (symbols, strata)."""
        return np.asarray(self.matrix.T @ self.part.contingency.records)

    @property
    def distortion(self) -> float:
        """E d(X, Y) over the records."""
        sizes = self.part.contingency.sizes
        return float(sizes @ (self.matrix * self.distances).sum(axis=1) / sizes.sum())


def assembled(
    part: Part, pieces: Sequence[Piece], margin: float | None = None, exact: bool = False
) -> CandidateChannel:
    """The channel that the pieces of all blocks make.

    ``exact``: with all of its chances, however small, since an epsilon was promised of them.
    """
    rows = len(part.contingency.values)
    matrix = np.zeros((rows, sum(len(piece.symbols) for piece in pieces)))
    distances = np.zeros_like(matrix)
    symbols: list[Symbol] = []
    for piece in pieces:
        columns = np.arange(len(symbols), len(symbols) + len(piece.symbols))
        place = np.ix_(piece.block.rows, columns)
        # Chances that are never drawn would count for an epsilon.
        chances = piece.matrix if exact else np.where(piece.matrix < TRACE, 0.0, piece.matrix)
        matrix[place] = chances if exact else chances / chances.sum(axis=1, keepdims=True)
        distances[place] = piece.block.distances(piece.symbols)
        symbols += piece.symbols
    share = np.array([piece.block.sizes.sum() for piece in pieces]) / part.contingency.sizes.sum()
    bound = float(share @ [piece.lower_bound for piece in pieces])
    return CandidateChannel(part, matrix, distances, symbols, bound, margin)


def without_rare(piece: Piece, least: float) -> Piece:
    """A channel whose symbols are released too rarely for others instead: for the nearest ones.

    The rarest first, until each is expected at least so often, or one is left. Whatever is done to
    a released symbol knowing it alone discloses no more about who has it.
    """
    number: dict[Key, int] = {}  # symbols that read alike are one
    columns = [number.setdefault(key_of(symbol), len(number)) for symbol in piece.symbols]
    symbols = [piece.symbols[columns.index(column)] for column in number.values()]
    matrix = np.zeros((len(piece.matrix), len(number)))
    np.add.at(matrix.T, columns, piece.matrix.T)
    apart = piece.block.distances(symbols, symbols)
    expected = piece.block.sizes @ matrix
    left = np.ones(len(symbols), bool)
    while left.sum() > 1:
        rarest = int(np.where(left, expected, np.inf).argmin())
        if expected[rarest] >= least:
            break
        left[rarest] = False
        nearest = int(np.where(left, apart[rarest], np.inf).argmin())
        matrix[:, nearest] += matrix[:, rarest]
        expected[nearest] += expected[rarest]
    return Piece(piece.block, matrix[:, left], [symbols[place] for place in np.flatnonzero(left)])
