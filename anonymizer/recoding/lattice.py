"""The lattice of full-domain generalizations, and what a search learned about its nodes."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.counts.counts import Partitions
from anonymizer.hierarchy import Taxonomy

if TYPE_CHECKING:
    import networkx as nx

    # The type by which other rooms know the graph, so that none of them imports networkx.
    LatticeGraph = nx.DiGraph[tuple[int, ...]]

Node = tuple[int, ...]


@dataclass(frozen=True)
class Lattice:
    """Nodes are levels, one per name; going up raises levels, from ``bottom`` towards ``heights``.

    The bottom is all 0 where no ``floors`` are given.

    Examples
    --------
    >>> lattice = Lattice(("age", "sex"), (2, 1))
    >>> lattice.size, lattice.above((1, 0)), lattice.below((1, 0))
    (6, [(2, 0), (1, 1)], [(0, 0)])
    >>> lattice.up_set([(1, 1), (2, 0)])
    [(1, 1), (2, 0), (2, 1)]
    """

    names: tuple[str, ...]
    heights: Node
    floors: Node = ()

    @classmethod
    def of(cls, taxonomies: Mapping[str, Taxonomy]) -> "Lattice":
        """The lattice of all levels of the taxonomies that a release may use."""
        known = taxonomies.values()
        finest = tuple(taxonomy.finest for taxonomy in known)
        heights = tuple(taxonomy.coarsest for taxonomy in known)
        return cls(tuple(taxonomies), heights, finest if any(finest) else ())

    @property
    def bottom(self) -> Node:
        """The lowest node."""
        return self.floors or (0,) * len(self.heights)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an array with an entry for every node, at its levels."""
        return tuple(height + 1 for height in self.heights)

    @property
    def room(self) -> int:
        """The entries of such an array."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """The number of nodes, which may be too large for ``len``."""
        return prod(map(len, self._levels()))

    def first(self, number: int) -> "Lattice":
        """The lattice of the first attributes."""
        return Lattice(self.names[:number], self.heights[:number], self.bottom[:number])

    def _levels(self) -> list[range]:
        return [range(low, high + 1) for low, high in zip(self.bottom, self.heights, strict=True)]

    def __iter__(self) -> Iterator[Node]:
        """All nodes in lexicographic order."""
        return product(*self._levels())

    def above(self, node: Node) -> list[Node]:
        """The direct generalizations of a node."""
        return [
            (*node[:i], level + 1, *node[i + 1 :])
            for i, level in enumerate(node)
            if level < self.heights[i]
        ]

    def below(self, node: Node) -> list[Node]:
        """The direct specializations of a node."""
        floors = self.bottom
        return [
            (*node[:i], level - 1, *node[i + 1 :])
            for i, level in enumerate(node)
            if level > floors[i]
        ]

    def graph(self, nodes: Iterable[Node] | None = None) -> "LatticeGraph":
        """The Hasse diagram of all nodes, or of some, edges pointing to the more general node.

        networkx is loaded when it is first needed: no default search draws the diagram.
        """
        from anonymizer.recoding.diagram import LatticeDiagram

        kept = set(self) if nodes is None else set(nodes)
        graph: LatticeGraph = LatticeDiagram()
        graph.add_nodes_from(sorted(kept))
        graph.add_edges_from((node, up) for node in kept for up in self.above(node) if up in kept)
        return graph

    def minimal(self, nodes: Iterable[Node]) -> list[Node]:
        """The nodes of an up-closed set without a specialization in it, lexicographically."""
        kept = set(nodes)
        return sorted(node for node in kept if kept.isdisjoint(self.below(node)))

    def up_set(self, nodes: Iterable[Node]) -> list[Node]:
        """All generalizations of the nodes, themselves included, lexicographically."""
        reached = np.zeros(self.shape, bool)
        for node in nodes:
            reached[node] = True
        # Closed upwards along one axis after the other, it is closed along all.
        for axis in range(reached.ndim):
            np.logical_or.accumulate(reached, axis=axis, out=reached)
        return [tuple(map(int, node)) for node in np.argwhere(reached)]


def level_recoding(
    taxonomies: Mapping[str, Taxonomy], names: tuple[str, ...], node: Node
) -> Partitions:
    """The partitions that a node stands for."""
    return {name: taxonomies[name].levels[level] for name, level in zip(names, node, strict=True)}


MOST_TRACED = 512
"""Nodes of the largest lattice that is traced node by node: nine attributes of two levels each."""


@dataclass(frozen=True)
class Trace:
    """Levels, statuses and scores of single nodes as a search found them.

    ``scores`` are of feasible nodes: the objective, first as the search maximises it, in a
    ``SearchResult`` in its own unit, which is I(X~;W) in bits where it ``informs``. ``infeasible``
    nodes were found not to satisfy the policy. ``counted`` is None where that was not recorded.
    ``upward``: all generalizations of a feasible node are feasible. ``complete``: all nodes are
    infeasible of which nothing else is known. No record and no count of one is part of it, so that
    it may be pickled with what was fitted.
    """

    scores: Mapping[Node, float] = field(default_factory=dict)
    infeasible: frozenset[Node] = frozenset()
    counted: frozenset[Node] | None = None
    upward: bool = False
    complete: bool = False
    informs: bool = False

    @classmethod
    def of(
        cls,
        lattice: Lattice,
        scored: Iterable[tuple[float, int, Node]],
        kept: Collection[Node],
        counted: Iterable[Node] | None = None,
        infeasible: Iterable[Node] = (),
    ) -> "Trace":
        """The trace of some scored nodes: of a large lattice, of the nodes to be kept alone."""
        if lattice.size > MOST_TRACED:
            few = set(kept)
            return cls({node: score for score, _, node in scored if node in few})
        known = None if counted is None else frozenset(counted)
        return cls({node: score for score, _, node in scored}, frozenset(infeasible), known)

    @classmethod
    def counting(cls, lattice: Lattice, counted: Iterable[Node]) -> "Trace":
        """The trace of nodes that were counted and not scored."""
        return cls.of(lattice, (), (), counted)
