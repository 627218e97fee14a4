"""The best recoding of at most so many classes, by a price on each of them.

With a price that is high enough the best recoding has few classes. Whatever the price c, no
recoding of at most C classes has an objective above the best at that price plus c C (Lagrangian
duality). So the price is raised until the number of classes is met, and the least of these bounds
says how far the result is from the optimum: not at all where there are exactly C classes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from typing import Protocol, TypeVar

from anonymizer.privacy import TOLERANCE, AverageReidentificationRisk, KAnonymity
from anonymizer.recoding.partitions.joint import refine_jointly
from anonymizer.recoding.partitions.refine import Refined, Refiner
from anonymizer.recoding.problem.options import Bounds
from anonymizer.recoding.problem.problem import Problem, Run, Search

__all__ = ["MOST_ROUNDS", "at_most", "refine_within", "with_few_classes", "with_large_classes"]

MOST_ROUNDS = 50
"""Prices that are tried; an exact search needs about as many as the logarithm of the classes."""


def with_large_classes(problem: Problem, bounds: Bounds) -> Problem:
    """The problem with every class of the least number of records, for the search alone."""
    if bounds.min_records is None:
        return problem
    least = KAnonymity(min(int(bounds.min_records), problem.counts.records + 1))
    return replace(problem, models=(*problem.models, least))


def with_few_classes(problem: Problem, bounds: Bounds) -> Problem:
    """The problem with at most so many classes: an average risk of re-identification below theirs.

    That is the number of classes over that of records.
    """
    records = problem.counts.records
    if bounds.max_classes is None or bounds.max_classes >= records:
        return problem
    few = AverageReidentificationRisk((int(bounds.max_classes) + 0.5) / records)
    return replace(problem, models=(*problem.models, few))


def refine_within(
    problem: Problem,
    attributes: Sequence[str],
    refiner: Refiner,
    bounds: Bounds,
    search: Search,
    run: Run,
) -> Refined:
    """Find the best partitions of all attributes together that leave so many classes at most.

    Each class costs the least gain; ``value`` and ``bound`` are less that cost.
    """
    deadline = run.deadline()

    def solve(cost: float) -> Refined:
        priced = replace(refiner, cost=cost)
        return refine_jointly(problem, attributes, priced, search, run.until(deadline))

    many = solve(bounds.min_gain)
    if bounds.max_classes is None or many.classes <= bounds.max_classes:
        return many
    hidden = {name: problem.taxonomies[name].levels[-1] for name in problem.counts.names}
    whole = replace(refiner, cost=bounds.min_gain).refined(problem.counts, hidden)
    return at_most(int(bounds.max_classes), solve, many, whole, bounds.min_gain, deadline)


class Solution(Protocol):
    """A recoding found at a price on each class, and the worth and the bound less that price."""

    @property
    def value(self) -> float:
        """What it is worth."""

    @property
    def bound(self) -> float:
        """What no other recoding is worth more than."""

    @property
    def classes(self) -> int:
        """How many classes it has."""

    @property
    def refinements(self) -> int:
        """The work that went into it."""


T = TypeVar("T", bound=Solution)


@dataclass(frozen=True)
class Point:
    """What a recoding comes to without any price: the objective, and its classes."""

    plain: float
    classes: int

    @classmethod
    def of(cls, refined: Solution, cost: float) -> "Point":
        """Take the price off that it was found at."""
        return cls(refined.value + cost * refined.classes, refined.classes)

    def at(self, cost: float) -> float:
        """The objective less what the classes cost."""
        return self.plain - cost * self.classes


def at_most(
    most: int,
    solve: Callable[[float], T],
    many: T,
    few: T,
    cost: float,
    deadline: float = inf,
) -> T:
    """The best recoding found of at most so many classes, and what no other can exceed.

    Each price is the one at which the best recodings known of more and of fewer classes are worth
    the same: either a third one is worth more, and takes the place of one of them, or no price
    leads any nearer.

    Parameters
    ----------
    solve
        Finds the best recoding at a price.
    many, few
        Recodings of more classes, the best at the least price, and of fewer.
    cost
        The least price: ``value`` and ``bound`` are less what the classes cost at it.
    """
    best, bound = few, many.bound
    high, low = Point.of(many, cost), Point.of(few, cost)
    work = [many.refinements, few.refinements]
    for _ in range(MOST_ROUNDS):
        if monotonic() > deadline:
            break
        price = max(cost, (high.plain - low.plain) / (high.classes - low.classes))
        found = solve(price)
        work.append(found.refinements)
        bound = min(bound, found.bound + (price - cost) * most)
        point = Point.of(found, price)
        if not low.classes < point.classes < high.classes or point.at(price) <= (
            low.at(price) + TOLERANCE
        ):
            break
        if point.classes > most:
            high = point
        else:
            best, low = found, point
    value = low.at(cost)
    proven = bound <= value + TOLERANCE
    return replace(  # type: ignore[type-var]
        best,
        value=value,
        bound=value if proven else bound,
        proven=proven,
        refinements=sum(work),
    )
