"""Released labels: which known values of an attribute each of them stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from anonymizer.counts.multidimensional import HierarchyNodes, Regions, Shape
from anonymizer.hierarchy import Interval, Partition, Taxonomy
from anonymizer.hierarchy.label import PlacedColumn
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.placement import covered
from anonymizer.tables.values import number_of

Text = str | None


@dataclass(frozen=True, eq=False)
class RegionLabels:
    """The classes of boxes or merged cells, as a release shows them.

    ``regions`` has the labels of each class, ``members`` the known values that each label of an
    attribute stands for, shape (values,). Classes that are ``numbered`` have a column of their own.
    """

    regions: Sequence[Mapping[str, Text]] = field(repr=False)
    members: Mapping[str, Mapping[Text, Mask]] = field(repr=False)
    numbered: bool

    @classmethod
    def of_regions(cls, regions: Regions, taxonomies: Mapping[str, Taxonomy]) -> "RegionLabels":
        """Those of a fitted recoding."""
        listed = regions.listed()
        members = {
            name: {
                each[name]: _members(shape, taxonomies[name])
                for each, shape in zip(listed, regions.shapes[name], strict=True)
            }
            for name in regions.names
        }
        return cls(listed, members, regions.numbered)

    @classmethod
    def of_manifest(
        cls, manifest: Manifest, taxonomies: Mapping[str, Taxonomy], numbered: bool
    ) -> "RegionLabels":
        """Those that a manifest describes, over the values of a table."""
        members: dict[str, dict[Text, Mask]] = {}
        for name in manifest.recoding:
            values = PlacedColumn.of_values(taxonomies[name].texts)
            members[name] = {text: covered(each, values) for text, each in manifest.labels(name)}
        return cls(manifest.regions, members, numbered)


def place_of(value: object, taxonomy: Taxonomy) -> float:
    """How far a drawn number lies above the least known value, NaN where it is none.

    As ``numbers_of_values`` has it for known values.
    """
    number = number_of(value)
    if number is None or not taxonomy.numbers:
        return np.nan
    least = min((each for each in taxonomy.numbers if each is not None), default=number)
    return float((number - least) / taxonomy.scale.unit)


def _members(shape: Shape, taxonomy: Taxonomy) -> Mask:
    """Which known values a shape covers, shape (values,)."""
    inside = np.zeros(len(taxonomy.codes), bool)
    if isinstance(shape, Interval):
        codes, places = taxonomy.placed
        inside[codes] = [shape.holds(place) for place in places]
    else:
        inside[shape.codes(taxonomy) if isinstance(shape, HierarchyNodes) else list(shape)] = True
    return inside


@dataclass(frozen=True, eq=False)
class PairedAttribute:
    """One quasi-identifier, record by record: its values, and what they are released as.

    Parameters
    ----------
    taxonomy
        Its known values.
    partition
        The groups of every value; where ``random``, those that the labels were drawn for. None
        where every class has groups of its own.
    codes
        The original value of each record, shape (records,).
    suppressed
        Which records are suppressed, shape (records,).
    groups
        The released label of each record, suppressed or not, by its number, shape (records,).
    covers
        Which values each label stands for, shape (labels, values), where every class has groups of
        its own.
    random
        Whether released values were drawn: a label may not hold of the record that has it.
    drawn
        The numbers of labels beyond the groups of the partition, which no known value has.
    """

    taxonomy: Taxonomy
    partition: Partition | None
    codes: Codes
    suppressed: Mask
    groups: Codes
    covers: Mask | None = None
    random: bool = False
    drawn: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def values(self) -> int:
        """How many values are known: those that the hierarchy lists, else those that occur."""
        return len(self.taxonomy.levels[0].groups)

    @property
    def _covers(self) -> Mask:
        """Which values each label stands for, where there is no partition."""
        return np.zeros((0, self.values), bool) if self.covers is None else self.covers

    @property
    def labels(self) -> int:
        """The number of labels."""
        if self.partition is not None:
            return len(self.partition) + len(self.drawn)
        return len(self._covers)

    @property
    def level(self) -> bool:
        """Whether it is released at a level of its hierarchy."""
        return not self.random and any(each is self.partition for each in self.taxonomy.levels)

    @cached_property
    def records(self) -> Floats:
        """How many records have each value, shape (values,)."""
        return np.bincount(self.codes, minlength=self.values).astype(float)

    @cached_property
    def recoded(self) -> Codes:
        """The label that a record's value itself has, nothing drawn, shape (records,)."""
        return self.groups if self.partition is None else self.partition.groups[self.codes]

    @cached_property
    def pairs(self) -> tuple[Codes, Codes]:
        """Each label with each value that it stands for, shape (pairs,) each."""
        if self.partition is not None:
            return self.partition.groups, np.arange(self.values)
        label, value = np.nonzero(self._covers)
        return label, value

    @cached_property
    def sizes(self) -> Floats:
        """How many values each label stands for, shape (labels,)."""
        return np.bincount(self.pairs[0], minlength=self.labels).astype(float)

    @cached_property
    def parts(self) -> list[tuple[Partition, Floats]]:
        """Partitions that hold the labels, and the records by value that have one of its labels.

        A label of a class is one side of a partition: the values that it stands for, and all
        others. So whatever is defined for groups of a partition is defined for it.
        """
        if self.partition is not None:
            return [(self.partition, self.records)]
        found = []
        for label, inside in enumerate(self._covers):
            own = np.bincount(self.codes[self.groups == label], minlength=self.values)
            found.append((Partition.of(inside.tolist()), own.astype(float)))
        return found
