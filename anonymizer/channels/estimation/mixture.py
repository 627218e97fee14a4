"""Mixing proportions by Newton's method: expectation-maximisation takes thousands of steps."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from anonymizer.kernels.arrays import Floats

__all__ = ["mixing_proportions"]

MOST_STEPS = 60
"""Twelve are typical."""

COMPLEMENTARY, DUAL = 1e-13, 1e-11
"""What p z and 1 - g - z have to fall below: as far as rounding lets them."""

BOUNDARY = 0.995
"""How far towards the boundary a step goes."""

LEAST_CENTRE = 1e-4
"""The complementarity that a step aims for at the least, as a share of that it starts from."""

RIDGE = 1e-13
"""Added to a matrix of diagonal 1 whose rank may be lower."""


def mixing_proportions(matrix: Floats, counts: Floats) -> Floats:
    """The p of largest sum_y t(y) ln sum_x p(x) q(y|x), t = T / N, nearly; shape (n,).

    Its g = Q (t / Q'p) has sum p g = 1, so that sum t ln(Q'p) - sum p is largest at the same p: the
    condition that p adds up to 1 can be left out. With the multipliers z of p >= 0 that is where
    1 - g(p) = z and p z = 0, which Newton's method solves with p z = mu and mu going to 0
    (predictor and corrector; Mehrotra, 1992; of mixtures, Koenker and Mizera, 2014). Of many
    solutions it comes near one inside. How near is for the caller to find out.

    Parameters
    ----------
    matrix
        q(y|x), shape (n, k).
    counts
        T, shape (k,).
    """
    some = counts > 0
    law, share = matrix[:, some], counts[some] / counts.sum()
    p = np.full(len(law), 1 / len(law))
    slope = 1 - law @ (share / (law.T @ p))
    z = np.maximum(slope, 0.0) + max(0.1, -slope.min())
    with np.errstate(all="ignore"):  # what is not finite is not taken
        for _ in range(MOST_STEPS):
            found = _step(law, share, p, z)
            if found is None:
                break
            p, z = found
    return np.asarray(p / p.sum())


def _step(law: Floats, share: Floats, p: Floats, z: Floats) -> tuple[Floats, Floats] | None:
    """The next p and z; None where they are good enough, or there is no way on."""
    ratio = share / (law.T @ p)
    off = 1 - law @ ratio - z
    if p @ z < COMPLEMENTARY and np.abs(off).max() < DUAL:
        return None
    solve = _solver((law * (ratio**2 / share)) @ law.T + np.diag(z / p))
    if solve is None:
        return None

    def towards(target: Floats | float) -> tuple[Floats, Floats]:
        """The step that would make p z the target and 1 - g - z nothing."""
        step = solve((target - p * z) / p - off)
        return step, (target - p * z - z * step) / p

    step, other = towards(0.0)
    length = _reach(p, step, z, other)
    mean = p @ z / len(p)
    ahead = (p + length * step) @ (z + length * other) / len(p)
    centre = max(float(ahead / mean) ** 3, LEAST_CENTRE) * float(mean)
    step, other = towards(centre - step * other)
    length = _reach(p, step, z, other)
    p, z = p + length * step, z + length * other
    return (p, z) if np.isfinite(p).all() and np.isfinite(z).all() else None


def _solver(matrix: Floats) -> Callable[[Floats], Floats] | None:
    """How to solve with a positive matrix; None where it is none to rounding."""
    scale = 1 / np.sqrt(matrix.diagonal())
    scaled = matrix * scale[:, None] * scale
    scaled[np.diag_indices(len(scaled))] += RIDGE
    if not np.isfinite(scaled).all():
        return None
    try:
        factor = cho_factor(scaled, check_finite=False)
    except LinAlgError:
        return None
    return lambda right: scale * cho_solve(factor, scale * right, check_finite=False)


def _reach(p: Floats, step: Floats, z: Floats, other: Floats) -> float:
    """How far both stay positive: less than a whole step, or that."""
    falls = max(float((-step / p).max()), float((-other / z).max()))
    return BOUNDARY / max(falls, BOUNDARY)
