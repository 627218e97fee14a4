"""What a search maximises.

Every objective is a score, larger being better, that never rises when classes merge: what the
exact searches prune by. Under suppression, records that are suppressed or removed count as fully
generalized, so that a node without suppression bounds the same node with it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from numbers import Real
from typing import ClassVar

import numpy as np

from anonymizer.candidates import Candidate
from anonymizer.counts import Codes, Counts, Floats
from anonymizer.errors import InputError, did_you_mean
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.hierarchy.values import exactly
from anonymizer.information import divergence

__all__ = [
    "OBJECTIVES",
    "AverageClassSize",
    "Discernibility",
    "Loss",
    "MutualInformation",
    "NonUniformEntropy",
    "Objective",
    "Precision",
    "objective_of",
]

Weights = Mapping[str, float]


class Objective(ABC):
    """An objective with its parameters.

    ``name`` is what a study file calls it. ``levels_only``: without suppression the score depends
    on the levels alone, and no class need be counted. ``falls``: it never rises under
    generalization. ``weighs``: what its ``weights`` are about, if it has any; an attribute without
    one weighs 1.
    """

    name: ClassVar[str]
    levels_only: ClassVar[bool] = False
    falls: ClassVar[bool] = True
    weighs: ClassVar[str | None] = None

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> "Objective":
        """The objective, ready to score candidates of one table.

        Raises
        ------
        InputError
            When it is about attributes that the table's schema does not have.
        """
        return self

    @abstractmethod
    def score(self, candidate: Candidate) -> float:
        """The score of a node as it would be released."""

    def stated(self, score: float, records: int) -> float:
        """The quantity that the objective is named after, from its score."""
        return -score

    def bound(self, score: float, share: float) -> float:
        """The most that a node, or any above it, can score while at most so much is suppressed.

        ``score`` is its score without suppression.
        """
        return score

    def per_class(self, counts: Counts) -> Floats:
        """What each class adds to the score, shape (classes,).

        Raises
        ------
        InputError
            When the score is no sum over classes.
        """
        raise InputError(
            f"the objective {self.name} depends on levels, which ranges do not have; "
            "choose another one, or full-domain recoding"
        )

    def __call__(self, counts: Counts) -> float:
        """The score of a recoding without suppression, from the counts it leaves."""
        return float(self.per_class(counts).sum())


@dataclass(frozen=True)
class MutualInformation(Objective):
    """I(X~;W) in bits, summed over the sensitive attributes, weighted.

    Falls by the data processing inequality (Bezzi 2010, Eq. 4).
    """

    name: ClassVar[str] = "mutual-information"
    weighs: ClassVar[str | None] = "sensitive attribute"

    weights: Weights = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require_weights(self.weights)

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> Objective:
        """Check that there is a sensitive attribute, and one for every weight."""
        if not counts.joint:
            raise InputError(
                f"the objective {self.name} is about a sensitive attribute; name one, "
                "or choose another objective"
            )
        _require_known(self, counts.joint)
        return self

    def score(self, candidate: Candidate) -> float:
        """I(X~;W) in bits of the table released."""
        records = int(candidate.margins[-1])
        bits = 0.0
        for attribute in candidate.layout.places:
            known = candidate.entropy(attribute) - candidate.uncertainty(attribute)
            bits += self.weights.get(attribute, 1.0) * max(known, 0.0) / records
        return bits

    def stated(self, score: float, records: int) -> float:
        """I(X~;W) in bits."""
        return score

    def bound(self, score: float, share: float) -> float:
        """I / (1 - share): the chain rule over whether a record is removed.

        With S telling that, a function of the node's classes,
        I = I(S;W) + p(S) I(X~;W|S) + p(not S) I(X~;W|not S), whose last factor is what is released.
        """
        return score / (1 - share)

    def per_class(self, counts: Counts) -> Floats:
        """p(g) I1(W, g) of each class, in bits."""
        value = np.zeros(len(counts))
        for attribute in counts.joint:
            classes = counts.about(attribute)
            bits = classes.sizes * divergence(classes.joint, classes.margin) / counts.records
            value += self.weights.get(attribute, 1.0) * bits
        return value


@dataclass(frozen=True)
class Discernibility(Objective):
    """Sum of n_g^2, suppressed records counting N each (Bayardo, Agrawal 2005)."""

    name: ClassVar[str] = "discernibility"

    def score(self, candidate: Candidate) -> float:
        """Minus the discernibility metric, a whole number."""
        charged = candidate.records_suppressed * candidate.layout.records
        return -float(candidate.squares + charged)

    def per_class(self, counts: Counts) -> Floats:
        """Minus n_g^2 of each class."""
        return -(counts.sizes.astype(float) ** 2)


@dataclass(frozen=True)
class AverageClassSize(Objective):
    """Records per class, all that are suppressed counting as one class.

    LeFevre, DeWitt, Ramakrishnan (2006), without the constant factor 1 / k. The score is the
    number of classes.
    """

    name: ClassVar[str] = "average-class-size"

    def score(self, candidate: Candidate) -> float:
        """The number of classes."""
        return float(candidate.groups)

    def stated(self, score: float, records: int) -> float:
        """Records per class."""
        return records / score

    def per_class(self, counts: Counts) -> Floats:
        """1 for each class."""
        return np.ones(len(counts))


@dataclass(frozen=True)
class AttributeWise(Objective):
    """A weighted sum over attributes of what each value's group costs, averaged over records.

    Subclasses say what a group costs. Depends on levels alone while nothing is suppressed.

    Parameters
    ----------
    weights
        By quasi-identifier; 1 for those left out.
    """

    levels_only: ClassVar[bool] = True
    weighs: ClassVar[str | None] = "quasi-identifier"

    weights: Weights = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require_weights(self.weights)

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> "Tabulated":
        """Tabulate the cost of every group of every level."""
        _require_known(self, counts.names)
        scale = self.scale(counts.names)
        columns = []
        for name, codes in zip(counts.names, counts.cells.T, strict=True):
            taxonomy = taxonomies[name]
            values = len(taxonomy.levels[0].groups)
            records = np.bincount(codes, counts.sizes, values).astype(float)
            weight = self.weights.get(name, 1.0) / scale
            costs = [weight * self.costs(taxonomy, level, records) for level in taxonomy.levels]
            extra = [costs[-1] - cost for cost in costs]
            columns.append(Column(codes.copy(), extra, [float(cost @ records) for cost in costs]))
        return Tabulated(self, tuple(columns), counts.records)

    def scale(self, names: Sequence[str]) -> float:
        """What the weighted sum is divided by: the weights of all attributes."""
        return sum(self.weights.get(name, 1.0) for name in names) or 1.0

    @abstractmethod
    def costs(self, taxonomy: Taxonomy, level: Partition, records: Floats) -> Floats:
        """What each value costs at a level, shape (values,); ``records`` have each value."""

    def score(self, candidate: Candidate) -> float:
        """Scores take a table: see ``prepared``."""
        raise TypeError("prepare the objective for a table first")


@dataclass(frozen=True)
class NonUniformEntropy(AttributeWise):
    """Bits per record to tell each original value from the others of its group.

    Sum over attributes of H(X_i | X~_i), both as they are distributed in the original table
    (de Waal, Willenborg 1999; Gionis, Tassa 2009); a suppressed value costs as if its group were
    all values.
    """

    name: ClassVar[str] = "non-uniform-entropy"

    def scale(self, names: Sequence[str]) -> float:
        """Bits are summed, not averaged, over attributes."""
        return 1.0

    def costs(self, taxonomy: Taxonomy, level: Partition, records: Floats) -> Floats:
        """log2 of the share that a value has of its group, negated, in bits."""
        group = np.bincount(level.groups, records)[level.groups]
        cost = np.zeros(len(records))
        some = records > 0
        cost[some] = np.log2(group[some] / records[some])
        return cost


@dataclass(frozen=True)
class Loss(AttributeWise):
    """The share of its domain that a released value leaves open, averaged over attributes.

    (values of the group - 1) / (values - 1), values being those that the hierarchy lists, else
    those that occur; for numbers under a rule of ranges (largest - smallest) / (the same of all)
    (Iyengar 2002; the normalized certainty penalty of Xu et al. 2006). 0 to 1.
    """

    name: ClassVar[str] = "loss"

    def costs(self, taxonomy: Taxonomy, level: Partition, records: Floats) -> Floats:
        """The share of the domain, shape (values,)."""
        numbers = _line(taxonomy)
        if numbers is None:
            extents, whole = np.bincount(level.groups) - 1.0, len(records) - 1.0
        else:
            low = np.full(len(level), np.inf)
            high = np.full(len(level), -np.inf)
            np.minimum.at(low, level.groups, numbers)
            np.maximum.at(high, level.groups, numbers)
            extents, whole = high - low, float(np.ptp(numbers))
        return np.asarray(extents[level.groups] / whole) if whole else np.zeros(len(records))


@dataclass(frozen=True)
class Precision(AttributeWise):
    """1 less the mean height a value is generalized to, as a share of its hierarchy's height.

    Sweeney (2002). 0 to 1.
    """

    name: ClassVar[str] = "precision"

    def costs(self, taxonomy: Taxonomy, level: Partition, records: Floats) -> Floats:
        """Level / height, the same for all values."""
        at = next(i for i, candidate in enumerate(taxonomy.levels) if candidate is level)
        return np.full(len(records), at / taxonomy.height if taxonomy.height else 0.0)

    def stated(self, score: float, records: int) -> float:
        """The precision."""
        return 1 + score


@dataclass(frozen=True)
class Column:
    """What the groups of one attribute cost.

    Parameters
    ----------
    codes
        The value code of each raw class, shape (classes,).
    extra
        For each level what suppressing a value costs beyond it, shape (values,).
    totals
        For each level the cost of all records together.
    """

    codes: Codes
    extra: Sequence[Floats]
    totals: Sequence[float]


@dataclass(frozen=True, eq=False)
class Tabulated(Objective):
    """An attribute-wise objective with the costs of one table filled in."""

    levels_only: ClassVar[bool] = True

    asked: AttributeWise
    columns: tuple[Column, ...]
    records: int

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of what was asked for."""
        return self.asked.name

    def of_levels(self, node: Sequence[int]) -> float:
        """The score of a node without suppression."""
        costs = [column.totals[level] for column, level in zip(self.columns, node, strict=True)]
        return -sum(costs) / self.records

    def of_all_levels(self) -> Floats:
        """The same for every node of the lattice, an axis per attribute."""
        totals = [np.array(column.totals) for column in self.columns]
        return np.asarray(-reduce(np.add.outer, totals) / self.records)

    def score(self, candidate: Candidate) -> float:
        """The score with every suppressed value costing what its attribute's last level does."""
        score = self.of_levels(candidate.node)
        marks = candidate.suppressed
        if marks is None:
            return score
        members, sizes = candidate.classes.members[marks], candidate.hidden[:, -1]
        extra = 0.0
        for column, level in zip(self.columns, candidate.node, strict=True):
            extra += float(sizes @ column.extra[level][column.codes[members]])
        return score - extra / self.records

    def stated(self, score: float, records: int) -> float:
        """As the objective asked for states it."""
        return self.asked.stated(score, records)


OBJECTIVES: Mapping[str, type[Objective]] = {
    kind.name: kind
    for kind in (
        MutualInformation,
        NonUniformEntropy,
        Loss,
        Discernibility,
        AverageClassSize,
        Precision,
    )
}
"""What a study file calls each objective; the first is the default."""


def objective_of(name: str, weights: Weights | None = None) -> Objective:
    """The objective of a name and weights.

    Raises
    ------
    InputError
        When there is no such objective, it has no weights, or a weight is no number of at least 0.
    """
    if name not in OBJECTIVES:
        hint = did_you_mean(str(name), OBJECTIVES) or f"; known are {', '.join(OBJECTIVES)}"
        raise InputError(f"objective {name!r} is unknown{hint}")
    kind = OBJECTIVES[name]
    if not weights:
        return kind()
    if kind.weighs is None:
        raise InputError(f"the objective {name} is about whole classes and has no weights")
    return kind(weights=weights)  # type: ignore[call-arg]


def _require_weights(weights: object) -> None:
    """Require a number of at least 0 for every attribute that is weighed."""
    if not isinstance(weights, Mapping):
        raise InputError(f"weights must map attributes to numbers, not be {weights!r}")
    for attribute, weight in weights.items():
        number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not number or not 0 <= float(weight) < float("inf"):
            raise InputError(f"weight of {attribute!r} must be a number of at least 0")


def _require_known(objective: MutualInformation | AttributeWise, known: Iterable[str]) -> None:
    """Refuse a weight of an attribute that the objective is not about."""
    names = list(known)
    for attribute in objective.weights:
        if attribute not in names:
            hint = did_you_mean(str(attribute), names)
            raise InputError(
                f"the objective weighs {attribute!r}, which is no {objective.weighs}{hint}"
            )


def _line(taxonomy: Taxonomy) -> Floats | None:
    """How far each value lies above the least, where distances mean something, shape (values,).

    The differences are exact, whatever the numbers are.
    """
    if not taxonomy.ordered or taxonomy.listed or taxonomy.numbers is None:
        return None
    numbers = [number for number in taxonomy.numbers if number is not None]
    if len(numbers) < len(taxonomy.numbers):
        return None
    least = min(numbers)
    with exactly():
        return np.array([float(number - least) for number in numbers])
