"""The recoding that keeps most on records held out, among several that are tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import inf
from typing import Any, ClassVar

from anonymizer.counts.counts import Partitions
from anonymizer.counts.multidimensional import Regions
from anonymizer.errors import InputError, PolicyUnreachableError, require_one_of
from anonymizer.objectives import MillerMadow, MutualInformation, Objective, ObjectiveName
from anonymizer.privacy import TOLERANCE, PrivacyModel
from anonymizer.recoding.apply import Evaluation, levels_of
from anonymizer.recoding.classes import Boxes
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.levels import FullDomain, Levels
from anonymizer.recoding.policy import Trigger
from anonymizer.recoding.problem import Run
from anonymizer.recoding.ranges import Cut, VariableRange
from anonymizer.recoding.recoding import Outcome, Recoding, RecodingPlan, Task, Trial

TRIED: Mapping[str, type[Generalization]] = {
    kind.name: kind for kind in (FullDomain, VariableRange, Cut, Boxes)
}
"""What is tried: recodings whose releases have the columns of the table, and no other."""

TRYING = "trying recodings"


@dataclass(frozen=True)
class Best(Recoding):
    """The recoding that keeps most on held-out records while the policy holds there too.

    Each is fitted on a random half of the records and evaluated on the other half. The best is then
    fitted on all records, where the policy is proven as of any release. Where none holds the policy
    on the half held out, the one is taken that fewest records there are in breach of; the report
    says so. Where the halves are too small for any, the first is taken that all records allow.

    Parameters
    ----------
    recodings
        The names of those to be tried: ``"full-domain"``, ``"variable-range"``, ``"cut"`` and
        ``"boxes"`` when left out.
    suppression, remove, suppress
        How levels suppress records.
    refine, group, max_ranges, min_width, grid, max_classes, min_records
        As of the recodings, each for those that have it.
    min_gain
        The same (bits).
    """

    name: ClassVar[str] = "best"

    recodings: Sequence[str] = tuple(TRIED)
    suppression: float = 0.0
    remove: bool = False
    suppress: Trigger = "small"
    refine: Sequence[str] | None = None
    group: Sequence[str] = ()
    max_ranges: int | None = None
    min_width: float | None = None
    grid: float | None = None
    max_classes: int | None = None
    min_records: int | None = None
    min_gain: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.recodings, str) or not self.recodings:
            raise InputError("recodings must be a list of names, such as ['full-domain', 'boxes']")
        for name in self.recodings:
            require_one_of("recodings", name, TRIED)
        _ = self.candidates  # refuses options that one of them cannot have

    @property
    def candidates(self) -> tuple[Generalization, ...]:
        """What is tried, in the order given: each recoding with the options that it has."""
        options = {each.name: getattr(self, each.name) for each in fields(self)}
        return tuple(_with(TRIED[name], options) for name in dict.fromkeys(self.recodings))

    @property
    def fallback_objective(self) -> ObjectiveName:  # type: ignore[override]
        """Loss where levels alone are tried; else what all that are tried can do."""
        return (
            "loss" if all(isinstance(one, Levels) for one in self.candidates) else "discernibility"
        )

    def require_suitable(
        self, models: Sequence[PrivacyModel], objective: Objective, run: Run
    ) -> None:
        """Refuse what no recoding that is tried can answer for."""
        super().require_suitable(models, objective, run)
        for one in self.candidates:
            one.require_suitable(models, objective, replace(run, time_limit=None))

    def fit(self, task: Task) -> tuple[RecodingPlan, Outcome]:
        """Try every recoding on a half, and fit the best on all records."""
        candidates = self.candidates
        # One share of the time for each trial, and one for the fit on all records.
        share = None if task.run.time_limit is None else task.run.time_limit / (len(candidates) + 1)
        task = replace(task, run=replace(task.run, time_limit=share))
        trials = []
        for place, one in enumerate(candidates):
            task.run.watch(TRYING, place, len(candidates))
            run = task.run.shared(len(candidates) - place + 1)
            trials.append(_trial(one, replace(task, run=run)))
        order = sorted(range(len(trials)), key=lambda place: (*_rank(trials[place]), place))
        # What held on a half may be out of reach on all records: then the next best is fitted.
        for place in order:
            try:
                plan, outcome = candidates[place].fit(task)
            except (InputError, PolicyUnreachableError) as error:
                refused = error
                continue
            tried = tuple(replace(trial, taken=i == place) for i, trial in enumerate(trials))
            return replace(plan, search=replace(plan.search, tried=tried)), outcome
        raise refused


def _with(kind: type[Generalization], options: Mapping[str, Any]) -> Generalization:
    """A recoding with those of the options that it has."""
    return kind(
        **{
            each.name: options[each.name]
            for each in fields(kind)  # type: ignore[arg-type]
            if each.name in options
        }
    )


def _trial(recoding: Generalization, task: Task) -> Trial:
    """What a recoding keeps on the half that it was not fitted on, or why it cannot be tried."""
    counted = task.counted
    try:
        first, second = counted.halves(task.seed)
        problem = recoding.problem(first, counted.taxonomies, task.models, task.objective)
        chosen, _ = recoding.choose(problem, task.seed, task.run)
    except (InputError, PolicyUnreachableError) as error:
        return Trial(recoding.name, reason=str(error))
    half = Evaluation.of(replace(problem, counts=second), chosen)
    measure = _measure(task.objective)
    score = _score(half, chosen, measure)
    return Trial(
        recoding.name,
        holds=half.satisfied,
        measure=measure.name,
        kept=measure.quantity(score, second.records),
        classes=half.classes.occupied,
        records_broken=half.records_broken,
        score=score,
    )


def _measure(objective: Objective) -> Objective:
    """What recodings are compared by: information corrected for small classes, or the objective."""
    if type(objective) is MutualInformation:
        return MillerMadow(target=objective.target, weights=objective.weights)
    return objective


def _score(half: Evaluation, chosen: Partitions | Regions, measure: Objective) -> float:
    """What a recoding scores on a half; of levels with what suppression costs there."""
    problem = replace(half.problem, objective=measure)
    levels = levels_of(chosen, problem.taxonomies)
    names = problem.counts.names
    if not {*names} <= {*levels}:
        return measure(half.classes)
    node = tuple(levels[name] for name in names)
    score = problem.score(node)
    return replace(problem, models=()).evaluator.value(node) if score is None else score


def _rank(trial: Trial) -> tuple[bool, float, int, int]:
    """Those that hold the policy first, of them those that keep most; ties: fewer classes.

    Of those that do not, the ones that fewest records are in breach of; last what cannot be tried.
    """
    if trial.score is None:
        return True, inf, 0, 0
    kept = -round(trial.score / TOLERANCE)
    if trial.holds:
        return False, kept, trial.classes or 0, 0
    return True, trial.records_broken or 0, kept, trial.classes or 0
