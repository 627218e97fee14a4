"""The channels that each method tries: least distortion, noise, the information bottleneck."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from math import floor, log10, nan
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.channels import (
    Extras,
    OptimalChannel,
    Sensitive,
    best_ranges,
    bottleneck_path,
    gaussian_channel,
    is_convex,
    least_distortion,
    require_room,
)
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.information.entropy import mutual_information
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.kernels.terms import xlogx
from anonymizer.masking.part import (
    Block,
    CandidateChannel,
    MaskedAttribute,
    Part,
    Piece,
    Symbol,
    assembled,
    distinct,
    plain,
    without_rare,
)
from anonymizer.privacy import AlphaKAnonymity, KAnonymity, PrivacyModel, attributes_of, measures_of

if TYPE_CHECKING:
    from anonymizer.masking.options import Bottleneck, Noise, Pram


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


STEPS = (
    *(0.0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.125, 0.15, 0.18, 0.22, 0.26),
    *(0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0),
)
"""Distortions that are tried, as shares of the variance: at 1 everybody gets the mean."""


FINEST = 2.0**40
"""Steps from 0: further out, floats would blur the points of a grid."""


def noise(
    part: Part, recoding: Noise, models: Sequence[PrivacyModel], least: float
) -> Iterator[CandidateChannel]:
    """Channels of the Gaussian rule of a table's attributes, with less and less information.

    Y = (1 - d) X + d mu + N(0, d (1 - d) sigma^2), rounded to multiples of the grid, which distorts
    least for what it discloses of a W that is Gaussian together with X (Rebollo-Monedero et al.
    2008, Eq. 5). Attributes get noise independently. The grid is a tenth of the standard deviation
    where the options have none. The policy is left to the drawn table, but that every symbol is
    expected for ``least`` records.
    """
    grids = recoding.grid or {}
    axes = [_Axis(part, attribute, grids.get(attribute.name)) for attribute in part.attributes]
    symbols = part.combinations({axis.name: axis.symbols for axis in axes})
    require_room("the channel of the noise", (len(part.contingency.values), len(symbols)))
    for d in STEPS:
        matrix = reduce(_both, (axis.channel(d)[axis.of_row] for axis in axes))
        pieces = [Piece(b, matrix[b.rows], b.with_kept(symbols)) for b in part.blocks]
        yield assembled(part, [without_rare(piece, least) for piece in pieces])


class _Axis:
    """One attribute's values and the grid they are rounded to."""

    def __init__(self, part: Part, attribute: MaskedAttribute, step: float | None) -> None:
        if not attribute.numeric:
            raise InputError(
                f"random recoding: noise is for numbers, and {attribute.name!r} is none at its "
                "level; draw other attributes, or choose 'pram'"
            )
        self.name = attribute.name
        values, self.of_row = part.values_of(self.name)
        self.values = attribute.numbers(values)
        sizes = part.contingency.sizes
        share = np.bincount(self.of_row, weights=sizes) / sizes.sum()
        self.mean = float(share @ self.values)
        self.variance = float(share @ (self.values - self.mean) ** 2)
        tenth = _round_step(self.variance**0.5 / 10)
        if np.ptp(self.values):
            self.grid = _grid(part, self.name, self.values, step or tenth)
        else:  # one number, which is released as it is
            self.variance, self.grid = 0.0, self.values[:1]

    @property
    def symbols(self) -> list[int | float]:
        """Points of the grid in their released form."""
        return list(map(plain, self.grid))

    def channel(self, d: float) -> Floats:
        """q(y|x) at a normalised distortion, shape (values, points)."""
        if not self.variance:
            return np.ones((len(self.values), 1))
        return gaussian_channel(self.values, self.grid, self.mean, self.variance, d)


def _both(one: Floats, other: Floats) -> Floats:
    return (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)


def _grid(part: Part, name: str, values: Floats, step: float) -> Floats:
    """The multiples of a step between the numbers of an attribute, shape (points,)."""
    ends = [float(end) / step for end in (values.min(), values.max())]
    if max(map(abs, ends)) > FINEST:
        raise InputError(
            f"random recoding: the grid of {name!r} is too fine for numbers as large as its; "
            "choose a wider one"
        )
    first, last = map(round, ends)
    part.require_few(last - first + 1)
    decimals = max(0, -floor(log10(step)) + 2)
    return np.asarray(np.round(np.arange(first, last + 1) * step, decimals))


def _round_step(width: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is at most a width; 1 for no width."""
    if not width > 0:
        return 1.0
    power = 10.0 ** floor(log10(width))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= width * (1 + 1e-9))


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
    while len(law) > 1:  # at the worst one symbol is left, for everybody
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
