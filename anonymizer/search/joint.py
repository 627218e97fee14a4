"""The joint search: ranges of ordered attributes over all levels of the other attributes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from math import inf

from anonymizer.counts import Counts, Recoding
from anonymizer.lattice import Node, level_recoding
from anonymizer.objectives import Objective
from anonymizer.privacy import TOLERANCE, require_class_by_class, require_monotone
from anonymizer.search.ascent import ascend
from anonymizer.search.frontier import automatic
from anonymizer.search.pair import best_pair
from anonymizer.search.problem import ALONE, Problem, Run, Search
from anonymizer.search.refiner import Refined, Refiner, cut_exactly
from anonymizer.search.segments import Judge, Segments
from anonymizer.search.tiles import Tiles

__all__ = ["refine_jointly", "refine_one", "refine_two"]


def refine_jointly(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    search: Search = automatic,
    run: Run = ALONE,
) -> Refined:
    """Find the best ranges of the given attributes together with levels of the others.

    For one attribute, and for two that are cut exactly, the result is the proven optimum over all
    their partitions into ranges and all levels of the others. For more, or where two have too
    many ranges for that, it is the best of many local optima: of coordinate ascent from every
    node of the lattice's frontier and from every attribute refined alone.
    """
    if len(attributes) == 1:
        return refine_one(problem, attributes[0], refiner, search, run)
    if len(attributes) > 2 or refiner.cutting is not cut_exactly:
        return _refine_by_ascent(problem, attributes, refiner, search, run)
    both = refine_two(problem, attributes, refiner, search, run)
    if both.proven:
        return both
    return Refined.among([both, _refine_by_ascent(problem, attributes, refiner, search, run)])


def refine_one(
    problem: Problem,
    attribute: str,
    refiner: Refiner,
    search: Search = automatic,
    run: Run = ALONE,
) -> Refined:
    """Find the best ranges of one attribute over all levels of the others.

    Raises
    ------
    InputError
        When a model is not monotone.
    """

    def cut(others: Recoding, floor: float) -> Refined:
        return refiner(problem, attribute, others)

    return _over_levels(problem, (attribute,), refiner.objective, cut, search, run)


def refine_two(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    search: Search = automatic,
    run: Run = ALONE,
) -> Refined:
    """Find the best ranges of two attributes together over all levels of the others.

    Raises
    ------
    InputError
        When a model is not monotone.
    """
    cut = partial(_cut_pair, problem, attributes, refiner)
    return _over_levels(problem, attributes, refiner.objective, cut, search, run)


def _refine_by_ascent(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    search: Search,
    run: Run,
) -> Refined:
    """Ascend from every node of the frontier and from every attribute refined alone."""
    alone = [refine_one(problem, name, refiner, search, run) for name in attributes]
    searched = search(problem, run)
    nodes = [
        refiner.refined(problem.counts, level_recoding(problem.taxonomies, problem.counts.names, n))
        for n in searched.minimal
    ]
    starts = [*alone, *(replace(node, refinements=0) for node in nodes)]
    best = ascend(problem, attributes, refiner, starts, run.n_jobs)
    return replace(best, checked=best.checked + searched.checked)


def _over_levels(
    problem: Problem,
    attributes: Sequence[str],
    objective: Objective,
    cut: Callable[[Recoding, float], Refined],
    search: Search,
    run: Run,
) -> Refined:
    """Cut attributes over all levels of the others.

    ``cut`` is given the levels and a value below which nothing is asked for. Two facts prune,
    both from monotone models and the data processing inequality:

    - levels of the others allow any ranges at all only if they are feasible with the attributes
      suppressed, since every partition into ranges merges into that one;
    - no ranges keep more than the raw attributes do beside the same levels. In falling order of
      that bound, the search ends at the first one below the best value found.

    Ties: more classes, then the lexicographically smallest levels.
    """
    require_monotone(problem.models, "variable-range recoding")
    require_class_by_class(problem.models, "variable-range recoding")
    others = tuple(name for name in problem.counts.names if name not in attributes)
    rest = problem.project(others)
    searched = search(rest, run)
    nodes = rest.lattice.up_set(searched.minimal)

    def levels(node: Node) -> Recoding:
        return level_recoding(problem.taxonomies, others, node)

    bounds = [(-objective(problem.counts.recode(levels(node))), node) for node in nodes]
    found: dict[Node, Refined] = {}
    top = -inf
    for bound, node in sorted(bounds):
        if -bound < top - TOLERANCE:
            break
        found[node] = cut(levels(node), top - TOLERANCE)
        top = max(top, found[node].value)
    tied = [node for node, refined in found.items() if refined.value >= top - TOLERANCE]
    best = found[min(tied, key=lambda node: (-len(found[node].counts), node))]
    proven = all(each.proven for each in found.values())
    return replace(best, refinements=len(found), checked=searched.checked, proven=proven)


def _cut_pair(
    problem: Problem, pair: Sequence[str], refiner: Refiner, others: Recoding, floor: float
) -> Refined:
    """Cut two attributes together, or one where no cut of the other is allowed.

    Suppression joins missing values to the rest, which no single range does: either attribute
    alone, the other suppressed, is held against both.
    """
    counts = problem.counts.recode(others)
    hidden = {name: problem.taxonomies[name].levels[-1] for name in pair}
    judged = [
        refiner.segments(problem, counts.recode({other: hidden[other]}), name)
        for name, other in zip(pair, reversed(pair), strict=True)
    ]
    alone = [{**hidden, each.attribute: refiner.partition(each)} for each in judged]
    together, proven = _cut_together(problem, refiner, counts, judged, floor)
    found = [
        refiner.refined(counts, {**others, **ranges})
        for ranges in ([together] if together else []) + alone
    ]
    return replace(reduce(Refined.or_better, found), proven=proven)


def _cut_together(
    problem: Problem,
    refiner: Refiner,
    counts: Counts,
    judged: Sequence[Segments],
    floor: float,
) -> tuple[Recoding | None, bool]:
    """The best ranges for both of two attributes, if any, and whether that is proven.

    The one of more cut points makes the rows, since columns are what is searched.
    """
    if any(each.apart is None or not len(each) for each in judged):
        return None, True
    rows, columns = sorted(judged, key=lambda each: (-len(each), each.attribute))
    judge = Judge(problem.models, refiner.objective)
    tiles = Tiles.of(judge, counts, (rows, columns), refiner.options.max_ranges)
    if tiles is None:
        return None, False
    cuts = best_pair(tiles, floor)
    if cuts is None:
        return None, True
    ranges = {
        rows.attribute: rows.partition(cuts.rows),
        columns.attribute: columns.partition(cuts.columns),
    }
    return ranges, cuts.proven
