"""Bounds on the table as a whole: averages, which protect nobody by themselves."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.counts import Classes, Floats, Ints
from anonymizer.information import divergence
from anonymizer.kernels import Bound, Kind
from anonymizer.privacy.base import (
    TOLERANCE,
    PrivacyModel,
    SensitiveModel,
    require_number,
)
from anonymizer.privacy.people import Population, population_sizes

__all__ = ["AverageReidentificationRisk", "HighestReidentificationRisk", "MeanInformation"]


@dataclass(frozen=True)
class MeanInformation(SensitiveModel):
    """All classes together tell at most so many bits about W, on average: I(X~;W) <= bits.

    An average that protects nobody by itself: one class may tell everything. What Eq. 13 of Bezzi
    (2010) says is necessary for t-closeness and l-diversity, never enough.
    """

    name: ClassVar[str] = "mean-information"
    condition: ClassVar[str] = "I(X~;W) <= bits: an average that protects nobody by itself"
    unit: ClassVar[str] = "bits"
    source: ClassVar[str] = "Bezzi 2010, Eq. 13"
    bounded_by: ClassVar[str] = "bits"
    absolute: ClassVar[bool] = True
    per_class: ClassVar[bool] = False

    bits: float

    def __post_init__(self) -> None:
        require_number(self.name, "bits", self.bits, least=0)

    def measure(self, classes: Classes) -> Floats:
        """I(X~;W) in bits, shape (1,)."""
        bits = classes.sizes * divergence(classes.joint, classes.margin)
        return np.array([bits.sum() / classes.margin.sum()])

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At most so many bits, of all classes together."""
        return (Bound(Kind.INFORMATION, self.bits + TOLERANCE),)

    def ceiling(self, margin: NDArray[np.int64]) -> float:
        """The bound itself."""
        return float(self.bits)


@dataclass(frozen=True)
class RiskModel(PrivacyModel):
    """A model of the risk to be re-identified, with a population or without."""

    unit: ClassVar[str] = "probability"
    source: ClassVar[str] = "El Emam 2013"
    bounded_by: ClassVar[str] = "risk"
    absolute: ClassVar[bool] = True
    sensitive: ClassVar[bool] = False

    risk: float
    population: Population | pd.DataFrame | None = None

    def __post_init__(self) -> None:
        require_number(self.name, "risk", self.risk, least=0, most=1, above=True)
        if self.population is not None:
            object.__setattr__(self, "population", Population.of(self.name, self.population))

    def suspects(self, classes: Classes) -> Ints:
        """The records that one of each class may be, shape (classes,)."""
        if self.population is None:
            return classes.sizes
        return population_sizes(self.name, classes)


@dataclass(frozen=True)
class AverageReidentificationRisk(RiskModel):
    """The share of records that an adversary who knows everybody re-identifies, on average.

    Without a population that of a prosecutor, who knows that his target is in the table: the number
    of classes over that of records. With one that of a journalist or marketer:
    sum_g n_g / P_g / N. An average: single records may be at any risk. El Emam (2013).
    """

    name: ClassVar[str] = "average-reidentification-risk"
    condition: ClassVar[str] = "sum_g n_g / P_g / N <= risk (P_g = n_g without a population)"
    per_class: ClassVar[bool] = False

    def measure(self, classes: Classes) -> Floats:
        """The average over records, shape (1,)."""
        share = classes.sizes / self.suspects(classes)
        return np.array([share.sum() / classes.sizes.sum()])

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At most the risk, of all classes together."""
        kind = Kind.RISK if self.population is None else Kind.POPULATION_RISK
        return (Bound(kind, self.risk + TOLERANCE),)


@dataclass(frozen=True)
class HighestReidentificationRisk(RiskModel):
    """The risk of every record to be re-identified: 1 / n_g <= risk, with a population 1 / P_g.

    k-anonymity and k-map in other words, k = 1 / risk. El Emam (2013).
    """

    name: ClassVar[str] = "highest-reidentification-risk"
    condition: ClassVar[str] = "1 / P_g <= risk (P_g = n_g without a population)"
    strongly_monotone: ClassVar[bool] = True

    def measure(self, classes: Classes) -> Floats:
        """1 over the records that a record may be, of each class."""
        return 1 / self.suspects(classes)

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """So many records, or people, at least."""
        kind = Kind.SIZE if self.population is None else Kind.POPULATION
        return (Bound(kind, 1 / (self.risk + TOLERANCE)),)
