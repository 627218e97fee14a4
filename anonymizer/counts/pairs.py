"""Count matrices made, merged and dealt out: dense where that is quick, else pairs that occur.

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
    """Return whether histograms of this shape are an array, where ``pairs`` occur at least."""
    cells = classes * values
    if cells <= FEW_CELLS:
        return True
    return cells <= MOST_CELLS and (values <= FEW_VALUES or pairs * PAIRS_APART >= cells)


def settled(joint: CountMatrix) -> CountMatrix:
    """Return sparse histograms as an array where they should be one, others as they are."""
    if not is_sparse(joint):
        return joint
    classes, values = joint.shape
    return joint.toarray() if as_array(classes, values, joint.nnz) else joint


def in_columns(joint: CountMatrix, order: Codes) -> CountMatrix:
    """Put the columns into another order."""
    found = joint[:, order]
    if is_sparse(found):
        found.sort_indices()
    return found


def by_pairs(joint: CountMatrix) -> Any:
    """Return a sparse matrix, however few its counts are."""
    if is_sparse(joint):
        return joint
    from scipy.sparse import csr_array

    return csr_array(joint)


def tabulated(class_of: Codes, codes: Codes, sizes: Ints, shape: tuple[int, int]) -> CountMatrix:
    """Count records by class and value, from rows of a class, a value and records, (rows,) each."""
    if as_array(*shape):
        joint = np.zeros(shape, np.int64)
        np.add.at(joint, (class_of, codes), sizes)
        return joint
    return settled(csr_of(class_of, codes, sizes, shape))


def csr_of(class_of: Codes, codes: Codes, sizes: Ints, shape: tuple[int, int]) -> Any:
    """Return a sparse matrix of such rows, however few its counts are."""
    from scipy.sparse import coo_array

    found = coo_array((np.asarray(sizes, np.int64), (class_of, codes)), shape=shape).tocsr()
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def permuted(joint: Ints, rng: np.random.Generator) -> CountMatrix:
    """Deal an array out record by record: the values of the records, permuted.

    As pairs where these are few: 6 million counts of 300,000 records take more than twice as long.
    """
    (classes, values), sizes = joint.shape, joint.sum(axis=1)
    codes = rng.permutation(np.repeat(np.arange(values), joint.sum(axis=0)))
    if classes * values <= max(FEW_CELLS, PAIRS_APART * len(codes)):
        cell = np.repeat(np.arange(classes), sizes) * values + codes
        return np.bincount(cell, minlength=classes * values).reshape(classes, values)
    from scipy.sparse import csr_array

    ends = np.append(0, np.cumsum(sizes))
    found = csr_array((np.ones(len(codes), np.int64), codes, ends), shape=joint.shape)
    found.sum_duplicates()
    return found


def merged(joint: CountMatrix, order: Codes, starts: Codes) -> CountMatrix:
    """Add up rows of classes: those in ``order`` from each of ``starts`` to the next one."""
    if not is_sparse(joint):
        return np.add.reduceat(joint[order], starts, axis=0)
    rows = joint[order]
    # Rows of one class stand next to each other: leaving out the ends between joins their pairs.
    indptr = rows.indptr[np.append(starts, len(order))]
    found = type(joint)((rows.data, rows.indices, indptr), shape=(len(starts), joint.shape[1]))
    found.sum_duplicates()
    return settled(found)


def merged_runs(joint: Any, lows: Codes, highs: Codes) -> CountMatrix:
    """Add up rows of a sparse matrix, from each of ``lows`` to before ``highs``, (runs,).

    Runs may overlap.
    """
    lengths = joint.indptr[highs] - joint.indptr[lows]
    indptr = np.append(0, np.cumsum(lengths, dtype=np.int64))
    taken = runs(joint.indptr[lows], lengths)
    shape = len(lows), joint.shape[1]
    found = type(joint)((joint.data[taken], joint.indices[taken], indptr), shape=shape)
    found.sum_duplicates()
    return settled(found)


def runs(starts: Codes, lengths: Codes) -> Codes:
    """Return the places of runs from some starts on, one run after the other.

    >>> runs(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - ends + lengths, lengths))


def chosen(joint: CountMatrix, classes: Any) -> CountMatrix:
    """Return the rows of some classes, by mask or places."""
    return settled(joint[classes])


def stacked(*parts: CountMatrix) -> CountMatrix:
    """Put the classes of some matrices below each other."""
    if not any(map(is_sparse, parts)):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return settled(vstack([*map(by_pairs, parts)], format="csr"))


def with_empty_rows(joint: CountMatrix, rows: int) -> CountMatrix:
    """Append classes that have no record."""
    if not is_sparse(joint):
        return np.pad(joint, ((0, rows), (0, 0)))
    indptr = np.pad(joint.indptr, (0, rows), mode="edge")
    shape = joint.shape[0] + rows, joint.shape[1]
    return type(joint)((joint.data, joint.indices, indptr), shape=shape)


def dealt_out(joint: Any, rng: np.random.Generator) -> CountMatrix:
    """Deal out a sparse count matrix of the same margins: the values of the records, permuted.

    The records of a few classes are counted at a time: they may be far more than their pairs.
    """
    margin, classes = joint.sum(axis=0), joint.shape[0]
    if margin.sum() > MOST_DEALT:
        raise InputError(
            f"{margin.sum():,} records of an attribute of {len(margin):,} values are more than can "
            f"be compared with chance, which is {MOST_DEALT:,}; group its values, or release a "
            "part of the table"
        )
    # Four bytes for each record: see ``MOST_DEALT``.
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


EXACT = 10**9
"""Records below which NumPy draws from the hypergeometric distribution."""

NORMAL = 1e4
"""Variance from which on a number of very many records is drawn as a normal one."""


def dealt_among(places: Ints, records: int, rng: np.random.Generator) -> Ints:
    """Deal records out at random to classes of ``places`` each, shape (classes,).

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
    """Draw the number of good ones among those that are taken, shape (pairs,)."""
    found = np.empty(len(good), np.int64)
    exact = (good < EXACT) & (bad < EXACT)
    found[exact] = rng.hypergeometric(good[exact], bad[exact], taken[exact])
    found[~exact] = _of_many(good[~exact], bad[~exact], taken[~exact], rng)
    return found


def _of_many(good: Ints, bad: Ints, taken: Ints, rng: np.random.Generator) -> Ints:
    """Draw where there are ``EXACT`` or more, nearly: by the smaller kind, and the smaller part.

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
    # A normal number may lie beyond what is possible.
    found = np.clip(found, 0, fewer)
    found = np.where(part == taken, found, kind - found)
    return np.asarray(np.where(kind == good, found, taken - found))


def row_keys(cells: Codes) -> Codes:
    """Return one number per row, equal for equal rows and ordered as they are, shape (rows,).

    Columns are mixed as digits; before the number could leave 63 bits it is renumbered densely,
    so overflow is impossible.

    >>> row_keys(np.array([[0, 1], [1, 0], [0, 1]])).tolist()
    [1, 2, 1]
    """
    key = np.zeros(len(cells), np.intp)
    bound = 1
    for column in cells.T:
        digits = int(column.max(initial=0)) + 1
        # Renumbered before it overflows: there are no more numbers than rows.
        if bound * digits >= 2**62:
            distinct, key = np.unique(key, return_inverse=True)
            bound = len(distinct)
        key = key * digits + column
        bound *= digits
    return key


def numbered(known: Codes, others: Codes) -> tuple[Codes, Codes, int]:
    """Number the distinct rows of ``known``; other rows get the number of an equal one.

    One that equals none gets the number of all, which is returned, too.

    >>> [list(map(int, each)) for each in numbered(np.array([[7], [2]]), np.array([[2], [3]]))[:2]]
    [[1, 0], [0, 2]]
    """
    keys = row_keys(np.concatenate([known, others]))
    distinct, own = np.unique(keys[: len(known)], return_inverse=True)
    place = np.searchsorted(distinct, keys[len(known) :])
    inside = place < len(distinct)
    inside[inside] = distinct[place[inside]] == keys[len(known) :][inside]
    return own, np.where(inside, place, len(distinct)), len(distinct)
