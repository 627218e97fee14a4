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
        """The class of combinations of value codes, -1 where none, or several, cover it.

        ``rows`` (combinations, quasi-identifiers).
        """
        found, several = covering([self._members(reaches[n], values[n]) for n in reaches], rows)
        found[several] = -1
        if self.known is not None:
            pairs = zip(self.known.taxonomies.items(), rows.T, strict=True)
            codes = [known.encode(values[name])[own] for (name, known), own in pairs]
            cells = np.column_stack(codes).astype(np.intp)
            whole = np.flatnonzero((cells >= 0).all(axis=1))
            fitted = self.known.regions.class_of(cells[whole])
            found[whole] = np.where(fitted >= 0, fitted, found[whole])
        return found

    def _members(self, reach: Reach, values: Sequence[object]) -> Mask:
        """Which values each class has, shape (classes, values)."""
        place = {group.label: number for number, group in enumerate(reach.groups)}
        masks = reach.members(values, reach.groups, whole=True)
        return masks[[place[region[reach.name]] for region in self.labels]]

    def regions(self, names: Sequence[str], rows: Codes, class_of: Codes, *, anew: bool) -> Regions:
        """The classes of some combinations, ``anew`` numbered by those that occur.

        Else one more, ``*`` throughout, has those that are in none.
        """
        used = np.unique(class_of[class_of >= 0]) if anew else np.arange(len(self.labels))
        number = np.full(len(self.labels) + 1, -1, np.intp)
        number[used] = np.arange(len(used))
        none = -1 if anew else len(used)
        number[number < 0] = none
        known = dict(zip(map(tuple, rows.tolist()), number[class_of].tolist(), strict=True))

        def numbers(cells: Codes) -> Codes:
            distinct, inverse = np.unique(cells, axis=0, return_inverse=True)
            found = [known.get(tuple(row), none) for row in distinct.tolist()]
            return np.array(found, np.intp)[inverse.ravel()]

        star = [] if anew else [ANY]
        labels = {name: [*(self.labels[each][name] for each in used), *star] for name in names}
        return Regions(tuple(names), numbers, {}, labels, self.numbered)
