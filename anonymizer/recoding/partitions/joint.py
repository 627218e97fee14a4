"""The joint search: partitions of all attributes together."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import inf
from time import monotonic

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.privacy import TOLERANCE, require_class_by_class, require_monotone
from anonymizer.recoding.full_domain.frontier import automatic
from anonymizer.recoding.partitions.ascent import refine_by_ascent
from anonymizer.recoding.partitions.families import Intervals
from anonymizer.recoding.partitions.pair import best_pair
from anonymizer.recoding.partitions.refine import Refined, Refiner
from anonymizer.recoding.partitions.segments import Segments
from anonymizer.recoding.partitions.split import Split, split
from anonymizer.recoding.partitions.tiles import Side, Tiles
from anonymizer.recoding.problem.problem import ALONE, Problem, Run, Search


def refine_jointly(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    search: Search = automatic,
    run: Run = ALONE,
) -> Refined:
    """Find the best partitions of all attributes together, ranges for the given ones.

    Two attributes are cut together at their best next to every recoding of the others, so that the
    result is the proven optimum. Where there are too many of these, or time is up before, it is the
    best of what was found and of many local optima: of coordinate ascent from every attribute cut
    alone and from every node of the lattice's frontier.

    Raises
    ------
    InputError
        When a model is not monotone, or is not about single classes.
    """
    deadline = run.deadline()
    exact = refine_exactly(problem, attributes, refiner, search, run)
    if exact is not None and (exact.proven or not refiner.exact or monotonic() > deadline):
        return exact
    climbed = refine_by_ascent(problem, attributes, refiner, search, run.until(deadline))
    return climbed if exact is None else Refined.among([exact, climbed])


def refine_exactly(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    search: Search = automatic,
    run: Run = ALONE,
) -> Refined | None:
    """The best partitions of all attributes; None where they have too many.

    Not proven where two attributes have too many groups to be cut together, and where time is up
    first. Refuses the models that ``refine_jointly`` refuses.
    """
    require_monotone(problem.models, refiner.name)
    require_class_by_class(problem.models, refiner.name)
    deadline = run.deadline()
    families = refiner.families(problem, attributes)
    parts = split(problem, families, refiner, search, run)
    return None if parts is None else _next_to_all(problem, parts, refiner, run, deadline)


def _next_to_all(
    problem: Problem, parts: Split, refiner: Refiner, run: Run, deadline: float
) -> Refined:
    """Cut the attributes that are cut together next to every recoding of the others.

    In falling order of what is possible next to it; the search ends at the first recoding whose
    limit is below the best value found. Ties: more classes, then the earliest recoding.
    """
    limits = [refiner.most(problem.counts, others) for others in parts.others]
    order = sorted(range(len(limits)), key=lambda place: (-limits[place], place))
    found: dict[int, Refined] = {}
    top = -inf
    for done, place in enumerate(order):
        if limits[place] < top - TOLERANCE or (found and monotonic() > deadline):
            break  # limits fall, so that no later recoding has a better one either
        run.watch("cutting attributes together", done, len(order))
        found[place] = _cut(problem, parts, refiner, parts.others[place], top - TOLERANCE)
        top = max(top, found[place].value)
    tied = [place for place, refined in found.items() if refined.value >= top - TOLERANCE]
    best = found[min(tied, key=lambda place: (-found[place].classes, place))]
    unsure = (limits[place] for place in order if place not in found or not found[place].proven)
    bound = max([top, *unsure])
    proven = refiner.exact and bound <= top + TOLERANCE
    return replace(
        best,
        refinements=len(found),
        checked=parts.checked,
        proven=proven,
        bound=best.value if proven else bound,
    )


def _cut(
    problem: Problem, parts: Split, refiner: Refiner, others: Partitions, floor: float
) -> Refined:
    """Cut none, one or two attributes, the others recoded as given."""
    if not parts.together:
        return refiner.refined(problem.counts, others)
    if len(parts.together) == 1:
        return refiner(problem, parts.together[0], others)
    return _cut_pair(problem, parts.together, refiner, others, floor)


def _cut_pair(
    problem: Problem, pair: Sequence[Intervals], refiner: Refiner, others: Partitions, floor: float
) -> Refined:
    """Cut two attributes together, or one where no cut of the other is allowed.

    Where suppression joins missing values to the rest, which no range does, either attribute
    alone, the other suppressed, is held against both.
    """
    counts = problem.counts.recode(others)
    found: list[Refined] = []
    judged: list[Segments] = []
    for family, other in zip(pair, reversed(pair), strict=True):
        hidden = {other.attribute: other.taxonomy.levels[-1]}
        merged = counts.recode(hidden)
        judged.append(refiner.segments(problem, merged, family))
        found.append(refiner.best(merged, {**others, **hidden}, judged[-1]))
    together, proven = _cut_together(problem, refiner, counts, judged, pair, floor)
    if together:
        found.insert(0, refiner.refined(counts, {**others, **together}))
    return replace(reduce(Refined.or_better, found), proven=proven)


def _cut_together(
    problem: Problem,
    refiner: Refiner,
    counts: Counts,
    judged: Sequence[Segments],
    pair: Sequence[Intervals],
    floor: float,
) -> tuple[Partitions | None, bool]:
    """The best partitions of both of two attributes, if any, and whether that is proven.

    The one of more groups makes the rows, since columns are what is searched.
    """
    if any(each.ungrouped is None for each in judged):
        return None, True
    sides = [
        Side(family, family.chain(each.allowed)) for family, each in zip(pair, judged, strict=True)
    ]
    rows, columns = sorted(sides, key=lambda side: (-len(side.chain), side.family.attribute))
    tiles = Tiles.of(refiner.judge(problem), counts, rows, columns)
    if tiles is None:
        return None, False
    cuts = best_pair(tiles, floor)
    if cuts is None:
        return None, True
    partitions = {
        side.family.attribute: side.family.partition(path)
        for side, path in ((rows, cuts.rows), (columns, cuts.columns))
    }
    return partitions, cuts.proven
