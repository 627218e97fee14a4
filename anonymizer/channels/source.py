"""Input of a random recoding: the joint law of an attribute and a sensitive one; distortions.

W is the sensitive attribute, X the attribute that is recoded, Y what is released for it: a Markov
chain W - X - Y, since Y is drawn knowing X alone. Arrays are indexed (x, w), (x, y) and (w, y).
A distortion d(x, y) is the cost of releasing y for x.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from anonymizer.channels.validation import matrix_of, numbers_of
from anonymizer.counts.counts import Classes
from anonymizer.errors import InputError, shown
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels.arrays import Codes, Floats, Ints

WHOLE = 2**50
"""What a distribution is multiplied by to be counts: their sums are exact in floating point."""

SAME = 1e-9
"""How far two joint laws may disagree about p(x): rounding, and no more."""


@dataclass(frozen=True, eq=False)
class JointLaw:
    """The joint law p(x, w), of values that occur alone.

    ``joint`` sums to 1, and no row and no column of it is 0: ``rows`` and ``columns`` are those of
    the given matrix, of ``shape``, that are kept.
    """

    joint: Floats
    rows: Codes
    columns: Codes
    shape: tuple[int, int]

    @classmethod
    def of(cls, joint: ArrayLike) -> JointLaw:
        """Check a joint law, or counts, which are divided by their sum."""
        given = matrix_of("joint", joint)
        total = given.sum()
        if not total > 0:
            raise InputError("joint sums to 0; it must hold p(x, w) or counts")
        rows = np.flatnonzero(given.sum(axis=1) > 0)
        columns = np.flatnonzero(given.sum(axis=0) > 0)
        law = given[np.ix_(rows, columns)] / total
        return cls(np.ascontiguousarray(law), rows, columns, (given.shape[0], given.shape[1]))

    @cached_property
    def p(self) -> Floats:
        """p(x), shape (n,)."""
        return np.asarray(self.joint.sum(axis=1))

    @cached_property
    def prior(self) -> Floats:
        """p(w), shape (m,)."""
        return np.asarray(self.joint.sum(axis=0))

    @cached_property
    def conditional(self) -> Floats:
        """p(w|x), shape (n, m)."""
        return np.asarray(self.joint / self.p[:, None])

    @cached_property
    def information(self) -> float:
        """I(X;W) in nats."""
        return _information(self.joint)

    def leakage(self, channel: Floats) -> float:
        """I(W;Y) in nats under a channel of the rows kept here, shape (n, k)."""
        return _information(self.joint.T @ channel)


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive attribute W: p(x, w), and the distribution of W that an adversary knows.

    ``known`` is the adversary's distribution, shape (all values of W,): the margin of the whole
    table, of which ``source`` may be the part that agrees on other attributes. ``values`` are all
    values of W, one per column of the given matrix; empty where no model needs to know.
    ``attribute`` is the name of W for models and messages.
    """

    source: JointLaw
    known: Floats
    values: tuple[object, ...] = ()
    attribute: str = "W"

    @classmethod
    def of(
        cls,
        joint: ArrayLike,
        prior: ArrayLike | None = None,
        values: Iterable[object] = (),
        attribute: str = "W",
    ) -> Sensitive:
        """Check a joint law or counts, and the distribution that is known, if another one is."""
        source = JointLaw.of(joint)
        known = np.zeros(source.shape[1])
        # Values of W that do not occur have probability 0, unless a prior says otherwise.
        known[source.columns] = source.prior
        if prior is not None:
            known = _known(prior, source)
        if not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
            raise InputError(f"values must be a list, one for every column, not {shown(values)}")
        listed = tuple(values)
        if listed and len(listed) != source.shape[1]:
            raise InputError(
                f"{attribute} has {len(listed)} values and joint {source.shape[1]} columns; name "
                "one value for every column"
            )
        return cls(source, known, listed, attribute)

    @property
    def prior(self) -> Floats:
        """Distribution of the values that occur here, shape (m,)."""
        return np.asarray(self.known[self.source.columns])

    @cached_property
    def table(self) -> Classes:
        """No class at all, measured against what is known: what bounds of models are made from."""
        return self.measured(np.zeros((0, self.source.shape[1]), np.int64))

    def classes(self, posterior: Floats) -> Classes:
        """Released symbols as the classes that models measure, from p(w|y), shape (m, k).

        Each has so many records that rounding its shares to whole numbers is rounding error.
        """
        joint = np.zeros((posterior.shape[1], self.source.shape[1]), np.int64)
        joint[:, self.source.columns] = whole(posterior.T)
        return self.measured(joint)

    def measured(self, joint: Ints) -> Classes:
        """Return classes by the records ``joint``, shape (classes, all values)."""
        return Classes(joint, whole(self.known), self.values, None, self.attribute)

    def require_named(self, model: str, distance: str | None) -> None:
        """Require names of values where a model's distance is between them."""
        if distance in ("ordered", "hierarchical") and not self.values:
            raise InputError(
                f"{model}: distance {distance!r} is about the values of {self.attribute}; name "
                "them, one for every column of joint"
            )

    def require_same(self, other: Sensitive) -> None:
        """Require that another attribute has the same p(x)."""
        mine, theirs = self.source, other.source
        alike = mine.shape[0] == theirs.shape[0] and np.array_equal(mine.rows, theirs.rows)
        differ = "sums of rows" if alike else "rows"
        if not alike or np.abs(mine.p - theirs.p).max() > SAME:
            raise InputError(
                f"{self.attribute} and {other.attribute} are not about the same X: their joint "
                f"laws have different {differ}"
            )


def whole(distribution: Floats) -> Ints:
    """Distributions over the last axis as large counts."""
    return np.rint(distribution * WHOLE).astype(np.int64)


def expected(p: Floats, channel: Floats, distortion: Floats) -> float:
    """E d(X, Y) = sum p(x) q(y|x) d(x, y)."""
    return float(np.einsum("x,xy,xy->", p, channel, distortion))


def filled(channel: Floats, p: Floats, rows: Codes, values: int) -> Floats:
    """Extend a channel to all values: those of probability 0 get the likeliest symbol."""
    whole_channel = np.zeros((values, channel.shape[1]))
    whole_channel[:, int(np.argmax(p @ channel))] = 1.0
    whole_channel[rows] = channel
    return whole_channel


def require_distortion(distortion: ArrayLike, what: str, values: int) -> Floats:
    """Check d(x, y), which has one row for each value of X, shape (values, k)."""
    matrix = matrix_of("distortion", distortion)
    if len(matrix) != values:
        raise InputError(
            f"distortion has {len(matrix)} rows and {what} {values}; both need one for every value "
            "of X"
        )
    return matrix


def _known(prior: ArrayLike, source: JointLaw) -> Floats:
    known = numbers_of("prior", prior, "be a list of numbers, one for every value of W")
    if known.shape != (source.shape[1],):
        raise InputError(
            f"prior must have one number for each of the {source.shape[1]} columns of joint"
        )
    if known.min() < 0 or not known.sum() > 0:
        raise InputError("prior must hold numbers of at least 0 with a positive sum")
    if (known[source.columns] <= 0).any():
        raise InputError(
            "prior is 0 for a value of W that joint has: what is known not to occur, occurs"
        )
    return np.asarray(known / known.sum())


def _information(law: Floats) -> float:
    """I in nats of a joint law, shape (a, b); never negative."""
    independent = law.sum(axis=1, keepdims=True) * law.sum(axis=0, keepdims=True)
    some = (law > 0) & (independent > 0)
    return max(0.0, float((law[some] * np.log(law[some] / independent[some])).sum()))


def squared(x: ArrayLike, y: ArrayLike | None = None) -> Floats:
    """(x - y)^2, shape (n, k), in the square of the unit of x; y is x unless given.

    >>> squared([1, 3]).tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """
    return np.asarray(_difference(x, y) ** 2)


def absolute(x: ArrayLike, y: ArrayLike | None = None) -> Floats:
    """|x - y|, shape (n, k), in the unit of x.

    >>> absolute([1, 3], [2]).tolist()
    [[1.0], [1.0]]
    """
    return np.abs(_difference(x, y))


def hamming(x: Sequence[object], y: Sequence[object] | None = None) -> Floats:
    """1 where x and y differ, 0 where they are the same, shape (n, k).

    >>> hamming(["a", "b"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    others = x if y is None else y
    if not (isinstance(x, Sized) and isinstance(others, Sized)):
        raise InputError("hamming distortion needs lists of values")
    return np.array([[float(left != right) for right in others] for left in x])


def hierarchical(taxonomy: Taxonomy) -> Floats:
    """Levels to the common ancestor of two values, shape (values, values); 0 for the same value.

    The height of the hierarchy for values that meet in ``*`` alone.
    """
    if not isinstance(taxonomy, Taxonomy):
        raise InputError(f"hierarchical distortion needs a Taxonomy, not {shown(taxonomy)}")
    apart = [level.groups[:, None] != level.groups[None] for level in taxonomy.levels]
    return np.asarray(np.sum(apart, axis=0, dtype=float))


def _difference(x: ArrayLike, y: ArrayLike | None) -> Floats:
    form = "be numbers for squared and absolute distortion (or use hamming)"
    left, right = (numbers_of("values", side, form) for side in (x, x if y is None else y))
    if left.ndim != 1 or right.ndim != 1:
        raise InputError("squared and absolute distortion need a list of numbers")
    return np.asarray(left[:, None] - right[None])
