"""Labels of sets of values, which several classes may share or overlap in."""

from collections.abc import Hashable, Sequence

import numpy as np

from anonymizer.hierarchy.cuts import spelled, told_apart
from anonymizer.hierarchy.partition import Taxonomy

__all__ = ["set_labels"]


def set_labels(
    taxonomy: Taxonomy, sets: Sequence[tuple[int, ...]], *, ranges: bool
) -> list[Hashable]:
    """What sets of value codes go by, no two different ones alike.

    A group of a level goes by its own label there, at the finest level that has it, a single value
    by its text, any others by their list. Where the attribute gets ``ranges`` all values go by the
    label of the highest level: a lower one may tell the extremes of the table, and be narrower
    than any range is allowed to be.
    """
    groups = _groups(taxonomy)
    if ranges:
        groups[tuple(range(len(taxonomy.codes)))] = (taxonomy.height, 0)
    found: list[tuple[Hashable, str]] = []
    for codes in sets:
        place = groups.get(codes)
        if place is None:
            found.append((spelled(taxonomy, np.array(codes)), " (grouped)"))
        else:
            level, group = place
            found.append((taxonomy.label(level, group), f" (level {level})"))
    # The plainest keep their labels.
    order = sorted(range(len(sets)), key=lambda place: (len(sets[place]), sets[place]))
    labels = dict(zip(order, told_apart([found[place] for place in order]), strict=True))
    return [labels[place] for place in range(len(sets))]


def _groups(taxonomy: Taxonomy) -> dict[tuple[int, ...], tuple[int, int]]:
    """The finest level and the group there of each set of values that is one."""
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for level, partition in enumerate(taxonomy.levels):
        order = np.argsort(partition.groups, kind="stable")
        ends = np.cumsum(np.bincount(partition.groups))[:-1]
        for group, codes in enumerate(np.split(order, ends)):
            found.setdefault(tuple(codes.tolist()), (level, group))
    return found
