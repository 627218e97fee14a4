"""The least ITPR: recodings whose worst class tells the least, for its size.

It is no sum over classes, and may rise or fall when they merge. What bounds it is DR, which falls
(``anonymizer.information.itpr.least_itpr``): no node below a node has an ITPR below that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from anonymizer.counts.counts import Classes, Counts
from anonymizer.errors import InputError
from anonymizer.hierarchy import Taxonomy
from anonymizer.information.entropy import entropy
from anonymizer.information.itpr import itpr, least_itpr
from anonymizer.kernels.arrays import Columns, Floats, Ints
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
        counts, layout = released(candidate), candidate.layout
        return -sum(
            weight * of(layout.classes(name, counts, candidate.margins), itpr)
            for name, weight in self._of(layout.sensitive).items()
        )

    def bound(self, plain: Candidate, budget: Budget) -> float:
        """0: ITPR is never less, and everything above a node may have that."""
        return 0.0

    def shortfall(self, plain: Candidate) -> float:
        """What ITPR does not fall below in any node below."""
        counts, layout = plain.classes.counts, plain.layout
        return sum(
            weight * of(layout.classes(name, counts, plain.margins), least_itpr)
            for name, weight in self._of(layout.sensitive).items()
        )

    def __call__(self, counts: Counts) -> float:
        """Minus the ITPR of a recoding without suppression."""
        weights = self._of(counts.sensitive).items()
        return -sum(weight * of(counts.about(name), itpr) for name, weight in weights)

    def _of(self, sensitive: tuple[str, ...]) -> Weights:
        return {name: self.weights.get(name, 1.0) for name in sensitive}


def of(classes: Classes, measure: Measure) -> float:
    """ITPR, or what it does not fall below, of the classes that have records."""
    some = classes.occupied
    return measure(some.sizes, entropy(some.joint), float(entropy(some.margin)))


def released(candidate: Candidate) -> Columns:
    """The classes of the table released, shape (classes, columns)."""
    counts = candidate.classes.counts
    if candidate.suppressed is None:
        return counts
    kept = counts[~candidate.suppressed]
    hidden = candidate.records_suppressed and not candidate.removed
    return np.concatenate([kept, candidate.together[None]]) if hidden else kept
