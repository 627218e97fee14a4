"""Frequency sets: the classes of one node of the lattice, as arrays that kernels work on."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.kernels.arrays import Columns, Floats, Keys, Places
from anonymizer.kernels.terms import grassberger, xlogx

Words = tuple[np.uint64, ...]

LOGS = 1 << 16
"""Entries of the table of n log2 n, half a megabyte; logarithms beyond are computed."""


class FrequencySet(NamedTuple):
    """The records of each class, in all and by sensitive value.

    The frequency set of LeFevre, DeWitt, Ramakrishnan (2005), with histograms.

    Parameters
    ----------
    keys
        What tells the classes apart, shape (classes, words): see ``Encoding``.
    counts
        Records by value of each sensitive attribute, one attribute after the other, and in the
        last column all of them; shape (classes, columns).
    members
        The row of one raw class of each, shape (classes,): what its values are.
    """

    keys: Keys
    counts: Columns
    members: Places

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def sizes(self) -> NDArray[np.signedinteger[Any]]:
        """Records per class, shape (classes,)."""
        return self.counts[:, -1]

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return self.keys.nbytes + self.counts.nbytes + self.members.nbytes

    def in_order(self) -> "FrequencySet":
        """The same classes in the order of their keys."""
        single = self.keys.shape[1] == 1
        order = np.argsort(self.keys[:, 0]) if single else np.lexsort(self.keys.T)
        return FrequencySet(
            self.keys[order], np.ascontiguousarray(self.counts[order]), self.members[order]
        )

    def copy(self) -> "FrequencySet":
        """One that no later roll-up overwrites."""
        return FrequencySet(self.keys.copy(), self.counts.copy(), self.members.copy())


@cache
def logs_table() -> Floats:
    """N log2 n of n = 0, 1, ..., shape (LOGS,)."""
    return xlogx(np.arange(LOGS))


@cache
def grassberger_table() -> Floats:
    """What stands for n log2 n in Grassberger's estimate of entropy, shape (LOGS,)."""
    return grassberger(np.arange(LOGS))
