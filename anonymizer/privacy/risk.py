"""Bounds on the risk to be re-identified, of every record or on average."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Classes, Floats, Ints
from anonymizer.kernels import Bound, Kind
from anonymizer.privacy.base import TOLERANCE, PrivacyModel, require_number
from anonymizer.privacy.people import population_sizes
from anonymizer.tables.population import Population

__all__ = ["AverageReidentificationRisk", "HighestReidentificationRisk"]


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
