"""Count matrices made and merged: dense where that is quick, by pairs of class and value otherwise.

The one place that decides which kind they are. scipy is imported when one is sparse, not before.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from anonymizer.errors import InputError
from anonymizer.information.matrices import CountMatrix, is_sparse
from anonymizer.kernels.arrays import Codes, Ints

FEW_CELLS = 4_000_000
"""Counts of a matrix that is dense whatever it holds (32 MB)."""

MOST_CELLS = 200_000_000
"""Counts of the largest dense matrix (1.6 GB)."""

FEW_VALUES = 64
"""Values up to which a matrix is dense: a row of them is quicker than its pairs."""

PAIRS_APART = 8
"""Counts per pair up to which a matrix is dense: pairs take more memory, and more time each."""


RECORDS_AT_ONCE = 4_000_000
"""Records that are dealt out and counted together."""

MOST_DEALT = 2**31
"""Records of very many values that are dealt out, 4 bytes each, at the most."""

ENTRIES = "data", "indices"
"""What a sparse matrix has of each pair."""


def as_array(classes: int, values: int, pairs: int = 0) -> bool:
    """Whether histograms of this shape are an array, where at least so many pairs occur."""
    cells = classes * values
    if cells <= FEW_CELLS:
        return True
    return cells <= MOST_CELLS and (values <= FEW_VALUES or pairs * PAIRS_APART >= cells)


def settled(joint: CountMatrix) -> CountMatrix:
    """Sparse histograms as an array where they should be one, others as they are."""
    if not is_sparse(joint):
        return joint
    classes, values = joint.shape
    return joint.toarray() if as_array(classes, values, joint.nnz) else joint


def in_columns(joint: CountMatrix, order: Codes) -> CountMatrix:
    """The same with the columns in another order."""
    found = joint[:, order]
    if is_sparse(found):
        found.sort_indices()
    return found


def by_pairs(joint: CountMatrix) -> Any:
    """The same as a sparse matrix, however few its counts are."""
    if is_sparse(joint):
        return joint
    from scipy.sparse import csr_array

    return csr_array(joint)


def tabulated(class_of: Codes, codes: Codes, sizes: Ints, shape: tuple[int, int]) -> CountMatrix:
    """Records by class and value from rows of a class, a value and records, (rows,) each."""
    if as_array(*shape):
        joint = np.zeros(shape, np.int64)
        np.add.at(joint, (class_of, codes), sizes)
        return joint
    from scipy.sparse import coo_array

    found = coo_array((np.asarray(sizes, np.int64), (class_of, codes)), shape=shape).tocsr()
    found.sum_duplicates()
    found.eliminate_zeros()
    return settled(found)


def merged(joint: CountMatrix, order: Codes, starts: Codes) -> CountMatrix:
    """The rows of classes added up: those in ``order`` from each of ``starts`` to the next one."""
    if not is_sparse(joint):
        return np.add.reduceat(joint[order], starts, axis=0)
    rows = joint[order]
    indptr = rows.indptr[np.append(starts, len(order))]
    found = type(joint)((rows.data, rows.indices, indptr), shape=(len(starts), joint.shape[1]))
    found.sum_duplicates()
    return settled(found)


def merged_runs(joint: Any, lows: Codes, highs: Codes) -> CountMatrix:
    """The rows of a sparse matrix from each of ``lows`` to before ``highs``, (runs,), added up.

    Runs may overlap.
    """
    lengths = joint.indptr[highs] - joint.indptr[lows]
    indptr = np.append(0, np.cumsum(lengths, dtype=np.int64))
    taken = np.arange(indptr[-1]) + np.repeat(joint.indptr[lows] - indptr[:-1], lengths)
    shape = len(lows), joint.shape[1]
    found = type(joint)((joint.data[taken], joint.indices[taken], indptr), shape=shape)
    found.sum_duplicates()
    return settled(found)


def chosen(joint: CountMatrix, classes: Any) -> CountMatrix:
    """The rows of some classes, by mask or places."""
    return settled(joint[classes])


def with_empty_rows(joint: CountMatrix, rows: int) -> CountMatrix:
    """The same with so many classes more at the end, which have no record."""
    if not is_sparse(joint):
        return np.pad(joint, ((0, rows), (0, 0)))
    indptr = np.pad(joint.indptr, (0, rows), mode="edge")
    shape = joint.shape[0] + rows, joint.shape[1]
    return type(joint)((joint.data, joint.indices, indptr), shape=shape)


def dealt_out(joint: Any, rng: np.random.Generator) -> CountMatrix:
    """A sparse count matrix of the same margins at random: the values of the records, permuted.

    The records of a few classes are counted at a time: they may be far more than their pairs.
    """
    margin, classes = joint.sum(axis=0), joint.shape[0]
    if margin.sum() > MOST_DEALT:
        raise InputError(
            f"{margin.sum():,} records of an attribute of {len(margin):,} values are more than can "
            f"be compared with chance, which is {MOST_DEALT:,}; group its values, or release a "
            "part of the table"
        )
    values = np.repeat(np.arange(len(margin), dtype=np.int32), margin)
    rng.shuffle(values)
    ends = np.append(0, np.cumsum(joint.sum(axis=1)))
    lots = np.searchsorted(ends, np.arange(0, len(values), RECORDS_AT_ONCE))
    parts = []
    for low, high in pairwise(np.unique([0, *lots, classes]).tolist()):
        records = values[ends[low] : ends[high]]
        shape, indptr = (high - low, len(margin)), ends[low : high + 1] - ends[low]
        part = type(joint)((np.ones(len(records), np.int64), records, indptr), shape=shape)
        part.sum_duplicates()
        parts.append(part)
    indptr = np.append(0, np.cumsum(np.concatenate([np.diff(part.indptr) for part in parts])))
    data, indices = (np.concatenate([getattr(part, name) for part in parts]) for name in ENTRIES)
    return settled(type(joint)((data, indices, indptr), shape=joint.shape))
