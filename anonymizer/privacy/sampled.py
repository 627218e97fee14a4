"""Models of a table that is a sample: of the population it is drawn from, of who is drawn."""

from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import Annotated

import numpy as np

from anonymizer.counts.counts import Classes
from anonymizer.errors import InputError, require_number
from anonymizer.kernels.arrays import Floats
from anonymizer.privacy.base import (
    Positive,
    PositiveShare,
    PrivacyModel,
    Share,
    Wording,
    one_of,
    reads_sparse,
)
from anonymizer.privacy.population import (
    ESTIMATORS,
    failure_probability,
    individual,
    population_uniqueness,
    sampling_rate,
    smallest_class,
)
from anonymizer.privacy.population.frequencies import LEAST_FRACTION
from anonymizer.privacy.sizes import HighestReidentificationRisk, PopulationModel, SizeModel
from anonymizer.tables.population import WEIGHTS, Population


@dataclass(frozen=True)
class PopulationUniqueness(PrivacyModel):
    """Few people of the population are the only ones of their quasi-identifiers, as is estimated.

    The share of its records that are unique in it, from the sizes of the classes and the share of
    the population that the table holds. Where an estimator has no answer the model does not hold.
    Not monotone, whatever the estimator: see ``anonymizer.privacy.population``, also for their
    biases. Dankar, El Emam, Neisa, Roffey (2012).

    Parameters
    ----------
    uniqueness
        The largest acceptable share of the population.
    fraction
        The records of the table over those of the population it was drawn from at random.
    estimator
        ``"dankar"``: a rule that chooses among the others; ``"zayatz"``, ``"pitman"``, ``"snb"``.
    """

    name = "population-uniqueness"
    condition = "estimated share of the population that is unique <= uniqueness"
    unit = "share"
    source = "Dankar et al. 2012; Zayatz 1991, Hoshino 2001, Chen et al. 1998"
    bounded_by = "uniqueness"
    largest = 1
    absolute = True
    monotone = False
    sensitive = False
    per_class = False
    wording = Wording(
        "Of the population that this table was drawn from, an estimated {uniqueness:share} "
        "at most are the only ones with their released values of {shared}.",
        "The estimate is {worst:share}.",
        "Single people: They may be unique all the same; the promise is an average, estimated "
        "from a sample that is taken to be random ({fraction:share} of the population).",
    )
    endless = "The estimator has no answer for classes of these sizes."
    start = {"uniqueness": 0.01, "fraction": 0.1}

    uniqueness: Share
    fraction: Annotated[float, partial(require_number, least=LEAST_FRACTION, most=1)]
    estimator: Annotated[str, one_of(ESTIMATORS)] = "dankar"

    def measure(self, classes: Classes) -> Floats:
        """The estimated share of the population, shape (1,); infinite without an answer."""
        found = population_uniqueness(classes.sizes, self.fraction, self.estimator)
        return np.array([inf if found is None else found.share])


@dataclass(frozen=True)
class IndividualRisk(PopulationModel):
    """The estimated risk that a record of a sample is found: E(1 / F_g | f_g) <= risk.

    By the sampling weights: f_g records of a class stand for F_g people, the sum of their weights.
    Where persons have several records f_g are the persons of a class, and F_g sums their weights.
    Benedetti, Franconi (1998); :func:`anonymizer.privacy.population.individual` has the formulas.

    Strongly monotone. r_f(F) = E(1 / F | f) falls with F: it is the integral of (p s / (1 - q s))^f
    / s over s from 0 to 1, which rises with p. So a merged class is at the most at the risk that it
    has with f' records of no more than f' people: r_{f + f'}(F + f') <= r_f(F). For f >= 3 the risk
    is 1 / (F (1 - 1 / f) + 1), which falls with f and F. From one record to two it says that
    (F - 1)(log F - 2) + 4 log((F + 1) / 2) >= 0: that is 0 at F = 1, as is its slope, and its
    second derivative is 1 / F + 1 / F^2 - 4 / (F + 1)^2 >= 0. From one record to three it says that
    (2 F + 7) log F >= 3 (F - 1), which is 0 at F = 1 and has the larger slope on the left; from two
    to three that r_2(F) >= 3 / (2 F + 5), which follows from r_2 >= 1 / F (Jensen) up to F = 5, and
    from the slopes of 2 (F - 2) - 4 log(F / 2) and 3 (F - 2)^2 / (2 F + 5) beyond.

    Parameters
    ----------
    risk
        The largest acceptable probability.
    population
        ``"weights"``, and nothing else: of a population that is known as a table
        :class:`HighestReidentificationRisk` is exact.
    """

    name = "individual-risk"
    condition = "E(1 / F_g | f_g) <= risk, F_g the sum of the sampling weights of f_g records"
    unit = "probability"
    source = "Benedetti, Franconi 1998"
    bounded_by = "risk"
    largest = 1
    strongly_monotone = True
    of_somebody = True
    beyond = "is below {best:.6g}, the risk where nothing tells the records of the table apart"
    wording = Wording(
        "Whoever knows {shared} of a person, and that somebody like them is in this table, finds "
        "the record among the people of the population with an estimated probability of at most "
        "{risk:share}.",
        "The record that is easiest to find is found with an estimated probability of "
        "{worst:share}.",
        "Who is in the table: The estimate rests on nobody knowing that, and on sampling weights "
        "that say how many people of each class there are.",
    )

    risk: PositiveShare
    population: Population | str = WEIGHTS.name

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population is not WEIGHTS:
            raise InputError(
                f'{self.name} is estimated by sampling weights, population = "{WEIGHTS.name}"; of '
                f"a table of everybody {HighestReidentificationRisk.name} is the risk itself"
            )

    @reads_sparse
    def measure(self, classes: Classes) -> Floats:
        """The estimated probability of each class, shape (classes,)."""
        return individual(classes.persons, self.sizes(classes))

    def over_persons(self) -> PrivacyModel:
        """Itself: f_g are persons, each of whom has a weight."""
        return self


@dataclass(frozen=True)
class DifferentialPrivacy(SizeModel):
    """(epsilon, delta)-differential privacy: what anybody learns hardly depends on one record.

    The way of SafePub: records are drawn at random with probability beta = 1 - e^-epsilon, recoded
    at levels that were chosen without looking at the table, and classes of fewer than k records
    left out; k follows from epsilon and delta. Bild, Kuhn, Prasser (2018); Li, Qardaji, Su (2012).

    It is about how a table was made, which no table shows: of a table as it stands only n_g >= k
    can be checked. An ``Anonymizer`` makes it so, and refuses what the guarantee does not cover.

    Parameters
    ----------
    epsilon
        In nats: the log of how much likelier any release can become by one record more or less.
    delta
        The probability that it becomes likelier than that.
    """

    name = "differential-privacy"
    condition = "a random sample at fixed levels with n_g >= k(epsilon, delta)"
    source = "Bild et al. 2018; Li et al. 2012"
    wording = Wording(
        "What anybody can conclude from this release hardly depends on whether a person's "
        "record was in the original table: no result becomes more than "
        "{epsilon:exponential} times likelier or unlikelier by it, but for a probability "
        "of {delta:number}.",
        "Every class of the released table has at least {worst:people}, as the guarantee needs.",
        "How the table was made: The promise is about that, which the table cannot show. It "
        "holds if the records were drawn at random, nobody knows which, and the levels were "
        "chosen without looking at the table. The guarantees of several releases add up, and so do "
        "those of several records of one person.",
    )
    larger_stricter = {"epsilon": False, "delta": False, "beta": False}

    epsilon: Positive
    delta: Annotated[float, partial(require_number, least=0, most=1, above=True, below=True)]

    @cached_property
    def k(self) -> int:
        """The records that a class has at least."""
        return smallest_class(self.epsilon, self.delta)

    @cached_property
    def beta(self) -> float:
        """The probability that a record is drawn."""
        return sampling_rate(self.epsilon)

    @property
    def parameters(self) -> dict[str, object]:
        """Epsilon and delta, what follows from them, and what the guarantee rests on."""
        return {
            **super().parameters,
            "k": self.k,
            "beta": self.beta,
            "delta_reached": failure_probability(self.k, self.beta, self.epsilon),
            "assumes": "a random sample that nobody knows, levels chosen without the table",
        }
