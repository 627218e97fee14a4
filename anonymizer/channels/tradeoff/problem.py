"""Distortion against the leakage I(W;Y) about a sensitive attribute W."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anonymizer.channels.source import Source
from anonymizer.channels.tradeoff.answers import ROUNDING, Tradeoff
from anonymizer.channels.tradeoff.lagrangian import EPSILON, Lagrangian
from anonymizer.channels.tradeoff.limits import Met, Point, Solved
from anonymizer.channels.tradeoff.minimum import minimum
from anonymizer.channels.tradeoff.zero_leakage import ROUNDED, leakless
from anonymizer.kernels.arrays import Floats

__all__ = ["LeakageTradeoff"]

DEAR = (1e3, 1e6, 1e9)
"""Prices of a nat, in distortions of a single symbol, at which leakage does not pay."""

FINEST = 1e-16
"""The least relative tolerance that is aimed at: nothing finer is a number next to 1."""

FORBIDDEN = 1e4
"""Nats that a symbol costs that is not among the nearest, where only those may be used."""


@dataclass(frozen=True, eq=False)
class LeakageTradeoff(Tradeoff):
    """A source with p(x, w), and the time of ``monotonic`` to end at with what there is."""

    source: Source
    deadline: float

    @cached_property
    def measures(self) -> Lagrangian:
        """The problem at no price: it measures channels."""
        return Lagrangian.of(self.source, self.distortion, 0.0)

    def leakage(self, channel: Floats) -> float:  # noqa: D102
        return self.measures.leakage(self.p * channel.T)

    def solve(self, slope: float, tolerance: float) -> Solved:  # noqa: D102
        problem = Lagrangian.of(self.source, self.distortion, slope)
        found = minimum(problem, max(tolerance, FINEST), self.method, self.deadline)
        bound = problem.outside(found.bound)
        return Solved(self._point(found.u, slope), bound, found.steps, found.method)

    @property
    def near(self) -> Point:  # noqa: D102
        return self._nearest[0]

    @cached_property
    def single(self) -> Point:  # noqa: D102
        u = np.zeros_like(self.measures.distortion)
        u[np.argmin(self.measures.distortion @ self.p)] = self.p
        return replace(self._point(u), leakage=0.0)

    @property
    def far(self) -> Point:  # noqa: D102
        return self._leakless[0]

    def silent(self) -> Met:
        """The least distortion without leakage.

        Where the linear program proves nothing, ever higher prices do: C*(slope) <= D then; and
        what is bought at them may leak no more than rounding.
        """
        (far, bound), steps = self._leakless, 0
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
        return max(0.0, self._nearest[1] - FORBIDDEN * (spare / dearer) * (1 + 4 * EPSILON))

    def noise(self, minimised: str, slope: float) -> float:  # noqa: D102
        return ROUNDING if minimised == "leakage" else 0.0

    def rounding(self, minimised: str, slope: float) -> float:
        """An epsilon of the distortion of a single symbol, where nothing need be paid at all."""
        return 0.0 if minimised == "leakage" else EPSILON * self.measures.scale

    def _point(self, u: Floats, slope: float | None = None) -> Point:
        """The point of a joint law u(y, x)."""
        channel = np.ascontiguousarray((u / self.p).T)
        channel /= channel.sum(axis=1, keepdims=True)
        return Point(channel, self.distorted(channel), self.leakage(channel), slope)

    @cached_property
    def _nearest(self) -> tuple[Point, float]:
        """The near point and a lower bound of its leakage; the published descent finds neither."""
        above = self.distortion - self.distortion.min(axis=1, keepdims=True)
        problem = Lagrangian.of(self.source, np.where(above > 0, FORBIDDEN, 0.0), 1.0)
        method = "automatic" if self.method == "steepest-descent" else self.method
        found = minimum(problem, self.tolerance, method, self.deadline)
        nearest = np.where(above.T > 0, 0.0, np.maximum(found.u, 1e-30 * problem.p))
        return self._point(problem.fitted(nearest)), problem.outside(found.bound)

    @cached_property
    def _leakless(self) -> tuple[Point, float]:
        """The far point and a lower bound of its distortion."""
        u, bound = leakless(self.measures)
        return replace(self._point(u), leakage=0.0), self.measures.outside(bound)
