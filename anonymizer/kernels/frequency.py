"""Frequency sets: the classes of one node of the lattice, as arrays that kernels work on."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Columns, Floats, Ints, Keys, Places
from anonymizer.kernels.histograms import NO_NUMBERS, NO_PLACES, NO_STARTS, Histograms
from anonymizer.kernels.terms import grassberger, xlogx

Words = tuple[np.uint64, ...]

LOGS = 1 << 16
"""Entries of the table of n log2 n, half a megabyte; logarithms beyond are computed."""


class FrequencySet(NamedTuple):
    """The classes of a node: what tells them apart, and their histograms.

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
        """The same classes in the order of their keys."""
        single = self.keys.shape[1] == 1
        order = np.argsort(self.keys[:, 0]) if single else np.lexsort(self.keys.T)
        return FrequencySet.of(self.keys[order], self.histograms.select(order), self.members[order])

    def copy(self) -> "FrequencySet":
        """One that no later roll-up overwrites."""
        return FrequencySet.of(self.keys.copy(), self.histograms.copy(), self.members.copy())


@cache
def logs_table() -> Floats:
    """N log2 n of n = 0, 1, ..., shape (LOGS,)."""
    return xlogx(np.arange(LOGS))


@cache
def grassberger_table() -> Floats:
    """What stands for n log2 n in Grassberger's estimate of entropy, shape (LOGS,)."""
    return grassberger(np.arange(LOGS))
