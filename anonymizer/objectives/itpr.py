"""The least ITPR: recodings whose worst class tells the least, for its size.

It is no sum over classes, and may rise or fall when they merge. What bounds it is DR, which falls
(``anonymizer.information.itpr.least_itpr``): no node below a node has an ITPR below that.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from anonymizer.counts.counts import Classes, Counts
from anonymizer.errors import InputError
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.entropy import entropy
from anonymizer.information.itpr import itpr, least_itpr
from anonymizer.kernels import Histograms
from anonymizer.kernels.arrays import Floats, Ints
from anonymizer.objectives.base import Objective, Weights, require_known, require_weights
from anonymizer.objectives.candidate import Budget, Candidate

Measure = Callable[[Ints, Floats, float], float]


@dataclass(frozen=True, kw_only=True)
class LeastItpr(Objective):
    """ITPR = max_g 1 - T p(g) H(W|g) / H(W), summed over the sensitive attributes, weighted.

    The table as a single class has an ITPR of 0: levels need a ``max_level``, or everything is
    suppressed. For full-domain recoding. Bkakria et al. (2021), Definition 2.

    Parameters
    ----------
    weights
        Of the sensitive attributes; 1 for those left out.
    """

    name: ClassVar[str] = "itpr"
    falls: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    weighs: ClassVar[str | None] = "sensitive attribute"

    weights: Weights = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_weights(self.weights)

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> Objective:
        """Check that there is a sensitive attribute, and one for every weight."""
        if not counts.sensitive:
            raise InputError(
                f"the objective {self.name} is about a sensitive attribute; name one, or choose "
                "another objective, such as loss"
            )
        require_known(self, self.weights, counts.sensitive)
        return self

    def score(self, candidate: Candidate) -> float:
        """Minus the ITPR of the table released; suppressed records are one class, or none."""
        return -self._summed(candidate, candidate.released, itpr)

    def bound(self, plain: Candidate, budget: Budget) -> float:
        """0: ITPR is never less, and everything above a node may have that."""
        return 0.0

    def shortfall(self, plain: Candidate) -> float:
        """Lower bound of ITPR in any node below."""
        return self._summed(plain, plain.classes.histograms, least_itpr)

    def __call__(self, counts: Counts) -> float:
        """Minus the ITPR of a recoding without suppression."""
        weights = self._of(counts.sensitive).items()
        return -sum(weight * of([counts.about(name)], itpr) for name, weight in weights)

    def _summed(self, candidate: Candidate, histograms: Histograms, measure: Measure) -> float:
        """Sum a measure of classes over the attributes."""
        layout, margins = candidate.layout, candidate.margins
        return sum(
            weight * of(layout.some_classes(name, histograms, margins), measure)
            for name, weight in self._of(layout.sensitive).items()
        )

    def _of(self, sensitive: tuple[str, ...]) -> Weights:
        return {name: self.weights.get(name, 1.0) for name in sensitive}


def of(blocks: Iterable[Classes], measure: Measure) -> float:
    """ITPR, or what it does not fall below, of the classes that have records."""
    sizes, bits, prior = [], [], 0.0
    for classes in blocks:
        some = classes.occupied
        sizes.append(some.sizes)
        bits.append(entropy(some.joint))
        prior = float(entropy(some.margin))
    return measure(np.concatenate(sizes), np.concatenate(bits), prior)
