"""Information bottlenecks: the least rate about X for the relevance kept for W, and the reverse.

Problems 3 and 4 of Domingo-Ferrer and Rebollo-Monedero (2009): for a chain T - X - W, the rate
I(T;X) stands for identity disclosure, and the loss I(X;W) - I(T;W) = I(X;W|T) >= 0 (their lemma 1)
for utility. Unlike rate-distortion this is no convex problem: everything here is a local optimum.

The self-consistent equations, in nats,

    q(t|x) = p(t) exp(-beta D(p(w|x) || p(w|t))) / Z(x),    p(w|t) = sum_x p(x) q(t|x) p(w|x) / p(t)

alternate to a minimum of I(T;X) - beta I(T;W) that is a local one (Tishby, Pereira, Bialek, 1999).

Synthetic key attributes of a limited rate are the values themselves.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from anonymizer.channels.channel import Channel, drawn, require_stochastic
from anonymizer.channels.source import JointLaw, filled
from anonymizer.channels.validation import (
    LARGEST,
    nats_per,
    number_of,
    numbers_of,
    only_one,
    require_generator,
    require_room,
    single_threaded,
    vector_of,
    whole_of,
)
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats

FARTHEST = 1e6
"""Steps that a leap is at most worth: beyond, what it extrapolates is rounding."""

STEPS = 1500
STILL = 1e-12
"""Two steps that gain less than this, nats, relative to the value, are the last."""
RARE = 1e-13
"""Symbols rarer than this are dropped."""
ALIKE = 1e-6
"""Symbols whose p(w|t) differ by no more are tried as one."""
FACTOR = 1.25
"""How far beta falls from one start to the next, while annealing."""


@dataclass(frozen=True, eq=False)
class Soft:
    """Channel q(t|x) of the values that occur, shape (n, k), with its rate and relevance."""

    channel: Floats
    margin: Floats
    posterior: Floats
    rate: float
    relevance: float
    beta: float
    iterations: int = 0

    def value(self, beta: float) -> float:
        """Rate - beta relevance: what is minimised."""
        return self.rate - beta * self.relevance


@dataclass(frozen=True, eq=False)
class Compressor:
    """A source; how many symbols there may be, and random starts besides the annealed one."""

    source: JointLaw
    symbols: int
    restarts: int = 0
    rng: np.random.Generator | None = None

    @cached_property
    def own(self) -> Floats:
        """sum_w p(w|x) ln p(w|x), shape (n,)."""
        return np.asarray(xlogy(self.source.conditional, self.source.conditional).sum(axis=1))

    @property
    def critical(self) -> float:
        """The beta above which telling nothing is no local optimum: 1 / rho^2.

        rho is the maximal correlation of X and W: the second singular value of
        p(x,w) / sqrt(p(x) p(w)). Infinite where they are independent.
        """
        scaled = self.source.joint / np.sqrt(np.outer(self.source.p, self.source.prior))
        values = np.linalg.svd(scaled, compute_uv=False)
        second = float(values[1]) if len(values) > 1 else 0.0
        return 1 / second**2 if second > 1e-12 else float("inf")

    def nothing(self) -> Soft:
        """One symbol for everybody: the best there is for beta <= 1, by data processing."""
        return self.soft(np.ones((len(self.source.p), 1)), 0.0)

    def sufficient(self) -> Soft:
        """Values of equal p(w|x) as one symbol: loses nothing, with the least rate of all that do.

        With fewer symbols allowed, the merges that lose least in turn (Slonim and Tishby, 1999).
        """
        _, groups = np.unique(self.source.conditional.round(12), axis=0, return_inverse=True)
        groups = groups.reshape(-1)
        if groups.max() >= self.symbols:
            groups = self._agglomerated(groups)
        return self.soft(np.eye(int(groups.max()) + 1)[groups], float("inf"))

    def soft(self, channel: Floats, beta: float, iterations: int = 0) -> Soft:
        """Measure a channel; symbols that are next to never released are dropped."""
        channel = self._kept(channel)
        margin = self.source.p @ channel
        if len(margin) == 1:  # one symbol tells nothing, not even what rounding makes of it
            return Soft(channel, margin, self.source.prior[None], 0.0, 0.0, beta, iterations)
        posterior = (self.source.p[:, None] * channel / margin).T @ self.source.conditional
        rate = float(self.source.p @ xlogy(channel, channel / margin).sum(axis=1))
        found = float(margin @ xlogy(posterior, posterior / self.source.prior).sum(axis=1))
        relevance = min(max(0.0, found), self.source.information)
        return Soft(channel, margin, posterior, max(0.0, rate), relevance, beta, iterations)

    def path(self, betas: Sequence[float] | Floats) -> Iterator[Soft]:
        """The solutions of decreasing betas, each started from the last: reverse annealing.

        Telling nothing is taken where it is the better answer.
        """
        at = self.sufficient()
        for beta in betas:
            at = self.descend(at, float(beta))
            yield at

    def anneal(self, beta: float) -> Soft:
        """The best found for one beta: by annealing from above, and from random starts."""
        found = [self.nothing()]
        if beta > 1:
            start = max(1e4, 10 * beta)
            stops = int(np.ceil(np.log(start / beta) / np.log(FACTOR))) + 1
            *_, annealed = self.path(np.geomspace(start, beta, stops))
            found.append(annealed)
            even, n = np.ones(min(self.symbols, len(self.source.p))), len(self.source.p)
            if self.rng:
                starts = [self.rng.dirichlet(even, n) for _ in range(self.restarts)]
                found += [self.run(start, beta) for start in starts]
        best = min(found, key=lambda soft: soft.value(beta))
        return replace(best, beta=beta, iterations=sum(soft.iterations for soft in found))

    def descend(self, start: Soft, beta: float) -> Soft:
        """The solution that a start of higher beta leads to, or nothing where that is better."""
        found = self.run(start.channel, beta)
        if found.value(beta) < 0:
            return found
        return replace(self.nothing(), beta=beta, iterations=found.iterations)

    def run(self, channel: Floats, beta: float) -> Soft:
        """Alternate both equations until that gains no more, two steps and a leap at a time.

        The leap extrapolates both steps (Varadhan and Roland, 2008), and is taken back where it
        does not gain: the value falls from start to end. No symbol is ever added.
        """
        q, last, step = self._kept(channel), np.inf, 0
        while step < STEPS:
            first, _ = self._step(q, beta)
            second, value = self._step(first, beta)
            step += 2
            if last - value <= STILL * max(1.0, abs(value)):
                break
            one, two = first - q, second - 2 * first + q
            length = float(np.linalg.norm(one)) / max(float(np.linalg.norm(two)), 1e-300)
            q, last = second, value
            if 1 < length < FARTHEST:
                # From the channel before both steps, which is ``first - one``.
                leapt = np.maximum(first - one + 2 * length * one + length**2 * two, 0)
                leapt, reached = self._step(leapt / leapt.sum(axis=1, keepdims=True), beta)
                step += 1
                if reached <= value:
                    q, last = leapt, reached
            if (self.source.p @ q <= RARE).any():
                q = self._kept(q)
        return self._merged(self.soft(second, beta, step))

    def _step(self, q: Floats, beta: float) -> tuple[Floats, float]:
        """Both equations once: the next channel, and the value of that before it, or less.

        The value, -E ln Z - beta I(X;W), is what the free energy of p(t) and p(w|t) comes to when
        the channel is the best for them; it falls from step to step.
        """
        margin = np.maximum(self.source.p @ q, 1e-300)
        posterior = (self.source.p[:, None] * q / margin).T @ self.source.conditional
        logs = np.log(np.maximum(posterior, 1e-300))
        exponent = (self.source.conditional @ logs.T - self.own[:, None]) * beta + np.log(margin)
        peak = exponent.max(axis=1, keepdims=True)
        found = np.exp(exponent - peak)
        sums = found.sum(axis=1, keepdims=True)
        energy = -float(self.source.p @ (np.log(sums) + peak)[:, 0])
        return found / sums, energy - beta * self.source.information

    def _kept(self, channel: Floats) -> Floats:
        """Without symbols that are next to never released."""
        kept = channel[:, self.source.p @ channel > RARE]
        return np.asarray(kept / kept.sum(axis=1, keepdims=True))

    def shared(self, low: Soft, high: Soft, share: float, *, by_rate: bool) -> Soft:
        """One channel for a share of the records, another for the rest, the symbol says which.

        Rate and relevance are then those of both by their shares. Where that takes more symbols
        than there may be, or gains nothing, the end that keeps the limit.
        """
        kept = low if by_rate else high
        together = low.channel.shape[1] + high.channel.shape[1]
        near = abs(high.rate - low.rate) <= 1e-9 * high.rate
        if near or together > self.symbols:
            return kept
        channel = np.hstack([(1 - share) * low.channel, share * high.channel])
        return self.soft(channel, high.beta, low.iterations + high.iterations)

    def _merged(self, at: Soft) -> Soft:
        """Merge symbols with equal conditionals of W: less rate for the same relevance."""
        # Equal ones are neighbours in this order.
        order = np.lexsort(at.posterior.T)
        apart = np.abs(np.diff(at.posterior[order], axis=0)).max(axis=1, initial=0) > ALIKE
        groups = np.empty(len(order), int)
        groups[order] = np.concatenate([[0], np.cumsum(apart)])
        if groups.max() + 1 == len(groups):
            return at
        merged = self.soft(at.channel @ np.eye(int(groups.max()) + 1)[groups], at.beta)
        better = merged.value(at.beta) <= at.value(at.beta)
        return replace(merged, iterations=at.iterations) if better else at

    def _agglomerated(self, groups: Codes) -> Codes:
        """Merge groups two by two, least loss of I(T;W) first, down to the number allowed."""
        joint = np.zeros((int(groups.max()) + 1, len(self.source.prior)))
        np.add.at(joint, groups, self.source.p[:, None] * self.source.conditional)
        # What merging each two loses; infinite with itself, and of symbols that are merged already.
        lost = np.array([_merging(joint, row) for row in range(len(joint))])
        np.fill_diagonal(lost, np.inf)
        alive = np.ones(len(joint), bool)
        while alive.sum() > self.symbols:
            one, other = np.unravel_index(int(lost.argmin()), lost.shape)
            joint[one] += joint[other]
            alive[other] = False
            groups = np.where(groups == other, one, groups)
            lost[one] = np.where(alive, _merging(joint, int(one)), np.inf)
            lost[:, one] = lost[one]
            lost[one, one] = np.inf
            lost[other], lost[:, other] = np.inf, np.inf
        return np.unique(groups, return_inverse=True)[1].reshape(-1)


def _merging(joint: Floats, row: int) -> Floats:
    """Loss of I(T;W) by merging a symbol with each other one, shape (k,), nats."""

    def kept(counts: Floats) -> Floats:
        sums = np.maximum(counts.sum(axis=-1, keepdims=True), 1e-300)
        return np.asarray(xlogy(counts, counts / sums).sum(axis=-1))

    return np.asarray(kept(joint) + kept(joint[row]) - kept(joint + joint[row]))


HIGHEST = 1e4
"""The beta at which a path starts: the identity is all but optimal."""
BISECTIONS = 40
POINTS = 24
NEAR, ROUNDING = 1e-9, 1e-14
"""Relevance to within the first, and a rate to within the second, of a limit meets it."""


@dataclass(frozen=True, eq=False)
class BottleneckChannel:
    """A channel q(t|x) into symbols T, with its rate about X and relevance for W: a local optimum.

    Parameters
    ----------
    channel
        q(t|x), shape (n, k): every row a distribution. Rows of values of probability 0 are there.
    posterior
        p(w|t), shape (k, m).
    decoder
        p(x|t), shape (k, n): from which values of X are drawn for a symbol.
    margin
        p(t), shape (k,); every symbol occurs.
    rate, relevance, information
        I(T;X), I(T;W), and I(X;W), which could be kept, in ``unit``.
    beta
        What one unit of relevance was worth in rate: rate - beta relevance was minimised.
    unit, iterations
        ``"bits"`` or ``"nats"``, and the steps of the self-consistent equations.
    """

    channel: Floats
    posterior: Floats
    decoder: Floats
    margin: Floats
    rate: float
    relevance: float
    information: float
    beta: float
    unit: str
    iterations: int

    optimality = "local optimum"
    """What is known of it; a bottleneck is never certified."""

    @property
    def loss(self) -> float:
        """I(X;W) - I(T;W), never negative."""
        return max(0.0, self.information - self.relevance)

    @property
    def recoding(self) -> Floats:
        """p(x'|x) = sum_t q(t|x) p(x'|t), shape (n, n), if values are drawn for the symbols.

        The margin of X is invariant under it. X' tells no more than T: I(X';X) <= I(T;X), and
        I(X';W) <= I(T;W).
        """
        return np.asarray(self.channel @ self.decoder)


def information_bottleneck(
    joint: ArrayLike,
    *,
    beta: float | None = None,
    relevance_loss_limit: float | None = None,
    rate_limit: float | None = None,
    symbols: int | None = None,
    restarts: int = 0,
    rng: np.random.Generator | None = None,
    unit: str = "bits",
) -> BottleneckChannel:
    """Min I(T;X) - beta I(T;W); min I(T;X) of a loss of at most D; min loss of a rate of at most R.

    Found by reverse annealing: from the identity at a high beta, each solution starts the next
    below (and the random restarts compete with what comes of it). Limits are never exceeded. With
    any number of symbols they are met, to a billionth: where no beta does, the channel of one is
    used for a share of the records and that of another for the rest, and the symbol says which
    (Tishby, Pereira and Bialek, 1999; Slonim and Tishby, 1999, for the start with few symbols).

    Parameters
    ----------
    joint
        p(x, w), or counts, shape (n, m).
    beta, relevance_loss_limit, rate_limit
        One of the three: a number of at least 0, D, or R in ``unit`` (problems 3 and 4).
    symbols
        How many symbols T has at the most; any number by default.
    restarts, rng
        Random starts in addition, and where they come from.
    unit
        ``"bits"`` or ``"nats"``.

    Returns
    -------
    BottleneckChannel
        q(t|x) for every x, shape (n, symbols), with rate and relevance in ``unit``: a local
        optimum.

    Raises
    ------
    InputError
        When an argument is none of these, or ``symbols`` too few for a limit of the loss.
    """
    nats = nats_per(unit)
    given, value = only_one(
        beta=beta, relevance_loss_limit=relevance_loss_limit, rate_limit=rate_limit
    )
    solver = _compressor(joint, symbols, restarts, rng)
    limit = number_of(given, value, least=0, most=LARGEST if given == "beta" else np.inf)
    with single_threaded():
        if given == "beta":
            found = solver.anneal(limit)
        elif given == "rate_limit":
            found = _at_limit(solver, limit * nats, by_rate=True)
        else:
            found = _at_limit(solver, solver.source.information - limit * nats, by_rate=False)
    return _bottleneck(solver.source, found, unit)


def bottleneck_path(
    joint: ArrayLike,
    betas: ArrayLike | None = None,
    *,
    points: int = POINTS,
    symbols: int | None = None,
    unit: str = "bits",
) -> list[BottleneckChannel]:
    """Bottlenecks of decreasing beta, each started from the last: the most informative first.

    Parameters
    ----------
    joint
        p(x, w), or counts, shape (n, m).
    betas
        Taken from the highest to the lowest. By default ``points`` of them, spaced evenly on a
        logarithmic scale, down to where telling nothing is a local optimum.
    symbols, unit
        As for :func:`information_bottleneck`, and so are errors.

    Returns
    -------
    list of BottleneckChannel
        One for each beta, by decreasing beta; rates and relevances in ``unit``.
    """
    nats_per(unit)
    solver = _compressor(joint, symbols, 0, None)
    if betas is None:
        lowest = min(solver.critical, HIGHEST / 10)
        stops = np.geomspace(HIGHEST, lowest, whole_of("points", points, 2))
    else:
        stops = np.sort(vector_of("betas", betas))[::-1]
        number_of("betas", float(stops[-1]), least=0)
    with single_threaded():
        return [_bottleneck(solver.source, found, unit) for found in solver.path(stops)]


def _at_limit(solver: Compressor, limit: float, *, by_rate: bool) -> Soft:
    """The most relevance at a rate of at most the limit; or the least rate at that relevance.

    Betas are bisected until both ends are as good as one; the end that keeps the limit is the
    answer, or a share of both where that is allowed and needed.
    """
    low, high = solver.nothing(), solver.sufficient()
    of = attrgetter("rate" if by_rate else "relevance")
    if limit >= of(high) * (1 - (ROUNDING if by_rate else NEAR)):
        if by_rate or limit <= of(high) * (1 + NEAR):
            return high
        high = solver.descend(high, HIGHEST)  # merged symbols lose a little more than soft ones
        if limit > of(high):
            raise InputError(
                f"symbols = {solver.symbols}: no channel of so few was found that loses as little "
                "as relevance_loss_limit; allow more symbols, or more to be lost"
            )
        return high
    if limit <= of(low):
        return low
    for found in solver.path(np.geomspace(HIGHEST, 1.0, POINTS)):
        if of(found) <= limit:
            low = found
            break
        high = found
    # low has no more than the limit, high has more; betas are halved on a logarithmic scale.
    for _ in range(BISECTIONS):
        ends = max(low.beta, 1.0), min(high.beta, 2 * HIGHEST)
        if ends[1] - ends[0] <= NEAR * ends[1]:
            break
        found = solver.descend(high, float(np.sqrt(ends[0] * ends[1])))
        low, high = (found, high) if of(found) <= limit else (low, found)
    share = (limit - of(low)) / (of(high) - of(low))
    return solver.shared(low, high, share, by_rate=by_rate)


def _bottleneck(source: JointLaw, found: Soft, unit: str) -> BottleneckChannel:
    """In the unit, with a row for every value that was given."""
    nats, symbols = nats_per(unit), len(found.margin)
    channel = filled(found.channel, source.p, source.rows, source.shape[0])
    decoder = np.zeros((symbols, source.shape[0]))
    decoder[:, source.rows] = (source.p[:, None] * found.channel / found.margin).T
    posterior = np.zeros((symbols, source.shape[1]))
    posterior[:, source.columns] = found.posterior
    return BottleneckChannel(
        channel=channel,
        posterior=posterior,
        decoder=decoder / decoder.sum(axis=1, keepdims=True),
        margin=found.margin,
        rate=found.rate / nats,
        relevance=found.relevance / nats,
        information=source.information / nats,
        beta=found.beta,
        unit=unit,
        iterations=found.iterations,
    )


def _compressor(
    joint: ArrayLike, symbols: int | None, restarts: int, rng: np.random.Generator | None
) -> Compressor:
    """Check the source; without a number of symbols there may be any number."""
    source = JointLaw.of(joint)
    n, m = source.joint.shape
    require_room("an information bottleneck", *[(n, n)] * 6, *[(n, m)] * 4)
    most = 1 << 30 if symbols is None else whole_of("symbols", symbols, 1)
    count = whole_of("restarts", restarts, 0)
    if rng is not None:
        require_generator(rng)
    elif count:
        raise InputError(f"restarts = {count} need rng, a numpy.random.Generator")
    return Compressor(source, most, count, rng)


def synthetic(
    channel: BottleneckChannel | Channel | ArrayLike,
    codes: ArrayLike,
    rng: np.random.Generator,
    *,
    decoder: ArrayLike | None = None,
) -> Codes:
    """Values x' for records of values x: t drawn from q(t|x), then x' from p(x'|t).

    A symbol of problem 4 is only a name, which says as much of W as a rate allows. X' is drawn
    knowing T alone: X' - T - X - W is a Markov chain, and data processing gives I(X';X) <= I(T;X)
    and I(X';W) <= I(T;W). The limit on the rate that the channel keeps is kept by X'; of the
    relevance some is lost, unless symbols distinguish all values. With the decoder of a bottleneck,
    which is Bayes' p(x|t), the margin of X' is that of X, and the joint law of X' and W is
    sum_t p(t) p(x'|t) p(w|t).

    Parameters
    ----------
    channel, codes
        A bottleneck, or q(t|x), shape (n, k); and which of its rows each record has, (records,).
    decoder
        p(x'|t), shape (k, values): needed where the channel is not a bottleneck, which has one.

    Returns
    -------
    array of shape (records,)
        Columns of the decoder: for a bottleneck's own, codes of X.

    Raises
    ------
    InputError
        When the codes are none of the channel's rows, or a matrix is not stochastic.
    """
    require_generator(rng)
    if isinstance(channel, BottleneckChannel):
        forward, backward = channel.channel, channel.decoder if decoder is None else decoder
    elif decoder is None:
        raise InputError("a channel that is no bottleneck needs a decoder p(x'|t) to draw values")
    else:
        given = channel.matrix if isinstance(channel, Channel) else channel
        forward, backward = require_stochastic(given), decoder
    back = require_stochastic(backward)
    if len(back) != forward.shape[1]:
        raise InputError(
            f"decoder has {len(back)} rows, but the channel has {forward.shape[1]} symbols"
        )
    rows = numbers_of("codes", codes)
    if rows.ndim != 1 or (rows != np.rint(rows)).any():
        raise InputError("codes must be a list of whole numbers: rows of the channel")
    if rows.size and not (rows.min() >= 0 and rows.max() < len(forward)):
        raise InputError(f"codes must be rows of the channel, from 0 to {len(forward) - 1}")
    return drawn(back, drawn(forward, rows.astype(np.intp), rng), rng)


Values = Sequence[Hashable] | NDArray[np.generic] | pd.Series


def synthetic_values(
    values: Values,
    sensitive: Values,
    *,
    rate_limit: float,
    rng: np.random.Generator,
    unit: str = "bits",
) -> pd.Series:
    """Synthetic values X' of a category X that tell of W, with I(X';X) limited.

    Model 4 of Domingo-Ferrer and Rebollo-Monedero (2009), section 5. Its symbol T has the most
    I(T;W) at the rate, by the bottleneck of the records' own counts. A value is drawn for each
    record through T alone (:func:`synthetic`): I(X';X) and I(X';W) are at most those of T, and
    mostly less. The margin of X is kept on average, and only values that occur are drawn. For
    numbers of normal law see :func:`gaussian_bottleneck`.

    Parameters
    ----------
    values, sensitive
        X and W of each record, shape (records,). A missing value is a value of its own.
    rate_limit
        The most I(T;X), and so I(X';X), of the law that values are drawn from, in ``unit``; those
        of a sample of few records may be more.
    rng
        Where values are drawn from.
    unit
        ``"bits"`` or ``"nats"``.

    Returns
    -------
    Series of shape (records,)
        With the index of ``values``, if it has one, and its name and type.

    Raises
    ------
    InputError
        When the columns differ in length or are empty, or the limit is no number of at least 0.
    """
    x, w = pd.Series(values), pd.Series(sensitive)
    if len(x) != len(w) or not len(x):
        raise InputError(f"{len(x)} values and {len(w)} sensitive ones: as many, and some")
    codes, names = pd.factorize(x, use_na_sentinel=False)
    about = pd.factorize(w, use_na_sentinel=False)[0]
    counts = np.zeros((len(names), int(about.max()) + 1))
    np.add.at(counts, (codes, about), 1)
    found = information_bottleneck(counts, rate_limit=rate_limit, unit=unit)
    drawn = synthetic(found, codes, rng)
    first = np.unique(codes, return_index=True)[1]
    return x.iloc[first[drawn]].set_axis(x.index)
