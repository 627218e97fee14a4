"""Records dealt out to places at random, in memory by place: of any number of records."""

import numpy as np

from anonymizer.kernels.arrays import Ints

EXACT = 10**9
"""Records below which NumPy draws from the hypergeometric distribution."""

NORMAL = 1e4
"""Variance from which on a number of very many records is drawn as a normal one."""


def dealt_among(places: Ints, records: int, rng: np.random.Generator) -> Ints:
    """How many of some records each class gets that has so many places, shape (classes,).

    All ways to take places are equally likely. As by ``Generator.multivariate_hypergeometric``
    where there are fewer than ``EXACT`` places, which is as many as that takes.
    """
    if places.sum() < EXACT:
        found: Ints = rng.multivariate_hypergeometric(places, records, method="marginals")
        return found
    totals = [places]
    while len(totals[-1]) > 1:  # of pairs, of pairs of pairs, and so on
        even = np.append(totals[-1], np.zeros(len(totals[-1]) % 2, np.int64))
        totals[-1:] = [even, even[::2] + even[1::2]]
    taken = np.array([records], np.int64)
    for each in reversed(totals[:-1]):
        left = _hypergeometric(each[::2], each[1::2], taken[: len(each) // 2], rng)
        taken = np.column_stack([left, taken[: len(left)] - left]).ravel()
    return taken[: len(places)]


def _hypergeometric(good: Ints, bad: Ints, taken: Ints, rng: np.random.Generator) -> Ints:
    """How many good ones are among those that were taken, shape (pairs,)."""
    found = np.empty(len(good), np.int64)
    exact = (good < EXACT) & (bad < EXACT)
    found[exact] = rng.hypergeometric(good[exact], bad[exact], taken[exact])
    found[~exact] = _of_many(good[~exact], bad[~exact], taken[~exact], rng)
    return found


def _of_many(good: Ints, bad: Ints, taken: Ints, rng: np.random.Generator) -> Ints:
    """The same of ``EXACT`` or more, nearly: by the smaller kind, and the smaller of what is taken.

    With shares a and b of all, which are N, of these, the mean is N a b, and the variance
    N a (1 - a) b (1 - b). Where it is small, so is one share: below .004, whose factor 1 - a a
    binomial number leaves out. Else a normal number has its law but for a hundredth at most.
    """
    total = good + bad
    kind, part = np.minimum(good, bad), np.minimum(taken, total - taken)
    fewer, more = np.minimum(kind, part), np.maximum(kind, part) / total
    variance = fewer * more * (1 - more) * (1 - fewer / total)
    found = np.rint(rng.normal(fewer * more, np.sqrt(variance))).astype(np.int64)
    small = variance < NORMAL
    found[small] = rng.binomial(fewer[small], more[small])
    found = np.clip(found, 0, fewer)
    found = np.where(part == taken, found, kind - found)
    return np.asarray(np.where(kind == good, found, taken - found))
