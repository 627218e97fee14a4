"""The joint search: partitions of all attributes together, with a limit on classes.

Two attributes are cut together next to every recoding of the others (``refine_exactly``). Where
these are too many: coordinate ascent, attributes cut in turn, from many starts.

The best recoding of at most C classes comes by a price on each of them (``best_within``).
With a price that is high enough the best recoding has few classes. Whatever the price c, no
recoding of at most C classes has an objective above the best at that price plus c C (Lagrangian
duality). So the price is raised until the number of classes is met, and the least of these bounds
says how far the result is from the optimum: not at all where there are exactly C classes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from math import inf
from time import monotonic, time
from typing import TypeVar

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.hierarchy import Taxonomy
from anonymizer.privacy import (
    TOLERANCE,
    AverageReidentificationRisk,
    KAnonymity,
    require_class_by_class,
    require_monotone,
)
from anonymizer.recoding.apply import levels_of
from anonymizer.recoding.full_domain.frontier import automatic
from anonymizer.recoding.lattice import level_recoding
from anonymizer.recoding.partitions.families import Family, Intervals, Judge, Segments
from anonymizer.recoding.partitions.groups import Ranges, TaxonomyLevels
from anonymizer.recoding.partitions.refine import Refined, Refiner, Solution, Tiles, best_pair
from anonymizer.recoding.problem import ALONE, Bounds, Problem, Run, Search, in_parallel

MOST_COMBINATIONS = 1_000
"""Recodings of the other attributes beyond are not all looked at, levels alone apart."""


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
    alone and from every node of the lattice's frontier. InputError when a model is not monotone, or
    is not about single classes.
    """
    deadline = run.deadline()
    exact = refine_exactly(problem, attributes, refiner, search, run)
    if exact is not None and (exact.proven or not refiner.exact or monotonic() > deadline):
        return exact
    climbed = _refine_by_ascent(problem, attributes, refiner, search, run.until(deadline))
    return climbed if exact is None else Refined.among([exact, climbed])


def refine_exactly(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    search: Search = automatic,
    run: Run = ALONE,
) -> Refined | None:
    """Find the best partitions of all attributes; None where they have too many.

    Two attributes are cut together next to every recoding of the others, in falling order of what
    is possible next to it; the search ends at the first recoding whose limit is below the best
    value found. Ties: more classes, then the earliest recoding. Not proven where two attributes
    have too many groups to be cut together, and where time is up first. Refuses the models that
    ``refine_jointly`` refuses.
    """
    require_monotone(problem.models, refiner.name)
    require_class_by_class(problem.models, refiner.name)
    deadline = run.deadline()
    parts = _split(problem, refiner.families(problem, attributes), refiner, search, run)
    if parts is None:
        return None
    together, recodings, checked = parts
    if not recodings:
        return refiner.none(problem.counts, _hidden(problem))
    limits = [refiner.most(problem.counts, others) for others in recodings]
    order = sorted(range(len(limits)), key=lambda place: (-limits[place], place))
    found: dict[int, Refined] = {}
    top = -inf
    for done, place in enumerate(order):
        if limits[place] < top - TOLERANCE or (found and monotonic() > deadline):
            break  # limits fall, so that no later recoding has a better one either
        run.watch("cutting attributes together", done, len(order))
        found[place] = _cut(problem, together, refiner, recodings[place], top - TOLERANCE)
        top = max(top, found[place].value)
    tied = [place for place, refined in found.items() if refined.value >= top - TOLERANCE]
    best = found[min(tied, key=lambda place: (-found[place].classes, place))]
    # Nothing is known of recodings that were not cut, or not to the end, but their limits.
    unsure = (limits[place] for place in order if place not in found or not found[place].proven)
    bound = max([top, *unsure])
    proven = refiner.exact and bound <= top + TOLERANCE
    return replace(
        best,
        refinements=len(found),
        checked=checked,
        proven=proven,
        bound=best.value if proven else bound,
    )


def _hidden(problem: Problem) -> Partitions:
    return {name: problem.taxonomies[name].levels[-1] for name in problem.counts.names}


def _split(
    problem: Problem, families: Mapping[str, Family], refiner: Refiner, search: Search, run: Run
) -> tuple[Sequence[Intervals], Sequence[Partitions], int] | None:
    """Take apart the two attributes of most partitions; None where the rest has too many.

    Returns these, all recodings of the others that are feasible with the first suppressed, and how
    many nodes of their lattice were checked. A recoding of some attributes is looked at only if it
    is feasible with the others suppressed: models are monotone.
    """
    segments = {
        name: refiner.segments(problem, problem.counts.project((name,)), family)
        for name, family in families.items()
        if not isinstance(family, TaxonomyLevels)
    }
    together = _together(segments, refiner)
    if together is None:
        return None
    names = [family.attribute for family in together]
    listed = [segments[name] for name in sorted(segments) if name not in names]
    combined = _combined(problem, listed)
    at_levels = tuple(name for name in families if name not in segments)
    if combined is None:
        return None
    if not at_levels:
        return together, combined, 0
    projected = problem.project(at_levels)
    found = search(projected, run)
    nodes = projected.lattice.up_set(found.minimal)
    levels = [level_recoding(problem.taxonomies, at_levels, node) for node in nodes]
    if not listed:
        return together, levels, found.checked
    if len(levels) * len(combined) > MOST_COMBINATIONS:
        return None
    both = [{**level, **recoding} for level in levels for recoding in combined]
    return together, _feasible(problem, both), found.checked


def _together(segments: Mapping[str, Segments], refiner: Refiner) -> Sequence[Intervals] | None:
    """The attributes of most partitions, two at the most, one alone where it is not cut exactly."""
    families = [each.family for each in segments.values()]
    # The heuristic knows ranges of one attribute, and no others.
    if not refiner.exact:
        ranged = [family for family in families if isinstance(family, Ranges)]
        return ranged if len(ranged) == 1 else None
    ranked = sorted(
        (family for family in families if isinstance(family, Intervals)),
        key=lambda family: (
            -segments[family.attribute].count(MOST_COMBINATIONS),
            -len(family.starts),
            family.attribute,
        ),
    )
    return ranked[:2]


def _combined(problem: Problem, listed: Sequence[Segments]) -> list[Partitions] | None:
    """The feasible combinations of all partitions of some attributes; None when too many."""
    found: list[Partitions] = [{}]
    for segments in listed:
        if len(found) * segments.count(MOST_COMBINATIONS) > MOST_COMBINATIONS:
            return None
        name, partitions = segments.family.attribute, list(segments.partitions())
        found = _feasible(problem, [{**each, name: own} for each in found for own in partitions])
    return found


def _feasible(problem: Problem, recodings: Sequence[Partitions]) -> list[Partitions]:
    counts = problem.counts.project(tuple(recodings[0]) if recodings else ())
    return [each for each in recodings if problem.feasible(counts.recode(each))]


def _cut(
    problem: Problem,
    together: Sequence[Intervals],
    refiner: Refiner,
    others: Partitions,
    floor: float,
) -> Refined:
    """Cut none, one or two attributes, the others recoded as given.

    Of two, one alone where no cut of the other is allowed. Where suppression joins missing values
    to the rest, which no range does, either alone, the other suppressed, is held against both.
    """
    counts = problem.counts.recode(others)
    if not together:
        return refiner.refined(counts, others)
    if len(together) == 1:
        return refiner.best(counts, others, refiner.segments(problem, counts, together[0]))
    found: list[Refined] = []
    judged: list[Segments] = []
    for family, other in zip(together, reversed(together), strict=True):
        hidden = {other.attribute: other.taxonomy.levels[-1]}
        merged = counts.recode(hidden)
        judged.append(refiner.segments(problem, merged, family))
        if other.suppression:
            found.append(refiner.best(merged, {**others, **hidden}, judged[-1]))
    cut, proven = _cut_together(problem, refiner, counts, judged, together, floor)
    if cut:
        # First, so that both attributes cut win a tie against one of them suppressed.
        found.insert(0, refiner.refined(counts, {**others, **cut}))
    if not found:
        return refiner.none(problem.counts, _hidden(problem))
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
    chains = [family.chain(each.allowed) for family, each in zip(pair, judged, strict=True)]
    sides = list(zip(pair, chains, strict=True))
    sides.sort(key=lambda side: (-len(side[1]), side[0].attribute))
    tiles = Tiles.of(Judge(problem.models, refiner.scoring), counts, *sides)
    if tiles is None:
        return None, False
    cuts = best_pair(tiles, floor)
    if cuts is None:
        return None, True
    partitions = {
        family.attribute: family.partition(path)
        for (family, _), path in zip(sides, (cuts.rows, cuts.columns), strict=True)
    }
    return partitions, cuts.proven


def _refine_by_ascent(
    problem: Problem, attributes: Sequence[str], refiner: Refiner, search: Search, run: Run
) -> Refined:
    """Ascend from every attribute cut alone and from every node of the frontier.

    The best of the local optima. Each start is an ascent of its own, and attributes take their
    turns by name, so that neither the jobs nor the order of the attributes matter. A node may have
    partitions that confined attributes cannot have: these are cut first. Once time is up the rest
    of the starts are taken as they are. Ties: more classes, then the earlier start.
    """
    deadline = run.deadline()
    families = refiner.families(problem, attributes)
    names = sorted(families)
    levels = partial(level_recoding, problem.taxonomies, problem.counts.names)
    cut = partial(_best_cut, problem, refiner, families)
    confined = [name for name in names if families[name].confined]
    # Each with all other attributes at their highest levels.
    starts = [cut(levels(problem.lattice.heights), name) for name in names]
    searched = search(problem, run)
    nodes = [refiner.refined(problem.counts, levels(node)) for node in searched.minimal]
    tasks = [*((start, ()) for start in starts), *((node, confined) for node in nodes)]
    until = deadline - monotonic() + time()  # jobs on other machines have other monotonic clocks
    climb = partial(_climbed, problem.taxonomies, cut, names, until)
    optima = []
    for found, at in filter(None, in_parallel(climb, tasks, run.n_jobs)):
        # Levels are known by identity, and what comes from another process is a copy.
        own = {name: problem.taxonomies[name].levels[level] for name, level in at.items()}
        optima.append(replace(found, recoding={**found.recoding, **own}))
    best = Refined.among(optima)
    return replace(best, checked=best.checked + searched.checked)


def _best_cut(
    problem: Problem,
    refiner: Refiner,
    families: Mapping[str, Family],
    recoding: Partitions,
    name: str,
) -> Refined:
    others = {other: p for other, p in recoding.items() if other != name}
    counts = problem.counts.recode(others)
    return refiner.best(counts, others, refiner.segments(problem, counts, families[name]))


def _climbed(
    taxonomies: Mapping[str, Taxonomy],
    cut: Callable[[Partitions, str], Refined],
    names: Sequence[str],
    until: float,
    start: Refined,
    confined: Sequence[str],
) -> tuple[Refined, dict[str, int]] | None:
    """Cut every attribute in turn, the others held, until none gains; the confined ones first.

    ``until``: when time is up, on the clock that machines share. With the level of each partition
    that is one.
    """
    if confined and time() > until:
        return None
    best, cuts, gained = start, start.refinements + len(confined), True
    for name in confined:  # whether that gains or not
        best = cut(best.recoding, name)
    # Ends: every gain is above the tolerance, and an attribute has finitely many partitions.
    while gained:
        gained = False
        for name in names:
            if time() > until:
                break
            refined = cut(best.recoding, name)
            cuts += 1
            if refined.value > best.value + TOLERANCE:
                best, gained = refined, True
    best = replace(best, refinements=cuts, checked=start.checked)
    return best, levels_of(best.recoding, taxonomies)


MOST_ROUNDS = 50
"""Prices that are tried; an exact search needs about as many as the logarithm of the classes."""

T = TypeVar("T", bound=Solution)


def within_bounds(problem: Problem, bounds: Bounds, *, few: bool = False) -> Problem:
    """The problem with every class of the least number of records, for the search alone.

    With ``few`` the number of classes is limited as well: over that of records it is the
    average risk of re-identification, which stays below theirs.
    """
    records, models = problem.counts.records, list(problem.models)
    if bounds.min_records is not None:
        models.append(KAnonymity(min(int(bounds.min_records), records + 1)))
    if few and bounds.max_classes is not None and bounds.max_classes < records:
        # Half a class more keeps the limit clear of rounding.
        models.append(AverageReidentificationRisk((int(bounds.max_classes) + 0.5) / records))
    return replace(problem, models=models)


def refine_within(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    bounds: Bounds,
    search: Search,
    run: Run,
) -> Refined:
    """Find the best partitions of all attributes together within the bounds.

    Each class costs the least gain; ``value`` and ``bound`` are less that cost.
    """
    deadline = run.deadline()

    def solve(cost: float) -> Refined:
        priced = replace(refiner, cost=cost)
        return refine_jointly(problem, attributes, priced, search, run.until(deadline))

    def single() -> Refined:
        taxonomies = {name: problem.taxonomies[name] for name in problem.counts.names}
        coarsest = {name: each.levels[each.coarsest] for name, each in taxonomies.items()}
        return replace(refiner, cost=bounds.min_gain).refined(problem.counts, coarsest)

    return best_within(bounds, solve, single, deadline)


def best_within(
    bounds: Bounds, solve: Callable[[float], T], single: Callable[[], T], deadline: float = inf
) -> T:
    """Return the best solution found within the bounds, and a bound on the value of any other.

    Each price is the one at which the best solutions known of more and of fewer classes have the
    same value: either a third one has a higher value and takes the place of one of them, or no
    price leads any nearer. ``solve`` finds the best solution at a price on each class, ``single``
    makes that of one class at the least price, ``bounds.min_gain``; the ``value`` and the ``bound``
    that are returned are less what the classes cost at that price.
    """
    cost, most = bounds.min_gain, bounds.max_classes
    high = solve(cost)
    if most is None or high.classes <= most:
        return high
    low, bound = single(), high.bound  # of too few classes, and of too many
    if low.classes > most:  # the coarsest has more classes where levels are limited
        return replace(low, value=-inf)
    refinements = high.refinements + low.refinements
    # In every round low is within the limit and high beyond it, both with their values at the least
    # price, and no solution within the limit is worth more than the bound.
    for _ in range(MOST_ROUNDS):
        if monotonic() > deadline:
            break
        # Both at the least price; a solution of n classes loses (price - cost) n at another one.
        price = cost + max(0.0, (high.value - low.value) / (high.classes - low.classes))
        found = solve(price)
        refinements += found.refinements
        bound = min(bound, found.bound + (price - cost) * int(most))
        gained = found.value - (low.value - (price - cost) * low.classes)
        if not low.classes < found.classes < high.classes or gained <= TOLERANCE:
            break
        found = replace(found, value=found.value + (price - cost) * found.classes)
        low, high = (low, found) if found.classes > most else (found, high)
    proven = bound <= low.value + TOLERANCE
    return replace(
        low, bound=low.value if proven else bound, proven=proven, refinements=refinements
    )
