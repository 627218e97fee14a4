"""A plan: a fitted recoding and the policy it answers for, carried out on tables and proven."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.schema import Schema, T
from anonymizer.errors import InputError, require_one_of
from anonymizer.feedback.display import in_a_line
from anonymizer.feedback.logs import logged
from anonymizer.hierarchy import Hierarchy, Taxonomy
from anonymizer.hierarchy.inline import rule_alone
from anonymizer.privacy.query_loss import loss_of_sizes
from anonymizer.recoding.apply import UnknownValuesError
from anonymizer.recoding.generalization import GeneralizationPlan
from anonymizer.recoding.recoding import Outcome, RecodingPlan
from anonymizer.release.comparison import RawComparison
from anonymizer.release.estimator.frames import (
    output,
    relation_if_any,
    rows_of,
    table_of,
    without_index,
)
from anonymizer.release.proof import prove
from anonymizer.release.release import Release, Seeds
from anonymizer.tables import engine
from anonymizer.tables.relations.relation import Original

if TYPE_CHECKING:
    from anonymizer.release.applying.applied import AppliedRecoding
    from anonymizer.release.applying.plans import AppliedRelease
    from anonymizer.release.study import Study

Unseen = Literal["error", "any", "suppress"]
"""What is done with values that a recoding does not cover."""

UNSEEN: tuple[Unseen, ...] = get_args(Unseen)


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """All that is needed to release a table, and nothing that could change meanwhile.

    ``fitted``: the recoding that was chosen, with roles, policy and known values. ``seed``: for the
    shuffled baseline. ``study``: fingerprint of everything that was requested. ``method``: the
    recoding that was, with its options. ``followed``: the release that it was read from, None of a
    plan that was fitted. ``settled``: quasi-identifiers whose ground follows from the table.
    """

    fitted: RecodingPlan
    seed: int
    study: str
    method: Mapping[str, object] = field(default_factory=dict)
    followed: "AppliedRelease | None" = field(default=None, repr=False)
    settled: tuple[str, ...] = ()

    @classmethod
    def from_manifest(
        cls, path: str | Path, *, study: "Study | str | Path | None" = None
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

        Raises
        ------
        InputError
            When the manifest or the table next to it is damaged, when values were drawn at random,
            or the study is needed and not given, or is another one.
        """
        from anonymizer.release.applying.plans import AppliedRelease
        from anonymizer.release.study import Study

        known = study if study is None or isinstance(study, Study) else Study(study)
        found = AppliedRelease.at(Path(path), known)
        manifest = found.manifest
        seed = manifest.seeds.search or 0
        return cls(found.source.plan, seed, manifest.study.fingerprint, manifest.method, found)

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
    def seeds(self) -> Seeds:
        """What is reported of the seeds: never that of what was drawn."""
        if self.fitted.private:
            return Seeds(None, "withheld")
        return Seeds(self.seed, "withheld" if self.random else "none")

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
        from anonymizer.release.applying.scoring import unverified

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
            _, released, release = self.released(table, unseen)
            return without_index(released), release
        from anonymizer.release.relations import applied

        carried = applied(self, relation, unseen=unseen)
        return carried.handed_out().native, carried.release

    def released(
        self, table: T, unseen: Unseen, relation: Original | None = None
    ) -> tuple[RecodingPlan, T, Release]:
        """The same, and before it the plan that was carried out.

        ``table`` may be the tally of a ``relation``.
        """
        require_one_of("unseen", unseen, UNSEEN)
        admitted = self.admitted(table)
        plan, outcome, report = self.carried_out(admitted, unseen)
        carried = replace(self, fitted=plan)
        released, release = carried.proven(table, admitted, outcome, relation=relation)
        return plan, released, replace(release, unseen=report)

    def admitted(self, table: T) -> T:
        """The records that can be released; to follow a release no identifier is needed."""
        if self.followed is None:
            return self.schema.admit(table)
        columns = getattr(table, "columns", ())
        there = tuple(name for name in self.schema.identifiers if name in columns)
        return replace(self.schema, identifiers=there).admit(table)

    def carried_out(
        self, admitted: engine.Table, unseen: Unseen
    ) -> tuple[RecodingPlan, Outcome, Mapping[str, object] | None]:
        """The plan for the admitted records, what it makes of them, and what it does not cover.

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
                return self.fitted, self.fitted.carry_out(admitted), None
            except UnknownValuesError as error:
                if not general:
                    raise InputError(f"{error}; fit on a table that has them") from None
        from anonymizer.release.applying.tables import plan_for

        plan, report = plan_for(self.source, admitted, unseen)
        return plan, plan.carry_out(admitted), None if report is None else report._asdict()

    @property
    def source(self) -> "AppliedRecoding":
        """What is applied to tables with other values than those that were fitted."""
        from anonymizer.release.applying.applied import AppliedRecoding

        if self.followed is not None:
            return self.followed.source
        return AppliedRecoding.of(cast(GeneralizationPlan, self.fitted))

    @logged("verification", lambda done: {"records": done[1].released, "classes": done[1].classes})
    def proven(
        self,
        table: T,
        admitted: T,
        outcome: Outcome,
        raw: Counts | None = None,
        relation: Original | None = None,
    ) -> tuple[T, Release]:
        """Recount a recoded table, hold the policy against it, and hand it out with its proof.

        ``outcome``: what the recoding made of the ``admitted`` records of a ``table``. ``raw``:
        their counts, where these are known already. ``relation``: the table as it lies, where that
        which is given is its tally.

        Raises PolicyBrokenError when a class breaks the policy.
        """
        fitted, released = self.fitted, outcome.released
        if relation is not None:  # its tally has no columns but those that were counted
            others = {*relation.columns} - {*fitted.schema.identifiers}
            fitted.require_room([name for name in relation.columns if name in others])
        people = fitted.people(released)
        counts, verdicts = prove(released, fitted.published, fitted.models, people)
        compared = RawComparison(fitted, table, admitted, outcome, relation)
        if fitted.private:
            reported: dict[str, Any] = {"warnings": compared.of_sample(counts)}
        else:
            reported = compared.reported(raw, counts, self.seed)
        return released, Release(
            released=engine.records(released),
            classes=counts.occupied,
            query_loss=loss_of_sizes(counts.sizes),
            levels=fitted.levels,
            recoding=fitted.describe(outcome.shown),
            regions=fitted.regions,
            privacy=verdicts,
            search=fitted.search,
            seeds=self.seeds,
            study=self.study,
            hierarchies=self._rules,
            settled=self.settled,
            method=self.method,
            applies=None if self.followed is None else {"sha256": self.followed.sha256},
            masking=outcome.randomization,
            **reported,
        )

    @property
    def _rules(self) -> dict[str, Mapping[str, object]]:
        """The rule of each quasi-identifier that lists no values."""
        known = {name: each.hierarchy for name, each in self.taxonomies.items()}
        rules = {name: each and rule_alone(each) for name, each in known.items()}
        return {name: rule for name, rule in rules.items() if rule}
