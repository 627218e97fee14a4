"""The program handed to Clarabel: an interior-point solver for cones (Goulart, Chen 2024).

Variables: u(x,y); for every demand V_wy / p_w; M_y; the epigraphs of the exponential cones; for
distances the work of every run; for epsilon the largest q(y|x). V has variables of its own, so that
all conditions touch the m values of W and not the n of X: the factors stay sparse.

Scaled so that Clarabel's absolute tolerances mean something: u by n (rows of u sum to 1 on
average), d by its mean, V_w by p_w. Unscaled it stops at "almost solved" (measured on Adult).
The cones are not divided by p_w, though it would make their entries alike: prices of conditions
would then be multiplied by p_w, and lost where it is small (measured: a gap 100 times as wide).
"""

from dataclasses import dataclass, field

import clarabel
import numpy as np
from scipy import sparse

from anonymizer.channels.private.program import Multipliers, Program, Weights
from anonymizer.channels.private.requirements import Demand, Transport
from anonymizer.kernels.arrays import Codes, Floats

__all__ = ["Solution", "solve"]


@dataclass(frozen=True, eq=False)
class Solution:
    """What the solver stopped at: u(x,y) as it is, shape (n, k), and the prices of all rows."""

    joint: Floats
    multipliers: Multipliers
    iterations: int


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


@dataclass(frozen=True, eq=False)
class _Places:
    """Where a demand's rows are; shapes end in (k,)."""

    rows: Codes
    total: Codes
    cones: Codes
    size: Floats
    linear: Codes
    transports: tuple[tuple[Codes, Codes, Codes], ...]


def solve(program: Program, accuracy: float) -> Solution:
    """Solve a program to a relative accuracy, or to the best that Clarabel can have."""
    n, k = program.distortion.shape
    system = _Rows()
    u = system.variables(n, k)
    system.put(system.block(clarabel.ZeroConeT, program.p * n)[:, None], u, 1.0)
    system.put(system.block(clarabel.NonnegativeConeT, np.zeros((n, k))), u, -1.0)
    masses = system.variables(k)
    held = system.block(clarabel.ZeroConeT, np.zeros(k))
    system.put(held, u, 1.0)
    system.put(held, masses, -1.0)
    placed = [_demanded(system, demand, u, masses) for demand in program.demands]
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
    above, below = (
        system.block(clarabel.NonnegativeConeT, np.zeros((n, k * private))) for _ in "ml"
    )
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
    weights = tuple(_weights(prices, rows) for rows in placed)
    most, least = prices[above] / share, prices[below] * factor / share
    multipliers = Multipliers(weights, at_margins, float(prices[mean].sum()), most, least)
    return Solution(joint, multipliers, int(found.iterations))


_NONE = np.zeros(0)


def _demanded(system: _Rows, demand: Demand, u: Codes, masses: Codes) -> _Places:
    """The rows of one demand over all symbols."""
    m, k = len(demand.margin), len(masses)
    law = system.variables(m, k)  # V_wy / p_w
    defined = system.block(clarabel.ZeroConeT, np.zeros((m, k)))
    share = demand.conditional / demand.margin
    system.put(defined[:, None, :], u[None], share.T[..., None])
    system.put(defined, law, -1.0)
    scaled = law, demand.margin[:, None]
    linear = _bounded(system, demand.linear, scaled)
    transports = tuple(_transported(system, one, scaled, masses) for one in demand.transports)
    if not demand.entropic:
        return _Places(_EMPTY, _EMPTY, _EMPTY, _NONE[:, None], linear, transports)
    epigraph = system.variables(m, k)
    cones = system.block(clarabel.ExponentialConeT, np.zeros((m, k, 3)))
    size = demand.margin[:, None]
    system.put(cones[..., 0], epigraph, 1.0)
    system.put(cones[..., 1], law, -size)
    system.put(cones[..., 2], masses[None, :], -size)
    rows = _bounded(system, demand.tilts, scaled)
    system.put(rows[:, None, :], epigraph[None], 1.0)
    total = system.block(clarabel.NonnegativeConeT, np.zeros(int(demand.total is not None)))
    if demand.total is not None:
        system.put(total[:, None], epigraph, 1.0)
        system.put(total[:, None], law, (demand.total * demand.margin)[:, None])
    return _Places(rows, total, cones[..., 2], size, linear, transports)


_EMPTY = np.zeros((0, 0), np.intp)


def _bounded(system: _Rows, coefficients: Floats, law: tuple[Codes, Floats]) -> Codes:
    """Rows coefficients V_y <= 0 for every symbol, shape (rows, k)."""
    variables, margin = law
    rows = system.block(
        clarabel.NonnegativeConeT, np.zeros((len(coefficients), variables.shape[1]))
    )
    system.put(rows[:, None, :], variables[None], coefficients[..., None] * margin)
    return rows


def _transported(
    system: _Rows, one: Transport, law: tuple[Codes, Floats], masses: Codes
) -> tuple[Codes, Codes, Codes]:
    """Weights'work <= limit M and work at least what has to cross each run, either way."""
    work = system.variables(len(one.rows), len(masses))
    limit = system.block(clarabel.NonnegativeConeT, np.zeros(len(masses)))
    system.put(limit, work, one.weights[:, None])
    system.put(limit, masses, -one.limit)
    forth, back = (_bounded(system, sign * one.rows, law) for sign in (1.0, -1.0))
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


def _weights(prices: Floats, at: _Places) -> Weights:
    transports = tuple(
        (prices[limit], prices[forth] - prices[back]) for limit, forth, back in at.transports
    )
    total = float(prices[at.total].sum())
    return Weights(
        prices[at.rows],
        total,
        prices[at.cones] * at.size,
        prices[at.linear],
        transports,
    )
