"""A channel that a release might be drawn from, and what is expected of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from anonymizer.counts.counts import Floats
from anonymizer.masking.contingency import key_of
from anonymizer.masking.part import Block, Part, Symbol

__all__ = ["Candidate", "Piece", "assembled", "without_rare"]


@dataclass(frozen=True, eq=False)
class Piece:
    """A channel of one block.

    Parameters
    ----------
    block
        The block.
    matrix
        q(y|x), shape (n, k).
    symbols
        What is released, k combinations of values.
    lower_bound
        What no channel that satisfies the same models has less expected distortion than; None
        where that is not known.
    certified
        Whether the distortion is proven to be the least.
    """

    block: Block
    matrix: Floats
    symbols: list[Symbol]
    lower_bound: float | None = None
    certified: bool = False

    @property
    def distortion(self) -> float:
        """E d(X, Y) over the records of the block."""
        share = self.block.sizes / self.block.sizes.sum()
        return float(share @ (self.matrix * self.block.distances(self.symbols)).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A channel of all blocks of a part.

    Parameters
    ----------
    part
        What it is about.
    matrix
        q(y|x), shape (rows, symbols): 0 between blocks.
    distances
        d(x, y), same shape; 0 between blocks, where it does not matter.
    symbols
        What is released.
    distortion
        Expected.
    lower_bound, certified
        As of a piece, over all of them.
    margin
        The share of the way from the limits of the policy to no information at all that was kept
        free; None where there is no such thing.
    """

    part: Part = field(repr=False)
    matrix: Floats = field(repr=False)
    distances: Floats = field(repr=False)
    symbols: list[Symbol] = field(repr=False)
    distortion: float
    lower_bound: float | None
    certified: bool
    margin: float | None

    @property
    def forgetting(self) -> "Candidate":
        """The channel, without the records that it was found for."""
        return replace(self, part=self.part.forgetting)

    @property
    def law(self) -> Floats:
        """Expected records by symbol and stratum, shape (symbols, strata)."""
        return np.asarray(self.matrix.T @ self.part.crossed.records)


TRACE = 2.0**-36
"""Chances below are none: they are less than what draws resolve."""


def assembled(
    part: Part, pieces: Sequence[Piece], margin: float | None = None, exact: bool = False
) -> Candidate:
    """The channel that the pieces of all blocks make.

    ``exact``: with all of its chances, however small, since an epsilon was promised of them.
    """
    rows = len(part.crossed.values)
    matrix = np.zeros((rows, sum(len(piece.symbols) for piece in pieces)))
    distances = np.zeros_like(matrix)
    symbols: list[Symbol] = []
    for piece in pieces:
        columns = np.arange(len(symbols), len(symbols) + len(piece.symbols))
        chances = piece.matrix if exact else _certain(piece.matrix)
        matrix[np.ix_(piece.block.rows, columns)] = chances
        distances[np.ix_(piece.block.rows, columns)] = piece.block.distances(piece.symbols)
        symbols += piece.symbols
    share = np.array([piece.block.sizes.sum() for piece in pieces]) / part.crossed.sizes.sum()
    bounds = [piece.lower_bound for piece in pieces]
    known = [bound for bound in bounds if bound is not None]
    return Candidate(
        part,
        matrix,
        distances,
        symbols,
        float(share @ [piece.distortion for piece in pieces]),
        float(share @ known) if len(known) == len(pieces) else None,
        all(piece.certified for piece in pieces),
        margin,
    )


def _certain(matrix: Floats) -> Floats:
    """A channel without chances that are never drawn: epsilon would take them for real."""
    kept = np.where(matrix < TRACE, 0.0, matrix)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def without_rare(piece: Piece, least: float) -> Piece:
    """A channel whose symbols are released too rarely for others instead: for the nearest ones.

    The rarest first, until each is expected at least so often, or one is left. Whatever is done to
    a released symbol knowing it alone, nothing more is told of who has it.
    """
    matrix, symbols = merged_alike(piece.matrix, piece.symbols)
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
    kept = [symbol for symbol, stays in zip(symbols, left, strict=True) if stays]
    return Piece(piece.block, matrix[:, left], kept)


def merged_alike(matrix: Floats, symbols: Sequence[Symbol]) -> tuple[Floats, list[Symbol]]:
    """A channel with the symbols that read alike made one; the matrix is a new one."""
    keys = [key_of(symbol) for symbol in symbols]
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    order = sorted(first.values())
    number = {keys[place]: column for column, place in enumerate(order)}
    merged = np.zeros((len(matrix), len(order)))
    for place, key in enumerate(keys):
        merged[:, number[key]] += matrix[:, place]
    return merged, [symbols[place] for place in order]
