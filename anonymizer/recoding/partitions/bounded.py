"""The best recoding of at most so many classes, by a price on each of them.

With a price that is high enough the best recoding has few classes. Whatever the price c, no
recoding of at most C classes has an objective above the best at that price plus c C (Lagrangian
duality). So the price is raised until the number of classes is met, and the least of these bounds
says how far the result is from the optimum: not at all where there are exactly C classes.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from time import monotonic
from typing import TypeVar

from anonymizer.privacy import TOLERANCE, AverageReidentificationRisk, KAnonymity
from anonymizer.recoding.partitions.joint import refine_jointly
from anonymizer.recoding.partitions.refine import Refined, Refiner, Solution
from anonymizer.recoding.problem.options import Bounds
from anonymizer.recoding.problem.problem import Problem, Run, Search

MOST_ROUNDS = 50
"""Prices that are tried; an exact search needs about as many as the logarithm of the classes."""

T = TypeVar("T", bound=Solution)


def within_bounds(problem: Problem, bounds: Bounds, *, few: bool = False) -> Problem:
    """The problem with every class of the least number of records, for the search alone.

    With ``few`` of at most so many classes as well: their number over that of records is the
    average risk of re-identification, which stays below theirs.
    """
    records, models = problem.counts.records, list(problem.models)
    if bounds.min_records is not None:
        models.append(KAnonymity(min(int(bounds.min_records), records + 1)))
    if few and bounds.max_classes is not None and bounds.max_classes < records:
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
    """The best solution found within the bounds, and what the value of no other can exceed.

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
    low, bound = single(), high.bound
    if low.classes > most:  # the coarsest has more classes where levels are limited
        return replace(low, value=-inf)
    refinements = high.refinements + low.refinements
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
