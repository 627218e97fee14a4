"""The program handed to Clarabel: an interior-point solver for cones (Goulart, Chen 2024).

Variables: u(x,y); for every demand V_wy / p_w; M_y; the epigraphs of the exponential cones; for
distances the work of every run; for epsilon the largest q(y|x). V has variables of its own, so that
all conditions touch the m values of W and not the n of X: the factors stay sparse.

Scaled so that Clarabel's absolute tolerances mean something: u by n (rows of u sum to 1 on
average), d by its mean, V_w by p_w. Unscaled it stops at "almost solved" (measured on Adult).
The cones are not divided by p_w, though it would make their entries alike: prices of conditions
would then be multiplied by p_w, and lost where it is small (measured: a gap 100 times as wide).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import clarabel
import numpy as np
from scipy import sparse

from anonymizer.channels.program import Demand, Multipliers, Prices, Program, Transport
from anonymizer.kernels.arrays import Codes, Floats


@dataclass
class _Rows:
    """Rows A z + s = b, s in a cone, collected piece by piece."""

    width: int = 0
    height: int = 0
    rows: list[Codes] = field(default_factory=list)
    columns: list[Codes] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    right: list[Floats] = field(default_factory=list)
    cones: list[object] = field(default_factory=list)

    def variables(self, *shape: int) -> Codes:
        """The numbers of new variables."""
        new = self.width + np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape)
        self.width += new.size
        return np.asarray(new)

    def block(self, cone: type, right: Floats) -> Codes:
        """The numbers of new rows, all in one cone (or in threes, in exponential ones)."""
        new = self.height + np.arange(right.size, dtype=np.intp).reshape(right.shape)
        self.height += right.size
        self.right.append(right.ravel())
        if cone is clarabel.ExponentialConeT:
            self.cones += [cone()] * (right.size // 3)
        elif right.size:
            self.cones.append(cone(right.size))
        return np.asarray(new)

    def put(self, rows: Codes, columns: Codes, values: Floats | float) -> None:
        """Entries of A, broadcast against one another."""
        one, two, three = np.broadcast_arrays(rows, columns, values)
        some = three != 0
        self.rows.append(one[some])
        self.columns.append(two[some])
        self.values.append(np.asarray(three[some], float))

    @property
    def matrix(self) -> sparse.csc_matrix:
        """A."""
        entries = np.concatenate(self.values)
        place = (np.concatenate(self.rows), np.concatenate(self.columns))
        return sparse.csc_matrix((entries, place), shape=(self.height, self.width))


def solve(program: Program, accuracy: float) -> tuple[Floats, Multipliers, int]:
    """Solve a program to a relative accuracy, or to the best that Clarabel can have.

    Returns u(x,y) as the solver stopped at it, shape (n, k), the prices of all rows, and the steps.
    """
    n, k = program.distortion.shape
    system = _Rows()
    u = system.variables(n, k)
    system.put(system.block(clarabel.ZeroConeT, program.p * n)[:, None], u, 1.0)
    system.put(system.block(clarabel.NonnegativeConeT, np.zeros((n, k))), u, -1.0)
    masses = system.variables(k)
    held = system.block(clarabel.ZeroConeT, np.zeros(k))
    system.put(held, u, 1.0)
    system.put(held, masses, -1.0)
    priced = [_demanded(system, demand, u, masses) for demand in program.demands]
    # The last margin follows from the others, as all rows sum to p.
    margins = system.block(clarabel.ZeroConeT, program.p[:-1] * n if program.invariant else _NONE)
    system.put(margins, masses[: len(margins)], 1.0)
    mean = system.block(clarabel.ZeroConeT, _NONE if program.drift is None else np.zeros(1))
    if program.drift is not None:
        system.put(mean, masses, program.drift)
    # Rows q <= c_y and q >= e^-epsilon c_y with c_y = e^(epsilon/2) b_y; the second is multiplied
    # by e^(epsilon/2), so that no entry is tiny.
    private = program.epsilon is not None
    factor, share = np.exp((program.epsilon or 0.0) / 2), program.p[:, None] * n
    bounds = np.zeros((n, k * private))
    above = system.block(clarabel.NonnegativeConeT, bounds)
    below = system.block(clarabel.NonnegativeConeT, bounds)
    if private:
        largest = system.variables(k)
        system.put(above, u, 1.0 / share)
        system.put(above, largest, -1.0)
        system.put(below, u, -factor / share)
        system.put(below, largest, 1.0 / factor)
    cost = np.zeros(system.width)
    cost[u] = program.distortion / program.scale
    found = _clarabel(system, cost, accuracy)
    joint = np.nan_to_num(np.asarray(found.x)[u] / n, posinf=0.0, neginf=0.0)
    prices = np.nan_to_num(np.asarray(found.z) * program.scale, posinf=0.0, neginf=0.0)
    at_margins = np.zeros(k)
    at_margins[: len(margins)] = prices[margins]
    weights = tuple(of_demand(prices) for of_demand in priced)
    most, least = prices[above] / share, prices[below] * factor / share
    multipliers = Multipliers(weights, at_margins, float(prices[mean].sum()), most, least)
    return joint, multipliers, int(found.iterations)


_NONE = np.zeros(0)


def _demanded(system: _Rows, demand: Demand, u: Codes, masses: Codes) -> Callable[[Floats], Prices]:
    """The rows of one demand over all symbols; what has its multipliers from all prices."""
    m, k = len(demand.margin), len(masses)
    law, size = system.variables(m, k), demand.margin[:, None]  # V_wy / p_w, and p_w
    defined = system.block(clarabel.ZeroConeT, np.zeros((m, k)))
    share = demand.conditional / demand.margin
    system.put(defined[:, None, :], u[None], share.T[..., None])
    system.put(defined, law, -1.0)
    linear = _bounded(system, demand.linear, law, size)
    runs = tuple(_transported(system, one, law, size, masses) for one in demand.transports)
    rows, total = np.zeros((0, k), np.intp), np.zeros(0, np.intp)
    cones = np.zeros((m * demand.entropic, k, 3), np.intp)
    if demand.entropic:
        # (-t, V_w, p_w M) in the cone V_w exp(-t / V_w) <= p_w M: t >= V_w ln(V_w / (p_w M)).
        epigraph = system.variables(m, k)
        cones = system.block(clarabel.ExponentialConeT, np.zeros((m, k, 3)))
        system.put(cones[..., 0], epigraph, 1.0)
        system.put(cones[..., 1], law, -size)
        system.put(cones[..., 2], masses[None, :], -size)
        rows = _bounded(system, demand.tilts, law, size)
        system.put(rows[:, None, :], epigraph[None], 1.0)
    if demand.total is not None:
        total = system.block(clarabel.NonnegativeConeT, np.zeros(1))
        system.put(total[:, None], epigraph, 1.0)
        system.put(total[:, None], law, (demand.total * demand.margin)[:, None])

    def priced(prices: Floats) -> Prices:
        pulls = tuple((prices[limit], prices[on] - prices[back]) for limit, on, back in runs)
        laws = prices[cones[..., 2]] * size[: len(cones)]
        return Prices(prices[rows], float(prices[total].sum()), laws, prices[linear], pulls)

    return priced


def _bounded(system: _Rows, coefficients: Floats, law: Codes, size: Floats) -> Codes:
    """Rows coefficients V_y <= 0 for every symbol, shape (rows, k)."""
    none = np.zeros((len(coefficients), law.shape[1]))
    rows = system.block(clarabel.NonnegativeConeT, none)
    system.put(rows[:, None, :], law[None], coefficients[..., None] * size)
    return rows


def _transported(
    system: _Rows, one: Transport, law: Codes, size: Floats, masses: Codes
) -> tuple[Codes, Codes, Codes]:
    """Weights'work <= limit M and work at least what has to cross each run, either way."""
    work = system.variables(len(one.rows), len(masses))
    limit = system.block(clarabel.NonnegativeConeT, np.zeros(len(masses)))
    system.put(limit, work, one.weights[:, None])
    system.put(limit, masses, -one.limit)
    forth, back = (_bounded(system, sign * one.rows, law, size) for sign in (1.0, -1.0))
    system.put(forth, work, -1.0)
    system.put(back, work, -1.0)
    return limit, forth, back


def _clarabel(system: _Rows, cost: Floats, accuracy: float) -> clarabel.DefaultSolution:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.direct_solve_method = "qdldl"  # twice as fast here as the supernodal one (measured)
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    quadratic = sparse.csc_matrix((system.width, system.width))
    right = np.concatenate(system.right)
    return clarabel.DefaultSolver(
        quadratic, cost, system.matrix, right, system.cones, settings
    ).solve()
