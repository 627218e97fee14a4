"""Unbiased estimates of true counts and their variances, of margins and of tables."""

import numpy as np

from anonymizer.channels.estimation.released import between
from anonymizer.channels.estimation.weights import Side
from anonymizer.kernels.arrays import Floats

__all__ = ["covariance_of", "unbiased"]


def unbiased(table: Floats, one: Side, two: Side | None) -> tuple[Floats, Floats, bool]:
    """Estimated counts, their variances, and whether these are upper bounds; shape (g, h) each."""
    total = between(one.solution, table, two and two.solution)
    true = _nearest_table(table, one, two)
    if true is not None:
        variance = between(one.variances, true, two and two.squares)
        if two is not None:
            variance = variance + between(one.targets**2, true, two.variances)
        return total, variance, False
    squares = between(one.solution**2, table, two and two.solution**2)
    # Cauchy and Schwarz: records of a column released as it is are known, of others in all.
    known = table.sum(axis=0) if two is None else table.sum()
    known = np.maximum(known, 1.0)
    return total, np.maximum(squares - total**2 / known, 0.0), True


def _nearest_table(table: Floats, one: Side, two: Side | None) -> Floats | None:
    """The counts n(x, z) nearest to those estimated that are none negative, shape (n, m).

    None where these are not estimable.
    """
    if one.inverse is None or (two is not None and two.inverse is None):
        return None
    estimated = between(one.inverse, table, two and two.inverse)
    if two is None:
        return _on_simplices(estimated, table.sum(axis=0))
    whole = _on_simplices(estimated.reshape(-1, 1), table.sum(keepdims=True)[0])
    return whole.reshape(estimated.shape)


def covariance_of(table: Floats, total: Floats, variance: Floats, side: Side) -> Floats:
    """Of estimated counts of a margin, shape (g, g)."""
    weights, true = side.solution, _nearest_table(table, side, None)
    if true is None:
        found = (weights * table).T @ weights - total @ total.T / table.sum()
    else:
        found = (weights * (side.matrix.T @ true)).T @ weights
        found -= (side.targets * true).T @ side.targets
    np.fill_diagonal(found, variance[:, 0])
    return np.asarray(found)


def _on_simplices(columns: Floats, sums: Floats) -> Floats:
    """The nearest columns that are none negative and have these sums, same shape.

    Sorted downwards, v(1) >= v(2) >= ..., the largest j with v(j) > (v(1) + ... + v(j) - sum) / j
    tells what to subtract from all of them (Held, Wolfe and Crowder, 1974).
    """
    ordered = -np.sort(-columns, axis=0)
    excess = (ordered.cumsum(axis=0) - sums) / np.arange(1, len(columns) + 1)[:, None]
    last = np.maximum((ordered > excess).sum(axis=0) - 1, 0)
    return np.asarray(np.maximum(columns - excess[last, np.arange(columns.shape[1])], 0.0))
