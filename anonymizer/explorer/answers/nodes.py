"""The lattice of a study: its nodes as a picture has them, and what the best of them keep."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anonymizer.advice.advise import space_of
from anonymizer.advice.space import FoundRelease, found_by_levels
from anonymizer.errors import PolicyUnreachableError
from anonymizer.explorer.answers.counted import CountedStudy
from anonymizer.explorer.answers.outcome import StudyOutcome, aim_of
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Taxonomy
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.hasse import kind_of, lattice_graph, places, spine
from anonymizer.recoding.lattice import MOST_TRACED, Lattice, Node
from anonymizer.recoding.recoding import Task

if TYPE_CHECKING:
    from anonymizer.recoding.lattice import LatticeGraph

MOST_LISTED = 30
"""Minimal nodes whose figures are computed, each of which takes some milliseconds."""

KINDS: Mapping[str, str] = {
    "optimum": "optimum",
    "minimal": "minimal",
    "feasible": "holds",
    "infeasible": "breaks",
    "unknown": "not known",
}
"""The kinds of nodes, in words."""


@dataclass(frozen=True)
class ShownNode:
    """A node in a picture: how far it is from the middle of its row, and what is known of it."""

    node: Node
    across: float
    kind: str


@dataclass(frozen=True, eq=False)
class SearchedLattice:
    """The lattice of a study, searched for the best node.

    ``shown`` are the nodes of its picture, all of them where it is ``complete``; ``links`` pairs of
    their places, the more general one second. ``found`` has what the optimum keeps and the minimal
    nodes, the optimum first. ``aim`` is what a better node does, in words. ``refusal`` says why no
    node satisfies the policy, where none does.
    """

    lattice: Lattice
    taxonomies: Mapping[str, Taxonomy] = field(repr=False)
    graph: "LatticeGraph" = field(repr=False)
    best: Node | None
    shown: Sequence[ShownNode] = field(repr=False)
    links: Sequence[tuple[int, int]] = field(repr=False)
    found: Mapping[Node, FoundRelease] = field(repr=False)
    complete: bool
    aim: str
    refusal: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order of levels."""
        return self.lattice.names

    def kind(self, node: Node) -> str:
        """What is known of a node; ``unknown`` where the picture does not have it."""
        return next((each.kind for each in self.shown if each.node == node), "unknown")

    def example(self, name: str, level: int, shows_labels: bool = True) -> str:
        """How many groups a level has, and one of them as it would be released."""
        partition = self.taxonomies[name].levels[level]
        groups = len(partition)
        number = plural(groups, "group")
        if groups == 1:
            return "one group, so that nothing is said of it"
        if level == 0:
            return f"{groups:,} values, as they are"
        return f"{number}, such as {partition.labels[0]}" if shows_labels else number


def nodes_of(counted: CountedStudy, watch: Watch = ignore) -> SearchedLattice:
    """The lattice of a study whose recoding is one over levels.

    Raises InputError when the study cannot be carried out.
    """
    task = counted.task(watch)
    recoding = counted.anonymizer(watch).chosen_recoding
    assert isinstance(recoding, Generalization)
    try:
        graph = _searched(recoding, task)
    except PolicyUnreachableError as error:
        return _without_any(task, str(error))
    space = space_of(recoding, task)
    best = graph.graph["best"]
    lattice = Lattice.of(task.counted.taxonomies)
    kept = list(_kept(graph, best))[: MOST_LISTED + 1]
    found = {node: found_by_levels(space, node, recoding.name) for node in kept}
    return _of(graph, task, lattice, best=best, found=found)


def _searched(recoding: Generalization, task: Task) -> "LatticeGraph":
    counts, taxonomies = task.counted.counts, task.counted.taxonomies
    problem = recoding.problem(counts, taxonomies, task.models, task.objective)
    partitions, search = recoding.choose(problem, task.seed, task.run)
    return lattice_graph(search, partitions, taxonomies)


def _kept(graph: "LatticeGraph", best: Node | None) -> Iterator[Node]:
    """The optimum, then the minimal nodes that keep most."""
    known: Mapping[Node, Mapping[str, Any]] = graph.nodes
    if best is not None:
        yield best
    minimal = [node for node in graph if known[node]["minimal"] and node != best]
    yield from sorted(minimal, key=lambda node: (-(known[node]["information"] or 0.0), node))


def _without_any(task: Task, refusal: str) -> SearchedLattice:
    """The lattice where no node satisfies the policy."""
    lattice = Lattice.of(task.counted.taxonomies)
    complete = lattice.size <= MOST_TRACED
    graph = lattice.graph(None if complete else spine(lattice, (), None))
    for node in graph:
        graph.nodes[node].update(feasible=False, minimal=False)
    graph.graph.update(complete=complete, best=None)
    return _of(graph, task, lattice, best=None, found={}, refusal=refusal)


def _of(graph: "LatticeGraph", task: Task, lattice: Lattice, **known: Any) -> SearchedLattice:
    at, best = places(graph), known["best"]
    shown = [
        ShownNode(node, across, "optimum" if node == best else kind_of(graph.nodes[node]))
        for node, (across, _) in at.items()
    ]
    place = {each.node: number for number, each in enumerate(shown)}
    links = [(place[low], place[high]) for low, high in graph.edges]
    complete = bool(graph.graph["complete"])
    taxonomies = task.counted.taxonomies
    known |= {"shown": shown, "links": links, "complete": complete, "aim": aim_of(task)}
    return SearchedLattice(lattice, taxonomies, graph, **known)


def chosen_in(outcome: StudyOutcome, nodes: SearchedLattice) -> Node | None:
    """The node that is chosen now; None where the recoding is not one of levels alone."""
    if outcome.plan is None or outcome.plan.random:
        return None
    levels = outcome.plan.levels
    if {*levels} != {*nodes.names}:
        return None
    return tuple(levels[name] for name in nodes.names)


def broken_in(outcome: StudyOutcome) -> str:
    """Which models of the policy break, and in how many classes; empty where none does."""
    parts = [
        f"{each.model.name} in {each.violating:,} of {each.classes:,}"
        for each in outcome.verdicts
        if not each.satisfied
    ]
    return (
        "" if outcome.holds or not parts else f"Classes that break the policy: {', '.join(parts)}."
    )


def label_of(node: Node) -> str:
    """A node in short: its levels, in the order of the quasi-identifiers.

    >>> label_of((2, 0, 1))
    '2·0·1'
    """
    return "·".join(map(str, node))


def words_of(names: Sequence[str], node: Node) -> str:
    """A node in words.

    >>> words_of(["age", "sex"], (2, 0))
    'age 2, sex 0'
    """
    return ", ".join(f"{name} {level}" for name, level in zip(names, node, strict=True))
