"""From a table to the plan for it: its values placed, and what is done with those that are not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, Partition, Taxonomy
from anonymizer.hierarchy.hierarchy import NO_KEY, Hierarchy
from anonymizer.hierarchy.partition import Limits
from anonymizer.hierarchy.scale import NUMBERS
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.recoding.generalization import People
from anonymizer.release.applying.applied import AppliedPlan, AppliedRecoding
from anonymizer.release.applying.reach import PlacedValues, Reach
from anonymizer.release.manifest.parts import LabelText
from anonymizer.release.request import Unseen
from anonymizer.tables import engine
from anonymizer.tables.spelling import plainness
from anonymizer.tables.values import is_missing, rank, text_of, texts_apart


class UnseenReport(NamedTuple):
    """How many values of a table a recoding does not cover, and how many records have some."""

    values: int
    records: int
    treated: str


def plan_for(
    source: AppliedRecoding, table: engine.Table, unseen: Unseen, *, scored: bool = False
) -> tuple[AppliedPlan, UnseenReport | None]:
    """The plan for a table, and a report of what it does not cover, None where there is nothing.

    ``scored``: it is for rows that a model scores, of which none is left out.

    Raises InputError where something is not covered and ``unseen`` is ``"error"``, or ``"any"``
    where no ``*`` is above it.
    """
    names = source.plan.schema.quasi_identifiers
    people = source.plan.everybody
    attributes = {
        name: Values.of(source.reaches[name], table[name], None if people is None else people[name])
        for name in names
    }
    codes = np.column_stack([each.codes for each in attributes.values()]).astype(np.intp)
    recoding, strangers, strange = _covered(source, attributes, codes, scored)
    given = source.plan
    identifiers = given.schema.identifiers
    if not isinstance(table, engine.Tally):  # which has none in any case
        identifiers = tuple(name for name in identifiers if name in table.columns)
    taxonomies = {name: each.taxonomy for name, each in attributes.items()}
    plan = AppliedPlan(
        replace(given.schema, identifiers=identifiers),
        given.models,
        taxonomies,
        recoding,
        given.search,
        given.suppression,
        None if people is None else People.of(people, taxonomies),
        source=source,
        placed={name: each.placed for name, each in attributes.items()},
        strangers=strangers,
        unseen=unseen,
    )
    strange |= plan.strange_in(codes)
    if not strange.any():
        return plan, None
    missed = {
        name: (mask, own) for (name, mask), own in zip(strangers.items(), codes.T, strict=True)
    }
    _require_treated(source, table, missed, strange, unseen)
    values_missed = sum(int(mask.sum()) for mask in strangers.values())
    return plan, UnseenReport(values_missed, engine.records_in(table, strange), unseen)


def _covered(
    source: AppliedRecoding, attributes: Mapping[str, "Values"], codes: Codes, scored: bool
) -> tuple[Partitions | Regions, dict[str, Mask], Mask]:
    """The groups, or classes, of a table's values; and what these do not cover.

    ``codes``: shape (rows, attributes). The values of each attribute that are in no group, and
    the rows whose values are in no class together, shape (rows,).
    """
    if source.listed is None:
        alone = {name: each.partition for name, each in attributes.items()}
        strangers = {name: each.placed.group_of < 0 for name, each in attributes.items()}
        return alone, strangers, np.zeros(len(codes), bool)
    rows, row_of = np.unique(codes, axis=0, return_inverse=True)
    values = {name: each.values for name, each in attributes.items()}
    class_of = source.listed.class_of(source.reaches, values, rows)
    regions = source.listed.regions([*attributes], rows, class_of, star=scored)
    nobody = {name: np.zeros(len(each.values), bool) for name, each in attributes.items()}
    return regions, nobody, (class_of < 0)[row_of.ravel()]


def _require_treated(
    source: AppliedRecoding,
    table: engine.Table,
    missed: Mapping[str, tuple[Mask, Codes]],
    strange: Mask,
    unseen: Unseen,
) -> None:
    """Refuse what is not covered, unless something is to be done with it that can be.

    ``missed``: by attribute its values that are not, and the codes of all rows; ``strange``: which
    rows of the table have some, or are in no class.
    """
    if unseen == "suppress":
        return
    if source.listed is not None:
        records = plural(engine.records_in(table, strange), "record")
        raise InputError(
            f"{records} of the table combine values in a way that no class of the recoding covers; "
            'choose unseen = "suppress", or fit on a table that has them'
        )
    for name, (mask, codes) in missed.items():
        if not mask.any() or (unseen == "any" and source.reaches[name].hides):
            continue
        records = plural(engine.records_in(table, mask[codes]), "record")
        begin = (
            f"column {name!r} holds {plural(int(mask.sum()), 'value')}, in {records}, that the "
            "recoding does not cover"
        )
        if unseen == "any":
            raise InputError(f"{begin}, and {_no_star(source.reaches[name])}")
        raise InputError(
            f'{begin}; choose unseen = "any" to release them as "*", or "suppress" to suppress '
            f"their records, or {_remedy(source.reaches[name])}"
        )


def _no_star(reach: Reach) -> str:
    if reach.hierarchy is None:
        return (
            'whether its hierarchy ends in "*" only the study can tell; name the study of the '
            'release, or choose unseen = "suppress"'
        )
    return 'its hierarchy does not end in "*"; choose unseen = "suppress"'


def _remedy(reach: Reach) -> str:
    if reach.hierarchy is None:
        return "name the study of the release, whose hierarchy may list them"
    return "fit on a table that has them"


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column, in order, and where the recoding places them.

    ``codes`` are those of its rows, shape (rows,).
    """

    taxonomy: Taxonomy
    values: Sequence[object]
    codes: Codes
    placed: PlacedValues
    raw: bool

    @classmethod
    def of(cls, reach: Reach, column: pd.Series, others: pd.Series | None) -> "Values":
        """Those of a column, and of another one that is recoded alike."""
        numbers, found = engine.distinct(column)
        more = [] if others is None else engine.distinct(others)[1]
        taxonomy = _taxonomy(reach, [*found, *more])
        values = taxonomy.levels[0].labels
        codes = taxonomy.encode(found)[numbers] if len(found) else numbers
        return cls(taxonomy, values, codes, reach.placed(values), reach.level == 0)

    @property
    def partition(self) -> Partition:
        """The groups of the values; those that are in none are ``*``."""
        group_of, groups = self.placed
        if self.raw and (group_of >= 0).all():
            return self.taxonomy.levels[0]
        own = texts_apart(self.values) if self.raw else [group.label for group in groups]
        labels: list[LabelText] = [ANY if group < 0 else own[group] for group in group_of]
        return Partition.of(labels)


def _taxonomy(reach: Reach, values: Sequence[object]) -> Taxonomy:
    """The values of a table, each as it is: what they generalize to is no level here."""
    raw: dict[Any, object] = {}
    for value in sorted(values, key=lambda value: plainness(str(value))):
        raw.setdefault(key_of(reach.hierarchy, value), value)
    keys = sorted(raw, key=rank)
    labels = tuple(None if key is None else raw[key] for key in keys)
    hierarchy = reach.hierarchy
    return Taxonomy(
        reach.name,
        {key: code for code, key in enumerate(keys)},
        (Partition(np.arange(len(keys)), labels),),
        lambda value: key_of(hierarchy, value),
        None,
        ordered=False,
        listed=np.zeros(len(keys), bool),
        scale=NUMBERS if hierarchy is None else hierarchy.scale,
        limits=Limits(),
        hierarchy=hierarchy,
    )


def key_of(hierarchy: Hierarchy | None, value: object) -> Any:
    """What makes two values one: what the hierarchy says, or their text."""
    if is_missing(value):
        return None
    key = NO_KEY if hierarchy is None else hierarchy.key(value)
    return text_of(value) if key is NO_KEY else key
