"""The frontier of a policy: what is kept against t or l, by recoding, fitted and held out."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import cast

from anonymizer.advice.space import Space, TimeUpError, confined
from anonymizer.advice.sweep import (
    SWEPT,
    Sweeper,
    ThresholdPoint,
    is_quick,
    suggested_of,
    sweep_of,
    swept_of,
)
from anonymizer.counts.counts import Counts
from anonymizer.errors import AnonymizerError, InputError, PolicyUnreachableError
from anonymizer.explorer.answers.counted import CountedStudy
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.answers.series import key_of
from anonymizer.information.entropy import mutual_information
from anonymizer.privacy import PrivacyModel, about_each
from anonymizer.recoding import Problem, Run, Watch
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.levels import FullDomain
from anonymizer.recoding.recoding import Task
from anonymizer.utility.comparison import Half, fit_of

WAIT = 0.05
"""Seconds between two looks at whether a frontier is computed by another page still."""


@dataclass(frozen=True)
class Mark:
    """One point of a frontier.

    ``held_out`` is what its recoding keeps when fitted on a half of the records, on the other half;
    None where it is not known, or none could be fitted. ``suggested``: whether it is the knee.
    """

    recoding: str
    point: ThresholdPoint
    held_out: Half | None
    suggested: bool

    @property
    def threshold(self) -> float:
        """Of the swept model."""
        return cast(float, self.point.threshold)


@dataclass(eq=False)
class GrowingFrontier:
    """The frontier of one model about one attribute; it grows while it is computed.

    What was computed stays, whatever threshold the policy has and whichever recoding the study.
    Several pages may look at it, one at a time computes.
    """

    counted: CountedStudy
    attribute: str
    name: str
    reasons: dict[str, str] = field(default_factory=dict)
    stopped: bool = False
    _sweepers: dict[str, Sweeper] = field(default_factory=dict, repr=False)
    _swept: dict[str, list[ThresholdPoint]] = field(default_factory=dict, repr=False)
    _held: dict[tuple[str, float], Half | None] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _watch: Watch | None = field(default=None, repr=False)
    _interrupted: bool = False

    @cached_property
    def task(self) -> Task:
        """The task under a policy with the swept model."""
        study = self.counted.study
        estimator = self.counted.anonymizer(self._watching)
        models = about_each(study.privacy, study.schema.sensitive)
        swept, held = swept_of(models, self.attribute, self.name)
        estimator.set_params(recoding="full-domain", privacy=[*held, swept], time_limit=None)
        task = estimator.task(self.counted.tally, self.counted.hierarchies)
        return replace(task, run=Run(None, None, self._watching))

    @cached_property
    def problem(self) -> Problem:
        """What is solved at each point."""
        return self._problem(self.task.counted.counts)

    @cached_property
    def halves(self) -> tuple[Problem, Counts]:
        """The problem of one half of the records, and the other half."""
        first, second = self.task.counted.halves(self.task.seed)
        return self._problem(first), second

    def _problem(self, counts: Counts) -> Problem:
        task = self.task
        return Problem(counts, task.counted.taxonomies, task.models, task.objective)

    @cached_property
    def original(self) -> float:
        """I(X;W) of the raw table about the attribute, in bits."""
        return mutual_information(self.task.counted.counts.joint[self.attribute])

    def is_quick(self, recoding: Generalization) -> bool:
        """Whether the points of a recoding take a fraction of a second each."""
        space = Space(self.problem, self.task.run)
        return isinstance(recoding, FullDomain) or is_quick(recoding, space)

    def compute(
        self,
        recodings: Sequence[Generalization],
        threshold: float | None,
        held_out: bool,
        watch: Watch,
    ) -> None:
        """Compute what is not known yet of some recodings, and at one more threshold.

        An interrupt, as a ``Watch`` raises it, ends it with what is known then: ``stopped``.
        """
        with self._alone(watch):
            try:
                for recoding in recodings:
                    self._fit(recoding, threshold)
                for recoding in recodings if held_out else ():
                    self._hold_out(recoding)
            except (KeyboardInterrupt, TimeUpError):
                self.stopped = True

    @contextmanager
    def _alone(self, watch: Watch) -> Iterator[None]:
        while not self._lock.acquire(timeout=WAIT):
            watch("waiting for another page", 0, None)
        try:
            self._watch, self._interrupted, self.stopped = watch, False, False
            yield
        finally:
            self._lock.release()

    def _watching(self, doing: str, done: int, of: int | None) -> None:
        try:
            if self._watch is not None:
                self._watch(doing, done, of)
        except KeyboardInterrupt:
            self._interrupted = True  # searches take it for a wish to give what they have
            raise

    def _require_uninterrupted(self) -> None:
        if self._interrupted:
            raise TimeUpError

    def _fit(self, recoding: Generalization, threshold: float | None) -> None:
        key = key_of(recoding)
        try:
            sweeper = self.sweeper(recoding)
            points = self._swept[key] = []
            for point in sweeper.points():
                self._forget_interrupted(sweeper, point.threshold)
                points.append(point)
            if threshold is not None and points:
                sweeper.at(threshold)
                self._forget_interrupted(sweeper, threshold)
            if not points:
                self.reasons[key] = "none satisfies the rest of the policy"
        except AnonymizerError as error:
            self.reasons[key] = str(error)

    def _forget_interrupted(self, sweeper: Sweeper, threshold: float | None) -> None:
        if self._interrupted:
            sweeper.known.pop(threshold, None)
            raise TimeUpError

    def sweeper(self, recoding: Generalization) -> Sweeper:
        """What sweeps with a recoding.

        Raises InputError when the recoding does not suit policy and objective.
        """
        key, task = key_of(recoding), self.task
        if key not in self._sweepers:
            recoding.require_suitable(task.models, task.objective, task.run)
            levels = isinstance(recoding, FullDomain)
            records = task.counted.counts.records
            models = confined(task.models, recoding.bounds, records) if levels else task.models
            each = about_each(models, task.counted.schema.sensitive)
            space = Space(self.problem.under(models, recoding.budget), task.run)
            swept, held = swept_of(each, self.attribute, self.name)
            own = None if levels else recoding
            self._sweepers[key] = Sweeper(space, self.attribute, swept, held, own, task.seed)
        return self._sweepers[key]

    def _hold_out(self, recoding: Generalization) -> None:
        """Fit a recoding on a half at each threshold, and evaluate it on the other one."""
        key = key_of(recoding)
        if key not in self._sweepers:
            return
        for place, point in enumerate(self.points(recoding)):
            threshold = cast(float, point.threshold)
            if (key, threshold) in self._held:
                continue
            self._watching(f"{recoding.name} on a half of the records", place, None)
            found = self._held_out_at(recoding, threshold)
            self._require_uninterrupted()
            self._held[key, threshold] = found

    def _held_out_at(self, recoding: Generalization, threshold: float) -> Half | None:
        first, second = self.halves
        models = self._policy(threshold)
        problem = first.under(models, recoding.budget)
        try:
            problem.require_possible()
            about, task = [self.attribute], self.task
            return fit_of(recoding, {}, problem, second, about, task.seed, task.run).held_out
        except (InputError, PolicyUnreachableError):
            return None

    def _policy(self, threshold: float) -> tuple[PrivacyModel, ...]:
        """The policy with the swept model at a threshold."""
        models = about_each(self.task.models, self.task.counted.schema.sensitive)
        swept, held = swept_of(models, self.attribute, self.name)
        return *held, replace(swept, **{swept.bounded_by: threshold})  # type: ignore[type-var]

    def points(self, recoding: Generalization) -> list[ThresholdPoint]:
        """The points that are known, from the loosest threshold to the strictest."""
        key = key_of(recoding)
        known = {each.threshold: each for each in self._swept.get(key, [])}
        if key in self._sweepers:
            known |= {t: each for t, each in [*self._sweepers[key].known.items()] if each}
        stricter = 1 if SWEPT[self.name].at_least else -1
        some = [each for t, each in known.items() if t is not None]
        return sorted(some, key=lambda each: stricter * cast(float, each.threshold))

    def loosest(self, recoding: Generalization) -> ThresholdPoint | None:
        """What is kept without the model; None where it is not known."""
        return next(iter(self._swept.get(key_of(recoding), [])), None)

    def meaning(self, recoding: Generalization) -> str:
        """What the suggested point means, in a sentence; empty where nothing is known yet."""
        sweeper, points = self._sweepers.get(key_of(recoding)), self._swept.get(key_of(recoding))
        if sweeper is None or not points:
            return ""
        return sweep_of(sweeper, tuple(points), True).meaning

    def marks(self, recoding: Generalization) -> list[Mark]:
        """The points of the sweep, and those of thresholds that the policy had."""
        key = key_of(recoding)
        swept = [*self._swept.get(key, [])]
        place = suggested_of(swept) if swept else None
        return [
            Mark(
                recoding.name,
                point,
                self._held.get((key, cast(float, point.threshold))),
                place is not None and point == swept[place],
            )
            for point in self.points(recoding)
        ]


def retained_about(outcome: StudyOutcome, attribute: str) -> float | None:
    """I(X~;W) about a sensitive attribute that a release keeps, in bits; None without one."""
    found = outcome.evaluation
    if not outcome.holds or found is None or attribute not in found.classes.joint:
        return None
    return found.retained([attribute])
