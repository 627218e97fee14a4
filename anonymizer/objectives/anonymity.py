"""How much is left to find a record within its class."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.kernels import Worth
from anonymizer.kernels.arrays import Floats
from anonymizer.objectives.base import Objective
from anonymizer.objectives.candidate import Candidate, Layout


@dataclass(frozen=True)
class MeanAnonymity(Objective):
    """Bits to find a record within its class, the mean of log2 n_g; log2 N where suppressed."""

    name: ClassVar[str] = "mean-anonymity"

    def score(self, candidate: Candidate) -> float:
        """Minus the mean over records."""
        shown = candidate.classes.counts[:, -1]
        if candidate.suppressed is not None:
            shown = shown[~candidate.suppressed]
        records, hidden = candidate.layout.records, candidate.records_suppressed
        return float(-(_bits(shown).sum() + hidden * np.log2(records)) / records)

    def per_class(self, counts: Counts) -> Floats:
        """Minus n_g log2 n_g / N."""
        return -_bits(counts.sizes) / counts.records

    def worth(self, layout: Layout) -> Worth:
        """The same."""
        sizes = -_bits(np.arange(layout.records + 1)) / layout.records
        return Worth(np.zeros((0, 2), np.int64), np.zeros(0), np.zeros(0), sizes, 0.0)


def _bits(sizes: np.ndarray) -> Floats:
    return np.asarray(sizes * np.log2(np.maximum(sizes, 1)), float)
