"""Hierarchies in the terminal: their tree, their levels, and what they make of a column."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Hierarchy, Meaning, Taxonomy
from anonymizer.hierarchy.authoring import MOST, HierarchyCheck, LevelUse
from anonymizer.hierarchy.label import OthersLabel
from anonymizer.hierarchy.naming import ENOUGH, may_be_named, named
from anonymizer.kernels.arrays import Codes

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
