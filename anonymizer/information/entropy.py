"""Entropy, divergence and one-symbol informations of count arrays, in bits.

Pure functions: no labels, no tables, no estimation. A ``joint`` is the count matrix C of a
partition of the table into classes: one row per class g, one column per value w of W, the
number n_gw of records in each. Classes without records contribute nothing and measure 0;
0 log 0 = 0 everywhere. Notation and equations: Bezzi, "An information theoretic approach for
privacy metrics", Transactions on Data Privacy 3 (2010), sections 2.2 and 3.

Counts may be a sparse matrix of scipy, (classes, values), except where weights are given: see
``anonymizer.information.matrices``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.information.matrices import (
    CountMatrix,
    blocks,
    having,
    is_sparse,
    occurring,
    summed,
)
from anonymizer.kernels.arrays import Floats
from anonymizer.kernels.terms import MILLER_MADOW, grassberger, xlogx


def entropy(counts: ArrayLike | CountMatrix, times: ArrayLike = 1) -> Floats:
    """H = -sum p log p over the last axis, p = counts / sum, in bits; 0 without records.

    Written as log n - (sum n_w log n_w) / n: one division, so that an exactly uniform class
    comes out at log m to the last bits. Each count is there so many ``times``.

    >>> entropy([[5, 5], [10, 0]]).round(12).tolist()
    [1.0, 0.0]
    >>> entropy([5], [2]).round(12).tolist()
    1.0
    """
    if is_sparse(counts):
        total, terms = counts.sum(-1), summed(counts, xlogx)
    else:
        counts, times = np.asarray(counts, float), np.asarray(times)
        total, terms = (counts * times).sum(-1), (xlogx(counts) * times).sum(-1)
    # Rounding may leave a certain class a little below 0.
    bits = _per_record(xlogx(total) - terms, total)
    return np.where(bits > 0, bits, 0.0)


def entropy_miller_madow(counts: ArrayLike | CountMatrix) -> Floats:
    """H + (m - 1) / (2 n ln 2) over the last axis, m values occurring, in bits; 0 without records.

    Corrects the first term of the bias of small samples (Miller 1955).

    >>> entropy_miller_madow([5, 5]).round(6).tolist()
    1.072135
    """
    counts = _counts(counts)
    extra = np.maximum(occurring(counts) - 1, 0) * MILLER_MADOW
    return np.asarray(entropy(counts) + _per_record(extra, counts.sum(-1)))


def entropy_grassberger(counts: ArrayLike | CountMatrix) -> Floats:
    """Log n - sum n_w G(n_w) / n over the last axis, in bits; 0 without records.

    An estimate of less bias than the plug-in one, from few records (Grassberger 2003, "Entropy
    estimates from insufficient samplings", Eq. 35). May be negative, and more than log m.

    >>> entropy_grassberger([5, 5]).round(6).tolist()
    1.307487
    """
    counts = _counts(counts)
    total = counts.sum(-1)
    return _per_record(xlogx(total) - summed(counts, grassberger), total)


def divergence(counts: ArrayLike | CountMatrix, prior: ArrayLike) -> Floats:
    """Kullback-Leibler divergence D(q || p) over the last axis, in bits.

    ``counts`` (..., m) give q = counts / sum, ``prior`` (m,) gives p likewise. Infinite where a
    value occurs that the prior excludes; 0 without records.

    >>> float(divergence([4, 0], [1, 1]))
    1.0
    """
    counts, prior = _counts(counts), np.asarray(prior, float)
    total = counts.sum(-1)
    log_prior = np.log2(prior / prior.sum(), out=np.zeros_like(prior), where=prior > 0)
    # A value that the prior excludes has log_prior 0 here; whether it occurs is looked up apart.
    cost = summed(counts, xlogx) - xlogx(total) - counts @ log_prior
    excluded = prior == 0
    escapes = having(counts, excluded) if excluded.any() else np.zeros(total.shape, bool)
    return np.where(escapes, np.inf, np.maximum(_per_record(cost, total), 0.0))


def surprise(joint: ArrayLike | CountMatrix, prior: ArrayLike | None = None) -> Floats:
    """I1(W, g) = D(p(w|g) || p(w)), one value per class, in bits; never negative (Eq. 8).

    ``prior`` (m,) is the distribution of W in the table; the column sums when left out.

    >>> surprise([[4, 0], [0, 4]]).tolist()
    [1.0, 1.0]
    """
    joint = _counts(joint)
    return divergence(joint, joint.sum(0) if prior is None else prior)


def specific_information(joint: ArrayLike | CountMatrix, prior: ArrayLike | None = None) -> Floats:
    """I2(W, g) = H(W) - H(W|g), one value per class, in bits (Eq. 3 and 10).

    Negative where a class makes W less certain than the table does.
    """
    joint = _counts(joint)
    return np.asarray(entropy(joint.sum(0) if prior is None else prior) - entropy(joint))


def weighted_uncertainty_reduction(joint: ArrayLike | CountMatrix) -> Floats:
    """I3(g, W) = sum_w p(w|g) [H(X~) - H(X~|w)], one value per class, in bits (Table 1).

    What a class's sensitive values tell, on average, about which class a record is in.
    """
    joint = _counts(joint)
    by_value = joint.T.tocsr() if is_sparse(joint) else joint.T
    gain = entropy(joint.sum(1)) - entropy(by_value)
    return _per_record(joint @ gain, joint.sum(1))


def partition_information(joint: ArrayLike | CountMatrix) -> Floats:
    """I4(g, W) = I({g, not g}; W), one value per class, in bits (Table 1).

    The information of the two-class partition; it does not average to I(X~;W).
    """
    joint = _counts(joint)
    total = joint.sum(0)
    found = [_apart(np.asarray(part, float), total) for _, part in blocks(joint)]
    return np.concatenate(found) if found else np.zeros(0)


def _apart(joint: Floats, total: Floats) -> Floats:
    """I4 of classes, given the records ``total`` of each value in the table."""
    two = np.stack([joint, total - joint], axis=1)
    within = (two.sum(-1) * entropy(two)).sum(-1)
    return np.asarray(np.maximum(entropy(total) - within / total.sum(), 0.0))


def mutual_information(joint: ArrayLike | CountMatrix) -> float:
    """I(X~;W) = H(W) - H(W|X~), in bits (Eq. 1 and 2); 0 without records.

    >>> mutual_information([[4, 0], [0, 4]])
    1.0
    """
    return max(_reduction(_counts(joint), entropy), 0.0)


def mutual_information_miller_madow(joint: ArrayLike | CountMatrix) -> float:
    """I(X~;W) with H(W) and every H(W|g) corrected as Miller and Madow do, in bits.

    I + (m - 1 - sum_g (m_g - 1)) / (2 n ln 2), m values occurring in the table and m_g in class g:
    every class that a table is split into pretends to tell something. May be negative; 0 without
    records.

    >>> mutual_information_miller_madow([[4, 0], [0, 4]]) > 1.0
    True
    """
    return _reduction(_counts(joint), entropy_miller_madow)


def _reduction(joint: CountMatrix, measure: Callable[[CountMatrix], Floats]) -> float:
    """The entropy of the table less the mean one of its classes; 0 without records."""
    total = joint.sum()
    return float(measure(joint.sum(0)) - joint.sum(1) @ measure(joint) / total) if total else 0.0


def _counts(counts: ArrayLike | CountMatrix) -> Any:
    return counts if is_sparse(counts) else np.asarray(counts, float)


def _per_record(total: Floats, records: Floats) -> Floats:
    """Divide, where there are records."""
    mean: Floats = np.zeros_like(records, float)
    return np.divide(total, records, out=mean, where=records > 0)
