"""The best ranges of a number, exactly: what a random recoding has to be compared with.

Values stand in order; a partition into contiguous ranges releases the centroid of the range, the
value of least squared distortion. Distortion and leakage I(W;Y) = sum_y p(y) D(p(w|y) || p(w)) are
both sums over ranges, so the best partition follows from the best ones of its beginnings (Bellman
1961; Fisher 1958 for grouping): n (n + 1) / 2 ranges, each judged once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.source import Sensitive, whole
from anonymizer.channels.validation import nats_per, number_of, numbers_of, require_room
from anonymizer.errors import InputError, PolicyUnreachableError
from anonymizer.information.entropy import divergence
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask
from anonymizer.privacy import (
    PrivacyModel,
    holds,
    models_of,
    require_class_by_class,
    require_persons,
)


@dataclass(frozen=True, eq=False)
class CentroidRanges:
    """A partition of the values of a number into ranges, each released as its centroid.

    Parameters
    ----------
    groups
        The range of every row of the joint law, shape (n,), numbered from the smallest; that of
        the nearest value for rows of probability 0.
    centroids
        E[X|range], shape (ranges,).
    distortion, leakage, unit
        E (X - Y)^2, and I(W;Y) in ``unit``, ``"bits"`` or ``"nats"``.
    """

    groups: Codes
    centroids: Floats
    distortion: float
    leakage: float
    unit: str

    @property
    def channel(self) -> Floats:
        """The 0/1 channel q(y|x) that they are, shape (n, ranges)."""
        return np.asarray(np.eye(len(self.centroids))[self.groups])


def best_ranges(
    joint: ArrayLike,
    values: ArrayLike,
    *,
    slope: float = 0.0,
    privacy: Sequence[PrivacyModel] = (),
    prior: ArrayLike | None = None,
    sensitive_values: Sequence[object] = (),
    unit: str = "bits",
) -> CentroidRanges:
    """The ranges of least E (X - Y)^2 + slope * I(W;Y) of which each satisfies every model.

    Parameters
    ----------
    joint, values
        p(x, w), or the records of each, shape (n, m), which models that count records need; and the
        number that each row stands for, shape (n,), all different, in any order.
    slope
        What one ``unit`` of leakage is worth in squared distortion.
    privacy
        Models that judge every range by its own records; any of them, convex or not.
    prior
        p(w) as an adversary knows it, shape (m,); that of ``joint`` when left out.
    sensitive_values
        What the columns of ``joint`` stand for, for distances between values of W.

    Returns
    -------
    CentroidRanges
        The ranges, the mean of each, and their distortion and leakage in ``unit``.

    Raises
    ------
    InputError
        When a row has no number, a model is about the table as a whole, or about distances of
        values that are not named.
    PolicyUnreachableError
        When no partition into ranges satisfies the models.
    """
    number_of("slope", slope, least=0)
    require_class_by_class(models_of(privacy), "a choice of ranges")
    require_persons(privacy, known=False)
    sensitive = Sensitive.of(joint, prior, sensitive_values)
    for model in privacy:
        sensitive.require_named(model.name, getattr(model, "distance", None))
    source = sensitive.source
    numbers = numbers_of("values", values, "be numbers, for ranges are of numbers")
    if numbers.shape != source.shape[:1]:
        raise InputError(f"values must be {source.shape[0]} numbers, one for every row of joint")
    if len(np.unique(numbers)) < len(numbers):
        raise InputError("values must all be different, one for every row of joint")
    order = source.rows[np.argsort(numbers[source.rows])]
    n, m = len(order), source.shape[1]
    require_room(f"all ranges of {n} values", (4, n, n), (4, n, m))
    sums = np.asarray(joint, float)[order]
    exact = bool((sums == np.rint(sums)).all())  # of probabilities, shares of very many records
    counts = sums.astype(np.int64) if exact else whole(sums / sums.sum())
    x, nats = numbers[order], nats_per(unit)
    costs = _costs(sums, x, sensitive.known, slope / nats)
    for first in range(n if privacy else 0):
        inside = np.cumsum(counts[first:], axis=0)
        costs[first, first:][~_accepted(inside, sensitive, privacy, exact)] = np.inf
    placed = cheapest(n, lambda end: (0, costs[:end, end - 1]))
    p = sums.sum(axis=1) / sums.sum()
    mass = np.bincount(placed, p)
    centroids = np.bincount(placed, p * (x - x[0])) / mass + x[0]
    groups = placed[np.abs(numbers[:, None] - x[None]).argmin(axis=1)]
    leakage = source.leakage(np.eye(len(mass))[groups[source.rows]])
    distortion = float(p @ (x - centroids[placed]) ** 2)
    return CentroidRanges(groups, centroids, distortion, leakage / nats, unit)


def default_alphabet(
    joint: ArrayLike,
    values: ArrayLike,
    *,
    slopes: Sequence[float] = (),
    privacy: Sequence[PrivacyModel] = (),
    unit: str = "bits",
) -> Floats:
    """The values that occur and the centroids of the best ranges, sorted, shape (k,).

    Ranges are channels. A channel of least distortion, or of least leakage at a distortion, is
    therefore never worse than the ranges it is compared with if, and in general only if, it may
    release what they release: their centroids.

    Parameters
    ----------
    joint, values
        As for :func:`best_ranges`, and so are errors.
    slopes, privacy
        What leakage is worth: the best ranges of each, and those that satisfy the models, are to be
        beaten.
    """
    models_of(privacy)
    prices = numbers_of("slopes", slopes)
    found = [best_ranges(joint, values, slope=price, unit=unit) for price in prices.ravel()]
    if privacy:
        found.append(best_ranges(joint, values, privacy=privacy, unit=unit))
    present = np.asarray(values, float)[np.asarray(joint, float).sum(axis=1) > 0]
    return np.unique(np.concatenate([present, *(ranges.centroids for ranges in found)]))


def _costs(sums: Floats, x: Floats, known: Floats, slope: float) -> Floats:
    """Distortion + slope * leakage of every range first..last, shape (n, n), in nats; else inf."""
    n, p = len(x), sums.sum(axis=1) / sums.sum()
    costs = np.full((n, n), np.inf)
    margin = whole(known)
    for first in range(n):
        near = x[first:] - x[first]  # small numbers, so that no digits cancel
        mass, mean = np.cumsum(p[first:]), np.cumsum(p[first:] * near)
        square = np.cumsum(p[first:] * near**2)
        costs[first, first:] = np.maximum(square - mean**2 / mass, 0.0)
        if slope:
            bits = divergence(np.cumsum(sums[first:], axis=0), margin)
            costs[first, first:] += slope * mass * bits * np.log(2)
    return costs


def _accepted(
    counts: Ints, sensitive: Sensitive, privacy: Sequence[PrivacyModel], exact: bool
) -> Mask:
    """Mark ranges that satisfy all models, from their records by value, shape (ranges, m)."""
    classes = sensitive.measured(counts)
    accepted = np.ones(len(counts), bool)
    for model in privacy:
        if not exact and not model.sensitive:
            raise InputError(f"{model.name} counts records: give joint as counts")
        accepted &= holds(model, classes)
    return accepted


def cheapest(n: int, costs: Callable[[int], tuple[int, Floats]]) -> Codes:
    """The range of each of n places in the cheapest partition, shape (n,), numbered from the first.

    ``costs`` gives, of the ranges that end before a place, the first and what each costs from there
    on. Unreachable where every partition costs infinity.
    """
    least, begins = np.full(n + 1, np.inf), np.zeros(n + 1, np.intp)
    least[0] = 0.0
    # least[end] is what the cheapest partition of the places before end costs, and begins[end] is
    # where its last range begins.
    for end in range(1, n + 1):
        first, within = costs(end)
        if len(within):
            total = least[first : first + len(within)] + within
            begins[end] = first + total.argmin()
            least[end] = total.min()
    if not np.isfinite(least[n]):
        raise PolicyUnreachableError(
            "the policy is out of reach: no partition of the values into ranges satisfies it; "
            "relax it"
        )
    ends = [n]
    while ends[-1]:
        ends.append(int(begins[ends[-1]]))
    return np.repeat(np.arange(len(ends) - 1), np.diff(ends[::-1]))
