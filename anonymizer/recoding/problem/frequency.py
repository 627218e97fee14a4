"""The frequency sets of a lattice's nodes, each rolled up from the smallest finer one at hand."""

from dataclasses import dataclass
from operator import le

from anonymizer.kernels import FrequencySet, Kernel
from anonymizer.recoding.lattice import Node
from anonymizer.recoding.problem.encoding import Encoding

__all__ = ["FrequencySets"]

MOST_BYTES = 256 * 2**20
"""Memory that the frequency sets kept may take, beside the one of the bottom."""

MOST_KEPT = 24
"""Frequency sets kept: looking one out takes a time that grows with them."""

WORTH_KEEPING = 0.6
"""A frequency set is kept when it has at most this share of the classes it was made from."""

FEW = 50
"""Classes below which rolling up is quick from anywhere."""


@dataclass(eq=False)
class Kept:
    """A frequency set kept for roll-ups to come, and when it last served."""

    node: Node
    classes: FrequencySet
    used: int


class FrequencySets:
    """Frequency sets by node. Not to be shared between threads: make one each.

    Parameters
    ----------
    encoding, base
        The keys, and the frequency set of a node below all that will be asked for.
    kernel
        What rolls up.
    share
        The part of the memory that may be taken: those in use at a time have to add up to 1.
    """

    def __init__(
        self, encoding: Encoding, base: FrequencySet, kernel: Kernel, share: float = 1.0
    ) -> None:
        self.encoding, self.base, self.kernel = encoding, base, kernel
        self._most_bytes = MOST_BYTES * share
        self._kept: list[Kept] = []
        self._bytes = 0
        self._asked = 0

    def at(self, node: Node) -> FrequencySet:
        """The frequency set of a node; valid until the next one is asked for.

        A result much smaller than what it came from is kept.
        """
        self._asked += 1
        source = self._smallest_below(node)
        classes = self.kernel.roll_up(source, self.encoding.mask(node))
        if FEW < len(classes) <= WORTH_KEEPING * len(source):
            self._keep(node, classes.copy())
        return classes

    def rebase(self, node: Node) -> None:
        """Start from a node that is below all that will still be asked for, if that pays."""
        if len(self.base) <= FEW:
            return
        classes = self.kernel.roll_up(self._smallest_below(node), self.encoding.mask(node))
        if len(classes) < 0.9 * len(self.base):
            self.base = classes.copy()
            for kept in [kept for kept in self._kept if len(kept.classes) >= len(classes)]:
                self._drop(kept)

    def _smallest_below(self, node: Node) -> FrequencySet:
        for kept in self._kept:  # in order of size
            if all(map(le, kept.node, node)):
                kept.used = self._asked
                return kept.classes
        return self.base

    def _keep(self, node: Node, classes: FrequencySet) -> None:
        self._kept.append(Kept(node, classes, self._asked))
        self._bytes += classes.nbytes
        while len(self._kept) > MOST_KEPT or self._bytes > self._most_bytes:
            self._drop(min(self._kept, key=lambda kept: kept.used))
        self._kept.sort(key=lambda kept: len(kept.classes))

    def _drop(self, kept: Kept) -> None:
        self._kept.remove(kept)
        self._bytes -= kept.classes.nbytes
