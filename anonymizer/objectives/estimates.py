"""Estimates of mutual information that correct the bias of small classes.

The fewer records a class has, the further its p(w|g) is from p(w) by chance alone, so that
I(X~;W) of a table is larger than that of the people whom it is a sample of. Both estimates are sums
over classes; both may rise when classes merge, since that makes fewer of them.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.information.chance import expected
from anonymizer.kernels import Worth
from anonymizer.kernels.arrays import Floats
from anonymizer.kernels.terms import MILLER_MADOW
from anonymizer.objectives.candidate import Candidate, Layout
from anonymizer.objectives.classes import MutualInformation


@dataclass(frozen=True)
class MillerMadow(MutualInformation):
    """I less (sum_g (m_g - 1) - (m_W - 1)) / (2 N ln 2), in bits, m values occurring of each.

    H(W) - sum_g p(g) H(W|g), each entropy estimated from its own records (Miller 1955): that of the
    table is raised by (m_W - 1) / (2 N) nats, that of a class by (m_g - 1) / (2 n_g). Options are
    those of mutual information. Negative where chance alone would keep more.
    """

    name: ClassVar[str] = "miller-madow"
    falls: ClassVar[bool] = False

    def kept(self, candidate: Candidate, attribute: str) -> float:
        """The estimated information that the released table keeps about an attribute, in bits."""
        start, stop = candidate.layout.place(attribute)
        free = candidate.occurring(attribute) - candidate.released_classes
        free -= int((candidate.margins[start:stop] > 0).sum()) - 1
        bits = float(MILLER_MADOW * free / int(candidate.margins[-1]))
        return super().kept(candidate, attribute) - bits

    def kept_by(self, classes: Classes, records: int) -> Floats:
        """P(g) I1 - (m_g - 1) / (2 N ln 2), and of what the table's entropy is raised by p(g)."""
        free = np.maximum(np.count_nonzero(classes.joint, axis=1) - 1, 0)
        of_table = (np.count_nonzero(classes.margin) - 1) * classes.sizes / records
        bits = MILLER_MADOW * (of_table - free) / records
        return np.asarray(super().kept_by(classes, records) + bits)

    def worth(self, layout: Layout) -> Worth:
        """As of mutual information, less a cost for every value beyond a class's first."""
        worth = super().worth(layout)
        cost = MILLER_MADOW * worth.weights
        return worth._replace(per_value=cost, each=float(cost.sum()))


@dataclass(frozen=True)
class AboveShuffled(MutualInformation):
    """I less what the same classes keep on average of values dealt out at random, in bits.

    The expectation is exact: see ``anonymizer.information.chance``.
    Options are those of mutual information. Negative where chance alone would keep more.
    """

    name: ClassVar[str] = "above-shuffled"
    falls: ClassVar[bool] = False

    def kept(self, candidate: Candidate, attribute: str) -> float:
        """The information about an attribute that is kept beyond chance, in bits."""
        start, stop = candidate.layout.place(attribute)
        chance = expected(candidate.margins[start:stop])
        bits = candidate.total(chance, lambda counts: float(chance(counts[:, -1]).sum()))
        return super().kept(candidate, attribute) - bits

    def kept_by(self, classes: Classes, records: int) -> Floats:
        """P(g) I1 - e(n_g) of each class, in bits."""
        chance = expected(classes.margin)
        return np.asarray(super().kept_by(classes, records) - chance(classes.sizes))

    def worth(self, layout: Layout) -> Worth:
        """As of mutual information, less what a class of the size keeps by chance."""
        by_size = np.zeros(layout.records + 1)
        for attribute, weight in self.of(layout.sensitive).items():
            start, stop = layout.place(attribute)
            by_size -= weight * expected(layout.margins[start:stop]).table()
        return super().worth(layout)._replace(by_size=by_size)
