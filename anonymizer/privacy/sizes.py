"""Models of class sizes: those of the table and those of the population it was drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Classes
from anonymizer.errors import InputError
from anonymizer.information.matrices import largest, occurring
from anonymizer.kernels import Bound, Kind
from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.privacy.base import (
    TOLERANCE,
    PositiveShare,
    PrivacyModel,
    Share,
    Whole,
    Wording,
    reads_sparse,
    require_persons,
)
from anonymizer.privacy.events import CompositionKAnonymity, EventModel
from anonymizer.tables.population import WEIGHTS, Margins, Population, Weights, Withheld


def without_people(models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """Return the models with no more of their population than a manifest reports of it."""
    found: dict[int, Withheld] = {}
    return [
        replace(model, population=found.setdefault(id(people), Withheld(people)))  # type: ignore[type-var]
        if isinstance(people := model.people, Population)
        and not isinstance(people, Withheld | Weights)
        else model
        for model in models
    ]


def population_of(models: Sequence[PrivacyModel]) -> Population | None:
    """The population that a policy is about; InputError when there are two."""
    named = [model.people for model in models if isinstance(model.people, Population)]
    if any(other.table is not named[0].table for other in named[1:]):
        raise InputError("the models of a policy can be about one population, not several")
    return named[0] if named else None


class SizeModel(PrivacyModel):
    """A model of class sizes alone: each class has at least k records."""

    bounded_by = "k"
    unit = "records"
    kind = Kind.SIZE
    absolute = True
    strongly_monotone = True
    at_least = True
    sensitive = False

    def measure(self, classes: Classes) -> Floats:
        return classes.sizes.astype(float)


@dataclass(frozen=True)
class KAnonymity(SizeModel):
    """Every record shares its quasi-identifiers with at least k - 1 others: n_g >= k.

    In bits, I2(X, g) = log N - log n_g <= log(N / k). Measured in records. Samarati (2001);
    Bezzi (2010), Eq. 5 and 6.
    """

    name = "k-anonymity"
    condition = "n_g >= k"
    source = "Samarati 2001"
    beyond = "exceeds the {best:.0f} records of the table"
    wording = Wording(
        "Every person shares the released values of {shared} with at least {k:others} in "
        "this table.",
        "The smallest class has {worst:people}.",
        "What a class has in common: Where all people of a class have the same value of another "
        "column, whoever finds the class knows it; k-anonymity allows that.",
    )
    start = {"k": 5}

    k: Whole

    def over_persons(self) -> PrivacyModel:
        return PersonKAnonymity(self.k)


@dataclass(frozen=True)
class PersonKAnonymity(KAnonymity):
    """Every class has records of at least k distinct persons, each of whom may have several.

    K-anonymity of a table with a column that tells whose each record is. Strongly monotone: a class
    has the persons of each class that it was merged from.
    """

    name = "person-k-anonymity"
    condition = "distinct persons of g >= k"
    unit = "persons"
    source = "Samarati 2001; El Emam et al. 2012"
    beyond = "exceeds the {best:.0f} persons of the table"
    of_persons = True

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        return occurring(classes.joint).astype(float)

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        """At least k persons; who have at least k records, which is quicker to see."""
        return (Bound(Kind.SIZE, self.limit), Bound(Kind.DISTINCT, self.limit))

    def over_persons(self) -> PrivacyModel:
        return self


@dataclass(frozen=True)
class LargestShare(PrivacyModel):
    """No person has more than a share of the records of a class: max_p n_gp / n_g <= share.

    Whoever knows that somebody is in a class, and takes any of its records for theirs, is right
    with a probability of at most that. Monotone: of two classes with n_gp <= share n_g and
    n_hp <= share n_h the sums do as well, for every person p. Not strongly monotone: a class of
    one record of a new person may be merged with one that is all of theirs.
    """

    name = "largest-share"
    condition = "max_p n_gp / n_g <= share, n_gp the records of person p in g"
    unit = "share"
    source = "as the (n, k) rule of table protection, n = 1; Hundepool et al. 2012"
    bounded_by = "share"
    largest = 1
    beyond = (
        "is below {best:.6f}, the share of the person with most records in the whole table; a "
        "policy without largest-share has that of 1 / k"
    )
    absolute = True
    sensitive = False
    of_persons = True
    wording = Wording(
        "Nobody has more than {share:share} of the records with the same released values of "
        "{shared}, so that no record is that of a given person with a higher probability.",
        "The person with most records of a class has {worst:share} of them.",
        "How many persons there are: A class may be of few persons, each with as many records as "
        "the others.",
    )
    start = {"share": 0.2}

    share: PositiveShare

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        return np.asarray(largest(classes.joint) / np.maximum(classes.sizes, 1))

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        persons = len(table.margin)
        upper = np.full(persons, self.limit)
        return (Bound(Kind.SHARES, 0.0, lower=np.zeros(persons), upper=upper),)


def with_implied(models: Sequence[PrivacyModel], persons: bool = False) -> tuple[PrivacyModel, ...]:
    """Add models of classes that models of households imply, where no other has that k or more.

    They say which classes are suppressed: what households have in several is no single one's fault.
    ``persons``: have several records.
    """
    found = tuple(models)
    implied = [each for model in models for each in model.implied()]
    for added in [each.over_persons() for each in implied] if persons else implied:
        others = [model.threshold for model in found if type(model) is type(added)]
        if added.threshold > max([1, *others]):
            found = (*found, added)
    return found


def over_persons(
    models: Sequence[PrivacyModel],
    person: Sequence[str],
    household: Sequence[str] = (),
    numbers: bool = False,
) -> tuple[PrivacyModel, ...]:
    """Return the models of a policy for a table of which persons may have several records.

    ``person``: the columns that tell whose each record is; without any each is a person's own, and
    InputError where a model counts persons. ``household`` likewise; records count as they do
    without it.

    What models of who knows several records imply is added as a model where no other has that k or
    more: k persons in each class, which says what is to be suppressed, and is quicker to see. Where
    nobody says how large a share of a class may be one person's, it is 1 / k, of persons or of
    households: a person of whom a class of k has more records than that is found with a higher
    probability than it promises.
    InputError where a model is about records alone.

    ``numbers``: a release has a number for each person, which tells their composition. Then k
    persons have each, and as many as none has more than the largest share of: the persons of one
    have equally many records in each of its classes.
    """
    require_persons(models, bool(person), bool(household))
    if not person:
        return with_implied(models)
    found = with_implied([model.over_persons() for model in models], persons=True)
    k = max((model.k for model in found if isinstance(model, PersonKAnonymity)), default=1)
    events = [each for each in found if isinstance(each, EventModel) and each.of_persons]
    known = max((model.k for model in events), default=1)
    if known > k:
        k, found = known, (*found, PersonKAnonymity(known))
    homes = [model for model in found if isinstance(model, SizeModel) and model.of_households]
    k = max([k, *(int(model.threshold) for model in homes)])
    if k > 1 and not any(isinstance(model, LargestShare) for model in found):
        found = (*found, LargestShare(1 / k))
    return _of_compositions(found) if numbers else found


def _of_compositions(models: tuple[PrivacyModel, ...]) -> tuple[PrivacyModel, ...]:
    """Add that as many persons have each composition as a class has to have.

    InputError where a model is about a population.
    """
    for model in models:
        if getattr(model, "population", None) is not None:
            raise InputError(
                f"{model.name} is about a population, of whom nobody knows in which classes each "
                "would have records, as numbers of persons tell of a release; leave out the "
                "numbers (person below [output] in a study), or the model"
            )
    least = [model.k for model in models if isinstance(model, PersonKAnonymity | EventModel)]
    least += [ceil(1 / model.limit) for model in models if isinstance(model, LargestShare)]
    known = [model.k for model in models if isinstance(model, CompositionKAnonymity)]
    k = max([1, *least])
    return models if k <= max([1, *known]) else (*models, CompositionKAnonymity(k))


class PopulationModel(PrivacyModel):
    """Model of class sizes in the table and in a population.

    ``population``: a table of everybody, or ``"weights"``, the people whom the sampling weights of
    the table tell. ``takes_margins``: whether it can be margins, of which the fewest people of a
    class are known: what holds of these holds of more; ``by_margins`` is then the sentence about
    the worst class.
    """

    needs_population: ClassVar[bool] = True
    takes_margins: ClassVar[bool] = False
    by_margins: ClassVar[str] = ""
    absolute = True
    sensitive = False

    population: Population | pd.DataFrame | str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population is not None or self.needs_population:
            object.__setattr__(self, "population", Population.of(self.name, self.population))
        if isinstance(self.population, Margins) and not self.takes_margins:
            raise InputError(
                f"{self.name}: margins tell the fewest people of a class, and it needs to know how "
                "many there are; give a table of everybody, or choose k-map or "
                "highest-reidentification-risk"
            )

    @classmethod
    def wording_of(cls, parameters: Mapping[str, Any]) -> Wording | None:
        """The sentences; of margins a figure is what holds in any population that has them."""
        known = parameters.get("population")
        bounded = isinstance(known, Mapping) and "margins" in known
        return (
            replace(cls.wording, measured=cls.by_margins)
            if bounded and cls.wording
            else cls.wording
        )

    def sizes(self, classes: Classes) -> Ints:
        """P_g, the population's records of each class, shape (classes,); without one n_g."""
        if self.population is None:
            return classes.sizes
        if classes.population is None:
            raise InputError(f"{self.name} needs the population's records of every class")
        return classes.population


def _require_table(model: PopulationModel) -> None:
    """Refuse margins where persons have several records: a class may be of fewer than these."""
    if isinstance(model.population, Margins):
        raise InputError(
            f"{model.name}: margins bound the people of classes whose records are of one person "
            "each; with person give a table of everybody, or leave out person"
        )


@dataclass(frozen=True)
class KMap(PopulationModel):
    """Every record may be that of at least k people: P_g >= k.

    P_g are the records of the population with the quasi-identifiers of class g. Weaker than
    k-anonymity: an adversary is taken not to know who is in the table. Sweeney (2001).
    """

    name = "k-map"
    condition = "P_g >= k, the population's records with the values of g"
    unit = "records"
    source = "Sweeney 2001"
    beyond = "exceeds the {best:.0f} records of the population"
    bounded_by = "k"
    wording = Wording(
        "Every record could be that of at least {k:people} of the population that "
        "the table is taken from.",
        "The record with the fewest such people could be that of {worst:count}.",
        "Who is in the table: The promise rests on nobody knowing that, and on the population "
        "being the people that an attacker thinks of.",
    )
    kind = Kind.POPULATION
    strongly_monotone = True
    at_least = True
    takes_margins = True
    by_margins = (
        "In any population with the margins that are known, the record with the fewest such people "
        "could be that of at least {worst:count}."
    )

    k: Whole
    population: Population | pd.DataFrame | str

    def measure(self, classes: Classes) -> Floats:
        return self.sizes(classes).astype(float)

    def over_persons(self) -> PrivacyModel:
        """Itself: a population holds people."""
        _require_table(self)
        return self


@dataclass(frozen=True)
class DeltaPresence(PopulationModel):
    """Membership of a person in the table stays uncertain: lower <= n_g / P_g <= upper.

    Of every class of the population, also those that the table has no record of where the lower
    bound is above 0. Nergiz, Atzori, Clifton (2007).
    """

    name = "delta-presence"
    condition = "lower <= n_g / P_g <= upper, P_g as for k-map"
    unit = "probability"
    source = "Nergiz et al. 2007"
    bounded_by = "upper"
    largest = 1
    judges_empty = True
    wording = Wording(
        "Whoever finds the people of the population with a person's released values of "
        "{shared} learns only that between {lower:share} and {upper:share} of them are in "
        "this table.",
        "The class that comes nearest to a bound has {worst:share}.",
        "What a class gives away: The promise is about who is in the table, and says nothing of "
        "what is disclosed about those who are.",
    )
    allowed = "{lower:share} to {upper:share}"
    larger_stricter = {"lower": True}

    lower: Share
    upper: PositiveShare
    population: Population | pd.DataFrame

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population is WEIGHTS:
            raise InputError(
                f"{self.name}: sampling weights do not tell of people like whom the table has no "
                "record; give a population of everybody as a table"
            )
        if self.lower > self.upper:
            raise InputError(f"{self.name}: lower = {self.lower:g} is above upper = {self.upper:g}")

    @property
    def void(self) -> bool:
        return super().void and self.lower == 0

    def measure(self, classes: Classes) -> Floats:
        return classes.sizes / self.sizes(classes)

    def accepts(self, values: Floats) -> Mask:
        return (values >= self.lower - TOLERANCE) & (values <= self.limit)

    @property
    def range(self) -> str:
        return f"{self.lower:g} to {self.upper:g}"

    def worst(self, values: Floats) -> float:
        """The share furthest outside of the bounds, or nearest to one; none is below 0."""
        # Both ends may be broken: the one that is further out says how far the table is off.
        low, high = float(values.min()), float(values.max())
        return low if self.lower > 0 and self.lower - low > high - self.upper else high

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        return (Bound(Kind.PRESENCE, self.lower - TOLERANCE, upper=np.array([self.limit])),)


@dataclass(frozen=True)
class RiskModel(PopulationModel):
    """A model of the risk to be re-identified, with a population or without. El Emam (2013)."""

    unit = "probability"
    source = "El Emam 2013"
    bounded_by = "risk"
    largest = 1
    needs_population = False

    risk: PositiveShare
    population: Population | pd.DataFrame | str | None = None


@dataclass(frozen=True)
class AverageReidentificationRisk(RiskModel):
    """The share of records that an adversary who knows everybody re-identifies, on average.

    Without a population that of a prosecutor, who knows that his target is in the table: the number
    of classes over that of records. With one that of a journalist or marketer:
    sum_g n_g / P_g / N. An average: single records may be at any risk. El Emam (2013).
    """

    name = "average-reidentification-risk"
    condition = "sum_g n_g / P_g / N <= risk (P_g = n_g without a population)"
    per_class = False
    wording = Wording(
        "Whoever knows {shared} of everybody, and guesses who each record is, is right for "
        "at most {risk:share} of the records on average.",
        "On average it is {worst:share}.",
        "Single people: They may be at any risk; an average protects nobody by itself.",
    )
    start = {"risk": 0.05}

    def measure(self, classes: Classes) -> Floats:
        return np.array([(classes.sizes / self.sizes(classes)).sum() / classes.sizes.sum()])

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        return (Bound(Kind.RISK if self.population is None else Kind.POPULATION_RISK, self.limit),)


@dataclass(frozen=True)
class HighestReidentificationRisk(RiskModel):
    """The risk of every record to be re-identified: 1 / n_g <= risk, with a population 1 / P_g.

    k-anonymity and k-map in other words, k = 1 / risk. El Emam (2013).
    """

    name = "highest-reidentification-risk"
    condition = "1 / P_g <= risk (P_g = n_g without a population)"
    strongly_monotone = True
    takes_margins = True
    by_margins = (
        "In any population with the margins that are known, the person who is easiest to find is "
        "found with a probability of at most {worst:share}."
    )
    wording = Wording(
        "Whoever knows {shared} of a person finds that person's record with a probability "
        "of at most {risk:share}.",
        "The person who is easiest to find is found with a probability of {worst:share}.",
        "What a class has in common: Where all people of a class have the same value of another "
        "column, nobody has to be found for it; the risk does not count that.",
    )
    start = {"risk": 0.2}

    def measure(self, classes: Classes) -> Floats:
        return 1 / self.sizes(classes)

    def bounds(self, table: Classes) -> tuple[Bound, ...]:
        return (Bound(Kind.SIZE if self.population is None else Kind.POPULATION, 1 / self.limit),)

    def over_persons(self) -> PrivacyModel:
        """Itself of a population, which holds people; else k-anonymity of them, k = 1 / risk."""
        if self.population is not None:
            _require_table(self)
            return self
        return PersonKAnonymity(ceil(1 / self.limit))
