"""The policy of a manifest compared with that of a study, model by model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from anonymizer.privacy import MODELS, PrivacyModel
from anonymizer.release.verification.check import ABSENT, FieldCheck, at, required, said, same

Reported = Mapping[str, Any]
"""A verdict of a manifest as JSON has it."""


def policies(reported: Sequence[Reported], models: Sequence[PrivacyModel]) -> Iterator[FieldCheck]:
    """For every model of a study whether the release promises the same, more or less.

    ``models``: those of the study, each about one attribute.
    """
    left = dict(enumerate(reported))
    for number, model in enumerate(models):
        place = next((place for place, each in left.items() if _is_about(each, model)), None)
        if place is None:
            words = f"requires {_named(model)}, the release promises nothing of it: it is WEAKER"
            yield required(f"privacy.study.{number}", False, "", words, "study")
        else:
            yield _compared(f"privacy.{place}", left.pop(place)["parameters"], model)
    for place, each in left.items():
        words = f"requires no {each['model']}: the release promises more, or is another one"
        yield required(f"privacy.{place}", False, "", words, "study")


def described(model: PrivacyModel) -> dict[str, Any]:
    """What a manifest says of a model."""
    return {
        "model": model.name,
        "attribute": model.attribute if model.sensitive else None,
        "parameters": model.parameters,
    }


def _is_about(reported: Reported, model: PrivacyModel) -> bool:
    own = described(model)
    return all(reported[name] == own[name] for name in ("model", "attribute"))


def _named(model: PrivacyModel) -> str:
    own = described(model)
    about = "" if own["attribute"] is None else f" about {own['attribute']!r}"
    return f"{own['model']}{about}"


def _compared(field: str, own: Mapping[str, Any], model: PrivacyModel) -> FieldCheck:
    wanted = model.parameters
    names = [name for name in {**wanted, **own} if not same(at(own, name), at(wanted, name))]
    if not names:
        return FieldCheck(field, "study", True)
    given = {each.name for each in fields(MODELS[model.name])}  # type: ignore[arg-type]
    shown = [name for name in names if name in given] or names  # others follow from these
    ways = {_way(model, name, at(own, name), at(wanted, name)) for name in shown}
    way = ways.pop() if len(ways) == 1 else "ANOTHER"
    promised = ", ".join(f"{name} = {said(at(own, name))}" for name in shown)
    needed = ", ".join(f"{name} = {said(at(wanted, name))}" for name in shown)
    words = f"requires {_named(model)} with {needed}, the release promises {promised}: it is {way}"
    return required(field, False, "", words, "study")


def _way(model: PrivacyModel, name: str, own: Any, wanted: Any) -> str:
    """Compare a parameter of a release with the one required: stricter, or weaker."""
    numbers = all(isinstance(each, int | float) for each in (own, wanted))
    up = model.is_larger_stricter(name)
    if not numbers or ABSENT in (own, wanted) or up is None:
        return "ANOTHER"
    return "stricter" if bool(own > wanted) == up else "WEAKER"
