"""Raw records under the labels of a release, by what its manifest says that the labels stand for.

Needs neither hierarchies nor the study: a manifest lists what was released.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.counts.flow import dealt_out
from anonymizer.counts.multidimensional import CLASS
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Interval, Scale
from anonymizer.hierarchy.rules.dates import Clock, Moment
from anonymizer.kernels.arrays import Codes
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.groups import Group
from anonymizer.release.manifest.parts import LabelText
from anonymizer.tables import engine
from anonymizer.tables.values import text_of, texts_of

Mask = NDArray[np.bool_]

T = TypeVar("T", bound=Any)
"""A table in memory, its records one by one or counted."""

NOWHERE = "\0"
"""In place of the label of a value that a release does not show: no label reads so."""

LAST = "\U0010ffff"
"""Sorts after any text that begins alike."""


def place(people: T, manifest: Manifest, numbers: Codes | None = None) -> tuple[T, Mask]:
    """The labels under which a release shows raw records, and which records it has labels for.

    Labels are texts by quasi-identifier, of the rows of ``people``, which may be counted. A record
    has some where all of its values are among those that the release shows, shape (records,);
    another one was suppressed, left out, or never in the table. Merged cells have numbers: a record
    is in the only class that covers its values. Where several do, the order of the records decides:
    ``numbers`` has the class, from 0, that stands in the release in the place of each record, -1
    for a record that has none there, shape (records,).

    Raises InputError when labels overlap, so that records fit several, and their order does not
    decide.
    """
    recoding = manifest.recoding
    columns = {name: PlacedColumn.of(people[name]) for name in recoding}
    if manifest.regions:
        return _in_regions(people, columns, manifest, numbers)
    labels, known = {}, np.ones(len(people.index), bool)
    for name, groups in recoding.items():
        raw = manifest.levels.get(name) == 0
        group_of = columns[name].grouped(name, groups, raw)[columns[name].codes]
        known &= group_of >= 0
        labels[name] = _relabelled(people[name], group_of, [group.label for group in groups])
    return _labelled(people, labels), known


def _labelled(people: T, labels: Mapping[str, pd.Series]) -> T:
    """A table of labels in place of the columns of another one."""
    return engine.chosen(engine.replaced(people, labels), [*labels])


def _relabelled(column: pd.Series, group_of: Codes, labels: Sequence[LabelText]) -> pd.Series:
    """The label of the group of each record; that of group -1 is ``NOWHERE``."""
    return engine.relabel(column, group_of + 1, [NOWHERE, *labels])


@dataclass(frozen=True, eq=False)
class PlacedColumn:
    """The distinct raw values of a column: what each is written as, None for a missing one.

    ``codes``: the value of each record, shape (records,).
    """

    codes: Codes
    texts: Sequence[LabelText]

    @classmethod
    def of(cls, column: pd.Series) -> "PlacedColumn":
        """The values of a column."""
        codes, values = engine.distinct(column)
        return cls(codes, texts_of(values))

    @classmethod
    def of_values(cls, values: Sequence[object]) -> "PlacedColumn":
        """A column of some values, in their order."""
        return cls(np.arange(len(values)), texts_of(values))

    @cached_property
    def by_text(self) -> list[tuple[str, int]]:
        """Texts with their codes, sorted."""
        return sorted((text, code) for code, text in enumerate(self.texts) if text is not None)

    @cached_property
    def _on_scale(self) -> dict[Scale, list[tuple[Decimal, int]]]:
        return {}

    @cached_property
    def _moments(self) -> dict[Clock, dict[Moment | None, list[int]]]:
        return {}

    def by_place(self, scale: Scale) -> list[tuple[Decimal, int]]:
        """Those that lie on a scale, numbers or dates, in order."""
        if scale not in self._on_scale:
            places = [(scale.place(text), code) for text, code in self.by_text]
            self._on_scale[scale] = sorted(
                (place, code) for place, code in places if place is not None
            )
        return self._on_scale[scale]

    @cached_property
    def written(self) -> Mapping[str, list[int]]:
        """The codes of the values that are written as a text: 39 and "39.0" are both 39."""
        found = defaultdict(list)
        for text, code in self.by_text:
            found[text].append(code)
        return found

    def covered(self, group: Group, everything: bool = False) -> list[int]:
        """The values that a group of a recoding stands for.

        ``everything``: it has missing values, too, whichever it lists.
        """
        own = group.own
        if group.is_range:
            return self._between(group.interval)
        if group.excluded is not None:
            others = {*group.excluded}
            return [code for text, code in self.by_text if text not in others]
        if group.masked is not None:
            return self._masked(str(own), *group.masked)
        if group.members and group.values is None:
            return [code for each in group.members for code in self.covered(each)]
        if group.values is not None or own is None or group.level == 0:
            values = [own] if group.level == 0 else group.values or []
            texts = [text_of(value) for value in values if value is not None]
            listed = [code for text in texts for code in self._equal(text, group)]
            return listed + (self._missing if group.has_missing or everything else [])
        return list(range(len(self.texts))) if group.is_star else self.written.get(own, [])

    def _equal(self, text: str, group: Group) -> list[int]:
        """The codes of the values that are equal to one of a group, those of one date all."""
        clock = group.clock
        if clock is None:
            return self.written.get(text, [])
        if clock not in self._moments:
            self._moments[clock] = defaultdict(list)
            for other, code in self.by_text:
                self._moments[clock][clock.moment(other)].append(code)
        moment = clock.moment(text)
        return [] if moment is None else self._moments[clock].get(moment, [])

    @property
    def _missing(self) -> list[int]:
        return [code for code, text in enumerate(self.texts) if text is None]

    def _between(self, range_: Interval) -> list[int]:
        """Numbers or dates of a half-open range; an end that is None is open."""
        numbers, low, high = self.by_place(range_.scale), range_.low, range_.high
        begin = 0 if low is None else bisect_left(numbers, (low, -1))
        end = len(numbers) if high is None else bisect_left(numbers, (high, -1))
        return [code for _, code in numbers[begin:end]]

    def _masked(self, label: str, begin: int, end: int) -> list[int]:
        """Codes of the length of a label which only differ from it where it is masked."""
        stem, tail = label[:begin], label[end:]
        places = (bisect_left(self.by_text, (text, -1)) for text in (stem, stem + LAST))
        alike = self.by_text[slice(*places)]
        return [code for text, code in alike if len(text) == len(label) and text.endswith(tail)]

    def grouped(self, name: str, groups: Sequence[Group], raw: bool) -> Codes:
        """The group of each value, -1 for none, shape (values,).

        ``raw``: groups are raw values, of which one may be left alone, or read like a label. Next
        to other groups ``*`` has the values that are in none of them.

        Raises InputError when a value is in two.
        """
        group_of = np.full(len(self.texts), -1, np.intp)
        own = [group.model_copy(update={"level": 0}) if raw else group for group in groups]
        for number in sorted(range(len(own)), key=lambda number: own[number].is_star):
            codes = np.array(self.covered(own[number], len(own) == 1 and not raw), np.intp)
            if own[number].is_star:
                codes = codes[group_of[codes] < 0]
            if (group_of[codes] >= 0).any():
                raise InputError(
                    f"the manifest lists for column {name!r} groups that overlap, so that records "
                    "cannot be placed"
                )
            group_of[codes] = number
        return group_of

    def members(self, group: Group) -> Mask:
        """Whether a group of a class stands for each value, shape (values,)."""
        mask = np.zeros(len(self.texts), bool)
        mask[self.covered(group)] = True
        return mask


def _in_regions(
    people: T, columns: Mapping[str, PlacedColumn], manifest: Manifest, numbers: Codes | None
) -> tuple[T, Mask]:
    """The same where every class has groups of its own."""
    regions = manifest.regions
    members, cells = _members_and_cells(columns, manifest)
    found, several = covering(members, cells)
    if several.any():
        if numbers is None or not _covered(members, cells, numbers):
            raise InputError(
                f"{plural(int(several.sum()), 'record')} of the original fit several classes of "
                "merged cells, whose numbers only the order of the records shows; name the table "
                'that was released, its order included, or make a release with order = "kept"'
            )
        found = numbers
    labels = {
        name: _relabelled(people[name], found, [region[name] for region in regions])
        for name in columns
    }
    labels[CLASS] = pd.Series((found + 1).astype(str), index=people.index)
    return _labelled(people, labels), found >= 0


def _members_and_cells(
    columns: Mapping[str, PlacedColumn], manifest: Manifest
) -> tuple[list[Mask], Codes]:
    """The values in each class, by attribute, and those of each record: see ``covering``."""
    members = []
    for name, groups in manifest.recoding.items():
        masks = {group.label: columns[name].members(group) for group in groups}
        members.append(np.array([masks[region[name]] for region in manifest.regions]))
    return members, np.column_stack([column.codes for column in columns.values()])


def class_numbers(
    people: pd.DataFrame, own: Codes, manifest: Manifest, numbers: Codes, others: Codes
) -> Codes | None:
    """A class for each raw record, so that all classes have the records that they hold.

    ``numbers``: the class of each released record, from 0; ``own`` and ``others``: what raw and
    released records have otherwise, shape (records,) each. See ``dealt_out``.
    """
    columns = {name: PlacedColumn.of(people[name]) for name in manifest.recoding}
    return dealt_out(*_members_and_cells(columns, manifest), own, numbers, others)


def covering(members: Sequence[Mask], cells: Codes) -> tuple[Codes, Mask]:
    """The first class that covers each record, -1 for none, and whether others do, (records,) each.

    ``members``: the values in each class, (classes, values) by attribute. ``cells``: the value
    codes of each record, (records, attributes).
    """
    rows, row_of = np.unique(cells, axis=0, return_inverse=True)
    class_of = np.full(len(rows), -1, np.intp)
    several = np.zeros(len(rows), bool)
    for number in range(len(members[0])):
        inside = [values[number, codes] for values, codes in zip(members, rows.T, strict=True)]
        fits = np.logical_and.reduce(inside)
        several |= fits & (class_of >= 0)
        class_of[fits & (class_of < 0)] = number
    return class_of[row_of.ravel()], several[row_of.ravel()]


def _covered(members: Sequence[Mask], cells: Codes, numbers: Codes) -> bool:
    """Whether the class of a number covers each record; -1 needs no cover."""
    return all(
        (values[numbers, codes] | (numbers < 0)).all()
        for values, codes in zip(members, cells.T, strict=True)
    )
