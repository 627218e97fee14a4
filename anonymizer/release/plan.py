"""A plan: a fitted recoding and the policy it answers for, carried out on tables and proven."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.roles import require_free
from anonymizer.counts.schema import Schema
from anonymizer.errors import (
    InputError,
    PolicyBrokenError,
    require_columns,
    require_one_of,
)
from anonymizer.feedback.document import in_a_line
from anonymizer.feedback.logs import logged
from anonymizer.hierarchy import Hierarchy, Taxonomy
from anonymizer.hierarchy.reading import rule_alone
from anonymizer.masking import Shift
from anonymizer.privacy.query_loss import loss_of_sizes
from anonymizer.recoding.apply import UnknownValuesError
from anonymizer.recoding.generalization import GeneralizationPlan
from anonymizer.recoding.recoding import Outcome, RecodingPlan
from anonymizer.recoding.rehearsal import REHEARSAL
from anonymizer.release.comparison import RawComparison
from anonymizer.release.frames import (
    output,
    relation_if_any,
    rows_of,
    table_of,
    without_index,
)
from anonymizer.release.numbering import numbered
from anonymizer.release.proof import prove, same_classes
from anonymizer.release.pseudonyms import PseudonymKey, required_key
from anonymizer.release.relations import CountedTable, shifted_in
from anonymizer.release.release import Release, Seeds
from anonymizer.release.request import UNSEEN, Unseen
from anonymizer.release.warnings import ReleaseWarning
from anonymizer.tables import engine
from anonymizer.tables.engine import T, Tally
from anonymizer.tables.files import Format
from anonymizer.tables.population import mean_weights
from anonymizer.tables.relations.relation import CHANGED, Moves, Relation

if TYPE_CHECKING:
    from anonymizer.release.applied import AppliedRecoding
    from anonymizer.release.applied_release import AppliedRelease
    from anonymizer.release.description import Description
    from anonymizer.tables.relations.frames import Frame

REHEARSED = (
    "it was chosen in rehearsals, without the sensitive values, and they do not fit it; another "
    "run draws anew, and n runs may tell n times as much; or relax the policy, or give fewer "
    "quasi-identifiers"
)
"""What is said where against = "method" had the recoding chosen, and the policy does not hold."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """All that is needed to release a table, and nothing that could change meanwhile.

    ``fitted``: the recoding that was chosen, with roles, policy and known values. ``seed``: for the
    shuffled baseline. ``study``: fingerprint of everything that was requested. ``method``: the
    recoding that was, with its options. ``followed``: the release that it was read from, None of a
    plan that was fitted. ``settled``: quasi-identifiers whose ground follows from the table.
    ``shift``: how dates of persons are moved, anew in each table. ``person_key``: what makes the
    pseudonyms of persons, where a release has them.
    """

    fitted: RecodingPlan
    seed: int
    study: str
    method: Mapping[str, object] = field(default_factory=dict)
    followed: "AppliedRelease | None" = field(default=None, repr=False)
    settled: tuple[str, ...] = ()
    shift: Shift | None = None
    person_key: PseudonymKey | None = None

    @classmethod
    def from_manifest(
        cls,
        path: str | Path,
        *,
        study: "Description | str | Path | None" = None,
        person_key: PseudonymKey | None = None,
    ) -> "Plan":
        """The plan of a release that was written: it recodes other tables alike.

        Parameters
        ----------
        path
            The directory of the release, its table or its ``release.json``.
        study
            The study of the release, or its path. Its hierarchies place values that the manifest
            does not list; without it those of rules alone are known. Its policy is needed where
            that is about a population or a hierarchy of sensitive values.
        person_key
            The key of the pseudonyms of persons, where the release has them: other tables have the
            same ones. By default it is that of the study.

        Raises
        ------
        InputError
            When the manifest or the table next to it is damaged, when values were drawn at random,
            or study or key are needed and not given, or are others.
        """
        from anonymizer.release.applied_release import AppliedRelease
        from anonymizer.release.description import Description

        known = study if study is None or isinstance(study, Description) else Description(study)
        found = AppliedRelease.at(Path(path), known)
        manifest, of_study = found.manifest, None if known is None else known.person_key
        seed = manifest.seeds.search or 0
        return cls(
            found.source.plan,
            seed,
            manifest.study.fingerprint,
            manifest.method,
            found,
            shift=manifest.chosen_shift,
            person_key=required_key(manifest.person_key, person_key, of_study),
        )

    def __repr__(self) -> str:
        names = ", ".join(self.schema.quasi_identifiers)
        return in_a_line(self, f"recoding of {names}")

    @property
    def forgetting(self) -> "Plan":
        """The plan as it is pickled: without values that only records have, none released."""
        return replace(self, fitted=self.fitted.forgetting)

    @property
    def schema(self) -> Schema:
        """The roles of the columns."""
        return self.fitted.schema

    @property
    def taxonomies(self) -> Mapping[str, Taxonomy]:
        """The values of each quasi-identifier that are known, and how they generalize."""
        return self.fitted.taxonomies

    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """How values generalize, of quasi-identifiers where that is known."""
        if self.followed is None:
            known = {name: each.hierarchy for name, each in self.taxonomies.items()}
        else:
            reaches = self.followed.source.reaches.items()
            known = {name: each.hierarchy for name, each in reaches}
        return {name: each for name, each in known.items() if each is not None}

    @property
    def recoding(self) -> Partitions | Regions:
        """The groups of these values."""
        return self.fitted.recoding

    @property
    def random(self) -> bool:
        """Whether released values are drawn at random."""
        return self.fitted.random

    @property
    def random_order(self) -> bool:
        """Whether records come in random order, as drawn ones do: theirs would disclose them."""
        return self.fitted.private

    @property
    def seeds(self) -> Seeds:
        """What is reported of the seeds: never that of what was drawn."""
        if self.fitted.private:
            return Seeds(None, "withheld")
        drawn = self.random or self.fitted.search.strategy == REHEARSAL
        return Seeds(self.seed, "withheld" if drawn else "none")

    def apply(self, table: Any, *, verify: bool = True, unseen: Unseen = "error") -> Any:
        """Recode a table.

        Parameters
        ----------
        table
            A table with the columns that were fitted: a DataFrame of pandas, Polars, Dask or Spark,
            a table of Arrow or a relation of DuckDB. What is given back is of the same kind; a
            release has no index of pandas but 0, 1, 2 ...
        verify
            Whether the recoded table is a release, recounted and held against the policy. Without
            it rows are recoded for a model that scores them: any number of rows, all of them, in
            their order; sensitive attributes, targets and identifiers may be absent. That is no
            release, and ``attrs["anonymizer"]`` says so.
        unseen
            What is done with values that no rule and no listed group covers: ``"error"`` refuses
            them, ``"any"`` releases ``*`` in their place, ``"suppress"`` suppresses their records,
            within the budget of the release.

        Raises
        ------
        PolicyBrokenError
            When a class of the recoded table breaks the policy.
        InputError
            When the table lacks what it needs or holds values that are not covered.
        """
        if verify:
            return self.release(table, unseen=unseen)[0]
        from anonymizer.release.scoring import unverified

        given = table_of(table)
        return output(unverified(self, rows_of(given), unseen), "default", given)

    def release(self, table: Any, *, unseen: Unseen = "error") -> tuple[Any, Release]:
        """Recode a table, recount and verify it, and only then hand it out with its proof.

        ``unseen``: see :meth:`apply`.

        Raises PolicyBrokenError when a class of the recoded table breaks the policy. Raises
        InputError when the table lacks what it needs or holds values that are not covered.
        """
        relation = relation_if_any(table)
        if relation is None:
            self.schema.require_pinned(getattr(table, "columns", ()))
            if self.shift is not None:
                table = self.shift.moved(engine.rows_of(table), self.schema.person)
            found = self.proven(CountedTable(table, self.hierarchies), unseen)
            return without_index(engine.rows_of(found.records)), found.release
        recoded = self.recoded(relation, unseen=unseen)
        return recoded.handed_out().native, recoded.release

    def recoded(
        self, table: Relation, form: Format | None = None, unseen: Unseen = "error"
    ) -> "RecodedTable":
        """Recode a table where it lies, proven on its counts; errors as :meth:`release`."""
        require_columns(table.columns, self.schema.columns)
        self.schema.require_pinned(table.columns)
        if self.shift is not None:
            table = shifted_in(table, self.shift, self.schema.person, form)
        raw = CountedTable.of(table, self.schema.columns, self.hierarchies, form)
        return self.proven(raw, unseen).recoded()

    def proven(self, raw: CountedTable, unseen: Unseen = "error") -> "ProvenTable":
        """Recode a table and prove its release; errors as :meth:`release`."""
        require_one_of("unseen", unseen, UNSEEN)
        return self.carried_out(self.admitted(raw.table), unseen).proven(raw)

    def admitted(self, table: T) -> T:
        """The records that can be released; to follow a release no identifier is needed."""
        if self.followed is None:
            return self.schema.admit(table)
        columns = getattr(table, "columns", ())
        there = tuple(name for name in self.schema.identifiers if name in columns)
        return replace(self.schema, identifiers=there).admit(table)

    def carried_out(self, admitted: engine.Table, unseen: Unseen) -> "PlannedTable":
        """Return what the plan makes of admitted records, with values that it may not cover.

        A table whose values were all fitted needs no other plan than the fitted one.
        """
        general = isinstance(self.fitted, GeneralizationPlan)
        if not general and unseen != "error":
            raise InputError(
                f"unseen = {unseen!r} is for recodings that generalize; this one draws values at "
                "random, and cannot draw what it has never seen"
            )
        if self.followed is None:
            try:
                own = self.fitted.weighed(admitted)
                plan = self if own is self.fitted else replace(self, fitted=own)
                return PlannedTable(plan, admitted, own.carry_out(admitted))
            except UnknownValuesError as error:
                if not general:
                    raise InputError(f"{error}; fit on a table that has them") from None
        from anonymizer.release.applied import plan_for

        own, report = plan_for(self.source, admitted, unseen)
        outcome, found = own.carry_out(admitted), None if report is None else report._asdict()
        return PlannedTable(replace(self, fitted=own), admitted, outcome, unseen=found)

    @property
    def source(self) -> "AppliedRecoding":
        """What is applied to tables with other values than those that were fitted."""
        from anonymizer.release.applied import AppliedRecoding

        if self.followed is not None:
            return self.followed.source
        return AppliedRecoding.of(cast(GeneralizationPlan, self.fitted))

    @property
    def rules(self) -> dict[str, Mapping[str, object]]:
        """The rule of each quasi-identifier that lists no values."""
        known = {name: each.hierarchy for name, each in self.taxonomies.items()}
        rules = {name: each and rule_alone(each) for name, each in known.items()}
        return {name: rule for name, rule in rules.items() if rule}


class PlannedTable(NamedTuple):
    """What a ``plan`` makes of the ``admitted`` records of a table: nothing is proven yet.

    ``counts``: of these records, where they are known already. ``unseen``: what is reported of
    values that the plan does not cover.
    """

    plan: Plan
    admitted: engine.Table
    outcome: Outcome
    counts: Counts | None = None
    unseen: Mapping[str, object] | None = None

    def proven(self, raw: CountedTable) -> "ProvenTable":
        """Recount the recoded table, hold the policy against it, and report what became of it.

        ``raw``: the table whose records were admitted. PolicyBrokenError when a class breaks the
        policy.
        """
        with logged("verification", __name__) as counted:
            proven = self._proven(raw)
            counted({"records": proven.release.released, "classes": proven.release.classes})
        return proven

    def _proven(self, raw: CountedTable) -> "ProvenTable":
        plan, outcome = self.plan, self.outcome
        fitted, recoded = plan.fitted, outcome.released
        if raw.original is not None:  # its tally has no columns but those that were counted
            others = {*raw.columns} - {*fitted.schema.left_out}
            fitted.require_room([name for name in raw.columns if name in others])
        schema = fitted.schema
        if schema.person_numbers:
            require_free(schema.number, raw.columns, schema.left_out)
        people, withheld = fitted.people(recoded), fitted.schema.withheld
        persons = fitted.schema.persons_of(self.admitted)
        try:
            counts, verdicts = prove(recoded, fitted.published, fitted.models, people, persons)
        except PolicyBrokenError as error:
            if fitted.search.strategy != REHEARSAL or self.counts is None:  # another table's
                raise
            raise error.mended(REHEARSED) from None
        released, moved = recoded, () if plan.shift is None else plan.shift.names
        alike = 0
        if schema.releases_weight:
            weight, names = str(schema.weight), fitted.published.quasi_identifiers
            means, weights = mean_weights(recoded, weight, names)
            recoded = engine.replaced(recoded, {weight: means})
            released, moved, alike = recoded, (*moved, weight), int((weights == 1).sum())
            outcome = replace(outcome, released=released)
        if withheld:  # from here on nobody sees whose a record is, or for how many it stands
            kept = engine.without_columns(recoded, withheld)
            released = numbered(kept, recoded, schema, plan.person_key)
            outcome = replace(outcome, released=released)
        release = Release(
            released=engine.records(released),
            classes=counts.occupied,
            query_loss=loss_of_sizes(counts.sizes),
            levels=fitted.levels,
            recoding=fitted.describe(outcome.shown),
            regions=fitted.regions,
            privacy=verdicts,
            search=fitted.search,
            seeds=plan.seeds,
            study=plan.study,
            hierarchies=plan.rules,
            settled=plan.settled,
            method=plan.method,
            unseen=self.unseen,
            applies=None if plan.followed is None else {"sha256": plan.followed.sha256},
            masking=outcome.randomization,
            person=fitted.schema.person,
            per_person="each" if fitted.schema.per_person == "each" else None,
            weight=fitted.schema.weight,
            household=fitted.schema.household,
            items=dict(fitted.schema.items),
            shift=plan.shift,
            released_weight="class" if schema.releases_weight else None,
            person_numbers=fitted.schema.number,
            person_key=None if plan.person_key is None else plan.person_key.check_of_releases,
        )
        compared = RawComparison(fitted, raw, self.admitted, outcome, moved)
        if fitted.private:
            release = replace(release, warnings=compared.of_sample(counts))
        else:
            release = compared.completed(release, self.counts, counts)
        if alike:
            told = ReleaseWarning("weight-tells", schema.weight, alike, counts.occupied)
            release = replace(release, warnings=(*release.warnings, told))
        if plan.shift is not None:
            more = compared.of_dates(plan.shift)
            release = replace(release, warnings=(*release.warnings, *more))
        return ProvenTable(raw, released, plan, release)


@dataclass(frozen=True, eq=False)
class ProvenTable:
    """A table as a plan recoded it, and its release: proven on the records, or on their counts.

    ``raw``: the table that it is made of. ``records``: those that are released, or their tally.
    """

    raw: CountedTable = field(repr=False)
    records: engine.Table = field(repr=False)
    plan: Plan = field(repr=False)
    release: Release

    @property
    def columns(self) -> list[str]:
        """The columns of the release: those of the table but for identifiers, then added ones."""
        kept = [name for name in self.raw.columns if name not in self.plan.schema.left_out]
        return kept + [name for name in self.records.columns if name not in kept]

    @property
    def people(self) -> Tally | None:
        """The population as the table was recoded; None where there is none."""
        return self.plan.fitted.people(self.records)

    @property
    def tally(self) -> Tally:
        """The released records of a table that does not lie in memory, counted."""
        return cast(Tally, self.records)

    def recoded(self) -> "RecodedTable":
        """Recode the table where it lies as its tally was."""
        assert self.raw.original is not None
        source, tally = self.raw.original.relation, self.raw.original.tally
        fitted, released = self.plan.fitted, self.tally
        moves = Moves.between(tally, released, self.columns, seed=fitted.dealt_by())
        table = source.recoded(moves)
        table = table.shuffled() if self.plan.random_order else table
        return RecodedTable(self.raw, released, self.plan, self.release, source, table)


@dataclass(frozen=True, eq=False)
class RecodedTable(ProvenTable):
    """The same where it lies: the released ``table``, not computed yet, made of the ``source``."""

    source: Relation = field(repr=False)
    table: Relation = field(repr=False)

    def handed_out(self, columns: Sequence[str] | None = None) -> "Frame":
        """Return the table, or some columns of it, computed once and proven as it is then.

        PolicyBrokenError when a class breaks the policy, InputError where the table that it is made
        of changed since it was counted.
        """
        table: Any = self.table
        table = table.computed()
        self.verify(table)
        if columns is None or [*columns] == [*table.columns]:
            return cast("Frame", table)
        return cast("Frame", table.chosen(columns).computed())

    def verify(self, table: Relation | None = None) -> None:
        """Count the released table where it lies, or another one, and hold the policy against it.

        PolicyBrokenError when a class breaks it, InputError where the table changed meanwhile.
        """
        released, plan = self.table if table is None else table, self.plan.fitted
        schema = plan.published.without_persons
        schema.require_unnamed(released.columns)
        recounted = released.tally(schema.columns)
        if not same_classes(recounted, self.records, schema):
            raise InputError(CHANGED)
        if not plan.schema.keys or plan.schema.person_numbers:
            prove(recounted, schema, plan.models, plan.people(recounted))
