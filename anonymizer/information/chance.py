"""What a class shows by chance alone: the bits of n records whose values were dealt out at random.

Of N records N_w have the value w. Dealt out without replacement, a class of n records gets
X_w ~ Hypergeometric(N, N_w, n) of each, and tells on average

    e(n) = (1/N) (sum_w E[X_w log X_w] - n log n + n H(W)) = (1/N) sum_w E[X_w log(X_w / mu_w)]

bits, mu_w = n N_w / N: all terms but these cancel. e(0) = e(N) = 0. It is known exactly at nodes,
every size up to 96 among them and at most n / 48 apart beyond, and interpolated between them by
polynomials of degree 7.

How far off is that? F(n) = E[X ln X] has forward differences in n that are expectations too,
D^j F(n) = (K)_j / (N)_j E[D^j f(X')], X' ~ Hypergeometric(N - j, K - j, n), f = x ln x, K = N_w
(couple the draws). With |D^j f(x)| <= j (j - 2)! / ((x + 1) ... (x + j - 1)) for j >= 2, from
x ln x = int (e^-xs - 1 + x (1 - e^-s)) / s^2 ds, this is at most

    |D^j F(n)| <= j (j - 2)! K / (N (n + 1) ... (n + j - 1)),

and so are the derivatives of mu ln mu, which have the same sign. A polynomial through j nodes is
off by |prod (n - n_i)| / j! times such a difference, and sum_w N_w / N = 1: see ``error``. Over any
partition of the records the errors add up to less than 1e-10 bits, whatever N.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Codes, Floats, Ints

NODES = 8
"""Nodes that a polynomial goes through."""

DENSE = 48
"""The size per unit between nodes: their distance is n // DENSE, at least 1."""

UNLIKELY = 40.0
"""What lies beyond a deviation of probability 2 e^-40 on either side is left out."""

MOST_LISTED = 4_000_000
"""Records of the largest table that every size is listed of (32 MB)."""

AT_ONCE = 32
"""Nodes whose expectations are computed together."""


@dataclass(frozen=True, eq=False)
class Expected:
    """e(n) of a table of N records, known at the sizes ``nodes``, ascending from 0 to N.

    ``divided``: Newton's differences from each node on, shape (polynomials, at most ``NODES``).
    """

    records: int
    nodes: Ints
    divided: Floats

    def __call__(self, sizes: NDArray[np.signedinteger]) -> Floats:
        """e(n) in bits of classes of some sizes, same shape."""
        first = self._first(sizes)
        total = self.divided[first, -1]
        # Horner's scheme for Newton's form: from the highest difference down.
        for place in range(self.divided.shape[1] - 2, -1, -1):
            total = total * (sizes - self.nodes[first + place]) + self.divided[first, place]
        return np.asarray(np.maximum(total, 0.0))

    def total(self, sizes: NDArray[np.signedinteger]) -> float:
        """The sum of e(n) over classes of some sizes, in bits."""
        # A list of all sizes of a huge table costs more than it saves.
        few = self.records > MOST_LISTED
        return float((self(sizes) if few else self._listed[sizes]).sum())

    def table(self) -> Floats:
        """e(n) of every size, shape (N + 1,)."""
        return self(np.arange(self.records + 1))

    @cached_property
    def _listed(self) -> Floats:
        """Table that ``total`` looks sizes up in, which is quicker than to interpolate."""
        return self.table()

    def error(self, sizes: NDArray[np.signedinteger]) -> Floats:
        """Bound the error of interpolation, in bits, same shape.

        |prod (n - n_i)| / ((j - 1) (n_1 + 1) ... (n_1 + j - 1) N ln 2), n_1 the smallest of the j
        nodes; 0 at a node.
        """
        first, order = self._first(sizes), self.divided.shape[1]
        off = np.full(np.shape(sizes), 1 / (max(order - 1, 1) * self.records * np.log(2)))
        for place in range(order):
            off *= np.abs(sizes - self.nodes[first + place])
            off /= self.nodes[first] + place if place else 1
        return off

    def _first(self, sizes: NDArray[np.signedinteger]) -> Codes:
        middle = np.searchsorted(self.nodes, sizes) - self.divided.shape[1] // 2
        return np.asarray(np.clip(middle, 0, len(self.divided) - 1))


def expected(margin: Iterable[int]) -> Expected:
    """Return e(n) of a table with these records of each value; kept for the next call.

    >>> expected([2, 2])(np.array([0, 1, 2, 3, 4])).round(6).tolist()
    [0.0, 0.25, 0.166667, 0.061278, 0.0]
    """
    return _expected(tuple(sorted(int(count) for count in margin if count)))


@lru_cache(maxsize=256)
def _expected(margin: tuple[int, ...]) -> Expected:
    records = sum(margin)
    nodes, alike = _nodes(records), Counter(margin)
    bits = np.zeros(len(nodes))
    for begin in range(1, len(nodes), AT_ONCE):
        # Values of equal margins have equal expectations: each margin is computed once.
        some = slice(begin, begin + AT_ONCE)
        for count, times in alike.items():
            bits[some] += times * _surprise(records, count, nodes[some, None])
    return Expected(records, nodes, _divided(nodes, bits / max(records, 1) / np.log(2)))


def of_small(margin: Iterable[int]) -> Floats:
    """e(n) of the sizes 0, 1, ... up to 2 ``DENSE`` or N, exactly: quicker than of all sizes.

    >>> of_small([2, 2]).round(6).tolist()
    [0.0, 0.25, 0.166667, 0.061278, 0.0]
    """
    return _of_small(tuple(sorted(int(count) for count in margin if count)))


@lru_cache(maxsize=256)
def _of_small(margin: tuple[int, ...]) -> Floats:
    records = sum(margin)
    sizes = np.arange(1, min(2 * DENSE, records) + 1)[:, None]
    nats = np.zeros(len(sizes))
    for count, times in Counter(margin).items():
        nats += times * _surprise(records, count, sizes)
    return np.concatenate([[0.0], nats / max(records, 1) / np.log(2)])


def _nodes(records: int) -> Ints:
    nodes = [0]
    while nodes[-1] < records:
        nodes.append(min(nodes[-1] + max(nodes[-1] // DENSE, 1), records))
    return np.array(nodes, np.int64)


def _divided(nodes: Ints, values: Floats) -> Floats:
    """Newton's divided differences of up to ``NODES`` neighbours."""
    order = min(NODES, len(nodes))
    columns = [values]
    for step in range(1, order):
        columns.append(np.diff(columns[-1]) / (nodes[step:] - nodes[:-step]))
    polynomials = len(nodes) - order + 1
    return np.stack([column[:polynomials] for column in columns], axis=1)


def _surprise(records: int, count: int, sizes: Ints) -> Floats:
    """E[X ln(X / mu)] of X ~ Hypergeometric(records, count, size), in nats, sizes of shape (n, 1).

    Probabilities grow from the mode by their ratios, exact to the last bits, as far as Bernstein's
    inequality calls likely; X ln(X / mu) - (X - mu), never negative, has the same mean.
    """
    mean = sizes * (count / records)
    mode = (sizes + 1) * (count + 1) // (records + 2)
    variance = float((mean * (1 - count / records)).max())
    # Bernstein: P(|X - mu| >= r) <= 2 exp(-r^2 / (2 (v + r / 3))), solved for r at 2 e^-UNLIKELY.
    reach = int(UNLIKELY / 3 + np.sqrt((UNLIKELY / 3) ** 2 + 2 * UNLIKELY * variance)) + 2
    steps = np.arange(min(reach, count))
    up, down = mode + steps, mode - steps
    rest = records - count - sizes
    # p(x + 1) / p(x) and p(x - 1) / p(x); a ratio of 0 ends the support, and all beyond it are 0.
    rising = (count - up) * (sizes - up) / ((up + 1.0) * (rest + up + 1))
    falling = down * (rest + down) / ((count - down + 1.0) * (sizes - down + 1))
    shares = [np.cumprod(falling, axis=1)[:, ::-1], np.ones_like(mean), np.cumprod(rising, axis=1)]
    share = np.concatenate(shares, axis=1)
    away = np.concatenate([down[:, ::-1] - 1, mode, up + 1], axis=1) - mean
    # At x = 0 the logarithm would be infinite, and 0 times that no number.
    nats = (mean + away) * np.log1p(np.maximum(away / mean, np.nextafter(-1, 0))) - away
    return np.asarray((share * nats).sum(axis=1) / share.sum(axis=1))
