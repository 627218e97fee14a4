"""Pairs of original and released records, and proof that the one was made of the other."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Partitions
from anonymizer.counts.multidimensional import CLASS, Regions
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Taxonomy
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.release.plan import Plan
from anonymizer.tables import engine
from anonymizer.tables.values import texts_of
from anonymizer.utility.fates import drawn, generalized, in_regions
from anonymizer.utility.labels import PairedAttribute, RegionLabels
from anonymizer.utility.matching import of_partitions, of_regions, ordered


@dataclass(frozen=True, eq=False)
class Recoder:
    """What a release was made by, as a manifest and its study describe it; a ``Plan`` has the same.

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

    Records correspond by their order, where the release keeps it; in random order each stands for
    an original one that is released as it reads. Where the release has fewer of them,
    whole classes were left out: those of which it holds no record. A record that is ``*`` in every
    quasi-identifier is suppressed, unless that is what the recoding makes of it and of all others
    like it. A box or a class of merged cells holds the record in its place. Of values that were
    drawn nothing else can be required than that all other columns are those of the original.

    Raises InputError when the released table is no such recoding; the message names columns and
    counts alone. Raises PolicyBrokenError when an identifier stands in the released table.
    """
    schema, recoding = by.schema, by.recoding
    kept = schema.admit(original)
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
    """The original records that are in a release, as they read there, without what was drawn.

    And whether what is released of a record may be what is released of another one.
    """
    if random:
        return kept.drop(columns=[*codes]), True
    if isinstance(recoding, RegionLabels):
        labels, mixed = of_regions(kept, released, codes, recoding)
        return kept.assign(**labels), mixed
    labels, left_out = of_partitions(released, codes, recoding)
    return kept.assign(**labels)[~left_out], False


def _encoded(column: pd.Series, taxonomy: Taxonomy) -> Codes:
    """The code of each record's value."""
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
