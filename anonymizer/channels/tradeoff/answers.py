"""The least cost at a slope, or the least of leakage or distortion at a limit of the other.

These are the same steps whatever the information is about: a sensitive attribute, or X itself.

D and I of the channels that minimise D + slope * I lie on the lower convex boundary of what can be
had, and bound everything else: D + slope * I >= C*(slope). Two of them on either side of a limit
are mixed to meet it; I is convex in the channel, so that the mix is at or below their chord. The
next slope is that of the chord, which ends exactly on straight pieces, or between those of the two
channels, which ends sooner on smooth ones.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, log, sqrt
from typing import ClassVar

import numpy as np

from anonymizer.channels.channel import OptimalChannel, Solved, TradeoffPoint
from anonymizer.channels.source import expected, filled
from anonymizer.channels.tradeoff.lagrangian import EPSILON
from anonymizer.channels.validation import nats_per
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats

ROUNDING = 1e-14
"""Of the terms of what is minimised: allowed in addition to the tolerance."""

SOLVES = 60

FINEST = 1e-10
"""The least relative tolerance of a cost that is required on the way."""


@dataclass(frozen=True, eq=False)
class Tradeoff(ABC):
    """Distortion against information in nats, with the method that finds the best channels.

    ``p`` and ``distortion`` are p(x), shape (n,), and d(x, y), shape (n, k), of the values that
    occur: ``rows`` of so many ``values``. The tolerance is relative.
    """

    p: Floats
    distortion: Floats
    rows: Codes
    values: int
    method: str
    tolerance: float
    searched: ClassVar[float] = 1.0
    """Share of the tolerance to which a limit is searched."""

    def point(self, channel: Floats, slope: float | None = None) -> TradeoffPoint:
        """Measure a channel, shape (n, k)."""
        distortion = expected(self.p, channel, self.distortion)
        return TradeoffPoint(channel, distortion, self.leakage(channel), slope)

    @cached_property
    def above(self) -> Floats:
        """d(x, y) - min_y d(x, y), shape (n, k)."""
        return np.asarray(self.distortion - self.distortion.min(axis=1, keepdims=True))

    @property
    def least_distortion(self) -> float:
        """Lower bound of E d by the cheapest symbol of every value, less rounding."""
        rounding = (len(self.p) + 16) * EPSILON
        return float(self.p @ self.distortion.min(axis=1)) * (1 - rounding)

    @cached_property
    def single(self) -> TradeoffPoint:
        """The best single symbol for everybody, which leaks nothing."""
        channel = np.zeros_like(self.distortion)
        channel[:, int((self.p @ self.distortion).argmin())] = 1.0
        return replace(self.point(channel), leakage=0.0)

    @property
    @abstractmethod
    def near(self) -> Solved:
        """The point of least distortion and, of these, least leakage; a bound of the latter."""

    @property
    @abstractmethod
    def far(self) -> Solved:
        """The point of least distortion without leakage, and a bound of it."""

    @abstractmethod
    def leakage(self, channel: Floats) -> float:
        """The information of a channel, shape (n, k)."""

    @abstractmethod
    def solve(self, slope: float, tolerance: float) -> Solved:
        """The best channel at a slope per nat, to a relative tolerance."""

    def silent(self) -> Solved:
        """``far``, with whatever it takes for a close bound."""
        return self.far

    @abstractmethod
    def least_leakage(self, limit: float) -> float:
        """Lower bound of the leakage where E d is at most a limit: the least, but for rounding."""

    @abstractmethod
    def noise(self, minimised: str, slope: float) -> float:
        """Part of a bound that rounding leaves open: a search ends there."""

    @abstractmethod
    def rounding(self, minimised: str, slope: float) -> float:
        """Rounding that a certificate allows, in addition to a share of the value's terms."""


@dataclass(frozen=True, eq=False)
class LimitSearch:
    """The least leakage of channels of at most a distortion; or, ``of_leakage``, the reverse."""

    problem: Tradeoff
    limit: float
    of_leakage: bool

    def position(self, point: TradeoffPoint) -> float:
        """Quantity that the limit is about."""
        return point.leakage if self.of_leakage else point.distortion

    def value(self, point: TradeoffPoint) -> float:
        """Minimised quantity."""
        return point.distortion if self.of_leakage else point.leakage

    def best(self, near: TradeoffPoint, far: TradeoffPoint) -> TradeoffPoint:
        """The mix with as much of the near channel as the limit allows, which is never exceeded.

        D is linear along the mix, and I convex: no higher than the mix of both.
        """

        def mixed(share: float) -> TradeoffPoint:
            return self.problem.point(share * near.channel + (1 - share) * far.channel)

        if self.of_leakage:
            # The mix at low holds the limit: the far end leaks nothing, and I is convex.
            low, high = 0.0, 1.0
            while high - low > 1e-15 * high and (share := 0.5 * (low + high)) not in (low, high):
                low, high = (share, high) if mixed(share).leakage <= self.limit else (low, share)
            return mixed(low)
        apart = far.distortion - near.distortion
        # Rounding may bring the mix beyond the limit: then more of the near one, and more again.
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

    def met(self, far: TradeoffPoint, bound: float) -> Solved:
        """Close in on the limit from both ends, until the bound is close to the value."""
        problem, near = self.problem, self.problem.near.point
        tolerance = problem.searched * problem.tolerance
        minimised = "distortion" if self.of_leakage else "leakage"
        slope, steps, sides, method = None, 0, "", None
        tried: dict[str, float] = {}
        # The limit lies between near and far, and no channel that holds it has less than the bound.
        for _ in range(SOLVES):
            best = self.best(near, far)
            value = self.value(best)
            gap = value - bound
            following = self._next_slope(near, far, sides)
            noise = problem.noise(minimised, slope or 0.0)
            if gap <= max(tolerance * value, noise) or following is None:
                break
            needed = self.share(max(0.3 * tolerance * value, 0.01 * gap), value, following)
            share, name = max(needed, FINEST), f"{following:.9g}"
            if tried.get(name, 1.0) <= FINEST and near.slope and far.slope:
                following = sqrt(near.slope * far.slope)
                name = f"{following:.9g}"
            if tried.get(name, 1.0) <= FINEST:
                break
            # A slope comes back when its answer was too coarse to close the gap.
            tried[name] = min(share, max(0.1 * tried.get(name, 1.0), FINEST))
            solved = problem.solve(following, tried[name])
            steps, method = steps + solved.steps, solved.method
            if self.bound(solved, following) > bound:
                bound, slope = self.bound(solved, following), following
            if (self.position(solved.point) > self.limit) == self.of_leakage:
                near, sides = solved.point, sides + "n"
            else:
                far, sides = solved.point, sides + "f"
        else:
            best = self.best(near, far)
        return Solved(replace(best, slope=slope), bound, steps, method)

    def _next_slope(self, near: TradeoffPoint, far: TradeoffPoint, sides: str) -> float | None:
        """The slope of the chord, or one between those of the points; None if nothing is between.

        Every second is that of the chord: it ends on straight pieces, where guesses never do. After
        two on the same side, the middle: the guess of a curve that bends sharply creeps. (A chord
        every third time takes 9 % more steps on random and Gaussian problems.)
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
        reached = self.position(near)
        passed = (self.limit - reached) / (self.position(far) - reached)
        return exp(left + passed * (right - left))


def answered(problem: Tradeoff, given: str, value: float, unit: str) -> OptimalChannel:
    """The answer at a ``"slope"``, a ``"distortion_limit"`` or a limit of the leakage."""
    if given == "slope":
        return priced(problem, value, unit)
    if given == "distortion_limit":
        return _at_distortion(problem, value, unit)
    return _at_leakage(problem, value * nats_per(unit), unit)


def priced(problem: Tradeoff, slope: float, unit: str) -> OptimalChannel:
    """The least cost, at a slope per ``unit``."""
    if slope:
        solved = problem.solve(slope / nats_per(unit), problem.tolerance)
    else:
        solved = Solved(replace(problem.near.point, slope=0.0), problem.least_distortion)
    return optimal(problem, solved, "cost", unit, solved.point.distortion)


def _at_distortion(problem: Tradeoff, limit: float, unit: str) -> OptimalChannel:
    least = problem.least_distortion
    if limit < least:
        raise InputError(
            f"distortion_limit = {limit:.9g} is below the least possible, {least:.9g}, "
            "of the cheapest symbol for every value"
        )
    near, far = problem.near.point, problem.far.point
    if limit * (1 + ROUNDING) >= far.distortion:
        found = Solved(far, 0.0)
    elif limit <= near.distortion:
        found = Solved(near, problem.least_leakage(limit))
    else:
        found = LimitSearch(problem, limit, False).met(far, 0.0)
    slope = found.point.slope
    terms = found.point.leakage + (limit / slope if slope else 0.0)
    return optimal(problem, found, "leakage", unit, terms)


def _at_leakage(problem: Tradeoff, limit: float, unit: str) -> OptimalChannel:
    """Answer for a limit in nats."""
    near, least = problem.near.point, problem.least_distortion
    if limit == 0:
        found = problem.silent()
    elif limit >= near.leakage:
        found = Solved(near, least)
    else:
        found = LimitSearch(problem, limit, True).met(problem.single, least)
    terms = found.point.distortion + (found.point.slope or 0.0) * limit
    return optimal(problem, found, "distortion", unit, terms)


def optimal(
    problem: Tradeoff, found: Solved, minimised: str, unit: str, terms: float
) -> OptimalChannel:
    """With a row for every value of X, in the unit, certified to a tolerance of the terms."""
    point = found.point
    negligible = minimised != "cost" and point.leakage <= ROUNDING
    full = filled(point.channel, problem.p, problem.rows, problem.values)
    point = replace(point, channel=full, leakage=0.0 if negligible else point.leakage)
    found = replace(found, point=point, method=found.method or problem.method)
    rounding = ROUNDING * terms + problem.rounding(minimised, point.slope or 0.0)
    return OptimalChannel.of(found, minimised, unit, problem.tolerance, rounding)
