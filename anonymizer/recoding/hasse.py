"""The lattice of levels as a graph, with what a search learned about its nodes.

In: the result of a search over levels, the taxonomies, and the recoding that was chosen. Out: a
networkx graph. No record is needed, so that a pickled estimator can draw it as well.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import le
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.counts.counts import Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import InputError
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels.arrays import Ints
from anonymizer.recoding.apply import levels_of
from anonymizer.recoding.lattice import MOST_TRACED, Lattice, Node, Trace
from anonymizer.recoding.recoding import Recoding, SearchResult
from anonymizer.recoding.rehearsal import AGAINST, REHEARSAL

if TYPE_CHECKING:
    from anonymizer.recoding.lattice import LatticeGraph


def require_lattice(recoding: Recoding) -> None:
    """Refuse a recoding that does not search over levels."""
    if not recoding.over_levels:
        raise _without(f"recoding {recoding.name!r}")


def lattice_graph(
    search: SearchResult, recoding: Partitions | Regions, taxonomies: Mapping[str, Taxonomy]
) -> "LatticeGraph":
    """The lattice that a search went over, as a networkx graph.

    Nodes are tuples of levels, one per quasi-identifier; edges lead to the direct generalizations.
    Beyond ``MOST_TRACED`` nodes the graph has the minimal feasible nodes, the best node, the bottom
    and the top, and a path from each of these to the bottom and to the top.

    Every node has the attributes

    - ``feasible``: whether it satisfies the policy; None where the search did not need to know;
    - ``minimal``: whether it is feasible and none of its direct specializations is; None likewise;
    - ``checked``: whether the search counted it; None where that was not recorded;
    - ``value``: what the objective came to there, in its own unit; None where it is not known;
    - ``information``: I(X~;W) in bits kept there; None where it is not known;
    - ``best``: whether it is the node that was chosen.

    The graph has the attributes ``quasi_identifiers``, ``floors`` and ``heights``, the lowest and
    the highest levels that a release may use, in the order of levels;
    ``objective``, ``strategy`` and ``proven``, as in ``search_``; ``nodes``, ``checked`` and
    ``feasible``, the numbers of all nodes, of those counted and of those feasible (None where
    unknown); ``best``, the node that was chosen, None where the recoding is none; ``complete``,
    whether all nodes are in the graph.

    InputError when the search was not over levels.
    """
    if search.strategy == REHEARSAL:
        raise InputError(
            f"{AGAINST} has levels chosen by invented values, whose lattice says nothing "
            "of this one; leave it out to look at the lattice, and let that decide nothing"
        )
    if search.trace is None:
        raise _without("this recoding")
    lattice, levels = Lattice.of(taxonomies), levels_of(recoding, taxonomies)
    chosen = len(levels) == len(taxonomies)  # else an attribute has partitions of its own
    best = tuple(levels[name] for name in taxonomies) if chosen else None
    known = NodeKnowledge(lattice, search, search.trace, best)
    complete = lattice.size <= MOST_TRACED
    graph = lattice.graph(None if complete else spine(lattice, search.minimal or (), best))
    shared = ("objective", "strategy", "proven", "checked", "feasible")
    graph.graph.update(
        quasi_identifiers=lattice.names,
        floors=lattice.bottom,
        heights=lattice.heights,
        nodes=lattice.size,
        best=best,
        complete=complete,
        **{name: getattr(search, name) for name in shared},
    )
    for node in graph:
        graph.nodes[node].update(known.of(node))
    return graph


def spine(lattice: Lattice, minimal: Iterable[Node], best: Node | None) -> set[Node]:
    """The minimal nodes, the best one, and paths from each to the bottom and to the top.

    Where the best node lies above a minimal one, its path to the bottom leads through that.
    """
    bottom, top = lattice.bottom, lattice.heights
    kept = {bottom, top}
    for node in minimal:
        kept |= {*_path(bottom, node), *_path(node, top)}
    if best is not None:
        below = (node for node in minimal if all(map(le, node, best)))
        kept |= {*_path(next(below, bottom), best), *_path(best, top)}
    return kept


def places(nodes: Iterable[Node]) -> dict[Node, tuple[float, int]]:
    """Place each node: the middle of a layer is at 0, and the height is the sum of levels."""
    layers: dict[int, list[Node]] = {}
    for node in sorted(nodes, reverse=True):
        layers.setdefault(sum(node), []).append(node)
    return {
        node: (place - (len(layer) - 1) / 2, height)
        for height, layer in layers.items()
        for place, node in enumerate(layer)
    }


def kind_of(known: Mapping[str, object]) -> str:
    """Return the status of a node: ``unknown``, ``infeasible``, ``minimal`` or ``feasible``."""
    if known["feasible"] is None:
        return "unknown"
    if not known["feasible"]:
        return "infeasible"
    return "minimal" if known["minimal"] else "feasible"


def _path(low: Node, high: Node) -> Iterator[Node]:
    """The nodes from one to another above it, raising one attribute after the other."""
    node = low
    yield node
    for axis, level in enumerate(high):
        while node[axis] < level:
            node = (*node[:axis], node[axis] + 1, *node[axis + 1 :])
            yield node


@dataclass(frozen=True, eq=False)
class NodeKnowledge:
    """Attributes of each node of a lattice after a search."""

    lattice: Lattice
    search: SearchResult
    trace: Trace
    best: Node | None

    def of(self, node: Node) -> dict[str, object]:
        """The attributes of a node."""
        trace, best = self.trace, node == self.best
        # The value of the best node was summed in the order of keys, to the last bit.
        value = self.search.value if best else trace.scores.get(node)
        unknown = trace.counted is None and node not in trace.scores  # what has a score was counted
        return {
            "feasible": self.feasible(node),
            "minimal": self.minimal(node),
            "checked": None if unknown else node in trace.scores or node in (trace.counted or ()),
            "value": value,
            "information": value if trace.informs else None,
            "best": best,
        }

    def feasible(self, node: Node) -> bool | None:
        """Return whether a node satisfies the policy; None where nothing known implies either."""
        trace = self.trace
        if node in trace.scores or node in self._frontier or node == self.best:
            return True
        if node in trace.infeasible:
            return False
        # Above a feasible node all are feasible, and below an infeasible one none is.
        if trace.upward and (self._low <= node).all(axis=1).any():
            return True
        if trace.complete or (trace.upward and (self._high >= node).all(axis=1).any()):
            return False
        return None

    def minimal(self, node: Node) -> bool | None:
        """Return whether a node is feasible and none directly below is; None where not known."""
        if self.search.minimal is not None:
            return node in self._frontier
        feasible = self.feasible(node)
        if not feasible:
            return feasible
        # One feasible node below decides, whatever is unknown of the others.
        below = [self.feasible(lower) for lower in self.lattice.below(node)]
        return False if True in below else None if None in below else True

    @cached_property
    def _frontier(self) -> frozenset[Node]:
        return frozenset(self.search.minimal or ())

    @cached_property
    def _low(self) -> Ints:
        return self._rows(self._frontier or self.trace.scores)

    @cached_property
    def _high(self) -> Ints:
        return self._rows(self.trace.infeasible)

    def _rows(self, nodes: Iterable[Node]) -> Ints:
        return np.array(list(nodes), np.int64).reshape(-1, len(self.lattice.names))


def _without(what: str) -> InputError:
    return InputError(
        f"{what} does not search over levels, so that it has no lattice; choose one that has, "
        "such as full-domain"
    )
