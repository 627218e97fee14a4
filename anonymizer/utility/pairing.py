"""Pairs of original and released records, and proof that the one was made of the other.

What is released of a record follows from its values: released records in random order are found by
what they read, and those that are released alike are one as good as another.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Partitions
from anonymizer.counts.multidimensional import CLASS, Regions, dealt_out
from anonymizer.counts.pairs import row_keys
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, require_columns
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, Taxonomy
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.release.manifest.placement import covering
from anonymizer.release.plan import Plan
from anonymizer.tables import engine
from anonymizer.tables.values import texts_of
from anonymizer.utility.labels import PairedAttribute, RegionLabels, place_of

Labels = Mapping[str, np.ndarray]
"""The label of each original record, by quasi-identifier, shape (records,)."""


@dataclass(frozen=True, eq=False)
class Recoder:
    """Recoding of a release as a manifest and its study describe it; a ``Plan`` has the same.

    ``recoding`` groups the known values of each quasi-identifier, or every class has labels of its
    own. Where the release is ``random``, values were drawn in the place of these groups; where it
    is ``sampled``, records were drawn, and which of a class they were nobody knows. ``in_order``:
    whether released records have the order of the original ones.
    """

    schema: Schema
    taxonomies: Mapping[str, Taxonomy]
    recoding: Partitions | RegionLabels
    random: bool = False
    sampled: bool = False
    in_order: bool = True


@dataclass(frozen=True, eq=False)
class Pairing:
    """The records of an original table, paired with what a release made of them.

    ``table`` holds the original records without the ``dropped`` ones, which miss a value.
    ``suppressed`` records are released as ``*`` or left out, and ``left_out`` tells which of them
    are not in the release at all; shape (records,) each. ``class_of`` is the number of the class
    that merged cells have in a column of their own. Where values were drawn, or several merged
    cells stand for a record, and the order is random, records are ``mixed``: those that are paired
    have other columns alike, and may be different ones.
    """

    schema: Schema
    attributes: Mapping[str, PairedAttribute]
    table: pd.DataFrame = field(repr=False)
    dropped: int
    suppressed: Mask
    left_out: Mask
    class_of: Codes | None = None
    mixed: bool = False

    def __len__(self) -> int:
        return len(self.table)

    @property
    def random(self) -> bool:
        """Whether released values were drawn."""
        return any(attribute.random for attribute in self.attributes.values())

    @cached_property
    def cells(self) -> Codes:
        """What tells the classes of the release apart, shape (records, columns)."""
        own = [] if self.class_of is None else [self.class_of]
        return np.column_stack([*(a.groups for a in self.attributes.values()), *own])

    @cached_property
    def others(self) -> dict[str, tuple[Codes, list[object]]]:
        """Columns released as they were: each record's value, by its number, and the values.

        Sensitive attributes come first. A column without a role whose values cannot be
        distinguished (lists, say) is passed over.
        """
        found = {name: engine.distinct(self.table[name]) for name in self.schema.counted}
        for name in _without_role(self.table, self.schema):
            with suppress(InputError):
                found[name] = engine.distinct(self.table[name])
        return found


def pair(original: pd.DataFrame, released: pd.DataFrame, by: Recoder | Plan) -> Pairing:
    """Recode the original again and require that the released table is just that.

    Records correspond by their order, where the release keeps it; in random order each stands for
    an original one that is released as it reads. Where the release has fewer of them,
    whole classes were left out: those of which it holds no record. A record that is ``*`` in every
    quasi-identifier is suppressed, unless that is what the recoding makes of it and of all others
    like it. A box or a class of merged cells holds the record in its place. Of values that were
    drawn nothing else can be required than that all other columns are those of the original.

    Raises InputError when the released table is no such recoding; the message names columns and
    counts alone. Raises PolicyBrokenError when an identifier stands in the released table.
    """
    own, recoding = replace(by.schema, releases_weight=False), by.recoding
    schema, kept = own.without_persons, own.admit(original)
    schema.require_released(released)
    codes = {name: _encoded(kept[name], by.taxonomies[name]) for name in schema.quasi_identifiers}
    if isinstance(recoding, Regions):
        recoding = RegionLabels.of_regions(recoding, by.taxonomies)
    in_order = isinstance(by, Plan) or by.in_order or by.sampled
    mixed = False
    if not in_order:
        expected, mixed = _as_released(kept, released, codes, recoding, by.random)
        released = ordered(released, expected)
    if isinstance(recoding, RegionLabels):
        found = in_regions(released, codes, by.taxonomies, recoding)
    elif by.random:
        found = drawn(released, codes, by.taxonomies, recoding)
    else:
        sampled = by.fitted.private if isinstance(by, Plan) else by.sampled
        found = generalized(released, codes, by.taxonomies, recoding, sampled)
    numbered = isinstance(recoding, RegionLabels) and recoding.numbered
    without = released.drop(columns=CLASS) if numbered else released
    _require_same(kept[~found.left_out], without, schema)
    dropped = len(original) - len(kept)
    return Pairing(schema, found.attributes, kept, dropped, *found[1:], mixed=mixed)


def _as_released(
    kept: pd.DataFrame,
    released: pd.DataFrame,
    codes: Mapping[str, Codes],
    recoding: Partitions | RegionLabels,
    random: bool,
) -> tuple[pd.DataFrame, bool]:
    """Recode the original records that are in a release, without what was drawn.

    And whether what is released of a record may be what is released of another one.
    """
    if random:
        return kept.drop(columns=[*codes]), True
    if isinstance(recoding, RegionLabels):
        labels, mixed = of_regions(kept, released, codes, recoding)
        return engine.replaced(kept, labels), mixed
    labels, left_out = of_partitions(released, codes, recoding)
    return engine.replaced(kept, labels)[~left_out], False


def _encoded(column: pd.Series, taxonomy: Taxonomy) -> Codes:
    """Return the code of each record's value."""
    codes, values = engine.distinct(column)
    places = taxonomy.encode(values)
    strange = int((places < 0).sum())
    if strange:
        raise InputError(
            f"column {column.name!r} of the original holds {plural(strange, 'value')} that the "
            "recoding has never seen; is it the table that was released?"
        )
    return places[codes]


def _without_role(table: pd.DataFrame, schema: Schema) -> list[str]:
    roles = {*schema.columns, *schema.identifiers}
    return [column for column in table.columns if column not in roles]


def _require_same(original: pd.DataFrame, released: pd.DataFrame, schema: Schema) -> None:
    """Require that what a recoding leaves alone was left alone."""
    others = [*schema.counted, *_without_role(original, schema)]
    known = {*schema.quasi_identifiers, *others}
    for name in others:
        if name not in released.columns:
            raise InputError(f"the release lacks column {str(name)!r} of the original")
    for name in released.columns:
        if name not in known:
            raise InputError(f"the release has a column {str(name)!r} that the original lacks")
    for name in others:
        if not _equal(original[name], released[name]):
            raise InputError(
                f"column {str(name)!r} of the release is not that of the original, record by "
                "record; measure the table as it was released, its order included"
            )


def _equal(one: pd.Series, other: pd.Series) -> bool:
    """Whether two columns hold the same values in the same order, by their texts."""
    if one.reset_index(drop=True).equals(other.reset_index(drop=True)):
        return True
    found = (engine.distinct(column) for column in (one, other))
    texts = [np.array(texts_of(values), dtype=object)[codes] for codes, values in found]
    return bool((texts[0] == texts[1]).all())


def ordered(released: pd.DataFrame, originals: pd.DataFrame) -> pd.DataFrame:
    """Put released records in the order of the original ones, given as they are released.

    Raises InputError where some of either are none of the other.
    """
    names = [name for name in originals.columns if name in released.columns]
    keys = _rows_alike([_read_alike(originals[name], released[name]) for name in names])
    own, others = keys[: len(originals)], keys[len(originals) :]
    lacking = np.bincount(own, minlength=len(keys)) - np.bincount(others, minlength=len(keys))
    _refuse_others(int(max(lacking[lacking > 0].sum(), -lacking[lacking < 0].sum())))
    place = np.empty(len(own), np.intp)
    place[np.argsort(own, kind="stable")] = np.argsort(others, kind="stable")
    return released.iloc[place]


def _refuse_others(wrong: int) -> None:
    if wrong:
        raise InputError(
            f"{plural(wrong, 'record')} of the release and of the original are not the recoding "
            "of each other; measure the table as it was released, with the table it was made of"
        )


def _rows_alike(columns: Sequence[Codes]) -> Codes:
    return np.unique(row_keys(np.column_stack(columns)), return_inverse=True)[1]


def _read_alike(one: pd.Series, other: pd.Series) -> Codes:
    """Number the values of two columns by their texts, shape (records of both,)."""
    try:
        found = [engine.distinct(column) for column in (one, other)]
    except InputError:
        raise InputError(
            f"column {str(one.name)!r} holds values that cannot be told apart, such as lists, and "
            'the records are in random order; measure a release with order = "kept" in [output]'
        ) from None
    texts = [np.array(texts_of(values), dtype=object)[codes] for codes, values in found]
    return pd.factorize(np.concatenate(texts), use_na_sentinel=False)[0]


def of_partitions(
    released: pd.DataFrame, codes: Mapping[str, Codes], recoding: Partitions
) -> tuple[Labels, Mask]:
    """Return the labels of original records by their groups, and mark those left out.

    Classes of which a release holds no record were suppressed: left out where it has fewer records,
    else ``*``. Shape (records,) each.
    """
    labels = {
        name: np.array(texts_of(recoding[name].labels), dtype=object)[recoding[name].groups[own]]
        for name, own in codes.items()
    }
    both = [_read_alike(pd.Series(own, name=n), released[n]) for n, own in labels.items()]
    keys, records = _rows_alike(both), len(next(iter(codes.values())))
    absent = ~np.isin(keys[:records], keys[records:])
    if len(released) < records:
        return labels, absent
    return {name: np.where(absent, ANY, own) for name, own in labels.items()}, absent & False


def of_regions(
    kept: pd.DataFrame,
    released: pd.DataFrame,
    codes: Mapping[str, Codes],
    recoding: RegionLabels,
) -> tuple[Labels, bool]:
    """Return the labels of original records by the class that covers each, and whether others do.

    Else it is one that leaves all classes as they are. Raises InputError where none is.
    """
    regions = recoding.regions
    members = [np.array([recoding.members[n][each[n]] for each in regions]) for n in codes]
    cells = np.column_stack([*codes.values()])
    class_of, several = covering(members, cells)
    mixed = bool(several.any()) and recoding.numbered
    if mixed:
        names = [name for name in kept.columns if name not in codes and name in released.columns]
        nothing = np.zeros(len(kept) + len(released), np.intp)
        alike = [_read_alike(kept[name], released[name]) for name in names]
        keys, numbers = _rows_alike([nothing, *alike]), class_numbers(released, len(regions))
        found = dealt_out(members, cells, keys[: len(kept)], numbers, keys[len(kept) :])
        class_of = np.full(len(kept), -1) if found is None else found
    _refuse_others(int((class_of < 0).sum()))
    labels = {n: np.array([each[n] for each in regions], dtype=object)[class_of] for n in codes}
    return ({**labels, CLASS: class_of + 1} if recoding.numbered else labels), mixed


class FoundFates(NamedTuple):
    """Fates of the values, as in a ``Pairing``."""

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
    """Pair every value with its group of a partition."""
    names = [*codes]
    recoded = np.column_stack([recoding[name].groups[codes[name]] for name in names])
    found = np.column_stack(
        [_places(released[name], texts_of(recoding[name].labels)) for name in names]
    )
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
    """Pair every record with the labels of a class that stand for its values."""
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
    """Pair every record with what was drawn for it, whatever that is."""
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
    """Return the class of each record, from 0; InputError where no column has such numbers."""
    require_columns(released.columns, [CLASS])
    numbers = pd.to_numeric(released[CLASS], errors="coerce")
    if not numbers.between(1, classes).all() or (numbers % 1).any():
        raise InputError(f"column {CLASS!r} of the release must number its {classes:,} classes")
    return numbers.to_numpy().astype(np.intp) - 1


def _not_sampled(recoded: Codes, found: Codes) -> Mask:
    """Mark the original records that count as left out of a sample, shape (records,).

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
    """Mark the original records that are suppressed, and those left out; shape (records,) each.

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
    hides = np.ones(len(recoded), bool)
    for name, groups in zip(names, recoded.T, strict=True):
        hides &= np.array([text == ANY for text in texts_of(recoding[name].labels)])[groups]
    return hides


def _places(column: pd.Series, labels: Iterable[str | None]) -> Codes:
    place = {text: group for group, text in enumerate(labels)}
    codes, values = engine.distinct(column)
    return np.array([place.get(text, -1) for text in texts_of(values)], np.intp)[codes]
