"""Hierarchies and the lattice of their levels in the terminal."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Hierarchy, Meaning, Taxonomy
from anonymizer.hierarchy.authoring import MOST, HierarchyCheck, LevelUse
from anonymizer.hierarchy.label import OthersLabel
from anonymizer.hierarchy.naming import ENOUGH, may_be_named, named
from anonymizer.kernels.arrays import Codes

if TYPE_CHECKING:
    from anonymizer.recoding.lattice import LatticeGraph


MOST_LINES = 60
"""Lines of a tree that is drawn without ``--all``."""

CHILDREN = (1000, 20, 12, 8, 6, 4, 3, 2)
"""How many groups of a group are drawn; the first number that keeps to the lines."""

VALUES = 6
"""Values of a group that are named on its line."""

WITHOUT_NAME = f"of fewer than {ENOUGH} records"


@dataclass(frozen=True)
class DrawnTree:
    """What is drawn of a taxonomy: ``records`` of each value, None where there is no table.

    ``most`` are the groups of each group that are drawn, None for all; ``values``: whether single
    values are named.
    """

    taxonomy: Taxonomy
    records: Codes | None = field(default=None, repr=False)
    most: int | None = None
    values: bool = True

    def lines(self) -> list[str]:
        """The tree from its top, a line per group; single values go on the line of theirs."""
        return list(self._lines(self.taxonomy.height, 0, ""))

    def _lines(self, level: int, group: int, indent: str) -> Iterator[str]:
        partition = self.taxonomy.levels[level]
        codes = np.flatnonzero(partition.groups == group)
        label = str(partition.labels[group]) + self._size(codes)
        if level == 1:
            yield f"{indent}{label}{self._values(codes, str(partition.labels[group]))}"
            return
        below, inside = level - 1, self.taxonomy.levels[level - 1]
        found = dict.fromkeys(inside.groups[codes].tolist())
        children = sorted(found, key=lambda child: _is_rest(inside.labels[child]))
        if len(children) == 1 and inside.labels[children[0]] == partition.labels[group]:
            yield from self._lines(below, children[0], indent)  # one line for what stays the same
            return
        yield f"{indent}{label}"
        members = {child: np.flatnonzero(inside.groups == child) for child in children}
        open_ones = [child for child in children if self._open(members[child])]
        drawn = open_ones[: self.most]
        for child in drawn:
            yield from self._lines(below, child, indent + "  ")
        yield from self._rest(indent + "  ", len(open_ones) - len(drawn), "group", "")
        yield from self._rest(indent + "  ", len(children) - len(open_ones), "group", WITHOUT_NAME)

    def _rest(self, indent: str, number: int, noun: str, what: str) -> Iterator[str]:
        if number:
            more = "" if what else "more "
            text = plural(number, f"{more}{noun}") + (f" {what}" if what else "")
            yield f"{indent}... {text}"

    def _open(self, codes: Codes) -> bool:
        return self.records is None or may_be_named(int(self.records[codes].sum()))

    def _size(self, codes: Codes) -> str:
        return (
            ""
            if self.records is None
            else f"  ({plural(int(self.records[codes].sum()), 'record')})"
        )

    def _values(self, codes: Codes, label: str) -> str:
        """The values of a group of level 1, unless it is one value that keeps its name."""
        if not self.values or self.taxonomy.limits.ground is not None:  # cells, which have no text
            return ""
        texts = [self.taxonomy.texts[code] for code in codes if self._open(codes[codes == code])]
        words = ["a missing value" if text is None else text for text in texts]
        if words == [label] and len(codes) == 1:
            return ""
        most = None if self.most is None else VALUES
        shown = words[:most]
        more = [f"{len(words) - len(shown)} more"] if len(words) > len(shown) else []
        hidden = len(codes) - len(words)
        rare = [f"{plural(hidden, 'value')} {WITHOUT_NAME}"] if hidden else []
        return ": " + ", ".join([*shown, *more, *rare])


def _is_rest(label: Hashable) -> bool:
    """Whether a label is that of all values but some, which comes last."""
    return isinstance(label, Meaning) and isinstance(label.stands_for, OthersLabel)


def tree_lines(
    taxonomy: Taxonomy, records: Codes | None, *, everything: bool, values: bool = True
) -> list[str]:
    """The tree of a taxonomy, elided to ``MOST_LINES`` lines unless ``everything`` is drawn."""
    if everything:
        return DrawnTree(taxonomy, records, None, values).lines()
    for most in CHILDREN:
        lines = DrawnTree(taxonomy, records, most, values).lines()
        if len(lines) <= MOST_LINES:
            break
    return lines


def tree_report(
    hierarchy: Hierarchy,
    taxonomy: Taxonomy,
    records: Codes | None,
    *,
    everything: bool,
    values: bool = True,
) -> Iterator[Block]:
    """Draw a hierarchy over some values, with the records of each group where there are any.

    ``values``: whether the values are those of the hierarchy or of a table, and no examples.
    """
    yield _title(hierarchy, taxonomy, records, values=values)
    yield from tree_lines(taxonomy, records, everything=everything, values=values)


def levels_report(
    hierarchy: Hierarchy, taxonomy: Taxonomy, uses: Sequence[LevelUse] | None
) -> Iterator[Block]:
    """List the levels of a hierarchy: how many groups each has, and of how many records."""
    yield _title(hierarchy, taxonomy, None)
    if uses is None:
        rows = [(level, len(each)) for level, each in enumerate(taxonomy.levels)]
        yield Table("", ["level", "groups"], rows, ",")
    else:
        yield _levels(uses)


def hierarchy_report(check: HierarchyCheck, source: str) -> Iterator[Block]:
    """Yield what of a column a hierarchy lacks, and what its levels make of the rest."""
    yield (
        f"{source} over column {check.column!r}: {plural(check.values, 'value')} in "
        f"{plural(check.records, 'record')}"
    )
    if check.lacking:
        yield f"lacks {named(check.lacking)}"
        return
    yield "covers every value"
    if check.unused:
        yield f"lists {plural(check.unused, 'value')} that no record has"
    yield _levels(check.levels)
    yield from remarks(check)


def remarks(check: HierarchyCheck) -> Iterator[str]:
    """What is wrong with the levels: those that gain nothing, and groups of most of the records."""
    top = check.levels[-1].level if check.levels else 0
    for use in check.levels[1:]:
        if not use.gains:
            yield f"level {use.level} gains nothing: it has the groups of level {use.level - 1}"
        elif use.level < top and use.largest > MOST * check.records:
            share = use.largest / check.records
            yield f"level {use.level}: one group holds {share:.0%} of the records"


def _title(
    hierarchy: Hierarchy, taxonomy: Taxonomy, records: Codes | None, *, values: bool = True
) -> str:
    known = f" over {plural(len(taxonomy.codes), 'value')}" if values else ""
    people = "" if records is None else f" in {plural(int(records.sum()), 'record')}"
    limits = [f"{name} = {value}" for name, value in hierarchy.limits.describe().items()]
    return "; ".join([f"levels 0 to {taxonomy.height}{known}{people}", *limits])


def _levels(uses: Sequence[LevelUse]) -> Table:
    rows = [(use.level, use.groups, use.largest, use.smallest) for use in uses]
    return Table("", ["level", "groups", "records of the largest", "of the smallest"], rows, ",")


Row = tuple[tuple[int, ...], dict[str, Any]]
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

    def order(row: Row) -> tuple[bool, float, tuple[int, ...]]:
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
