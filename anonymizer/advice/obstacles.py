"""Which records stand in the way of a policy: of which model, about which attribute, and where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, isfinite, log10

import numpy as np

from anonymizer.advice.space import Space
from anonymizer.counts.counts import Counts
from anonymizer.errors import InputError
from anonymizer.privacy import PrivacyModel, attributes_of, holds, measures_of
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
            classes = counts.about(about)
            broken = ~holds(model, classes)
            if not broken.any():
                continue
            worst = model.worst(measures_of(model, classes.occupied))
            yield Obstacle(
                model.name,
                about,
                model.threshold,
                worst if isfinite(worst) else None,
                finer,
                int(counts.sizes[broken].sum()),
                int(broken.sum()),
            )


def enough_alone(space: Space, place: int) -> PrivacyModel | None:
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
        policy = [*models[:place], relaxed, *models[place + 1 :]]
        if space.under(policy).best() is not None:
            return relaxed
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
            fine &= holds(model, counts.about(about))
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
        classes = counts.about(about)
        values = measures_of(model, classes.occupied)
        sizes = classes.occupied.sizes
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
