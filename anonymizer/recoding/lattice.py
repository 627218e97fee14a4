"""The lattice of full-domain generalizations: one level per quasi-identifier."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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
    """Nodes are levels, one per name; going up raises levels, towards ``heights``."""

    names: tuple[str, ...]
    heights: Node

    @classmethod
    def of(cls, taxonomies: Mapping[str, Taxonomy]) -> "Lattice":
        """The lattice of all levels of the taxonomies."""
        return cls(tuple(taxonomies), tuple(taxonomy.height for taxonomy in taxonomies.values()))

    @property
    def size(self) -> int:
        """How many nodes there are: too many for ``len``, it may be."""
        return prod(height + 1 for height in self.heights)

    def __iter__(self) -> Iterator[Node]:
        """All nodes in lexicographic order."""
        return product(*(range(height + 1) for height in self.heights))

    def above(self, node: Node) -> list[Node]:
        """The direct generalizations of a node."""
        return [
            (*node[:i], level + 1, *node[i + 1 :])
            for i, level in enumerate(node)
            if level < self.heights[i]
        ]

    def below(self, node: Node) -> list[Node]:
        """The direct specializations of a node."""
        return [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level]

    def graph(self, nodes: Iterable[Node] | None = None) -> "LatticeGraph":
        """The Hasse diagram of all nodes, or of some, edges pointing to the more general node.

        networkx is loaded when it is first needed: no default search draws the diagram.
        """
        import networkx as nx

        kept = set(self) if nodes is None else set(nodes)
        graph: LatticeGraph = nx.DiGraph()
        graph.add_nodes_from(sorted(kept))
        graph.add_edges_from((node, up) for node in kept for up in self.above(node) if up in kept)
        return graph

    def minimal(self, nodes: Iterable[Node]) -> list[Node]:
        """The nodes of an up-closed set without a specialization in it, lexicographically."""
        kept = set(nodes)
        return sorted(node for node in kept if kept.isdisjoint(self.below(node)))

    def up_set(self, nodes: Iterable[Node]) -> list[Node]:
        """All generalizations of the nodes, themselves included, lexicographically."""
        reached = np.zeros([height + 1 for height in self.heights], bool)
        for node in nodes:
            reached[node] = True
        for axis in range(reached.ndim):
            np.logical_or.accumulate(reached, axis=axis, out=reached)
        return [tuple(map(int, node)) for node in np.argwhere(reached)]


def level_recoding(
    taxonomies: Mapping[str, Taxonomy], names: tuple[str, ...], node: Node
) -> Partitions:
    """The partitions that a node stands for."""
    return {name: taxonomies[name].levels[level] for name, level in zip(names, node, strict=True)}
