"""Groups that are no level: cuts through a taxonomy, and sets of values of any kind."""

import json
import re
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from anonymizer.hierarchy.label import Meaning
from anonymizer.hierarchy.partition import ANY, Partition, Taxonomy
from anonymizer.kernels.arrays import Codes
from anonymizer.tables.values import text_of

SPECIAL = set(',{}"\\')
"""Characters of a value that its group's label quotes."""

ITEM = r'"(?:[^"\\]|\\.)*"|[^",{}\\]+'
LISTING, ITEMS = re.compile(rf"{{(?:{ITEM})(?:, (?:{ITEM}))+}}"), re.compile(f"({ITEM})(?:, |$)")
"""The label of a group that spells out its values, and each of these."""

LEVEL, GROUPED = " (level {})", " (grouped)"
"""What is added to a label that reads like another one."""
MARKED = re.compile(r"( \((level \d+|grouped)\))+$")
"""The same at the end of a label."""


def cut_of(taxonomy: Taxonomy, nodes: Iterable[tuple[int, int]]) -> Partition:
    """The partition into groups of several levels, each given by its level and its group there.

    A group goes by its own label, a single value by its text. Where the labels of two levels are
    alike the coarser one says its level: ``other (level 2)``. ValueError when a value is in none
    of the groups, or in two.
    """
    nodes = sorted(nodes)
    inside = np.stack([_inside(taxonomy, nodes, level) for level in range(len(taxonomy.levels))])
    if not ((inside >= 0).sum(axis=0) == 1).all():
        raise ValueError("no partition")
    labels = unambiguous(
        (taxonomy.label(level, group), LEVEL.format(level), len(nodes) == 1)
        for level, group in nodes
    )
    first, groups = np.unique(inside.max(axis=0), return_index=True, return_inverse=True)[1:]
    order = np.argsort(first)
    return Partition(
        np.argsort(order)[groups],
        tuple(labels[place] for place in order),
        levels=tuple(nodes[place][0] for place in order),
    )


def _inside(taxonomy: Taxonomy, nodes: Sequence[tuple[int, int]], level: int) -> Codes:
    """The place of the node of one level that each value is in, -1 for none, shape (values,)."""
    partition = taxonomy.levels[level]
    places = np.full(len(partition), -1)
    for place, (own, group) in enumerate(nodes):
        if own == level:
            places[group] = place
    return places[partition.groups]


def grouping_of(taxonomy: Taxonomy, groups: Sequence[Codes]) -> Partition:
    """The partition into some groups of value codes; values in none of them stand alone.

    A group of several values is spelled out in the order of the values, ``{Black, Other}``, texts
    that could be misread in the quotes of JSON, a missing value as ``null``. A single value goes by
    its text.
    """
    alone = np.setdiff1d(np.arange(len(taxonomy.codes)), np.concatenate([[], *groups]))
    members = sorted([*map(np.sort, groups), *alone[:, None].astype(np.intp)], key=len)
    labels = unambiguous(
        (spelled(taxonomy, codes), GROUPED, len(members) == 1) for codes in members
    )
    order = sorted(range(len(members)), key=lambda place: int(members[place][0]))
    group = np.empty(len(taxonomy.codes), np.intp)
    for number, place in enumerate(order):
        group[members[place]] = number
    return Partition(group, tuple(labels[place] for place in order), spelled=True)


def spelled(taxonomy: Taxonomy, codes: Iterable[int]) -> str | None:
    """The label of a group of values."""
    return joint_label([taxonomy.texts[code] for code in codes])


def joint_label(texts: Sequence[str | None]) -> str | None:
    """What some values, or groups of a hierarchy, go by together: ``{Black, Other}``."""
    return texts[0] if len(texts) == 1 else "{" + ", ".join(map(quoted, texts)) + "}"


def quoted(text: str | None) -> str:
    """A value as its group's label has it: in quotes where it could be misread."""
    if text is None:
        return "null"
    plain = SPECIAL.isdisjoint(text) and text == text.strip() and text not in ("", "null")
    return text if plain else json.dumps(text, ensure_ascii=False)


def members_of(label: str) -> list[str | None] | None:
    """The values that a group's label spells out, two or more; None where it spells none.

    >>> members_of("{Black, Other}"), members_of('{"a, b", null}'), members_of("[1, 2)")
    (['Black', 'Other'], ['a, b', None], None)
    """
    if not LISTING.fullmatch(label):
        return None
    texts = [found[1] for found in ITEMS.finditer(label[1:-1])]
    try:
        return [json.loads(text) if text[0] == '"' or text == "null" else text for text in texts]
    except ValueError:  # an escape that JSON does not have
        return None


def unambiguous(labelled: Iterable[tuple[Hashable | None, str, bool]]) -> list[Hashable]:
    """Labels, each with its mark added for as long as it reads like one before it.

    Each comes with its mark, and whether it stands for every value: no other one may read ``*``.
    """
    taken: set[str | None] = set()
    labels = []
    for label, mark, whole in labelled:
        while (text := None if label is None else text_of(label)) in taken or (
            text == ANY and not whole
        ):
            label = label.marked(mark) if isinstance(label, Meaning) else f"{label}{mark}"
        taken.add(text)
        labels.append(label)
    return labels


def set_labels(
    taxonomy: Taxonomy, sets: Sequence[tuple[int, ...]], *, ranges: bool
) -> list[Hashable]:
    """Label sets of value codes, no two different ones alike.

    A group of a level goes by its own label there, at the finest level that has it, a single value
    by its text, any others by their list. Where the attribute gets ``ranges`` all values go by the
    label of the highest level: a lower one may reveal the extremes of the table, and be narrower
    than any range is allowed to be.
    """
    groups: dict[tuple[int, ...], tuple[int, int]] = {}
    for level, group, codes in taxonomy.groups():
        groups.setdefault(tuple(codes.tolist()), (level, group))
    if ranges:
        groups[tuple(range(len(taxonomy.codes)))] = (taxonomy.height, 0)
    found = [
        (taxonomy.label(*groups[codes]), LEVEL.format(groups[codes][0]))
        if codes in groups
        else (spelled(taxonomy, codes), GROUPED)
        for codes in sets
    ]
    whole = len(taxonomy.codes)
    # The plainest keep their labels.
    order = sorted(range(len(sets)), key=lambda place: (len(sets[place]), sets[place]))
    labels = dict(
        zip(
            order,
            unambiguous((*found[place], len(sets[place]) == whole) for place in order),
            strict=True,
        )
    )
    return [labels[place] for place in range(len(sets))]
