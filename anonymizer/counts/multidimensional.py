"""Multidimensional recodings: which class every combination of values is in, and its labels."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.hierarchy import Interval, Meaning, Taxonomy, set_labels, spelled
from anonymizer.hierarchy.cuts import GROUPED, MARKED, quoted, unambiguous
from anonymizer.hierarchy.partition import MOST_LISTED, digest_of_values
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.values import text_of

CLASS = "class"
"""The column that numbers merged classes, whose labels may overlap."""


@dataclass(frozen=True)
class HierarchyNodes:
    """Groups of a hierarchy, each by its level and its number there, in order."""

    groups: tuple[tuple[int, int], ...]

    def labels(self, taxonomy: Taxonomy) -> list[tuple[int, str | None]]:
        """The level and the label of each."""
        named = ((level, taxonomy.label(level, group)) for level, group in self.groups)
        return [(level, None if label is None else text_of(label)) for level, label in named]

    def described(self, taxonomy: Taxonomy) -> list[dict[str, object]]:
        """What a manifest says of each: its level, its label, and what that stands for."""
        named = ((level, taxonomy.label(level, group)) for level, group in self.groups)
        return [{**taxonomy.entry(label, raw=False), "level": level} for level, label in named]

    def label(self, taxonomy: Taxonomy) -> str | None:
        """What they go by together: a single one by its own label, ``{4790*, 4791*}``."""
        labels = [label for _, label in self.labels(taxonomy)]
        return labels[0] if len(labels) == 1 else "{" + ", ".join(map(quoted, labels)) + "}"

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
        """What the labels of each attribute stand for, as JSON values."""
        return {
            name: _all_described(
                taxonomies[name], dict(zip(self.labels[name], self.shapes[name], strict=True))
            )
            for name in self.names
        }

    def listed(self) -> list[dict[str, str | None]]:
        """The labels of each class, as JSON values."""
        texts = [
            [None if label is None else str(label) for label in self.labels[name]]
            for name in self.names
        ]
        return [dict(zip(self.names, each, strict=True)) for each in zip(*texts, strict=True)]


def _all_described(taxonomy: Taxonomy, shapes: Mapping[Hashable, Shape]) -> list[dict[str, object]]:
    """What each label stands for; of too many values that a steward listed, their digest."""
    found = [_described(taxonomy, *each) for each in shapes.items()]
    listed = [each["values"] for each in found if "members" in each and "values" in each]
    if sum(map(len, listed)) > MOST_LISTED:  # type: ignore[arg-type]
        return [_briefly(each) if "members" in each else each for each in found]
    return found


def _briefly(described: dict[str, object]) -> dict[str, object]:
    """A group without its values: how many there are, and their digest."""
    values: list[str] = described.pop("values")  # type: ignore[assignment]
    return {**described, "listed": len(values), "sha256": digest_of_values(values)}


def _described(taxonomy: Taxonomy, label: Hashable, shape: Shape) -> dict[str, object]:
    """What a label stands for; values that no steward listed only where it spells them out."""
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
    """How shapes are published: equal ones alike, no two different ones.

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
