"""Raw records under the labels of a release, by what its manifest says that the labels stand for.

Needs neither hierarchies nor the study: a manifest lists what was released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonymizer.counts.multidimensional import CLASS, dealt_out
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy.label import Label, PlacedColumn
from anonymizer.kernels.arrays import Codes
from anonymizer.recoding.policy import WHOLE_PERSONS
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import LabelText
from anonymizer.tables import engine
from anonymizer.tables.values import texts_of

Mask = NDArray[np.bool_]

T = TypeVar("T", bound=Any)
"""A table in memory, its records one by one or counted."""

NOWHERE = "\0"
"""In place of the label of a value that a release does not show: no label reads so."""


def require_whole_classes(method: Mapping[str, object], what: str) -> None:
    """Refuse a release of whose classes some persons were left out: nobody sees by them who.

    ``method``: the recoding and its options; ``what``: what needs to know it.
    """
    if method.get(WHOLE_PERSONS):
        raise InputError(
            f"{what} finds records of the original in the classes of the release, and of these "
            "suppress-persons left out some persons, who do not show; release without "
            "suppress-persons for it, or examine the release with verify --original"
        )


def require_no_numbers(number: str | None, what: str) -> None:
    """Refuse a release whose rows are joined by the numbers of persons, where rows stand alone.

    ``number``: the column of the numbers, if any; ``what``: what looks at rows by themselves.
    """
    if number is not None:
        raise InputError(
            f"{what} looks at each row by itself, and column {number!r} of the release numbers "
            "persons, which joins their rows; release without person below [output] of a study "
            "(person_numbers) for it, or examine the release with verify --original"
        )


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
    columns = {name: _placed(people[name]) for name in recoding}
    if manifest.regions:
        return _in_regions(people, columns, manifest, numbers)
    labels, known = {}, np.ones(len(people.index), bool)
    for name in recoding:
        found = manifest.labels(name)
        group_of = grouped(name, columns[name], found)[columns[name].codes]
        known &= group_of >= 0
        labels[name] = _relabelled(people[name], group_of, [text for text, _ in found])
    return _labelled(people, labels), known


def _labelled(people: T, labels: Mapping[str, pd.Series]) -> T:
    return engine.chosen(engine.replaced(people, labels), [*labels])


def _relabelled(column: pd.Series, group_of: Codes, labels: Sequence[LabelText]) -> pd.Series:
    """The label of the group of each record; that of group -1 is ``NOWHERE``."""
    return engine.relabel(column, group_of + 1, [NOWHERE, *labels])


def _placed(column: pd.Series) -> PlacedColumn:
    codes, values = engine.distinct(column)
    return PlacedColumn(codes, texts_of(values))


def grouped(name: str, column: PlacedColumn, labels: Sequence[tuple[LabelText, Label]]) -> Codes:
    """The label of each value of a column, by its number, -1 for none, shape (values,).

    Raises InputError when two labels stand for a value.
    """
    label_of = np.full(len(column.texts), -1, np.intp)
    for number, (_, label) in sorted(enumerate(labels), key=lambda each: each[1][1].is_rest):
        codes = np.array(label.codes(column), np.intp)
        if label.is_rest:
            codes = codes[label_of[codes] < 0]
        if (label_of[codes] >= 0).any():
            raise InputError(
                f"the manifest lists for column {name!r} groups that overlap, so that records "
                "cannot be placed"
            )
        label_of[codes] = number
    return label_of


def covered(label: Label, column: PlacedColumn) -> Mask:
    """Whether a label of a class stands for each value of a column, shape (values,)."""
    mask = np.zeros(len(column.texts), bool)
    mask[label.codes(column)] = True
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
    labels.setdefault(CLASS, pd.Series((found + 1).astype(str), index=people.index))
    return _labelled(people, labels), found >= 0


def _members_and_cells(
    columns: Mapping[str, PlacedColumn], manifest: Manifest
) -> tuple[list[Mask], Codes]:
    """The values in each class, by attribute, and those of each record: see ``covering``."""
    members = []
    for name in manifest.recoding:
        masks = {text: covered(each, columns[name]) for text, each in manifest.labels(name)}
        members.append(np.array([masks[region[name]] for region in manifest.regions]))
    return members, np.column_stack([column.codes for column in columns.values()])


def class_numbers(
    people: pd.DataFrame, own: Codes, manifest: Manifest, numbers: Codes, others: Codes
) -> Codes | None:
    """A class for each raw record, so that all classes have the records that they hold.

    ``numbers``: the class of each released record, from 0; ``own`` and ``others``: what raw and
    released records have otherwise, shape (records,) each. See ``dealt_out``.
    """
    columns = {name: _placed(people[name]) for name in manifest.recoding}
    return dealt_out(*_members_and_cells(columns, manifest), own, numbers, others)


def overlapping(people: pd.DataFrame, manifest: Manifest) -> Mask:
    """Whether each raw record fits several classes of merged cells, shape (records,)."""
    columns = {name: _placed(people[name]) for name in manifest.recoding}
    return covering(*_members_and_cells(columns, manifest))[1]


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
