"""Combinations of values in the classes of boxes and merged cells, seen or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from anonymizer.counts.multidimensional import Regions
from anonymizer.hierarchy import ANY, Taxonomy
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.release.applying.reach import Reach
from anonymizer.release.manifest.parts import LabelText
from anonymizer.release.manifest.placement import covering


class Fitted(NamedTuple):
    """The values that classes were fitted to, and the classes."""

    taxonomies: Mapping[str, Taxonomy]
    regions: Regions


@dataclass(frozen=True, eq=False)
class Listed:
    """The labels of each class, in order; ``known`` is what they were fitted to, where that is."""

    labels: Sequence[Mapping[str, LabelText]] = field(repr=False)
    numbered: bool
    known: Fitted | None = field(default=None, repr=False)

    def class_of(
        self, reaches: Mapping[str, Reach], values: Mapping[str, Sequence[object]], rows: Codes
    ) -> Codes:
        """The class of combinations of value codes, -1 where none covers it.

        That is the class that they were fitted to; else the first that covers them: whatever its
        number, its labels hold of them, and the release is recounted. ``rows`` (combinations,
        quasi-identifiers).
        """
        found = covering([self._members(reaches[n], values[n]) for n in reaches], rows)[0]
        if self.known is not None:
            pairs = zip(self.known.taxonomies.items(), rows.T, strict=True)
            codes = [known.encode(values[name])[own] for (name, known), own in pairs]
            cells = np.column_stack(codes).astype(np.intp)
            whole = np.flatnonzero((cells >= 0).all(axis=1))
            fitted = self.known.regions.class_of(cells[whole])
            found[whole] = np.where(fitted >= 0, fitted, found[whole])
        return found

    def overlap(
        self, reaches: Mapping[str, Reach], values: Mapping[str, Sequence[object]], rows: Codes
    ) -> bool:
        """Whether several classes cover some combination of value codes; see ``class_of``."""
        members = [self._members(reach, values[name]) for name, reach in reaches.items()]
        return bool(covering(members, rows)[1].any())

    def _members(self, reach: Reach, values: Sequence[object]) -> Mask:
        """Which values each class has, shape (classes, values)."""
        place = {group.label: number for number, group in enumerate(reach.groups)}
        masks = reach.members(values, reach.groups, whole=True)
        return masks[[place[region[reach.name]] for region in self.labels]]

    def regions(self, names: Sequence[str], rows: Codes, class_of: Codes, *, star: bool) -> Regions:
        """The classes of some combinations: all that were released, by the numbers they had.

        A class that has no record here stays listed, so that the next table may have some of it.
        ``star``: one more, ``*`` throughout, has the combinations that are in none.
        """
        none = len(self.labels) if star else -1
        number = np.where(class_of < 0, none, class_of)
        known = dict(zip(map(tuple, rows.tolist()), number.tolist(), strict=True))

        def numbers(cells: Codes) -> Codes:
            distinct, inverse = np.unique(cells, axis=0, return_inverse=True)
            found = [known.get(tuple(row), none) for row in distinct.tolist()]
            return np.array(found, np.intp)[inverse.ravel()]

        last = [ANY] if star else []
        labels = {name: [*(each[name] for each in self.labels), *last] for name in names}
        return Regions(tuple(names), numbers, {}, labels, self.numbered)
