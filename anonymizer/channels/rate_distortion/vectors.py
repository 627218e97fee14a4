"""Mutual information of jointly normal vectors, from their correlation matrix."""

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.rate_distortion.gaussian import require_definite, root_of
from anonymizer.channels.validation import nats_per, numbers_of, sample_of, whole_of
from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Floats

ROUNDING = 1e-9
"""Canonical correlations may exceed 1 by so much, and count as 1."""


def gaussian_information(correlation: ArrayLike, unit: str = "bits") -> float:
    """I(U;V) = -1/2 log det(I - P P') of jointly normal U and V; -log sqrt(1 - rho^2) of scalars.

    Domingo-Ferrer and Rebollo-Monedero (2009), section 2.

    Parameters
    ----------
    correlation
        P = S_U^-1/2 S_UV S_V^-1/2, shape (n, m), or rho, a number; see
        :func:`gaussian_correlation`.
    unit
        ``"bits"`` or ``"nats"``.

    Returns
    -------
    float
        Infinite where a combination of U is a linear function of V.

    Raises
    ------
    InputError
        When P is no matrix of numbers, or has a singular value above 1: no vectors have it.

    >>> gaussian_information(0.6) == gaussian_information([[0.0, 0.6], [0.0, 0.0]])
    True
    """
    nats, squares = nats_per(unit), canonical_correlations(correlation) ** 2
    with np.errstate(divide="ignore"):
        return float(0.5 * np.abs(np.log1p(-squares)).sum() / nats)


def canonical_correlations(correlation: ArrayLike) -> Floats:
    """The singular values of P, at most 1, the largest first; shape (min(n, m),)."""
    given = numbers_of("correlation", correlation)
    matrix = given.reshape(1, 1) if given.ndim == 0 else given
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(
            f"correlation must be a number or a matrix (n, m), not an array of {given.shape}"
        )
    found = np.linalg.svd(matrix, compute_uv=False)
    if found[0] > 1 + ROUNDING:
        raise InputError(
            f"correlation has a singular value of {found[0]:.6g}, more than 1: no vectors have it; "
            "give S_U^-1/2 S_UV S_V^-1/2 (gaussian_correlation), not covariances"
        )
    return np.asarray(np.minimum(found, 1.0))


def gaussian_correlation(covariance: ArrayLike, first: int) -> Floats:
    """P = S_U^-1/2 S_UV S_V^-1/2, by symmetric roots, shape (first, others).

    Parameters
    ----------
    covariance
        Of (U, V), shape (n, n): that of U, and that of V, is positive definite.
    first
        How many variables U has, from 1 to n - 1.

    Raises
    ------
    InputError
        When the covariance is none, or variables of one vector are linear in each other.
    """
    s = square_of(covariance)
    n = whole_of("first", first, 1, len(s) - 1)
    for block in (s[:n, :n], s[n:, n:]):
        require_definite(block)
    left, right = (np.linalg.inv(root_of(block)) for block in (s[:n, :n], s[n:, n:]))
    return np.asarray(left @ s[:n, n:] @ right)


def square_of(covariance: ArrayLike) -> Floats:
    """A symmetric matrix of two variables or more."""
    s = sample_of("covariance", covariance)
    if s.shape[0] != s.shape[1]:
        raise InputError(f"covariance must be a square matrix, not one of {s.shape}")
    scale = np.abs(np.diag(s)).max()
    if not np.allclose(s, s.T, rtol=1e-9, atol=1e-12 * scale):
        raise InputError("covariance is not symmetric")
    return s
