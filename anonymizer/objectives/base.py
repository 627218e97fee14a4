"""What an objective is: a score, larger being better, that never rises when classes merge.

The second is what the exact searches prune by. Under suppression, records that are suppressed or
removed count as fully generalized, so that a node without suppression bounds the same node with it
(mutual information is that of the records left: see ``Objective.bound``).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import ClassVar

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError, column_names, did_you_mean, is_number, shown
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels import Worth
from anonymizer.kernels.arrays import Floats
from anonymizer.objectives.candidate import Budget, Candidate, Layout

Weights = Mapping[str, float]

MOST_WEIGHT = 1_000_000
"""Beyond, the weights of other attributes would be lost in rounding."""


class Objective(ABC):
    """An objective with its parameters; subclasses are frozen dataclasses.

    ``name`` is its name in a study file. ``levels_only``: without suppression the score depends
    on the levels alone, and no class need be counted. ``falls``: it never rises under
    generalization, without which its score at a node bounds nothing. ``bounded``: where it may
    rise, ``bound`` bounds it all the same; without either, only an exhaustive search can answer for
    it. ``weighs``: what its ``weights`` are about, if it has any; an attribute without one weighs
    1.
    """

    name: ClassVar[str]
    levels_only: ClassVar[bool] = False
    falls: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    weighs: ClassVar[str | None] = None

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> "Objective":
        """The objective ready for one table; InputError when that lacks what it is about."""
        return self

    @abstractmethod
    def score(self, candidate: Candidate) -> float:
        """The score of a node as it would be released."""

    def quantity(self, score: float, records: int) -> float:
        """The quantity that the objective is named after, from its score."""
        return -score

    def bound(self, plain: Candidate, budget: Budget) -> float:
        """Upper bound of the scores of a node and of all above it, within a budget.

        ``plain`` is the node with nothing suppressed.
        """
        return self.score(plain)

    def toll(self, node: Sequence[int], budget: Budget) -> float:
        """Least amount that each suppressed record of a node takes off such bounds.

        Has to be suppressed: by a strongly monotone model, so that it has to be at every node below
        as well. What is taken off at the nodes below is no less.
        """
        return 0.0

    def cap(self, candidate: Candidate) -> float:
        """Upper bound of a node's score, where that is cheaper than the score."""
        return inf

    def shortfall(self, plain: Candidate) -> float:
        """Least difference between a bound of a node and the score of any node below.

        Without suppression: a node between two scores at most the ``bound`` of the lower one, less
        this of the higher one, ``plain``.
        """
        return 0.0

    def per_class(self, counts: Counts) -> Floats:
        """Contribution of each class to the score, (classes,); InputError where it is no sum."""
        levels = "depends on levels, which ranges do not have"
        why = levels if self.levels_only else "gives no per_class(), which ranges need"
        raise InputError(
            f"the objective {self.name} {why}; choose another one, or full-domain recoding"
        )

    def worth(self, layout: Layout) -> Worth:
        """Contribution of a class to the score, for kernels, up to a constant of the table."""
        why = "" if self.levels_only else ", for which it would have to give worth()"
        raise InputError(
            f"the objective {self.name} is not made for recodings beyond levels and ranges{why}; "
            "choose mutual-information, discernibility or average-class-size"
        )

    def __call__(self, counts: Counts) -> float:
        """The score of a recoding without suppression, from the counts it leaves."""
        return float(self.per_class(counts).sum())


def require_weights(weights: object, what: str = "weights") -> None:
    """Require a number from 0 to ``MOST_WEIGHT`` for every attribute that is weighed."""
    if not isinstance(weights, Mapping):
        raise InputError(f"{what} must map attributes to numbers, not be {shown(weights)}")
    for attribute, weight in weights.items():
        if not is_number(weight, 0, MOST_WEIGHT):
            raise InputError(
                f"weight of {attribute!r} must be a number of at least 0 "
                f"and at most {MOST_WEIGHT:,}"
            )


def weights_of(target: str | Sequence[str] | Weights | None) -> Weights:
    """Return targets with their weights, 1 each where only their names are given."""
    if target is None or isinstance(target, Mapping):
        require_weights(target or {}, "target")
        return target or {}
    names = column_names("target", target)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"target must name a column or a list of columns, not {name!r}")
    return dict.fromkeys(names, 1.0)


def require_known(objective: Objective, weights: Weights, known: Iterable[str]) -> None:
    """Refuse a weight of an attribute that the objective is not about."""
    names = list(known)
    for attribute in weights:
        if attribute not in names:
            hint = did_you_mean(str(attribute), names)
            raise InputError(
                f"the objective weighs {attribute!r}, which is no {objective.weighs}{hint}"
            )
