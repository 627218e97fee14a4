"""Each model of a policy in sentences: what it promises, and how the worst class comes off now."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from anonymizer.counts.persons import Attribute, of_column
from anonymizer.counts.schema import Schema
from anonymizer.explorer.answers.classes import NamedClass, named_class
from anonymizer.explorer.answers.outcome import StudyOutcome, about_of
from anonymizer.feedback.words import (
    bits,
    count,
    listed,
    number,
    of_records,
    plural,
    sentence,
    share,
)
from anonymizer.privacy import PrivacyModel, Wording


@dataclass(frozen=True)
class ModelCondition:
    """A model about one attribute, as the classes come off now.

    Parameters
    ----------
    place
        That of the model in the policy.
    attribute
        The sensitive attribute; None where the model is about class sizes.
    measured, limit
        What the worst class has, and what the model allows, in words.
    guess
        How surely a value of the attribute can be guessed now; empty where there is none.
    classes, broken_classes, broken_records
        Classes that are judged, those of them that break the model, and their records.
    worst
        The class that comes off worst; None where the table is measured as a whole.
    """

    place: int
    attribute: str | None
    measured: str
    limit: str
    guess: str
    classes: int
    broken_classes: int
    broken_records: int
    worst: NamedClass | None

    @property
    def holds(self) -> bool:
        """Whether every class satisfies the model."""
        return not self.broken_classes

    @property
    def verdict(self) -> str:
        """How many classes break the model, in words."""
        if self.worst is None:
            return "✓ The table satisfies it." if self.holds else "✗ The table breaks it."
        if self.holds:
            return f"✓ {_all(self.classes)}."
        broken = plural(self.broken_classes, "class breaks", "classes break")
        records = plural(self.broken_records, "record")
        return f"✗ {broken} it, of {count(self.classes)}, with {records}."


def promise_of(model: PrivacyModel, schema: Schema) -> str:
    """What a model promises about each attribute in turn: of records, as people may have several.

    Of people where a column tells them.
    """
    names = about_of(model, schema.sensitive) or ["the sensitive attribute"]
    wording = _wording(model)
    return " ".join(
        _said(wording.promise, _places(model, name, schema.quasi_identifiers), schema)
        for name in names
    )


def left_open(model: PrivacyModel, schema: Schema) -> str:
    """What a model does not protect from."""
    names = about_of(model, schema.sensitive) or ["the sensitive attribute"]
    places = _places(model, names[0], schema.quasi_identifiers)
    return sentence(_wording(model).leaves_open, places)


def limit_of(model: PrivacyModel) -> str:
    """What a model allows of what it measures, in words with the unit.

    >>> from anonymizer.privacy import KAnonymity
    >>> limit_of(KAnonymity(5))
    'at least 5 records'
    """
    if model.allowed:
        return sentence(model.allowed, model.parameters)
    return f"{'at least' if model.at_least else 'at most'} {_in_unit(model, model.threshold)}"


def unit_of(model: PrivacyModel) -> str:
    """The unit of a model's threshold, as a slider names it."""
    unit = model.threshold_unit
    return f"{unit} from 0 to 1" if unit in ("share", "probability") else unit


def conditions_of(outcome: StudyOutcome) -> list[ModelCondition]:
    """Every model of the policy about every attribute, held against the classes of now.

    None where there are no classes: the study cannot be carried out, or the policy is out of reach.
    """
    if outcome.counts is None or outcome.plan is None:
        return []
    return [
        each
        for place, model in enumerate(outcome.plan.models)
        for each in _conditions(outcome, place, model)
    ]


def _conditions(outcome: StudyOutcome, place: int, model: PrivacyModel) -> Iterator[ModelCondition]:
    evaluation, plan = outcome.evaluation, outcome.plan
    assert evaluation is not None
    assert plan is not None
    counts = evaluation.classes
    for name in about_of(model, counts.sensitive):
        places, values = evaluation.measured(model, name)
        broken, sizes = ~model.accepts(values), counts.sizes[places]
        worst = model.worst(values)
        first = np.argmax(values == worst)
        yield ModelCondition(
            place,
            None if name is None else of_column(name),
            _measured(model, name, worst, plan.schema),
            limit_of(model),
            _guess(outcome, name),
            len(sizes),
            int(broken.sum()) if model.per_class else int(broken.any()) * len(sizes),
            int(sizes[broken].sum()) if model.per_class else int(broken.any()) * int(sizes.sum()),
            named_class(outcome, int(places[first])) if model.per_class else None,
        )


def _guess(outcome: StudyOutcome, attribute: Attribute | None) -> str:
    if not isinstance(attribute, str):
        return ""
    found = outcome.disclosures[attribute]
    return (
        f"Nobody's “{attribute}” can be guessed from a class with more than {share(found.worst)}; "
        f"without any class it is {share(found.prior)}."
    )


def _measured(
    model: PrivacyModel, attribute: Attribute | None, worst: float, schema: Schema
) -> str:
    if not isfinite(worst):
        return model.endless
    places = {**_places(model, attribute, schema.quasi_identifiers), "worst": worst}
    return _said(_wording(model).measured, places, schema)


def _said(wording: str, places: Mapping[str, Any], schema: Schema) -> str:
    """A sentence about people where a column tells them, and else about records."""
    found = sentence(wording, places)
    return found if schema.person else of_records(found)


def _wording(model: PrivacyModel) -> Wording:
    """The sentences of a model; those of one that has none are its condition."""
    plain = f"{model.condition} holds.".replace("{", "{{").replace("}", "}}").replace("\\", "")
    return model.wording_of(model.parameters) or Wording(plain, "The worst is {worst:number}.", "")


def _places(
    model: PrivacyModel, attribute: Attribute | None, shared: tuple[str, ...]
) -> Mapping[str, Any]:
    return {**model.parameters, "shared": listed(shared), "attribute": of_column(attribute or "")}


def _in_unit(model: PrivacyModel, value: float) -> str:
    match unit_of(model).split(" ")[0]:
        case "records" | "persons" as unit:
            return plural(value, unit.removesuffix("s"))
        case "bits":
            return bits(value)
        case "share" | "probability":
            return share(value)
        case "values":
            shown = count(value) if model.whole else number(value)
            return f"{shown} {'value' if value == 1 else 'values'}"
    return number(value)


def _all(classes: int) -> str:
    return (
        "The only class satisfies it"
        if classes == 1
        else f"All {count(classes)} classes satisfy it"
    )
