"""Incognito: the frontier of a monotone policy by subsets of attributes, the classic to compare.

Works on counts, not on keys and kernels: a second, independent way to the same answer. In one job,
whatever the run allows: its steps are many and short, and two threads, which hold the interpreter's
lock in turn, took six times as long as one (3,858 and 626 ms).
"""

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

from anonymizer.counts.counts import Counts
from anonymizer.privacy import require_monotone
from anonymizer.recoding.full_domain.exhaustive import require_searchable
from anonymizer.recoding.lattice import Lattice, Node
from anonymizer.recoding.problem.problem import ALONE, Frontier, Problem, Run

if TYPE_CHECKING:
    import networkx as nx


def incognito(problem: Problem, run: Run = ALONE) -> Frontier:
    """Check as few nodes as subset pruning allows (Incognito; LeFevre, DeWitt, Ramakrishnan 2005).

    Grows the set of attributes one by one. A node of some attributes is a candidate only when all
    its projections onto one attribute fewer are feasible, suppressing an attribute being a
    generalization; and it is feasible unchecked when a specialization of it is.

    Raises
    ------
    InputError
        When a model is not monotone: both rest on that alone.
    """
    require_monotone(problem.models, "incognito")
    lattice = problem.lattice
    require_searchable(lattice)
    passed: dict[tuple[str, ...], set[Node]] = {(): {()}}
    checked = 0
    for size in range(1, len(lattice.names) + 1):
        larger = {}
        for names in combinations(lattice.names, size):
            part = problem.project(names)
            graph = part.lattice.graph(_candidates(part.lattice, passed))
            larger[names], looked_at = _climb(part, graph)
            checked += looked_at
        passed = larger
    feasible = passed[lattice.names]
    return Frontier(tuple(lattice.minimal(feasible)), lattice.size, len(feasible), checked)


def _candidates(lattice: Lattice, passed: Mapping[tuple[str, ...], set[Node]]) -> list[Node]:
    """The nodes whose every projection onto one attribute fewer is feasible."""
    attributes = range(len(lattice.names))
    # A projection suppresses one attribute: where that is infeasible, so is the node.
    below = [passed[(*lattice.names[:i], *lattice.names[i + 1 :])] for i in attributes]
    return [
        node for node in lattice if all((*node[:i], *node[i + 1 :]) in below[i] for i in attributes)
    ]


def _climb(problem: Problem, graph: "nx.DiGraph[Node]") -> tuple[set[Node], int]:
    """Go up the candidates generation by generation, rolling counts up where they are infeasible.

    Gives the feasible candidates and how many were checked.
    """
    import networkx as nx  # loaded when first needed: see Lattice.graph

    feasible: set[Node] = set()
    reached: dict[Node, Counts] = {}
    total = 0
    for generation in map(set, list(nx.topological_generations(graph))):
        counted = {node: _rolled(problem, node, reached) for node in generation - feasible}
        total += len(counted)
        kept = {node for node, counts in counted.items() if problem.feasible(counts)}
        feasible |= kept.union(*(nx.descendants(graph, node) for node in kept))
        reached = {node: counts for node, counts in counted.items() if node not in kept}
    return feasible, total


def _rolled(problem: Problem, node: Node, reached: Mapping[Node, Counts]) -> Counts:
    # From the fewest classes among the direct specializations that are counted already.
    below = [reached[lower] for lower in problem.lattice.below(node) if lower in reached]
    return problem.at(node, min(below, key=len, default=problem.counts))
