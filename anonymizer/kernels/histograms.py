"""Histograms of classes, dense or sparse: what checks, sums and objectives read."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from anonymizer.kernels.arrays import Codes, Columns, Ints, Mask, Places

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
        """Histograms as they are; columns as dense ones."""
        if isinstance(counts, Histograms):
            return counts
        return cls(counts, numbers=np.zeros(0, counts.dtype))

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
        """The same in memory of its own."""
        counts, starts, places, numbers = self
        return Histograms(counts.copy(), starts.copy(), places.copy(), numbers.copy())

    def select(self, which: Mask | Codes | slice) -> "Histograms":
        """Some classes: a mask of them, their places, or a slice without a step."""
        counts = self.counts[which]
        if not self.sparse:
            return Histograms(counts, *self[1:])
        rows = np.arange(len(self))[which]
        lengths = np.diff(self.starts)[rows]
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        entries = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return Histograms(counts, starts, self.places[entries], self.numbers[entries])

    def summed(self, columns: int) -> Ints:
        """All of them as one, as a dense row of so many columns, shape (columns,)."""
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
        """With one more class, given as a dense row of all columns, shape (columns,)."""
        kind, trailing = self.counts.dtype, self.counts.shape[1]
        if not self.sparse:
            return Histograms(np.concatenate([self.counts, row[None]]), *self[1:])
        one = Histograms.listed(row[None].astype(kind), trailing)
        return Histograms(
            np.concatenate([self.counts, one.counts]),
            np.append(self.starts, self.starts[-1] + one.starts[-1]),
            np.concatenate([self.places, one.places]),
            np.concatenate([self.numbers, one.numbers]),
        )

    def dense(self, columns: int) -> Columns:
        """The columns of all values and the trailing ones, shape (classes, columns)."""
        if not self.sparse:
            return self.counts
        filled = np.zeros((len(self), columns), self.counts.dtype)
        filled[:, columns - self.counts.shape[1] :] = self.counts
        filled[self.rows, self.places] = self.numbers
        return filled

    def blocks(self, columns: int) -> "Iterator[tuple[slice, Columns]]":
        """Dense rows of all classes, some at a time, and which those are; none of no classes."""
        each = columns * 8
        step = max(1, BLOCK_BYTES // each) if self.sparse else max(1, len(self))
        for begin in range(0, len(self), step):
            block = slice(begin, begin + step)
            yield block, self.select(block).dense(columns)

    @property
    def rows(self) -> Ints:
        """The class of each entry, shape (entries,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))
