"""Multidimensional recodings: which class every combination of values is in, and its labels."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.counts.counts import Codes
from anonymizer.hierarchy import Interval, Taxonomy, set_labels, spelled

__all__ = ["CLASS", "Regions", "Shape", "labels_of"]

CLASS = "class"
"""The column that tells merged classes apart, whose labels may overlap."""

Shape = Interval | tuple[int, ...]
"""What a class covers of an attribute: a range of numbers, or the codes of some values, sorted."""


@dataclass(frozen=True, eq=False)
class Regions:
    """Classes of combinations of values, each released under one label per attribute.

    The multidimensional counterpart of a mapping of attributes to partitions: an attribute may be
    coarse in one class and fine in another.

    Parameters
    ----------
    names
        The quasi-identifiers.
    assign
        The class of each row of value codes (rows, names), -1 where no class covers it.
    shapes
        What each class covers of each attribute, by attribute.
    labels
        How that is published.
    numbered
        Whether the classes need a column of their own to be told apart.
    """

    names: tuple[str, ...]
    assign: Callable[[Codes], Codes] = field(repr=False)
    shapes: Mapping[str, Sequence[Shape]] = field(repr=False)
    labels: Mapping[str, Sequence[Hashable]] = field(repr=False)
    numbered: bool

    def __len__(self) -> int:
        return len(self.labels[self.names[0]])

    def class_of(self, cells: Codes) -> Codes:
        """The class of each row of value codes, -1 where no class covers it, shape (rows,)."""
        return self.assign(cells)

    def described(self, taxonomies: Mapping[str, Taxonomy]) -> dict[str, list[dict[str, object]]]:
        """What the labels of each attribute stand for, as JSON has it."""
        return {
            name: [
                _told(taxonomies[name], label, shape)
                for label, shape in dict(
                    zip(self.labels[name], self.shapes[name], strict=True)
                ).items()
            ]
            for name in self.names
        }

    def listed(self) -> list[dict[str, str | None]]:
        """The labels of each class, as JSON has them."""
        return [
            {
                name: None if label is None else str(label)
                for name, label in zip(self.names, labels, strict=True)
            }
            for labels in zip(*(self.labels[name] for name in self.names), strict=True)
        ]


def _told(taxonomy: Taxonomy, label: Hashable, shape: Shape) -> dict[str, object]:
    """What a label stands for; values that no steward listed only where it spells them out."""
    stated = taxonomy.entry(label, raw=False)
    if isinstance(shape, tuple):
        listed = [taxonomy.texts[code] for code in shape]
        if taxonomy.listed or label == spelled(taxonomy, np.array(shape)):
            stated["values"] = listed
    return stated


def labels_of(taxonomy: Taxonomy, shapes: Sequence[Shape], *, ranges: bool) -> list[Hashable]:
    """How shapes are published: equal ones alike, no two different ones.

    ``ranges``: the attribute gets ranges, and the set of all its values is what the highest level
    calls it.
    """
    sets = list(dict.fromkeys(shape for shape in shapes if isinstance(shape, tuple)))
    known = dict(zip(sets, set_labels(taxonomy, sets, ranges=ranges), strict=True))
    return [known[shape] if isinstance(shape, tuple) else shape for shape in shapes]
