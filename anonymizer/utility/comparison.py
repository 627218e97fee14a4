"""Recodings compared: each fitted on a random half of a table and evaluated on the other half.

What goes in: an ``Anonymizer`` or a study, a table, names of recodings, a sweep of parameters. What
comes out: a ``Comparison``; nothing is released.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from decimal import Decimal, InvalidOperation
from itertools import groupby, product
from math import prod
from numbers import Real
from typing import Any, cast

from anonymizer.counts.counting import Counted
from anonymizer.counts.counts import Counts
from anonymizer.errors import (
    AnonymizerError,
    InputError,
    PolicyUnreachableError,
    require_one_of,
    suggestion,
    whole_seed,
)
from anonymizer.feedback.document import Display, Displayed, Points, Table, in_a_line
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.feedback.words import plural
from anonymizer.information.entropy import mutual_information_miller_madow
from anonymizer.objectives import Objective
from anonymizer.privacy import TOLERANCE, PrivacyModel, Verdict, population_of
from anonymizer.recoding import Problem, Run, as_done
from anonymizer.recoding.apply import Evaluation
from anonymizer.recoding.best import Best
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.levels import Fixed
from anonymizer.recoding.recoding import Recoding
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.frames import table_of
from anonymizer.release.information import ceiling, lost
from anonymizer.release.relations import CountedTable
from anonymizer.release.request import RECODINGS, require_unrehearsed
from anonymizer.release.results import Result
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.files import Format
from anonymizer.tables.relations.relation import Relation

FITTING = "fitting recodings"

COMPARED = tuple(name for name, kind in RECODINGS.items() if issubclass(kind, Generalization))
"""Recodings that are searched for counts, so that they can be fitted to half of them."""

OWN = "search"
"""The option that no other recoding takes over: strategies that the one has, the other may lack."""


SweepPoint = Mapping[str, float]
"""The value of each parameter that is swept."""
Sweep = Mapping[str, Sequence[float]]
"""The values of each of them."""

MOST_FITS = 200
"""Fits beyond are refused before the first one begins."""


@dataclass(frozen=True)
class Half(Result):
    """Information in the records of one half, recoded, in bits.

    Where some are suppressed and left out it is that of the records that would be released.
    Records that the recoding has no class for, ``uncovered``, are evaluated as one class together.
    """

    derived = ("loss",)

    records: int
    classes: int  # that they fall in
    original: float  # I(X;W) of the raw quasi-identifiers
    ceiling: float  # the most that any recoding can keep under the policy
    retained: float  # I(X~;W) of the recoded ones: the plug-in estimate
    miller_madow: float  # the same, corrected for what small classes pretend
    uncovered: int
    satisfied: bool  # every model for every class
    broken: int  # classes that break a model
    records_broken: int  # records of these
    failing: tuple[str, ...] = ()  # models that these break

    @property
    def loss(self) -> float | None:
        """1 - retained / original; None, not determined, where there was nothing to lose."""
        return lost(self.retained, self.original)


@dataclass(frozen=True)
class Fit(Result):
    """A recoding that was fitted on one half."""

    recoding: str
    parameters: SweepPoint  # the swept ones of the policy
    objective: str  # what was maximised
    proven: bool  # whether no other recoding of its kind is better on the fitted half
    fitted: Half  # what it was chosen by
    held_out: Half  # the half that had no say in it
    needs: Mapping[str, float]  # options that would have kept the policy there: see ``needs``


def fit_of(
    recoding: Generalization,
    parameters: SweepPoint,
    problem: Problem,
    second: Counts,
    about: Sequence[str],
    seed: int,
    run: Run,
) -> Fit:
    """Choose a recoding on the half that a problem is about, and evaluate it on both.

    Information ``about`` several attributes is summed.
    """
    chosen, search = recoding.choose(problem, seed, run)
    first = Evaluation.of(problem, chosen)
    other = first.on(second)
    return Fit(
        recoding.name,
        parameters,
        problem.objective.name,
        search.proven,
        _half(first, about),
        _half(other, about),
        needs(recoding, first, other),
    )


def _half(half: Evaluation, about: Sequence[str]) -> Half:
    """Return the figures of a half under a recoding, as it would be released."""
    joint, failing = half.classes.joint, () if half.satisfied else half.verdicts
    return Half(
        records=half.problem.counts.records,
        classes=half.classes.occupied,
        original=half.original(about),
        ceiling=ceiling(half.raw, half.problem.models, about),
        retained=half.retained(about),
        miller_madow=sum(mutual_information_miller_madow(joint[name]) for name in about),
        uncovered=half.uncovered,
        satisfied=half.satisfied,
        broken=int(half.broken.sum()),
        records_broken=half.records_broken,
        failing=tuple(dict.fromkeys(each.model.name for each in failing if not each.satisfied)),
    )


def _of_table(verdict: Verdict) -> bool:
    """Whether a verdict is about a model of the table as a whole."""
    return not verdict.model.per_class


def needs(recoding: Generalization, fitted: Evaluation, other: Evaluation) -> Mapping[str, float]:
    """Return by option of a recoding the value that would have kept the policy held out.

    Each alone, of the recoding as it was fitted, and only options that it has; none where a model
    of the table as a whole is broken.
    """
    if other.satisfied or any(not each.satisfied for each in other.verdicts if _of_table(each)):
        return {}  # what the table as a whole breaks is no class's, and no option of classes mends
    found: dict[str, float | None] = {}
    if hasattr(recoding, "min_records") and not recoding.budget.share:
        found["min_records"] = other.min_records_needed(fitted)
    if hasattr(recoding, "suppression") and not recoding.bounds.requested:
        found["suppression"] = other.suppression_needed
    return {name: value for name, value in found.items() if value is not None}


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
        ceilings = [point.ceiling for point in self.points]
        low, high = min(ceilings), max(ceilings)
        span = f"{low:.4f}" if low == high else f"{low:.4f} to {high:.4f}"
        rows = [[*fit.parameters.values(), *_row(fit, self.is_best(fit))] for fit in self.fits]
        return Display(
            f"Comparison of {len({fit.recoding for fit in self.fits}):,} recodings",
            [
                Points([f"{each.recoding}: {each.reason}" for each in self.unfit[:3]], "warning"),
                f"Fitted on a half of {self.records:,} records, evaluated on the other; bits are "
                f"about {', '.join(self.about)}; the ceiling is {span}; * is best.",
                Table("Recodings", [*self.swept, *COLUMNS], rows),
            ],
        )

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
    require_unrehearsed(anonymizer.against, "a comparison shows")
    run, models = anonymizer.run(), anonymizer.models
    chosen = _chosen(anonymizer.chosen_recoding, recodings)
    objectives = {id(one): anonymizer.objective_for(one)[0] for one in chosen}
    for one in chosen:
        one.require_suitable(models, objectives[id(one)], replace(run, time_limit=None))
    swept = [(point, policy_at(models, point)) for point in points(sweep or {}, len(chosen))]
    raw = CountedTable.of(table, anonymizer.schema.columns, anonymizer.hierarchies, form)
    counted = Counted.of(raw.table, anonymizer.schema, raw.hierarchies, population_of(models))
    about = counted.schema.targets or counted.schema.sensitive
    if not about:
        raise InputError(
            "a comparison is about information: name a sensitive attribute, or a target"
        )
    seed = whole_seed(anonymizer.seed)
    tasks = [(one, point, policy, objectives[id(one)]) for point, policy in swept for one in chosen]
    halves = counted.halves(seed)
    others = {*table.columns} - {*counted.schema.left_out}
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
    """Fit each task, or say why not; progress is reported as they come.

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
    """List the recodings that are compared, each once."""
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
    """Return the recoding of a name, with the options that the given one has, too."""
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
    """Sort fits by point, then by what they keep on the half held out; ties: fewer classes."""

    def rank(fit: Fit) -> tuple[int, float, int]:
        kept = round(fit.held_out.miller_madow / TOLERANCE)
        return order.index(fit.parameters), -kept, fit.held_out.classes

    return tuple(sorted(fits, key=rank))


def sweep_of(texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """The values that texts such as ``t=0.3:0.9:0.1`` stand for: from, to and step, ends included.

    Counted in decimals, so that these are seven values, 0.3 and 0.9 among them.

    >>> sweep_of(["t=0.3:0.5:0.1", "k=2:10:4"])
    {'t': (0.3, 0.4, 0.5), 'k': (2, 6, 10)}

    Raises InputError when a text is none such, or a parameter is named twice.
    """
    sweep: dict[str, tuple[float, ...]] = {}
    for text in texts:
        name, equals, reach = text.partition("=")
        name = name.strip()
        if not name or not equals:
            raise _malformed(text)
        if name in sweep:
            raise InputError(f"sweep names {name!r} twice; state it once")
        sweep[name] = tuple(_values(text, reach))
    return sweep


def points(sweep: Sweep, times: int) -> list[dict[str, float]]:
    """List every combination of the values of a sweep, the last parameter running fastest.

    Raises InputError when there is none, or so many that fitting each ``times`` would take too
    long.
    """
    for name, values in sweep.items():
        if not isinstance(values, Sequence) or isinstance(values, str) or not values:
            raise InputError(f"sweep: {name!r} needs a list of values")
    fits = prod(len(values) for values in sweep.values()) * times
    if fits > MOST_FITS:
        raise InputError(
            f"the sweep asks for {fits:,} fits, and at most {MOST_FITS} are made; take larger "
            "steps, or name fewer recodings"
        )
    return [dict(zip(sweep, values, strict=True)) for values in product(*sweep.values())]


def policy_at(models: Sequence[PrivacyModel], point: SweepPoint) -> tuple[PrivacyModel, ...]:
    """Return the policy with some parameters changed, each in every model that has it.

    Raises InputError when no model has a parameter, or a model refuses a value.
    """
    known = {name for model in models for name in _numbers(model)}
    for name in point:
        if name not in known:
            hint = suggestion(name, sorted(known))
            raise InputError(f"sweep: no model of the policy has a parameter {name!r}{hint}")
    try:
        return tuple(
            replace(model, **{name: point[name] for name in _numbers(model) if name in point})  # type: ignore[type-var]
            for model in models
        )
    except InputError as error:
        raise InputError(f"sweep: {error}") from None


def _numbers(model: PrivacyModel) -> Iterator[str]:
    for field in fields(model):  # type: ignore[arg-type]
        value = getattr(model, field.name)
        if isinstance(value, Real) and not isinstance(value, bool):
            yield field.name


def _values(text: str, reach: str) -> Iterator[float]:
    """Yield the numbers from one to another by steps."""
    try:
        low, high, step = (Decimal(part.strip()) for part in reach.split(":"))
    except (ValueError, InvalidOperation):
        raise _malformed(text) from None
    if not (low.is_finite() and high.is_finite() and step.is_finite()):
        raise _malformed(text)
    if step <= 0 or high < low:
        raise InputError(f"sweep {text!r} must go up: from low to high by a step above 0")
    if high - low > MOST_FITS * step:
        raise InputError(f"sweep {text!r} has more than {MOST_FITS} values; take larger steps")
    for place in range(int((high - low) / step) + 1):
        number = low + place * step
        yield int(number) if number == int(number) else float(number)


def _malformed(text: str) -> InputError:
    return InputError(f"sweep {text!r} must be NAME=from:to:step, such as t=0.3:0.9:0.1")


COLUMNS = ("recoding", "bits fitted", "bits held out", "classes", "classes that fail", "holds")


def _row(fit: Fit, best: bool) -> list[object]:
    half = fit.held_out
    return [
        fit.recoding + (" *" if best else ""),
        f"{fit.fitted.retained:.4f}",
        f"{half.retained:.4f}",
        half.classes,
        half.broken,
        "yes" if half.satisfied else "NO",
    ]
