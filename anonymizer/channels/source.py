"""What a random recoding is chosen for: the joint law of an attribute and a sensitive one.

W is the sensitive attribute, X the attribute that is recoded, Y what is released for it: a Markov
chain W - X - Y, since Y is drawn knowing X alone. Arrays are indexed (x, w), (x, y) and (w, y).
"""

from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonymizer.errors import InputError, shown

__all__ = [
    "UNITS",
    "Floats",
    "Source",
    "matrix_of",
    "nats_per",
    "numbers_of",
    "require_distortion",
    "require_room",
]

Floats = NDArray[np.float64]

UNITS = {"bits": float(np.log(2)), "nats": 1.0}
"""What one of each unit of information is in nats, the unit of every computation."""

LARGEST = 1e100
"""Numbers beyond are refused: their squares might add up to more than any number."""

MOST_BYTES = 4 << 30
"""What the arrays of one problem may take: more is refused before it is allocated."""


@dataclass(frozen=True, eq=False)
class Source:
    """The joint law p(x, w), of values that occur alone.

    Parameters
    ----------
    joint
        p(x, w), shape (values of X, values of W); sums to 1, no row and no column is 0.
    rows, columns
        Which rows and columns of the matrix that was given these are: those of probability 0 are
        left out.
    shape
        The shape of what was given.
    """

    joint: Floats
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    shape: tuple[int, int]

    @classmethod
    def of(cls, joint: ArrayLike) -> "Source":
        """Check a joint law, or counts, which are divided by their sum.

        Raises
        ------
        InputError
            When it is no matrix of finite numbers of at least 0 with a positive sum.
        """
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
        """I(X;W) in nats: what X itself tells."""
        return _information(self.joint)

    def law(self, channel: Floats) -> Floats:
        """p(w, y) under a channel q(y|x) of the rows kept here, shape (m, k)."""
        return np.asarray(self.joint.T @ channel)

    def leakage(self, channel: Floats) -> float:
        """I(W;Y) in nats under a channel of the rows kept here, shape (n, k)."""
        return _information(self.law(channel))

    def expected(self, channel: Floats, distortion: Floats) -> float:
        """E d(X, Y) under a channel of the rows kept here, both of shape (n, k)."""
        return float(np.einsum("x,xy,xy->", self.p, channel, distortion))


def matrix_of(what: str, stated: ArrayLike) -> Floats:
    """A matrix of finite numbers of at least 0, neither side empty.

    Raises
    ------
    InputError
        When it is none.
    """
    matrix = numbers_of(what, stated, "be a matrix of numbers")
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(f"{what} must be a matrix with rows and columns, not {matrix.shape}")
    if matrix.min() < 0:
        raise InputError(f"{what} holds negative numbers; all must be at least 0")
    return matrix


def numbers_of(
    what: str, stated: ArrayLike, form: str = "hold numbers", kinds: str = "iuf"
) -> Floats:
    """Finite numbers in an array of any shape.

    ``form`` is what a message says that they must do, ``kinds`` the types of NumPy to hold them.
    Texts and truth values are no numbers, though NumPy would read them as some, and what is masked
    is missing. Whole numbers of any size and fractions are.

    Raises
    ------
    InputError
        When they are none, or beyond ``LARGEST``.
    """
    try:
        array = np.asarray(stated)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must {form}, as many in every row") from None
    listed = array.dtype.kind == "O" and all(
        isinstance(one, Real) and not isinstance(one, bool | np.bool_) for one in array.flat
    )
    if array.dtype.kind not in kinds and not listed:
        raise InputError(f"{what} must {form}, not {array.dtype}")
    try:
        with np.errstate(over="ignore"):
            numbers = array.astype(float)
    except OverflowError:
        numbers = np.full(1, np.inf)
    if np.ma.is_masked(stated) or not np.isfinite(numbers).all():
        raise InputError(f"{what} holds values that are no finite numbers")
    if np.abs(numbers).max(initial=0.0) > LARGEST:
        raise InputError(f"{what} holds numbers above {LARGEST:g}; state them in a larger unit")
    return numbers


def require_distortion(distortion: ArrayLike, source: Source) -> Floats:
    """Check d(x, y) against a source, and keep the rows that occur, shape (n, k).

    Raises
    ------
    InputError
        When it has another number of rows than the joint law was given with, or is no matrix of
        finite numbers of at least 0.
    """
    matrix = matrix_of("distortion", distortion)
    if len(matrix) != source.shape[0]:
        raise InputError(
            f"distortion has {len(matrix)} rows and joint {source.shape[0]}; both need one for "
            "every value of X"
        )
    return np.ascontiguousarray(matrix[source.rows])


def require_room(what: str, *arrays: tuple[int, ...]) -> None:
    """Refuse a problem whose arrays, of these shapes, would not fit, before any is made.

    Raises
    ------
    InputError
        Saying how much they would take.
    """
    wanted = 8 * sum(int(np.prod([float(side) for side in shape])) for shape in arrays)
    if wanted > MOST_BYTES:
        raise InputError(
            f"{what} would take {wanted / 2**30:.1f} GiB, beyond {MOST_BYTES / 2**30:.0f}; "
            "take fewer values, by generalizing first, say, or a smaller alphabet"
        )


def nats_per(unit: str) -> float:
    """What one of a unit of information is in nats.

    Raises
    ------
    InputError
        When the unit is none of ``UNITS``.
    """
    if not isinstance(unit, str) or unit not in UNITS:
        raise InputError(f"unit = {shown(unit)} is none of {', '.join(UNITS)}")
    return UNITS[unit]


def _information(law: Floats) -> float:
    """I in nats of a joint law, shape (a, b); never negative."""
    expected = law.sum(axis=1, keepdims=True) * law.sum(axis=0, keepdims=True)
    some = (law > 0) & (expected > 0)
    return max(0.0, float((law[some] * np.log(law[some] / expected[some])).sum()))
