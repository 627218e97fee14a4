"""The privacy-distortion function: how little a channel can tell for how little distortion.

Rebollo-Monedero, Forne and Domingo-Ferrer, "From t-closeness to PRAM and noise addition via
information theory" (2008): R(D) = min I(W;Y) over channels with E d(X,Y) <= D, W - X - Y a Markov
chain. Every answer comes with a proven lower bound of what it minimises.
"""

from collections.abc import Sequence
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.result import OptimalChannel
from anonymizer.channels.source import (
    Floats,
    Source,
    matrix_of,
    nats_per,
    numbers_of,
    require_distortion,
    require_room,
)
from anonymizer.channels.threads import single_threaded
from anonymizer.channels.tradeoff.chords import spread
from anonymizer.channels.tradeoff.limits import DistortionLimit, LeakageLimit, Met, Solved, met
from anonymizer.channels.tradeoff.minimum import METHODS
from anonymizer.channels.tradeoff.problem import EPSILON
from anonymizer.channels.tradeoff.tradeoff_problem import Question
from anonymizer.errors import InputError, did_you_mean, is_whole, shown

__all__ = ["privacy_distortion", "privacy_distortion_curve"]

LARGEST = 1e100
"""Beyond this, distortions and slopes overflow when multiplied."""

NEGLIGIBLE = 1e-200
"""Shares of a joint law below this count as 0: their products would not be numbers."""

ROUNDING = 1e-14
"""Of the terms of what is minimised: allowed beside the tolerance, as is an epsilon of the
distortion of a single symbol, where nothing need be paid at all."""

CURVE, MOST_POINTS = 24, 10_000
"""Points of a curve, and the most that may be asked for."""


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
    joint
        p(x, w) or counts, shape (n, m).
    distortion
        d(x, y) of at least 0, shape (n, k).
    slope
        What one unit of leakage is worth in distortion; the cost is minimised.
    distortion_limit
        Most E d(X, Y); the leakage is minimised. Met exactly where more distortion leaks less.
    leakage_limit
        Most I(W;Y), in ``unit``; the distortion is minimised.
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
    have added to it. At a limit, a leakage below 1e-14 nats is rounding, and stated as 0.

    Examples
    --------
    >>> found = privacy_distortion([[4, 1], [1, 4]], [[0, 1], [1, 0]], distortion_limit=0.25)
    >>> found.channel.round(3).tolist(), found.certified
    ([[0.75, 0.25], [0.25, 0.75]], True)
    """
    nats = nats_per(unit)
    question = _question(joint, distortion, tolerance, method, time_limit)
    asked = {
        "slope": slope,
        "distortion_limit": distortion_limit,
        "leakage_limit": leakage_limit,
    }
    stated = [name for name, value in asked.items() if value is not None]
    if len(stated) != 1:
        given = " and ".join(stated) or "none"
        raise InputError(f"state one of {', '.join(asked)}; {given} given")
    value = _number(stated[0], asked[stated[0]])
    with single_threaded():
        if slope is not None:
            return _at_slope(question, value, unit)
        if distortion_limit is not None:
            return _at_distortion(question, value, unit)
        return _at_leakage(question, value * nats, unit)


def _question(
    joint: ArrayLike,
    distortion: ArrayLike,
    tolerance: float,
    method: str,
    time_limit: float | None,
) -> Question:
    """Check everything but the question itself."""
    if not isinstance(method, str) or method not in METHODS:
        hint = did_you_mean(method, METHODS) if isinstance(method, str) else ""
        raise InputError(f"method = {shown(method)} is none of {', '.join(METHODS)}{hint}")
    if not 0 < _number("tolerance", tolerance) < 1:
        raise InputError(f"tolerance = {tolerance!r} must be above 0 and below 1")
    if time_limit is not None and not _number("time_limit", time_limit) > 0:
        raise InputError(f"time_limit = {time_limit!r} must be above 0 seconds")
    given = matrix_of("joint", joint)
    source = Source.of(np.where(given > NEGLIGIBLE * given.sum(), given, 0.0))
    costs = require_distortion(distortion, source)
    if costs.max() > LARGEST:
        raise InputError(f"distortion holds numbers above {LARGEST:g}; state it in a larger unit")
    (n, m), k = source.joint.shape, costs.shape[1]
    require_room(f"a channel of {n} values and {k} symbols", *[(n, k)] * 12, (n, m), *[(k, m)] * 6)
    if method == "interior-point":
        require_room(
            f"the interior-point method with {n} values, {k} symbols and {m} sensitive values",
            (k, n, min(n, m)),
            *[(n, k)] * 12,
        )
    return Question(source, costs, method, tolerance, Question.within(time_limit))


def _number(name: str, stated: object) -> float:
    """A finite number of at least 0, as stated by a caller."""
    if isinstance(stated, bool | np.bool_) or not isinstance(stated, Real):
        raise InputError(f"{name} = {shown(stated)} must be a number")
    try:
        number = float(stated)
    except OverflowError:
        number = np.inf
    if not 0 <= number <= LARGEST:
        raise InputError(f"{name} = {shown(stated)} must be a number from 0 to {LARGEST:g}")
    return number


def _at_slope(question: Question, slope: float, unit: str) -> OptimalChannel:
    """The least cost, at a slope per ``unit``."""
    nats = nats_per(unit)
    if slope == 0:
        near, _ = question.near
        found = Met(near.channel, question.least_distortion, slope, 0)
        return _answer(question, found, "cost", unit, near.distortion)
    return _priced(question, question.solve(slope / nats, question.tolerance), unit)


def _priced(question: Question, solved: Solved, unit: str) -> OptimalChannel:
    """The answer at a slope."""
    point = solved.point
    found = Met(point.channel, solved.bound, point.slope, solved.steps)
    return _answer(question, found, "cost", unit, point.distortion, solved.method)


def _at_distortion(question: Question, limit: float, unit: str) -> OptimalChannel:
    """The least leakage at a distortion."""
    least = question.least_distortion
    if limit < least:
        raise InputError(
            f"distortion_limit = {limit:.9g} is below the least possible, {least:.9g}, "
            "of the cheapest symbol for every value"
        )
    (near, _), (far, _) = question.near, question.far
    if limit * (1 + ROUNDING) >= far.distortion:
        found = Met(far.channel, 0.0, None, 0)
    elif limit <= near.distortion:
        found = Met(near.channel, question.least_leakage(limit), None, 0)
    else:
        asked = DistortionLimit(limit, question.distorted, question.leakage)
        found = met(asked, near, far, 0.0, question.solve, question.tolerance)
    scale = question.leakage(found.channel)
    if found.slope:
        scale += limit / found.slope
    return _answer(question, found, "leakage", unit, scale)


def _at_leakage(question: Question, limit: float, unit: str) -> OptimalChannel:
    """The least distortion at a leakage in nats."""
    near, _ = question.near
    if limit == 0:
        found = question.silent()
    elif limit >= near.leakage:
        found = Met(near.channel, question.least_distortion, None, 0)
    else:
        asked = LeakageLimit(limit, question.distorted, question.leakage)
        start, single = question.least_distortion, question.single
        found = met(asked, near, single, start, question.solve, question.tolerance)
    scale = question.distorted(found.channel) + (found.slope or 0.0) * limit
    return _answer(question, found, "distortion", unit, scale)


def _answer(
    question: Question,
    found: Met,
    minimised: str,
    unit: str,
    scale: float,
    method: str | None = None,
) -> OptimalChannel:
    """What is handed out: all values of X, in the unit, the gap judged."""
    nats = nats_per(unit)
    leakage = question.leakage(found.channel)
    if minimised != "cost" and leakage <= ROUNDING:
        leakage = 0.0
    distortion = question.distorted(found.channel)
    slope = None if found.slope is None else found.slope * nats
    value = {
        "cost": distortion + (found.slope or 0.0) * leakage,
        "leakage": leakage,
        "distortion": distortion,
    }[minimised]
    gap = value - found.bound
    allowed = question.tolerance * value + ROUNDING * scale
    if minimised != "leakage":
        allowed += EPSILON * question.measures.scale
    return OptimalChannel(
        channel=_whole(question, found.channel),
        distortion=distortion,
        leakage=leakage / nats,
        slope=slope,
        minimised=minimised,
        lower_bound=min(found.bound, value) / (nats if minimised == "leakage" else 1.0),
        certified=bool(gap <= allowed),
        unit=unit,
        method=method or question.method,
        iterations=found.steps,
    )


def _whole(question: Question, channel: Floats) -> Floats:
    """A row for every value of X: one of probability 0 gets the likeliest symbol."""
    n, rows = question.source.shape[0], question.source.rows
    whole = np.zeros((n, channel.shape[1]))
    whole[:, int(np.argmax(question.source.p @ channel))] = 1.0
    whole[rows] = channel
    return whole


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
        As for :func:`privacy_distortion`.
    slopes
        Of the points; without them they are where the curve bends: every next one is that of the
        chord of the two neighbours that are furthest apart.
    points
        How many, without slopes.

    Raises
    ------
    InputError
        As for :func:`privacy_distortion`, or when there is to be no point.
    """
    nats_per(unit)
    question = _question(joint, distortion, tolerance, "automatic", None)
    with single_threaded():
        if slopes is not None:
            if numbers_of("slopes", slopes).ndim != 1:
                raise InputError("slopes must be a list of numbers")
            stated = sorted(_number("slope", slope) for slope in slopes)
            if not stated:
                raise InputError("slopes is empty; state one at least, or leave it out")
            return [_at_slope(question, slope, unit) for slope in stated]
        if not is_whole(points, least=1) or points > MOST_POINTS:
            raise InputError(
                f"points = {shown(points)} must be a whole number from 1 to {MOST_POINTS}"
            )
        found = spread(question.near[0], question.single, question.solve, points, tolerance)
        return [_priced(question, solved, unit) for solved in found]
