"""Every node of the lattice: the yardstick for other searches, and the one for models of any kind.

Nodes are visited in lexicographic order, each rolled up from the one that differs in a single
level: the frequency sets of (v1, ..., vd, 0, ..., 0), d = 0, 1, ... are at hand on a stack.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import InputError
from anonymizer.kernels import FrequencySet
from anonymizer.recoding.lattice import Lattice, Node, Trace
from anonymizer.recoding.problem.evaluator import Evaluator
from anonymizer.recoding.problem.parallel import in_parallel, jobs_for_nodes
from anonymizer.recoding.problem.problem import (
    ALONE,
    Found,
    Frontier,
    Problem,
    Run,
    Scored,
    winner,
)

MOST_NODES = 1_000_000
"""Lattices beyond get no array with an entry per node."""

PARTS = 16
"""Parts that the lattice is cut into at least, whatever the number of jobs."""


def exhaustive(problem: Problem, run: Run = ALONE) -> Frontier:
    """The feasible nodes, every node checked; without suppression."""
    lattice = problem.lattice
    feasible = [node for _, _, node in _visited(problem, run, scores=False)]
    minimal = tuple(minimal_nodes(lattice, feasible))
    size, listed = lattice.size, frozenset(feasible)
    trace = Trace.counting(lattice, lattice)
    return Frontier(minimal, size, len(feasible), size, listed=listed, trace=trace)


def survey(problem: Problem, run: Run = ALONE) -> Found | None:
    """The best feasible node, every node scored; None where there is none."""
    lattice = problem.lattice
    scored = _visited(problem, run, scores=True)
    if not scored:
        return None
    score, _, node = winner(scored)
    feasible = [node for _, _, node in scored]
    minimal = tuple(minimal_nodes(lattice, feasible))
    size = lattice.size
    trace = Trace.of(lattice, scored, (*minimal, node), lattice)
    return Found("exhaustive", node, score, score, True, size, size, len(feasible), minimal, trace)


def require_searchable(lattice: Lattice) -> None:
    """Refuse a lattice too large for an array with an entry per node.

    Raises
    ------
    InputError
        When there are more than ``MOST_NODES``.
    """
    if lattice.room > MOST_NODES:
        raise InputError(
            f"the lattice has {lattice.room:,} nodes, more than the {MOST_NODES:,} that this "
            "search can hold; use hierarchies of fewer levels or fewer quasi-identifiers "
            "(full-domain recoding by strategy = 'branch-and-bound' has no such limit)"
        )


def minimal_nodes(lattice: Lattice, nodes: list[Node]) -> list[Node]:
    """The nodes without a direct specialization among them, lexicographically."""
    present = np.zeros(lattice.shape, bool)
    if nodes:
        present[tuple(np.array(nodes).T)] = True
    return lowest(present)


def lowest(present: NDArray[np.bool_]) -> list[Node]:
    """The marked nodes without a marked direct specialization, lexicographically."""
    kept = present.copy()
    for axis in range(present.ndim):
        # In place: ``above`` is a view of what is kept.
        above = np.moveaxis(kept, axis, 0)[1:]
        above &= ~np.moveaxis(present, axis, 0)[:-1]
    return [tuple(map(int, node)) for node in np.argwhere(kept)]


def _visited(problem: Problem, run: Run, scores: bool) -> list[Scored]:
    """The feasible nodes in lexicographic order, with their scores if requested."""
    lattice = problem.lattice
    require_searchable(lattice)
    length = 0  # of the prefixes that are shared between jobs
    while (first := lattice.first(length)).size < PARTS and length < len(lattice.names):
        length += 1
    tasks = [(problem.evaluator, lattice, prefix, scores) for prefix in first]
    found: list[Scored] = []
    jobs = jobs_for_nodes(run.n_jobs, len(problem.counts))
    for done, part in enumerate(in_parallel(_slice, tasks, jobs), start=1):
        run.watch("checking every node", done * lattice.size // len(tasks), lattice.size)
        found += part
    return found


def _slice(evaluator: Evaluator, lattice: Lattice, prefix: Node, scores: bool) -> list[Scored]:
    """The feasible nodes that begin with some levels."""
    found: list[Scored] = []
    for node, classes in _walk(evaluator, lattice, prefix):
        candidate = evaluator.candidate(node, classes)
        if candidate is not None:
            score = evaluator.objective.score(candidate) if scores else 0.0
            found.append((score, candidate.released_classes, node))
    return found


def _walk(
    evaluator: Evaluator, lattice: Lattice, prefix: Node
) -> Iterator[tuple[Node, FrequencySet]]:
    """All nodes that begin with some levels, lexicographically, with their frequency sets."""
    heights, floors = lattice.heights, lattice.bottom
    node = [*prefix, *floors[len(prefix) :]]
    bottom = _rolled(evaluator, evaluator.base, node)
    stack = [bottom] * len(heights)  # stack[d]: the levels after d still the lowest
    yield tuple(node), bottom
    while True:
        raised = [i for i in range(len(prefix), len(heights)) if node[i] < heights[i]]
        if not raised:
            return
        last = raised[-1]
        node[last + 1 :] = floors[last + 1 :]
        node[last] += 1
        classes = _rolled(evaluator, stack[last], node)
        stack[last:] = [classes] * (len(heights) - last)
        yield tuple(node), classes


def _rolled(evaluator: Evaluator, source: FrequencySet, node: list[int]) -> FrequencySet:
    return evaluator.kernel.roll_up(source, evaluator.encoding.mask(tuple(node))).copy()
