"""The privacy-distortion function: how little a channel can tell for how little distortion.

Rebollo-Monedero, Forne and Domingo-Ferrer, "From t-closeness to PRAM and noise addition via
information theory" (2008): R(D) = min I(W;Y) over channels with E d(X,Y) <= D, W - X - Y a Markov
chain. Every answer comes with a proven lower bound of what it minimises.
"""

from collections.abc import Sequence
from itertools import pairwise
from time import monotonic

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.channel import OptimalChannel, Solved, TradeoffPoint
from anonymizer.channels.source import JointLaw, require_distortion
from anonymizer.channels.threads import single_threaded
from anonymizer.channels.tradeoff.answers import answered, optimal, priced
from anonymizer.channels.tradeoff.minimum import METHODS
from anonymizer.channels.tradeoff.problem import LeakageTradeoff
from anonymizer.channels.validation import (
    LARGEST,
    matrix_of,
    nats_per,
    number_of,
    numbers_of,
    only_one,
    require_room,
    whole_of,
)
from anonymizer.errors import InputError, require_one_of

NEGLIGIBLE = 1e-200
"""Shares of a joint law below this count as 0: their products would not be numbers."""

CURVE, MOST_POINTS = 24, 10_000
"""Points of a curve, and the most that may be requested."""


def privacy_distortion(
    joint: ArrayLike,
    distortion: ArrayLike,
    *,
    slope: float | None = None,
    distortion_limit: float | None = None,
    leakage_limit: float | None = None,
    tolerance: float = 1e-6,
    unit: str = "bits",
    method: str = "automatic",
    time_limit: float | None = None,
) -> OptimalChannel:
    """The channel q(y|x) of least E d + slope * I(W;Y), or of either at a limit of the other.

    Parameters
    ----------
    joint, distortion
        p(x, w) or counts, shape (n, m), and d(x, y) of at least 0, shape (n, k).
    slope
        What one unit of leakage is worth in distortion; the cost is minimised.
    distortion_limit, leakage_limit
        Most E d(X, Y), met exactly where more distortion leaks less; or most I(W;Y), in ``unit``.
        The other is minimised.
    tolerance
        Relative: an answer is certified when no channel can be better by more.
    unit
        ``"bits"`` or ``"nats"``, of slope, limit and answer.
    method
        ``"interior-point"``; ``"blahut-arimoto"`` or ``"accelerated"``, of first order, for
        alphabets beyond it; ``"steepest-descent"``, the one published with the problem, as a
        baseline; ``"automatic"`` takes the interior point while it fits.
    time_limit
        Seconds after which the best channel so far is the answer, with its bound.

    Returns
    -------
    OptimalChannel
        With a row for every value of X: one of probability 0 gets the likeliest symbol.

    Raises
    ------
    InputError
        For anything that is not as above, more or less than one of the three, a distortion limit
        below what is possible, or a problem beyond memory.

    Notes
    -----
    The Lagrangian of Rebollo-Monedero, Forne and Domingo-Ferrer (2008), section 5. The lower bound
    is that of Lagrangian duality for laws of W that column pricing finds, less what rounding may
    have added to it. At a limit, a leakage below 1e-14 nats is rounding, and reported as 0.

    Examples
    --------
    >>> found = privacy_distortion([[4, 1], [1, 4]], [[0, 1], [1, 0]], distortion_limit=0.25)
    >>> found.channel.round(3).tolist(), found.certified
    ([[0.75, 0.25], [0.25, 0.75]], True)
    """
    nats_per(unit)
    problem = _problem(joint, distortion, tolerance, method, time_limit)
    given, limit = only_one(
        slope=slope, distortion_limit=distortion_limit, leakage_limit=leakage_limit
    )
    value = number_of(given, limit, least=0, most=LARGEST)
    with single_threaded():
        return answered(problem, given, value, unit)


def _problem(
    joint: ArrayLike, distortion: ArrayLike, tolerance: float, method: str, seconds: float | None
) -> LeakageTradeoff:
    """Check everything but slopes and limits."""
    require_one_of("method", method, METHODS)
    number_of("tolerance", tolerance, above=0, most=np.nextafter(1, 0))
    deadline = np.inf
    if seconds is not None:
        deadline = monotonic() + number_of("time_limit", seconds, above=0)
    given = matrix_of("joint", joint)
    source = JointLaw.of(np.where(given > NEGLIGIBLE * given.sum(), given, 0.0))
    costs = require_distortion(distortion, "joint", len(given))[source.rows]
    (n, m), k = source.joint.shape, costs.shape[1]
    require_room(f"a channel of {n} values and {k} symbols", *[(n, k)] * 12, (n, m), *[(k, m)] * 6)
    if method == "interior-point":
        require_room(
            f"the interior-point method with {n} values, {k} symbols and {m} sensitive values",
            (k, n, min(n, m)),
            *[(n, k)] * 12,
        )
    costs = np.ascontiguousarray(costs)
    return LeakageTradeoff(
        source.p, costs, source.rows, len(given), method, tolerance, source, deadline
    )


def privacy_distortion_curve(
    joint: ArrayLike,
    distortion: ArrayLike,
    slopes: Sequence[float] | None = None,
    points: int = CURVE,
    tolerance: float = 1e-6,
    unit: str = "bits",
) -> list[OptimalChannel]:
    """The channels of least E d + slope * I(W;Y) for many slopes, by growing slope.

    Parameters
    ----------
    joint, distortion, tolerance, unit
        As for :func:`privacy_distortion`, and so are errors.
    slopes
        Of the points; without them they are where the curve bends: every next one is that of the
        chord of the two neighbours that are furthest apart.
    points
        How many, without slopes; at least one.
    """
    nats_per(unit)
    problem = _problem(joint, distortion, tolerance, "automatic", None)
    with single_threaded():
        if slopes is not None:
            if numbers_of("slopes", slopes).ndim != 1:
                raise InputError("slopes must be a list of numbers")
            prices = sorted(number_of("slope", slope, least=0, most=LARGEST) for slope in slopes)
            if not prices:
                raise InputError("slopes is empty; give one at least, or leave it out")
            return [priced(problem, slope, unit) for slope in prices]
        found = _spread(problem, whole_of("points", points, 1, MOST_POINTS))
        return [optimal(problem, each, "cost", unit, each.point.distortion) for each in found]


def _spread(problem: LeakageTradeoff, points: int) -> list[Solved]:
    """So many points of the lower convex boundary, by growing slope.

    The chord between two neighbours has a slope; the point of that slope is the furthest below it.
    The next chord is the one that spans the largest rectangle. Where all that is left is straight,
    the slopes are spread evenly over two decades around that of all.
    """
    found: list[Solved] = []
    chain = [problem.near.point, problem.single]
    whole, tolerance = _spans(*chain), problem.tolerance
    straight: set[int] = set()
    while len(found) < points:
        areas = [
            0.0 if id(left) in straight else float(np.prod(_spans(left, right)))
            for left, right in pairwise(chain)
        ]
        place = int(np.argmax(areas))
        if not areas[place] > 1e-9 * float(np.prod(whole)):
            break
        left, right = chain[place], chain[place + 1]
        distortion, leakage = _spans(left, right)
        slope = distortion / leakage
        solved = problem.solve(slope, tolerance)
        found.append(solved)
        point, chord = solved.point, left.distortion + slope * left.leakage
        inside = left.distortion < point.distortion < right.distortion
        bent = 1 - (point.distortion + slope * point.leakage) / chord > tolerance
        if inside and bent:
            chain.insert(place + 1, solved.point)
        else:
            straight.add(id(left))
    middle = whole[0] / whole[1] if min(whole) > 0 else 1.0
    evenly = middle * np.geomspace(0.1, 10, points - len(found))
    found += [problem.solve(float(slope), tolerance) for slope in evenly]
    return sorted(found, key=lambda solved: solved.point.slope or 0.0)


def _spans(left: TradeoffPoint, right: TradeoffPoint) -> tuple[float, float]:
    """How much more distortion, and less leakage, the second of two points has."""
    more, less = right.distortion - left.distortion, left.leakage - right.leakage
    return max(more, 0.0), max(less, 0.0)
