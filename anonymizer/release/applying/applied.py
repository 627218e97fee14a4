"""The plan for one table: its values under the labels that hold of them, the others as wished."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import PolicyBrokenError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY
from anonymizer.kernels.arrays import Codes, Mask
from anonymizer.recoding.apply import overwritten, relabelled
from anonymizer.recoding.generalization import NEARLY_ALL, GeneralizationPlan
from anonymizer.recoding.recoding import Outcome
from anonymizer.release.applying.classes import Fitted, Listed
from anonymizer.release.applying.reach import PlacedValues, Reach
from anonymizer.release.manifest.groups import HIDDEN, Group
from anonymizer.release.request import Unseen
from anonymizer.tables import engine
from anonymizer.tables.engine import T
from anonymizer.tables.values import is_missing, plain_text, text_of


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
    def of(cls, plan: GeneralizationPlan) -> "AppliedRecoding":
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
        return {n: [_as_json(each) for each in self._described(n, shown[n])] for n in names}

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


def _as_json(group: Group) -> dict[str, Any]:
    return group.model_dump(by_alias=True, exclude_unset=True)
