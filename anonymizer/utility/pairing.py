"""Pairs of original and released records, and proof that the one was made of the other."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Partitions, row_keys
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Partition, Taxonomy
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.release.plan import Plan
from anonymizer.tables import engine
from anonymizer.tables.values import counted, texts_of


@dataclass(frozen=True, eq=False)
class Recoder:
    """What a release was made by, as a manifest and its study describe it; a ``Plan`` has the same.

    ``recoding`` groups the known values of each quasi-identifier.
    """

    schema: Schema
    taxonomies: Mapping[str, Taxonomy]
    recoding: Partitions | Regions


@dataclass(frozen=True, eq=False)
class PairedAttribute:
    """One quasi-identifier, record by record: its values, and the groups they are released as.

    ``codes`` are the original values of the records, ``suppressed`` tells which of them are
    suppressed; shape (records,) each.
    """

    taxonomy: Taxonomy
    partition: Partition
    codes: Codes
    suppressed: Mask

    @property
    def values(self) -> int:
        """How many values are known: those that the hierarchy lists, else those that occur."""
        return len(self.taxonomy.levels[0].groups)

    @cached_property
    def groups(self) -> Codes:
        """The group of each record under the recoding, suppressed or not, shape (records,)."""
        return self.partition.groups[self.codes]

    @cached_property
    def records(self) -> Floats:
        """How many records have each value, shape (values,)."""
        return np.bincount(self.codes, minlength=self.values).astype(float)


@dataclass(frozen=True, eq=False)
class Pairing:
    """The records of an original table, paired with what a release made of them.

    ``table`` holds the original records without the ``dropped`` ones, which miss a value.
    ``suppressed`` records are released as ``*`` or left out, and ``left_out`` tells which of them
    are not in the release at all; shape (records,) each.
    """

    schema: Schema
    attributes: Mapping[str, PairedAttribute]
    table: pd.DataFrame = field(repr=False)
    dropped: int
    suppressed: Mask
    left_out: Mask

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def others(self) -> dict[str, tuple[Codes, list[object]]]:
        """The columns released as they were: each record's value, by its number, and the values.

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

    Records correspond by their order, which a release keeps. Where the release has fewer of them,
    whole classes were left out: those of which it holds no record. A record that is ``*`` in every
    quasi-identifier is suppressed, unless that is what the recoding makes of it and of all others
    like it.

    Raises InputError when the released table is no such recoding; the message names columns and
    counts alone. Raises PolicyBrokenError when an identifier stands in the released table.
    """
    schema, recoding = by.schema, by.recoding
    if isinstance(recoding, Regions):
        raise InputError(
            "quality is about one partition of every quasi-identifier, and these classes have "
            "groups of their own, boxes or merged cells"
        )
    names, kept = schema.quasi_identifiers, schema.admit(original)
    schema.require_released(released)
    codes = {name: _encoded(kept[name], by.taxonomies[name]) for name in names}
    recoded = np.column_stack([recoding[name].groups[codes[name]] for name in names])
    found = np.column_stack([_groups_of(released[name], recoding[name]) for name in names])
    hides = _all_hidden(recoded, recoding, names)
    shown = engine.all_equal(released, names, ANY)
    suppressed, left_out = _fates(recoded, found, hides, shown)
    _require_same(kept[~left_out], released, schema)
    attributes = {
        name: PairedAttribute(by.taxonomies[name], recoding[name], codes[name], suppressed)
        for name in names
    }
    return Pairing(schema, attributes, kept, len(original) - len(kept), suppressed, left_out)


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
            f"the release has {counted(len(found), 'record')}, which is not what its recoding "
            f"leaves of the original's {len(recoded):,}; is it a release of this very table?"
        )
    stay = recoded[~left_out]
    hidden = shown & (shown & ~hides[~left_out]).any()
    wrong = int(((stay != found).any(axis=1) & ~hidden).sum())
    if wrong:
        raise InputError(
            f"{counted(wrong, 'record')} of the release are not the recoding of the original "
            "record in their place; measure the table as it was released, its order included"
        )
    suppressed = left_out.copy()
    suppressed[~left_out] = hidden
    return suppressed, left_out


def _all_hidden(recoded: Codes, recoding: Partitions, names: Iterable[str]) -> Mask:
    """Which records the recoding itself makes ``*`` throughout, shape (records,)."""
    hides = np.ones(len(recoded), bool)
    for name, groups in zip(names, recoded.T, strict=True):
        hides &= np.array([text == ANY for text in texts_of(recoding[name].labels)])[groups]
    return hides


def _encoded(column: pd.Series, taxonomy: Taxonomy) -> Codes:
    """The code of each record's value."""
    codes, values = engine.distinct(column)
    places = taxonomy.encode(values)
    strange = int((places < 0).sum())
    if strange:
        raise InputError(
            f"column {column.name!r} of the original holds {counted(strange, 'value')} that the "
            "recoding has never seen; is it the table that was released?"
        )
    return places[codes]


def _groups_of(column: pd.Series, partition: Partition) -> Codes:
    """The group that each released value is the label of, -1 where it is the label of none."""
    place = {text: group for group, text in enumerate(texts_of(partition.labels))}
    codes, values = engine.distinct(column)
    return np.array([place.get(text, -1) for text in texts_of(values)], np.intp)[codes]


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
