"""Groups of a recoding as a manifest lists them, and the partitions that they describe."""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Hierarchy, Interval, Partition, Taxonomy, cut_of, grouping_of
from anonymizer.hierarchy.partition import digest_of_values
from anonymizer.release.parts import Group, LabelText
from anonymizer.release.release import MANIFEST


def kind_of(groups: Sequence[Group]) -> str:
    """What the groups of a column are: those of a cut, ranges, or groups of values."""
    if any(group.level is not None for group in groups):
        return "cut"
    return "ranges" if any(group.is_range for group in groups) else "groups"


def partition_of(taxonomy: Taxonomy, groups: Sequence[Group]) -> Partition:
    """The partition of known values that groups describe: a cut, ranges, or groups of values.

    Raises ValueError or LookupError when the groups do not fit the taxonomy.
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
    labels: dict[int, dict[LabelText, int]] = {}
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


def _labels_at(taxonomy: Taxonomy, level: int) -> dict[LabelText, int]:
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

    Raises InputError when the hierarchy lists other values than that of the release.
    """
    taxonomy, full = hierarchy.over(name, []), []
    for group in groups:
        if group.listed is None:
            full.append(group)
            continue
        values = _members(taxonomy, level if group.level is None else group.level, group.own)
        if digest_of_values(values) != group.sha256:
            raise InputError(
                f"{MANIFEST} is about another hierarchy of column {name!r} than the study: it "
                "lists other values"
            )
        full.append(group.model_copy(update={"values": values}))
    return full


def _members(taxonomy: Taxonomy, level: int | None, label: LabelText) -> list[str]:
    """The values of the group with a label; none where there is no such group."""
    if level is None or level > taxonomy.height:
        return []
    place = _labels_at(taxonomy, level).get(label)
    codes = np.flatnonzero(taxonomy.levels[level].groups == place)
    return [text for code in codes if (text := taxonomy.texts[code]) is not None]
