"""Synthetic values that keep as much about a sensitive attribute as a policy lets them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.channels import bottleneck_path, require_room
from anonymizer.information.entropy import mutual_information
from anonymizer.kernels.arrays import Floats
from anonymizer.kernels.terms import xlogx
from anonymizer.masking.part import Block, CandidateChannel, Part, Piece, assembled
from anonymizer.privacy import PrivacyModel

if TYPE_CHECKING:  # the options import what carries them out when a table is fitted
    from anonymizer.masking.options import Bottleneck

BETAS = tuple(float(beta) for beta in np.geomspace(100, 1.25, 10))
"""What a bit about the sensitive attribute is worth in bits about the true value, as tried."""


def bottleneck(
    part: Part, recoding: Bottleneck, models: Sequence[PrivacyModel], least: float
) -> Iterator[CandidateChannel]:
    """Channels of the information bottleneck whose symbols satisfy a policy, best ones first.

    Problem 4 of Domingo-Ferrer and Rebollo-Monedero (2009): the most I(X';W) for what X' may
    disclose of X, at most ``rate`` bits. Symbols that break the policy, or are expected for fewer
    than ``least`` records, are merged with those that lose least by it, as in the agglomerative
    bottleneck (Slonim and Tishby 1999): no optimum is claimed.
    A symbol is released as the value that costs least for those it stands for.
    """
    part.require_few()
    paths = [_path(block, models, least) for block in part.blocks]
    one_for_all = [_named(block, np.ones((len(block.rows), 1))) for block in part.blocks]
    pieces = [*zip(*paths, strict=True), one_for_all]
    candidates = [assembled(part, each) for each in pieces]
    sizes, rate = part.contingency.sizes[:, None], recoding.rate
    few = [c for c in candidates if rate is None or mutual_information(c.matrix * sizes) <= rate]
    # Most I(X';W) first, of all sensitive attributes together.
    yield from sorted(few, key=lambda c: mutual_information(c.expected), reverse=True)


def _path(block: Block, models: Sequence[PrivacyModel], least: float) -> list[Piece]:
    """The channels of a block along ``BETAS``, symbols being values of the block."""
    require_room("the bottleneck of one block", (len(block.rows),) * 2)
    found = bottleneck_path(block.records, BETAS)
    return [_named(block, _merged(block, np.asarray(b.channel), models, least)) for b in found]


def _merged(block: Block, matrix: Floats, models: Sequence[PrivacyModel], least: float) -> Floats:
    """Merge symbols that must not be released into others."""
    matrix = matrix[:, (block.sizes @ matrix) > 0]
    law = matrix.T @ block.records
    while len(law) > 1:
        expected = np.rint(law).astype(np.int64)
        wrong = ~block.part.contingency.acceptable(expected, models) | (law.sum(axis=1) < least)
        if not wrong.any():
            break
        rarest = int(np.where(wrong, law.sum(axis=1), np.inf).argmin())
        nearest = _nearest(law, rarest)
        law[nearest] += law[rarest]
        matrix[:, nearest] += matrix[:, rarest]
        law, matrix = np.delete(law, rarest, axis=0), np.delete(matrix, rarest, axis=1)
    return matrix


def _nearest(law: Floats, symbol: int) -> int:
    """The symbol that loses least information about the sensitive values when merged with one.

    What is lost is N I of the two alone: -n H of both together and of each by itself.
    """
    together = law + law[symbol]
    lost = _certainty(law) + _certainty(law[symbol]) - _certainty(together)
    lost[symbol] = np.inf
    return int(lost.argmin())


def _certainty(law: Floats) -> Floats:
    return np.asarray(xlogx(law).sum(axis=-1) - xlogx(law.sum(axis=-1)))


def _named(block: Block, matrix: Floats) -> Piece:
    """Name symbols by the values of least cost for the true values they replace.

    A value names one symbol alone; symbols of most records choose first.
    """
    stands_for = matrix * block.sizes[:, None]
    cost = block.distances(block.values).T @ stands_for
    named = np.empty(matrix.shape[1], np.intp)
    for symbol in np.argsort(-stands_for.sum(axis=0), kind="stable"):
        named[symbol] = cost[:, symbol].argmin()
        cost[named[symbol]] = np.inf
    return Piece(block, matrix, [block.values[row] for row in named])
