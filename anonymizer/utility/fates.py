"""What a release made of the values of each record: found, and required to be just that."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Partitions, row_keys
from anonymizer.counts.multidimensional import CLASS
from anonymizer.errors import InputError, require_columns
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, Partition, Taxonomy
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.tables import engine
from anonymizer.tables.values import texts_of
from anonymizer.utility.labels import PairedAttribute, RegionLabels, place_of


class FoundFates(NamedTuple):
    """What became of the values: as in a ``Pairing``."""

    attributes: Mapping[str, PairedAttribute]
    suppressed: Mask
    left_out: Mask
    class_of: Codes | None = None


def generalized(
    released: pd.DataFrame,
    codes: Mapping[str, Codes],
    taxonomies: Mapping[str, Taxonomy],
    recoding: Partitions,
    sampled: bool,
) -> FoundFates:
    """Every value in its group of a partition."""
    names = [*codes]
    recoded = np.column_stack([recoding[name].groups[codes[name]] for name in names])
    found = np.column_stack([_groups_of(released[name], recoding[name]) for name in names])
    if sampled:
        suppressed = left_out = _not_sampled(recoded, found)
    else:
        hides = _all_hidden(recoded, recoding, names)
        shown = engine.all_equal(released, names, ANY)
        suppressed, left_out = _fates(recoded, found, hides, shown)
    attributes = {
        name: PairedAttribute(taxonomies[name], recoding[name], codes[name], suppressed, groups)
        for name, groups in zip(names, recoded.T, strict=True)
    }
    return FoundFates(attributes, suppressed, left_out)


def in_regions(
    released: pd.DataFrame,
    codes: Mapping[str, Codes],
    taxonomies: Mapping[str, Taxonomy],
    recoding: RegionLabels,
) -> FoundFates:
    """Every record under the labels of a class that stand for its values."""
    nobody, names = _nobody(released, codes), [*codes]
    wrong, attributes = np.zeros(len(released), bool), {}
    for name in names:
        labels = recoding.members[name]
        groups, covers = _places(released[name], [*labels]), np.array([*labels.values()])
        wrong |= (groups < 0) | ~covers[groups, codes[name]]
        attributes[name] = PairedAttribute(
            taxonomies[name], None, codes[name], nobody, groups, covers
        )
    texts = zip(*(texts_of(released[name]) for name in names), strict=True)
    regions = [tuple(each[name] for name in names) for each in recoding.regions]
    numbers = class_numbers(released, len(regions)) if recoding.numbered else None
    if numbers is None:
        known = {*regions}
        wrong |= np.array([each not in known for each in texts], bool)
    else:
        of_class = (regions[number] for number in numbers)
        wrong |= np.array([own != each for own, each in zip(of_class, texts, strict=True)], bool)
    _refuse(int(wrong.sum()))
    return FoundFates(attributes, nobody, nobody, numbers)


def drawn(
    released: pd.DataFrame,
    codes: Mapping[str, Codes],
    taxonomies: Mapping[str, Taxonomy],
    recoding: Partitions,
) -> FoundFates:
    """Every record with what was drawn for it, whatever that is."""
    nobody = _nobody(released, codes)
    attributes = {}
    for name, own in codes.items():
        partition = recoding[name]
        texts, numbers = [*texts_of(partition.labels)], []
        shown, values = engine.distinct(released[name])
        place = {text: group for group, text in enumerate(texts)}
        groups = []
        for text, value in zip(texts_of(values), values, strict=True):
            if text not in place:
                place[text] = len(place)
                numbers.append(place_of(value, taxonomies[name]))
            groups.append(place[text])
        attributes[name] = PairedAttribute(
            taxonomies[name],
            partition,
            own,
            nobody,
            np.array(groups, np.intp)[shown],
            random=True,
            drawn=np.array(numbers, float),
        )
    return FoundFates(attributes, nobody, nobody)


def _nobody(released: pd.DataFrame, codes: Mapping[str, Codes]) -> Mask:
    """No record, shape (records,), of a release that has all of them."""
    records = len(next(iter(codes.values())))
    if len(released) != records:
        raise InputError(
            f"the release has {plural(len(released), 'record')}, and the original {records:,}; is "
            "it a release of this very table?"
        )
    return np.zeros(records, bool)


def class_numbers(released: pd.DataFrame, classes: int) -> Codes:
    """The class of each record, from 0; InputError where there is no column of such numbers."""
    require_columns(released.columns, [CLASS])
    numbers = pd.to_numeric(released[CLASS], errors="coerce")
    if not numbers.between(1, classes).all() or (numbers % 1).any():
        raise InputError(f"column {CLASS!r} of the release must number its {classes:,} classes")
    return numbers.to_numpy().astype(np.intp) - 1


def _not_sampled(recoded: Codes, found: Codes) -> Mask:
    """Which original records count as left out of a sample, shape (records,).

    Of each class as many as the release lacks, the last ones: it does not show which they were.
    """
    keys = np.unique(row_keys(np.concatenate([recoded, found]) + 1), return_inverse=True)[1]
    own, others = keys[: len(recoded)], keys[len(recoded) :]
    classes = int(keys.max()) + 1
    lacks = np.bincount(own, minlength=classes) - np.bincount(others, minlength=classes)
    _refuse(int(-lacks[lacks < 0].sum()))
    order = np.argsort(own, kind="stable")[::-1]  # the last records of each class first
    ordered = own[order]
    place = np.arange(len(own)) - np.searchsorted(-ordered, -ordered)
    left_out = np.zeros(len(own), bool)
    left_out[order] = place < lacks[ordered]
    return left_out


def _fates(recoded: Codes, found: Codes, hides: Mask, shown: Mask) -> tuple[Mask, Mask]:
    """Which original records are suppressed, and which of them left out; shape (records,) each.

    ``recoded`` and ``found`` are the groups of the recoded and of the released records, ``hides``
    and ``shown`` tell which of either are ``*`` throughout.
    """
    left_out = np.zeros(len(recoded), bool)
    if len(found) < len(recoded):
        keys = row_keys(np.concatenate([recoded, found]) + 1)
        left_out = ~np.isin(keys[: len(recoded)], keys[len(recoded) :])
    if len(found) != len(recoded) - left_out.sum():
        raise InputError(
            f"the release has {plural(len(found), 'record')}, which is not what its recoding "
            f"leaves of the original's {len(recoded):,}; is it a release of this very table?"
        )
    stay = recoded[~left_out]
    hidden = shown & (shown & ~hides[~left_out]).any()
    wrong = int(((stay != found).any(axis=1) & ~hidden).sum())
    _refuse(wrong)
    suppressed = left_out.copy()
    suppressed[~left_out] = hidden
    return suppressed, left_out


def _refuse(wrong: int) -> None:
    """Refuse a release in which records are not the recoding of those in their place."""
    if wrong:
        raise InputError(
            f"{plural(wrong, 'record')} of the release are not the recoding of the original "
            "record in their place; measure the table as it was released, its order included"
        )


def _all_hidden(recoded: Codes, recoding: Partitions, names: Iterable[str]) -> Mask:
    """Which records the recoding itself makes ``*`` throughout, shape (records,)."""
    hides = np.ones(len(recoded), bool)
    for name, groups in zip(names, recoded.T, strict=True):
        hides &= np.array([text == ANY for text in texts_of(recoding[name].labels)])[groups]
    return hides


def _groups_of(column: pd.Series, partition: Partition) -> Codes:
    """The group that each released value is the label of, -1 where it is the label of none."""
    return _places(column, texts_of(partition.labels))


def _places(column: pd.Series, labels: Iterable[str | None]) -> Codes:
    """The place of each released value among some labels, -1 where it is none, (records,)."""
    place = {text: group for group, text in enumerate(labels)}
    codes, values = engine.distinct(column)
    return np.array([place.get(text, -1) for text in texts_of(values)], np.intp)[codes]
