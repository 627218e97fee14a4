"""The joint search: ranges of an ordered attribute over all levels of the other attributes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf

from anonymizer.counts import Counts, Recoding
from anonymizer.errors import InputError
from anonymizer.hierarchy import Partition
from anonymizer.lattice import Node, level_recoding
from anonymizer.objectives import Objective
from anonymizer.privacy import TOLERANCE, require_monotone
from anonymizer.search.frontier import frontier
from anonymizer.search.problem import ALONE, Problem, Run, Search
from anonymizer.search.ranges import heuristic_ranges, level_ranges, optimal_ranges
from anonymizer.search.segments import RangeOptions, Segments

__all__ = ["REFINEMENTS", "Cutting", "Refined", "Refiner", "refine_jointly", "refine_one"]

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
        segments = Segments.of(problem, counts, attribute, self.objective, self.options)
        cuts = self.cutting(segments, self.options) if len(segments) else None
        suppressed = problem.taxonomies[attribute].levels[-1]
        partition = suppressed if cuts is None else segments.partition(cuts)
        recoding = {**others, attribute: partition}
        merged = counts.recode({attribute: partition})
        ordered = {name: recoding[name] for name in problem.counts.names}
        return Refined(ordered, self.objective(merged), merged, refinements=1, checked=0)


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


def refine_jointly(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    search: Search = frontier,
    run: Run = ALONE,
) -> Refined:
    """Find the best ranges of the given attributes together with levels of the others.

    For one attribute the result is the proven optimum over all its partitions into ranges and all
    levels of the others. For several, each is refined so, the others at levels; from the best of
    these every attribute in turn is cut again with the others held, until none gains: a local
    optimum, not proven.
    """
    found = [refine_one(problem, name, refiner, search, run) for name in attributes]
    best = reduce(Refined.or_better, found)
    if len(found) == 1:
        return best
    cut = sum(refined.refinements for refined in found)
    checked = sum(refined.checked for refined in found)
    start = replace(best, refinements=cut, checked=checked, proven=False)
    return _ascend(problem, attributes, refiner, start)


def refine_one(
    problem: Problem,
    attribute: str,
    refiner: Refiner,
    search: Search = frontier,
    run: Run = ALONE,
) -> Refined:
    """Find the best ranges of one attribute over all levels of the others.

    Two facts prune, both from monotone models and the data processing inequality:

    - levels of the others allow any ranges at all only if they are feasible with the attribute
      suppressed, since every partition into ranges merges into that one;
    - no ranges keep more than the raw attribute does beside the same levels. In falling order of
      that bound, the search ends at the first one below the best value found.

    Ties: more classes, then the lexicographically smallest levels.

    Raises
    ------
    InputError
        When a model is not monotone.
    """
    require_monotone(problem.models, "variable-range recoding")
    others = tuple(name for name in problem.counts.names if name != attribute)
    rest = problem.project(others)
    found_nodes = search(rest, run)
    nodes = rest.lattice.up_set(found_nodes.minimal)

    def levels(node: Node) -> Recoding:
        return level_recoding(problem.taxonomies, others, node)

    bounds = [(-refiner.objective(problem.counts.recode(levels(node))), node) for node in nodes]
    found: dict[Node, Refined] = {}
    top = -inf
    for bound, node in sorted(bounds):
        if -bound < top - TOLERANCE:
            break
        found[node] = refiner(problem, attribute, levels(node))
        top = max(top, found[node].value)
    tied = [node for node, refined in found.items() if refined.value >= top - TOLERANCE]
    best = found[min(tied, key=lambda node: (-len(found[node].counts), node))]
    exact = refiner.cutting is cut_exactly
    return replace(best, refinements=len(found), checked=found_nodes.checked, proven=exact)


def _ascend(
    problem: Problem, attributes: Sequence[str], refiner: Refiner, start: Refined
) -> Refined:
    """Cut every attribute in turn with the others held, until none gains."""
    best, cut, gained = start, start.refinements, True
    while gained:
        gained = False
        for attribute in attributes:
            held = {name: p for name, p in best.recoding.items() if name != attribute}
            refined = refiner(problem, attribute, held)
            cut += 1
            if refined.value > best.value + TOLERANCE:
                best, gained = refined, True
    return replace(best, refinements=cut, checked=start.checked)
