"""Information bottlenecks: the least rate about X for the relevance kept for W, and the reverse.

Problems 3 and 4 of Domingo-Ferrer and Rebollo-Monedero (2009): for a chain T - X - W, the rate
I(T;X) stands for identity disclosure, and the loss I(X;W) - I(T;W) = I(X;W|T) >= 0 (their lemma 1)
for utility. Unlike rate-distortion this is no convex problem: everything here is a local optimum.
"""

from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.bottleneck.annealing import Compressor, Soft
from anonymizer.channels.channel import Channel, drawn, require_stochastic
from anonymizer.channels.source import JointLaw, filled
from anonymizer.channels.threads import single_threaded
from anonymizer.channels.validation import (
    LARGEST,
    nats_per,
    number_of,
    numbers_of,
    only_one,
    require_generator,
    require_room,
    vector_of,
    whole_of,
)
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats

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
        As for :func:`information_bottleneck`.
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
    """Checked; without a number of symbols there may be any number."""
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
