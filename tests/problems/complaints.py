"""What is wrong with the answers to a problem: held against brute force, and against each other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from cases import RISING, Case
from oracle import TIED, Node

from anonymizer import InputError
from anonymizer.recoding import STRATEGIES, Found, Problem, Run, solve
from anonymizer.recoding.problem import ALONE

from .ways import Solve, Way

CLOSE = 1e-9
"""What the scores of search and brute force may differ by, of scores of about 1."""

LOOKED_AT = 3
"""Nodes of each problem that are scored by themselves."""

SOLVED_BY = 2
"""Strategies that solve each problem, next to the automatic one."""

SUMMED = ("mutual-information", *RISING)
"""Objectives whose scores are sums that kernels make, each in its own order."""

MORE_COUNTED = 0.2
"""How many nodes more one way may count than another where equal scores differ by rounding."""


class Complaint(NamedTuple):
    """What is wrong, by kind and in words."""

    kind: str
    words: str


@dataclass(frozen=True)
class Refused:
    """In place of an answer: the strategy is not for such a problem."""

    because: str


Answer = Found | Refused | None
Ways = Mapping[str, Way]


def complaints(case: Case, problem: Problem, number: int, ways: Ways) -> list[Complaint]:
    """All that is wrong with a problem's answers; ``number`` decides which strategies solve it."""
    rng = np.random.default_rng([number, 1])
    problems = {name: way.prepared(problem) for name, way in ways.items()}
    found = [*_of_nodes(case, problems, rng)]
    chosen = ["automatic", *rng.permutation(STRATEGIES[1:])[:SOLVED_BY].tolist()]
    for strategy in chosen:
        answers = {
            name: answered(problems[name], strategy, way.solve) for name, way in ways.items()
        }
        for name, answer in answers.items():
            wrong = _of_answer(case, strategy, answer)
            found += [Complaint(kind, f"{strategy}, {name}: {words}") for kind, words in wrong]
        found += of_ways(case, strategy, answers)
    return found


def answered(problem: Problem, strategy: str, solved: Solve = solve, run: Run = ALONE) -> Answer:
    """What a strategy answers."""
    try:
        return solved(problem, strategy, run)
    except InputError as error:
        return Refused(str(error))


def _of_nodes(
    case: Case, problems: Mapping[str, Problem], rng: np.random.Generator
) -> Iterator[Complaint]:
    """Whether single nodes are judged and scored, and their classes counted, as by brute force."""
    brute = case.brute
    nodes = [brute.nodes[place] for place in rng.permutation(len(brute.nodes))[:LOOKED_AT]]
    for name, problem in problems.items():
        for node in nodes if brute.best is None else [*nodes, brute.best]:
            for kind, words in _of_node(case, problem, node):
                yield Complaint(kind, f"{name}, {node}: {words}")


def _of_node(case: Case, problem: Problem, node: Node) -> Iterator[Complaint]:
    """Whether a node is judged and scored as by brute force, by any kernel and as it is told.

    What does not add up where classes merge is up to what the search makes of it.
    """
    evaluator, outcome = problem.evaluator, case.brute.outcomes.get(node)
    candidate = evaluator.candidate(node, evaluator.sets().at(node))
    if outcome is None and candidate is not None and case.brute.suppressed(node) is not None:
        return
    if outcome is None or candidate is None:
        if outcome is not None or candidate is not None:
            yield Complaint("node judged", f"{candidate}, not {outcome}")
        return
    for score in (evaluator.objective.score(candidate), evaluator.value(node)):
        if not near(score, case.brute.scores[node]):
            yield Complaint("node scored", f"{score}, not {case.brute.scores[node]}")
    if candidate.released_classes != outcome.classes:
        yield Complaint("classes", f"{candidate.released_classes}, not {outcome.classes}")


def _of_answer(case: Case, strategy: str, answer: Answer) -> Iterator[Complaint]:
    """Whether a strategy answers as brute force does, or refuses what it is not made for."""
    brute, able = case.brute, strategy in case.strategies
    if isinstance(answer, Refused):
        if able:
            yield Complaint("refused", answer.because)
    elif not able:
        yield Complaint("not refused", f"answered {answer}")
    elif answer is None or brute.best is None:
        if answer is not None or brute.best is not None:
            yield Complaint("missed", f"found {answer}, not {brute.best}")
    else:
        yield from certified(case, answer)
        yield from _best(case, answer)


def _best(case: Case, answer: Found) -> Iterator[Complaint]:
    """Whether an answer is the best node, proven, and what it says of the lattice is so."""
    brute = case.brute
    if answer.node != brute.best and not on_the_edge(case):
        yield Complaint("node", f"{answer.node}, not {brute.best}; tied are {brute.tied}")
    if not answer.proven or answer.bound != answer.score:
        yield Complaint("proof", f"{answer.proven}, {answer.bound} where it scores {answer.score}")
    if answer.nodes != len(brute.nodes):
        yield Complaint("nodes", f"{answer.nodes}, not {len(brute.nodes)}")
    if answer.minimal is not None and [*answer.minimal] != brute.minimal():
        yield Complaint("minimal", f"{answer.minimal}, not {brute.minimal()}")
    if answer.feasible not in (None, len(brute.outcomes)):
        yield Complaint("feasible", f"{answer.feasible}, not {len(brute.outcomes)}")


def certified(case: Case, answer: Found) -> Iterator[Complaint]:
    """Whether what is said of a node, and of all others, is true; best or not."""
    brute = case.brute
    if answer.node not in brute.outcomes:
        yield Complaint("infeasible", f"{answer.node} does not satisfy the policy")
        return
    score, best = brute.scores[answer.node], max(brute.scores.values())
    if not near(answer.score, score):
        yield Complaint("score", f"{answer.score} of {answer.node}, not {score}")
    if answer.bound < best and not near(answer.bound, best):
        yield Complaint("bound", f"{answer.bound} is below {best} of {brute.best}")
    if answer.proven and answer.node != brute.best and not on_the_edge(case):
        yield Complaint("proof", f"{answer.node} is proven best, and {brute.best} is better")
    yield from _traced(case, answer)


def _traced(case: Case, answer: Found) -> Iterator[Complaint]:
    """Whether what a search tells of single nodes is true."""
    brute, trace = case.brute, answer.trace
    for node, score in trace.scores.items():
        if node not in brute.outcomes or not near(score, brute.scores[node]):
            yield Complaint("trace", f"{node} scores {score}, not {brute.scores.get(node)}")
    for node in trace.infeasible & brute.outcomes.keys():
        yield Complaint("trace", f"{node} is infeasible, but scores {brute.scores[node]}")
    if trace.counted is not None and not {answer.node, *trace.counted} <= {*brute.nodes}:
        yield Complaint("trace", f"counted {trace.counted}, of {brute.nodes}")


def of_ways(case: Case, strategy: str, answers: Mapping[str, Answer]) -> Iterator[Complaint]:
    """Whether all ways count equally many nodes, and refuse in the same words.

    By a few they may differ where scores are sums that kernels make each in its own order: the last
    bits then decide which of equal nodes is looked at first, and whether one reaches its bound.
    """
    told = {
        name: answer.checked if isinstance(answer, Found) else answer
        for name, answer in answers.items()
    }
    if len({*told.values()}) == 1:
        return
    counted = [each for each in told.values() if isinstance(each, int)]
    slack = MORE_COUNTED * max(counted, default=0) + 1 if case.brute.objective in SUMMED else 0
    if len(counted) < len(told) or max(counted) - min(counted) > slack:
        yield Complaint("checked", f"{strategy}: {told}")


def near(one: float, other: float) -> bool:
    """Whether two scores are the same but for rounding."""
    return abs(one - other) <= CLOSE * max(1.0, abs(other))


def on_the_edge(case: Case) -> bool:
    """Whether rounding decides which nodes are tied: then several are as good as the best."""
    best = max(case.brute.scores.values())
    return any(abs(best - score - TIED) < TIED / 100 for score in case.brute.scores.values())
