"""Multidimensional recodings: the class of every combination of values, its labels and records."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.hierarchy import Interval, Meaning, Taxonomy, set_labels, spelled
from anonymizer.hierarchy.partition import (
    GROUPED,
    MARKED,
    MOST_LISTED,
    digest_of_values,
    joint_label,
    unambiguous,
)
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.tables.values import text_of

CLASS = "class"
"""The column that numbers merged classes, whose labels may overlap."""


@dataclass(frozen=True)
class HierarchyNodes:
    """Groups of a hierarchy, each by its level and its number there, in order."""

    groups: tuple[tuple[int, int], ...]

    def labels(self, taxonomy: Taxonomy) -> list[tuple[int, str | None]]:
        """Return the level and the label of each."""
        named = ((level, taxonomy.label(level, group)) for level, group in self.groups)
        return [(level, None if label is None else text_of(label)) for level, label in named]

    def described(self, taxonomy: Taxonomy) -> list[dict[str, object]]:
        """Describe each group for a manifest: its level, its label, and the label's meaning."""
        named = ((level, taxonomy.label(level, group)) for level, group in self.groups)
        return [{**taxonomy.entry(label, raw=False), "level": level} for level, label in named]

    def label(self, taxonomy: Taxonomy) -> str | None:
        """Return their common label: that of a single one, or such as ``{4790*, 4791*}``."""
        return joint_label([label for _, label in self.labels(taxonomy)])

    def codes(self, taxonomy: Taxonomy) -> Codes:
        """The codes of their values."""
        inside = [taxonomy.levels[level].groups == group for level, group in self.groups]
        return np.flatnonzero(np.any(inside, axis=0))


Shape = Interval | tuple[int, ...] | HierarchyNodes
"""What a class covers of an attribute: a range of numbers, the codes of some values, sorted, or
groups of the hierarchy."""


@dataclass(frozen=True, eq=False)
class Regions:
    """Classes of combinations of values, each released under one label per attribute.

    The multidimensional counterpart of a mapping of attributes to partitions: an attribute may be
    coarse in one class and fine in another. ``class_of`` gives the class of each row of value codes
    (rows, names), -1 where none covers it. ``shapes`` are what each class covers of each attribute,
    ``labels`` how that is published. Classes whose labels may be equal are ``numbered``, in a
    column of their own.
    """

    names: tuple[str, ...]
    class_of: Callable[[Codes], Codes] = field(repr=False)
    shapes: Mapping[str, Sequence[Shape]] = field(repr=False)
    labels: Mapping[str, Sequence[Hashable]] = field(repr=False)
    numbered: bool

    def __len__(self) -> int:
        return len(self.labels[self.names[0]])

    def described(self, taxonomies: Mapping[str, Taxonomy]) -> dict[str, list[dict[str, object]]]:
        """Describe the labels of each attribute, as JSON values."""
        return {
            name: _all_described(
                taxonomies[name], dict(zip(self.labels[name], self.shapes[name], strict=True))
            )
            for name in self.names
        }

    def listed(self) -> list[dict[str, str | None]]:
        """List the labels of each class, as JSON values."""
        texts = [
            [None if label is None else str(label) for label in self.labels[name]]
            for name in self.names
        ]
        return [dict(zip(self.names, each, strict=True)) for each in zip(*texts, strict=True)]


def _all_described(taxonomy: Taxonomy, shapes: Mapping[Hashable, Shape]) -> list[dict[str, object]]:
    """Describe each label; many values that a steward listed are their digest."""
    found = [_described(taxonomy, *each) for each in shapes.items()]
    listed = [each["values"] for each in found if "members" in each and "values" in each]
    if sum(map(len, listed)) > MOST_LISTED:  # type: ignore[arg-type]
        return [_briefly(each) if "members" in each else each for each in found]
    return found


def _briefly(described: dict[str, object]) -> dict[str, object]:
    values: list[str] = described.pop("values")  # type: ignore[assignment]
    return {**described, "listed": len(values), "sha256": digest_of_values(values)}


def _described(taxonomy: Taxonomy, label: Hashable, shape: Shape) -> dict[str, object]:
    """Describe a label; values that no steward listed only where it spells them out."""
    described = taxonomy.entry(label, raw=False)
    if isinstance(shape, HierarchyNodes):
        described["members"] = shape.described(taxonomy)
        codes = shape.codes(taxonomy)
        if taxonomy.lists(codes):
            texts = (taxonomy.texts[code] for code in codes)
            described["values"] = [text for text in texts if text is not None]
    if isinstance(shape, tuple):
        alone = spelled(taxonomy, np.array(shape))
        spelled_out = label == alone or MARKED.sub("", str(label)) == alone
        if spelled_out or (taxonomy.lists(shape) and not isinstance(label, Meaning)):
            described["values"] = [taxonomy.texts[code] for code in shape]
    return described


def labels_of(taxonomy: Taxonomy, shapes: Sequence[Shape], *, ranges: bool) -> list[Hashable]:
    """Return the published labels of shapes: equal ones alike, no two different ones.

    ``ranges``: the attribute gets ranges, and the set of all its values is what the highest level
    calls it.
    """
    sets = list(dict.fromkeys(shape for shape in shapes if isinstance(shape, tuple)))
    known: dict[Shape, Hashable] = {}
    known.update(zip(sets, set_labels(taxonomy, sets, ranges=ranges), strict=True))
    some = list(dict.fromkeys(shape for shape in shapes if isinstance(shape, HierarchyNodes)))
    some.sort(key=lambda nodes: (len(nodes.groups), nodes.groups))  # the plainest keep their labels
    whole = ((taxonomy.height, 0),)
    named = unambiguous((nodes.label(taxonomy), GROUPED, nodes.groups == whole) for nodes in some)
    known.update(zip(some, named, strict=True))
    return [shape if isinstance(shape, Interval) else known[shape] for shape in shapes]


def dealt_out(
    members: Sequence[Mask], cells: Codes, own: Codes, numbers: Codes, others: Codes
) -> Codes | None:
    """Give each record one of the overlapping classes, so that all have the records they hold.

    Of several ways it is one: a maximum flow from records that are alike to classes. None where
    there is no way.

    Parameters
    ----------
    members
        The values that each class covers, shape (classes, values) by attribute.
    cells
        The value codes of each record, shape (records, attributes).
    numbers
        The class of each record that classes hold, in any order, shape (records,).
    own, others
        What records have otherwise, and those that classes hold; shape (records,) each.
    """
    from scipy.sparse import csr_array  # slow to load
    from scipy.sparse.csgraph import maximum_flow

    rows, row_of, sizes = _distinct_rows(np.column_stack([cells, own]))
    places, _, records = _distinct_rows(np.column_stack([numbers, others]))
    alike = defaultdict(list)
    for row, key in enumerate(rows[:, -1].tolist()):
        alike[key].append(row)
    # Node 0 is the source; kinds of records follow, then kinds in classes, then the sink.
    edges = [
        (1 + row, 1 + len(rows) + place, sizes[row])
        for place, (number, key) in enumerate(places.tolist())
        for row in alike[key]
        if all(each[number, code] for each, code in zip(members, rows[row], strict=False))
    ]
    last = len(rows) + len(places) + 1
    edges += [(0, 1 + row, size) for row, size in enumerate(sizes)]
    edges += [(1 + len(rows) + place, last, size) for place, size in enumerate(records)]
    begin, end, most = np.array(edges, np.int32).T
    graph = csr_array((most, (begin, end)), shape=(last + 1, last + 1))
    found = maximum_flow(graph, 0, last)
    # Less than all records flow where no deal satisfies all classes.
    if found.flow_value != len(own) or len(own) != len(numbers):
        return None
    flow = found.flow[1 : len(rows) + 1, len(rows) + 1 : last].tocoo()
    given = flow.data > 0
    order = np.argsort(flow.row[given], kind="stable")
    dealt = np.repeat(places[flow.col[given][order], 0], flow.data[given][order])
    class_of = np.empty(len(own), np.intp)
    class_of[np.argsort(row_of, kind="stable")] = dealt
    return class_of


def _distinct_rows(rows: Codes) -> tuple[Codes, Codes, Codes]:
    found, place, sizes = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return found, place.ravel(), sizes
