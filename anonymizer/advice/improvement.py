"""Changes carried out by the study's own recoding, and compared with the release in hand."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from anonymizer.advice.changes import Change
from anonymizer.advice.found import CONFINED, FoundRelease
from anonymizer.advice.obstacles import with_threshold
from anonymizer.advice.space import Space, objective_of_rest
from anonymizer.errors import AnonymizerError, column_names
from anonymizer.objectives import Objective
from anonymizer.objectives.attributes import AttributeWise
from anonymizer.privacy import TOLERANCE
from anonymizer.recoding import Problem
from anonymizer.recoding.generalization import Generalization
from anonymizer.recoding.levels import FullDomain

NAMING = "refine", "group"
"""Options of recodings that list attributes."""


def improving(
    space: Space,
    recoding: Generalization,
    seed: int,
    found: FoundRelease,
    changes: Iterable[Change],
) -> Iterator[Change]:
    """Those changes under which the recoding reaches a better objective than it ``found``.

    TimeUpError when the time is up before all were carried out.
    """
    for change in changes:
        with suppress(AnonymizerError):  # what cannot be carried out improves nothing
            before, after = _compared(space, recoding, seed, found, change)
            if before is not None and after is not None:
                gain = after - before if _rises(space.problem.objective) else before - after
                if gain > TOLERANCE:
                    yield replace(change, before=before, after=after)


def _rises(objective: Objective) -> bool:
    """Whether the objective, in its unit, is the larger the better."""
    return objective.quantity(2.0, 1) > objective.quantity(1.0, 1)


def _compared(
    space: Space, recoding: Generalization, seed: int, found: FoundRelease, change: Change
) -> tuple[float | None, float | None]:
    """The objective of the release and that under a change; None where they do not compare.

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
    """The objective of the release about all attributes but the one that is left out."""
    rest = space.without(str(change.attribute))
    entry = rest.scored(tuple(found.levels[name] for name in rest.names))
    return None if entry is None else rest.quantity(entry[0])


def _changed(
    space: Space, recoding: Generalization, change: Change
) -> tuple[Generalization, Problem]:
    """The recoding and the problem of a study that was changed."""
    models = [model for model in space.problem.models if not model.name.startswith(CONFINED)]
    if change.kind == "relax":
        after = {(each.model, each.about): each.after for each in change.settings}
        models = [
            with_threshold(model, after[key]) if (key := (model.name, model.attribute)) in after
            else model
            for model in models
        ]  # fmt: skip
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
    """The recoding without an attribute in its options."""
    options: dict[str, Any] = {}
    for key in NAMING:
        listed = getattr(recoding, key, None)
        if listed is not None:
            options[key] = [each for each in column_names(key, listed) if each != name]
    return replace(recoding, **options)  # type: ignore[type-var]
