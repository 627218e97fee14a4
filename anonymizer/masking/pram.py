"""The channels that distort least for a policy, with more and more room left for a draw."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from anonymizer.errors import PolicyUnreachableError
from anonymizer.masking.candidate import Candidate, Piece, assembled, without_rare
from anonymizer.masking.options import Masking
from anonymizer.masking.part import Block, Part
from anonymizer.perturbation import is_convex
from anonymizer.privacy import PrivacyModel, asked

__all__ = ["MARGINS", "pram", "tightened"]

MARGINS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.45, 0.6, 0.8)
"""Shares of the way from the limits of a policy to no information that are kept free, as tried."""

ROUNDS = 6
"""How often rare symbols are taken out of the alphabet and the rest solved for again."""

TRACE = 5
"""Records: symbols expected for fewer are taken out first, they hold next to nothing up."""


def pram(
    part: Part, masking: Masking, models: Sequence[PrivacyModel], least: float
) -> Iterator[Candidate]:
    """Channels of least distortion whose symbols all satisfy the policy, with wider margins.

    Models without a convex form and those of class sizes are left to the drawn table, beside that
    no symbol is expected for fewer than ``least`` records.

    Parameters
    ----------
    part
        What is masked.
    masking
        What was asked for.
    models
        The policy.
    least
        Every symbol is expected for so many records.

    Raises
    ------
    PolicyUnreachableError
        When no channel satisfies the policy.
    """
    for block in part.blocks:
        part.require_few(len(_alphabet(block, masking)))
    bounds: list[float] | None = None
    for margin in MARGINS:
        policy = [tightened(model, part, margin) for model in models if is_convex(model)]
        try:
            solved = [_Solved.of(block, masking, policy, least) for block in part.blocks]
        except PolicyUnreachableError:
            if margin == 0:
                raise
            return  # what is tighter than a margin out of reach is out of reach
        if bounds is None:
            bounds = [each.lower_bound for each in solved]
        pieces = [
            replace(each.piece, lower_bound=bound)
            for each, bound in zip(solved, bounds, strict=True)
        ]
        yield assembled(part, pieces, margin)


def tightened(model: PrivacyModel, part: Part, margin: float) -> PrivacyModel:
    """A model whose threshold lies a share of the way from its own to what the whole table has."""
    if not margin or not model.sensitive:
        return model
    crossed = part.crossed
    whole = crossed.counts(crossed.records.sum(axis=0)[None])
    values = [
        float(model.measure(whole.about(attribute))[0])
        for attribute in asked(model, whole.sensitive)
    ]
    reachable = min(values) if model.at_least else max(values)
    moved = model.threshold + margin * (reachable - model.threshold)
    return replace(model, **{model.bounded_by: moved})  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class _Solved:
    """The best channel of a block without rare symbols, and the bound with all of the alphabet."""

    piece: Piece
    lower_bound: float

    @classmethod
    def of(
        cls, block: Block, masking: Masking, models: Sequence[PrivacyModel], least: float
    ) -> "_Solved":
        """Solve, leave out what would be released too rarely, and solve again."""
        symbols = _alphabet(block, masking)
        found = _least(block, symbols, models, masking)
        bound = found.lower_bound
        for round_ in range(ROUNDS):
            expected = block.sizes @ found.channel
            rare = expected < (min(TRACE, least) if round_ == 0 else least)
            if masking.invariant or not rare.any():
                break
            rare[expected.argmax()] = False
            symbols = [symbol for symbol, out in zip(symbols, rare, strict=True) if not out]
            found = _least(block, symbols, models, masking)
        piece = Piece(block, found.channel, symbols)
        return cls(piece if masking.invariant else without_rare(piece, least), bound)
