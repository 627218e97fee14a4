"""The plan for another table: its values under the labels that hold of them, others as wished."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.margin_labels import values_of
from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, Partition, Taxonomy
from anonymizer.hierarchy.hierarchy import NO_KEY, Hierarchy
from anonymizer.hierarchy.partition import Limits
from anonymizer.hierarchy.scale import NUMBERS
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.recoding.apply import overwritten, relabelled
from anonymizer.recoding.generalization import NEARLY_ALL, GeneralizationPlan, People
from anonymizer.recoding.recoding import Outcome
from anonymizer.release.manifest.groups import HIDDEN, Group
from anonymizer.release.manifest.parts import LabelText
from anonymizer.release.reach import Fitted, Listed, PlacedValues, Reach
from anonymizer.release.request import Unseen
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.spelling import plainness
from anonymizer.tables.values import is_missing, plain_text, rank, text_of, texts_apart


@dataclass(frozen=True, eq=False)
class AppliedRecoding:
    """What is applied: the reach of every quasi-identifier, and the plan that it is of.

    ``listed`` are the classes, where these have groups of their own; ``regions`` are those of a
    fitted plan. ``public``: whether every group was released before, as those of a manifest were.
    """

    plan: GeneralizationPlan
    reaches: Mapping[str, Reach]
    listed: Listed | None
    public: bool

    @classmethod
    def of(cls, plan: GeneralizationPlan) -> AppliedRecoding:
        """That of a plan that was fitted."""
        if isinstance(plan.recoding, Regions):
            described = plan.recoding.described(plan.taxonomies)
            groups = {n: [*map(Group.model_validate, each)] for n, each in described.items()}
            reaches = {
                name: Reach(name, groups[name], taxonomy.hierarchy, None)
                for name, taxonomy in plan.taxonomies.items()
            }
            known = Fitted(plan.taxonomies, plan.recoding)
            listed = Listed(plan.recoding.listed(), plan.recoding.numbered, known)
            return cls(plan, reaches, listed, public=True)
        levels = plan.levels
        reaches = {
            name: Reach.of(plan.taxonomies[name], partition, levels.get(name))
            for name, partition in plan.recoding.items()
        }
        return cls(plan, reaches, None, public=False)

    def overlaps(self, placed: AppliedPlan, table: engine.Table) -> bool:
        """Return whether records of a table fit several of the listed classes.

        ``placed``: the plan for the values of the table.
        """
        if self.listed is None:
            return False
        values = {name: each.levels[0].labels for name, each in placed.taxonomies.items()}
        return self.listed.overlap(self.reaches, values, placed.codes(table))


@dataclass(frozen=True, eq=False)
class AppliedPlan(GeneralizationPlan):
    """A plan for the values of one table.

    ``placed`` are the groups of each quasi-identifier, with the group of each value code.
    ``strangers`` (values,) are those that are in none, by quasi-identifier.
    """

    source: AppliedRecoding = field(kw_only=True, repr=False)
    placed: Mapping[str, PlacedValues] = field(kw_only=True, repr=False)
    strangers: Mapping[str, Mask] = field(kw_only=True, repr=False)
    unseen: Unseen = field(kw_only=True)

    @property
    def forgetting(self) -> GeneralizationPlan:
        """The plan that is applied; nothing of the table."""
        return self.source.plan

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier that is released at one."""
        reaches = self.source.reaches.items()
        return {name: each.level for name, each in reaches if each.level is not None}

    @property
    def generalized(self) -> Sequence[str]:
        """The quasi-identifiers that are not released as they are."""
        if isinstance(self.recoding, Regions):
            return self.schema.quasi_identifiers
        raw = {name: taxonomy.levels[0] for name, taxonomy in self.taxonomies.items()}
        return [name for name, partition in self.recoding.items() if partition is not raw[name]]

    def strange(self, table: engine.Table) -> Mask:
        """Which rows of a table have values, or a combination, that is not covered."""
        return self.strange_in(self.codes(table))

    def strange_in(self, codes: Codes) -> Mask:
        """The same of their value codes, shape (rows, quasi-identifiers)."""
        found = np.zeros(len(codes), bool)
        for own, name in zip(codes.T, self.schema.quasi_identifiers, strict=True):
            found |= self.strangers[name][own]
        if isinstance(self.recoding, Regions):
            found |= self.recoding.class_of(codes) < 0
        return found

    def codes(self, table: engine.Table) -> Codes:
        """The value codes of every row, shape (rows, quasi-identifiers)."""
        names = self.schema.quasi_identifiers
        pairs = ((engine.distinct(table[name]), self.taxonomies[name]) for name in names)
        columns = [known.encode(values)[codes] for (codes, values), known in pairs]
        return np.column_stack(columns).astype(np.intp)

    def carry_out(self, admitted: engine.Table) -> Outcome:
        """Recode the records; those that are not covered are suppressed, or ``*`` already."""
        if isinstance(self.recoding, Regions):
            return self._without(admitted, self.strange(admitted))
        if self.unseen != "suppress" or not (forced := self.strange(admitted)).any():
            return super().carry_out(admitted)
        recoded = engine.without_traces(self.hidden(self._left(admitted), forced))
        return replace(self.suppressed(recoded, forced), hidden=self.schema.quasi_identifiers)

    def _people(self, recoded: engine.Table) -> engine.Tally | None:
        """The population recoded: who is like records that are suppressed is hidden as they are."""
        everybody, hides = self.everybody, self.unseen == "suppress"
        if everybody is None or not hides or isinstance(self.recoding, Regions):
            return super()._people(recoded)
        if self.weighs_persons:
            return super()._people(recoded)
        return self.hidden(everybody, self.strange(everybody))

    def hidden(self, table: T, records: Mask) -> T:
        """A table recoded, some rows ``*`` in every quasi-identifier."""
        recoded = relabelled(table, self.recoding, self.taxonomies)
        names = self.schema.quasi_identifiers
        return engine.replaced(
            recoded, {name: overwritten(recoded[name], records) for name in names}
        )

    def _left(self, admitted: T) -> T:
        there = [name for name in self.schema.identifiers if name in admitted.columns]
        return engine.without_columns(admitted, there)

    def _without(self, admitted: engine.Table, forced: Mask) -> Outcome:
        """Leave records out that no class covers, and classes that break the policy.

        There is no class of suppressed records next to classes with groups of their own.
        """
        table = engine.records(admitted)
        most = self.suppression.most(table)
        kept = engine.records_of(self._left(admitted), ~forced)
        released = engine.without_traces(relabelled(kept, self.recoding, self.taxonomies))
        suppressed, disclosed = forced.copy(), 0
        if most and not forced.all():
            without = replace(
                self, suppression=replace(self.suppression, share=NEARLY_ALL, remove=True)
            )
            outcome = without.suppressed(released)
            released, disclosed = outcome.released, outcome.disclosed
            suppressed[~forced] = outcome.suppressed
        records = engine.records_in(admitted, suppressed)
        if records > most or suppressed.all():
            raise PolicyBrokenError(
                f"nothing was released: {plural(records, 'record')} of {table:,} would "
                f"have to be suppressed, more than suppression = {self.suppression.share:.3g} "
                "allows"
            )
        return Outcome(released, suppressed, bool(records), self.generalized, disclosed=disclosed)

    def recoder(
        self, raw: Counts, released: Counts, outcome: Outcome, rng: np.random.Generator
    ) -> Callable[[Counts], Counts]:
        """What the recoding makes of counts of the same combinations as the raw ones."""
        forced = np.zeros(len(raw), bool)
        for name, codes in zip(raw.names, raw.cells.T, strict=True):
            forced |= self.strangers[name][codes]
        if isinstance(self.recoding, Regions) or self.unseen != "suppress" or not forced.any():
            return super().recoder(raw, released, outcome, rng)
        class_of, hidden = self._classes(raw, forced)

        def recode(counts: Counts) -> Counts:
            return counts.grouped(class_of)

        if outcome.fate != "kept":
            return recode
        recoded = recode(raw)
        cell = raw.cells[np.argmax(class_of == hidden)]  # a class goes by that of its first one
        alone = (recoded.cells == cell).all(axis=1)
        return self.merging(recode, recoded, alone, alone)

    def _classes(self, raw: Counts, forced: Mask) -> tuple[Codes, int]:
        """The class of each combination, and that of those that are ``*`` throughout."""
        groups = np.column_stack(
            [
                self.partitions[name].groups[codes]
                for name, codes in zip(raw.names, raw.cells.T, strict=True)
            ]
        )
        hidden = np.ones(len(raw), bool)
        for name, codes in zip(raw.names, raw.cells.T, strict=True):
            hidden &= self.partitions[name].hidden[codes]
        groups[forced | hidden] = -1
        rows, class_of = np.unique(groups, axis=0, return_inverse=True)
        return class_of.ravel(), int(np.flatnonzero((rows < 0).all(axis=1))[0])

    def describe(self, shown: engine.Table) -> dict[str, list[dict[str, object]]]:
        """The groups of each quasi-identifier that were released, before or now."""
        names = self.schema.quasi_identifiers
        return {
            name: [
                group.model_dump(by_alias=True, exclude_unset=True)
                for group in self._described(name, shown[name])
            ]
            for name in names
        }

    def _described(self, name: str, shown: pd.Series) -> list[Group]:
        """The groups that may be named: listed ones, those of a manifest, and those shown."""
        reach = self.source.reaches[name]
        if isinstance(self.recoding, Regions):
            return [*reach.groups]  # of every class, as all were released before
        # a raw value that is written in another way now, 7 for 7.00, is the one that was listed
        read = plain_text if reach.level == 0 else _text
        groups: dict[str | None, Group] = {}
        for group in [*reach.groups, *self.placed[name].groups]:
            groups.setdefault(read(group.label), group)
        if self.strangers[name].any() and self.unseen == "any":
            groups.setdefault(ANY, HIDDEN)
        texts = {*map(read, engine.distinct(shown)[1])}
        listed = reach.public_labels(self.source.public)
        return [each for label, each in groups.items() if label in texts or each.label in listed]


def _text(value: object) -> str | None:
    return None if is_missing(value) else text_of(value)


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
    given = source.plan
    # Rows that are scored need not say how many people they stand for.
    people = None if scored and given.by_weights else given.people_in(table)
    margins = None if scored else given.margins
    others = {} if people is None else {name: people[name] for name in names}
    if margins is not None:
        hierarchies = {name: each.hierarchy for name, each in source.reaches.items()}
        known = given.schema.admit_margins(margins, hierarchies)
        others = values_of(known)
    attributes = {
        name: Values.of(source.reaches[name], table[name], others.get(name)) for name in names
    }
    codes = np.column_stack([each.codes for each in attributes.values()]).astype(np.intp)
    recoding, strangers, strange = _covered(source, attributes, codes, scored)
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
        margins,
        source=source,
        placed={name: each.placed for name, each in attributes.items()},
        strangers=strangers,
        unseen=unseen,
    )
    strange |= plan.strange_in(codes)
    if not strange.any():
        return plan.bounded(table), None
    missed = {
        name: (mask, own) for (name, mask), own in zip(strangers.items(), codes.T, strict=True)
    }
    _require_treated(source, table, missed, strange, unseen)
    values_missed = sum(int(mask.sum()) for mask in strangers.values())
    plan = plan.bounded(table)
    return plan, UnseenReport(values_missed, engine.records_in(table, strange), unseen)


def _covered(
    source: AppliedRecoding, attributes: Mapping[str, Values], codes: Codes, scored: bool
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
    def of(cls, reach: Reach, column: pd.Series, others: pd.Series | None) -> Values:
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
