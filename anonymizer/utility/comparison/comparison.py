"""Every recoding under every point of a sweep, fitted and evaluated on random halves."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any, cast

from anonymizer.counts.counting import Counted
from anonymizer.counts.counts import Counts
from anonymizer.errors import (
    AnonymizerError,
    InputError,
    PolicyUnreachableError,
    require_one_of,
    whole_seed,
)
from anonymizer.feedback.display import Display, Displayed, in_a_line
from anonymizer.feedback.words import plural
from anonymizer.objectives import Objective
from anonymizer.privacy import TOLERANCE, PrivacyModel, population_of
from anonymizer.recoding import Run, Watch, as_done, ignore
from anonymizer.recoding.best import Best
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.levels import Fixed
from anonymizer.recoding.recoding import Recoding
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.estimator.frames import table_of
from anonymizer.release.information import ceiling
from anonymizer.release.recodings import RECODINGS
from anonymizer.release.relations import tallied_for
from anonymizer.release.results import Result
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.files import Format
from anonymizer.tables.relations.relation import Relation
from anonymizer.utility.comparison.halves import Fit, fit_of
from anonymizer.utility.comparison.sweep import Sweep, SweepPoint, points, policy_at

FITTING = "fitting recodings"

COMPARED = tuple(name for name, kind in RECODINGS.items() if issubclass(kind, Generalization))
"""Recodings that are searched for counts, so that they can be fitted to half of them."""

OWN = "search"
"""The option that no other recoding takes over: strategies that the one has, the other may lack."""


@dataclass(frozen=True)
class Unfit:
    """A recoding that could not be fitted, and why."""

    recoding: str
    parameters: SweepPoint
    reason: str


@dataclass(frozen=True)
class SweptPoint(Result):
    """A policy of a sweep: what no recoding can keep more than, and which one is best under it.

    ``ceiling`` is in bits, of the records held out. ``best`` is None where no recoding that was
    fitted holds the policy on them.
    """

    parameters: SweepPoint
    ceiling: float
    best: str | None


@dataclass(frozen=True, repr=False)
class Comparison(Displayed, Result):
    """Recodings side by side.

    Parameters
    ----------
    records
        The records that were admitted.
    seed
        Of the halves.
    about
        The attributes that information is about: summed over the targets, where there are any,
        else over the sensitive attributes.
    swept
        The parameters that were swept.
    fits
        What could be fitted: point by point of the sweep, at each the one that keeps most first.
    unfit
        What could not.
    points
        Each policy of the sweep, with its ceiling; one where nothing was swept.
    """

    records: int
    seed: int
    about: tuple[str, ...]
    swept: tuple[str, ...]
    fits: tuple[Fit, ...]
    unfit: tuple[Unfit, ...]
    points: tuple[SweptPoint, ...]

    def __repr__(self) -> str:
        recodings = {fit.recoding for fit in self.fits}
        best = sorted({fit.recoding for fit in self.best})
        return in_a_line(
            self,
            plural(len(recodings), "recoding"),
            f"{len(self.points):,} policies" if self.swept else "",
            f"best {' and '.join(best)}" if best else "none holds",
        )

    def display(self) -> Display:
        """A row for each fit."""
        from anonymizer.utility.comparison.display import of_comparison

        return of_comparison(self)

    @property
    def best(self) -> tuple[Fit, ...]:
        """The fit of each point that keeps most on the half held out, corrected.

        Of those that hold the policy there; where none does, the point has no best.
        """
        holding = [fit for fit in self.fits if fit.held_out.satisfied]
        alike = groupby(holding, key=lambda fit: fit.parameters)
        return tuple(next(fits) for _, fits in alike)

    def nearest(self, point: SweptPoint) -> Fit | None:
        """The fit under a policy that the fewest records held out are in breach of.

        None where nothing could be fitted.
        """
        alike = [fit for fit in self.fits if fit.parameters == point.parameters]
        return min(alike, key=lambda fit: fit.held_out.records_broken, default=None)

    def is_best(self, fit: Fit) -> bool:
        """Whether a fit is the best of its point."""
        return any(fit is best for best in self.best)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON has it: each fit with whether it is the best of its point."""
        fits = [{**fit.to_dict(), "best": self.is_best(fit)} for fit in self.fits]
        return {**super().to_dict(), "fits": fits}


def compare(
    anonymizer: Anonymizer,
    table: Any,
    *,
    recodings: str | Sequence[str | Recoding] | None = None,
    sweep: Sweep | None = None,
) -> Comparison:
    """Fit every recoding on a random half of a table and evaluate it on the other half.

    The halves depend on the seed alone, not on the order of the records. A half is held against the
    policy as it stands, although it has half the records: k records are as hard to find in it as
    2 k are in the table. Nothing is released.

    Parameters
    ----------
    anonymizer
        What is requested; its ``recoding`` is replaced by each that is compared, which takes over
        the options that both have. Its ``seed`` draws the halves, ``n_jobs`` fits are made at once,
        and ``progress`` is called with them.
    table
        The table: a DataFrame of pandas or Polars, say, as ``Anonymizer.fit`` takes it.
    recodings
        Names, or recodings with their options; when left out all, ``"fixed"`` if it is the given
        one.
    sweep
        By parameter of the policy's models the values it takes; all combinations are fitted.

    Raises
    ------
    InputError
        When table and parameters do not fit together, or no recoding can be fitted for such a
        reason.
    """
    return _compared(anonymizer, table_of(table), None, recodings, sweep)


def _compared(
    anonymizer: Anonymizer,
    table: engine.Table | Relation,
    form: Format | None,
    recodings: str | Sequence[str | Recoding] | None,
    sweep: Sweep | None,
) -> Comparison:
    """As ``compare``; ``form``: how a table lies in a file."""
    run, models = anonymizer.run(), anonymizer.models
    chosen = _chosen(anonymizer.chosen_recoding, recodings)
    objectives = {id(one): anonymizer.objective_for(one)[0] for one in chosen}
    for one in chosen:
        one.require_suitable(models, objectives[id(one)], replace(run, time_limit=None))
    swept = [(point, policy_at(models, point)) for point in points(sweep or {}, len(chosen))]
    tallied, hierarchies = tallied_for(anonymizer, table, form)
    counted = Counted.of(tallied, anonymizer.schema, hierarchies, population_of(models))
    about = counted.schema.targets or counted.schema.sensitive
    if not about:
        raise InputError(
            "a comparison is about information: name a sensitive attribute, or a target"
        )
    seed = whole_seed(anonymizer.seed)
    tasks = [(one, point, policy, objectives[id(one)]) for point, policy in swept for one in chosen]
    halves = counted.halves(seed)
    others = {*table.columns} - {*counted.schema.identifiers}
    outcomes = _attempts(counted, halves, others, tasks, about, seed, run)
    fits = [fit for fit in outcomes if isinstance(fit, Fit)]
    errors = [error for error in outcomes if isinstance(error, AnonymizerError)]
    if not fits and all(isinstance(error, InputError) for error in errors):
        raise InputError(f"no recoding can be fitted to a half of the table: {errors[0]}")
    ranked = _ranked(fits, [point for point, _ in swept])
    return Comparison(
        records=engine.records(counted.kept),
        seed=seed,
        about=about,
        swept=tuple(sweep or {}),
        fits=ranked,
        unfit=tuple(
            Unfit(one.name, point, str(error))
            for (one, point, *_), error in zip(tasks, outcomes, strict=True)
            if isinstance(error, AnonymizerError)
        ),
        points=tuple(
            SweptPoint(point, ceiling(halves[1], policy, about), _best_at(point, ranked))
            for point, policy in swept
        ),
    )


def _best_at(point: SweepPoint, ranked: Sequence[Fit]) -> str | None:
    """The first of some ranked fits that holds a policy on the half held out."""
    holding = (fit for fit in ranked if fit.parameters == point and fit.held_out.satisfied)
    first = next(holding, None)
    return None if first is None else first.recoding


def _attempts(
    counted: Counted,
    halves: tuple[Counts, Counts],
    columns: Set[object],
    tasks: Sequence[tuple[Generalization, SweepPoint, Sequence[PrivacyModel], Objective]],
    about: Sequence[str],
    seed: int,
    run: Run,
) -> list[Fit | AnonymizerError]:
    """For each task a fit, or why there is none; progress is reported as they come.

    ``columns``: those of the table that a release keeps.
    """
    first, second = halves
    alone = Run(None, run.time_limit)

    def attempt(
        recoding: Generalization,
        point: SweepPoint,
        policy: Sequence[PrivacyModel],
        objective: Objective,
    ) -> Fit | AnonymizerError:
        try:
            recoding.require_room(columns)
            problem = recoding.problem(first, counted.taxonomies, policy, objective)
            return fit_of(recoding, point, problem, second, about, seed, alone)
        except (InputError, PolicyUnreachableError) as error:
            return error

    run.watch(FITTING, 0, len(tasks))
    found: list[Fit | AnonymizerError] = []
    for outcome in as_done(attempt, tasks, run.n_jobs):
        found.append(outcome)
        run.watch(FITTING, len(found), len(tasks))
    return found


def compare_study(
    study: Study,
    *,
    seed: int | None = None,
    n_jobs: int | None = None,
    watch: Watch = ignore,
    recodings: Sequence[str] | None = None,
    sweep: Sweep | None = None,
) -> Comparison:
    """Compare recodings of a study's table; its seed unless another is given.

    Raises InputError when the study cannot be carried out; see ``compare``.
    """
    anonymizer = study.anonymizer(n_jobs, watch)
    if seed is not None:
        anonymizer.set_params(seed=seed)
    with study.opened(watch) as table:
        watch("counting the table", 0, None)
        return _compared(anonymizer, table, study.data_format, recodings, sweep)


def _chosen(
    given: Recoding, requested: str | Sequence[str | Recoding] | None
) -> list[Generalization]:
    """The recodings that are compared, each once."""
    if isinstance(given, Best):
        requested = given.recodings if requested is None else requested
        given = given.candidates[0]
    if not isinstance(given, Generalization):
        raise InputError(
            "a comparison is about recodings that are searched for counts, and "
            f"{given.name!r} is not: choose another recoding to start from"
        )
    if requested is None:
        requested = [name for name in COMPARED if name != Fixed.name or name == given.name]
    elif isinstance(requested, str):
        requested = [requested]
    if not requested:
        raise InputError("recodings is empty: name those to compare, or leave it out")
    found: list[Generalization] = []
    for one in requested:
        recoding = one if isinstance(one, Generalization) else _under(given, one)
        if recoding not in found:  # levels of a recoding cannot be hashed
            found.append(recoding)
    return found


def _under(given: Generalization, name: object) -> Generalization:
    """The recoding of a name, with the options that the given one has, too."""
    require_one_of("recoding", name, COMPARED)
    kind = RECODINGS[str(name)]
    if type(given) is kind:
        return given
    if kind is Fixed:
        raise InputError("a comparison with recoding 'fixed' starts from it: give its levels")
    own, other = ({each.name for each in fields(one)} for one in (given, kind))  # type: ignore[arg-type]
    shared = {name: getattr(given, name) for name in (own & other) - {OWN}}
    return cast(Generalization, kind(**shared))


def _ranked(fits: Sequence[Fit], order: Sequence[SweepPoint]) -> tuple[Fit, ...]:
    """Point by point, those that keep most on the half held out first; ties: fewer classes."""

    def rank(fit: Fit) -> tuple[int, float, int]:
        kept = round(fit.held_out.miller_madow / TOLERANCE)
        return order.index(fit.parameters), -kept, fit.held_out.classes

    return tuple(sorted(fits, key=rank))
