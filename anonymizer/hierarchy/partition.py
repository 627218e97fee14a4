"""Partitions of one attribute's values: chains of them, cuts through these, sets of any values."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from anonymizer.errors import InputError, is_whole, shown
from anonymizer.hierarchy.label import HierarchyNode, Meaning
from anonymizer.hierarchy.naming import SWITCH, may_be_named
from anonymizer.hierarchy.scale import NUMBERS, Interval, Scale
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.tables.values import key_text, number_text, text_of

if TYPE_CHECKING:
    from anonymizer.hierarchy.hierarchy import Hierarchy


ANY = "*"
"""The label of the group that holds every value."""

MOST_LISTED = 10_000
"""Values of a hierarchy that a manifest lists: some 300 kB."""

SPECIAL = set(',{}"\\')
"""Characters of a value that its group's label quotes."""

ITEM = r'"(?:[^"\\]|\\.)*"|[^",{}\\]+'
LISTING, ITEMS = re.compile(rf"{{(?:{ITEM})(?:, (?:{ITEM}))+}}"), re.compile(f"({ITEM})(?:, |$)")
"""The label of a group that spells out its values, and each of these."""

LEVEL, GROUPED = " (level {})", " (grouped)"
"""What is added to a label that reads like another one."""
MARKED = re.compile(r"( \((level \d+|grouped)\))+$")
"""Such marks at the end of a label."""


@dataclass(frozen=True, eq=False)
class Partition:
    """A surjection from value codes onto group codes, with one label per group.

    ``groups`` (values,) has the group of each value, ``labels`` what is released for each group: a
    text or, at level 0, the raw value. In a cut through several levels ``levels`` has that of each
    group. Labels that spell out the values of their groups are ``spelled``.
    """

    groups: Codes = field(repr=False)
    labels: tuple[Hashable, ...] = field(repr=False)
    levels: tuple[int, ...] | None = field(default=None, repr=False)
    spelled: bool = False

    @classmethod
    def of(cls, labels: Iterable[Hashable]) -> "Partition":
        """Group the values that carry the same label, in order of first appearance."""
        labels = list(labels)
        distinct = dict.fromkeys(labels)
        if len(distinct) == len(labels):
            return cls(np.arange(len(labels)), tuple(labels))
        code = {label: i for i, label in enumerate(distinct)}
        return cls(np.array([code[label] for label in labels], np.intp), tuple(code))

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def first(self) -> Codes:
        """The smallest value code of each group, shape (groups,)."""
        first = np.empty(len(self.labels), np.intp)
        first[self.groups[::-1]] = np.arange(len(self.groups))[::-1]  # the last to be set is first
        return first

    @cached_property
    def representatives(self) -> Codes:
        """For each value code the smallest code of its group, shape (values,).

        Naming a group by one of its values is what lets counts roll up along a chain of nested
        partitions: the same array applies to raw codes and to codes already made coarser.
        """
        return self.first[self.groups]

    @cached_property
    def hidden(self) -> Mask:
        """Mask of values released as ``*``, shape (values,): a suppressed record looks so too."""
        return np.array([str(label) == ANY for label in self.labels], bool)[self.groups]

    def split_by(self, coarser: "Partition") -> tuple[int, int] | None:
        """Two values of one group here that ``coarser`` separates; None when nested in it."""
        # Nested exactly if each value lies in the coarser group of its representative.
        torn = np.flatnonzero(coarser.groups != coarser.groups[self.representatives])
        return (int(self.representatives[torn[0]]), int(torn[0])) if len(torn) else None


@dataclass(frozen=True)
class Limits:
    """The levels that a release may use, from ``min_level`` to ``max_level``, and its ``grid``.

    ``max_level`` None is the highest level. ``grid`` is of ranges: how many cut points they may
    have, or which ones; None where nothing is said. ``ground`` is the level that values are counted
    at, so that none below it can be used; None where they are counted as they are.

    Raises InputError when a limit is no level, no number of cut points, or they are out of order.
    """

    min_level: int = 0
    max_level: int | None = None
    grid: int | tuple[Decimal, ...] | None = None
    ground: int | None = None

    def __post_init__(self) -> None:
        for name, level in (("min-level", self.min_level), ("max-level", self.max_level)):
            if level is not None and not is_whole(level, least=0):
                raise InputError(
                    f"{name} = {shown(level)} must be a level, a whole number of at least 0, such "
                    f"as {name} = 1"
                )
        if self.max_level is not None and self.max_level < self.min_level:
            raise InputError(
                f"min-level = {self.min_level} is above max-level = {self.max_level}; it must be "
                "at most that"
            )
        if isinstance(self.grid, tuple):
            if not self.grid or any(low >= high for low, high in pairwise(self.grid)):
                raise InputError("grid must list increasing cut points, such as grid = [20, 40]")
        elif self.grid is not None and not is_whole(self.grid, least=1):
            raise InputError(
                f"grid = {shown(self.grid)} must be a number of cut points of at least 1, or a "
                "list of them, such as grid = 100 or grid = [20, 40]"
            )

    @property
    def given(self) -> dict[str, object]:
        """Limits that can be given again: a lowest level, a highest one, and a grid."""
        least = 0 if self.min_level == self.ground else self.min_level
        return {"min_level": least, "max_level": self.max_level, "grid": self.grid}

    def require_height(self, height: int) -> None:
        """Require that the levels are some of 0, 1, ..., ``height``."""
        for name, level in (("min-level", self.min_level), ("max-level", self.max_level)):
            if level is not None and level > height:
                raise InputError(
                    f"{name} = {level} is no level of this hierarchy; it has levels 0 to {height}"
                )

    def upon(self, ground: int | None) -> "Limits":
        """Return the limits of values counted at a level; None: as they are."""
        if ground is None:
            return self
        if self.max_level is not None and self.max_level < ground:
            raise InputError(
                f"max-level = {self.max_level} is below the ground, which is level {ground}; "
                f"write max-level = {ground} or more"
            )
        return replace(self, min_level=max(self.min_level, ground), ground=ground)

    def describe(self) -> dict[str, object]:
        """The limits that say something, as JSON has them."""
        given: dict[str, object] = {}
        if self.min_level:
            given["min-level"] = int(self.min_level)
        if self.max_level is not None:
            given["max-level"] = int(self.max_level)
        if isinstance(self.grid, tuple):
            given["grid"] = [number_text(cut) for cut in self.grid]
        elif self.grid is not None:
            given["grid"] = int(self.grid)
        return given


@dataclass(frozen=True)
class Forgotten:
    """In place of a value: nothing but its code, so that no two are taken for one."""

    code: int

    def __str__(self) -> str:
        return f"\0{self.code}"  # no value of a table reads so


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A chain of nested partitions of one attribute's values, finest first.

    ``levels[0]`` separates all values, the last one none. ``key`` says what makes two raw values
    the same value (``39``, ``39.0`` and ``" 39"`` are), ``codes`` has the code of each by its key.
    ``numbers`` are their exact places on the ``scale``, None for a missing one, and None in all
    where not every value has one. Ranges of ``ordered`` values mean something: they may be refined.
    Values that are not ``listed`` by the hierarchy, shape (values,), only the table has: no report
    may name one that a release hides. ``limits`` are the levels and ranges that a release may use.
    ``hierarchy`` is what it was made by: it says how values generalize that are none of these.
    """

    attribute: str
    codes: Mapping[Hashable, int] = field(repr=False)
    levels: tuple[Partition, ...] = field(repr=False)
    key: Callable[[object], Hashable] = field(repr=False)
    numbers: tuple[Decimal | None, ...] | None = field(repr=False)
    ordered: bool
    listed: Mask = field(repr=False)
    scale: Scale = field(default=NUMBERS, repr=False)
    limits: Limits = Limits()
    hierarchy: "Hierarchy | None" = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for level, (fine, coarse) in enumerate(pairwise(self.levels)):
            if not (pair := fine.split_by(coarse)):
                continue
            names, label = None, None
            # The hierarchy lists the values, or they may be named.
            if self.listed[list(pair)].all() or may_be_named(0):
                keys = list(self.codes)
                names = ["a missing value" if keys[v] is None else str(keys[v]) for v in pair]
                label = fine.labels[fine.groups[pair[0]]]
            raise InputError(f"column {self.attribute!r}: {torn_levels(level, names, label)}")

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.levels) - 1

    @property
    def finest(self) -> int:
        """The lowest level that a release may use."""
        return self.limits.min_level

    @property
    def coarsest(self) -> int:
        """The highest level that a release may use."""
        most = self.limits.max_level
        return self.height if most is None else min(most, self.height)

    @property
    def bounded(self) -> bool:
        """Whether a release may not put all values into one group."""
        return self.coarsest < self.height

    @cached_property
    def placed(self) -> tuple[Codes, tuple[Decimal, ...]]:
        """The codes of the values that have a place on the scale, in its order, and the places."""
        numbers = enumerate(self.numbers or ())
        known = sorted((number, code) for code, number in numbers if number is not None)
        codes = np.array([code for _, code in known], np.intp)
        return codes, tuple(number for number, _ in known)

    @property
    def many(self) -> bool:
        """Whether the listed values are so numerous that only released groups are described."""
        return int(self.listed.sum()) > MOST_LISTED

    @cached_property
    def lacks(self) -> Mask:
        """The values that the hierarchy does not list, no missing one among them."""
        lacking: Mask = np.array([key is not None for key in self.codes], bool)
        lacking[self.listed] = False
        return lacking

    def lists(self, codes: Sequence[int] | Codes) -> bool:
        """Whether the hierarchy lists some values, all of them but a missing one."""
        return bool(self.listed.any() and not self.lacks[np.asarray(codes, np.intp)].any())

    @cached_property
    def texts(self) -> tuple[str | None, ...]:
        """The text of each value, however a table writes it; None for a missing one."""
        return tuple(map(key_text, self.codes))

    def label(self, level: int, group: int) -> Hashable:
        """The label of a group of a level, next to groups of other levels."""
        partition = self.levels[level]
        return partition.labels[group] if level else self.texts[partition.first[group]]

    def groups(self) -> Iterator[tuple[int, int, Codes]]:
        """Each group of each level: the level, its number there and the codes of its values."""
        for level, partition in enumerate(self.levels):
            order = np.argsort(partition.groups, kind="stable")
            ends = np.cumsum(np.bincount(partition.groups))[:-1]
            yield from ((level, *each) for each in enumerate(np.split(order, ends)))

    @cached_property
    def nodes(self) -> Mapping[HierarchyNode, Codes]:
        """The codes of the values of each group of each level, by the level and its label."""
        found: dict[HierarchyNode, Codes] = {}
        for level, group, codes in self.groups():
            label = self.label(level, group)
            found.setdefault((level, None if label is None else str(label)), codes)
        return found

    def encode(self, values: Iterable[object]) -> Codes:
        """The code of each raw value, -1 for a value that is not part of the taxonomy."""
        return np.array([self.codes.get(self.key_of(value), -1) for value in values], np.intp)

    def key_of(self, value: object) -> Hashable:
        """Identify a raw value; a forgotten one by itself."""
        return value if isinstance(value, Forgotten) else self.key(value)

    def describe(
        self, partition: Partition, released: Collection[str | None]
    ) -> list[dict[str, object]]:
        """The groups of a partition, enough to apply it again, as JSON has it.

        A group is given by its range, by the values the hierarchy lists for it, by its label with
        what that stands for (a masked code, all values but some, everything), or, in a cut, by its
        level and label. What only the table
        holds, be it a value, the way it is written or that one is missing, is never shown unless it
        is released as it is, or spelled out by a label: nor is a group whose label is not among the
        texts ``released`` (None: a missing value), unless the hierarchy lists its values.

        Of a hierarchy of more than ``MOST_LISTED`` values only groups that are released are listed,
        and where these hold more the number of each one's values, and their digest, in place of
        the values: who holds the hierarchy can put them in.
        """
        texts = [None if label is None else text_of(label) for label in partition.labels]
        shown = np.array([text in released for text in texts], bool)
        listable = shown if self.many else np.ones(len(partition), bool)
        members: dict[int, list[int]] = {int(each): [] for each in np.flatnonzero(listable)}
        of_these = np.flatnonzero(listable[partition.groups])
        group_of = partition.groups[of_these].tolist()
        for code, group in zip(of_these.tolist(), group_of, strict=True):
            members[group].append(code)
        raw = partition is self.levels[0]
        briefly = self.many and not raw and sum(map(len, members.values())) > MOST_LISTED
        found = []
        for group, codes in members.items():
            label, values = partition.labels[group], [self.texts[code] for code in codes]
            listed = [self.texts[code] for code in codes if self.listed[code]]
            if shown[group] or listed:
                group_entry = self.entry(label if shown[group] or not raw else listed[0], raw)
                # Ranges and meanings say by their labels which values these are.
                clear = raw or isinstance(label, Interval | Meaning)
                if not clear and self.lists(codes):
                    digest = {"listed": len(listed), "sha256": digest_of_values(listed)}
                    group_entry |= digest if briefly else {"values": listed}
                found.append(group_entry | self._kind(partition, group, values))
        return found

    def entry(self, label: Hashable, raw: bool) -> dict[str, object]:
        """A label as JSON has it, with the ends of a range, or with the raw value that it is."""
        if isinstance(label, Interval):
            return {"label": str(label), **label.entry()}
        text = None if label is None else str(label)
        meaning = label.described if isinstance(label, Meaning) else {}
        values = {"values": [text]} if raw else {}
        return {"label": text, **values, **(meaning if not raw else {}), **self.scale.described()}

    def _kind(
        self, partition: Partition, group: int, values: list[str | None]
    ) -> dict[str, object]:
        """Identify a group of a partition that is neither a level nor one of ranges."""
        if partition.spelled:
            return {"values": values}
        if partition.levels is None:
            return {}
        level = partition.levels[group]
        own = self.label(level, int(self.levels[level].groups[partition.first[group]]))
        named = {} if str(own) == str(partition.labels[group]) else {"group": str(own)}
        return {"level": level, **named}


def forgetting(taxonomy: Taxonomy, seen: Mask) -> Taxonomy:
    """The taxonomy without the values that are neither seen nor listed by the hierarchy.

    ``seen`` are the values that may be kept, shape (values,). Labels that stand for no other values
    are forgotten too: a masked code, or a range.
    """
    if seen.all():
        return taxonomy
    kept = seen | taxonomy.listed | np.array([key is None for key in taxonomy.codes], bool)
    keys = [
        key if keep else Forgotten(code)
        for (key, code), keep in zip(taxonomy.codes.items(), kept, strict=True)
    ]
    raw, *coarser = taxonomy.levels
    written = [
        raw.labels[group] if own else keys[code]  # as the hierarchy writes it, not the record
        for code, (group, own) in enumerate(zip(raw.groups, seen, strict=True))
    ]
    numbers = taxonomy.numbers and tuple(
        number if keep else None for number, keep in zip(taxonomy.numbers, kept, strict=True)
    )
    return replace(
        taxonomy,
        codes={key: code for code, key in enumerate(keys)},
        levels=(
            replace(raw, labels=tuple(written[code] for code in raw.first)),
            *(_without_labels(partition, kept) for partition in coarser),
        ),
        numbers=numbers,
    )


def _without_labels(partition: Partition, kept: Mask) -> Partition:
    """The partition without labels that stand for no value that is kept."""
    shown = np.bincount(partition.groups, kept) > 0
    labels = tuple(
        label if there or str(label) == ANY else Forgotten(-1 - group)
        for group, (label, there) in enumerate(zip(partition.labels, shown, strict=True))
    )
    return replace(partition, labels=labels)


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
    # Groups are numbered by their first values, as those of any partition are.
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
    taken: set[str | None] = set()  # the texts of all labels so far, no two of them alike
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
    # The smallest keep their labels, and others that read alike are marked.
    order = sorted(range(len(sets)), key=lambda place: (len(sets[place]), sets[place]))
    labels = dict(
        zip(
            order,
            unambiguous((*found[place], len(sets[place]) == whole) for place in order),
            strict=True,
        )
    )
    return [labels[place] for place in range(len(sets))]


def digest_of_values(values: Sequence[str | None]) -> str:
    """SHA-256 of a list of values as JSON has it."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def torn_levels(level: int, values: Sequence[object] | None, label: object) -> str:
    """Say that level ``level`` is not nested in the next one; without values, of two unnamed."""
    if values is None:
        what = f"two values that {SWITCH} names share a label"
    else:
        what = f"{values[0]!r} and {values[1]!r} are both {label!r}"
    return (
        f"level {level + 1} is not nested: {what} at level {level} but fall apart at level "
        f"{level + 1}; every level must coarsen the one before"
    )
