"""Groups of a recoding as a manifest lists them, and the partitions that they describe."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Hierarchy, Interval, Partition, Taxonomy, cut_of, grouping_of
from anonymizer.hierarchy.partition import digest_of_values

__all__ = [
    "Count",
    "Digest",
    "Group",
    "Label",
    "Number",
    "Part",
    "filled",
    "kind_of",
    "partition_of",
]

Count = Annotated[StrictInt, Field(ge=0, lt=2**62)]
Number = StrictInt | StrictFloat
Label = StrictStr | None
Digest = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]


class Part(BaseModel):
    """A part of a manifest; fields that this version does not know are kept as they are."""

    model_config = ConfigDict(
        extra="allow", frozen=True, hide_input_in_errors=True, protected_namespaces=()
    )


class Group(Part):
    """What a label of a released column represents.

    A range has both ends, None where it is open. ``values`` are the values of the group; where
    these are too many, ``listed`` is their number and ``sha256`` their digest. A group of a cut has
    its ``level``. ``group`` is the label in the hierarchy, where the table has another one.
    """

    label: Label
    low: Number | None = Field(None, alias="from")
    high: Number | None = Field(None, alias="to")
    values: list[Label] | None = None
    listed: Annotated[StrictInt, Field(gt=0, lt=2**62)] | None = None
    sha256: Digest | None = None
    level: Count | None = None
    group: Label = None

    @model_validator(mode="after")
    def _complete(self) -> "Group":
        """Require both ends of a range, in order, and a digest for a list that is left out."""
        ends = {"low", "high"} & self.model_fields_set
        ordered = self.low is None or self.high is None or self.low < self.high
        if len(ends) == 1 or not ordered or (self.sha256 is None) != (self.listed is None):
            raise ValueError
        return self

    @property
    def is_range(self) -> bool:
        """Whether it is a range of numbers."""
        return "low" in self.model_fields_set

    @property
    def own(self) -> Label:
        """The label in the hierarchy."""
        return self.label if self.group is None else self.group

    @property
    def interval(self) -> Interval:
        """The range of numbers, exactly."""
        low, high = (None if end is None else Decimal(str(end)) for end in (self.low, self.high))
        return Interval(low, high)

    def changed(self, **parts: object) -> "Group":
        """The group with other parts."""
        return self.model_copy(update=parts)


def kind_of(groups: Sequence[Group]) -> str:
    """What the groups of a column are: those of a cut, ranges, or groups of values."""
    if any(group.level is not None for group in groups):
        return "cut"
    return "ranges" if any(group.is_range for group in groups) else "groups"


def partition_of(taxonomy: Taxonomy, groups: Sequence[Group]) -> Partition:
    """The partition of known values that groups describe: a cut, ranges, or groups of values.

    Raises
    ------
    ValueError, LookupError
        When the groups do not fit the taxonomy.
    """
    kind = kind_of(groups)
    if kind == "cut":
        return _cut(taxonomy, groups)
    if kind == "ranges":
        return _ranges(taxonomy, [group.interval for group in groups if group.is_range])
    places = {text: code for code, text in enumerate(taxonomy.texts)}
    values = [[places[text] for text in group.values or ()] for group in groups]
    return grouping_of(taxonomy, [np.array(each) for each in values])


def _cut(taxonomy: Taxonomy, groups: Sequence[Group]) -> Partition:
    """The cut through the groups; values in none of them, which no record has, stay single."""
    labels: dict[int, dict[Label, int]] = {}
    nodes, covered = [], np.zeros(len(taxonomy.codes), bool)
    for group in groups:
        if group.level is None:
            raise ValueError("a group of a cut without a level")
        if group.level not in labels:
            labels[group.level] = _labels_at(taxonomy, group.level)
        place = labels[group.level][group.own]
        covered |= taxonomy.levels[group.level].groups == place
        nodes.append((group.level, place))
    single = taxonomy.levels[0].groups[~covered & taxonomy.many]
    return cut_of(taxonomy, [*nodes, *((0, int(place)) for place in single)])


def _labels_at(taxonomy: Taxonomy, level: int) -> dict[Label, int]:
    """The first group of a level with each label."""
    groups = range(len(taxonomy.levels[level]))
    labels = [taxonomy.label(level, group) for group in groups]
    texts = [None if label is None else str(label) for label in labels]
    return {text: group for group, text in reversed([*enumerate(texts)])}


def _ranges(taxonomy: Taxonomy, ranges: Sequence[Interval]) -> Partition:
    """Each number in its range, and a missing value in none of them."""
    if taxonomy.numbers is None:
        raise ValueError("no numbers")
    return Partition.of(
        [ANY if number is None else _holding(number, ranges) for number in taxonomy.numbers]
    )


def _holding(number: Decimal, ranges: Sequence[Interval]) -> Interval:
    for each in ranges:
        above = each.low is None or each.low <= number
        if above and (each.high is None or number < each.high):
            return each
    raise ValueError("a number in no range")


def filled(
    name: str, groups: Sequence[Group], hierarchy: Hierarchy, level: int | None
) -> list[Group]:
    """The groups of a column with the values that a manifest leaves out, from its hierarchy.

    ``level``: the level of the column, where it is released at one.

    Raises
    ------
    InputError
        When the hierarchy lists other values than that of the release.
    """
    taxonomy = hierarchy.over(name, [])
    return [
        group if group.listed is None else _filled(name, group, taxonomy, level) for group in groups
    ]


def _filled(name: str, group: Group, taxonomy: Taxonomy, level: int | None) -> Group:
    values = _members(taxonomy, level if group.level is None else group.level, group.own)
    if digest_of_values(values) != group.sha256:
        raise InputError(
            f"release.json is about another hierarchy of column {name!r} than the study: it lists "
            "other values"
        )
    return group.changed(values=values)


def _members(taxonomy: Taxonomy, level: int | None, label: Label) -> list[str]:
    """The values of the group with a label; none where there is no such group."""
    if level is None or level > taxonomy.height:
        return []
    place = _labels_at(taxonomy, level).get(label)
    codes = np.flatnonzero(taxonomy.levels[level].groups == place)
    return [text for code in codes if (text := taxonomy.texts[code]) is not None]
