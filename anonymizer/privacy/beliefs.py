"""What readers of a class may believe who know more than its records: bounded by odds.

Of a class with the shares p(w) somebody may believe other shares q(w). ``odds`` c bound how much:

    q(v) / q(w) <= c p(v) / p(w) for all values v and w that the class has.

Then q(w) >= p(w) / c, since q(w) / p(w) is at least 1 / c times the largest of these ratios, and
the largest is at least 1. So q = a p + (1 - a) r for a = 1 / c and some distribution r, which is a
mixture of the q_w = a p + (1 - a) d_w, where d_w has the value w alone. A model that merging
preserves accepts every mixture of distributions that it accepts. If it accepts all q_w, it accepts
q, whatever somebody with these odds believes.

For a measure f that is convex, f(q_w) <= a f(p) + (1 - a) f(d_w). So what bounds f(p) by
(t - (1 - a) max_w f(d_w)) / a bounds all f(q_w) by t, at the cost of accepting less: see
``PrivacyModel.without_odds``.

The condition is monotone itself: the q_w of a merged class are mixtures of those of its parts.

This is about shares. A model that counts records as well is held against the class as it is, too;
of shares alone that is implied, because p is the mixture of all q_w by p.

In whole numbers: a class of n records with the histogram h has, for a = m / d, the beliefs
m h + (d - m) n d_w, of d n records.
"""

from collections.abc import Iterator

from anonymizer.errors import require_number
from anonymizer.kernels.arrays import Ints

PARTS = 1000
"""The parts that beliefs are rounded to, towards larger odds."""

MOST_ODDS = 100.0
"""The largest odds: a belief leaves at least a hundredth of every share."""


def require_odds(owner: str, odds: object) -> None:
    """Refuse what is no bound on odds."""
    require_number(owner, "odds", odds, least=1, most=MOST_ODDS, above=True)


def kept_by(odds: float) -> float:
    """Return a, the least part of a class's shares that beliefs of these odds keep."""
    return int(PARTS / odds) / PARTS


def beliefs(joint: Ints, odds: float) -> Iterator[Ints]:
    """Give the histograms (classes, values) that beliefs of these odds are mixtures of.

    One array for each value, of ``PARTS`` times as many records.

    >>> import numpy as np
    >>> [each.tolist() for each in beliefs(np.array([[1, 1]]), 1.25)]
    [[[1200, 800]], [[800, 1200]]]
    """
    kept = int(PARTS / odds)
    moved = (PARTS - kept) * joint.sum(axis=1)
    for value in range(joint.shape[1]):
        believed = kept * joint
        believed[:, value] += moved
        yield believed
