"""How classes of their own are chosen: boxes, or merged cells; and what is said of the choice."""

from collections.abc import Collection
from dataclasses import replace
from math import inf

from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import InputError, PolicyUnreachableError, require_one_of
from anonymizer.objectives.candidate import Layout
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding import REFINEMENTS, Bounds, Problem, RangeOptions, Run, with_large_classes
from anonymizer.recoding.boxes import best_boxes
from anonymizer.recoding.merged_cells import MergeOptions, merge_cells
from anonymizer.recoding.merged_cells.initial import InitialCells
from anonymizer.recoding.problem.priced import Priced
from anonymizer.recoding.result import SearchResult

__all__ = ["best_regions"]

Choice = tuple[Regions, SearchResult]


def best_regions(
    recoding: str,
    problem: Problem,
    ranges: Collection[str],
    options: RangeOptions,
    bounds: Bounds,
    search: object,
    refinement: object,
    seed: int,
    run: Run,
) -> Choice:
    """The best classes of their own, boxes or merged cells.

    Raises
    ------
    PolicyUnreachableError
        When not even everything in one class satisfies the policy.
    InputError
        When something is asked that they cannot do.
    """
    _require_nothing_else(recoding, problem, search, refinement, options)
    problem.objective.worth(Layout.of(problem.counts))  # refuses one of levels alone
    if recoding == "boxes":
        return _boxed(problem, ranges, options, bounds, refinement == "exact", run)
    return _merged(problem, ranges, options, bounds, seed, run)


def _require_nothing_else(
    recoding: str, problem: Problem, search: object, refinement: object, options: RangeOptions
) -> None:
    """Refuse what is stated for other recodings than those whose classes have their own groups."""
    if problem.suppression.share:
        raise InputError(
            "suppression is for full-domain recoding; leave it out, or choose "
            'recoding = "full-domain"'
        )
    if search != "automatic":
        raise InputError(f"a strategy searches levels, and {recoding} have none; leave it out")
    if options.max_ranges is not None:
        raise InputError(f"max-ranges is not for {recoding}; state max-classes")
    known = REFINEMENTS if recoding == "boxes" else ("exact",)
    require_one_of("refinement", refinement, tuple(known))


def _boxed(
    problem: Problem,
    ranges: Collection[str],
    options: RangeOptions,
    bounds: Bounds,
    exact: bool,
    run: Run,
) -> Choice:
    """The best boxes: a range or a set of values of every attribute, each class its own."""
    confined = with_large_classes(problem, bounds)
    found = best_boxes(confined, ranges, options, bounds, exact=exact, run=run)
    if found is None:
        raise _unreachable(problem, bounds)
    score = problem.objective(found.counts)
    said = _said(problem, found.strategy, score, score + found.lead, found.trees)
    return found.regions, said


def _merged(
    problem: Problem,
    ranges: Collection[str],
    options: RangeOptions,
    bounds: Bounds,
    seed: int,
    run: Run,
) -> Choice:
    """The best merged cells: a class is any set of combinations of values."""
    deadline = run.deadline()
    confined = with_large_classes(problem, bounds)
    if bounds.min_gain:
        initial = InitialCells.boxes(problem, ranges, options, bounds.min_gain, run)
        confined = replace(confined, objective=Priced(problem.objective, bounds.min_gain))
    else:
        initial = InitialCells.cells(problem, ranges, options)
    run = run.until(deadline)
    try:
        found = merge_cells(initial.problem(confined), MergeOptions(bounds.max_classes), seed, run)
    except PolicyUnreachableError:
        raise _unreachable(problem, bounds) from None
    regions = initial.regions(problem, found.labels)
    score = problem.objective(problem.counts.recode(regions))
    return regions, _said(problem, "merging", score, inf, found.starts)


def _said(problem: Problem, strategy: str, score: float, most: float, tries: int) -> SearchResult:
    """What is said of a search beyond the lattice; ``most``: what no other can score more than."""

    def stated(score: float) -> float:
        return problem.objective.stated(score, problem.counts.records)

    known = most < inf
    return SearchResult(
        strategy=strategy,
        objective=problem.objective.name,
        value=stated(score),
        gap=abs(stated(most) - stated(score)) if known else None,
        nodes=0,
        checked=tries,
        feasible=None,
        minimal=None,
        refinements=0,
        proven=known and most <= score + TOLERANCE,
        bound=stated(most) if known else None,
    )


def _unreachable(problem: Problem, bounds: Bounds) -> PolicyUnreachableError:
    names = ", ".join(model.name for model in problem.models)
    return PolicyUnreachableError(
        f"not even all records as one class satisfy all of {names}{bounds.told}; relax one"
    )
