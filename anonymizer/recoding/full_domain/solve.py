"""The strategies by name, and the best node that any of them leads to."""

from collections.abc import Mapping
from dataclasses import replace
from time import thread_time

from anonymizer.errors import InputError, function_of, name_of, require_one_of
from anonymizer.kernels.driver import account
from anonymizer.recoding.full_domain.branch_and_bound import branch_and_bound
from anonymizer.recoding.full_domain.exhaustive import MOST_NODES, exhaustive, survey
from anonymizer.recoding.full_domain.frontier import Scores, automatic, bisection, top_down
from anonymizer.recoding.full_domain.incognito import incognito
from anonymizer.recoding.full_domain.non_monotone import survey_above
from anonymizer.recoding.full_domain.with_suppression import best_suppressed
from anonymizer.recoding.problem.problem import ALONE, Found, Problem, Run, Search, winner
from anonymizer.recoding.trace import Trace

SEARCHES: Mapping[str, Search] = {
    "automatic": automatic,
    "bisection": bisection,
    "top-down": top_down,
    "incognito": incognito,
    "exhaustive": exhaustive,
}
"""The ways to find all feasible nodes, by name; the first is the default."""

NOTING = (automatic, bisection, top_down)
"""Those that tell of feasible nodes when they count them, so that none is counted twice."""

STRATEGIES = (*SEARCHES, "branch-and-bound")
"""What a study file calls each way to find the best node; the first is the default."""


def best_of(problem: Problem, strategy: str, search: Search, run: Run) -> Found | None:
    """The best node of the frontier that a search finds; None where that is empty.

    No node above the frontier can win or tie its way past it: it has no higher score, no more
    classes and is lexicographically larger.
    """
    evaluator = problem.evaluator
    note = Scores(evaluator)
    scored = note.found
    found = search(problem, run, note) if search in NOTING else search(problem, run)
    if not found.minimal:
        return None
    sets = evaluator.sets()
    for node in found.minimal:
        if node not in scored:
            note(node, sets.at(node))
    score, _, node = winner(scored[node] for node in found.minimal)
    return Found(
        found.strategy or strategy,
        node,
        score,
        score,
        strategy in SEARCHES,
        found.nodes,
        found.checked,
        found.feasible,
        found.minimal,
        Trace.of(problem.lattice, scored.values(), found.minimal, found.trace.counted),
    )


def solve(problem: Problem, search: str | Search = "automatic", run: Run = ALONE) -> Found | None:
    """The best feasible node; None where there is none.

    A time limit, or a lattice too large for an entry per node, takes branch and bound.

    Raises
    ------
    InputError
        When the strategy cannot answer for such a problem.
    """
    start = thread_time()
    found = _found(problem, search, run)
    if problem.evaluator.kernel.drives is None:
        account.spent += thread_time() - start
    if found is None:
        return None
    score = problem.evaluator.value(found.node)
    return replace(found, score=score, bound=score if found.proven else max(score, found.bound))


def _found(problem: Problem, search: str | Search, run: Run) -> Found | None:
    if not callable(search):
        require_one_of("search", search, STRATEGIES)
    if not problem.objective.falls:
        return _of_all(problem, search, run)
    if search in ("exhaustive", exhaustive) and run.time_limit is None:
        return survey(problem, run)
    large = problem.lattice.room > MOST_NODES or run.time_limit is not None
    if search == "branch-and-bound" or (search == "automatic" and large):
        return branch_and_bound(problem, run)
    if run.time_limit is not None:
        raise InputError(
            f"strategy {name_of(search)!r} cannot end early; with a time-limit choose "
            "'branch-and-bound', or leave the strategy out"
        )
    if problem.suppresses:
        if search not in ("automatic", "bisection", bisection):
            raise InputError(
                f"strategy {name_of(search)!r} prunes by what suppression does not preserve; "
                "choose 'bisection', 'branch-and-bound' or 'exhaustive', or leave it out"
            )
        return best_suppressed(problem, run)
    if search == "automatic" and not all(model.monotone for model in problem.models):
        return survey_above(problem, run)
    chosen = function_of("search", search, SEARCHES)
    return best_of(problem, name_of(search), chosen, run)


def _of_all(problem: Problem, search: str | Search, run: Run) -> Found | None:
    """The best feasible node for an objective that may rise, so that its score rules none out."""
    large = problem.lattice.room > MOST_NODES or run.time_limit is not None
    if problem.objective.bounded and search in ("automatic", "branch-and-bound"):
        bisects = problem.suppresses and not large and search == "automatic"
        return best_suppressed(problem, run) if bisects else branch_and_bound(problem, run)
    rises = f"the objective {problem.objective.name} may rise under generalization, so that "
    if search not in ("automatic", "exhaustive", exhaustive):
        known = (
            "'branch-and-bound' or 'exhaustive'" if problem.objective.bounded else "'exhaustive'"
        )
        raise InputError(
            rises + f"only search = {known} can answer for it; choose that, or leave it out"
        )
    if large:
        raise InputError(
            f"{rises}all of the lattice's {problem.lattice.room:,} nodes have to be scored: "
            f"without a time-limit, and where there are at most {MOST_NODES:,}; choose "
            "mutual-information, or hierarchies of fewer levels"
        )
    alone = search != "automatic" or problem.suppresses
    return survey(problem, run) if alone else survey_above(problem, run)
