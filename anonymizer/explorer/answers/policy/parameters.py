"""The parameters of privacy models on a page: what they go through, and what they begin with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import ceil, floor, isfinite, log2, log10
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema
from anonymizer.errors import AnonymizerError, InputError
from anonymizer.explorer.answers.outcome import StudyOutcome, about_of
from anonymizer.explorer.answers.span import Span
from anonymizer.privacy import (
    ABOUT,
    MODELS,
    PrivacyModel,
    judged_classes,
    measures_of,
    over_persons,
)
from anonymizer.privacy.closeness import DISTANCES, TCloseness, is_ordered
from anonymizer.tables.engine import Tally

STEPS = 200
"""A slider goes through about so many numbers, or up to ten times as many."""

FIRST: Mapping[str, Mapping[str, object]] = {
    name: kind.start for name, kind in MODELS.items() if kind.start
}
"""What a model begins with that is added on the page; those of a file are not among them."""

IN_FILE = tuple(name for name in MODELS if name not in FIRST)
"""Models that need a file or levels chosen blindly, which only the study file says."""


def offered(schema: Schema) -> list[str]:
    """The models that can be added on the page: those that the roles of the columns allow."""
    return [name for name, given in FIRST.items() if _suits(MODELS[name](**given), schema)]


def _suits(model: PrivacyModel, schema: Schema) -> bool:
    try:
        over_persons([model], schema.person, schema.household, schema.person_numbers)
    except InputError:  # it counts persons where none are known, or records where they are
        return False
    return bool(schema.sensitive) or not model.sensitive


@dataclass(frozen=True)
class Parameter:
    """A parameter of a model next to its threshold.

    ``kind``: a ``number``, a ``whole`` one, a ``choice`` of ``options`` (each with its words), or
    what only the ``file`` of the study says.
    """

    name: str
    kind: Literal["number", "whole", "choice", "file"]
    value: object
    options: Mapping[str, str]


def parameters_of(model: PrivacyModel, raw: Counts | None = None) -> list[Parameter]:
    """The parameters of a model but its threshold and the attribute that it is about."""
    names = [each.name for each in fields(model)]  # type: ignore[arg-type]
    own = [name for name in names if name not in (*ABOUT, slid(model))]
    found = [_parameter(model, name, raw) for name in own]
    return [each for each in found if each is not None]


def slid(model: PrivacyModel) -> str:
    """The parameter that is the threshold; empty where it follows from others."""
    named = [each.name for each in fields(model)]  # type: ignore[arg-type]
    return model.bounded_by if model.bounded_by in named else ""


def _parameter(model: PrivacyModel, name: str, raw: Counts | None) -> Parameter | None:
    value = getattr(model, name)
    options = _options(model, name, raw)
    if options:
        return Parameter(name, "choice", value, options)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return Parameter(name, "whole" if model.is_whole(name) else "number", value, {})
    return Parameter(name, "file", "", {})


def _options(model: PrivacyModel, name: str, raw: Counts | None) -> Mapping[str, str]:
    if isinstance(model, TCloseness) and name == "distance":
        return {each: f"{each}: {DISTANCES[each]}" for each in _distances(model, raw)}
    return {each: each for each in model.choices(name)}


def _distances(model: TCloseness, raw: Counts | None) -> list[str]:
    """The distances that need nothing which only a file says."""
    found = ["kl", "equal"]
    names = () if raw is None else about_of(model, raw.sensitive)
    ordered = bool(names) and raw is not None and all(is_ordered(raw.about(n)) for n in names)
    if ordered or model.order is not None:
        found.append("ordered")
    return found if model.distance in found else [*found, model.distance]


def spans_of(models: Sequence[PrivacyModel], outcome: StudyOutcome) -> list[Span | None]:
    """The span of each model's threshold on a table; None where it has none of its own."""
    tally = None if outcome.counted is None else outcome.counted.tally
    return [span_of(model, outcome.raw, tally) for model in models]


def span_of(
    model: PrivacyModel, raw: Counts | None = None, tally: Tally | None = None
) -> Span | None:
    """The numbers that the threshold of a model goes through.

    Whole numbers stay whole, shares go to 1; of others the most is what the table as it is has, or
    where more is stricter what it has as one class. ``tally`` is the table that ``raw`` counts.
    """
    if not slid(model):
        return None
    if model.whole:
        return _whole_span(model, raw)
    most = 1.0 if not _takes(model, 1.001) else _most(model, raw, tally)
    step = 10.0 ** floor(log10(max(most, 0.01) / STEPS))
    low = next((each for each in (0.0, step) if _takes(model, each)), 1.0)
    rounded = floor if model.at_least and most >= model.threshold else ceil
    high = max(rounded(round(max(most, model.threshold) / step, 6)) * step, low + step)
    return Span(low, round(high, 10), step)


def _whole_span(model: PrivacyModel, raw: Counts | None) -> Span:
    """Up to the values that an attribute has, or to a round number of records."""
    if model.sensitive:
        most = 10 if raw is None else int(_as_one_class(model, raw))
        return Span(1, max(most, 2, model.threshold), 1)
    high = next(each for each in ROUND if each >= min(2 * model.threshold, ROUND[-1]))
    return Span(2, max(high, model.threshold), 1)


ROUND = (50, 500, 5_000, 50_000, 500_000, 5_000_000)
"""Records that a slider goes up to: at least twice as many as there have to be now."""


def _takes(model: PrivacyModel, value: float) -> bool:
    """Whether the threshold of a model may be a number."""
    try:
        replace(model, **{model.bounded_by: value})  # type: ignore[type-var]
    except InputError:
        return False
    return True


def _most(model: PrivacyModel, raw: Counts | None, tally: Tally | None) -> float:
    """The most that makes sense on a table, as far as it is known."""
    if raw is None:
        return max(2 * model.threshold, 1.0)
    try:
        most = _kept(model, raw, tally)
    except AnonymizerError:  # the policy does not fit the table, which the page says
        most = 1.0
    if model.unit == "ratio":
        most = min(most, next(each for each in RATIOS if each >= min(2 * model.threshold, 1e6)))
    return most


RATIOS = (10.0, 100.0, 1_000.0, 1e4, 1e5, 1e6)
"""How often more or less a slider of ratios goes to at the most."""

_KNOWN: "WeakKeyDictionary[Tally, dict[object, float]]" = WeakKeyDictionary()


def _kept(model: PrivacyModel, raw: Counts, tally: Tally | None) -> float:
    """The same, computed once for each table: it does not depend on the threshold."""
    known = {} if tally is None else _KNOWN.setdefault(tally, {})
    own = {key: each for key, each in model.parameters.items() if key != model.bounded_by}
    key = (model.name, model.attribute, str(own), raw.names, raw.sensitive)
    if key not in known:
        known[key] = _as_one_class(model, raw) if model.at_least else _as_it_is(model, raw)
    return known[key]


def _as_one_class(model: PrivacyModel, raw: Counts) -> float:
    """What a table has as a single class: the least of its attributes."""
    whole = raw.project(())
    found = [
        float(measures_of(model, judged_classes(model, whole, name))[0])
        for name in about_of(model, raw.sensitive)
    ]
    return min(found, default=1.0)


def _as_it_is(model: PrivacyModel, raw: Counts) -> float:
    """The largest finite measure of the finest classes, or of a class of the rarest value alone."""
    found = []
    for name in about_of(model, raw.sensitive):
        classes = judged_classes(model, raw, name).occupied
        values = measures_of(model, classes)
        finite = values[np.isfinite(values)]
        if len(finite):
            found.append(float(finite.max()))
        else:
            margin = classes.margin[classes.margin > 0]
            found.append(log2(margin.sum() / margin.min()))
    most = max(found, default=1.0)
    return most if isfinite(most) and most > 0 else 1.0
