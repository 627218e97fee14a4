"""Objectives of single attributes: what the group costs that each value is released as."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import ClassVar

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.errors import require_one_of
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.kernels.arrays import Codes, Floats
from anonymizer.objectives.base import Objective, Weights, require_known, require_weights
from anonymizer.objectives.candidate import Budget, Candidate
from anonymizer.tables.values import exactly

AGGREGATES = ("arithmetic-mean", "geometric-mean")


@dataclass(frozen=True)
class AttributeWise(Objective):
    """Weighted sum over attributes of the cost of each value's group, averaged over records.

    Subclasses say what a group costs, and on which scale the attributes' means are summed. Depends
    on levels alone while nothing is suppressed. ``weights`` are by quasi-identifier, 1 for those
    left out.
    """

    levels_only: ClassVar[bool] = True
    weighs: ClassVar[str | None] = "quasi-identifier"
    averaged: ClassVar[bool] = True  # or summed

    weights: Weights = field(default_factory=dict)

    def __init_subclass__(cls, **options: object) -> None:
        """Set the slope of a subclass with a scale of its own to 0, the only one surely right."""
        super().__init_subclass__(**options)
        if vars(cls).keys() & {"scaled", "unscaled"} and "slope" not in vars(cls):
            cls.slope = 0.0  # type: ignore[assignment, method-assign]

    def __post_init__(self) -> None:
        require_weights(self.weights)

    def prepared(self, counts: Counts, taxonomies: Mapping[str, Taxonomy]) -> "Tabulated":
        """Tabulate the cost of every group of every level."""
        require_known(self, self.weights, counts.names)
        weights = np.array([self.weights.get(name, 1.0) for name in counts.names], float)
        extra, totals = [], []
        for name, codes in zip(counts.names, counts.cells.T, strict=True):
            levels = taxonomies[name].levels
            records = np.bincount(codes, counts.sizes, len(levels[0].groups)).astype(float)
            costs = [self.costs(taxonomies[name], level, records) for level in levels]
            extra.append([costs[-1] - cost for cost in costs])
            totals.append(np.array([cost @ records for cost in costs]))
        if self.averaged:
            weights /= sum(weights.tolist()) or 1.0
        return Tabulated(self, weights, counts.cells.copy(), extra, totals, counts.records)

    @abstractmethod
    def costs(self, taxonomy: Taxonomy, level: Partition, records: Floats) -> Floats:
        """Cost of each value at a level, shape (values,); ``records`` have each value."""

    def scaled(self, mean: Floats) -> Floats:
        """Put an attribute's mean cost on the scale of the sum; rises with it."""
        return mean

    def unscaled(self, weighted: Floats) -> Floats:
        """Bring the weighted sum back from that scale."""
        return weighted

    @property
    def slope(self) -> float:
        """Least rise of the figure where the weighted sum of means rises by 1."""
        return 1.0

    def score(self, candidate: Candidate) -> float:
        """Scores take a table: see ``prepared``."""
        raise TypeError("prepare the objective for a table first")


@dataclass(frozen=True)
class NonUniformEntropy(AttributeWise):
    """Bits per record that separate each original value from the others of its group.

    Sum over attributes of H(X_i | X~_i), both as they are distributed in the original table
    (de Waal, Willenborg 1999; Gionis, Tassa 2009); a suppressed value costs as if its group were
    all values.
    """

    name: ClassVar[str] = "non-uniform-entropy"
    averaged: ClassVar[bool] = False

    def costs(self, taxonomy: Taxonomy, level: Partition, records: Floats) -> Floats:
        """log2 of the share that a value has of its group, negated, in bits.

        One that no record has, only a population, stands for its group all the same: as if it had
        one, its cost rises from level to level by what those of the group's others do.
        """
        group = np.bincount(level.groups, records)[level.groups]
        return np.asarray(np.log2(np.maximum(group, 1) / np.maximum(records, 1)))


@dataclass(frozen=True)
class Loss(AttributeWise):
    """The share of its domain that a released value leaves open, averaged over attributes.

    (values of the group - 1) / (values - 1), values being those that the hierarchy lists, else
    those that occur; for numbers under a rule of ranges (largest - smallest) / (the same of all)
    (Iyengar 2002; the normalized certainty penalty of Xu et al. 2006). 0 to 1.

    Parameters
    ----------
    aggregate
        Of the mean losses L_i of the attributes: their ``"arithmetic-mean"``, or the
        ``"geometric-mean"`` of 1 + L_i, less 1, which is what ARX minimizes.
    """

    name: ClassVar[str] = "loss"

    aggregate: str = "arithmetic-mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("aggregate", self.aggregate, AGGREGATES)

    def scaled(self, mean: Floats) -> Floats:
        """The mean itself, or log(1 + mean)."""
        return np.log1p(mean) if self.aggregate == "geometric-mean" else mean

    def unscaled(self, weighted: Floats) -> Floats:
        """The mean itself, or exp(mean) - 1."""
        return np.expm1(weighted) if self.aggregate == "geometric-mean" else weighted

    @property
    def slope(self) -> float:
        """1, or 1 / 2: d prod (1 + L_i)^w_i / d L_i = w_i prod (1 + L_j)^w_j / (1 + L_i)."""
        return 0.5 if self.aggregate == "geometric-mean" else 1.0

    def costs(self, taxonomy: Taxonomy, level: Partition, records: Floats) -> Floats:
        """The share of the domain, shape (values,)."""
        numbers = places_of(taxonomy)
        if numbers is None:
            extents, whole = np.bincount(level.groups) - 1.0, len(records) - 1.0
        else:
            # The extent of a group is that of its values; its label may reach further.
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
        # Identity: two levels may be equal partitions, and then differ in height alone.
        at = next(i for i, candidate in enumerate(taxonomy.levels) if candidate is level)
        return np.full(len(records), at / taxonomy.height if taxonomy.height else 0.0)

    def quantity(self, score: float, records: int) -> float:
        """The precision."""
        return 1 + score


@dataclass(frozen=True, eq=False)
class Tabulated(Objective):
    """Attribute-wise objective with the costs of one table filled in.

    ``weights`` (attributes,) are shares, ``cells`` (classes, attributes) the value codes of the raw
    classes. For each attribute ``extra`` has by level what suppressing a value costs beyond it,
    shape (values,), and ``totals`` (levels,) the cost of all records together.
    """

    levels_only: ClassVar[bool] = True

    objective: AttributeWise
    weights: Floats
    cells: Codes
    extra: Sequence[Sequence[Floats]]
    totals: Sequence[Floats]
    records: int

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the objective."""
        return self.objective.name

    def of_levels(self, node: Sequence[int]) -> float:
        """The score of a node without suppression."""
        return self._of(self._totals(node))

    def of_all_levels(self) -> Floats:
        """Score of every node of the lattice without suppression, an axis per attribute."""
        scaled = [self.objective.scaled(totals / self.records) for totals in self.totals]
        terms = [weight * own for weight, own in zip(self.weights, scaled, strict=True)]
        return np.asarray(-self.objective.unscaled(reduce(np.add.outer, terms)))

    def toll(self, node: Sequence[int], budget: Budget) -> float:
        """Least additional cost of a record that is suppressed."""
        each = [tolls[level] for tolls, level in zip(self._tolls, node, strict=True)]
        return float(sum(each))

    def tolls(self) -> Floats:
        """Toll of every node of the lattice, an axis per attribute."""
        return np.asarray(reduce(np.add.outer, self._tolls))

    @cached_property
    def _tolls(self) -> Sequence[Floats]:
        """Share of every attribute in the toll by its level, shape (levels,) each."""
        occurring = [np.unique(codes) for codes in self.cells.T]
        scale = self.objective.slope / self.records
        return [
            scale * weight * np.array([cost[codes].min() for cost in extra])
            for weight, extra, codes in zip(self.weights, self.extra, occurring, strict=True)
        ]

    def score(self, candidate: Candidate) -> float:
        """Score of a node; a suppressed value costs what its attribute's last level does."""
        totals = self._totals(candidate.node)
        marks = candidate.suppressed
        if marks is not None:
            cells, sizes = self.cells[candidate.classes.members[marks]], candidate.hidden.sizes
            for i, level in enumerate(candidate.node):
                # Summed, not by BLAS: its threads wait for each other on a machine that is busy.
                totals[i] += (sizes * self.extra[i][level][cells[:, i]]).sum()
        return self._of(totals)

    def quantity(self, score: float, records: int) -> float:
        """The objective's own figure."""
        return self.objective.quantity(score, records)

    def _totals(self, node: Sequence[int]) -> Floats:
        """Cost of all records at a node, shape (attributes,)."""
        return np.array([totals[level] for totals, level in zip(self.totals, node, strict=True)])

    def _of(self, totals: Floats) -> float:
        terms = self.weights * self.objective.scaled(totals / self.records)
        return -float(self.objective.unscaled(terms.sum()))


def places_of(taxonomy: Taxonomy) -> Floats | None:
    """Distance of each value from the least, where distances mean something, shape (values,).

    The differences are exact, whatever the numbers are.
    """
    if not taxonomy.ordered or taxonomy.listed.any() or taxonomy.numbers is None:
        return None
    numbers = [number for number in taxonomy.numbers if number is not None]
    if len(numbers) < len(taxonomy.numbers):
        return None
    least = min(numbers)
    with exactly():
        return np.array([float(number - least) for number in numbers])
