"""Policies that merging classes does not preserve, and objectives that merging may raise.

Every node that the policy can hold at is counted.

What a policy needs, monotone models that hold wherever it does (as many different values as it
requires effective ones, say), has a frontier that is found quickly; only nodes above it are looked
at.
"""

from collections.abc import Sequence

from anonymizer.kernels import FrequencySet
from anonymizer.objectives.candidate import Candidate
from anonymizer.recoding.full_domain.exhaustive import minimal_nodes, survey
from anonymizer.recoding.full_domain.frontier import automatic
from anonymizer.recoding.lattice import Node
from anonymizer.recoding.problem.evaluator import Evaluator
from anonymizer.recoding.problem.problem import ALONE, Found, Frontier, Problem, Run, Scored, winner
from anonymizer.recoding.trace import Trace

WORTH_PRUNING = 0.5
"""Share of the nodes from which on all of them are counted: side by side they roll up quicker."""


def survey_above(problem: Problem, run: Run = ALONE) -> Found | None:
    """The best feasible node, every node scored that has what the policy needs; None without one.

    Without suppression.
    """
    needed = [needed for model in problem.models for needed in model.necessary()]
    if not needed:
        return survey(problem, run)
    evaluator = problem.evaluator
    judged: dict[Node, Scored | None] = {}

    def judge(node: Node, classes: FrequencySet) -> None:
        candidate = evaluator.candidate(node, classes)
        judged[node] = None if candidate is None else _scored(evaluator, candidate)

    frontier = automatic(problem.relaxed(needed), run, judge)
    if frontier.feasible > WORTH_PRUNING * frontier.nodes:
        return survey(problem, run)
    left = [node for node in problem.lattice.up_set(frontier.minimal) if node not in judged]
    sets = evaluator.sets()
    for done, node in enumerate(left):
        run.watch("checking the nodes left", done, len(left))
        judge(node, sets.at(node))
    return _best(problem, [scored for scored in judged.values() if scored], frontier, left)


def _scored(evaluator: Evaluator, candidate: Candidate) -> Scored:
    return evaluator.objective.score(candidate), candidate.released_classes, candidate.node


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
