"""The least leakage at a distortion and the least distortion at a leakage, by prices.

D and I of the channels that minimise D + slope * I lie on the lower convex boundary of what can be
had, and bound everything else: D + slope * I >= C*(slope). Two of them on either side of a limit
are mixed to meet it; I is convex in the channel, so that the mix is at or below their chord. The
next slope is that of the chord, which ends exactly on straight pieces, or between those of the two
channels, which ends sooner on smooth ones.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, log, sqrt

from anonymizer.channels.tradeoff.lagrangian import EPSILON
from anonymizer.kernels.arrays import Floats

SOLVES = 60

FINEST = 1e-10
"""The least relative tolerance of a cost that is required on the way."""


@dataclass(frozen=True, eq=False)
class Point:
    """A channel q(y|x), shape (n, k), with its distortion, its leakage in nats and its slope.

    The slope is that per nat for which it is the best, where it was found by one.
    """

    channel: Floats
    distortion: float
    leakage: float
    slope: float | None = None


@dataclass(frozen=True, eq=False)
class Solved:
    """A point, a lower bound of what it minimises, the steps and the method."""

    point: Point
    bound: float
    steps: int = 0
    method: str | None = None


Solve = Callable[[float, float], Solved]
"""The best channel at a slope per nat, to a relative tolerance of the cost."""


@dataclass(frozen=True, eq=False)
class Limit:
    """The least leakage of channels of at most a distortion; or, ``of_leakage``, the reverse."""

    limit: float
    of_leakage: bool
    measured: Callable[[Floats], Point]

    def position(self, point: Point) -> float:
        """What the limit is about."""
        return point.leakage if self.of_leakage else point.distortion

    def value(self, point: Point) -> float:
        """What is minimised."""
        return point.distortion if self.of_leakage else point.leakage

    def is_near(self, point: Point) -> bool:
        """Whether a point is on the side of the least distortion."""
        return (self.position(point) > self.limit) == self.of_leakage

    def best(self, near: Point, far: Point) -> Point:
        """The mix with as much of the near channel as the limit allows, which is never exceeded.

        D is linear along the mix, and I convex: no higher than the mix of both.
        """

        def mixed(share: float) -> Point:
            return self.measured(share * near.channel + (1 - share) * far.channel)

        if self.of_leakage:
            low, high = 0.0, 1.0
            while high - low > 1e-15 * high and (share := 0.5 * (low + high)) not in (low, high):
                low, high = (share, high) if mixed(share).leakage <= self.limit else (low, share)
            return mixed(low)
        apart = far.distortion - near.distortion
        share, missing = (far.distortion - self.limit) / apart if apart > 0 else 1.0, 1e-16
        while (found := mixed(share)).distortion > self.limit and share < 1:
            share, missing = min(1.0, share + missing), 2 * missing
        return found

    def bound(self, solved: Solved, slope: float) -> float:
        """D >= C* - slope * I, or I >= (C* - D) / slope; what is subtracted is rounded up."""
        subtracted = slope * self.limit if self.of_leakage else self.limit
        left = max(0.0, solved.bound - subtracted * (1 + 4 * EPSILON)) * (1 - 4 * EPSILON)
        return left if self.of_leakage else left / slope

    def share(self, gap: float, value: float, slope: float) -> float:
        """A gap of what is minimised as a share of the cost at a slope."""
        if self.of_leakage:
            return gap / (value + slope * self.limit)
        return gap * slope / (self.limit + slope * value)


def met(
    limit: Limit,
    near: Point,
    far: Point,
    bound: float,
    solve: Solve,
    tolerance: float,
    noise: Callable[[float], float],
) -> Solved:
    """Close in on a limit between two points, until the bound is close to the value.

    ``noise`` is what rounding leaves open of the bound at a slope.
    """
    slope, steps, sides, method = None, 0, "", None
    tried: dict[str, float] = {}
    for _ in range(SOLVES):
        best = limit.best(near, far)
        value = limit.value(best)
        gap = value - bound
        following = _next_slope(limit, near, far, sides)
        if gap <= max(tolerance * value, noise(slope or 0.0)) or following is None:
            break
        needed = limit.share(max(0.3 * tolerance * value, 0.01 * gap), value, following)
        share, name = max(needed, FINEST), f"{following:.9g}"
        if tried.get(name, 1.0) <= FINEST and near.slope and far.slope:
            following = sqrt(near.slope * far.slope)
            name = f"{following:.9g}"
        if tried.get(name, 1.0) <= FINEST:
            break
        # A slope comes back when its answer was too coarse to close the gap.
        share = min(share, max(0.1 * tried.get(name, 1.0), FINEST))
        tried[name] = share
        solved = solve(following, share)
        steps, method = steps + solved.steps, solved.method
        if limit.bound(solved, following) > bound:
            bound, slope = limit.bound(solved, following), following
        if limit.is_near(solved.point):
            near, sides = solved.point, sides + "n"
        else:
            far, sides = solved.point, sides + "f"
    else:
        best = limit.best(near, far)
    return Solved(replace(best, slope=slope), bound, steps, method)


def _next_slope(limit: Limit, near: Point, far: Point, sides: str) -> float | None:
    """The slope of the chord, or one between those of the points; None where nothing is between.

    Every second is that of the chord: it ends on straight pieces, where guesses never do. After two
    on the same side, the middle: the guess of a curve that bends sharply creeps. (A chord every
    third time takes 9 % more steps on random and Gaussian problems.)
    """
    falls = near.leakage - far.leakage
    chord = (far.distortion - near.distortion) / falls if falls > 0 else 0.0
    if not chord > 0:
        return None
    if near.slope is None or far.slope is None or len(sides) % 2 == 0:
        return chord
    if not near.slope < far.slope:
        return None
    left, right = log(near.slope), log(far.slope)
    if sides[-2:] in ("nn", "ff"):
        return exp(0.5 * (left + right))
    reached = limit.position(near)
    passed = (limit.limit - reached) / (limit.position(far) - reached)
    return exp(left + passed * (right - left))
