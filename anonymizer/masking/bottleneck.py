"""Synthetic values that keep as much about a sensitive attribute as a policy lets them."""

from collections.abc import Iterator

import numpy as np

from anonymizer.information import mutual_information
from anonymizer.masking.attribute import Floats
from anonymizer.masking.candidate import Candidate, Piece, assembled, without_rare
from anonymizer.masking.part import Block, Part, Symbol
from anonymizer.perturbation import bottleneck_path, require_room

__all__ = ["BETAS", "bottleneck"]

BETAS = tuple(float(beta) for beta in np.geomspace(1000, 1, 31))
"""What a bit about the sensitive attribute is worth in bits about the true value, in the order that
is tried: at 1 nothing is told of either."""


def bottleneck(part: Part, rate: float | None, least: float) -> Iterator[Candidate]:
    """Channels of the information bottleneck, telling less and less of the true values.

    Problem 4 of Domingo-Ferrer and Rebollo-Monedero (2009): the most I(X';W) for what X' may tell
    of X. A symbol is released as the value that stands nearest to those it is drawn for.

    Parameters
    ----------
    part
        What is masked.
    rate
        At most so many bits about the true values; None for any number of them.
    least
        Every symbol is expected for so many records.
    """
    part.require_few(max(len(block.rows) for block in part.blocks))
    paths = [_path(block) for block in part.blocks]
    for step in range(len(BETAS)):
        pieces = [path[step] for path in paths]
        pieces = [without_rare(piece, least) for piece in pieces]
        candidate = assembled(part, pieces)
        if rate is None or _rate(candidate) <= rate:
            yield candidate


def _path(block: Block) -> list[Piece]:
    """The channels of a block along ``BETAS``, symbols being values of the block."""
    require_room("the bottleneck of one block", (len(block.rows),) * 2)
    apart = block.distances(block.values)
    return [_named(block, found.channel, apart) for found in bottleneck_path(block.records, BETAS)]


def _named(block: Block, matrix: Floats, apart: Floats) -> Piece:
    """A channel whose symbols go by the values that cost least for those they stand for."""
    stands_for = matrix * block.sizes[:, None]
    nearest = (apart.T @ stands_for).argmin(axis=0)
    symbols: list[Symbol] = [block.values[row] for row in nearest]
    return Piece(block, np.asarray(matrix), symbols)


def _rate(candidate: Candidate) -> float:
    """I(X;X') in bits."""
    joint = candidate.matrix * candidate.part.crossed.sizes[:, None]
    return mutual_information(joint)
