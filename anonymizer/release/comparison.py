"""What is reported of a release by comparing it with the table that it was made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pandas as pd

from anonymizer.counts.counts import Counts
from anonymizer.hierarchy.calendar import Dates
from anonymizer.masking import Shift
from anonymizer.profiling.columns import ProfiledColumn
from anonymizer.profiling.ladders import is_midnight_elsewhere
from anonymizer.recoding.generalization import GeneralizationPlan
from anonymizer.recoding.recoding import Outcome, RecodingPlan
from anonymizer.release.column_warnings import (
    Hidden,
    column_warnings,
    names_but,
    order_warnings,
    relation_warnings,
    spelling_warnings,
)
from anonymizer.release.information import Information, chances
from anonymizer.release.person_warnings import (
    Keyed,
    identifying_warnings,
    other_warnings,
    repeated_warnings,
)
from anonymizer.release.relations import CountedTable
from anonymizer.release.release import Release
from anonymizer.release.warnings import ReleaseWarning, class_warnings, telling_warnings
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.relations.relation import Moves, Relation


@dataclass(frozen=True, eq=False)
class RawComparison:
    """A raw table next to what a plan made of it.

    ``outcome``: what the recoding ``fitted`` made of the ``admitted`` records. ``moved``: columns
    of moved dates, of which many may have one record: nobody knows them.
    """

    fitted: RecodingPlan
    raw: CountedTable
    admitted: engine.Table
    outcome: Outcome
    moved: tuple[str, ...] = ()

    def completed(self, release: Release, raw: Counts | None, released: Counts) -> Release:
        """Return a release with records, warnings and information.

        ``raw``: the counts of the admitted records, where these are known already. ``released``:
        those of the release. Tables are shuffled for comparison by the seed of the search.
        """
        left = self.outcome.left(self.admitted)
        if raw is None or self.outcome.fate == "removed":
            raw = self.fitted.count(left)
        stored = self.outcome.released if self.raw.original is None else self.raw.original
        schema = self.fitted.schema
        known = (*released.names, *released.sensitive, *schema.left_out, schema.number)
        others = [column for column in stored.columns if column not in known]
        left_as_they_were = [name for name in others if name not in self.moved]
        records, kept = engine.records(self.raw.table), engine.records(self.admitted)
        tells = []  # of classes that are missing though they are large enough
        if disclosed := self.outcome.disclosed:
            suppressed = self.outcome.suppressed_of(self.admitted)
            tells.append(ReleaseWarning("suppression-tells", None, disclosed, suppressed))
        warnings = (
            *class_warnings(released, self.fitted.models, len(others), schema.items),
            *telling_warnings(self.outcome.released, self.fitted.published),
            *tells,
            *spelling_warnings(self.raw.table, released.sensitive),
            *self._of_persons(left, released.names, left_as_they_were),
            *self._of_instants(),
            *self._warnings(left, raw, left_as_they_were),
        )
        rng = np.random.default_rng(release.seeds.search)
        chance = chances(raw, self.fitted.recoder(raw, released, self.outcome, rng), rng)

        def about(*attributes: str) -> Information:
            return Information.of(raw, released, self.fitted.models, chance, attributes)

        sensitive = schema.sensitive
        return replace(
            release,
            records=records,
            dropped=records - kept,
            suppressed=self.outcome.suppressed_of(self.admitted),
            suppressed_class=self.outcome.fate,
            other_columns=[*map(str, others)],
            warnings=warnings,
            information=about(*sensitive) if sensitive else None,
            targets={name: about(name) for name in schema.targets},
        )

    def of_sample(self, released: Counts) -> tuple[ReleaseWarning, ...]:
        """Warnings about a differentially private release, by the released table alone.

        But for people who have several records: only the raw table shows them, and only its steward
        is warned.
        """
        models, table = self.fitted.models, self.outcome.released
        return (
            *class_warnings(released, models),
            *self._of_keys(),
            *identifying_warnings(table, [*table.columns]),
        )

    def of_dates(self, shift: Shift) -> Iterator[ReleaseWarning]:
        """Warn of moved dates that tell a person by how far they are apart, where rows are joined.

        A table of counts alone has no such columns.
        """
        schema, original = self.fitted.schema, self.raw.original
        left = self.outcome.left(self.admitted)
        if not schema.person_numbers or (original is None and isinstance(left, Tally)):
            return
        names = [*schema.person, *shift.names]
        table = engine.chosen(left, names) if original is None else original.relation.tally(names)
        alone, persons = shift.alone(table, schema.person)
        if alone:
            yield ReleaseWarning("dates-find-persons", shift.names[0], alone, persons)

    def _of_instants(self) -> Iterator[ReleaseWarning]:
        """Warn of dates that are written as midnights of another time zone."""
        if not isinstance(self.fitted, GeneralizationPlan):
            return
        for name, taxonomy in self.fitted.taxonomies.items():
            if isinstance(taxonomy.scale, Dates) and taxonomy.scale.clock.zone is None:
                values = pd.Series(taxonomy.texts, dtype=object, name=name)
                column = ProfiledColumn.of(values)
                if column is not None and is_midnight_elsewhere(column):
                    number = len(column.values)
                    yield ReleaseWarning("midnight-elsewhere", name, number, number)

    def _of_keys(self) -> Iterator[ReleaseWarning]:
        """Warn of persons who have several of the records that a sample is drawn from."""
        original, admitted = self.raw.original, self.admitted
        table: pd.DataFrame | Relation
        if isinstance(admitted, pd.DataFrame):
            table = admitted
        elif original is None:  # it has no other columns
            return
        else:
            kept = Moves.between(original.tally, admitted, original.columns, ())
            everybody = len(admitted.index) == len(original.tally.index)
            table = original.relation if everybody else original.relation.recoded(kept)
        schema = self.fitted.schema
        keyed = Keyed(
            table,
            schema.quasi_identifiers,
            schema.left_out,
            (),
            (),
            lambda: table,
            household=schema.household,
        )
        yield from repeated_warnings(keyed, self.fitted.models)

    def _of_persons(
        self, left: engine.Table, names: Sequence[str], others: Sequence[str]
    ) -> Iterator[ReleaseWarning]:
        """Warnings about persons with several records, and about values that find a person.

        ``left``: the raw records that are released; ``names``: the columns of their classes.
        """
        original, released = self.raw.original, self.outcome.released
        numbers = self.fitted.schema.number  # which tell nothing but what they are for
        known = [name for name in released.columns if name not in (*others, numbers)]
        if original is None and isinstance(left, Tally):  # it has no other columns
            yield from identifying_warnings(released, known)
            return
        schema, group = self.fitted.schema, engine.grouped(released, names)[0]
        table = engine.rows_of(left) if original is None else original.relation
        mark = next(names_but(table.columns))

        def classed() -> pd.DataFrame | Relation:
            if original is None:
                return engine.rows_of(left).assign(**{mark: group})
            rows = pd.DataFrame({mark: group}, index=released.index)
            columns = (*original.columns, mark)
            sizes = cast(Tally, released).sizes
            of = original.tally.index.get_indexer(rows.index)
            return original.relation.recoded(Moves(original.tally, rows, of, sizes, columns))

        keyed = Keyed(
            table,
            schema.quasi_identifiers,
            schema.identifiers,
            others,
            [mark],
            classed,
            schema.person,
            schema.household,
        )
        yield from repeated_warnings(keyed, self.fitted.models)
        yield from identifying_warnings(released, known)
        if original is None:
            yield from other_warnings(engine.rows_of(released), others)
            return
        # Where no record is missing the table has the same; to recode it takes a pass over it.
        whole = not others or engine.records(released) == engine.records(original.tally)
        yield from other_warnings(original.relation if whole else keyed.with_classes, others)

    def _warnings(
        self, left: engine.Table, raw: Counts, others: Sequence[str]
    ) -> Iterable[ReleaseWarning]:
        """Warnings about columns that are released as they are, and about the order of records."""
        outcome, relation = self.outcome, self.raw.original
        names = [*self.fitted.schema.left_out, *outcome.hidden]
        if relation is not None:
            return relation_warnings(relation, cast(Tally, left), outcome, raw, others, names)
        if isinstance(left, Tally):  # it has no other columns, and its records no order
            return ()
        released = engine.rows_of(outcome.released)
        hidden = [Hidden(name, left[name], released[name], raw) for name in outcome.hidden]
        return [*column_warnings(released, others, hidden), *order_warnings(left, names)]
