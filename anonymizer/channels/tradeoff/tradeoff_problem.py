"""A source and a distortion with the method that answers questions about them."""

from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic

import numpy as np

from anonymizer.channels.source import Floats, Source
from anonymizer.channels.tradeoff.limits import Met, Point, Solved
from anonymizer.channels.tradeoff.minimum import minimum
from anonymizer.channels.tradeoff.problem import EPSILON, Lagrangian
from anonymizer.channels.tradeoff.zero_leakage import ROUNDED, leakless

__all__ = ["Question"]

DEAR = (1e3, 1e6, 1e9)
"""Prices of a nat, beside the distortion of a single symbol, at which leakage does not pay."""

FINEST = 1e-16
"""The least relative tolerance that is aimed at: nothing finer is a number beside 1."""

FORBIDDEN = 1e4
"""Nats that a symbol costs that is not among the nearest, where only those may be used."""


@dataclass(frozen=True, eq=False)
class Question:
    """The values that occur, d(x, y) of them, shape (n, k), and how their curve is found.

    Parameters
    ----------
    source, distortion
        What it is about.
    method
        One of ``METHODS``.
    tolerance
        Relative.
    deadline
        The time of ``monotonic`` at which to end with what there is.
    """

    source: Source
    distortion: Floats
    method: str
    tolerance: float
    deadline: float

    @cached_property
    def measures(self) -> Lagrangian:
        """The problem at no price: it measures channels."""
        return Lagrangian.of(self.source, self.distortion, 0.0)

    def distorted(self, channel: Floats) -> float:
        """E d(X, Y) of a channel, shape (n, k)."""
        return self.source.expected(channel, self.distortion)

    def leakage(self, channel: Floats) -> float:
        """I(W;Y) of a channel, shape (n, k), in nats."""
        return self.measures.leakage(self.measures.p * channel.T)

    def point(self, u: Floats, slope: float | None = None) -> Point:
        """The point of a joint law u(y, x)."""
        channel = np.ascontiguousarray((u / self.source.p).T)
        channel /= channel.sum(axis=1, keepdims=True)
        return Point(channel, self.distorted(channel), self.leakage(channel), slope)

    def solve(self, slope: float, tolerance: float) -> Solved:
        """The best channel at a slope per nat, to a relative tolerance."""
        problem = Lagrangian.of(self.source, self.distortion, slope)
        found = minimum(problem, max(tolerance, FINEST), self.method, self.deadline)
        bound = problem.outside(found.bound)
        return Solved(self.point(found.u, slope), bound, found.steps, found.method)

    @cached_property
    def least_distortion(self) -> float:
        """Lower bound of E d: that of the cheapest symbol of every value, less rounding."""
        rounding = (len(self.source.p) + 16) * EPSILON
        return float(self.source.p @ self.distortion.min(axis=1)) * (1 - rounding)

    @cached_property
    def near(self) -> tuple[Point, float]:
        """The point of least distortion and, of these, least leakage; a lower bound of that."""
        above = self.distortion - self.distortion.min(axis=1, keepdims=True)
        problem = Lagrangian.of(self.source, np.where(above > 0, FORBIDDEN, 0.0), 1.0)
        found = minimum(problem, self.tolerance, self.exact, self.deadline)
        nearest = np.where(above.T > 0, 0.0, np.maximum(found.u, 1e-30 * problem.p))
        return self.point(problem.fitted(nearest)), problem.outside(found.bound)

    @cached_property
    def single(self) -> Point:
        """The best single symbol for everybody: it tells nothing."""
        u = np.zeros_like(self.measures.distortion)
        u[np.argmin(self.measures.distortion @ self.measures.p)] = self.measures.p
        return replace(self.point(u), leakage=0.0)

    @cached_property
    def far(self) -> tuple[Point, float]:
        """The point of least distortion without leakage, and a lower bound of it."""
        u, bound = leakless(self.measures)
        return replace(self.point(u), leakage=0.0), self.measures.outside(bound)

    def silent(self) -> Met:
        """The least distortion without leakage.

        Where the linear program proves nothing, ever higher prices do: C*(slope) <= D then; and
        what is bought at them may leak no more than rounding.
        """
        (far, bound), steps = self.far, 0
        for slope in DEAR:
            if far.distortion - bound <= self.tolerance * far.distortion:
                break
            solved = self.solve(slope * self.measures.scale, 0.1 * self.tolerance)
            point = solved.point
            if point.leakage <= ROUNDED and point.distortion < far.distortion:
                far = point
            bound, steps = max(bound, solved.bound), steps + solved.steps
        # What leaks no more than rounding may distort a little less than what leaks nothing.
        return Met(far.channel, min(bound, far.distortion), None, steps)

    def least_leakage(self, limit: float) -> float:
        """Lower bound of I where E d is at most a limit that is the least, but for rounding.

        I + FORBIDDEN * (chance of another symbol than the nearest) is at least that of the ends,
        and that chance is at most what the limit is above the least, by what the cheapest of the
        others distorts more.
        """
        above = self.distortion - self.distortion.min(axis=1, keepdims=True)
        dearer = float(above[above > 0].min(initial=np.inf))
        spare = max(0.0, limit * (1 + EPSILON) - self.least_distortion)
        _, least_leakage = self.near
        return max(0.0, least_leakage - FORBIDDEN * (spare / dearer) * (1 + 4 * EPSILON))

    @property
    def exact(self) -> str:
        """The method of the ends: the published descent finds none of them."""
        return "automatic" if self.method == "steepest-descent" else self.method

    @staticmethod
    def within(seconds: float | None) -> float:
        """The deadline after some seconds."""
        return float("inf") if seconds is None else monotonic() + seconds
