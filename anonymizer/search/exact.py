"""Exact searches of the lattice for the minimal nodes that satisfy a policy.

Where every model is monotone, what satisfies the policy still does when classes merge: the
feasible nodes are an up-closed set, told by its minimal nodes, the frontier. Since no objective
rises when classes merge, the best node is a minimal one in any case.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import joblib
import networkx as nx

from anonymizer.counts import Counts
from anonymizer.errors import InputError
from anonymizer.hierarchy import Taxonomy
from anonymizer.lattice import Lattice, Node, level_recoding
from anonymizer.objectives import Objective
from anonymizer.privacy import TOLERANCE, PrivacyModel, acceptable, require_monotone

__all__ = ["SEARCHES", "Frontier", "Problem", "Search", "best_node", "exhaustive", "incognito"]

MOST_NODES = 1_000_000
"""Lattices beyond are refused at once rather than searched for hours."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A table's counts, how they can be recoded, and what a recoding must satisfy.

    Parameters
    ----------
    counts
        Counts of the raw quasi-identifiers.
    taxonomies
        The nested partitions of each quasi-identifier, in the order of ``counts.names``.
    models
        The policy.
    """

    counts: Counts
    taxonomies: Mapping[str, Taxonomy]
    models: Sequence[PrivacyModel]

    @property
    def lattice(self) -> Lattice:
        """The levels of the quasi-identifiers that are counted."""
        return Lattice.of({name: self.taxonomies[name] for name in self.counts.names})

    def project(self, names: tuple[str, ...]) -> "Problem":
        """The problem of some quasi-identifiers, the others being suppressed."""
        return replace(self, counts=self.counts.project(names))

    def at(self, node: Node, source: Counts | None = None) -> Counts:
        """The counts at a node, rolled up from those at any node below (or from the raw ones)."""
        source = self.counts if source is None else source
        return source.recode(level_recoding(self.taxonomies, source.names, node))

    def feasible(self, counts: Counts) -> bool:
        """Whether every class satisfies every model."""
        return bool(acceptable(counts, self.models).all())


@dataclass(frozen=True)
class Frontier:
    """What a search of the lattice found.

    Parameters
    ----------
    minimal
        The feasible nodes without a feasible specialization, lexicographically.
    nodes
        Nodes of the lattice.
    feasible
        Feasible nodes among them.
    checked
        How many nodes were counted and held against the models, those of the lattices of fewer
        attributes included.
    """

    minimal: tuple[Node, ...]
    nodes: int
    feasible: int
    checked: int


Search = Callable[[Problem, int | None], Frontier]


def exhaustive(problem: Problem, n_jobs: int | None = None) -> Frontier:
    """Check every node: the yardstick for other searches, and the one for models of any kind."""
    lattice = problem.lattice
    _require_searchable(lattice)
    reached: dict[Node, Counts] = {}
    feasible = []
    for generation in nx.topological_generations(lattice.graph()):
        checked = _check(problem, [(n, _source(problem, n, reached)) for n in generation], n_jobs)
        reached = {node: counts for node, counts, _ in checked}
        feasible += [node for node, _, holds in checked if holds]
    minimal = tuple(lattice.minimal(feasible))
    return Frontier(minimal, len(lattice), len(feasible), len(lattice))


def incognito(problem: Problem, n_jobs: int | None = None) -> Frontier:
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
    _require_searchable(lattice)
    passed: dict[tuple[str, ...], set[Node]] = {(): {()}}
    checked = 0
    for size in range(1, len(lattice.names) + 1):
        larger = {}
        for names in combinations(lattice.names, size):
            part = problem.project(names)
            graph = part.lattice.graph(_candidates(part.lattice, passed))
            larger[names], looked_at = _climb(part, graph, n_jobs)
            checked += looked_at
        passed = larger
    feasible = passed[lattice.names]
    return Frontier(tuple(lattice.minimal(feasible)), len(lattice), len(feasible), checked)


SEARCHES: Mapping[str, Search] = {"incognito": incognito, "exhaustive": exhaustive}
"""What a study file calls each search; the first is the default."""


def best_node(problem: Problem, nodes: Iterable[Node], objective: Objective) -> Node:
    """The node of the highest objective.

    Ties, within ``TOLERANCE``: the node of more classes, then the lexicographically smallest. No
    node above the frontier can win or tie its way past it: it has no higher objective, no more
    classes and is lexicographically larger.
    """
    found = [(node, problem.at(node)) for node in nodes]
    scores = {node: objective(counts) for node, counts in found}
    top = max(scores.values())
    tied = [(-len(counts), node) for node, counts in found if scores[node] >= top - TOLERANCE]
    return min(tied)[1]


def _require_searchable(lattice: Lattice) -> None:
    if len(lattice) > MOST_NODES:
        raise InputError(
            f"the lattice has {len(lattice):,} nodes, more than the {MOST_NODES:,} that can be "
            "searched; use hierarchies of fewer levels or fewer quasi-identifiers"
        )


def _candidates(lattice: Lattice, passed: Mapping[tuple[str, ...], set[Node]]) -> list[Node]:
    """The nodes whose every projection onto one attribute fewer is feasible."""
    attributes = range(len(lattice.names))
    below = [passed[(*lattice.names[:i], *lattice.names[i + 1 :])] for i in attributes]
    return [
        node for node in lattice if all((*node[:i], *node[i + 1 :]) in below[i] for i in attributes)
    ]


def _climb(
    problem: Problem, graph: "nx.DiGraph[Node]", n_jobs: int | None
) -> tuple[set[Node], int]:
    """Go up the candidates generation by generation, rolling counts up where they are infeasible.

    Gives the feasible candidates and how many were checked.
    """
    feasible: set[Node] = set()
    reached: dict[Node, Counts] = {}
    total = 0
    for generation in list(nx.topological_generations(graph)):
        tasks = [(n, _source(problem, n, reached)) for n in generation if n not in feasible]
        checked = _check(problem, tasks, n_jobs)
        total += len(checked)
        for node, _, holds in checked:
            if holds:
                feasible |= {node, *nx.descendants(graph, node)}
        reached = {node: counts for node, counts, holds in checked if not holds}
    return feasible, total


def _source(problem: Problem, node: Node, reached: Mapping[Node, Counts]) -> Counts:
    """What to roll up: the fewest classes among the direct specializations already counted."""
    below = [reached[lower] for lower in problem.lattice.below(node) if lower in reached]
    return min(below, key=len, default=problem.counts)


def _check(
    problem: Problem, tasks: Sequence[tuple[Node, Counts]], n_jobs: int | None
) -> list[tuple[Node, Counts, bool]]:
    """Count and judge independent nodes; where that runs is up to joblib and its caller."""
    jobs = (joblib.delayed(_judge)(problem, node, source) for node, source in tasks)
    return list(joblib.Parallel(n_jobs=n_jobs, prefer="threads")(jobs)) if tasks else []


def _judge(problem: Problem, node: Node, source: Counts) -> tuple[Node, Counts, bool]:
    counts = problem.at(node, source)
    return node, counts, problem.feasible(counts)
