"""What benchmarks share: problems of workloads, rounds in which all take turns, tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from time import perf_counter

from workloads import Workload

from anonymizer.counts.schema import Schema, taxonomies_of
from anonymizer.objectives import Loss, MutualInformation, Objective
from anonymizer.recoding import Found, Problem, Suppression
from anonymizer.tables import engine

__all__ = ["ROUNDS", "Timed", "described", "milliseconds", "problem_of", "rounds", "table"]

ROUNDS = 7

Timed = Callable[[], object]


def problem_of(workload: Workload, objective: Objective | None = None) -> Problem:
    """Count a workload's table, with mutual information or else loss as the objective."""
    schema = Schema(workload.names, workload.sensitive)
    tally = engine.tally(workload.table, schema.columns)
    taxonomies = taxonomies_of(tally, workload.hierarchies)
    chosen = objective or (MutualInformation() if workload.sensitive else Loss())
    counts = schema.counts(tally, taxonomies)
    return Problem(
        counts,
        taxonomies,
        workload.models,
        chosen,
        Suppression(workload.suppression, suppress="any"),
    )


def rounds(work: Mapping[str, Timed], times: int = ROUNDS) -> dict[str, float]:
    """The median milliseconds of each piece of work; they take turns, after a warm-up."""
    taken: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(times + 1):
        for name, function in work.items():
            start = perf_counter()
            function()
            if turn:
                taken[name].append(1000 * (perf_counter() - start))
    return {name: median(values) for name, values in taken.items()}


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def milliseconds(seconds: float | None) -> str:
    """Seconds as milliseconds, in three digits or whole; "" where nothing was measured."""
    if seconds is None:
        return ""
    ms = 1000 * seconds
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.3g}"


def described(problem: Problem, found: Found | None) -> list[object]:
    """Nodes checked, feasible and minimal, and the objective's value."""
    if found is None:
        return ["", "", "", "none"]
    value = problem.evaluator.objective.quantity(found.score, problem.counts.records)
    minimal = "" if found.minimal is None else len(found.minimal)
    feasible = "" if found.feasible is None else found.feasible
    return [found.checked, feasible, minimal, f"{problem.objective.name} {value:.8g}"]
