"""Count matrices of classes: arrays, or sparse where most counts are 0.

Either kind is a count matrix C, shape (classes, values). A sparse one is a ``csr_array`` of scipy:
the values of each class ascend, none stands twice and none counts 0. Functions here give the same
of both kinds, and of sparse ones in time and memory that grow with the pairs of a class and a value
that occur. scipy itself is not imported.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

import numpy as np

from anonymizer.errors import InputError
from anonymizer.kernels.arrays import Codes, Floats, Ints, Mask

CountMatrix = Ints | Any
"""Records by class and value, shape (classes, values): an array, or a ``csr_array``."""

MOST_BYTES = 2**30
"""What a dense matrix made of a sparse one takes at the most."""

AT_ONCE = 2**26
"""Bytes of the dense rows that are looked at together (64 MB)."""


def is_sparse(joint: object) -> TypeGuard[Any]:
    """Return whether histograms are a sparse matrix, by rows."""
    return getattr(joint, "format", None) == "csr"


def rows_of(joint: Any) -> Codes:
    """The class of each pair of a sparse matrix, shape (pairs,)."""
    return np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))


def reduced(ufunc: np.ufunc, joint: Any, found: Any) -> Any:
    """Reduce the pairs ``found`` (pairs,) of each class by a ufunc, shape (classes,); 0 of none."""
    some = np.diff(joint.indptr) > 0
    result = np.zeros(len(some), np.asarray(found).dtype)
    if some.any():
        # reduceat gives an empty class the first pair of the next one: it is left out.
        result[some] = ufunc.reduceat(found, joint.indptr[:-1][some])
    return result


def summed(joint: CountMatrix, of: Callable[[Any], Any]) -> Any:
    """Sum a function of the counts of each class, shape (classes,); it has to be 0 of 0."""
    if is_sparse(joint):
        return reduced(np.add, joint, of(joint.data))
    return of(joint).sum(axis=-1)


def occurring(joint: CountMatrix) -> Ints:
    """Number of different values of each class, shape (classes,)."""
    if is_sparse(joint):
        return np.asarray(np.diff(joint.indptr), np.int64)
    return np.asarray((joint > 0).sum(axis=-1), np.int64)


def largest(joint: CountMatrix) -> Ints:
    """The records of the most frequent value of each class, shape (classes,)."""
    if is_sparse(joint):
        return np.asarray(reduced(np.maximum, joint, joint.data))
    return np.asarray(joint.max(axis=1))


def likeliest(joint: CountMatrix) -> Codes:
    """The most frequent value of each class, the first of several, shape (classes,); 0 of none."""
    if not is_sparse(joint):
        return np.asarray(joint.argmax(axis=1))
    best = joint.data == largest(joint)[rows_of(joint)]
    # Of equal counts the smallest code wins, as argmax of a dense row has it.
    values = np.where(best, joint.indices, joint.shape[1])
    return np.asarray(reduced(np.minimum, joint, values), np.intp)


def rarer(joint: CountMatrix, rank: int) -> Ints:
    """Records of each class without its ``rank`` most frequent values, shape (classes,)."""
    if not is_sparse(joint):
        return np.asarray(-np.sort(-joint, axis=1)[:, rank:].sum(axis=1), np.int64)
    order = np.lexsort((-joint.data, rows_of(joint)))
    # Sorting keeps each class within its own stretch, so that places count from its first pair.
    place = np.arange(len(order)) - np.repeat(joint.indptr[:-1], np.diff(joint.indptr))
    counts = joint.data[order]
    return np.asarray(reduced(np.add, joint, np.where(place < rank, 0, counts)))


def largest_lacking(joint: Any, of_value: Floats) -> Floats:
    """Largest number of the values absent from each class, (classes,); -inf where it has all.

    ``joint`` is sparse, ``of_value`` (values,). In the order of the numbers it is the first place
    that the class leaves free.
    """
    order = np.argsort(-of_value, kind="stable")
    rank = np.empty(len(order), np.intp)
    rank[order] = np.arange(len(order))
    # Shifting makes ranks of different classes disjoint: one sort orders the pairs within each.
    shift = rows_of(joint) * len(order)
    ranks = np.sort(shift + rank[joint.indices]) - shift
    places = np.arange(len(ranks)) - np.repeat(joint.indptr[:-1], np.diff(joint.indptr))
    # Ranks ascend without repetition, so rank = place holds up to the first gap and never after it.
    first_free = reduced(np.add, joint, (ranks == places).astype(np.int64))
    return np.asarray(np.append(of_value[order], -np.inf)[first_free])


def having(joint: CountMatrix, values: Mask) -> Mask:
    """Mark classes with a record of any of some values, shape (classes,)."""
    if is_sparse(joint):
        return np.asarray(reduced(np.logical_or, joint, values[joint.indices]))
    return np.asarray((joint[..., values] > 0).any(axis=-1))


def without(joint: CountMatrix, values: Mask) -> CountMatrix:
    """Return the histograms with no record of some values."""
    if not is_sparse(joint):
        return np.where(values, 0, joint)
    left = joint.copy()
    left.data[values[left.indices]] = 0
    left.eliminate_zeros()
    return left


def pairs_of(joint: CountMatrix) -> tuple[Codes, Codes]:
    """Class and value of each pair that occurs, class by class, shape (pairs,) each."""
    if is_sparse(joint):
        return rows_of(joint), np.asarray(joint.indices, np.intp)
    rows, columns = np.nonzero(joint)
    return rows, columns


def too_large(joint: CountMatrix) -> bool:
    """Return whether sparse histograms would take more than ``MOST_BYTES`` as an array."""
    return is_sparse(joint) and joint.shape[0] * joint.shape[1] * 8 > MOST_BYTES


def dense(joint: CountMatrix, attribute: str | None = None) -> Ints:
    """Return histograms as an array; InputError where it would take over ``MOST_BYTES``."""
    if not is_sparse(joint):
        return joint
    if too_large(joint):
        classes, values = joint.shape
        about = f"column {attribute!r}" if attribute else "a sensitive attribute"
        raise InputError(
            f"{about} has {values:,} distinct values, too many to look at all of them at once in "
            f"each of {classes:,} combinations of quasi-identifiers; put its values into groups, "
            "or choose coarser quasi-identifiers or a simpler recoding, such as full-domain"
        )
    return np.asarray(joint.toarray())


def blocks(joint: CountMatrix) -> Iterator[tuple[slice, Ints]]:
    """Yield consecutive classes, few enough for memory, with their rows as an array."""
    if not is_sparse(joint):
        yield slice(0, len(joint)), joint
        return
    classes, values = joint.shape
    rows = max(AT_ONCE // (8 * max(values, 1)), 1)
    for low in range(0, classes, rows):
        some = slice(low, min(low + rows, classes))
        yield some, np.asarray(joint[some].toarray())
