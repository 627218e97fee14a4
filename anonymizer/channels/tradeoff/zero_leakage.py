"""Least distortion without any leakage: a linear program, with a proof that does not trust it.

I(W;Y) = 0 if and only if p(w, y) = p(w) p(y) for every y, which is linear in u(y, x):

    min <d, u>   over u >= 0, sum_y u(y, x) = p(x), sum_x (p(w|x) - p(w)) u(y, x) = 0,

of which the dual says sum_x p(x) min_y [d(y, x) + sum_w p(w|x) g_y(w)] for any g with
sum_w p(w) g_y(w) = 0. One symbol for everybody is feasible, but need not be the best: where p(w|x)
is the same for some x, or has fewer dimensions than there are x, several symbols may tell nothing.
"""

import numpy as np

from anonymizer.channels.tradeoff.lagrangian import Lagrangian
from anonymizer.kernels.arrays import Floats

__all__ = ["ROUNDED", "leakless"]

MOST_ENTRIES = 4_000_000
"""Entries of the constraints: beyond, one symbol for everybody is the answer, maybe not proven."""

ROUNDED = 1e-14
"""Leakage in nats that is the rounding of a solution."""

RANK = 1e-10
"""Singular values of p(w|x) - p(w) below this tell next to nothing: the leakage is their square."""


def leakless(problem: Lagrangian) -> tuple[Floats, float]:
    """A law u(y, x) that tells nothing, and a lower bound of the distortion of all such laws."""
    n, k, m = problem.shape
    single = np.zeros((k, n))
    single[np.argmin(problem.distortion @ problem.p)] = problem.p
    bound = _bound(problem, np.zeros((k, m)))
    least = float((single * problem.distortion).sum())
    if n * k * m > MOST_ENTRIES or least <= bound * (1 + 1e-12):
        return single, bound
    found = _solved(problem)
    if found is None:
        return single, bound
    u, prices = found
    bound = max(bound, _bound(problem, prices))
    fitted = problem.fitted(u)
    cheaper = float((fitted * problem.distortion).sum()) < least
    if not cheaper or problem.leakage(fitted) > ROUNDED:
        return single, bound
    return fitted, bound


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
