"""A sensitive attribute beside the one that is recoded, and what an adversary knows of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonymizer.channels.source import Floats, Source, numbers_of
from anonymizer.counts.counts import Classes
from anonymizer.errors import InputError, shown

__all__ = ["Sensitive", "whole"]

WHOLE = 2**50
"""What a distribution is multiplied by to be counts: their sums are exact in floating point."""

SAME = 1e-9
"""How far two joint laws may disagree about p(x): rounding, and no more."""


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive attribute W: p(x, w), and the distribution of W that an adversary knows.

    Parameters
    ----------
    source
        p(x, w), of the values that occur.
    known
        What an adversary takes for the distribution of W, shape (all values of W,): the margin of
        the whole table, of which ``source`` may be the part that agrees on other attributes.
    values
        All values of W, one per column that was given; empty where no model needs to know.
    attribute
        What W is called by models and messages.
    """

    source: Source
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
    ) -> "Sensitive":
        """Check a joint law or counts, and the distribution that is known, if another one is.

        Raises
        ------
        InputError
            When one of them is no distribution, or a value that the joint law has is known not to
            occur.
        """
        source = Source.of(joint)
        known = np.zeros(source.shape[1])
        known[source.columns] = source.prior
        if prior is not None:
            known = _distribution(prior, source)
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
        """What is known of the values that occur here, shape (m,)."""
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

    def measured(self, joint: NDArray[np.int64]) -> Classes:
        """Classes of so many records, shape (classes, all values), against what is known."""
        return Classes(joint, whole(self.known), self.values, None, self.attribute)

    def require_same(self, other: "Sensitive") -> None:
        """Require that another attribute is about the same X.

        Raises
        ------
        InputError
            When its joint law has another p(x).
        """
        mine, theirs = self.source, other.source
        if mine.shape[0] != theirs.shape[0] or not np.array_equal(mine.rows, theirs.rows):
            raise InputError(
                f"{self.attribute} and {other.attribute} are not about the same X: their joint "
                "laws have different rows"
            )
        if np.abs(mine.p - theirs.p).max() > SAME:
            raise InputError(
                f"{self.attribute} and {other.attribute} are not about the same X: their joint "
                "laws have different sums of rows"
            )


def whole(distribution: Floats) -> NDArray[np.int64]:
    """Distributions over the last axis as large counts."""
    return np.rint(distribution * WHOLE).astype(np.int64)


def _distribution(prior: ArrayLike, source: Source) -> Floats:
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
