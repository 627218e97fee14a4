"""What a search learned about single nodes, kept to show the lattice.

No record and no count of one is part of it: levels, statuses and scores alone, so that it may be
pickled with what was fitted.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from anonymizer.recoding.lattice import Lattice, Node

MOST_TRACED = 512
"""Nodes of the largest lattice that is traced node by node: nine attributes of two levels each."""


@dataclass(frozen=True)
class Trace:
    """What a search learned about single nodes.

    ``scores`` are of feasible nodes: the objective, first as the search maximises it, in a
    ``SearchResult`` in its own unit, which is I(X~;W) in bits where it ``informs``. ``infeasible``
    nodes were found not to satisfy the policy. ``counted`` is None where that was not recorded.
    ``upward``: all generalizations of a feasible node are feasible. ``complete``: all nodes are
    infeasible of which nothing else is known.
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
