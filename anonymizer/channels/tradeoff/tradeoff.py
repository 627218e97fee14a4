"""The privacy-distortion function: how little a channel can tell for how little distortion.

Rebollo-Monedero, Forne and Domingo-Ferrer, "From t-closeness to PRAM and noise addition via
information theory" (2008): R(D) = min I(W;Y) over channels with E d(X,Y) <= D, W - X - Y a Markov
chain. Every answer comes with a proven lower bound of what it minimises.

Without leakage: I(W;Y) = 0 if and only if p(w, y) = p(w) p(y) for every y, which is linear in u(y,
x):

    min <d, u>   over u >= 0, sum_y u(y, x) = p(x), sum_x (p(w|x) - p(w)) u(y, x) = 0,

of which the dual says sum_x p(x) min_y [d(y, x) + sum_w p(w|x) g_y(w)] for any g with
sum_w p(w) g_y(w) = 0. One symbol for everybody is feasible, but need not be the best: where p(w|x)
is the same for some x, or has fewer dimensions than there are x, several symbols may tell nothing.

Channels that see the sensitive value bound what any recoding can reach (section 3.2, where they
are left aside for simplicity).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from time import monotonic

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.channel import OptimalChannel, Solved, TradeoffPoint
from anonymizer.channels.source import JointLaw, require_distortion
from anonymizer.channels.tradeoff.answers import ROUNDING, Tradeoff, answered, optimal, priced
from anonymizer.channels.tradeoff.lagrangian import EPSILON, Lagrangian
from anonymizer.channels.tradeoff.minimum import METHODS, minimum
from anonymizer.channels.validation import (
    LARGEST,
    matrix_of,
    nats_per,
    number_of,
    numbers_of,
    only_one,
    require_room,
    single_threaded,
    whole_of,
)
from anonymizer.errors import InputError, require_one_of
from anonymizer.kernels.arrays import Floats

DEAR = (1e3, 1e6, 1e9)
"""Prices of a nat, in distortions of a single symbol, at which leakage does not pay."""

FINEST = 1e-16
"""The least relative tolerance that is aimed at: nothing finer is a number next to 1."""

FORBIDDEN = 1e4
"""Nats that a symbol costs that is not among the nearest, where only those may be used."""


MOST_ENTRIES = 4_000_000
"""Entries of the constraints: beyond, one symbol for everybody is the answer, maybe not proven."""

ROUNDED = 1e-14
"""Leakage in nats that is the rounding of a solution."""

RANK = 1e-10
"""Singular values of p(w|x) - p(w) below this tell next to nothing: the leakage is their square."""


@dataclass(frozen=True, eq=False)
class LeakageTradeoff(Tradeoff):
    """A source with p(x, w), and the time of ``monotonic`` to end at with what there is."""

    source: JointLaw
    deadline: float

    @cached_property
    def measures(self) -> Lagrangian:
        """The problem at no price: it measures channels."""
        return Lagrangian.of(self.source, self.distortion, 0.0)

    def leakage(self, channel: Floats) -> float:
        """I(W;Y) in nats."""
        return self.measures.leakage(self.p * channel.T)

    def solve(self, slope: float, tolerance: float) -> Solved:
        """By the method of the problem."""
        problem = Lagrangian.of(self.source, self.distortion, slope)
        found = minimum(problem, max(tolerance, FINEST), self.method, self.deadline)
        bound = problem.outside(found.bound)
        return Solved(self._point(found.u, slope), bound, found.steps, found.method)

    @cached_property
    def near(self) -> Solved:
        """The ends are found exactly, where the published descent finds neither."""
        problem = Lagrangian.of(self.source, np.where(self.above > 0, FORBIDDEN, 0.0), 1.0)
        method = "automatic" if self.method == "steepest-descent" else self.method
        found = minimum(problem, self.tolerance, method, self.deadline)
        nearest = np.where(self.above.T > 0, 0.0, np.maximum(found.u, 1e-30 * problem.p))
        return Solved(self._point(problem.fitted(nearest)), problem.outside(found.bound))

    @cached_property
    def far(self) -> Solved:
        """By a linear program."""
        u, bound = _leakless(self.measures)
        return Solved(replace(self._point(u), leakage=0.0), self.measures.outside(bound))

    def silent(self) -> Solved:
        """The least distortion without leakage.

        Where the linear program proves nothing, ever higher prices do: C*(slope) <= D then; and
        what is bought at them may leak no more than rounding.
        """
        far, bound, steps = self.far.point, self.far.bound, 0
        for slope in DEAR:
            if far.distortion - bound <= self.tolerance * far.distortion:
                break
            solved = self.solve(slope * self.measures.scale, 0.1 * self.tolerance)
            point = solved.point
            if point.leakage <= ROUNDED and point.distortion < far.distortion:
                far = point
            bound, steps = max(bound, solved.bound), steps + solved.steps
        # What leaks no more than rounding may distort a little less than what leaks nothing.
        return Solved(replace(far, slope=None), min(bound, far.distortion), steps)

    def least_leakage(self, limit: float) -> float:
        """Lower bound of I where E d is at most a limit that is the least, but for rounding.

        I + FORBIDDEN * (chance of another symbol than the nearest) is at least that of the ends,
        and that chance is at most what the limit is above the least, by what the cheapest of the
        others distorts more.
        """
        dearer = float(self.above[self.above > 0].min(initial=np.inf))
        spare = max(0.0, limit * (1 + EPSILON) - self.least_distortion)
        return max(0.0, self.near.bound - FORBIDDEN * (spare / dearer) * (1 + 4 * EPSILON))

    def noise(self, minimised: str, slope: float) -> float:
        """Leakages are known to rounding."""
        return ROUNDING if minimised == "leakage" else 0.0

    def rounding(self, minimised: str, slope: float) -> float:
        """An epsilon of the distortion of a single symbol, where nothing need be paid at all."""
        return 0.0 if minimised == "leakage" else EPSILON * self.measures.scale

    def _point(self, u: Floats, slope: float | None = None) -> TradeoffPoint:
        """The point of a joint law u(y, x)."""
        channel = np.ascontiguousarray((u / self.p).T)
        channel /= channel.sum(axis=1, keepdims=True)
        return self.point(channel, slope)


def _leakless(problem: Lagrangian) -> tuple[Floats, float]:
    """A law u(y, x) without leakage, and a lower bound of the distortion of all such laws."""
    n, k, m = problem.shape
    best = np.zeros((k, n))
    best[np.argmin(problem.distortion @ problem.p)] = problem.p
    bound, least = _bound(problem, np.zeros((k, m))), float((best * problem.distortion).sum())
    open_ = n * k * m <= MOST_ENTRIES and least > bound * (1 + 1e-12)
    if open_ and (found := _solved(problem)):
        bound = max(bound, _bound(problem, found[1]))
        fitted = problem.fitted(found[0])
        cheaper = float((fitted * problem.distortion).sum()) < least
        if cheaper and problem.leakage(fitted) <= ROUNDED:
            best = fitted
    return best, bound


def _solved(problem: Lagrangian) -> tuple[Floats, Floats] | None:
    """The program's solution u, shape (k, n), and g, shape (k, m); None where there is none.

    What a column may not have is a part along the left singular vectors of p(w|x) - p(w): well
    scaled, and none of it said twice. Unknown are u / sqrt(p), between the sizes of u and q: a
    solver takes coefficients below 1e-9 for 0.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, diags, identity, kron, vstack

    n, k, _ = problem.shape
    left, values, right = np.linalg.svd(problem.conditional - problem.prior, full_matrices=False)
    rank = int((values > RANK).sum())
    sizes = np.sqrt(problem.p)
    margins = kron(np.ones((1, k)), diags(sizes))
    tells = kron(identity(k), csr_array(left[:, :rank].T * sizes))
    done = linprog(
        (problem.distortion * sizes).ravel(),
        A_eq=vstack([margins, tells], format="csr"),
        b_eq=np.concatenate([problem.p, np.zeros(k * rank)]),
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if done.status != 0:
        return None
    u = np.maximum(done.x.reshape(k, n), 0) * sizes
    if not (u.sum(axis=0) > 0).all():
        return None
    prices = -done.eqlin.marginals[n:].reshape(k, rank)
    return u, (prices / values[:rank]) @ right[:rank]


def _bound(problem: Lagrangian, prices: Floats) -> float:
    # sum_w (p(w|x) - p(w)) g(w) is the mean of g under p(w|x), its mean under p(w) taken off.
    centred = prices - (prices @ problem.prior)[:, None]
    return problem.dual(centred, centred, 1.0)


def seeing(joint: ArrayLike, distortion: ArrayLike) -> tuple[Floats, Floats]:
    """The joint law and distortion of channels q(y|x,w), for :func:`privacy_distortion`.

    What is recoded is the pair (x, w), which is known to hold w, and costs what x does. No recoding
    of X alone, deterministic or random, leaks less at the same distortion: its channel is one of
    these, which does not look at w. They are for measuring. Y may depend on W given X, so that
    I(W;Y) may exceed I(W;X), and who fits one to a table of few records fits it to single people.

    Parameters
    ----------
    joint, distortion
        p(x, w) or counts, shape (n, m), and d(x, y) of at least 0, shape (n, k).

    Returns
    -------
    pairs, costs
        Shapes (n m, m) and (n m, k): the pairs of the first x, then of the second.

    Raises
    ------
    InputError
        As :func:`privacy_distortion` does.

    Examples
    --------
    >>> from anonymizer.channels import privacy_distortion
    >>> law, flips = [[4, 1], [1, 4]], [[0, 1], [1, 0]]
    >>> round(privacy_distortion(law, flips, distortion_limit=0.25).leakage, 6)
    0.065932
    >>> round(privacy_distortion(*seeing(law, flips), distortion_limit=0.25).leakage, 6)
    0.007226
    """
    law = matrix_of("joint", joint)
    costs = require_distortion(distortion, "joint", len(law))
    n, m = law.shape
    require_room(f"pairs of {n} values and {m} sensitive ones", (n * m, m), (n * m, costs.shape[1]))
    pairs = np.zeros((n, m, m))
    pairs[:, np.arange(m), np.arange(m)] = law
    return pairs.reshape(n * m, m), np.repeat(costs, m, axis=0)


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

    Returns
    -------
    list of OptimalChannel
        By growing slope; leakages in ``unit``.
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
    straight: set[int] = set()  # chords that nothing is below, by their left ends
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
    more, less = right.distortion - left.distortion, left.leakage - right.leakage
    return max(more, 0.0), max(less, 0.0)
