"""What a study comes to on its table: the classes that it would release, held against its policy.

An answer to somebody who moves a slider is computed of counts alone. The released table itself, and
its proof by recounting it, are made when they are needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from anonymizer.advice.space import Disclosure, disclosure_in
from anonymizer.counts.columns import reads_as_written
from anonymizer.counts.counting import Counted, recount
from anonymizer.counts.counts import Counts
from anonymizer.counts.multidimensional import CLASS, Regions
from anonymizer.counts.persons import Attribute
from anonymizer.errors import AnonymizerError, PolicyUnreachableError
from anonymizer.explorer.answers.counted import CountedStudy
from anonymizer.hierarchy import ANY
from anonymizer.objectives import MutualInformation
from anonymizer.privacy import PrivacyModel, Verdict, attributes_of, judged_classes, measures_of
from anonymizer.recoding import Problem, Watch, ignore
from anonymizer.recoding.apply import Evaluation
from anonymizer.recoding.generalization import Generalization, GeneralizationPlan
from anonymizer.recoding.levels import Fixed
from anonymizer.recoding.recoding import Outcome as Carried
from anonymizer.recoding.recoding import RecodingPlan, Task
from anonymizer.release.fitting import planned
from anonymizer.release.proof import prove, require_present
from anonymizer.release.relations import CountedTable
from anonymizer.release.release import Release
from anonymizer.tables import engine
from anonymizer.tables.values import both_texts


@dataclass(frozen=True, eq=False)
class StudyOutcome:
    """What a study comes to: classes that satisfy its policy, levels that break it, or a refusal.

    Parameters
    ----------
    counted
        The study and its counts.
    task
        What its recoding was chosen for; None where there is no such thing.
    plan
        The recoding; None where there is none.
    evaluation
        Its records as they would be released; the classes of a plan that generalizes go by codes of
        raw values. None where there are none.
    refusal
        Why there can be no release, and how to mend it; empty where there can.
    unreachable
        Whether the policy is out of reach of the recoding.
    """

    counted: CountedStudy | None = None
    task: Task | None = field(default=None, repr=False)
    plan: RecodingPlan | None = field(default=None, repr=False)
    evaluation: Evaluation | None = field(default=None, repr=False)
    refusal: str = ""
    unreachable: bool = False

    @property
    def holds(self) -> bool:
        """Whether every class satisfies every model."""
        return self.counts is not None and not self.refusal

    @property
    def aim(self) -> str:
        """What a better recoding does by the study's objective, in words."""
        return aim_of(self.task)

    @property
    def raw(self) -> Counts | None:
        """The counts of the table as it is."""
        return None if self.task is None else self.task.counted.counts

    @property
    def counts(self) -> Counts | None:
        """The released classes."""
        return None if self.evaluation is None else self.evaluation.classes

    @property
    def suppressed(self) -> int:
        """Records that are suppressed."""
        return 0 if self.evaluation is None else self.evaluation.suppressed

    @property
    def merged(self) -> int | None:
        """The place of the class that these form; None where they form none."""
        return None if self.evaluation is None else self.evaluation.merged

    @cached_property
    def carried(self) -> Carried | None:
        """What the recoding makes of the table; None where there is none.

        It takes as long as the table has distinct records.
        """
        if self.plan is None or self.task is None:
            return None
        return self.plan.carry_out(self.task.counted.kept)

    @property
    def released(self) -> engine.Table | None:
        """The released table, counted; see ``carried``."""
        return None if self.carried is None else self.carried.released

    @cached_property
    def release(self) -> Release | None:
        """The release, recounted and proven; None where the policy does not hold.

        It takes about as long as a run without the files: ask for it in a thread. PolicyBrokenError
        and InputError as a run raises them.
        """
        if not self.holds or self.counted is None or self.task is None:
            return None
        estimator = self.counted.anonymizer(self.task.run.watch)
        raw = CountedTable(self.counted.tally, self.counted.hierarchies)
        return planned(estimator, raw.columns, self.task).proven(raw).release

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """Each model held against the classes, by its definition."""
        return () if self.evaluation is None else self.evaluation.verdicts

    @property
    def classes(self) -> int:
        """Equivalence classes."""
        return 0 if self.counts is None else self.counts.occupied

    @cached_property
    def disclosures(self) -> Mapping[str, Disclosure]:
        """What the classes disclose of each sensitive attribute."""
        counts = self.counts
        if counts is None:
            return {}
        return {name: disclosure_in(counts, name) for name in counts.sensitive}

    @cached_property
    def information(self) -> tuple[float, float] | None:
        """I(X;W) and I(X~;W) about the sensitive attributes or targets, summed, in bits.

        Both are about the records that are released, as in a report.
        """
        found = self.evaluation
        if found is None or not found.about:
            return None
        return found.original(found.about), found.retained(found.about)

    def worst_class(self, model: PrivacyModel, attribute: str | None) -> int | None:
        """The place of the class that comes off worst under a model; None where none is."""
        if self.counts is None or not model.per_class:
            return None
        # A population has classes that the table has no record of.
        places = np.flatnonzero(self.counts.sizes > 0)
        values = measures_of(model, judged_classes(model, self.counts, attribute).occupied)
        if len(values) != len(places) or not len(values):
            return None
        return int(places[np.argmin(values) if model.at_least else np.argmax(values)])


def outcome_of(counted: CountedStudy, watch: Watch = ignore) -> StudyOutcome:
    """What a study comes to on its table.

    A refusal is part of it; what ends a computation goes through.
    """
    task: Task | None = None
    try:
        task = counted.task(watch)
        found = _found(counted, task)
        _require_provable(found)
        return found
    except AnonymizerError as error:
        refusal = StudyOutcome(
            counted,
            task,
            refusal=str(error),
            unreachable=isinstance(error, PolicyUnreachableError),
        )
        recoding = counted.study.recoding
        if task is None or not isinstance(recoding, Fixed):
            return refusal
        plan = recoding.unproven(task)[0]
        return _with_classes(replace(refusal, plan=plan))


def _require_provable(outcome: StudyOutcome) -> None:
    """Refuse what no release may be, although the counts satisfy the policy.

    Readers of a file may take several spellings for one value, or a label for a missing value.
    Where either matters, the table is proven as a run does it: counts know neither.

    Raises PolicyBrokenError and InputError as a run does.
    """
    plan, task, counted = outcome.plan, outcome.task, outcome.counted
    if plan is None or task is None or counted is None or plan.private:
        return
    missing = counted.study.document.data.missing_values
    certain = all(model.monotone and model.value_monotone for model in plan.models)
    if certain and _read_as_written(task.counted) and not _may_show(plan, missing):
        return
    released = outcome.released
    assert released is not None
    require_present(released, plan.published.quasi_identifiers, missing)
    persons = plan.schema.persons_of(task.counted.kept)
    prove(released, plan.published, plan.models, plan.people(released), persons)


def _may_show(plan: RecodingPlan, texts: Sequence[str]) -> bool:
    """Whether a plan has a label that is one of some texts."""
    if not texts or not isinstance(plan, GeneralizationPlan):
        return False
    recoding = plan.recoding
    by_name = (
        recoding.labels.values()
        if isinstance(recoding, Regions)
        else [partition.labels for partition in recoding.values()]
    )
    numbers = CLASS in plan.published.quasi_identifiers and any(map(str.isdigit, texts))
    labelled = any(
        not {*texts}.isdisjoint(both_texts(label)) for labels in by_name for label in labels
    )
    return ANY in texts or numbers or labelled


@lru_cache(4)
def _read_as_written(counted: Counted) -> bool:
    """Whether every reader tells the same sensitive values apart."""
    return all(reads_as_written(counted.tally[name]) for name in counted.schema.sensitive)


def _found(counted: CountedStudy, task: Task) -> StudyOutcome:
    recoding = counted.study.recoding
    people = task.counted.people
    if not isinstance(recoding, Generalization) or recoding.budget.persons or people is not None:
        plan, carried = recoding.fit(task)
        return _with_classes(StudyOutcome(counted, task, plan), carried)
    problem = counted.problem(task)
    chosen, search = recoding.choose(problem, task.seed, task.run)
    return _with_classes(StudyOutcome(counted, task, recoding.planned(task, chosen, search)))


def _with_classes(outcome: StudyOutcome, carried: Carried | None = None) -> StudyOutcome:
    """The outcome with the classes of its plan; ``carried``: the table, where it is there."""
    plan, task = outcome.plan, outcome.task
    assert plan is not None
    assert task is not None
    counted = task.counted
    problem = Problem(counted.counts, plan.taxonomies, plan.models, task.objective)
    if isinstance(plan, GeneralizationPlan) and _by_classes(plan):
        problem = replace(problem, suppression=plan.suppression)
        return replace(outcome, evaluation=Evaluation.of(problem, plan.recoding))
    if carried is None:
        return _with_classes(outcome, outcome.carried)
    released, kept = carried.released, counted.kept
    removed = carried.fate == "removed"
    raw = plan.count(carried.left(kept)) if removed else counted.counts
    persons = plan.schema.persons_of(kept)
    classes = recount(released, plan.published, plan.people(released), persons=persons)
    suppressed = carried.suppressed_of(kept)
    return replace(outcome, evaluation=Evaluation(problem, plan.recoding, raw, classes, suppressed))


def _by_classes(plan: GeneralizationPlan) -> bool:
    """Whether counts say what becomes of each class: not of people, or of whole persons."""
    return plan.population is None and not plan.suppression.persons


def aim_of(task: Task | None) -> str:
    """What a better recoding does by the objective of a task, in words."""
    if task is None or task.objective.name == MutualInformation.name:
        return "keeps more information"
    return f"is better by the study's objective, {task.objective.name}"


def about_of(model: PrivacyModel, sensitive: Sequence[str]) -> Sequence[Attribute | None]:
    """The sensitive attributes that a model is about; none where it has none to be about."""
    try:
        return attributes_of(model, sensitive)
    except AnonymizerError:
        return ()
