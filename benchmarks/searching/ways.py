"""The ways to search that are compared, and how they are timed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Literal, TypeVar

from measure import problem_of
from workloads import Workload, cup_like, nine_attributes

from anonymizer import Anonymizer, FullDomain
from anonymizer.kernels import NATIVE, Kernel
from anonymizer.objectives import OBJECTIVES, ObjectiveName
from anonymizer.recoding import Found, Problem, solve

__all__ = [
    "Kind",
    "Search",
    "Way",
    "agreed",
    "compared",
    "encoded",
    "fit",
    "in_turns",
    "searches",
    "warm",
    "warm_fit",
    "ways",
]

Kind = Literal["full-domain", "boxes"]
Search = Callable[[], Found | None]
T = TypeVar("T")
Way = Callable[[Problem], Problem]
"""A problem to the same problem, searched in that way."""

ENOUGH = 1.0
"""Seconds to spend on the repetitions of what is timed."""
MOST_TURNS = 7


def ways() -> dict[str, Way]:
    """The ways to search, oldest first. The last two are compared as old and new."""
    return {
        "driven from Python": with_kernel(replace(NATIVE, drives=False)),
        "driver": with_kernel(NATIVE),
    }


def compared() -> dict[str, Way]:
    """The old and the new way."""
    return dict([*ways().items()][-2:])


def with_kernel(kernel: Kernel) -> Way:
    """The search in Python, over some kernel."""
    return lambda problem: replace(problem, kernel=kernel)


def encoded(problem: Problem) -> Problem:
    """The same problem after the work that is done once, before the search."""
    evaluator = problem.evaluator
    evaluator.bound_policy  # noqa: B018 (lays out the policy)
    return problem


def searches(problem: Problem, chosen: Mapping[str, Way]) -> dict[str, Search]:
    """The search of a problem in each way, encoded beforehand."""

    def search(encoded: Problem) -> Search:
        return lambda: solve(encoded)

    return {name: search(encoded(way(problem))) for name, way in chosen.items()}


def agreed(found: Mapping[str, Found | None]) -> Found | None:
    """What all ways found.

    Raises
    ------
    AssertionError
        When they found different nodes.
    """
    nodes = {name: each and each.node for name, each in found.items()}
    if len(set(nodes.values())) > 1:
        raise AssertionError(f"the ways differ: {nodes}")
    return next(iter(found.values()))


def seconds(work: Callable[[], T]) -> tuple[float, T]:
    """What some work takes, and what it gives."""
    start = perf_counter()
    made = work()
    return perf_counter() - start, made


def in_turns(work: Mapping[str, Search]) -> tuple[dict[str, float], dict[str, Found | None]]:
    """The median seconds of each piece of work, and what it gave; all take turns.

    The first turn counts where there is no time for more, and else is a warm-up.
    """
    turns = [{name: seconds(function) for name, function in work.items()}]
    taken = sum(spent for spent, _ in turns[0].values())
    more = min(MOST_TURNS, int(ENOUGH / taken))
    turns += [{name: seconds(function) for name, function in work.items()} for _ in range(more)]
    timed = turns[1:] or turns
    times = {name: median(turn[name][0] for turn in timed) for name in work}
    return times, {name: made for name, (_, made) in turns[0].items()}


def fit(workload: Workload, objective: ObjectiveName, recoding: Kind = "full-domain") -> Anonymizer:
    """Fit as a user does, from a DataFrame to a verified release."""
    share = workload.suppression
    chosen: FullDomain | Kind = FullDomain(suppression=share, suppress="any") if share else recoding
    return Anonymizer(
        workload.hierarchies,
        workload.sensitive,
        workload.models,
        chosen,
        objective=objective,
    ).fit(workload.table)


def warm_fit(workload: Workload, objective: ObjectiveName, recoding: Kind = "full-domain") -> float:
    """Seconds of a fit in a process that has fitted the first thousand records before."""
    fit(replace(workload, table=workload.table.head(1000)), objective, recoding)
    return seconds(lambda: fit(workload, objective, recoding))[0]


def warm() -> None:
    """Search small tables in all ways."""
    nine = nine_attributes()[1]
    few = replace(nine, table=nine.table.head(1000))
    cup = cup_like(1000, 200, 1.5)
    cup = replace(cup, hierarchies={name: cup.hierarchies[name] for name in ("zip", "state")})
    for workload in (few, replace(few, suppression=0.0), cup):
        problem = problem_of(workload, OBJECTIVES["discernibility"]())
        for search in searches(problem, ways()).values():
            search()
