"""The lattice of a study as text and as JSON: levels and figures alone, no value of anybody."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from anonymizer.feedback.document import Block, Table
from anonymizer.recoding.lattice import Node

if TYPE_CHECKING:
    from anonymizer.recoding.lattice import LatticeGraph

Row = tuple[Node, dict[str, Any]]
"""A node and what is known of it."""

MOST_ROWS = 30
"""Nodes that a table lists."""

WORDS = {True: "yes", False: "no", None: "not known"}


def lattice_report(graph: "LatticeGraph") -> Iterator[Block]:
    """Yield how many nodes there are, the frontier and the optimum.

    ``graph``: what ``Anonymizer.lattice_`` is.
    """
    of_all = graph.graph
    feasible, minimal = of_all["feasible"], _minimal(graph)
    found = "" if feasible is None else f"; {feasible:,} satisfy the policy"
    lowest = "" if feasible is None or minimal is None else f", {minimal:,} of them minimal"
    yield (
        f"The lattice of {', '.join(of_all['quasi_identifiers'])} has {of_all['nodes']:,} nodes "
        f"({of_all['strategy']}, {of_all['checked']:,} checked){found}{lowest}."
    )
    rows = _listed(graph)
    if rows:
        yield _table(graph, rows[:MOST_ROWS])
        if of_all["best"] is not None:
            yield "* the node chosen; level 0 leaves the values as they are."
    if len(rows) > MOST_ROWS:
        yield f"{len(rows) - MOST_ROWS:,} nodes of the frontier more; --json lists all."
    yield from _notes(of_all)


def lattice_dict(graph: "LatticeGraph") -> dict[str, object]:
    """The graph, ready for JSON: nodes as lists of levels, in the order of ``quasi_identifiers``.

    ``nodes`` are those of the graph, ``edges`` pairs of their places among them, the more general
    node second.
    """
    of_all = graph.graph
    place = {node: number for number, node in enumerate(graph)}
    counts = {name: of_all[name] for name in ("nodes", "checked", "feasible")}
    described = ("quasi_identifiers", "floors", "heights", "objective", "strategy", "proven")
    return {
        **{name: of_all[name] for name in described},
        "counts": {**counts, "minimal": _minimal(graph)},
        "best": of_all["best"],
        "complete": of_all["complete"],
        "nodes": [{"levels": node, **known} for node, known in graph.nodes(data=True)],
        "edges": sorted([place[low], place[high]] for low, high in graph.edges),
    }


def _minimal(graph: "LatticeGraph") -> int | None:
    """How many minimal nodes there are; None where that is not known of a node."""
    known = [known["minimal"] for _, known in graph.nodes(data=True)]
    return None if None in known else sum(known)


def _listed(graph: "LatticeGraph") -> list[Row]:
    """The optimum first, then the frontier, nodes that keep most before the others."""

    def order(row: Row) -> tuple[bool, float, Node]:
        node, known = row
        bits = known["information"]
        return not known["best"], inf if bits is None else -bits, node

    rows = graph.nodes(data=True)
    return sorted(((n, known) for n, known in rows if known["best"] or known["minimal"]), key=order)


def _table(graph: "LatticeGraph", rows: Sequence[Row]) -> Table:
    """A row per node: its levels and what is known of it.

    The objective has a column where it is not the information kept.
    """
    of_all = graph.graph
    ends = [of_all[each] for each in ("quasi_identifiers", "floors", "heights")]
    informs = all(known["information"] == known["value"] for _, known in rows)
    value = [] if informs else [of_all["objective"]]
    figures = ["information"] if informs else ["information", "value"]
    cells = [
        [
            "*" if known["best"] else "",
            *map(str, node),
            *(WORDS[known[name]] for name in ("feasible", "minimal", "checked")),
            *("" if known[name] is None else f"{known[name]:.6f}" for name in figures),
        ]
        for node, known in rows
    ]
    attributes = [f"{name} ({low}-{high})" for name, low, high in zip(*ends, strict=True)]
    columns = ["", *attributes, "feasible", "minimal", "checked", "I(X~;W), bits", *value]
    return Table("Frontier and optimum", columns, cells)


def _notes(of_all: Mapping[str, Any]) -> list[str]:
    """What has to be known to read the table."""
    notes = []
    if of_all["strategy"] == "fixed":
        notes.append("The levels were given: no other node was counted.")
    elif of_all["feasible"] is None:
        notes.append(
            "The search did not need the whole frontier; full-domain recoding with strategy = "
            "'exhaustive' finds it."
        )
    if of_all["best"] is None:
        notes.append("The recoding chosen has partitions of its own: it is no node of the lattice.")
    elif not of_all["proven"]:
        notes.append("The node is not proven to be the best: another may be better.")
    return notes
