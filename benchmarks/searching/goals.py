"""Cases with a goal: what a user waits for, and the old search beside the new."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import workloads
from measure import described, milliseconds, problem_of, table
from workloads import Workload

from anonymizer.objectives import OBJECTIVES, ObjectiveName
from anonymizer.recoding import Problem
from searching.machine import bandwidth, calibration
from searching.processes import ask
from searching.ways import Kind, Way, agreed, compared, in_turns, searches, warm_fit

__all__ = ["goals", "measure"]

LIMIT = 60
"""Seconds for a case."""
MILLION = 1_000_000


@dataclass(frozen=True)
class Case:
    """A workload with a goal.

    Parameters
    ----------
    workload
        Makes it.
    objective
        The name of what is maximised.
    goal
        Seconds.
    of
        What the goal is about: the ``search`` or the whole ``fit``.
    arx
        Seconds of ARX as published, None where nothing is.
    recoding
        The kind; what is no ``full-domain`` recoding has no search of the lattice to time.
    """

    workload: Callable[[], Workload]
    objective: ObjectiveName
    goal: float
    of: str = "search"
    arx: float | None = None
    recoding: Kind = "full-domain"


def _nine() -> Workload:
    return workloads.nine_attributes()[0]


def _suppressed() -> Workload:
    return workloads.nine_attributes()[1]


CASES = (
    Case(_nine, "discernibility", 0.003, arx=0.027),
    Case(_suppressed, "discernibility", 0.05, arx=0.555),
    Case(_suppressed, "average-class-size", 0.05),
    Case(_suppressed, "non-uniform-entropy", 0.05),
    Case(_suppressed, "loss", 0.05),
    Case(_suppressed, "precision", 0.05),
    Case(lambda: workloads.twelve_attributes()[0], "loss", 0.01),
    Case(lambda: workloads.scaled(MILLION)[1], "loss", 0.15),
    Case(workloads.cup_like, "discernibility", 2, of="fit", arx=6),
    Case(_nine, "discernibility", 5, of="fit", recoding="boxes"),
)


def measure(number: str) -> Iterator[dict[str, Any]]:
    """Time a case, what may take longest last: the new search, the fit, old and new in turns."""
    case, chosen = CASES[int(number)], compared()
    workload = case.workload()
    if case.recoding != "full-domain":
        yield {"fit": warm_fit(workload, case.objective, case.recoding)}
        return
    problem = problem_of(workload, OBJECTIVES[case.objective]())
    yield _searched(problem, dict([*chosen.items()][-1:]))
    yield {"fit": warm_fit(workload, case.objective)}
    yield _searched(problem, chosen)


def _searched(problem: Problem, chosen: Mapping[str, Way]) -> dict[str, Any]:
    times, found = in_turns(searches(problem, chosen))
    checked, _, _, value = described(problem, agreed(found))
    return {"search": times, "checked": checked, "value": value}


def goals() -> Iterator[str]:
    """Goals of the search, and what is measured."""
    old, new = compared()
    yield "*Fit*: from a DataFrame to a verified release, as a user does it, once, in a process"
    yield "that has fitted the first thousand records before. *Search*: of an encoded table, warm;"
    yield "medians, or one turn where it takes long; old and new take turns in a process. In ms."
    yield f"Old: {old}; new: {new}. ARX: as stated with the goal, not measured in this run. Goals"
    yield "were set on an idle machine; the fit by boxes took 27 s then. *Times the goal*: what the"
    yield f"goal is about, the search (new) or the fit, over it. A case has {LIMIT} s."
    yield ""
    yield from calibration(bandwidth())
    yield ""
    header = ["case", "objective", "goal, ms", "goal of", "ARX, ms", "fit", f"old: {old}"]
    header += [f"new: {new}", "old/new", "times the goal", "checked", "value"]
    yield from table(header, [_row(number, case) for number, case in enumerate(CASES)])


def _row(number: int, case: Case) -> list[object]:
    report = ask("goals", number, seconds=LIMIT)
    found = {name: value for line in report.lines for name, value in line.items()}
    title = case.workload().title
    searched = found.get("search", {})
    old, new = (searched.get(name) for name in compared())
    fit = found.get("fit")
    reached = new if case.of == "search" else fit
    return [
        title if case.recoding == "full-domain" else f"{title}, {case.recoding}",
        case.objective,
        f"{1000 * case.goal:,.0f}",
        case.of,
        milliseconds(case.arx),
        milliseconds(fit) or report.ended,
        milliseconds(old) or (report.ended if new else ""),
        milliseconds(new) or (report.ended if case.recoding == "full-domain" else ""),
        f"{old / new:.1f}" if old and new else "",
        f"{reached / case.goal:.1f}" if reached else "",
        found.get("checked", ""),
        found.get("value", ""),
    ]
