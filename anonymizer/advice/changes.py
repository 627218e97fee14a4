"""Which records stand in the way of a policy, and what changes to a study would improve."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np

from anonymizer.advice.space import CONFINED, FoundRelease, Space, objective_of_rest
from anonymizer.counts.counts import Counts
from anonymizer.counts.persons import of_column
from anonymizer.errors import AnonymizerError, InputError, column_names
from anonymizer.objectives.attributes import AttributeWise
from anonymizer.privacy import (
    TOLERANCE,
    EventModel,
    LargestShare,
    PersonKAnonymity,
    PrivacyModel,
    attributes_of,
    holds,
    judged_classes,
    measures_of,
)
from anonymizer.recoding import Problem
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.lattice import Node
from anonymizer.recoding.levels import FullDomain
from anonymizer.release.results import Result

DIGITS = 3
"""Significant digits of a threshold that is proposed: what a study would say."""


@dataclass(frozen=True)
class Obstacle(Result):
    """Records in classes that break a model.

    Parameters
    ----------
    model, about
        The model, and the sensitive attribute that it is about; None: class sizes.
    threshold, worst
        What it requires, and the class that comes off worst; an infinite measure is None.
    finer
        The quasi-identifier that was made one level finer than in the best node; None where the
        most general levels are looked at that may be released.
    records, classes
        How many break it: all where it is about the table as a whole.
    """

    model: str
    about: str | None
    threshold: float
    worst: float | None
    finer: str | None
    records: int
    classes: int


def obstacles_at(
    counts: Counts, models: Sequence[PrivacyModel], finer: str | None = None
) -> Iterator[Obstacle]:
    """Find the models that some classes break, with their records."""
    for model in models:
        for about in attributes_of(model, counts.sensitive):
            classes = judged_classes(model, counts, about)
            broken = ~holds(model, classes)
            if not broken.any():
                continue
            worst = model.worst(measures_of(model, classes.occupied))
            named, known = of_column(about or "") or None, worst if isfinite(worst) else None
            records = int(counts.sizes[broken].sum()), int(broken.sum())
            yield Obstacle(model.name, named, model.threshold, known, finer, *records)


def with_looser(space: Space, place: int, looser: PrivacyModel) -> list[PrivacyModel]:
    """Return the policy with a looser model in a place.

    Where rows of a person are joined, k persons of a class, 1 / k of its records and k persons of
    a composition go together: a study that says one of them less strictly has the others so.
    """
    models, k = [*space.problem.models], _persons_of(looser)
    models[place] = looser
    if k is None or not space.numbered:
        return models
    for at, model in enumerate(models):
        if (_persons_of(model) or 0) > k:
            share = isinstance(model, LargestShare)
            models[at] = with_threshold(model, rounded_outward(model, 1 / k) if share else k)
    return models


def _persons_of(model: PrivacyModel) -> int | None:
    """The k that a model is about, in a class or a composition; None where it is about no k."""
    if isinstance(model, LargestShare):
        return ceil(1 / model.limit)
    return model.k if isinstance(model, PersonKAnonymity | EventModel) else None


def enough_alone(space: Space, place: int) -> list[PrivacyModel] | None:
    """Relax one model until the policy can be satisfied; None where it alone is not enough.

    To what the most general levels satisfy, once no more records than may be suppressed are left
    out there: the least that is enough where all models are monotone and nothing is suppressed.
    """
    models = list(space.problem.models)
    others = [*models[:place], *models[place + 1 :]]
    counts = space.at(space.highest)
    spare = space.problem.suppression.most(counts.records)
    fine = _acceptable(counts, others, spare)
    if fine is None:
        return None
    for budget in {spare, 0}:
        relaxed = at_worst(models[place], counts, fine, budget)
        if relaxed is None:
            continue
        policy = with_looser(space, place, relaxed)
        if space.under(policy).best() is not None:
            return policy
    return None


def enough_together(space: Space) -> list[PrivacyModel] | None:
    """Relax every model to what the most general levels satisfy; None where that is not enough.

    A model that they satisfy stays as it is.
    """
    counts = space.at(space.highest)
    everything = np.ones(len(counts), bool)
    relaxed: list[PrivacyModel] = []
    for model in space.problem.models:
        broken = list(obstacles_at(counts, [model]))
        found = at_worst(model, counts, everything, 0) if broken else model
        if found is None:
            return None
        relaxed.append(found)
    return relaxed if space.under(relaxed).best() is not None else None


def _acceptable(counts: Counts, models: Sequence[PrivacyModel], spare: int) -> np.ndarray | None:
    """Mark the classes that satisfy some models; None where more records than to spare do not."""
    fine = np.ones(len(counts), bool)
    for model in models:
        for about in attributes_of(model, counts.sensitive):
            fine &= holds(model, judged_classes(model, counts, about))
    return fine if int(counts.sizes[~fine].sum()) <= spare else None


def at_worst(
    model: PrivacyModel, counts: Counts, fine: np.ndarray, spare: int
) -> PrivacyModel | None:
    """Relax a model to what classes reach once ``spare`` records of the worst are left out.

    None where its parameter cannot say that.
    """
    relaxed: PrivacyModel | None = model
    for about in attributes_of(model, counts.sensitive):
        if relaxed is None:
            return None
        values = measures_of(model, judged_classes(model, counts, about).occupied)
        sizes = counts.about(None).occupied.sizes
        if model.per_class and len(values) == len(fine):
            values, sizes = values[fine], sizes[fine]
            order = np.argsort(values if model.at_least else -values)
            left = np.cumsum(sizes[order]) > max(spare - int(counts.sizes[~fine].sum()), 0)
            values = values[order][left]
        if len(values):
            relaxed = loosened(relaxed, model.worst(values))
    return relaxed


def loosened(model: PrivacyModel, worst: float) -> PrivacyModel | None:
    """Relax a model to the nearest threshold of few digits that accepts a measure.

    Itself where it accepts it as it is. None where no value of its parameter does.
    """
    if model.accepts(np.array([worst]))[0]:
        return model
    if not (model.bounded_by and isfinite(worst)):
        return None
    for steps in range(2):
        try:
            relaxed = with_threshold(model, rounded_outward(model, worst, steps))
        except InputError:
            return None
        if relaxed.accepts(np.array([worst]))[0]:
            return relaxed
    return None


def with_threshold(model: PrivacyModel, threshold: float) -> PrivacyModel:
    """Return the model with another threshold; InputError where its parameter cannot be that."""
    return replace(model, **{model.bounded_by: threshold})  # type: ignore[type-var]


def rounded_outward(model: PrivacyModel, value: float, steps: int = 0) -> float:
    """Round a value to ``DIGITS`` significant digits on the looser side, and some steps beyond."""
    if model.whole:
        return floor(value) - steps if model.at_least else ceil(value) + steps
    unit = 10.0 ** (floor(log10(abs(value))) - DIGITS + 1) if value else 10.0**-DIGITS
    if model.at_least:
        return round((floor(value / unit) - steps) * unit, 12)
    return round((ceil(value / unit) + steps) * unit, 12)


BUDGETS = 0.01, 0.05
"""Shares of the records whose suppression is tried."""

SHARES = 10_000
"""A budget is proposed in parts of so many."""

MOST = 3
"""Attributes that are named."""

NAMING = "refine", "group"
"""Options of recodings that list attributes."""


@dataclass(frozen=True)
class Parameter(Result):
    """One parameter of a model (or ``min-records``), as it is and as it would be."""

    model: str
    about: str | None
    parameter: str
    before: float
    after: float


@dataclass(frozen=True)
class Change(Result):
    """One change to a study, and the best recoding by levels under it.

    Parameters
    ----------
    kind
        ``"relax"`` models, ``"suppress"`` records, ``"remove"`` an attribute from the release (it
        is left out, or nobody who attacks knows it), ``"coarsen"`` an attribute to a least level
        (``min-level``), ``"allow"`` it to be as coarse as a level that its ``max-level`` forbids.
    settings
        What is relaxed.
    suppression
        The share of the records that may be suppressed.
    attribute, level
        The quasi-identifier that is removed, or its least level, or its highest.
    reachable
        Whether the policy can be satisfied then.
    levels
        The level of each quasi-identifier in the best node; empty where there is none.
    hidden
        The quasi-identifiers of which it says nothing.
    suppressed
        Records that it suppresses.
    retained
        I(X~;W) about the sensitive attributes or targets, summed, in bits; None without any.
    value
        The study's objective, in its unit: of the other quasi-identifiers where one is removed.
    free
        What the change frees, as a score: how much more the objective is under it. Where it is
        about an attribute, of the levels of all others, with nothing suppressed: how much more
        they score than in the best node without the change. None where there is none.
    before, after
        The objective of the release in hand, and that which the study's own recoding reaches under
        the change, in its unit; of the other quasi-identifiers where an objective of attributes
        loses one. None where it was not carried out, or improves nothing.
    """

    kind: str
    settings: tuple[Parameter, ...] = ()
    suppression: float | None = None
    attribute: str | None = None
    level: int | None = None
    reachable: bool = False
    levels: Mapping[str, int] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    suppressed: int = 0
    retained: float | None = None
    value: float | None = None
    free: float | None = None
    before: float | None = None
    after: float | None = None

    @property
    def text(self) -> str:
        """The change in few words."""
        if self.kind == "relax":
            return " and ".join(map(_said, self.settings))
        if self.kind == "suppress":
            return f"suppression = {self.suppression:g}"
        if self.kind == "remove":
            return f"leave {self.attribute} out"
        if self.kind == "allow":
            return f"{self.attribute} with max-level = {self.level}"
        return f"{self.attribute} at level {self.level} or coarser"

    derived = ("text",)


def ways_out(space: Space) -> Iterator[Change]:
    """Search for changes under which a policy out of reach can be satisfied.

    A coarser attribute or one less is no way out where the top of the lattice, which is above any
    such change, is searched already.
    """
    known: list[list[PrivacyModel]] = []
    for place in range(len(space.problem.models)):
        alone = enough_alone(space, place)
        if alone is not None and alone not in known:
            known.append(alone)
            yield _relaxed(space, alone)
    together = enough_together(space)
    if together is not None and together not in known:
        differing = zip(space.problem.models, together, strict=True)
        if sum(one is not other for one, other in differing) > 1:
            yield _relaxed(space, together)
    if not space.numbered:  # a person of whom some rows are missing shows by the rest
        yield from _enough_suppressed(space)
    yield from _enough_coarsened(space)
    if space.fixed is None:
        yield from _enough_allowed(space)


def _relaxed(space: Space, models: Sequence[PrivacyModel], score: float | None = None) -> Change:
    pairs = zip(space.problem.models, models, strict=True)
    differing = tuple(setting_of(*pair) for pair in pairs if pair[0] is not pair[1])
    change = Change("relax", differing)
    return _best_under(space.under(models), change, score)


def _suppressed(space: Space, share: float, score: float | None = None) -> Change:
    budget = replace(space.problem.suppression, share=share)
    under = space.under(space.problem.models, budget)
    return _best_under(under, Change("suppress", suppression=share), score)


def _best_under(space: Space, change: Change, score: float | None) -> Change:
    entry = space.best()
    if entry is None:
        return change
    return found_at(space, entry[2], change, None if score is None else entry[0] - score)


def setting_of(before: PrivacyModel, after: PrivacyModel) -> Parameter:
    """Return the parameter in which two models differ, with both values."""
    name = before.bounded_by
    old, new = (getattr(each, name) for each in (before, after))
    confines = before.name == "min-records"
    return Parameter(before.name, before.about, before.name if confines else name, old, new)


def _enough_suppressed(space: Space) -> Iterator[Change]:
    """Find the least budget that is enough at the most general levels, if any is."""
    records = space.problem.counts.records
    evaluator = space.problem.under(
        space.problem.models, replace(space.problem.suppression, share=(records - 1) / records)
    ).evaluator
    node = space.highest
    candidate = evaluator.candidate(node, evaluator.sets().at(node))
    if candidate is None or not candidate.records_suppressed:
        return
    share = ceil(candidate.records_suppressed / records * SHARES) / SHARES
    if share >= 1:
        return
    change = _suppressed(space, share)
    if change.reachable:
        yield change


def _enough_coarsened(space: Space) -> Iterator[Change]:
    """Find attributes to coarsen or to leave out, where levels are given or limited."""
    for name in space.names:
        if space.fixed is not None:
            for level in range(space.level(space.fixed, name) + 1, space.height(name) + 1):
                entry = space.best(space.from_level(name, level))
                if entry is not None:
                    change = Change("coarsen", attribute=name, level=level)
                    yield found_at(space, entry[2], change)
                    break
        hides = space.hides(name) and space.fixed is None
        if not hides and len(space.names) > 1:
            rest = space.without(name)
            entry = rest.best()
            if entry is not None:
                yield found_at(rest, entry[2], Change("remove", attribute=name))


def _enough_allowed(space: Space) -> Iterator[Change]:
    """Find the least ``max-level`` of each attribute that is coarse enough."""
    for name in space.names:
        for level in range(space.height(name) + 1, space.problem.taxonomies[name].height + 1):
            wider = space.allowing(name, level)
            entry = wider.best()
            if entry is not None:
                yield found_at(wider, entry[2], Change("allow", attribute=name, level=level))
                break


def freeing(space: Space, node: Node, relax: bool = True) -> Iterator[Change]:
    """Search what removing or coarsening each attribute frees, then what relaxing models does."""
    if len(space.names) > 1:
        for name in space.names:
            yield _removed(space, node, name)
    if space.confines:
        for name in space.names:
            coarsest = space.height(name) - space.hides(name)
            for level in range(space.level(node, name) + 1, coarsest + 1):
                yield _coarsened(space, node, name, level)
    if relax:
        yield from _loosened(space, node)


def freeing_most(changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the change that frees most of each of at most three attributes.

    Ties: the first listed, removal last. Attributes that free nothing are left out.
    """
    best: dict[str, Change] = {}
    for change in sorted(changes, key=lambda each: each.kind == "remove"):
        if change.attribute is None or change.free is None or change.free <= TOLERANCE:
            continue
        known = best.get(change.attribute)
        if known is None or change.free > (known.free or 0.0) + TOLERANCE:
            best[change.attribute] = change
    return tuple(sorted(best.values(), key=lambda each: -(each.free or 0.0))[:MOST])


def _removed(space: Space, node: Node, name: str) -> Change:
    """Find the best recoding without an attribute."""
    change, rest = Change("remove", attribute=name), space.without(name)
    if space.hides(name) and space.confines:
        entry = space.best(space.from_level(name, space.height(name)))
        found = None if entry is None else space.others(entry[2], name)
    else:
        entry = rest.best()
        found = None if entry is None else entry[2]
    if found is None:
        return change
    return found_at(rest, found, change, rest.plain(found) - space.rest(node, name))


def _coarsened(space: Space, node: Node, name: str, level: int) -> Change:
    """Find the best recoding with an attribute at a least level."""
    entry = space.best(space.from_level(name, level))
    change = Change("coarsen", attribute=name, level=level)
    if entry is None:
        return change
    free = space.rest(entry[2], name) - space.rest(node, name)
    return found_at(space, entry[2], change, free)


def _loosened(space: Space, node: Node) -> Iterator[Change]:
    """Relax every model by one step, and suppress a few records."""
    now = space.scored(node)
    score = None if now is None else now[0]
    models = list(space.problem.models)
    known: list[list[PrivacyModel]] = []
    for place, model in enumerate(models):
        looser = one_step(model)
        policy = None if looser is None else with_looser(space, place, looser)
        if policy is not None and policy not in known:
            known.append(policy)
            yield _relaxed(space, policy, score)
    for share in () if space.numbered else BUDGETS:
        if share > space.problem.suppression.share:
            yield _suppressed(space, share, score)


def one_step(model: PrivacyModel) -> PrivacyModel | None:
    """Return the model half as strict: half of k or of l - 1, twice t, beta or another upper bound.

    Never less than 2 records or values. None where it promises nothing already, or its parameter
    cannot be that.
    """
    given = getattr(model, model.bounded_by, None) if model.bounded_by else None
    if given is None:
        return None
    after: float
    if model.whole:
        after = max(min(2, int(given)), int(given) // 2)
    elif model.at_least:
        after = max(1.0, rounded_outward(model, (1 + given) / 2))
    else:
        after = rounded_outward(model, 2 * given)
    if after == given:
        return None
    try:
        return with_threshold(model, after)
    except InputError:
        return None


def found_at(space: Space, node: Node, change: Change, free: float | None = None) -> Change:
    """Return the change with a node that satisfies the policy under it."""
    candidate = space.candidate(node)
    found = space.evaluation(candidate)
    return replace(
        change,
        reachable=True,
        levels=dict(zip(space.names, node, strict=True)),
        hidden=space.starred(node),
        suppressed=found.suppressed,
        retained=found.retained(found.about) if found.about else None,
        value=space.quantity(space.problem.evaluator.objective.score(candidate)),
        free=free,
    )


def _said(setting: Parameter) -> str:
    about = f" about {setting.about}" if setting.about else ""
    owner = "" if setting.parameter == setting.model else f"{setting.model}{about} with "
    return f"{owner}{setting.parameter} = {setting.after:g} (not {setting.before:g})"


def improving(
    space: Space,
    recoding: Generalization,
    seed: int,
    found: FoundRelease,
    changes: Iterable[Change],
) -> Iterator[Change]:
    """Return the changes under which the recoding reaches a better objective than ``found``.

    TimeUpError when the time is up before all were carried out.
    """
    objective = space.problem.objective
    sign = 1 if objective.quantity(2.0, 1) > objective.quantity(1.0, 1) else -1
    for change in changes:
        with suppress(AnonymizerError):  # what cannot be carried out improves nothing
            before, after = _compared(space, recoding, seed, found, change)
            if before is not None and after is not None:
                gain = sign * (after - before)
                if gain > TOLERANCE:
                    yield replace(change, before=before, after=after)


def _compared(
    space: Space, recoding: Generalization, seed: int, found: FoundRelease, change: Change
) -> tuple[float | None, float | None]:
    """Compute the objective without and with a change; None where they do not compare.

    An objective of attributes is that of the others, where one is left out.
    """
    apart = change.kind == "remove" and isinstance(space.problem.objective, AttributeWise)
    if isinstance(recoding, FullDomain):
        return _others(space, found, change) if apart else found.value, change.value
    if apart or change.kind == "suppress":
        return None, None
    other, problem = _changed(space, recoding, change)
    return found.value, other.choose(problem, seed, space.run)[1].value


def _others(space: Space, found: FoundRelease, change: Change) -> float | None:
    rest = space.without(str(change.attribute))
    entry = rest.scored(tuple(found.levels[name] for name in rest.names))
    return None if entry is None else rest.quantity(entry[0])


def _changed(
    space: Space, recoding: Generalization, change: Change
) -> tuple[Generalization, Problem]:
    """Return the recoding and the problem of a study after a change."""
    models = [model for model in space.problem.models if not model.name.startswith(CONFINED)]
    if change.kind == "relax":
        # Two models may be about what reads alike: a column `a and b`, and a and b together.
        after = {(each.model, each.about, each.before): each.after for each in change.settings}
        keys = [(each.name, each.about, getattr(each, each.bounded_by, None)) for each in models]
        models = [
            with_threshold(model, after[key]) if key in after else model
            for model, key in zip(models, keys, strict=True)
        ]
    problem, name = space.problem.under(models), change.attribute
    if name is None:
        return recoding, problem
    known = problem.taxonomies
    if change.kind == "remove":
        left = {each: known[each] for each in space.names if each != name}
        objective = objective_of_rest(problem.objective, name)
        rest = replace(problem.project(tuple(left)), taxonomies=left, objective=objective)
        return _unnaming(recoding, name), rest
    limits = replace(known[name].limits, min_level=change.level or 0)
    return recoding, replace(
        problem, taxonomies={**known, name: replace(known[name], limits=limits)}
    )


def _unnaming(recoding: Generalization, name: str) -> Generalization:
    """Return the recoding without an attribute in its options."""
    options: dict[str, Any] = {}
    for key in NAMING:
        listed = getattr(recoding, key, None)
        if listed is not None:
            options[key] = [each for each in column_names(key, listed) if each != name]
    return replace(recoding, **options)  # type: ignore[type-var]
