"""Advice on a policy: what it costs and protects on one table, and what to change."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from anonymizer.advice.changes import (
    Change,
    Obstacle,
    freeing,
    freeing_most,
    improving,
    obstacles_at,
    ways_out,
)
from anonymizer.advice.space import (
    LOST,
    Disclosure,
    FoundRelease,
    Space,
    TimeUpError,
    confined,
    found_by,
    found_by_levels,
    is_drastic,
    objective_for,
    within_time,
)
from anonymizer.advice.sweep import SWEPT, Sweep, sweep_of, sweeper_of
from anonymizer.errors import InputError, require_one_of
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding import Problem
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.lattice import Node
from anonymizer.recoding.levels import Fixed, FullDomain, node_of
from anonymizer.recoding.recoding import Task
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.frames import table_of
from anonymizer.release.relations import CountedTable
from anonymizer.release.request import require_unrehearsed
from anonymizer.release.results import Result
from anonymizer.release.study import Study

T = TypeVar("T")

LARGER = 100
"""Times the records that a class needs from which on classes are drastically large on average."""


@dataclass(frozen=True)
class Advice(Result):
    """What a policy costs and protects on one table, and what to change. Counts and names alone.

    Parameters
    ----------
    records
        Records that were counted.
    recoding, objective
        What the result is recoded by, and the objective: the study's, but plain information where
        that may rise under generalization.
    reachable
        Whether the policy can be satisfied.
    levels
        The level of each quasi-identifier in the best node of the lattice: what changes are
        measured against, whatever the recoding. Empty where there is none.
    hidden
        The quasi-identifiers of which the result says nothing, of ``varying`` ones.
    varying
        Quasi-identifiers of more than one value.
    classes, suppressed
        Its classes, and the records that it suppresses.
    original, retained
        I(X;W) and I(X~;W) about the sensitive attributes or targets, summed, in bits.
    value
        The objective, in its unit.
    disclosures
        What its classes disclose of each sensitive attribute.
    sweeps
        The frontier of t or l about each of them.
    drastic
        Why the result is drastic, in words; empty where it is not.
    obstacles
        The records that stand in the way: at the most general levels where the policy is out of
        reach; where the result is drastic, one level below it for each attribute that is hidden.
    changes
        What was searched: ways out of a policy out of reach, or what changes would free.
    improving
        Those changes that improve a drastic result, with what the study's own recoding reaches
        under them by the study's own objective: each was carried out.
    complete
        False where the time was up before everything was computed.
    """

    records: int
    recoding: str
    objective: str
    reachable: bool
    levels: Mapping[str, int]
    hidden: tuple[str, ...]
    varying: int
    classes: int
    suppressed: int
    original: float | None
    retained: float | None
    value: float | None
    disclosures: tuple[Disclosure, ...]
    sweeps: tuple[Sweep, ...]
    drastic: tuple[str, ...]
    obstacles: tuple[Obstacle, ...]
    changes: tuple[Change, ...]
    improving: tuple[Change, ...]
    complete: bool

    derived = ("most",)

    @property
    def most(self) -> tuple[Change, ...]:
        """The change that frees most of each of at most three attributes, by ``Change.free``."""
        return freeing_most(self.changes)


@dataclass(eq=False)
class Adviser:
    """Computation of advice, one part after the other, until the time is up."""

    space: Space
    recoding: Generalization
    model: str | None
    sweep: bool
    relax: bool
    seed: int
    time_limit: float | None
    complete: bool = True

    def advice(self) -> Advice:
        """Compute all parts."""
        try:
            entry = self.space.best()
        except TimeUpError:
            return replace(self._unreachable(False), reachable=True, obstacles=(), complete=False)
        if entry is None:
            return self._unreachable(True)
        return self._reachable(entry[2])

    def _unreachable(self, ways: bool) -> Advice:
        space = self.space
        counts = space.at(space.highest)
        return self._of(
            reachable=False,
            obstacles=tuple(obstacles_at(counts, space.problem.models)),
            changes=self._until_time_is_up(ways_out(space)) if ways else (),
        )

    def _reachable(self, node: Node) -> Advice:
        found = self._found(node)
        # Another recoding than the study's, where there was no time for that, says nothing of it.
        drastic = tuple(self._drastic(found)) if found.recoding == self.recoding.name else ()
        sweeps = self._sweeps() if self.sweep else ()  # safety first, with half of the time
        obstacles = self._until_time_is_up(self._finer(node)) if drastic else ()
        changes: tuple[Change, ...] = ()
        if drastic:
            changes = self._until_time_is_up(freeing(self.space, node, self.relax))
        of_all = [change for change in changes if change.attribute is None]
        tried = [*freeing_most(changes), *of_all]
        return self._of(
            reachable=True,
            recoding=found.recoding,
            levels=found.levels,
            hidden=found.hidden,
            classes=found.classes,
            suppressed=found.suppressed,
            original=found.original,
            retained=found.retained,
            value=found.value,
            disclosures=found.disclosures,
            drastic=drastic,
            obstacles=obstacles,
            changes=changes,
            improving=self._until_time_is_up(
                improving(self.space, self.recoding, self.seed, found, tried)
            ),
            sweeps=sweeps,
        )

    def _found(self, node: Node) -> FoundRelease:
        """Evaluate the study's own recoding; the best node where there is no time for that."""
        if isinstance(self.recoding, FullDomain | Fixed):
            return found_by_levels(self.space, node, self.recoding.name)
        try:
            return found_by(self.recoding, self.space, self.seed, node)
        except TimeUpError:
            self.complete = False
            return found_by_levels(self.space, node, FullDomain.name)

    def _of(self, **known: object) -> Advice:
        """Return the advice with what is known."""
        space = self.space
        nothing: dict[str, object] = {
            "recoding": FullDomain.name if space.fixed is None else Fixed.name,
            "levels": {},
            "hidden": (),
            "classes": 0,
            "suppressed": 0,
            "original": None,
            "retained": None,
            "value": None,
            "disclosures": (),
            "sweeps": (),
            "drastic": (),
            "obstacles": (),
            "changes": (),
            "improving": (),
        }
        return Advice(
            records=space.problem.counts.records,
            objective=space.problem.objective.name,
            varying=len(self._varying),
            **{**nothing, **known},  # type: ignore[arg-type]
            complete=self.complete,
        )

    @property
    def _varying(self) -> list[str]:
        counts = self.space.problem.counts
        columns = zip(counts.names, counts.cells.T, strict=True)
        return [name for name, codes in columns if (codes != codes[0]).any()]

    def _drastic(self, found: FoundRelease) -> Iterator[str]:
        """Say why a result is drastic; never where the levels are given."""
        if self.space.fixed is not None:
            return
        of = len(self._varying)
        if is_drastic(len(found.hidden), of):
            yield f"{len(found.hidden)} of {of} quasi-identifiers became *"
        if found.lost is not None and found.lost > LOST:
            yield f"{found.lost:.0%} of the information is lost, chance taken off"
        least = _least_size(self.space.problem.models)
        average = found.released / max(found.classes, 1)
        if least and average >= LARGER * least:
            yield f"classes have {average:,.0f} records on average where {least:,} would do"

    def _finer(self, node: tuple[int, ...]) -> Iterator[Obstacle]:
        """Find what breaks the policy once each hidden attribute is one level finer."""
        space = self.space
        bottom = space.problem.lattice.bottom
        for name in space.starred(node):
            if space.level(node, name) <= space.level(bottom, name):
                continue
            space.run.watch("looking below the best node", 0, None)
            lower = space.raised(node, name, space.level(node, name) - 1)
            yield from obstacles_at(space.at(lower), space.problem.models, name)

    def _sweeps(self) -> tuple[Sweep, ...]:
        """Sweep t or l about each sensitive attribute, over the whole lattice."""
        half = None if self.time_limit is None else self.time_limit / 2
        run = within_time(replace(self.space.run, time_limit=half))
        lattice = replace(self.space, fixed=None, run=run, _others={})
        found = []
        for name in self.space.problem.counts.sensitive:
            sweeper = sweeper_of(lattice, name, self.model, self.recoding, self.seed)
            before, self.complete = self.complete, True
            points = self._until_time_is_up(sweeper.points())
            found.append(sweep_of(sweeper, points, self.complete))
            self.complete = self.complete and before
        return tuple(each for each in found if each.points)

    def _until_time_is_up(self, items: Iterable[T]) -> tuple[T, ...]:
        """Return the items that are known in time."""
        found: list[T] = []
        try:
            for item in items:
                found.append(item)  # noqa: PERF402 (what comes before the end of time stays)
        except TimeUpError:
            self.complete = False
        return tuple(found)


def _least_size(models: Sequence[PrivacyModel]) -> int | None:
    if any(model.sensitive or not model.at_least or model.people for model in models):
        return None
    return int(max((model.threshold for model in models), default=1))


def advise(
    anonymizer: Anonymizer,
    table: Any,
    *,
    model: str | None = None,
    sweep: bool = True,
    relax: bool = True,
    time_limit: float | None = None,
) -> Advice:
    """Say what the policy of an anonymizer costs and protects on a table, and what to change.

    The table is counted once; all else is searched for on the counts. Nothing is released.

    Parameters
    ----------
    anonymizer
        Roles, policy, recoding and objective; it need not be fitted.
    table
        The table: a DataFrame of pandas or Polars, say, as ``Anonymizer.fit`` takes it.
    model
        What is swept about each sensitive attribute: ``"t-closeness"`` or
        ``"entropy-l-diversity"``. By default the model that the policy has, else t-closeness with
        the divergence.
    sweep
        Whether anything is swept.
    relax
        Whether looser models and suppression are searched for a drastic result, too, which takes
        most of the time.
    time_limit
        Seconds after which what is known by then is returned, ``complete`` being False.

    Raises
    ------
    InputError
        When table and parameters do not fit together, or the recoding is none that generalizes.
    """
    recoding = _require_advisable(anonymizer, model)
    raw = CountedTable.of(table_of(table), anonymizer.schema.columns, anonymizer.hierarchies)
    task = anonymizer.task(raw.table, raw.hierarchies)
    return advise_counted(
        recoding, task, model=model, sweep=sweep, relax=relax, time_limit=time_limit
    )


def _require_advisable(anonymizer: Anonymizer, model: str | None) -> Generalization:
    """Return the recoding to advise on; InputError where there is no advice on it or the model."""
    if model is not None:
        require_one_of("model", model, SWEPT)
    require_unrehearsed(anonymizer.against, "advice says")
    recoding = anonymizer.chosen_recoding
    if not isinstance(recoding, Generalization):
        raise InputError(
            f"advice is searched for on counts, and recoding {recoding.name!r} is not: choose "
            "full-domain, say, to get it"
        )
    return recoding


def advise_counted(
    recoding: Generalization,
    task: Task,
    *,
    model: str | None = None,
    sweep: bool = True,
    relax: bool = True,
    time_limit: float | None = None,
) -> Advice:
    """Advise on the policy of a task, whose table is counted already; see ``advise``."""
    run = within_time(replace(task.run, time_limit=time_limit))
    space = space_of(recoding, replace(task, run=run))
    return Adviser(space, recoding, model, sweep, relax, task.seed, time_limit).advice()


def advise_study(
    study: Study,
    *,
    model: str | None = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    watch: Watch = ignore,
) -> Advice:
    """Advise on the policy of a study for its table; see ``advise``."""
    anonymizer = study.anonymizer(n_jobs, watch)
    recoding = _require_advisable(anonymizer, model)
    with study.opened(watch) as table:
        watch("counting the table", 0, None)
        raw = CountedTable.of(
            table, anonymizer.schema.columns, study.hierarchies, study.data_format
        )
        task = anonymizer.task(raw.table, raw.hierarchies)
    return advise_counted(recoding, task, model=model, time_limit=time_limit)


def space_of(recoding: Generalization, task: Task) -> Space:
    """Return the lattice of a task, confined as its recoding is; refuse nothing as impossible."""
    recoding.budget.require_of_records()
    counted = task.counted
    objective = objective_for(task.objective)
    models = confined(task.models, recoding.bounds, counted.counts.records)
    fixed = node_of(recoding.levels, counted.taxonomies) if isinstance(recoding, Fixed) else None
    problem = Problem(counted.counts, counted.taxonomies, models, objective, recoding.budget)
    return Space(problem, task.run, fixed, counted.schema.person_numbers)
