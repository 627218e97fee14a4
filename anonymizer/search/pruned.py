"""Policies that merging classes does not preserve: every node that they can hold at is counted.

What a policy needs, monotone models that hold wherever it does (as many different values as it asks
for effective ones, say), has a frontier that is found quickly; only nodes above it are looked at.
"""

from anonymizer.lattice import Node
from anonymizer.search.exhaustive import minimal_nodes, survey
from anonymizer.search.frontier import automatic
from anonymizer.search.problem import ALONE, Found, Problem, Run, Scored, winner

__all__ = ["survey_above"]

WORTH_PRUNING = 0.5
"""Share of the nodes from which on all of them are counted: side by side they roll up quicker."""


def survey_above(problem: Problem, run: Run = ALONE) -> Found | None:
    """The best feasible node, every node scored that has what the policy needs; None without one.

    Without suppression.
    """
    needed = [model for stated in problem.models for model in stated.necessary()]
    if not needed:
        return survey(problem, run)
    frontier = automatic(problem.relaxed(needed), run)
    if frontier.feasible > WORTH_PRUNING * frontier.nodes:
        return survey(problem, run)
    nodes = problem.lattice.up_set(frontier.minimal)
    scored = _scored(problem, nodes, run)
    if not scored:
        return None
    score, _, node = winner(scored)
    feasible = [node for _, _, node in scored]
    return Found(
        "pruned",
        node,
        score,
        score,
        True,
        frontier.nodes,
        frontier.checked + len(nodes),
        len(feasible),
        tuple(minimal_nodes(problem.lattice, feasible)),
    )


def _scored(problem: Problem, nodes: list[Node], run: Run) -> list[Scored]:
    """The feasible ones of some nodes, with their scores."""
    evaluator = problem.evaluator
    sets, found = evaluator.sets(), []
    for done, node in enumerate(nodes):
        run.watch("checking the nodes left", done, len(nodes))
        candidate = evaluator.candidate(node, sets.at(node))
        if candidate is not None:
            found.append((evaluator.objective.score(candidate), candidate.released_classes, node))
    return found
