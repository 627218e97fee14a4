"""The channels that distort least for a policy, with more and more room left for a draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import floor, log10, nan
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.channels import (
    Extras,
    OptimalChannel,
    Sensitive,
    best_ranges,
    is_convex,
    least_distortion,
)
from anonymizer.errors import PolicyUnreachableError
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.kernels.terms import xlogx
from anonymizer.masking.contingency import distinct
from anonymizer.masking.part import (
    Block,
    CandidateChannel,
    Part,
    Piece,
    Symbol,
    assembled,
    plain,
    without_rare,
)
from anonymizer.privacy import AlphaKAnonymity, KAnonymity, PrivacyModel, attributes_of, measures_of

if TYPE_CHECKING:  # the options import what carries them out when a table is fitted
    from anonymizer.masking.options import Pram

MARGINS = (0.0, 0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.3, 0.45, 0.6, 0.8)
"""Shares of the way from the limits of a policy to no information that are kept free, as tried."""

ROUNDS = 6
"""How often rare symbols are taken out of the alphabet and the rest solved for again."""

TRACE = 5
"""Records: symbols expected for fewer are taken out first, they hold next to nothing up."""


def pram(
    part: Part, recoding: Pram, models: Sequence[PrivacyModel], least: float
) -> Iterator[CandidateChannel]:
    """Channels of least distortion whose symbols all satisfy the policy, with wider margins.

    Models without a convex form and those of class sizes are left to the drawn table, but that no
    symbol is expected for fewer than ``least`` records.
    """
    # The convex models are about shares alone: class sizes are held by the drawn table.
    convex = [
        replace(model, k=1) if isinstance(model, AlphaKAnonymity) else model
        for model in models
        if is_convex(model)
    ]
    part.require_few()
    symbols = [_alphabet(block, recoding, convex) for block in part.blocks]
    part.require_few(max(map(len, symbols)))
    bounds: list[float] = []
    for margin in MARGINS:
        policy = [_tightened(model, part, margin) for model in convex]
        try:
            pieces = [
                _without_trifles(block, some, policy, recoding, least)
                for block, some in zip(part.blocks, symbols, strict=True)
            ]
        except PolicyUnreachableError:
            if not bounds:
                raise
            return  # what is tighter than a margin out of reach is out of reach
        if not bounds:
            bounds = [piece.lower_bound for piece in pieces]
            if len(bounds) > 1 and not all(model.per_class for model in convex):
                # Every block keeps to what a model allows the whole table: that is enough, but
                # channels that share it out otherwise may distort less.
                bounds = [nan] * len(bounds)
            # Symbols that are too rare now would be so at a wider margin, give or take a few.
            symbols = [piece.symbols for piece in pieces]
        known = zip(pieces, bounds, strict=True)
        pieces = [replace(piece, lower_bound=bound) for piece, bound in known]
        yield assembled(part, pieces, margin, exact=recoding.independent)


def _tightened(model: PrivacyModel, part: Part, margin: float) -> PrivacyModel:
    """A model whose threshold lies a share of the way from its own to what the whole table has."""
    if not margin or not model.sensitive:
        return model
    whole = part.contingency.counts(part.contingency.records.sum(axis=0)[None])
    values = [
        float(measures_of(model, whole.about(attribute))[0])
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
) -> Piece:
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
    kept = piece if recoding.invariant else without_rare(piece, least)
    return replace(kept, lower_bound=bound)


def _alphabet(block: Block, recoding: Pram, models: Sequence[PrivacyModel]) -> list[Symbol]:
    """Return the symbols of a block: those requested, or the combinations that occur in it."""
    given = recoding.alphabet
    if recoding.invariant:
        return block.values
    if given is None:
        return [*block.values, *_means(block, models)]
    occurring = dict(zip(block.part.names, zip(*block.values, strict=True), strict=True))
    symbols = {
        attribute.name: list(given.get(attribute.name) or distinct(occurring[attribute.name])[0])
        for attribute in block.part.attributes
    }
    return block.with_kept(block.part.combinations(symbols))


def _means(block: Block, models: Sequence[PrivacyModel]) -> list[Symbol]:
    """The means of the best ranges, rounded, where a single attribute of numbers is drawn.

    With them no partition into ranges is better than the channel of least distortion.
    """
    contingency, (attribute, *others) = block.part.contingency, block.part.attributes
    if others or attribute.kind != "squared" or not contingency.codes:
        return []
    name = next(iter(contingency.codes))
    place = block.part.names.index(attribute.name)
    numbers = attribute.numbers([value[place] for value in block.values])
    per_class = [
        replace(model, attribute=None)  # type: ignore[type-var]
        for model in models
        if model.sensitive and model.per_class and model.attribute in (None, name)
    ]
    prior, known = contingency.margins[name], contingency.known[name]
    points, point_of = np.unique(numbers, return_inverse=True)  # 1 and 1.00 are one number
    joint = np.zeros((len(points), len(prior)), np.int64)
    np.add.at(joint, point_of, block.joint(name))
    try:
        ranges = best_ranges(joint, points, privacy=per_class, prior=prior, sensitive_values=known)
    except PolicyUnreachableError:
        return []
    digits = 2 - floor(log10(np.ptp(points) / len(points))) if len(points) > 1 else 0
    rounded = np.round(ranges.centroids, digits)
    return block.with_kept([(plain(mean),) for mean in rounded if mean not in numbers])


def _least(
    block: Block, symbols: Sequence[Symbol], models: Sequence[PrivacyModel], recoding: Pram
) -> OptimalChannel:
    """The channel of least distortion over some symbols.

    k-anonymity requires two things: records in every class, which the drawn table is held to, and
    that whoever knows the channel cannot tell whose record it is any better. The second takes a
    cone for every entry, and nearly always holds by itself: it is added where it does not.
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
    table = block.part.contingency
    # Where nothing is sensitive all records count as having the same value.
    sensitive = [
        Sensitive.of(block.joint(name), table.margins[name], table.known[name], name)
        for name in table.codes
    ] or [Sensitive.of(block.sizes[:, None])]
    extras = Extras(recoding.invariant, recoding.epsilon)
    return least_distortion(sensitive, distortion, models, extras, float(block.sizes.sum()))


def _in_question(channel: Floats, sizes: Ints) -> float:
    """2^H(record|y) of the symbol that leaves fewest records in question.

    The n_x records of a value being alike: log M_y - sum_x n_x q log q / M_y, M_y = sum_x n_x q.
    """
    released = channel[:, (sizes @ channel) > 0]
    expected = sizes @ released
    bits = np.log2(expected) - sizes @ xlogx(released) / expected
    return float(np.exp2(bits.min()))
