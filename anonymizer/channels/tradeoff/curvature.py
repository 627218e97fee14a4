"""Newton's equations of I(W;Y), column by column of the channel.

The Hessian of slope * I in u is block diagonal over the symbols y, each block of low rank: with
r_y = p(w|y),

    H_y = slope P (diag(1 / V_y) - 1 1' / m_y) P' = T_y T_y',   T_y = sqrt(slope / V_y) (P - 1 r_y')

because the rows of P = p(w|x) sum to 1. By the identity of Woodbury,
(H_y + diag(1 / W_y))^-1 = diag(W_y) - F_y F_y' with F_y' = L^-1 T_y' diag(W_y), L L' = 1 + T_y'
diag(W_y) T_y: no matrix larger than |W| is factored. Where P is of lower numerical rank, as for a
smooth density on a grid, T_y is that narrow.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, get_blas_funcs, get_lapack_funcs

from anonymizer.channels.tradeoff.lagrangian import Lagrangian
from anonymizer.kernels.arrays import Floats

RANK = 1e-11
"""Singular values below this share of the largest are left out: no step more is taken for it."""

WORTH = 0.7
"""A lower rank is used from this share of the columns on: it costs a factoring more."""

SMALLEST = 1e-18
"""The least p(w, y) compared with the square root of which what the factors leave out is small."""

TINY = 12
"""Rank up to which all columns are factored at once: beyond, one by one is faster (measured)."""

NARROW = 32
"""Rank up to which factors are applied to all columns at once."""

JITTERS = (1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1)
"""Added to the diagonal in turn."""

_PROBE = np.empty((1, 1))
_SYRK, _TRSM = get_blas_funcs(("syrk", "trsm"), (_PROBE,))
_POTRF, _GEQRF = get_lapack_funcs(("potrf", "geqrf"), (_PROBE,))


Factors = tuple[Floats, Floats]
"""P = left @ right, of shapes (n, r) and (r, m), where r is well below m."""


def factors_of(conditional: Floats) -> Factors | None:
    """The factors of p(w|x) by its singular values, or None where they would not pay."""
    if conditional.shape[1] <= 12 and conditional.shape[0] >= conditional.shape[1]:
        return None
    left, values, right = np.linalg.svd(conditional, full_matrices=False)
    rank = int((values > RANK * values[0]).sum())
    if rank >= WORTH * conditional.shape[1]:
        return None
    return left[:, :rank] * values[:rank], right[:rank]


@dataclass(frozen=True, eq=False)
class Inverses:
    """(H_y + diag(1 / W_y))^-1 = diag(weights_y) - halves_y halves_y' of every column y.

    Shapes (k, n) and (k, n, r).
    """

    weights: Floats
    halves: Floats

    def apply(self, columns: Floats) -> Floats:
        """(H_y + diag(1 / W_y))^-1 b_y for every column, shape (k, n)."""
        found = self.weights * columns
        if self.halves.shape[2] <= NARROW:
            inner = columns[:, None, :] @ self.halves
            return np.asarray(found - (self.halves @ inner.swapaxes(1, 2))[:, :, 0])
        for half, column, solved in zip(self.halves, columns, found, strict=True):
            solved -= half @ (column @ half)  # one after the other, while it is in the cache
        return np.asarray(found)

    def total(self) -> Floats:
        """Their sum over the columns, shape (n, n); only the upper triangle is filled."""
        k, n, rank = self.halves.shape
        if rank <= NARROW:
            side_by_side = self.halves.swapaxes(1, 2).reshape(k * rank, n)
            found = -_SYRK(1.0, side_by_side.T)
        else:
            found = np.zeros((n, n), order="F")
            for half in self.halves:
                found = _SYRK(-1.0, half.T, beta=1.0, c=found, trans=1, overwrite_c=1)
        found.ravel(order="K")[:: n + 1] += self.weights.sum(axis=0)
        return np.asarray(found)


def inverses_of(
    problem: Lagrangian, factors: Factors | None, law: Floats, mass: Floats, weights: Floats
) -> Inverses:
    """Factor all columns, of p(w, y), p(y) and W of shapes (k, m), (k,) and (k, n)."""
    if factors is not None and law.min() < SMALLEST:
        factors = None
    posterior = law / mass[:, None]
    inverse = np.sqrt(problem.slope / law)
    if factors is None and len(problem.prior) <= TINY:
        root = (problem.conditional - posterior[:, None, :]) * inverse[:, None, :]
        return Inverses(weights, _batch(root, weights))
    rank = len(problem.prior) if factors is None else len(factors[1])
    halves = np.empty((len(weights), len(problem.p), rank))
    for y, half in enumerate(halves):
        if factors is None:
            root = (problem.conditional - posterior[y]) * inverse[y]
        else:
            left, right = factors
            root = (left - posterior[y] @ right.T) @ _square_root(right * inverse[y])
        half[:] = _half(root, weights[y])
    return Inverses(weights, halves)


def row_sums(inverses: Inverses) -> Callable[[Floats], Floats]:
    """What solves (sum_y A_y^-1) v = b, the equations of sums over y, scaled to a diagonal of 1.

    A multiple of the rounding of a diagonal entry keeps them solvable where they are singular.
    """
    total = inverses.total()
    places = np.diag_indices(len(total))
    scales = 1 / np.sqrt(np.maximum(total[places], 1e-290))
    total *= scales[:, None] * scales
    total[places] = 1.0
    for jitter in JITTERS:
        total[places] += jitter
        with suppress(LinAlgError):
            factor = cho_factor(total, lower=False, check_finite=False)
            return lambda sums: np.asarray(scales * cho_solve(factor, scales * sums))
    raise LinAlgError


def _batch(root: Floats, weights: Floats) -> Floats:
    """F_y = diag(W_y) T_y L_y'^-1 of all columns at once; T of shape (k, n, r), r small."""
    weighted = weights[:, :, None] * root
    inner = root.swapaxes(1, 2) @ weighted
    at = np.arange(inner.shape[1])
    inner[:, at, at] += 1.0
    return np.asarray(weighted @ np.linalg.inv(np.linalg.cholesky(inner)).swapaxes(1, 2))


def _half(root: Floats, weights: Floats) -> Floats:
    """F = diag(W) T L'^-1 of T = ``root``, shape (n, r), with L L' = 1 + T' diag(W) T.

    The product of diag(W)^1/2 T with itself is positive semidefinite whatever the rounding.
    """
    roots = np.sqrt(weights)[:, None]
    balanced = root * roots
    inner = _SYRK(1.0, balanced.T, lower=1)
    inner.ravel(order="K")[:: len(inner) + 1] += 1.0
    factor, failed = _POTRF(inner, lower=1, overwrite_a=1)
    if failed:
        raise LinAlgError
    balanced *= roots
    return np.asarray(_TRSM(1.0, factor, balanced.T, lower=1, overwrite_b=1).T)


def _square_root(wide: Floats) -> Floats:
    """A lower triangle C, shape (r, r), with C C' = A A' of A = ``wide``: from A' = QR."""
    packed, *_ = _GEQRF(wide.T, lwork=64 * len(wide), overwrite_a=1)
    return np.asarray(np.triu(packed[: len(wide)]).T)
