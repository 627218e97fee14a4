"""An objective less a cost for every class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels import Worth
from anonymizer.kernels.arrays import Floats
from anonymizer.objectives import Objective
from anonymizer.objectives.candidate import Candidate, Layout


@dataclass(frozen=True)
class Priced(Objective):
    """An objective less a cost per class: no class more is worth it that adds less than that.

    Adds up over classes as the objective does, so that whatever maximises the one maximises the
    other; but it may rise when classes merge.

    Parameters
    ----------
    plain
        The objective.
    cost
        Of each class that has records, in the objective's unit.
    """

    falls: ClassVar[bool] = False

    plain: Objective
    cost: float

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of what it is a price on."""
        return self.plain.name

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> "Priced":
        """The objective prepared, at the same price."""
        return Priced(self.plain.prepared(counts, taxonomies), self.cost)

    def score(self, candidate: Candidate) -> float:
        """The score less what the classes released cost."""
        return self.plain.score(candidate) - self.cost * candidate.released_classes

    def per_class(self, counts: Counts) -> Floats:
        """What each class adds, less its cost."""
        return np.asarray(self.plain.per_class(counts) - self.cost * (counts.sizes > 0))

    def worth(self, layout: Layout) -> Worth:
        """What the objective makes a class worth, less its cost."""
        return self.plain.worth(layout).costing(self.cost)
