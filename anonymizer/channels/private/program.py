r"""The convex program of least distortion under guarantees, and a bound that no channel goes below.

It follows from any multipliers by arithmetic of our own: weak duality. Let u be feasible,
V_y = P'u_y. Every condition is sublinear, so it is the largest of the linear functions below it:

    G(V) = sum_w V_w ln(V_w / (p_w M)) >= sum_w V_w ln(r_w / p_w)      for every distribution r
    sum_S weight_S |V(S) - mass_S M| >= sum_S g_S (V(S) - mass_S M)    for every |g_S| <= weight_S

(the first is D(V/M || r) >= 0). Add multiples, of either sign for equations and of at least 0 for
inequalities, of what is at most 0 to <d, u>. With S(x,y) = d(x,y) + (P C_y)(x) + alpha_y +
beta drift_y + (most - least)(x,y) and C_y the sum of the coefficients in V_y,

    <d, u> >= <S, u> - alpha'p + epsilon's part >= sum_x p(x) min_y S(x,y) - alpha'p + ...

since u >= 0 has row sums p. It holds for all multipliers, whoever found them: nothing of the solver
has to be trusted. epsilon's part: rows u - p e^(eps/2) b_y <= 0 and p e^(-eps/2) b_y - u <= 0 leave
b_y (e^(-eps/2) <p, least_y> - e^(eps/2) <p, most_y>) behind, at least min(0, .) e^(eps/2), because
b_y <= e^(eps/2).

Floating point: every S is lowered by a bound on its own rounding error before the minimum is taken
(n terms of relative error u have a sum of relative error (n + 2) u to first order; Higham 2002,
section 3.1), and the sums over x once more.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.private.requirements import Demand
from anonymizer.channels.source import JointLaw, expected
from anonymizer.channels.validation import number_of, numbers_of, require_flag, require_room
from anonymizer.errors import InputError, PolicyUnreachableError, shown
from anonymizer.kernels.arrays import Codes, Floats

EXACT = 1e-12
"""How far margins, and the mean in units of the largest deviation, may be off: rounding."""

ROUNDING = 2.0**-52
LEAST = 1e-280
"""The least probability of a law r: so small that it never matters, and a number still."""

LARGEST_EPSILON = 50.0
"""Beyond, chances of e^-50 would count: no computation and no sample tells them from none."""


@dataclass(frozen=True)
class Extras:
    """What may be required of a channel besides its models.

    Parameters
    ----------
    invariant
        The margin of what is released is that of X: p(y) = p(x). X and Y have the same values.
    epsilon
        Local differential privacy: q(y|x) <= e^epsilon q(y|x') for all x, x' and y, in nats
        as is customary.
    unbiased
        The values of x and those of y, numbers: E[Y] = E[X].
    """

    invariant: bool = False
    epsilon: float | None = None
    unbiased: tuple[ArrayLike, ArrayLike] | None = None


@dataclass(frozen=True, eq=False)
class Program:
    """min <d, u> over u(x,y) = p(x) q(y|x) >= 0, sum_y u = p, and further conditions.

    p(x) has shape (n,), d(x, y) shape (n, k). ``demands`` hold of every released symbol;
    ``invariant``: sum_x u(x, y) = p(y); ``epsilon``: q(y|x) <= e^epsilon q(y|x') for all x, x', y;
    ``drift``, (y - E[X]) / the largest of them, shape (k,): its mean is 0, E[Y] = E[X].
    """

    p: Floats
    distortion: Floats
    demands: tuple[Demand, ...]
    invariant: bool = False
    epsilon: float | None = None
    drift: Floats | None = None

    @property
    def scale(self) -> float:
        """The mean distortion of a released symbol drawn evenly; 1 where nothing distorts."""
        return float(self.p @ self.distortion.mean(axis=1)) or 1.0

    def expected(self, channel: Floats) -> float:
        """E d(X, Y) of a channel."""
        return expected(self.p, channel, self.distortion)

    def require_room(self) -> None:
        """Refuse what would not fit in memory.

        Measured: some 60 numbers for every u(x, y), and 35 for every V_w that it is part of.
        """
        n, k = self.distortion.shape
        parts = sum(int((demand.conditional > 0).sum()) for demand in self.demands)
        require_room(f"an alphabet of {k} symbols for {n} values", (60, k, n), (35, k, parts))


@dataclass(frozen=True, eq=False)
class Prices:
    """The multipliers of one demand; shapes end in (k,), one for every symbol.

    ``rows`` are of the rows with a tilt, ``total`` of the row over all symbols; ``laws`` are p(w|y)
    as the exponential cones price it, shape (m, k). ``transports`` have for each distance its
    multiplier, shape (k,), and the signed weights of its runs, shape (runs, k).
    """

    rows: Floats
    total: float
    laws: Floats
    linear: Floats
    transports: tuple[tuple[Floats, Floats], ...]


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Prices of all rows, in units of distortion, as a solver found them: signs not yet checked.

    ``margins`` are of sum_x u(x,y) = p(y), shape (k,), ``mean`` of E[Y] = E[X], scaled as
    ``Program.drift``; ``most`` and ``least`` of u <= p e^(epsilon/2) b_y and
    u >= p e^(-epsilon/2) b_y, shape (n, k). Those of absent conditions are 0.
    """

    weights: tuple[Prices, ...]
    margins: Floats
    mean: float
    most: Floats
    least: Floats


def program_of(source: JointLaw, costs: Floats, extras: Extras) -> tuple[Program, Codes]:
    """The program without its demands, and which columns of the distortion it is about."""
    if not isinstance(extras, Extras):
        raise InputError(f"extras must be Extras(...), not {shown(extras)}")
    require_flag("invariant", extras.invariant)
    columns: Codes = np.arange(costs.shape[1])
    if extras.invariant:
        if costs.shape[1] != source.shape[0]:
            raise InputError(
                f"invariant releases the values of X themselves, and distortion has "
                f"{costs.shape[1]} columns for {source.shape[0]} values; give one for each"
            )
        columns = source.rows
    epsilon = extras.epsilon
    if epsilon is not None:
        epsilon = number_of("epsilon", epsilon, least=0, most=LARGEST_EPSILON)
    drift = None if extras.unbiased is None else _drift(extras.unbiased, source, columns)
    if drift is not None and extras.invariant and abs(float(drift @ source.p)) > EXACT:
        raise PolicyUnreachableError(
            "invariant keeps the margin, and with these values of Y another mean than that of X; "
            "give Y the values of X, or leave out unbiased"
        )
    distortion = np.ascontiguousarray(costs[:, columns])
    return Program(source.p, distortion, (), bool(extras.invariant), epsilon, drift), columns


def _drift(unbiased: object, source: JointLaw, columns: Codes) -> Floats:
    """What ``unbiased`` means for the symbols; some distribution of them must have the mean."""
    form = "be two lists of numbers: values of x, and of y"
    if not isinstance(unbiased, tuple | list) or len(unbiased) != 2:
        raise InputError(f"unbiased must {form}")
    x, y = (numbers_of("unbiased", side, form) for side in unbiased)
    sizes = (source.shape[0], len(columns))
    if x.shape != sizes[:1] or y.ndim != 1 or len(y) <= int(columns.max()):
        raise InputError(f"unbiased must have the {sizes[0]} values of x, and all values of y")
    away = y[columns] - source.p @ x[source.rows]
    drift = np.asarray(away / max(float(np.abs(away).max()), 1e-300))
    if drift.min() > EXACT or drift.max() < -EXACT:
        raise PolicyUnreachableError(
            "the mean of X lies outside the values of Y; add some on its other side"
        )
    return drift


def proof(program: Program, multipliers: Multipliers) -> tuple[float, Floats]:
    """The lower bound that multipliers prove, and the S(x,y), shape (n, k), of the row minima."""
    costs, size = program.distortion.copy(), program.distortion.copy()
    parts, constant, weight = _signed(program, multipliers)
    for part in parts:
        costs += part
        size += np.abs(part)
    for demand, weights in zip(program.demands, multipliers.weights, strict=True):
        for part in _coefficients(demand, weights):
            costs += demand.conditional @ part
            size += demand.conditional @ np.abs(part)
    terms = 8 + 4 * max((demand.conditional.shape[1] for demand in program.demands), default=0)
    rows = (costs - terms * ROUNDING * size).min(axis=1)
    value = float(program.p @ rows + constant)
    error = 2 * (len(rows) + 8) * ROUNDING * float(program.p @ np.abs(rows) + weight)
    # Without any condition E d(X, Y) is at least E min_y d(X, y).
    least = float(program.p @ program.distortion.min(axis=1))
    free = least * (1 - 2 * (len(program.p) + 2) * ROUNDING)
    return max(value - error, free), costs


def _signed(program: Program, multipliers: Multipliers) -> tuple[list[Floats], float, float]:
    """What margins, mean and epsilon add to S; and to the bound whatever the channel, with size."""
    parts: list[Floats] = []
    value = weight = 0.0
    if program.invariant:
        parts.append(multipliers.margins[None, :])
        value -= float(multipliers.margins @ program.p)
        weight += float(np.abs(multipliers.margins) @ program.p)
    if program.drift is not None and np.isfinite(multipliers.mean):
        parts.append(multipliers.mean * program.drift[None, :])
    if program.epsilon is not None:
        reach = np.exp(program.epsilon / 2)
        most, least = np.maximum(multipliers.most, 0.0), np.maximum(multipliers.least, 0.0)
        paid, owed = (program.p @ least) / reach, reach * (program.p @ most)
        most = most * np.minimum(1.0, paid / np.maximum(owed, LEAST))  # so that b_y costs nothing
        owed = reach * (program.p @ most)
        parts += [most, -least]
        value += float(np.minimum(0.0, paid - owed).sum() * reach)
        weight += float((paid + owed).sum() * reach)
    return parts, value, weight


def _coefficients(demand: Demand, weights: Prices) -> list[Floats]:
    """The coefficients in V_y that the multipliers of a demand make, parts of shape (m, k)."""
    shape = (demand.conditional.shape[1], weights.linear.shape[1])
    parts = []
    if demand.entropic:
        rows, total = np.maximum(weights.rows, 0.0), max(weights.total, 0.0)
        law = np.log(_distributions(weights.laws)) - np.log(demand.margin)[:, None]
        parts += [(rows.sum(axis=0) + total) * law, demand.tilts.T @ rows]
        if demand.total is not None:
            parts.append(np.repeat(total * demand.total[:, None], shape[1], axis=1))
    parts.append(demand.linear.T @ np.maximum(weights.linear, 0.0))
    for transport, (price, pull) in zip(demand.transports, weights.transports, strict=True):
        price = np.maximum(price, 0.0)
        within = transport.weights[:, None] * price
        parts.append(transport.rows.T @ np.clip(pull, -within, within))
        parts.append(np.broadcast_to(-transport.limit * price, shape))
    return parts


def _distributions(laws: Floats) -> Floats:
    """Positive columns that sum to at most 1: what is left out of them only lowers the bound."""
    positive = np.maximum(np.nan_to_num(laws, nan=0.0, posinf=0.0), 0.0)
    sums = positive.sum(axis=0)
    even = np.full_like(positive, 1 / len(positive))
    scaled = np.where(sums > 0, positive / np.where(sums > 0, sums, 1.0), even)
    inside = 1 - 2 * (len(positive) + 2) * ROUNDING
    return np.maximum(scaled * inside, LEAST)
