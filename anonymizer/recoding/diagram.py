"""The lattice of levels as a networkx graph that shows itself; imported when one is drawn."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import networkx as nx

from anonymizer.feedback.document import Display, Displayed, Table, in_a_line

if TYPE_CHECKING:
    Graph = nx.DiGraph[tuple[int, ...]]
else:
    Graph = nx.DiGraph


class LatticeDiagram(Displayed, Graph):
    """The Hasse diagram: edges point to the more general node; see ``lattice_graph``."""

    def __repr__(self) -> str:
        return in_a_line(self, *_facts(self))

    def __str__(self) -> str:
        return repr(self)

    def display(self) -> Display:
        """The minimal feasible nodes, the best one, and how many nodes there are by sum of levels.

        Of a lattice that no search went over the nodes alone.
        """
        known: dict[tuple[int, ...], dict[str, Any]] = {node: self.nodes[node] for node in self}
        named = self.graph.get("quasi_identifiers", ())
        best = self.graph.get("best")
        minimal = [node for node, each in known.items() if each.get("minimal")]
        kept = [*([best] if best is not None else []), *(n for n in minimal if n != best)]
        rows = [
            [
                *node,
                "yes" if known[node].get("minimal") else "",
                "yes" if node == best else "",
                known[node].get("information"),
            ]
            for node in kept
        ]
        layers = Counter(sum(node) for node in known)
        feasible = Counter(sum(node) for node, each in known.items() if each.get("feasible"))
        sums = [[level, layers[level], feasible[level]] for level in sorted(layers)]
        columns = [*map(str, named), "minimal", "best", "I(X̃;W), bits"]
        return Display(
            f"Lattice of {self.graph.get('nodes', len(self)):,} nodes",
            [
                f"{', '.join(_facts(self))}.",
                Table("Nodes by their levels", columns, rows),
                Table("By sum of levels", ["sum", "nodes here", "known to satisfy"], sums),
            ],
        )


def _facts(graph: LatticeDiagram) -> list[str]:
    """Numbers of nodes, of feasible and of checked ones, and the best node, in words."""
    about = graph.graph
    facts = [f"{about.get('nodes', len(graph)):,} nodes"]
    if about.get("feasible") is not None:
        facts.append(f"{about['feasible']:,} satisfy the policy")
    if about.get("checked") is not None:
        facts.append(f"{about['checked']:,} checked")
    if about.get("best") is not None:
        facts.append(f"best {about['best']}")
    return facts
