"""How attributes are cut and what comes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.errors import InputError
from anonymizer.hierarchy import Partition
from anonymizer.objectives import Objective
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding.partitions.bezzi_heuristic import heuristic_ranges
from anonymizer.recoding.partitions.cuts import Cuts, Levels
from anonymizer.recoding.partitions.families import Family, Path
from anonymizer.recoding.partitions.groupings import Subsets
from anonymizer.recoding.partitions.intervals import Line
from anonymizer.recoding.partitions.segments import Segments
from anonymizer.recoding.problem.class_scores import Judge
from anonymizer.recoding.problem.options import RangeOptions
from anonymizer.recoding.problem.priced import Priced
from anonymizer.recoding.problem.problem import Problem

__all__ = ["REFINEMENTS", "Cutting", "Refined", "Refiner", "cut_exactly", "cut_heuristically"]

Cutting = Callable[[Segments, Line], Path | None]
"""Chooses among the ranges of an ordered attribute, each judged."""


def cut_exactly(segments: Segments, line: Line) -> Path | None:
    """The best ranges, by dynamic programming."""
    return segments.best()


def cut_heuristically(segments: Segments, line: Line) -> Path | None:
    """The ranges that the heuristic of Bezzi (2010) reaches from the first level.

    Raises
    ------
    InputError
        When the number or the width of the ranges is confined: the heuristic knows neither.
    """
    if line.options.max_ranges is not None or line.options.min_width is not None:
        raise InputError("the heuristic refinement can be confined by a grid alone; use 'exact'")
    cuts = heuristic_ranges(segments, line) if line.blocks else None
    return None if cuts is None else line.path(cuts)


REFINEMENTS: Mapping[str, Cutting] = {
    "exact": cut_exactly,
    "heuristic": cut_heuristically,
}
"""What a study file calls each way to cut; the first is the default."""


@dataclass(frozen=True, eq=False)
class Refiner:
    """What is maximised, which partitions each attribute may have, and how ranges are cut.

    Parameters
    ----------
    objective
        What is maximised.
    options
        What ranges are confined to.
    cutting
        How ranges are chosen.
    cuts
        Attributes that get no ranges are cut through their taxonomies, not recoded to a level.
    group
        Attributes whose values are put together in any way.
    cost
        Of each class, in the objective's unit.
    """

    objective: Objective
    options: RangeOptions = RangeOptions()  # noqa: RUF009 (frozen)
    cutting: Cutting = cut_exactly
    cuts: bool = False
    group: Sequence[str] = ()
    cost: float = 0.0

    @property
    def name(self) -> str:
        """What a message calls it."""
        return "cut recoding" if self.cuts else "variable-range recoding"

    @property
    def exact(self) -> bool:
        """Whether ranges are cut at their best."""
        return self.cutting is cut_exactly

    @property
    def scoring(self) -> Objective:
        """The objective less what the classes cost."""
        return Priced(self.objective, self.cost) if self.cost else self.objective

    def families(self, problem: Problem, ranged: Sequence[str]) -> dict[str, Family]:
        """The partitions that each attribute may have; some get ranges."""
        return {name: self._family(problem, name, ranged) for name in problem.counts.names}

    def _family(self, problem: Problem, name: str, ranged: Sequence[str]) -> Family:
        taxonomy = problem.taxonomies[name]
        codes = problem.counts.cells[:, problem.counts.names.index(name)]
        if name in self.group:
            return Subsets.of(name, taxonomy, codes)
        if name in ranged:
            return Line.of(name, taxonomy, codes, self.options)
        return (Cuts if self.cuts else Levels).of(name, taxonomy, codes)

    def __call__(self, problem: Problem, family: Family, others: Partitions) -> "Refined":
        """Cut one attribute at its best, the others recoded as given."""
        counts = problem.counts.recode(others)
        segments = self.segments(problem, counts, family)
        return self.best(counts, others, [self.partition(segments), *family.beside], family)

    def best(
        self, counts: Counts, others: Partitions, partitions: Sequence[Partition], family: Family
    ) -> "Refined":
        """The best of some partitions of one attribute; ties: the first of them."""
        name = family.attribute
        found = [self.refined(counts, {**others, name: partition}) for partition in partitions]
        return reduce(Refined.or_better, found)

    def judge(self, problem: Problem) -> Judge:
        """What classes are judged by."""
        return Judge(problem.models, self.scoring)

    def segments(self, problem: Problem, counts: Counts, family: Family) -> Segments:
        """All groups of an attribute that is raw in the counts."""
        return Segments.of(self.judge(problem), counts, family)

    def partition(self, segments: Segments) -> Partition:
        """The best partition of one attribute, its suppression where none is allowed."""
        family = segments.family
        path = self.cutting(segments, family) if isinstance(family, Line) else segments.best()
        return segments.whole if path is None else family.partition(path)

    def refined(self, counts: Counts, recoding: Partitions) -> "Refined":
        """What a recoding makes of counts."""
        merged = counts.recode(recoding)
        return Refined(
            {name: recoding[name] for name in counts.names},
            self.scoring(merged),
            merged,
            refinements=1,
            checked=0,
            proven=self.exact,
        )

    def most(self, counts: Counts, classes: int) -> float:
        """The most that any recoding of some counts scores that leaves at least so many classes.

        What does not fall when classes merge bounds nothing.
        """
        return self.objective(counts) - self.cost * classes if self.objective.falls else inf


@dataclass(frozen=True, eq=False)
class Refined:
    """A recoding found by cutting.

    Parameters
    ----------
    recoding
        The partition of every quasi-identifier, in their order.
    value
        The objective, less what the classes cost.
    counts
        What the recoding leaves.
    refinements
        How many times an attribute, or two, were cut.
    checked
        How many nodes of the others' lattice were checked on the way.
    proven
        Whether no other recoding of its kind is better.
    bound
        What the value of no other can exceed; infinite where that is not known.
    """

    recoding: Mapping[str, Partition]
    value: float
    counts: Counts
    refinements: int
    checked: int
    proven: bool = False
    bound: float = inf

    @property
    def classes(self) -> int:
        """How many classes the recoding leaves."""
        return len(self.counts)

    def or_better(self, other: "Refined") -> "Refined":
        """The one of the higher value; among ties the one of more classes, then this one."""
        if abs(self.value - other.value) <= TOLERANCE:
            return other if len(other.counts) > len(self.counts) else self
        return other if other.value > self.value else self

    @classmethod
    def among(cls, found: Sequence["Refined"]) -> "Refined":
        """The best of some local optima, with the work that went into all; not proven."""
        best = reduce(cls.or_better, found)
        return replace(
            best,
            bound=max(best.value, min(each.bound for each in found)),
            refinements=sum(each.refinements for each in found),
            checked=sum(each.checked for each in found),
            proven=False,
        )
