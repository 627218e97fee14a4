"""The frontier of a policy: all minimal nodes that satisfy it.

Feasible nodes of a monotone policy are an up-closed set. Whatever is known of a node is known of
all above it (when feasible) or below it (when not), and the frontier is certified by its own nodes
and the maximal infeasible ones. Ways to find it:

- *top-down*: from the top, a node is counted when all its direct generalizations are feasible.
  Counts the feasible nodes and the maximal infeasible ones, and needs no memory for the others:
  best where feasible nodes are few.
- *bisection*: climb a chain of undecided nodes from the lexicographically first one and bisect it,
  as Flash does (Kohlmayer et al. 2012); every node counted decides a whole box. Needs a byte per
  node.
- *Incognito*, by subsets of attributes, the classic to compare: on counts, not on keys and kernels,
  so that it is a second, independent way to the same answer.
- *exhaustive*: every node is counted; the yardstick for the others, and the way for models that are
  not monotone.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.kernels import FrequencySet
from anonymizer.kernels.driver import Strategy
from anonymizer.privacy import require_monotone
from anonymizer.recoding.apply import accepts
from anonymizer.recoding.lattice import Lattice, Node, Trace
from anonymizer.recoding.nodes import Answer, Evaluator, drives
from anonymizer.recoding.policy import Suppression
from anonymizer.recoding.problem import (
    ALONE,
    Found,
    Frontier,
    Problem,
    Run,
    Scored,
    in_parallel,
    jobs_for_nodes,
    winner,
)

if TYPE_CHECKING:
    import networkx as nx

    from anonymizer.recoding.full_domain.driven import DrivenSearch


UNDECIDED, INFEASIBLE, FEASIBLE, OUT = 0, 1, 2, 3
"""What is known of a node; out: it is undecided, but can neither win nor tie, or not allowed."""

SCAN = 1 << 14
"""Nodes looked through at a time for an undecided one."""

SMALL = 50_000
"""Nodes up to which a lattice is bisected at once."""

SPARSE = 200
"""Nodes of a large lattice for each one that may be counted top-down before it is bisected."""

Status = NDArray[np.int8]

Note = Callable[[Node, FrequencySet], None]
"""Called with every feasible node that was counted; the classes are valid until the next one."""


def forget(node: Node, classes: FrequencySet) -> None:
    """Take no note."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of the feasible nodes that a search counts, which the compiled driver knows, too.

    Parameters
    ----------
    evaluator
        What scores.
    found
        The scores, by node.
    """

    evaluator: Evaluator
    found: dict[Node, Scored] = field(default_factory=dict)

    def __call__(self, node: Node, classes: FrequencySet) -> None:
        """Score a node, nothing of which is suppressed."""
        plain = self.evaluator.plain(node, classes)
        self.found[node] = self.evaluator.objective.score(plain), plain.released_classes, node


def drivable(problem: Problem, note: Note) -> bool:
    """Return whether the compiled driver can search, and note what is to be noted."""
    return drives(problem.evaluator, problem.lattice) and (
        note is forget or isinstance(note, Scores)
    )


def driven(
    problem: Problem, run: Run, note: Note, strategy: Strategy, board: "Board", most: int
) -> "DrivenSearch":
    """Search with the compiled driver; what becomes known is entered on the board."""
    from anonymizer.recoding.full_domain.driven import DrivenSearch

    evaluator = replace(problem.evaluator, suppression=Suppression())  # whatever the budget is
    found = DrivenSearch.of(evaluator, board.lattice, board.status)
    found.searched(strategy, run, "searching the lattice", refuse, most)
    if isinstance(note, Scores):
        note.found.update({entry[2]: entry for entry in found.scored})
    board.counted = found.counted
    return found


def refuse(node: Node, classes: FrequencySet) -> Answer:
    """Refuse to answer: without suppression the driver has no question."""
    raise AssertionError(f"asked about {node}")


def automatic(problem: Problem, run: Run = ALONE, note: Note = forget) -> Frontier:
    """The feasible nodes of a monotone policy, by whichever of the two ways is quicker.

    Small lattices are bisected. In large ones the feasible nodes are usually few, and bisection
    would spend its time on the others: they are searched top-down until too many nodes turn out
    feasible.
    """
    lattice = problem.lattice
    if lattice.size > SMALL:
        found = _descend(problem, run, note, most=lattice.size // SPARSE)
        if found is not None:
            return found
    return bisection(problem, run, note)


def top_down(problem: Problem, run: Run = ALONE, note: Note = forget) -> Frontier:
    """The feasible nodes of a monotone policy, searched from the top.

    Raises
    ------
    InputError
        When a model is not monotone.
    """
    found = _descend(problem, run, note, most=None)
    assert found is not None
    return found


def bisection(problem: Problem, run: Run = ALONE, note: Note = forget) -> Frontier:
    """The feasible nodes of a monotone policy, by bisection of chains of undecided nodes.

    Raises
    ------
    InputError
        When a model is not monotone, or the lattice too large for a byte per node.
    """
    require_monotone(problem.models, "bisection")
    require_searchable(problem.lattice)
    evaluator = problem.evaluator
    board = Board(problem.lattice)
    if drivable(problem, note):
        driven(problem, run, note, Strategy.BISECTION, board, 0)
        return board.frontier()
    sets = evaluator.sets()
    while (chain := board.chain()) is not None:
        run.watch("searching the lattice", board.decided, board.status.size)
        for node in bisected(board, chain):
            classes = sets.at(node)
            board.decide(node, holds := evaluator.holds(classes))
            if holds:
                note(node, classes)
    return board.frontier()


def bisected(board: "Board", chain: list[Node]) -> Iterator[Node]:
    """The nodes of a chain to decide, one after the other, until all of it is known."""
    low, high = 0, len(chain) - 1
    # All before low are infeasible. What stays open after high, if anything, is on a later chain.
    while low <= high:
        middle = (low + high) // 2
        if board.status[chain[middle]] == UNDECIDED:
            yield chain[middle]
        if board.status[chain[middle]] == INFEASIBLE:
            low = middle + 1
        else:
            high = middle - 1


def _descend(problem: Problem, run: Run, note: Note, most: int | None) -> Frontier | None:
    """Search top-down; None when more than ``most`` nodes would have to be counted."""
    require_monotone(problem.models, "top-down")
    lattice, evaluator = problem.lattice, problem.evaluator
    if drivable(problem, note):
        return _descend_driven(problem, run, note, most)
    sets = evaluator.sets()
    passed: set[Node] = set()
    layer: set[Node] = {lattice.heights}
    counted: list[Node] = []
    while layer:
        found = set()
        # In an order that no hash decides, so that as many are counted in every run.
        for node in sorted(layer):
            if len(counted) == most:
                return None
            counted.append(node)
            run.watch("searching the lattice", len(counted), None)
            classes = sets.at(node)
            if evaluator.holds(classes):
                note(node, classes)
                found.add(node)
        passed |= found
        below = {lower for node in found for lower in lattice.below(node)}
        # Models are monotone: below an infeasible node none is feasible.
        layer = {node for node in below if found.issuperset(lattice.above(node))}
    return Frontier(
        tuple(lattice.minimal(passed)),
        lattice.size,
        len(passed),
        len(counted),
        "top-down",
        trace=Trace.counting(lattice, counted),
    )


def _descend_driven(problem: Problem, run: Run, note: Note, most: int | None) -> Frontier | None:
    """Search top-down with the compiled driver; None as ``_descend``."""
    lattice = problem.lattice
    board = Board(lattice)
    found = driven(
        problem, run, note, Strategy.DESCENT, board, lattice.size if most is None else most
    )
    if found.cut_short:
        return None
    passed = [node for node in board.counted if board.status[node] == FEASIBLE]
    return Frontier(
        tuple(lattice.minimal(passed)),
        lattice.size,
        len(passed),
        board.checked,
        "top-down",
        trace=Trace.counting(lattice, board.counted),
    )


@dataclass(eq=False)
class Board:
    """The status of every node of a lattice.

    Parameters
    ----------
    lattice
        The lattice.
    status
        One of ``UNDECIDED``, ``INFEASIBLE`` and ``FEASIBLE`` per node, an axis per attribute.
    counted
        The nodes that were decided by counting them.
    """

    lattice: Lattice
    status: Status = field(init=False)
    counted: list[Node] = field(default_factory=list)
    _flat: memoryview = field(init=False)
    _strides: tuple[int, ...] = field(init=False)
    _shares: list[list[float]] = field(init=False)
    _first: int = 0

    def __post_init__(self) -> None:
        heights = self.lattice.heights
        self.status = np.full(self.lattice.shape, OUT, np.int8)
        self.status[tuple(slice(level, None) for level in self.lattice.bottom)] = UNDECIDED
        self._flat = memoryview(self.status.reshape(-1))  # type: ignore[arg-type]
        self._strides = self.status.strides  # of bytes, so of places
        self._shares = [[level / max(h, 1) for level in range(h)] + [1.0] for h in heights]

    def decide(self, node: Node, feasible: bool) -> None:
        """Enter that a node was counted, and what follows for the nodes above or below."""
        self.counted.append(node)
        if feasible:
            self.status[tuple(slice(level, None) for level in node)] = FEASIBLE
        else:
            bottom = self.lattice.bottom
            below = tuple(slice(low, level + 1) for low, level in zip(bottom, node, strict=True))
            self.status[below] = INFEASIBLE

    def chain(self) -> list[Node] | None:
        """A maximal chain of undecided nodes from the lexicographically first one; None when done.

        Climbs where the attribute is relatively least generalized, as balanced nodes decide most.
        """
        place = self._next()
        if place is None:
            return None
        levels = [int(level) for level in np.unravel_index(place, self.status.shape)]
        chain = [tuple(levels)]
        while (axis := self._climb(place, levels)) is not None:
            place += self._strides[axis]
            levels[axis] += 1
            chain.append(tuple(levels))
        return chain

    def frontier(self) -> Frontier:
        """The frontier of a lattice that was bisected."""
        feasible = self.status == FEASIBLE
        return Frontier(
            tuple(lowest(feasible)),
            self.lattice.size,
            int(feasible.sum()),
            self.checked,
            "bisection",
            trace=Trace.counting(self.lattice, self.counted),
        )

    @property
    def checked(self) -> int:
        """The number of nodes that were decided by counting them."""
        return len(self.counted)

    @property
    def decided(self) -> int:
        """Nodes known to be decided: those before the first undecided one."""
        return self._first

    def _next(self) -> int | None:
        """The place of the first undecided node."""
        flat = self.status.reshape(-1)
        # Nothing becomes undecided again: all before the first such node stay decided.
        while self._first < len(flat):
            # A part at a time: the first undecided node is near most of the time.
            block = flat[self._first : self._first + SCAN]
            place = int((block == UNDECIDED).argmax())
            if block[place] == UNDECIDED:
                self._first += place
                return self._first
            self._first += len(block)
        return None

    def _climb(self, place: int, levels: list[int]) -> int | None:
        """The attribute to raise: relatively least generalized, and still undecided then."""
        chosen, least = None, 1.0
        for axis, level in enumerate(levels):
            share = self._shares[axis][level]
            if share < least and self._flat[place + self._strides[axis]] == UNDECIDED:
                chosen, least = axis, share
        return chosen


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
    if problem.counts_persons:
        scored = [entry for entry in scored if accepts(problem, problem.levels(entry[2]))]
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
        # In place: ``above`` is a view of what is kept. A node is held against all that are marked,
        # whether or not another axis took them out.
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
    bottom = evaluator.rolled(evaluator.base, tuple(node))
    stack = [bottom] * len(heights)  # stack[d]: the levels after d still the lowest
    yield tuple(node), bottom
    while True:
        raised = [i for i in range(len(prefix), len(heights)) if node[i] < heights[i]]
        if not raised:
            return
        last = raised[-1]
        node[last + 1 :] = floors[last + 1 :]
        node[last] += 1
        classes = evaluator.rolled(stack[last], tuple(node))
        stack[last:] = [classes] * (len(heights) - last)
        yield tuple(node), classes


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
        counted = {}
        for node in generation - feasible:
            # From the fewest classes among the direct specializations that are counted already.
            below = [reached[lower] for lower in problem.lattice.below(node) if lower in reached]
            counted[node] = problem.at(node, min(below, key=len, default=problem.counts))
        total += len(counted)
        kept = {node for node, counts in counted.items() if problem.feasible(counts)}
        feasible |= kept.union(*(nx.descendants(graph, node) for node in kept))
        reached = {node: counts for node, counts in counted.items() if node not in kept}
    return feasible, total
