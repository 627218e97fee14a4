"""Changes to a study, and what each would free: computed by searching the counts under each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from anonymizer.advice.obstacles import (
    enough_alone,
    enough_together,
    rounded_outward,
    with_threshold,
)
from anonymizer.advice.space import Space
from anonymizer.errors import InputError
from anonymizer.privacy import TOLERANCE, PrivacyModel
from anonymizer.recoding.lattice import Node
from anonymizer.release.results import Result

BUDGETS = 0.01, 0.05
"""Shares of the records whose suppression is tried."""

SHARES = 10_000
"""A budget is proposed in parts of so many."""

MOST = 3
"""Attributes that are named."""


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
        """What is changed, in few words."""
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
    """What would let a policy be satisfied that is out of reach; each verified by a search.

    A coarser attribute or one less is no way out where the top of the lattice, which is above any
    such change, is searched already.
    """
    for place, model in enumerate(space.problem.models):
        relaxed = enough_alone(space, place)
        if relaxed is not None:
            models = [*space.problem.models]
            models[place] = relaxed
            yield _relaxed(space, [(model, relaxed)], models)
    together = enough_together(space)
    if together is not None:
        pairs = list(zip(space.problem.models, together, strict=True))
        differing = [pair for pair in pairs if pair[0] is not pair[1]]
        if len(differing) > 1:
            yield _relaxed(space, differing, together)
    yield from _enough_suppressed(space)
    yield from _enough_coarsened(space)
    if space.fixed is None:
        yield from _enough_allowed(space)


def _relaxed(
    space: Space,
    pairs: Sequence[tuple[PrivacyModel, PrivacyModel]],
    models: Sequence[PrivacyModel],
    score: float | None = None,
) -> Change:
    """Some models relaxed; ``score``: what the best node without that scores."""
    change = Change("relax", tuple(setting_of(*pair) for pair in pairs))
    return _best_under(space.under(models), change, score)


def _suppressed(space: Space, share: float, score: float | None = None) -> Change:
    """So many records suppressed."""
    budget = replace(space.problem.suppression, share=share)
    under = space.under(space.problem.models, budget)
    return _best_under(under, Change("suppress", suppression=share), score)


def _best_under(space: Space, change: Change, score: float | None) -> Change:
    """The change with the best node of a space, and how much more than a score that scores."""
    entry = space.best()
    if entry is None:
        return change
    return found_at(space, entry[2], change, None if score is None else entry[0] - score)


def setting_of(before: PrivacyModel, after: PrivacyModel) -> Parameter:
    """The parameter in which two models differ, and both its values."""
    name = before.bounded_by
    old, new = (getattr(each, name) for each in (before, after))
    confines = before.name == "min-records"
    return Parameter(before.name, before.attribute, before.name if confines else name, old, new)


def _enough_suppressed(space: Space) -> Iterator[Change]:
    """The least budget at the most general levels, if any share of the records is enough there."""
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
    """Attributes that have to be coarser, or to go, where levels are given or limited."""
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
    """Attributes that may not be coarse enough: the least ``max-level`` that is."""
    for name in space.names:
        for level in range(space.height(name) + 1, space.problem.taxonomies[name].height + 1):
            wider = space.allowing(name, level)
            entry = wider.best()
            if entry is not None:
                yield found_at(wider, entry[2], Change("allow", attribute=name, level=level))
                break


def freeing(space: Space, node: Node, relax: bool = True) -> Iterator[Change]:
    """What removing or coarsening each attribute frees, removals first, then relaxed models."""
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
    """Of at most three attributes the change that frees most; ties: the first listed, removal last.

    Attributes that free nothing are left out.
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
    """The best recoding without an attribute: that at whose highest level it says nothing."""
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
    """The best recoding with an attribute at a least level."""
    entry = space.best(space.from_level(name, level))
    change = Change("coarsen", attribute=name, level=level)
    if entry is None:
        return change
    free = space.rest(entry[2], name) - space.rest(node, name)
    return found_at(space, entry[2], change, free)


def _loosened(space: Space, node: Node) -> Iterator[Change]:
    """Every model relaxed by one step, and a few records suppressed."""
    now = space.scored(node)
    score = None if now is None else now[0]
    models = list(space.problem.models)
    for place, model in enumerate(models):
        looser = one_step(model)
        if looser is not None:
            policy = [*models[:place], looser, *models[place + 1 :]]
            yield _relaxed(space, [(model, looser)], policy, score)
    for share in BUDGETS:
        if share > space.problem.suppression.share:
            yield _suppressed(space, share, score)


def one_step(model: PrivacyModel) -> PrivacyModel | None:
    """The model half as strict: half of k or of l - 1, twice t, beta or what it bounds from above.

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
    """The change with a node that satisfies the policy under it."""
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
