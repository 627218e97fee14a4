"""Recodings that generalize: searched for counts under a policy, applied class by class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, TypeVar, cast

import numpy as np
import pandas as pd

from anonymizer.counts.columns import encoded
from anonymizer.counts.counting import classes_of
from anonymizer.counts.counts import Counts, Partitions
from anonymizer.counts.margins import LeastPeople, dealt, require_everybody_in
from anonymizer.counts.multidimensional import CLASS, Regions
from anonymizer.counts.pairs import numbered
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError, PolicyBrokenError, PolicyUnreachableError
from anonymizer.feedback.logs import logged
from anonymizer.hierarchy import ANY, Taxonomy
from anonymizer.kernels.arrays import Codes, Ints, Mask
from anonymizer.objectives import Objective, ObjectiveName
from anonymizer.privacy import PrivacyModel, population_of, without_people
from anonymizer.recoding.apply import (
    accepts,
    all_hidden,
    budget_for,
    matched,
    overwritten,
    relabelled,
    suppressed_of,
)
from anonymizer.recoding.policy import WHOLE_PERSONS, Suppression
from anonymizer.recoding.problem import PATIENCE, Bounds, Problem, RangeOptions, Run
from anonymizer.recoding.recoding import (
    Outcome,
    Recoding,
    RecodingPlan,
    SearchResult,
    Task,
    seen_in,
)
from anonymizer.recoding.rehearsal import AGAINST, after, rehearsed
from anonymizer.recoding.whole_persons import left_out
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.population import WEIGHTS, Margins

Options = TypeVar("Options", Bounds, RangeOptions)
Plan = TypeVar("Plan", bound="GeneralizationPlan")

NEARLY_ALL = 1 - 1e-9
"""The largest share that may be suppressed: not all records."""

ENDED = (
    f"The search ended after {PATIENCE:.0f} s with the best so far; time-limit in [search] gives "
    "it more seconds, or fewer."
)


@dataclass(frozen=True, eq=False)
class People:
    """A population as counts: how many people have each combination of value codes.

    ``cells`` (combinations, quasi-identifiers) and the ``sizes`` (combinations,) of each.
    """

    cells: Codes = field(repr=False)
    sizes: Ints = field(repr=False)

    @classmethod
    def of(cls, tally: Tally, taxonomies: Mapping[str, Taxonomy]) -> People:
        """The people of a tally, by what taxonomies call their values."""
        columns = [encoded(tally.combinations[name], taxonomies[name]) for name in taxonomies]
        return cls(np.column_stack(columns).astype(np.intp), tally.sizes)

    @classmethod
    def fewest(cls, raw: Counts, recoding: Partitions) -> People:
        """The fewest people of the classes of a recoding, counted among raw combinations."""
        recoded = raw.recode(recoding)
        groups = [
            recoding[name].representatives[raw.cells[:, place]]
            for place, name in enumerate(raw.names)
        ]
        number, class_of, _ = numbered(recoded.cells, np.column_stack(groups))
        people = np.empty(len(recoded), np.int64)
        people[number] = cast(Ints, recoded.population)
        return cls(raw.cells, dealt(class_of, raw.sizes, people))

    def tally(self, taxonomies: Mapping[str, Taxonomy]) -> Tally:
        """The same as values, as far as taxonomies still know them."""
        columns = {}
        for (name, taxonomy), codes in zip(taxonomies.items(), self.cells.T, strict=True):
            raw = taxonomy.levels[0]
            values = np.empty(len(raw), dtype=object)
            values[:] = raw.labels
            columns[name] = pd.Series(values[raw.groups[codes]], dtype=object)
        return Tally(pd.DataFrame(columns), self.sizes)


@dataclass(frozen=True, eq=False)
class GeneralizationPlan(RecodingPlan):
    """Partitions of the quasi-identifiers, or classes of their own, and a suppression budget.

    ``population``: the quasi-identifiers of the population that models are about, counted; of
    models by weights those of the table that was recoded last. ``margins``: what is known of the
    population where that is no more; then ``population`` are the fewest people of the classes of
    the table that was recoded last, counted among its combinations of values.
    """

    suppression: Suppression
    population: People | None = field(default=None, repr=False)
    margins: Margins | None = field(default=None, repr=False)

    def carry_out(self, admitted: engine.Table) -> Outcome:
        """Recode the records and suppress the classes that break the policy, within the budget."""
        with logged("recoding", __name__) as counted:
            left = engine.without_columns(admitted, self.schema.identifiers)
            recoded = engine.without_traces(relabelled(left, self.recoding, self.taxonomies))
            outcome = self.suppressed(recoded)
            counted({"records": engine.records(outcome.released)})
        merges = outcome.fate == "kept"
        hidden = self.schema.quasi_identifiers if merges else self.generalized
        return replace(outcome, hidden=hidden)

    @property
    def published(self) -> Schema:
        """The schema of the recoded table: a column that numbers its classes may be added."""
        numbered = isinstance(self.recoding, Regions) and self.recoding.numbered
        return self.schema.with_quasi_identifier(CLASS) if numbered else self.schema

    def people(self, released: engine.Table) -> Tally | None:
        """The population recoded as a table was that was released; None where there is none.

        People whom no released class stands for may be anybody whose values were suppressed: they
        are ``*`` where there is such a class.
        """
        if self.weighs_persons and str(self.schema.weight) not in released.columns:
            return None  # a release shows neither persons nor weights
        people = self._people(released)
        if people is None or self.margins is not None:  # which know nobody whom no class stands for
            return people
        return matched(released, people, self.schema.without_persons)

    @property
    def everybody(self) -> Tally | None:
        """The population that models are about, counted; None where there is none."""
        return None if self.population is None else self.population.tally(self.taxonomies)

    @property
    def by_weights(self) -> bool:
        """Whether models are about the people whom the weights of the records tell."""
        return any(model.by_weights for model in self.models)

    @property
    def weighs_persons(self) -> bool:
        """Whether these are records of persons who have several, and a weight each."""
        return self.by_weights and bool(self.schema.person)

    def people_in(self, admitted: engine.Table) -> Tally | None:
        """The population that models are about: the people whom records stand for, where these are.

        Otherwise it is the same whatever table is recoded; None where there is none.
        """
        if not self.by_weights:
            return self.everybody
        return cast(Tally, self.schema.people_of(WEIGHTS, admitted))

    def weighed(self, admitted: engine.Table) -> RecodingPlan:
        """The plan for the records of another table, which stand for other people."""
        if self.margins is not None:
            return self.bounded(admitted)
        if not self.by_weights or self.weighs_persons:
            return self
        people = cast(Tally, self.people_in(admitted))
        return replace(self, population=People.of(people, self.taxonomies))

    def bounded(self: Plan, admitted: engine.Table) -> Plan:
        """The plan with the fewest people of each class of a table, where margins bound them."""
        if self.margins is None:
            return self
        known = self.taxonomies.items()
        if any((encoded(admitted[name], each) < 0).any() for name, each in known):
            return self  # values that were never seen, which cannot be recoded either
        hierarchies = {name: each.hierarchy for name, each in known}
        margins = self.schema.admit_margins(self.margins, hierarchies)
        least = LeastPeople.by(margins, self.taxonomies)
        counts = self.schema.counts(engine.tally(admitted, self.schema.columns), self.taxonomies)
        require_everybody_in(least.margins, counts.names, counts.cells, counts.sizes)
        return replace(self, population=People.fewest(counts.by_least(least), self.partitions))

    @property
    def forgetting(self) -> RecodingPlan:
        """The plan without raw values, and without the people whom its records stood for."""
        left = super().forgetting
        return replace(left, population=None) if self.by_weights else left  # type: ignore[call-arg]

    def _people(self, recoded: engine.Table) -> Tally | None:
        """The population recoded, as a table was; of persons who have weights those of the table.

        They count once in each class, so that they are known when it is recoded alone.
        """
        if self.weighs_persons:
            return cast(Tally, self.schema.people_of(WEIGHTS, recoded))
        everybody = self.everybody
        if everybody is None:
            return None
        return relabelled(everybody, self.recoding, self.taxonomies)

    def suppressed(self, recoded: engine.Table, forced: Mask | None = None) -> Outcome:
        """The table without broken classes, and which rows are suppressed.

        ``forced`` (rows,) are ``*`` in every quasi-identifier and suppressed in any case.

        Raises PolicyBrokenError where more records would have to go than the budget has.
        """
        rows = len(engine.rows_of(recoded))
        given = np.zeros(rows, bool) if forced is None else forced
        if self.suppression.persons:
            return self._of_whole_persons(recoded, given)
        if not given.any() and not self.suppression.most(engine.records(recoded)):
            return Outcome(recoded, given, False, ())
        people = self._people(recoded)
        counts, everybody = classes_of(recoded, self.published, people)
        class_of = everybody[:rows]
        tables = [recoded] if people is None else [recoded, people]
        # The class that is ``*`` already, and the classes of rows that are suppressed in any case.
        hidden = [engine.all_equal(table, self.schema.quasi_identifiers, ANY) for table in tables]
        of_classes = np.zeros(len(counts), bool)
        of_classes[everybody[np.concatenate(hidden)]] = True
        bound = np.zeros(len(counts), bool)
        bound[class_of[given]] = True
        found = suppressed_of(counts, self.models, self.suppression, of_classes, bound)
        if found is None:
            raise _beyond(counts, self.models, self.suppression, of_classes, bound)
        suppressed = found.marks[class_of]
        if found.removed:
            left = engine.records_of(recoded, ~suppressed)
            left = engine.without_traces(left)
            return Outcome(left, suppressed, True, (), disclosed=found.disclosed)
        if not found.records:
            return Outcome(recoded, suppressed, False, ())
        columns = {
            name: overwritten(recoded[name], suppressed) for name in self.schema.quasi_identifiers
        }
        released = engine.replaced(recoded, columns)
        return Outcome(released, suppressed, False, (), disclosed=found.disclosed)

    def _of_whole_persons(self, recoded: engine.Table, forced: Mask) -> Outcome:
        """The table without the persons who have to go, and which rows are theirs."""
        suppressed = left_out(recoded, self.published, self.models, self.suppression, forced)
        if not suppressed.any():
            return Outcome(recoded, suppressed, False, ())
        left = engine.without_traces(engine.records_of(recoded, ~suppressed))
        return Outcome(left, suppressed, True, ())

    def recoder(
        self, raw: Counts, released: Counts, outcome: Outcome, rng: np.random.Generator
    ) -> Callable[[Counts], Counts]:
        """What the recoding makes of counts of the same combinations as the raw ones."""
        recoding = self.recoding
        if isinstance(recoding, Regions):
            class_of = recoding.class_of(raw.cells)
            return lambda counts: counts.grouped(class_of)

        def recode(counts: Counts) -> Counts:
            return counts.recode(recoding)

        if outcome.fate != "kept":
            return recode
        recoded = recode(raw)
        return self.merging(recode, recoded, all_hidden(recoded, recoding))

    def merging(
        self,
        recode: Callable[[Counts], Counts],
        recoded: Counts,
        hidden: Mask,
        forced: Mask | None = None,
    ) -> Callable[[Counts], Counts]:
        """Recode as given, and merge what is suppressed of the ``recoded`` counts of the table."""
        found = suppressed_of(recoded, self.models, self.suppression, hidden, forced)
        return recode if found is None else lambda counts: recode(counts).merge(found.marks)


class Generalization(Recoding):
    """A recoding that is searched for counts: what is chosen depends on nothing else.

    Options of the names that :class:`Suppression`, :class:`Bounds` and :class:`RangeOptions` have
    are theirs, and are checked when the recoding is made.
    """

    by_bounds: ClassVar[bool] = False
    """Whether its search reads models by their bounds alone."""

    # A sum over classes, of any kind.
    fallback_objective: ClassVar[ObjectiveName] = "discernibility"

    def __post_init__(self) -> None:
        _ = self.bounds, self.ranges
        if self.budget.remove and not self.budget.share:
            raise InputError(
                "remove leaves suppressed records out: give suppression above 0 with it"
            )
        if self.budget.persons and not self.budget.share:
            raise InputError(
                "suppress-persons says what is suppressed: give suppression above 0 with it, the "
                "share of the persons who may be left out"
            )

    def problem(
        self,
        counts: Counts,
        taxonomies: Mapping[str, Taxonomy],
        models: Sequence[PrivacyModel],
        objective: Objective,
    ) -> Problem:
        """The problem that some counts pose; refused where no recoding can satisfy some model.

        And where whole persons are suppressed, who do not show in counts of classes.
        """
        self.budget.require_of_records()
        if counts.least is not None:
            require_removed(self.budget, isinstance(counts.least, LeastPeople))
        problem = Problem(counts, taxonomies, models, objective, self.budget)
        problem.require_possible()
        return problem

    @property
    def budget(self) -> Suppression:
        """How many records may be suppressed."""
        names = {"share": "suppression", "remove": "remove", "suppress": "suppress"}
        names["persons"] = WHOLE_PERSONS
        given = {own: getattr(self, name) for own, name in names.items() if hasattr(self, name)}
        return Suppression(**given)

    @property
    def bounds(self) -> Bounds:
        """What its classes are confined to."""
        return self._confined(Bounds)

    @property
    def ranges(self) -> RangeOptions:
        """What the ranges of its attributes are confined to."""
        return self._confined(RangeOptions)

    def _confined(self, kind: type[Options]) -> Options:
        """Some options: those of the same names that this recoding has."""
        names = [each.name for each in fields(kind) if hasattr(self, each.name)]
        return kind(**{name: getattr(self, name) for name in names})

    def unreachable(self, problem: Problem, what: str) -> PolicyUnreachableError:
        """The error that no recoding of this kind satisfies the policy; ``what``: of which kind."""
        names = ", ".join(model.name for model in problem.models)
        share = problem.suppression.share
        budget = f" while at most {share:.3g} of the records are suppressed" if share else ""
        limited = _limited(problem)
        return PolicyUnreachableError(
            f"{what} all of {names}{self.bounds.suffix}{budget}{limited}; relax one"
        )

    def choose(
        self, problem: Problem, seed: int, run: Run
    ) -> tuple[Partitions | Regions, SearchResult]:
        """The recoding that solves a problem, and how it was found.

        What does not add up where classes merge, persons by class, no search of classes looks at.
        Where the best recoding breaks the policy by it, the best of larger classes is taken, until
        one holds: the larger, the less depends on who else is in them.

        PolicyUnreachableError when none does, InputError when options and problem do not fit.
        """
        deadline = run.deadline()
        recoding, search = best = self.solve(problem.additive, seed, run)
        other, least = self, self.bounds.min_records or 1
        while not accepts(problem, recoding):
            if least >= problem.counts.records:
                raise self.unreachable(problem, f"no {self.name} recoding found satisfies")
            least = min(2 * least, problem.counts.records)
            other = replace(other, min_records=least)  # type: ignore[type-var]
            recoding, search = other.solve(problem.additive, seed, run.until(deadline))
        return recoding, search if other is self else search.below(best[1], least)

    @abstractmethod
    def solve(
        self, problem: Problem, seed: int, run: Run
    ) -> tuple[Partitions | Regions, SearchResult]:
        """The recoding that solves a problem whose counts add up: see ``choose``."""

    def fit(self, task: Task) -> tuple[RecodingPlan, Outcome]:
        """Choose the recoding of a table under a policy, and carry it out."""
        counted = task.counted
        problem = self.problem(counted.counts, counted.taxonomies, task.models, task.objective)
        if task.odds is None:
            recoding, search = self.choose(problem, task.seed, task.run)
        else:
            rehearsal = rehearsed(problem, task.odds, by_bounds=self.by_bounds)
            try:
                recoding, search = self.choose(rehearsal, task.seed, task.run)
            except PolicyUnreachableError as error:
                raise PolicyUnreachableError(
                    f"in rehearsals, without the sensitive values ({AGAINST}): {error}"
                ) from None
            search = after(search)
        if task.run.late and not search.proven:
            search = replace(search, caution=" ".join(filter(None, [search.caution, ENDED])))
        plan = self.planned(task, recoding, search)
        outcome = plan.carry_out(counted.kept)
        suppressed = outcome.suppressed
        left = engine.records_of(counted.kept, ~suppressed) if suppressed.any() else problem.counts
        seen = seen_in(left, plan.taxonomies)
        least = counted.least
        if isinstance(least, LeastPeople):  # the values of margins are no record's
            seen = {name: mask | least.values(name, mask) for name, mask in seen.items()}
        return replace(plan, seen=seen), outcome

    def planned(
        self, task: Task, recoding: Partitions | Regions, search: SearchResult
    ) -> GeneralizationPlan:
        """The plan that a recoding makes for a task."""
        counted, people = task.counted, task.counted.people
        margins, fewest = population_of(task.models), None
        if isinstance(counted.least, LeastPeople):
            fewest = People.fewest(counted.counts, cast(Partitions, recoding))
        return GeneralizationPlan(
            counted.schema,
            without_people(task.models),
            counted.taxonomies,
            recoding,
            search,
            self.budget,
            fewest if people is None else People.of(people, counted.taxonomies),
            margins if isinstance(margins, Margins) else None,
        )


def require_removed(budget: Suppression, margins: bool) -> None:
    """Refuse to keep suppressed records where the people of classes do not add up.

    By ``margins`` those of the class of suppressed records are people of no other class, of whom
    margins tell little.
    """
    if budget.share and not budget.remove:
        unknown = (
            "margins of a population do not tell how many people suppressed records may be of"
            if margins
            else "persons of several suppressed classes stand for their people once, which no "
            "search of classes counts"
        )
        raise InputError(
            f"{unknown}; give remove = true with suppression, which leaves these records out"
        )


def _limited(problem: Problem) -> str:
    """What a message adds of highest levels: those without which alone the policy can be satisfied.

    All of them where there is no such one.
    """
    highest = dict(zip(problem.counts.names, problem.lattice.heights, strict=True))
    limited = [name for name in highest if problem.taxonomies[name].bounded]
    if not limited:
        return ""
    # Each without its limit, all other attributes at the highest levels that they may have.
    raised = {name: {**highest, name: problem.taxonomies[name].height} for name in limited}
    alone = [name for name in limited if problem.score((*raised[name].values(),)) is not None]
    listed = [f"max-level = {highest[name]} of {name!r}" for name in alone or limited]
    return f" with {(' or ' if alone else ' and ').join(listed)}"


def _beyond(
    counts: Counts,
    models: Sequence[PrivacyModel],
    suppression: Suppression,
    hidden: Mask,
    forced: Mask,
) -> PolicyBrokenError:
    """The error that a budget does not do under a recoding, with one that would, if one does."""
    most = replace(suppression, share=NEARLY_ALL)
    found = suppressed_of(counts, models, most, hidden, forced)
    if found is None and suppression.suppress == "small":
        most = replace(most, suppress="any")
        if suppressed_of(counts, models, most, hidden, forced) is not None:
            return PolicyBrokenError(
                "nothing was released: under this recoding classes that are large enough break "
                'the policy for their sensitive values, and suppress = "small" suppresses none of '
                "these",
                "search another recoding",
            )
    share = 1.0 if found is None else budget_for(found.records, counts.records)
    return PolicyBrokenError(
        f"nothing was released: more than {suppression.share:.3g} of the records would have to be "
        "suppressed for the policy to hold under this recoding",
        f"needs suppression = {share:g}" if share < 1 else "",
        section="recoding",
        key="suppression" if share < 1 else None,
    )
