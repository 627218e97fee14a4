"""The channels that distort least for a policy, with more and more room left for a draw."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import floor, log10

import numpy as np

from anonymizer.channels import (
    Extras,
    OptimalChannel,
    Sensitive,
    best_ranges,
    is_convex,
    least_distortion,
)
from anonymizer.counts.counts import Floats
from anonymizer.errors import PolicyUnreachableError
from anonymizer.kernels.terms import xlogx
from anonymizer.masking.candidate import Candidate, Piece, assembled, without_rare
from anonymizer.masking.options import Pram
from anonymizer.masking.part import Block, Part, Symbol, distinct
from anonymizer.privacy import AlphaKAnonymity, KAnonymity, PrivacyModel, attributes_of

__all__ = ["MARGINS", "pram", "tightened"]

MARGINS = (0.0, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.45, 0.6, 0.8)
"""Shares of the way from the limits of a policy to no information that are kept free, as tried."""

ROUNDS = 6
"""How often rare symbols are taken out of the alphabet and the rest solved for again."""

TRACE = 5
"""Records: symbols expected for fewer are taken out first, they hold next to nothing up."""


def pram(
    part: Part, recoding: Pram, models: Sequence[PrivacyModel], least: float
) -> Iterator[Candidate]:
    """Channels of least distortion whose symbols all satisfy the policy, with wider margins.

    Models without a convex form and those of class sizes are left to the drawn table, beside that
    no symbol is expected for fewer than ``least`` records.

    Parameters
    ----------
    part
        What is masked.
    recoding
        Its options.
    models
        The policy.
    least
        Every symbol is expected for so many records.

    Raises
    ------
    PolicyUnreachableError
        When no channel satisfies the policy.
    """
    convex = [_of_shares(model) for model in models if is_convex(model)]
    part.require_few(max(len(block.rows) for block in part.blocks))
    symbols = [alphabet(block, recoding, convex) for block in part.blocks]
    part.require_few(max(map(len, symbols)))
    bounds: list[float | None] | None = None
    for margin in MARGINS:
        policy = [tightened(model, part, margin) for model in convex]
        asked = policy, recoding, least
        try:
            pairs = zip(part.blocks, symbols, strict=True)
            solved = [_without_trifles(block, some, *asked) for block, some in pairs]
        except PolicyUnreachableError:
            if bounds is None:
                raise
            return  # what is tighter than a margin out of reach is out of reach
        if bounds is None:
            bounds = [bound for _, bound in solved]
            if len(bounds) > 1 and not all(model.per_class for model in convex):
                # What a model allows of the whole table was asked of every block: that will do,
                # but channels that share it out otherwise may distort less.
                bounds = [None for _ in bounds]
            # Symbols that are too rare now would be so at a wider margin, give or take a few.
            symbols = [piece.symbols for piece, _ in solved]
        known = zip(solved, bounds, strict=True)
        pieces = [replace(piece, lower_bound=bound) for (piece, _), bound in known]
        yield assembled(part, pieces, margin, exact=recoding.independent)


def _of_shares(model: PrivacyModel) -> PrivacyModel:
    """What a model asks of shares alone, of one that is about the size of a class too."""
    return replace(model, k=1) if isinstance(model, AlphaKAnonymity) else model


def tightened(model: PrivacyModel, part: Part, margin: float) -> PrivacyModel:
    """A model whose threshold lies a share of the way from its own to what the whole table has."""
    if not margin or not model.sensitive:
        return model
    crossed = part.crossed
    whole = crossed.counts(crossed.records.sum(axis=0)[None])
    values = [
        float(model.measure(whole.about(attribute))[0])
        for attribute in attributes_of(model, whole.sensitive)
    ]
    reachable = min(values) if model.at_least else max(values)
    moved = model.threshold + margin * (reachable - model.threshold)
    return replace(model, **{model.bounded_by: moved})  # type: ignore[type-var]


def _without_trifles(
    block: Block,
    symbols: list[Symbol],
    models: Sequence[PrivacyModel],
    recoding: Pram,
    least: float,
) -> tuple[Piece, float]:
    """The best channel of a block without rare symbols, and the bound of the one with all.

    Symbols that would be released too rarely are left out, and the rest is solved for again.
    """
    found = _least(block, symbols, models, recoding)
    bound = found.lower_bound
    for again in range(ROUNDS):
        expected = block.sizes @ found.channel
        if recoding.invariant or not (expected < least).any():
            break
        traces = expected < min(TRACE, least)
        rare = traces if traces.any() and not again else expected < least
        rare[expected.argmax()] = False
        symbols = [symbol for symbol, out in zip(symbols, rare, strict=True) if not out]
        found = _least(block, symbols, models, recoding)
    piece = Piece(block, found.channel, symbols)
    return (piece if recoding.invariant else without_rare(piece, least)), bound


def alphabet(block: Block, recoding: Pram, models: Sequence[PrivacyModel]) -> list[Symbol]:
    """What may be released in a block: what was stated, or the combinations that occur in it."""
    attributes = block.part.attributes
    if recoding.invariant:
        return block.values
    if recoding.alphabet is None:
        return [*block.values, *_means(block, models)]
    places = {name: place for place, name in enumerate(block.part.names)}
    symbols = {
        attribute.name: list(recoding.alphabet[attribute.name])
        if attribute.name in recoding.alphabet
        else distinct([value[places[attribute.name]] for value in block.values])[0]
        for attribute in attributes
    }
    return block.released(block.part.crossed_symbols(symbols))


def _means(block: Block, models: Sequence[PrivacyModel]) -> list[Symbol]:
    """The means of the best ranges, rounded, where a single attribute of numbers is masked.

    With them no partition into ranges is better than the channel of least distortion.
    """
    names = list(block.part.crossed.kinds)
    (attribute, *others) = block.part.attributes
    if others or attribute.kind != "squared" or not names:
        return []
    place = block.part.names.index(attribute.name)
    numbers = attribute.numbers([value[place] for value in block.values])
    about = [model for model in models if model.sensitive and model.attribute in (None, names[0])]
    per_class = [
        replace(model, attribute=None)  # type: ignore[type-var]
        for model in about
        if model.per_class
    ]
    crossed = block.part.crossed
    prior, known = crossed.margins[names[0]], crossed.known[names[0]]
    points, point_of = np.unique(numbers, return_inverse=True)  # 1 and 1.00 are one number
    joint = np.zeros((len(points), len(prior)), np.int64)
    np.add.at(joint, point_of, block.joint(names[0]))
    try:
        ranges = best_ranges(joint, points, privacy=per_class, prior=prior, sensitive_values=known)
    except PolicyUnreachableError:
        return []
    digits = 2 - floor(log10(np.ptp(points) / len(points))) if len(points) > 1 else 0
    rounded = np.round(ranges.centroids, digits)
    return block.released([(_plain(mean),) for mean in rounded if mean not in numbers])


def _plain(number: float) -> int | float:
    """A number as it is released: whole ones without a point."""
    return int(number) if number == int(number) else float(number)


def _least(
    block: Block, symbols: Sequence[Symbol], models: Sequence[PrivacyModel], recoding: Pram
) -> OptimalChannel:
    """The channel of least distortion over some symbols.

    k-anonymity asks two things: records in every class, which the drawn table is held to, and that
    whoever knows the channel cannot tell whose record it is any better. The second takes a cone for
    every entry, and nearly always holds by itself: it is asked for where it does not.
    """
    distortion = block.distances(symbols)
    others = [model for model in models if not isinstance(model, KAnonymity)]
    sizes = [model for model in models if isinstance(model, KAnonymity)]
    if others or not sizes:
        found = _solved(block, distortion, others, recoding)
        if all(_in_question(found.channel, block.sizes) >= model.k for model in sizes):
            return found
    return _solved(block, distortion, models, recoding)


def _solved(
    block: Block, distortion: Floats, models: Sequence[PrivacyModel], recoding: Pram
) -> OptimalChannel:
    crossed = block.part.crossed
    sensitive = [
        Sensitive.of(
            block.joint(name),
            crossed.margins[name],
            crossed.known[name],
            name,
        )
        for name in crossed.kinds
    ]
    # Where nothing is sensitive all records count as having the same value.
    sensitive = sensitive or [Sensitive.of(block.sizes[:, None])]
    extras = Extras(recoding.invariant, recoding.epsilon)
    return least_distortion(sensitive, distortion, models, extras, float(block.sizes.sum()))


def _in_question(channel: Floats, sizes: np.ndarray) -> float:
    """2^H(record|y) of the symbol that leaves fewest records in question.

    The n_x records of a value being alike: log M_y - sum_x n_x q log q / M_y, M_y = sum_x n_x q.
    """
    released = channel[:, (sizes @ channel) > 0]
    expected = sizes @ released
    bits = np.log2(expected) - sizes @ xlogx(released) / expected
    return float(np.exp2(bits.min()))
