"""Entropy, divergence and one-symbol informations of count arrays, in bits.

Pure functions: no labels, no tables, no estimation. A ``joint`` is the count matrix C of a
partition of the table into classes: one row per class g, one column per value w of W, the
number n_gw of records in each. Classes without records contribute nothing and measure 0;
0 log 0 = 0 everywhere. Notation and equations: Bezzi, "An information theoretic approach for
privacy metrics", Transactions on Data Privacy 3 (2010), sections 2.2 and 3.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.kernels.arrays import Floats
from anonymizer.kernels.terms import MILLER_MADOW, grassberger, xlogx


def entropy(counts: ArrayLike, times: ArrayLike = 1) -> Floats:
    """H = -sum p log p over the last axis, p = counts / sum, in bits; 0 without records.

    Written as log n - (sum n_w log n_w) / n: one division, so that an exactly uniform class
    comes out at log m to the last bits. Each count is there so many ``times``.

    >>> entropy([[5, 5], [10, 0]]).round(12).tolist()
    [1.0, 0.0]
    >>> entropy([5], [2]).round(12).tolist()
    1.0
    """
    counts, times = np.asarray(counts, float), np.asarray(times)
    total = (counts * times).sum(-1)
    bits = _per_record(xlogx(total) - (xlogx(counts) * times).sum(-1), total)
    return np.where(bits > 0, bits, 0.0)


def entropy_miller_madow(counts: ArrayLike) -> Floats:
    """H + (m - 1) / (2 n ln 2) over the last axis, m values occurring, in bits; 0 without records.

    Corrects the first term of the bias of small samples (Miller 1955).

    >>> entropy_miller_madow([5, 5]).round(6).tolist()
    1.072135
    """
    counts = np.asarray(counts, float)
    occurring = (counts > 0).sum(-1)
    extra = np.maximum(occurring - 1, 0) * MILLER_MADOW
    return np.asarray(entropy(counts) + _per_record(extra, counts.sum(-1)))


def entropy_grassberger(counts: ArrayLike) -> Floats:
    """Log n - sum n_w G(n_w) / n over the last axis, in bits; 0 without records.

    An estimate of less bias than the plug-in one, from few records (Grassberger 2003, "Entropy
    estimates from insufficient samplings", Eq. 35). May be negative, and more than log m.

    >>> entropy_grassberger([5, 5]).round(6).tolist()
    1.307487
    """
    counts = np.asarray(counts, float)
    total = counts.sum(-1)
    return _per_record(xlogx(total) - grassberger(counts).sum(-1), total)


def divergence(counts: ArrayLike, prior: ArrayLike) -> Floats:
    """Kullback-Leibler divergence D(q || p) over the last axis, in bits.

    ``counts`` (..., m) give q = counts / sum, ``prior`` (m,) gives p likewise. Infinite where a
    value occurs that the prior excludes; 0 without records.

    >>> float(divergence([4, 0], [1, 1]))
    1.0
    """
    counts, prior = np.asarray(counts, float), np.asarray(prior, float)
    total = counts.sum(-1)
    log_prior = np.log2(prior / prior.sum(), out=np.zeros_like(prior), where=prior > 0)
    cost = xlogx(counts).sum(-1) - xlogx(total) - counts @ log_prior
    escapes = (counts[..., prior == 0] > 0).any(-1)
    return np.where(escapes, np.inf, np.maximum(_per_record(cost, total), 0.0))


def surprise(joint: ArrayLike, prior: ArrayLike | None = None) -> Floats:
    """I1(W, g) = D(p(w|g) || p(w)), one value per class, in bits; never negative (Eq. 8).

    ``prior`` (m,) is the distribution of W in the table; the column sums when left out.

    >>> surprise([[4, 0], [0, 4]]).tolist()
    [1.0, 1.0]
    """
    joint = np.asarray(joint, float)
    return divergence(joint, joint.sum(0) if prior is None else prior)


def specific_information(joint: ArrayLike, prior: ArrayLike | None = None) -> Floats:
    """I2(W, g) = H(W) - H(W|g), one value per class, in bits (Eq. 3 and 10).

    Negative where a class makes W less certain than the table does.
    """
    joint = np.asarray(joint, float)
    return np.asarray(entropy(joint.sum(0) if prior is None else prior) - entropy(joint))


def weighted_uncertainty_reduction(joint: ArrayLike) -> Floats:
    """I3(g, W) = sum_w p(w|g) [H(X~) - H(X~|w)], one value per class, in bits (Table 1).

    What a class's sensitive values tell, on average, about which class a record is in.
    """
    joint = np.asarray(joint, float)
    gain = entropy(joint.sum(1)) - entropy(joint.T)
    return _per_record(joint @ gain, joint.sum(1))


def partition_information(joint: ArrayLike) -> Floats:
    """I4(g, W) = I({g, not g}; W), one value per class, in bits (Table 1).

    The information of the two-class partition; it does not average to I(X~;W).
    """
    joint = np.asarray(joint, float)
    total = joint.sum(0)
    two = np.stack([joint, total - joint], axis=1)
    within = (two.sum(-1) * entropy(two)).sum(-1)
    return np.asarray(np.maximum(entropy(total) - within / total.sum(), 0.0))


def mutual_information(joint: ArrayLike) -> float:
    """I(X~;W) = H(W) - H(W|X~), in bits (Eq. 1 and 2); 0 without records.

    >>> mutual_information([[4, 0], [0, 4]])
    1.0
    """
    return max(_reduction(np.asarray(joint, float), entropy), 0.0)


def mutual_information_miller_madow(joint: ArrayLike) -> float:
    """I(X~;W) with H(W) and every H(W|g) corrected as Miller and Madow do, in bits.

    I + (m - 1 - sum_g (m_g - 1)) / (2 n ln 2), m values occurring in the table and m_g in class g:
    every class that a table is split into pretends to tell something. May be negative; 0 without
    records.

    >>> mutual_information_miller_madow([[4, 0], [0, 4]]) > 1.0
    True
    """
    return _reduction(np.asarray(joint, float), entropy_miller_madow)


def _reduction(joint: Floats, measure: Callable[[ArrayLike], Floats]) -> float:
    """The entropy of the table less the mean one of its classes; 0 without records."""
    total = joint.sum()
    return float(measure(joint.sum(0)) - joint.sum(1) @ measure(joint) / total) if total else 0.0


def _per_record(total: Floats, records: Floats) -> Floats:
    """Divide, where there are records."""
    mean: Floats = np.zeros_like(records, float)
    return np.divide(total, records, out=mean, where=records > 0)
