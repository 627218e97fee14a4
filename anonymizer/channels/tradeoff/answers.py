"""The least cost at a slope, or the least of leakage or distortion at a limit of the other.

These are the same steps whatever the information is about: a sensitive attribute, or X itself.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.channels.channel import OptimalChannel
from anonymizer.channels.source import expected, filled
from anonymizer.channels.tradeoff.lagrangian import EPSILON
from anonymizer.channels.tradeoff.limits import Limit, Met, Point, Solved, met
from anonymizer.channels.validation import nats_per
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats

__all__ = ["Tradeoff", "at_distortion", "at_leakage", "at_slope", "priced"]

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

    def distorted(self, channel: Floats) -> float:
        """E d(X, Y) of a channel, shape (n, k)."""
        return expected(self.p, channel, self.distortion)

    @property
    def least_distortion(self) -> float:
        """Lower bound of E d: that of the cheapest symbol of every value, less rounding."""
        rounding = (len(self.p) + 16) * EPSILON
        return float(self.p @ self.distortion.min(axis=1)) * (1 - rounding)

    @abstractmethod
    def leakage(self, channel: Floats) -> float:
        """The information of a channel, shape (n, k)."""

    @abstractmethod
    def solve(self, slope: float, tolerance: float) -> Solved:
        """The best channel at a slope per nat, to a relative tolerance."""

    @property
    @abstractmethod
    def near(self) -> Point:
        """The point of least distortion and, of these, least leakage."""

    @property
    @abstractmethod
    def single(self) -> Point:
        """The best single symbol for everybody, which leaks nothing."""

    @property
    @abstractmethod
    def far(self) -> Point:
        """The point of least distortion without leakage."""

    @abstractmethod
    def silent(self) -> Met:
        """The least distortion without leakage, with its bound."""

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
        near = problem.near
        found = Met(near.channel, problem.least_distortion, slope)
        return _answer(problem, found, "cost", unit, near.distortion)
    return priced(problem, problem.solve(slope / nats_per(unit), problem.tolerance), unit)


def priced(problem: Tradeoff, solved: Solved, unit: str) -> OptimalChannel:
    """The answer at a slope."""
    point = solved.point
    found = Met(point.channel, solved.bound, point.slope, solved.steps, solved.method)
    return _answer(problem, found, "cost", unit, point.distortion)


def at_distortion(problem: Tradeoff, limit: float, unit: str) -> OptimalChannel:
    """The least leakage at a distortion."""
    least = problem.least_distortion
    if limit < least:
        raise InputError(
            f"distortion_limit = {limit:.9g} is below the least possible, {least:.9g}, "
            "of the cheapest symbol for every value"
        )
    near, far = problem.near, problem.far
    if limit * (1 + ROUNDING) >= far.distortion:
        found = Met(far.channel, 0.0, None)
    elif limit <= near.distortion:
        found = Met(near.channel, problem.least_leakage(limit), None)
    else:
        tolerance = problem.searched * problem.tolerance
        wanted = Limit(limit, problem.distorted, problem.leakage, of_leakage=False)
        noise = lambda slope: problem.noise("leakage", slope)  # noqa: E731
        found = met(wanted, near, far, 0.0, problem.solve, tolerance, noise)
    terms = problem.leakage(found.channel) + (limit / found.slope if found.slope else 0.0)
    return _answer(problem, found, "leakage", unit, terms)


def at_leakage(problem: Tradeoff, limit: float, unit: str) -> OptimalChannel:
    """The least distortion at a leakage in nats."""
    near, least = problem.near, problem.least_distortion
    if limit == 0:
        found = problem.silent()
    elif limit >= near.leakage:
        found = Met(near.channel, least, None)
    else:
        tolerance = problem.searched * problem.tolerance
        wanted = Limit(limit, problem.distorted, problem.leakage, of_leakage=True)
        noise = lambda slope: problem.noise("distortion", slope)  # noqa: E731
        found = met(wanted, near, problem.single, least, problem.solve, tolerance, noise)
    terms = problem.distorted(found.channel) + (found.slope or 0.0) * limit
    return _answer(problem, found, "distortion", unit, terms)


def _answer(
    problem: Tradeoff, found: Met, minimised: str, unit: str, terms: float
) -> OptimalChannel:
    """With a row for every value of X, in the unit, the gap judged."""
    leakage = problem.leakage(found.channel)
    if minimised != "cost" and leakage <= ROUNDING:
        leakage = 0.0
    return OptimalChannel.of(
        filled(found.channel, problem.p, problem.rows, problem.values),
        problem.distorted(found.channel),
        leakage,
        minimised,
        found.bound,
        slope=found.slope,
        tolerance=problem.tolerance,
        rounding=ROUNDING * terms + problem.rounding(minimised, found.slope or 0.0),
        unit=unit,
        method=found.method or problem.method,
        iterations=found.steps,
    )
