"""Distortion against the leakage I(W;Y) about a sensitive attribute W, and its end without leakage.

I(W;Y) = 0 if and only if p(w, y) = p(w) p(y) for every y, which is linear in u(y, x):

    min <d, u>   over u >= 0, sum_y u(y, x) = p(x), sum_x (p(w|x) - p(w)) u(y, x) = 0,

of which the dual says sum_x p(x) min_y [d(y, x) + sum_w p(w|x) g_y(w)] for any g with
sum_w p(w) g_y(w) = 0. One symbol for everybody is feasible, but need not be the best: where p(w|x)
is the same for some x, or has fewer dimensions than there are x, several symbols may tell nothing.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anonymizer.channels.channel import Solved, TradeoffPoint
from anonymizer.channels.source import JointLaw
from anonymizer.channels.tradeoff.answers import ROUNDING, Tradeoff
from anonymizer.channels.tradeoff.lagrangian import EPSILON, Lagrangian
from anonymizer.channels.tradeoff.minimum import minimum
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
    """The dual function at g, made to have no mean."""
    centred = prices - (prices @ problem.prior)[:, None]
    return problem.dual(centred, centred, 1.0)
