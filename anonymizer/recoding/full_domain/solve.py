"""The strategies by name, and the best node that any of them leads to.

Models that merging classes does not preserve, and objectives that merging may raise, have every
node counted that the policy can hold at. What such a policy needs, monotone models that hold
wherever it does (as many different values as it requires effective ones, say), has a frontier that
is found quickly; only nodes above it are looked at (``survey_above``).

Where persons have several records a policy has to hold, too, for who takes the persons of a class
for equally likely. Their counts do not add up where classes merge, so that no search rests on them:
the best node is held against them, and where it breaks the policy, branch and bound goes through
the others, of which it holds only those against them that may be the best.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from anonymizer.errors import InputError, function_of, name_of, require_one_of
from anonymizer.kernels import FrequencySet
from anonymizer.recoding.apply import accepts
from anonymizer.recoding.full_domain.branch_and_bound import branch_and_bound
from anonymizer.recoding.full_domain.frontier import (
    MOST_NODES,
    Scores,
    automatic,
    bisection,
    exhaustive,
    incognito,
    minimal_nodes,
    survey,
    top_down,
)
from anonymizer.recoding.full_domain.with_suppression import best_suppressed
from anonymizer.recoding.lattice import Node, Trace
from anonymizer.recoding.problem import (
    ALONE,
    Found,
    Frontier,
    Problem,
    Run,
    Scored,
    Search,
    TimeUp,
    interrupted,
    winner,
)

WORTH_PRUNING = 0.5
"""Share of the nodes from which on all of them are counted: side by side they roll up quicker."""


def survey_above(problem: Problem, run: Run = ALONE) -> Found | None:
    """Score every node that has what the policy needs, for the best; None where none is feasible.

    Without suppression.
    """
    needed = [needed for model in problem.models for needed in model.necessary()]
    if not needed:
        return survey(problem, run)
    evaluator = problem.evaluator
    judged: dict[Node, Scored | None] = {}

    def judge(node: Node, classes: FrequencySet) -> None:
        candidate = evaluator.candidate(node, classes)
        judged[node] = None
        if candidate is not None:
            score = evaluator.objective.score(candidate)
            judged[node] = score, candidate.released_classes, node

    frontier = automatic(problem.relaxed(needed), run, judge)
    # Then few nodes are ruled out, and those counted so far are counted again.
    if frontier.feasible > WORTH_PRUNING * frontier.nodes:
        return survey(problem, run)
    left = [node for node in problem.lattice.up_set(frontier.minimal) if node not in judged]
    sets = evaluator.sets()
    for done, node in enumerate(left):
        run.watch("checking the nodes left", done, len(left))
        judge(node, sets.at(node))
    return _best(problem, [scored for scored in judged.values() if scored], frontier, left)


def _best(
    problem: Problem, scored: Sequence[Scored], frontier: Frontier, more: Sequence[Node]
) -> Found | None:
    """The winner of the feasible nodes; ``more`` were counted than those of a frontier."""
    if not scored:
        return None
    score, _, node = winner(scored)
    feasible = sorted(node for _, _, node in scored)
    minimal = tuple(minimal_nodes(problem.lattice, feasible))
    counted = (*(frontier.trace.counted or ()), *more)
    return Found(
        "pruned",
        node,
        score,
        score,
        True,
        frontier.nodes,
        frontier.checked + len(more),
        len(feasible),
        minimal,
        Trace.of(problem.lattice, scored, (*minimal, node), counted),
    )


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
    """Find the best node of the frontier that a search finds; None where that is empty.

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
    """Find the best feasible node of a lattice.

    A time limit, or a lattice too large for an entry per node, takes branch and bound.

    Parameters
    ----------
    problem
        Counts, taxonomies, policy, objective and budget.
    search
        One of ``STRATEGIES``, or a function that finds a ``Frontier``.
    run
        Jobs, time limit and progress.

    Returns
    -------
    Found or None
        The node, its score and the bound on all others; None where no node is feasible.

    Raises
    ------
    InputError
        When the strategy cannot answer for such a problem.
    """
    deadline = run.deadline()
    _ = problem.evaluator  # encoded here, once for all counts and for those that add up
    whole = search in ("exhaustive", exhaustive)  # of which each node is held against all counts
    searched = problem if whole else problem.additive
    try:
        found = _found(searched, search, _hurried(searched, search, run))
    except TimeUp:
        found = branch_and_bound(searched, run)
    if found is not None and problem.counts_persons and not whole:
        if accepts(problem, problem.levels(found.node)):
            found = found.alone(problem.lattice)
        else:
            found = _found_next(problem, run.until(deadline))
    if found is None:
        return None
    score = problem.evaluator.value(found.node)
    return replace(found, score=score, bound=score if found.proven else max(score, found.bound))


def _hurried(problem: Problem, search: str | Search, run: Run) -> Run:
    """Return the run, interrupted when half of the time of whoever waits is over.

    Branch and bound has the other half, or all of it where it is the search. Where scores may rise
    and nothing bounds them, every search comes to its end, however long it is.
    """
    unbounded = not (problem.objective.falls or problem.objective.bounded)
    if run.ends == inf or unbounded or _branches(problem, search, run):
        return run
    return replace(run, watch=interrupted(run.watch, run.shared(2).ends))


def _branches(problem: Problem, search: str | Search, run: Run) -> bool:
    """Return whether the search is by branch and bound, if the objective has bounds."""
    large = problem.lattice.room > MOST_NODES or run.time_limit is not None
    alone = not problem.objective.falls and not problem.suppresses
    return search == "branch-and-bound" or (search == "automatic" and (large or alone))


def _found(problem: Problem, search: str | Search, run: Run) -> Found | None:
    if not callable(search):
        require_one_of("search", search, STRATEGIES)
    if not problem.objective.falls:
        return _of_all(problem, search, run)
    if search in ("exhaustive", exhaustive) and run.time_limit is None:
        return survey(problem, run)
    if _branches(problem, search, run):
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


def _found_next(problem: Problem, run: Run) -> Found | None:
    """Find the best node where the policy holds of counts, too, that do not add up."""
    if problem.objective.falls or problem.objective.bounded:
        return branch_and_bound(problem, run)
    return survey(problem, run)


def _of_all(problem: Problem, search: str | Search, run: Run) -> Found | None:
    """Find the best feasible node for an objective that may rise, so that scores rule none out."""
    large = problem.lattice.room > MOST_NODES or run.time_limit is not None
    if problem.objective.bounded and search in ("automatic", "branch-and-bound"):
        branches = _branches(problem, search, run)
        return branch_and_bound(problem, run) if branches else best_suppressed(problem, run)
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
