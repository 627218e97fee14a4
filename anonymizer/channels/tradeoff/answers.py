"""The least cost at a slope, or the least of leakage or distortion at a limit of the other.

These are the same steps whatever the information is about: a sensitive attribute, or X itself.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from anonymizer.channels.channel import OptimalChannel
from anonymizer.channels.source import expected, filled
from anonymizer.channels.tradeoff.lagrangian import EPSILON
from anonymizer.channels.tradeoff.limits import Limit, Point, Solved, met
from anonymizer.channels.validation import nats_per
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats

ROUNDING = 1e-14
"""Of the terms of what is minimised: allowed in addition to the tolerance."""


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

    def point(self, channel: Floats, slope: float | None = None) -> Point:
        """What a channel, shape (n, k), comes to."""
        distortion = expected(self.p, channel, self.distortion)
        return Point(channel, distortion, self.leakage(channel), slope)

    @property
    def least_distortion(self) -> float:
        """Lower bound of E d: that of the cheapest symbol of every value, less rounding."""
        rounding = (len(self.p) + 16) * EPSILON
        return float(self.p @ self.distortion.min(axis=1)) * (1 - rounding)

    @cached_property
    def single(self) -> Point:
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

    @abstractmethod
    def silent(self) -> Solved:
        """``far``, with whatever it takes for a close bound."""

    @abstractmethod
    def least_leakage(self, limit: float) -> float:
        """Lower bound of the leakage where E d is at most a limit: the least, but for rounding."""

    @abstractmethod
    def noise(self, minimised: str, slope: float) -> float:
        """What rounding leaves open of a bound: a search ends there."""

    @abstractmethod
    def rounding(self, minimised: str, slope: float) -> float:
        """What a certificate allows for rounding, in addition to a share of the value's terms."""


def at_slope(problem: Tradeoff, slope: float, unit: str) -> OptimalChannel:
    """The least cost, at a slope per ``unit``."""
    if slope == 0:
        near = replace(problem.near.point, slope=0.0)
        return priced(problem, Solved(near, problem.least_distortion), unit)
    return priced(problem, problem.solve(slope / nats_per(unit), problem.tolerance), unit)


def priced(problem: Tradeoff, solved: Solved, unit: str) -> OptimalChannel:
    """The answer at a slope."""
    return _answer(problem, solved, "cost", unit, solved.point.distortion)


def at_distortion(problem: Tradeoff, limit: float, unit: str) -> OptimalChannel:
    """The least leakage at a distortion."""
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
        found = _met(problem, Limit(limit, False, problem.point), far, 0.0)
    slope = found.point.slope
    terms = found.point.leakage + (limit / slope if slope else 0.0)
    return _answer(problem, found, "leakage", unit, terms)


def at_leakage(problem: Tradeoff, limit: float, unit: str) -> OptimalChannel:
    """The least distortion at a leakage in nats."""
    near, least = problem.near.point, problem.least_distortion
    if limit == 0:
        found = problem.silent()
    elif limit >= near.leakage:
        found = Solved(near, least)
    else:
        found = _met(problem, Limit(limit, True, problem.point), problem.single, least)
    terms = found.point.distortion + (found.point.slope or 0.0) * limit
    return _answer(problem, found, "distortion", unit, terms)


def _met(problem: Tradeoff, limit: Limit, far: Point, bound: float) -> Solved:
    minimised = "distortion" if limit.of_leakage else "leakage"
    tolerance = problem.searched * problem.tolerance
    noise = partial(problem.noise, minimised)
    return met(limit, problem.near.point, far, bound, problem.solve, tolerance, noise)


def _answer(
    problem: Tradeoff, found: Solved, minimised: str, unit: str, terms: float
) -> OptimalChannel:
    """With a row for every value of X, in the unit, the gap judged."""
    point = found.point
    negligible = minimised != "cost" and point.leakage <= ROUNDING
    return OptimalChannel.of(
        filled(point.channel, problem.p, problem.rows, problem.values),
        point.distortion,
        0.0 if negligible else point.leakage,
        minimised,
        found.bound,
        slope=point.slope,
        tolerance=problem.tolerance,
        rounding=ROUNDING * terms + problem.rounding(minimised, point.slope or 0.0),
        unit=unit,
        method=found.method or problem.method,
        iterations=found.steps,
    )
