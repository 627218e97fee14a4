"""What a search maximises."""

from typing import Protocol

import numpy as np

from anonymizer.counts import Counts, Floats
from anonymizer.information import divergence

__all__ = ["MutualInformation", "Objective"]


class Objective(Protocol):
    """A sum over classes, larger being better, that falls when classes merge.

    Both properties are what the exact searches stand on: additivity lets dynamic programming
    cut ranges one by one, the fall under generalization lets a lattice search prune.
    """

    name: str

    def per_class(self, counts: Counts) -> Floats:
        """What each class contributes, shape (classes,)."""

    def __call__(self, counts: Counts) -> float:
        """The objective of a recoding, from the counts it leaves."""


class MutualInformation:
    """I(X~;W) = sum_g p(g) I1(W, g), in bits; summed over the sensitive attributes.

    Falls under generalization by the data processing inequality (Bezzi 2010, Eq. 4).
    """

    name = "mutual-information"

    def per_class(self, counts: Counts) -> Floats:
        """p(g) I1(W, g) of each class, in bits."""
        value = np.zeros(len(counts))
        for attribute in counts.joint:
            classes = counts.about(attribute)
            value += classes.sizes * divergence(classes.joint, classes.margin) / counts.records
        return value

    def __call__(self, counts: Counts) -> float:
        """I(X~;W) in bits."""
        return float(self.per_class(counts).sum())
