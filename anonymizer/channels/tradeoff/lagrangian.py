"""The privacy-distortion problem at a price: least E d(X,Y) + slope * I(W;Y), and its dual bounds.

Rebollo-Monedero, Forne and Domingo-Ferrer (2008) minimise the leakage at a given distortion; its
Lagrangian is convex in the joint law u(y, x) = p(x) q(y|x), because I(W;Y) is a sum of relative
entropies, which are jointly convex and homogeneous of degree 1 (perspectives).

Arrays have one row per released symbol: u, d and the gradient S are (k, n), p(w, y) is (k, m).
Distortion and slope are divided by what one symbol for everybody costs, after the least distortion
of every value is taken off, so that the scale of a problem changes nothing; information is in nats.
"""

from dataclasses import dataclass
from functools import cached_property
from time import monotonic

import numpy as np

from anonymizer.channels.source import JointLaw
from anonymizer.kernels.arrays import Floats

EPSILON = float(np.finfo(float).eps)
LEAST = 1e-300
"""What takes the place of 0 in a logarithm: any law bounds from below, so this one does as well."""

STEEPEST = 1e12
"""The highest slope worked with: the least cost rises with the slope, so its bound holds beyond."""


@dataclass(frozen=True, eq=False)
class Lagrangian:
    """C(u) = <d, u> + slope * I(W;Y), over u >= 0 with sum_y u(y, x) = p(x).

    The arrays are p(x), shape (n,), p(w|x), shape (n, m), and p(w), shape (m,); ``distortion`` is
    d(y, x) above the least of its x, in units of ``scale``, shape (k, n). The slope is in units of
    ``scale`` per nat; at most ``STEEPEST``. A cost c here is offset + scale * c outside.
    """

    p: Floats
    conditional: Floats
    prior: Floats
    distortion: Floats
    slope: float
    offset: float
    scale: float

    @classmethod
    def of(cls, source: JointLaw, distortion: Floats, slope: float) -> "Lagrangian":
        """The problem of a source, of d(x, y) of shape (n, k) and a slope per nat."""
        p = source.p
        least = distortion.min(axis=1)
        above = np.ascontiguousarray((distortion - least[:, None]).T)
        scale = float((above @ p).min()) or float((above @ p).max()) or 1.0
        return cls(
            p,
            source.conditional,
            source.prior,
            above / scale,
            min(slope / scale, STEEPEST) if slope < STEEPEST * scale else STEEPEST,
            float(p @ least),
            scale,
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """(n, k, m): values of X, symbols and values of W."""
        return len(self.p), len(self.distortion), len(self.prior)

    @cached_property
    def weights(self) -> Floats:
        """Share of the gap of each value of X where a barrier is followed: p(x)^(1/4).

        Shares of 1. Even shares take the fewest steps where all values are likely (by a third,
        measured on Gaussian grids, against shares of p(x)), but then a value of probability 1e-12
        is never central.
        """
        shares = self.p**0.25
        return np.asarray(shares / shares.sum())

    @property
    def base(self) -> float:
        """The offset in units of ``scale``."""
        return self.offset / self.scale

    def uniform(self) -> Floats:
        """Every symbol alike for every value: Y tells nothing."""
        return np.tile(self.p / len(self.distortion), (len(self.distortion), 1))

    def ratios(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Ln p(w|y) / p(w), p(w, y) and p(y)."""
        law = np.maximum(u @ self.conditional, LEAST)
        mass = np.maximum(u.sum(axis=1), LEAST)
        return np.log(np.maximum(law / mass[:, None] / self.prior, LEAST)), law, mass

    def gradient(self, ratios: Floats) -> Floats:
        """S(y, x) = d(y, x) + slope * sum_w p(w|x) ln(p(w|y) / p(w)); C(u) = <u, S>."""
        return np.asarray(self.distortion + self.slope * (ratios @ self.conditional.T))

    def fitted(self, u: Floats) -> Floats:
        """Make the law of x exactly p(x)."""
        return np.asarray(u * (self.p / u.sum(axis=0)))

    def leakage(self, u: Floats) -> float:
        """I(W;Y) in nats as sum p(y) p(w) h(p(w|y) / p(w) - 1), h(e) = (1 + e) ln(1 + e) - e >= 0.

        No term is negative, so that what is next to nothing does not drown in rounding; what may
        be rounding itself is nothing.
        """
        mass = u.sum(axis=1)
        some = mass > 0
        beyond = (u[some] @ self.conditional) / mass[some, None] / self.prior - 1
        beyond[np.abs(beyond) <= (len(self.p) + 16) * EPSILON] = 0.0
        logs = np.log1p(beyond, out=np.zeros_like(beyond), where=beyond > -1)
        terms = np.maximum((1 + beyond) * logs - beyond, 0) @ self.prior
        return float(mass[some] @ terms)

    def cost(self, u: Floats) -> float:
        """C(u) of a feasible u."""
        return float((u * self.distortion).sum() + self.slope * self.leakage(u))

    def bound(self, ratios: Floats) -> float:
        """g(r) = sum_x p(x) min_y [d + slope sum_w p(w|x) ln(r_y(w) / p(w))] <= C* (duality).

        True for whatever laws r_y(w) = p(w) exp(ratios): I(W;Y) is the greatest of
        sum p(w, y) ln(r_y(w) / p(w)) over r. A law of which the sum is 1 + e gives at most
        slope * e too much, which is taken off; so is what rounding may add: every sum has at most
        n + m terms, and an error of at most that many epsilons of the sum of their magnitudes.
        """
        # exp(690) is still a number; any ratios will do, as the bound is one for all laws.
        excess = np.expm1(np.minimum(ratios, 690.0)) @ self.prior
        lawful = np.minimum(ratios - np.log1p(np.maximum(excess, EPSILON - 1))[:, None], 690.0)
        beyond = np.expm1(lawful)
        return self.dual(lawful, beyond, self.slope)

    def dual(self, gains: Floats, excess: Floats, slope: float) -> float:
        """sum_x p(x) min_y [d + slope sum_w p(w|x) gains_y(w)], less what rounding may add.

        Less sum_w p(w) excess_y(w), too, which should be 0.
        """
        n, _, m = self.shape
        rounding = (n + m + 16) * EPSILON
        slack = np.maximum(excess @ self.prior, 0) + rounding * (np.abs(excess) @ self.prior)
        gained = gains @ self.conditional.T
        gained -= rounding * (np.abs(gains) @ self.conditional.T) + slack[:, None]
        least = (self.distortion * (1 - rounding) + slope * gained).min(axis=0)
        found = float(self.p @ least - rounding * (self.p @ np.abs(least)))
        return found if found > 0 else 0.0

    def outside(self, cost: float) -> float:
        """A lower bound in the units of what was given; rounded down."""
        n = len(self.p)
        return (self.offset + self.scale * cost) * (1 - (n + 16) * EPSILON)


@dataclass(eq=False)
class CheapestLaw:
    """The cheapest law u(y, x) so far with its cost, and the highest lower bound of all costs."""

    problem: Lagrangian
    tolerance: float
    deadline: float
    method: str
    u: Floats
    cost: float
    bound: float = 0.0
    steps: int = 0

    @property
    def value(self) -> float:
        """The cost with the offset, of which tolerances are shares."""
        return self.problem.base + self.cost

    @property
    def allowed(self) -> float:
        """Slack of a bound below its best that may still prove the law."""
        return 0.2 * self.tolerance * self.value

    def proven(self, tolerance: float | None = None) -> bool:
        """Return whether the gap is within a share of the cost, or a single symbol's rounding."""
        share = self.tolerance if tolerance is None else tolerance
        return self.cost - self.bound <= share * self.value + EPSILON

    def ended(self, share: float = 1.0) -> bool:
        """Return whether a share of the tolerance is reached, or the time is over."""
        return self.proven(share * self.tolerance) or monotonic() > self.deadline

    def look(self, u: Floats, ratios: Floats) -> bool:
        """Take a law and the bound of some ratios into account; whether to end, with some room."""
        fitted = self.problem.fitted(u)
        cost = self.problem.cost(fitted)
        if cost < self.cost:
            self.u, self.cost = fitted, cost
        self.prove(ratios)
        return self.ended(0.9)

    def prove(self, ratios: Floats) -> None:
        """Raise the bound, where these ratios do."""
        self.bound = max(self.bound, self.problem.bound(ratios))
