"""Conditions that the prior only just holds are equations, and met as such.

Where f(p) = 0, p the margin of W, every symbol is at its limit: the sum over y of f(V_y) <= 0 is at
least f(p) = 0, so all are 0. Of t = 0 that leaves V_y = p M_y; of a bound on a share that the table
itself is at, c'V_y = 0. No mixing with the prior mends what is off there, or nearly there; moving
u(x,y) onto the equations does.
"""

import numpy as np

from anonymizer.channels.private.program import Program
from anonymizer.channels.private.requirements import Demand
from anonymizer.kernels.arrays import Floats

__all__ = ["projected"]

CLOSE = 1e-3
"""What a condition may have left at the prior, in its own unit, to be met as an equation: a
channel that meets it so is one candidate among others."""

MOST_EQUATIONS = 2500
"""Beyond, the dense system would take longer than the program itself."""

ROUNDS = 6


def projected(program: Program, joint: Floats) -> Floats | None:
    """The u(x,y) near a given one that meets the equations, shape (n, k); None without any.

    min sum (v - u)^2 / u over v with the row sums p and E P' v_y = 0 for all y: corrections are in
    proportion to what there is, so that zeros stay zeros. Entries that turn negative are left out
    in the next round.
    """
    parts = [(demand, _equations(demand)) for demand in program.demands]
    tests = [demand.conditional @ rows.T for demand, rows in parts if len(rows)]
    n, k = joint.shape
    if not tests or n + k * sum(test.shape[1] for test in tests) > MOST_EQUATIONS:
        return None
    test = np.hstack(tests)
    for _ in range(ROUNDS):
        joint = joint + _correction(program.p, joint, test)
        if joint.min() >= 0:
            break
        joint = np.maximum(joint, 0.0)
    return joint


def _equations(demand: Demand) -> Floats:
    """Rows E with E V_y = 0, shape (rows, m); all of them hold of the margin itself."""
    p = demand.margin
    found = [demand.linear[demand.linear @ p > -CLOSE]]
    found += [
        one.rows
        for one in demand.transports
        if one.limit - one.weights @ np.abs(one.rows @ p) < CLOSE
    ]
    rows = demand.tilts if demand.total is None else np.vstack([demand.tilts, demand.total])
    if len(rows) and (rows @ p).max() > -CLOSE:
        found.append(np.eye(len(p)))
    tests = np.vstack(found)
    return np.asarray(tests - (tests @ p)[:, None])


def _correction(p: Floats, joint: Floats, test: Floats) -> Floats:
    """U A' (A U A')^+ (b - A u) of the equations A v = b, U the diagonal of u, shape (n, k)."""
    n, k = joint.shape
    rows = test.shape[1]
    system = np.zeros((n + k * rows, n + k * rows))
    system[:n, :n] = np.diag(joint.sum(axis=1))
    cross = (joint[:, :, None] * test[:, None, :]).reshape(n, -1)
    system[:n, n:], system[n:, :n] = cross, cross.T
    for y in range(k):
        here = slice(n + y * rows, n + (y + 1) * rows)
        system[here, here] = (test * joint[:, y, None]).T @ test
    off = np.concatenate([p - joint.sum(axis=1), -(test.T @ joint).T.ravel()])
    scale = 1 / np.sqrt(np.maximum(np.diag(system), 1e-300))
    prices = scale * np.linalg.lstsq(scale[:, None] * system * scale, scale * off, rcond=1e-12)[0]
    return np.asarray(joint * (prices[:n, None] + test @ prices[n:].reshape(k, rows).T))
