"""How ranges are cut and what comes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from anonymizer.counts import Counts, Recoding
from anonymizer.errors import InputError
from anonymizer.hierarchy import Partition
from anonymizer.objectives import Objective
from anonymizer.privacy import TOLERANCE
from anonymizer.search.problem import Problem
from anonymizer.search.ranges import heuristic_ranges, level_ranges, optimal_ranges
from anonymizer.search.segments import RangeOptions, Segments

__all__ = ["REFINEMENTS", "Cutting", "Refined", "Refiner", "cut_exactly", "cut_heuristically"]

Cutting = Callable[[Segments, RangeOptions], Sequence[int] | None]


def cut_exactly(segments: Segments, options: RangeOptions) -> Sequence[int] | None:
    """The best cuts, by dynamic programming."""
    return optimal_ranges(segments, options.max_ranges)


def cut_heuristically(segments: Segments, options: RangeOptions) -> Sequence[int] | None:
    """The cuts that the heuristic of Bezzi (2010) reaches from the first level.

    Raises
    ------
    InputError
        When the number or the width of the ranges is confined: the heuristic knows neither.
    """
    if options.max_ranges is not None or options.min_width is not None:
        raise InputError("the heuristic refinement can be confined by a grid alone; use 'exact'")
    return heuristic_ranges(segments, level_ranges(segments, 1))


REFINEMENTS: Mapping[str, Cutting] = {
    "exact": cut_exactly,
    "heuristic": cut_heuristically,
}
"""What a study file calls each way to cut; the first is the default."""


@dataclass(frozen=True, eq=False)
class Refiner:
    """What a refinement maximises, what its ranges are confined to, and how they are cut."""

    objective: Objective
    options: RangeOptions = RangeOptions()  # noqa: RUF009 (frozen)
    cutting: Cutting = cut_exactly

    def __call__(self, problem: Problem, attribute: str, others: Recoding) -> "Refined":
        """Cut one attribute, the others recoded as given; suppress it where no cut is allowed."""
        counts = problem.counts.recode(others)
        partition = self.partition(self.segments(problem, counts, attribute))
        return self.refined(counts, {**others, attribute: partition})

    def segments(self, problem: Problem, counts: Counts, attribute: str) -> Segments:
        """All ranges of an attribute that is raw in the counts."""
        return Segments.of(problem, counts, attribute, self.objective, self.options)

    def partition(self, segments: Segments) -> Partition:
        """The ranges of one attribute, or its suppression where no cut is allowed."""
        cuts = self.cutting(segments, self.options) if len(segments) else None
        return segments.taxonomy.levels[-1] if cuts is None else segments.partition(cuts)

    def refined(self, counts: Counts, recoding: Recoding) -> "Refined":
        """What a recoding makes of counts."""
        merged = counts.recode(recoding)
        return Refined(
            {name: recoding[name] for name in counts.names},
            self.objective(merged),
            merged,
            refinements=1,
            checked=0,
            proven=self.cutting is cut_exactly,
        )


@dataclass(frozen=True, eq=False)
class Refined:
    """A recoding with ranges of its own for some attributes, levels for the others.

    Parameters
    ----------
    recoding
        The partition of every quasi-identifier, in their order.
    value
        The objective.
    counts
        What the recoding leaves.
    refinements
        How many times ranges were cut.
    checked
        How many nodes of the others' lattice were checked on the way.
    proven
        Whether no other ranges and levels are better.
    """

    recoding: Mapping[str, Partition]
    value: float
    counts: Counts
    refinements: int
    checked: int
    proven: bool = False

    def or_better(self, other: "Refined") -> "Refined":
        """The one of the higher objective; among ties the one of more classes, then this one."""
        if abs(self.value - other.value) <= TOLERANCE:
            return other if len(other.counts) > len(self.counts) else self
        return other if other.value > self.value else self

    @classmethod
    def among(cls, found: Sequence["Refined"]) -> "Refined":
        """The best of some local optima, with the work that went into all; not proven."""
        return replace(
            reduce(cls.or_better, found),
            refinements=sum(each.refinements for each in found),
            checked=sum(each.checked for each in found),
            proven=False,
        )
