r"""A distortion that no channel goes below, from any multipliers, by arithmetic of our own.

Weak duality. Let u be feasible, V_y = P'u_y. Every condition is sublinear, so it is the largest of
the linear functions below it:

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

from anonymizer.channels.private.program import Multipliers, Program, Weights
from anonymizer.channels.private.requirements import Demand
from anonymizer.kernels.arrays import Floats

ROUNDING = 2.0**-52
LEAST = 1e-280
"""The least probability of a law r: so small that it never matters, and a number still."""


@dataclass(frozen=True, eq=False)
class Proof:
    """A lower bound, and the S(x,y) that it is the mean of the row minima of, shape (n, k)."""

    bound: float
    costs: Floats


def proof(program: Program, multipliers: Multipliers) -> Proof:
    """The lower bound that these multipliers prove of a program; see above."""
    costs, size = program.distortion.copy(), program.distortion.copy()
    for demand, weights in zip(program.demands, multipliers.weights, strict=True):
        for part in _coefficients(demand, weights):
            costs += demand.conditional @ part
            size += demand.conditional @ np.abs(part)
    parts, constant, weight = _signed(program, multipliers)
    for part in parts:
        costs += part
        size += np.abs(part)
    terms = 8 + 4 * max((demand.conditional.shape[1] for demand in program.demands), default=0)
    rows = (costs - terms * ROUNDING * size).min(axis=1)
    value = float(program.p @ rows + constant)
    error = 2 * (len(rows) + 8) * ROUNDING * float(program.p @ np.abs(rows) + weight)
    # Without any condition E d(X, Y) is at least E min_y d(X, y).
    least = float(program.p @ program.distortion.min(axis=1))
    free = least * (1 - 2 * (len(program.p) + 2) * ROUNDING)
    return Proof(max(value - error, free), costs)


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


def _coefficients(demand: Demand, weights: Weights) -> list[Floats]:
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
