"""Models about the population that a table was drawn from, given as a table of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Classes, Floats, Ints
from anonymizer.errors import InputError
from anonymizer.kernels import Bound, Kind
from anonymizer.privacy.base import TOLERANCE, Mask, PrivacyModel, require_number
from anonymizer.privacy.size import require_whole
from anonymizer.tables.population import Population, Withheld

__all__ = [
    "DeltaPresence",
    "KMap",
    "population_of",
    "population_sizes",
    "without_people",
]


def without_people(models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """The same models, knowing of their population only what a manifest says of it."""
    found: dict[int, Withheld] = {}
    return [
        replace(model, population=found.setdefault(id(people), Withheld(people)))  # type: ignore[type-var]
        if isinstance(people := model.people, Population) and not isinstance(people, Withheld)
        else model
        for model in models
    ]


def population_of(models: Sequence[PrivacyModel]) -> Population | None:
    """The population that a policy is about.

    Raises
    ------
    InputError
        When there are two.
    """
    named = [model.people for model in models if isinstance(model.people, Population)]
    if any(other.table is not named[0].table for other in named[1:]):
        raise InputError("the models of a policy can be about one population, not several")
    return named[0] if named else None


@dataclass(frozen=True)
class KMap(PrivacyModel):
    """Every record may be that of at least k people: P_g >= k.

    P_g are the records of the population with the quasi-identifiers of class g. Weaker than
    k-anonymity: an adversary is taken not to know who is in the table. Sweeney (2001).
    """

    name: ClassVar[str] = "k-map"
    condition: ClassVar[str] = "P_g >= k, the population's records with the values of g"
    unit: ClassVar[str] = "records"
    source: ClassVar[str] = "Sweeney 2001"
    bounded_by: ClassVar[str] = "k"
    absolute: ClassVar[bool] = True
    strongly_monotone: ClassVar[bool] = True
    at_least: ClassVar[bool] = True
    sensitive: ClassVar[bool] = False

    k: int
    population: Population | pd.DataFrame

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k)
        object.__setattr__(self, "population", Population.of(self.name, self.population))

    def measure(self, classes: Classes) -> Floats:
        """P_g, the population's records of each class."""
        return population_sizes(self.name, classes).astype(float)

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At least k people."""
        return (Bound(Kind.POPULATION, self.k),)

    def require_possible(self, table: Classes, attribute: str) -> None:
        """No class can be more than the population."""
        most = int(population_sizes(self.name, table).sum())
        if self.k > most:
            raise InputError(f"k-map: k = {self.k} exceeds the {most} records of the population")


@dataclass(frozen=True)
class DeltaPresence(PrivacyModel):
    """Whether somebody is in the table stays uncertain: lower <= n_g / P_g <= upper.

    Of every class of the population, also those that the table has no record of where the lower
    bound is above 0. Nergiz, Atzori, Clifton (2007).
    """

    name: ClassVar[str] = "delta-presence"
    condition: ClassVar[str] = "lower <= n_g / P_g <= upper, P_g as for k-map"
    unit: ClassVar[str] = "probability"
    source: ClassVar[str] = "Nergiz et al. 2007"
    bounded_by: ClassVar[str] = "upper"
    absolute: ClassVar[bool] = True
    sensitive: ClassVar[bool] = False
    judges_empty: ClassVar[bool] = True

    lower: float
    upper: float
    population: Population | pd.DataFrame

    def __post_init__(self) -> None:
        require_number(self.name, "lower", self.lower, least=0, most=1)
        require_number(self.name, "upper", self.upper, least=0, most=1, above=True)
        if self.lower > self.upper:
            raise InputError(f"{self.name}: lower = {self.lower:g} is above upper = {self.upper:g}")
        object.__setattr__(self, "population", Population.of(self.name, self.population))

    def measure(self, classes: Classes) -> Floats:
        """n_g / P_g of each class."""
        return classes.sizes / population_sizes(self.name, classes)

    def accepts(self, values: Floats) -> Mask:
        """Shares between the bounds."""
        return (values >= self.lower - TOLERANCE) & (values <= self.upper + TOLERANCE)

    @property
    def range(self) -> str:
        """From one bound to the other."""
        return f"{self.lower:g} to {self.upper:g}"

    def worst(self, values: Floats) -> float:
        """The share furthest outside of the bounds, or nearest to one; none is below 0."""
        low, high = float(values.min()), float(values.max())
        return low if self.lower > 0 and self.lower - low > high - self.upper else high

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """The same, multiplied out."""
        upper = np.array([self.upper + TOLERANCE])
        return (Bound(Kind.PRESENCE, self.lower - TOLERANCE, upper=upper),)


def population_sizes(model: str, classes: Classes) -> Ints:
    """The population's records of each class, shape (classes,)."""
    if classes.population is None:
        raise InputError(f"{model} needs the population's records of every class")
    return classes.population
