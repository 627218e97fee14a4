"""The groups that an attribute's values may form, each judged, the other attributes held fixed."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.hierarchy import Partition
from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.partitions.families import Family, Path
from anonymizer.recoding.problem.class_scores import Judge

PRECISION = 2.0**-40
"""Differences below this share of an objective's magnitude may be rounding of its sums."""


@dataclass(frozen=True, eq=False)
class Segments:
    """Candidate groups of one attribute, and what each comes to.

    Each group adds ``gains`` to the objective, has ``classes`` inside it, and ``violations`` of
    these break a model; shape (groups,) each. ``ungrouped`` is what the classes add that no group
    holds, None where they are unacceptable, so that nothing but suppression is left. ``per_class``
    is what of a worth there is for each class to break ties.
    """

    family: Family
    gains: Floats
    classes: Ints
    violations: Ints
    ungrouped: float | None
    per_class: float

    @classmethod
    def of(cls, judge: Judge, counts: Counts, family: Family) -> "Segments":
        """Judge the groups of an attribute that is raw in the counts, the others as released."""
        judged = family.judged(judge, counts)
        tie = tie_breaker(judged.gains, len(counts))
        return cls(family, *judged, ungrouped=family.ungrouped(judge, counts), per_class=tie)

    @property
    def allowed(self) -> Mask:
        """Which groups no class inside breaks a model of, shape (groups,)."""
        return np.asarray(self.violations == 0) & (self.ungrouped is not None)

    @property
    def worth(self) -> Floats:
        """The gains, those of more classes being worth more where they are equal."""
        return self.gains + self.per_class * self.classes

    def best(self) -> Path | None:
        """The best allowed partition; None where there is none. Ties: more classes."""
        return self.family.best(self.allowed, self.worth)

    @property
    def whole(self) -> Partition:
        """The suppression of all values."""
        return self.family.taxonomy.levels[-1]

    def count(self, most: int) -> int:
        """How many allowed partitions there are; so many and one where there are more."""
        paths = self.family.paths(self.allowed)
        return sum(1 for _ in islice(paths, most + 1)) + len(self.family.without_path)

    def partitions(self) -> Iterator[Partition]:
        """All allowed partitions; suppression where there is no other."""
        paths = list(self.family.paths(self.allowed))
        yield from map(self.family.partition, paths)
        yield from self.family.without_path or (() if paths else (self.whole,))


def tie_breaker(gains: Floats, classes: int) -> float:
    """What each of at most so many classes is worth, that of equal sums the one of more wins.

    All classes together count for less than ``TOLERANCE`` bits, or than what floats of the
    objective's magnitude can tell.
    """
    magnitude = float(np.abs(gains[np.isfinite(gains)]).max(initial=0.0))
    return max(TOLERANCE, PRECISION * magnitude) / (classes + 1)
