"""Which values, and combinations of them, a recoding covers, seen or not, and under which label."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from anonymizer.counts.multidimensional import Regions
from anonymizer.hierarchy import ANY, Hierarchy, Partition, Taxonomy
from anonymizer.hierarchy.label import HierarchyNode, PlacedColumn, StarLabel
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.release.manifest.groups import MISSING, Group
from anonymizer.release.manifest.parts import LabelText
from anonymizer.release.manifest.placement import covering, grouped
from anonymizer.tables.values import is_missing, text_of


class FittedValues(NamedTuple):
    """The values that a recoding was fitted to, and their groups."""

    taxonomy: Taxonomy
    partition: Partition


class PlacedValues(NamedTuple):
    """The group of each value, -1 for none, shape (values,), and the groups."""

    group_of: Codes
    groups: list[Group]


@dataclass(frozen=True, eq=False)
class Reach:
    """The groups of an attribute, and what is known of values that are in no list of them.

    ``hierarchy`` says how any value generalizes, None where that is not known; ``level`` is the one
    that the attribute is released at, None where it is none. ``known`` are the values of the fitted
    table, None of a plan that was read from a manifest.
    """

    name: str
    groups: Sequence[Group] = field(repr=False)
    hierarchy: Hierarchy | None = field(repr=False)
    level: int | None
    known: FittedValues | None = field(default=None, repr=False)

    @classmethod
    def of(cls, taxonomy: Taxonomy, partition: Partition, level: int | None) -> "Reach":
        """That of an attribute that was fitted."""
        texts = {None if label is None else text_of(label) for label in partition.labels}
        groups = [Group.model_validate(each) for each in taxonomy.describe(partition, texts)]
        known = FittedValues(taxonomy, partition)
        return cls(taxonomy.attribute, groups, taxonomy.hierarchy, level, known)

    @property
    def hides(self) -> bool:
        """Whether ``*`` is the top of the hierarchy, so that any value may be shown as it."""
        if self.hierarchy is not None:
            return self.hierarchy.top == ANY
        return any(group.is_star for group in self.groups)

    def placed(self, values: Sequence[object]) -> PlacedValues:
        """The group of each raw value, whose label holds of it; some groups may be new ones."""
        if self.level == 0:
            return self._as_they_are(values)
        groups = [*self.groups]
        if self.level is not None and self.hierarchy is not None:
            labels, new = self._at_level(values, self.level)
            known = {group.label for group in groups}
            groups += [group for group in new if group.label not in known]
        else:
            labels = {}
        place = {group.label: number for number, group in enumerate(groups)}
        found = np.full(len(values), -1, np.intp)
        for value, label in {**labels, **self._fitted(values)}.items():
            found[value] = place.get(label, -1)
        self._by_groups(values, groups, found)
        return PlacedValues(found, groups)

    def _as_they_are(self, values: Sequence[object]) -> PlacedValues:
        """Each value its own group, as far as the hierarchy covers it or a group lists it.

        A missing value is one at every level, whether a released record had it or not.
        """
        covered = self.covered(values) | np.array([*map(is_missing, values)], bool)
        rest = np.flatnonzero(~covered)
        shown = PlacedColumn.of_values([values[place] for place in rest.tolist()])
        labels = [(group.label, group.stands_for(raw=True)) for group in self.groups]
        covered[rest[grouped(self.name, shown, labels) >= 0]] = True
        if self.known is not None:
            covered |= self.known.taxonomy.encode(values) >= 0
        numbers = np.where(covered, np.arange(len(values)), -1)
        return PlacedValues(numbers, [_alone(value, self.groups) for value in values])

    def public_labels(self, all_of_them: bool) -> set[LabelText]:
        """The labels that may be named whatever a table shows: those of listed values, or all."""
        if all_of_them or self.known is None:
            return {group.label for group in self.groups}
        taxonomy, partition = self.known
        described = taxonomy.describe(partition, ())
        return {Group.model_validate(each).label for each in described}

    def covered(self, values: Sequence[object]) -> Mask:
        """Which values the hierarchy covers, missing ones among them; none where there is none."""
        known = self.hierarchy
        if known is None:
            return np.zeros(len(values), bool)
        keys = map(known.key, values)
        return np.array([key is None or known.covers(key) for key in keys], bool)

    def _at_level(
        self, values: Sequence[object], level: int
    ) -> tuple[dict[int, LabelText], list[Group]]:
        """The labels at a level by the place of the value, and the groups that they are of."""
        taxonomy, places, codes = self._over(values)
        if taxonomy is None:
            return {}, []
        partition = taxonomy.levels[level]
        texts = [None if label is None else str(label) for label in partition.labels]
        labels = {
            place: texts[partition.groups[code]] for place, code in zip(places, codes, strict=True)
        }
        described = taxonomy.describe(partition, {text and text_of(text) for text in texts})
        return labels, [Group.model_validate(each) for each in described]

    def _over(self, values: Sequence[object]) -> tuple[Taxonomy | None, list[int], list[int]]:
        """The values that the hierarchy covers, over it: their places, and their codes there."""
        places = np.flatnonzero(self.covered(values)).tolist()
        if self.hierarchy is None or not places:
            return None, [], []
        some = [values[place] for place in places]
        taxonomy = self.hierarchy.over(self.name, some)
        return taxonomy, places, taxonomy.encode(some).tolist()

    def _fitted(self, values: Sequence[object]) -> dict[int, LabelText]:
        """The labels of the values that were there when the recoding was found, by their place."""
        if self.known is None:
            return {}
        taxonomy, partition = self.known
        codes = taxonomy.encode(values)
        texts = [None if label is None else str(label) for label in partition.labels]
        places = np.flatnonzero(codes >= 0)
        groups = partition.groups[codes[places]]
        return {int(p): texts[group] for p, group in zip(places, groups, strict=True)}

    def _by_groups(self, values: Sequence[object], groups: list[Group], found: Codes) -> None:
        """Place the values that have no group yet by what the groups stand for."""
        open_places = np.flatnonzero(found < 0)
        if not len(open_places):
            return
        some = [values[place] for place in open_places.tolist()]
        masks = self.members(some, groups, whole=len(groups) == 1)
        own = np.where(masks.sum(axis=0) == 1, masks.argmax(axis=0), -1)
        missing = np.array([*map(is_missing, some)], bool)
        if (missing & (own < 0)).any():
            groups.append(MISSING)  # in no range, and at every level in a group of their own
            own[missing & (own < 0)] = len(groups) - 1
        found[open_places] = own

    def members(self, values: Sequence[object], groups: Sequence[Group], *, whole: bool) -> Mask:
        """Which values each group stands for, shape (groups, values).

        ``whole``: a group ``*`` stands for all values; otherwise for none that it does not list, as
        it is next to others for what was unseen.
        """
        column = PlacedColumn.of_values(values, self._nodes(values))
        masks = np.zeros((len(groups), len(values)), bool)
        for number, label in enumerate(group.stands_for() for group in groups):
            if label.is_rest and (whole or isinstance(label, StarLabel)):
                masks[number] = whole
            else:
                masks[number, label.codes(column)] = True
        return masks

    def _nodes(self, values: Sequence[object]) -> Mapping[HierarchyNode, list[int]] | None:
        """The values of each group of the hierarchy, by its level and label; None without one."""
        if self.hierarchy is None:
            return None
        taxonomy, places, codes = self._over(values)
        places_of = defaultdict[int, list[int]](list)
        for place, code in zip(places, codes, strict=True):
            places_of[code].append(place)
        nodes = taxonomy.nodes if taxonomy else {}
        return {
            node: [place for code in own.tolist() for place in places_of.get(code, ())]
            for node, own in nodes.items()
        }


def _alone(value: object, groups: Sequence[Group]) -> Group:
    """The group of a value that is released as it is."""
    text = None if is_missing(value) else text_of(value)
    calendar = next((group.calendar for group in groups if group.calendar), None)
    given = {"label": text, "values": [text]}
    return Group.model_validate(given if calendar is None else {**given, "calendar": calendar})


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
