"""Multidimensional recodings: which class every combination of values is in, and its labels."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.hierarchy import Interval, Meaning, Taxonomy, set_labels, spelled
from anonymizer.kernels.arrays import Codes

CLASS = "class"
"""The column that numbers merged classes, whose labels may overlap."""

Shape = Interval | tuple[int, ...]
"""What a class covers of an attribute: a range of numbers, or the codes of some values, sorted."""


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
            name: [
                _described(taxonomies[name], *each)
                for each in dict(zip(self.labels[name], self.shapes[name], strict=True)).items()
            ]
            for name in self.names
        }

    def listed(self) -> list[dict[str, str | None]]:
        """The labels of each class, as JSON values."""
        texts = [
            [None if label is None else str(label) for label in self.labels[name]]
            for name in self.names
        ]
        return [dict(zip(self.names, each, strict=True)) for each in zip(*texts, strict=True)]


def _described(taxonomy: Taxonomy, label: Hashable, shape: Shape) -> dict[str, object]:
    """What a label stands for; values that no steward listed only where it spells them out."""
    described = taxonomy.entry(label, raw=False)
    if isinstance(shape, tuple):
        spelled_out = label == spelled(taxonomy, np.array(shape))
        if spelled_out or (taxonomy.lists(shape) and not isinstance(label, Meaning)):
            described["values"] = [taxonomy.texts[code] for code in shape]
    return described


def labels_of(taxonomy: Taxonomy, shapes: Sequence[Shape], *, ranges: bool) -> list[Hashable]:
    """How shapes are published: equal ones alike, no two different ones.

    ``ranges``: the attribute gets ranges, and the set of all its values is what the highest level
    calls it.
    """
    sets = list(dict.fromkeys(shape for shape in shapes if isinstance(shape, tuple)))
    known = dict(zip(sets, set_labels(taxonomy, sets, ranges=ranges), strict=True))
    return [known[shape] if isinstance(shape, tuple) else shape for shape in shapes]
