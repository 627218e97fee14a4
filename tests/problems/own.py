"""Models as a user writes them: measured on classes, and unknown to kernels.

Each says a second time, in plain Python for brute force, what holds (see ``judge``).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.kernels.arrays import Floats
from anonymizer.privacy import PrivacyModel
from anonymizer.privacy.base import SensitiveModel

FORGIVEN = Fraction(1, 10**9)


@dataclass(frozen=True)
class AtLeast(PrivacyModel):
    """Classes of at least k records: strongly monotone."""

    name: ClassVar[str] = "at-least"
    bounded_by: ClassVar[str] = "k"
    strongly_monotone: ClassVar[bool] = True
    at_least: ClassVar[bool] = True
    sensitive: ClassVar[bool] = False

    k: int

    def holds(self, size: int) -> bool:
        return size >= self.k

    def measure(self, classes: Classes) -> Floats:
        return classes.sizes.astype(float)


@dataclass(frozen=True)
class LikeliestShare(SensitiveModel):
    """No sensitive value is likelier than a share in a class: monotone."""

    name: ClassVar[str] = "likeliest-share"
    bounded_by: ClassVar[str] = "share"

    share: float

    def tells_little(self, group: Counter, table: Counter) -> bool:
        return Fraction(max(group.values()), group.total()) <= Fraction(self.share) + FORGIVEN

    def measure(self, classes: Classes) -> Floats:
        return np.asarray(classes.shares.max(axis=1))


@dataclass(frozen=True)
class LargestLift(SensitiveModel):
    """No value is so many times likelier in a class than in the table released: monotone."""

    name: ClassVar[str] = "largest-lift"
    bounded_by: ClassVar[str] = "times"

    times: float

    def tells_little(self, group: Counter, table: Counter) -> bool:
        share = Fraction(table.total(), group.total())
        lifts = (share * count / table[value] for value, count in group.items())
        return max(lifts) <= Fraction(self.times) + FORGIVEN

    def measure(self, classes: Classes) -> Floats:
        known = classes.margin > 0
        return np.asarray((classes.shares[:, known] / classes.prior[known]).max(axis=1))


@dataclass(frozen=True)
class FewClasses(PrivacyModel):
    """At most so many classes: of the table as a whole, and monotone."""

    name: ClassVar[str] = "few-classes"
    bounded_by: ClassVar[str] = "most"
    per_class: ClassVar[bool] = False
    sensitive: ClassVar[bool] = False

    most: int

    def holds_of(self, sizes: Sequence[int]) -> bool:
        return len(sizes) <= self.most

    def measure(self, classes: Classes) -> Floats:
        return np.array([float(len(classes))])


@dataclass(frozen=True)
class OddClasses(FewClasses):
    """The same, and an odd number of them: not monotone, but it needs what is."""

    name: ClassVar[str] = "odd-classes"
    monotone: ClassVar[bool] = False

    def holds_of(self, sizes: Sequence[int]) -> bool:
        return super().holds_of(sizes) and len(sizes) % 2 == 1

    def measure(self, classes: Classes) -> Floats:
        return np.array([float(len(classes)) if len(classes) % 2 else np.inf])

    def necessary(self) -> tuple[PrivacyModel, ...]:
        return (FewClasses(self.most),)
