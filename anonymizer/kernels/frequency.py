"""Frequency sets: the classes of one node of the lattice, as arrays that kernels work on.

Their histograms are dense or sparse, which is decided where they are made; kernels read both.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Codes, Columns, Floats, Ints, Keys, Mask, Places
from anonymizer.kernels.terms import grassberger, xlogx

Words = tuple[np.uint64, ...]

LOGS = 1 << 16
"""Entries of the table of n log2 n, half a megabyte; logarithms beyond are computed."""


BLOCK_BYTES = 64 * 2**20
"""What dense rows of sparse histograms may take at a time."""

NO_STARTS = np.zeros(0, np.int64)
NO_PLACES = np.zeros(0, np.int32)
NO_NUMBERS: Columns = np.zeros(0, np.int32)


class Histograms(NamedTuple):
    """The records of some classes, in all and by sensitive value.

    Dense histograms have a column for every value. Sparse ones list the values that occur, so that
    time and memory grow with the distinct pairs of class and value.

    Parameters
    ----------
    counts
        Dense: records by value of each sensitive attribute, one attribute after the other, then
        the population's, where there is one, and in the last column all records of the table;
        shape (classes, columns). Sparse: the trailing columns alone, without the values.
    starts
        Sparse: the values of class g are the entries starts[g] to starts[g + 1], shape
        (classes + 1,). Dense: empty.
    places, numbers
        Sparse: the column of each entry, as dense histograms number them and ascending within a
        class, and its records, never 0; shape (entries,). Dense: empty.
    """

    counts: Columns
    starts: Ints = NO_STARTS
    places: Places = NO_PLACES
    numbers: Columns = NO_NUMBERS

    @classmethod
    def of(cls, counts: "Columns | Histograms") -> "Histograms":
        """Return histograms as they are, columns as dense ones."""
        if isinstance(counts, Histograms):
            return counts
        return cls(counts)

    @classmethod
    def listed(cls, dense: Columns, trailing: int) -> "Histograms":
        """The sparse form of dense histograms, whose last columns are no values."""
        values = dense[:, : dense.shape[1] - trailing]
        rows, places = np.nonzero(values)
        starts = np.searchsorted(rows, np.arange(len(dense) + 1)).astype(np.int64)
        counts = np.ascontiguousarray(dense[:, dense.shape[1] - trailing :])
        return cls(counts, starts, places.astype(np.int32), values[rows, places])

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def sparse(self) -> bool:
        """Whether values that do not occur are left out."""
        return len(self.starts) > 0

    @property
    def sizes(self) -> Columns:
        """Records per class, shape (classes,)."""
        return self.counts[:, -1]

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return sum(array.nbytes for array in self)

    def copy(self) -> "Histograms":
        """Copy into memory of its own."""
        if not self.sparse:
            return Histograms(self.counts.copy())
        counts, starts, places, numbers = self
        return Histograms(counts.copy(), starts.copy(), places.copy(), numbers.copy())

    def select(self, which: Mask | Codes | slice) -> "Histograms":
        """Some classes: a mask of them, their places, or a slice without a step."""
        counts = np.ascontiguousarray(self.counts[which])
        if not self.sparse:
            return Histograms(counts)
        rows = np.arange(len(self))[which]
        lengths = np.diff(self.starts)[rows]
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        entries = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return Histograms(counts, starts, self.places[entries], self.numbers[entries])

    def summed(self, columns: int) -> Ints:
        """Sum all classes into a dense row of ``columns``, shape (columns,)."""
        trailing = self.counts.sum(axis=0, dtype=np.int64)
        if not self.sparse:
            return np.asarray(trailing)
        values = columns - len(trailing)
        # Floats hold whole numbers exactly up to 2^53: more than a table has records.
        sums = np.bincount(self.places, self.numbers, values).astype(np.int64)
        return np.concatenate([sums, trailing])

    def occurring(self, start: int, stop: int) -> int:
        """Sum over classes of the values that occur, of those in the columns [start, stop)."""
        if not self.sparse:
            return int(np.count_nonzero(self.counts[:, start:stop]))
        return int(np.count_nonzero((self.places >= start) & (self.places < stop)))

    def plus(self, row: Ints) -> "Histograms":
        """Add one more class, given as a dense row of all columns, shape (columns,)."""
        kind, trailing = self.counts.dtype, self.counts.shape[1]
        if not self.sparse:
            return Histograms(np.concatenate([self.counts, row[None]]))
        one = Histograms.listed(row[None].astype(kind), trailing)
        return Histograms(
            np.concatenate([self.counts, one.counts]),
            np.append(self.starts, self.starts[-1] + one.starts[-1]),
            np.concatenate([self.places, one.places]),
            np.concatenate([self.numbers, one.numbers]),
        )

    def without_records(self) -> "Histograms":
        """Remove all records of the table; the population's stay."""
        counts = np.zeros_like(self.counts)
        counts[:, -2] = self.counts[:, -2]
        if not self.sparse:
            return Histograms(counts)
        return Histograms(counts, np.zeros_like(self.starts), self.places[:0], self.numbers[:0])

    def about(self, start: int, stop: int) -> Columns:
        """The columns [start, stop), those of some values, dense: shape (classes, stop - start)."""
        if not self.sparse:
            return self.counts[:, start:stop]
        filled = np.zeros((len(self), stop - start), self.counts.dtype)
        some = (self.places >= start) & (self.places < stop)
        filled[self.rows[some], self.places[some] - start] = self.numbers[some]
        return filled

    def dense(self, columns: int) -> Columns:
        """Make all ``columns`` dense: shape (classes, columns)."""
        if not self.sparse:
            return self.counts
        values = columns - self.counts.shape[1]
        return np.concatenate([self.about(0, values), self.counts], axis=1)

    def blocks(self, columns: int) -> "Iterator[tuple[slice, Histograms]]":
        """Yield as many classes at a time as fit into memory with their columns.

        Dense histograms are one block.
        """
        step = max(1, BLOCK_BYTES // (8 * columns) if self.sparse else len(self))
        for begin in range(0, len(self), step):
            block = slice(begin, begin + step)
            yield block, self.select(block)

    @property
    def rows(self) -> Ints:
        """The class of each entry, shape (entries,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


class FrequencySet(NamedTuple):
    """Classes of a node: their keys, and their histograms.

    The frequency set of LeFevre, DeWitt, Ramakrishnan (2005), with histograms.

    Parameters
    ----------
    keys
        What tells the classes apart, shape (classes, words): see ``Encoding``.
    counts
        Dense: records by value of each sensitive attribute, one attribute after the other, then
        the population's, where there is one, and in the last column all records of the table;
        shape (classes, columns). Sparse: the trailing columns alone, without the values.
    members
        The row of one raw class of each, shape (classes,): what its values are.
    starts, places, numbers
        The values that occur in sparse histograms, empty of dense ones: see ``Histograms``.
    """

    keys: Keys
    counts: Columns
    members: Places
    starts: Ints = NO_STARTS
    places: Places = NO_PLACES
    numbers: Columns = NO_NUMBERS

    @classmethod
    def of(cls, keys: Keys, histograms: Histograms, members: Places) -> "FrequencySet":
        """Classes with their histograms."""
        return cls(keys, histograms.counts, members, *histograms[1:])

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def histograms(self) -> Histograms:
        """The records of each class, in all and by sensitive value."""
        return Histograms(self.counts, self.starts, self.places, self.numbers)

    @property
    def sizes(self) -> NDArray[np.signedinteger[Any]]:
        """Records per class, shape (classes,)."""
        return self.counts[:, -1]

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return sum(array.nbytes for array in self)

    def in_order(self) -> "FrequencySet":
        """Sort the classes by their keys."""
        single = self.keys.shape[1] == 1
        order = np.argsort(self.keys[:, 0]) if single else np.lexsort(self.keys.T)
        return FrequencySet.of(self.keys[order], self.histograms.select(order), self.members[order])

    def copy(self) -> "FrequencySet":
        """Copy into memory that no later roll-up overwrites."""
        return FrequencySet.of(self.keys.copy(), self.histograms.copy(), self.members.copy())


@cache
def logs_table() -> Floats:
    """N log2 n of n = 0, 1, ..., shape (LOGS,)."""
    return xlogx(np.arange(LOGS))


@cache
def grassberger_table() -> Floats:
    """N G(n), the counterpart of n log2 n in Grassberger's estimate of entropy, shape (LOGS,)."""
    return grassberger(np.arange(LOGS))
