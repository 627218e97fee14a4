"""Changes of a study's policy that take several keys: another objective, and what was advised."""

from collections.abc import Mapping
from dataclasses import fields
from inspect import signature

from anonymizer.advice import Change, Parameter
from anonymizer.explorer.session.contents import (
    Content,
    method_of,
    options_of,
    with_model,
    with_parameter,
    with_recoding,
    with_role,
    with_rule,
    with_suppression,
)
from anonymizer.objectives import AUTOMATIC, OBJECTIVES
from anonymizer.privacy import KAnonymity, LargestShare, PersonKAnonymity, PrivacyModel
from anonymizer.release.request import RECODINGS

NEEDED: Mapping[str, str] = {"order": "ordered", "hierarchy": "hierarchical"}
"""Parameters of t-closeness that one distance alone has."""


STANDS_FOR: Mapping[str, tuple[str, ...]] = {
    PersonKAnonymity.name: (PersonKAnonymity.name, KAnonymity.name)
}
"""What a study may call a model of persons."""


def with_own_section(content: Content, place: int, model: PrivacyModel) -> Content:
    """The content with a section for a model of the policy, by its place, that has none as it is.

    Where persons have several records a model may follow from others, or from one of records with
    another parameter.
    """
    sections, own = content["privacy"], {"model": model.name, **model.parameters}
    if place >= len(sections):
        sections.append(own)
    elif sections[place]["model"] != model.name and model.bounded_by not in sections[place]:
        sections[place] = own
    return content


def suppresses(method: str) -> bool:
    """Whether a recoding knows a share of the records that may be suppressed."""
    return "suppression" in {each.name for each in fields(RECODINGS[method])}  # type: ignore[arg-type]


def with_choice(content: Content, place: int, parameter: str, value: object) -> Content:
    """Another parameter of a model; what was for another distance is left out, as is None."""
    section = content["privacy"][place]
    section[parameter] = value
    if parameter == "distance":
        for key, distance in NEEDED.items():
            if value != distance:
                section.pop(key, None)
    if value is None:
        del section[parameter]
    return content


def with_goal(content: Content, goal: str) -> Content:
    """Another objective; its options that the other knows as well stay."""
    options = dict(content.pop("objective", {}))
    before = options.pop("name", AUTOMATIC)
    known = {"target"} if goal == AUTOMATIC else {*signature(OBJECTIVES[goal]).parameters}
    if "target" in known:
        known.add("targets")
    if goal == AUTOMATIC or before == AUTOMATIC or not _weighs_alike(before, goal):
        known.discard("weights")
    kept = {key: value for key, value in options.items() if key in known}
    if goal != AUTOMATIC:
        kept["name"] = goal
    if kept:
        content["objective"] = kept
    return content


def _weighs_alike(before: str, goal: str) -> bool:
    return before in OBJECTIVES and OBJECTIVES[before].weighs == OBJECTIVES[goal].weighs


def with_change(content: Content, change: Change) -> Content:
    """The content of a study after a change that was advised."""
    match change.kind:
        case "suppress":
            return _suppressing(content, float(change.suppression or 0.0))
        case "remove":
            return _without(content, str(change.attribute))
        case "coarsen" | "allow":
            return _limited(content, str(change.attribute), change.kind, int(change.level or 0))
    for setting in change.settings:
        content = _relaxed(content, setting)
    return content


def _suppressing(content: Content, share: float) -> Content:
    """So many records suppressed, by full-domain recoding where the recoding suppresses none."""
    if not suppresses(method_of(content)):
        content = with_recoding(content, "full-domain", {})
    return with_suppression(content, share)


def _without(content: Content, name: str) -> Content:
    """An attribute left out of the release; levels that were chosen of the others stay."""
    recoding = content.get("recoding")
    if isinstance(recoding, dict) and isinstance(recoding.get("levels"), dict):
        recoding["levels"].pop(name, None)
    return with_role(content, name, "identifier")


def _limited(content: Content, name: str, kind: str, level: int) -> Content:
    """Another lowest or highest level of an attribute, or the level where levels are chosen."""
    if method_of(content) == "fixed":
        content["recoding"]["levels"][name] = level
        return content
    given = content["quasi-identifiers"][name]
    rule: dict[str, object] = dict(given) if isinstance(given, Mapping) else _as_table(given)
    rule["min-level" if kind == "coarsen" else "max-level"] = level
    return with_rule(content, name, rule)


def _as_table(rule: object) -> dict[str, object]:
    """A rule that is written as a text, as a table that can have limits."""
    return {"suppress": True} if rule == "suppress" else {"file": rule}


def _relaxed(content: Content, setting: Parameter) -> Content:
    """A parameter of a model, or a bound of the recoding, at its new value."""
    after: float = int(setting.after) if setting.after == int(setting.after) else setting.after
    if setting.parameter == "min-records":
        return _with_option(content, "min-records", after)
    if setting.model == "max-classes":
        most = options_of(content)["max-classes"] * setting.after / setting.before
        return _with_option(content, "max-classes", round(most))
    names = STANDS_FOR.get(setting.model, (setting.model,))
    for place, section in enumerate(content["privacy"]):
        same = section.get("model") in names and section.get("attribute") == setting.about
        if same and section.get(setting.parameter) == setting.before:
            kept = after if isinstance(section[setting.parameter], int) else float(setting.after)
            return with_parameter(content, place, setting.parameter, kept)
    if setting.model == LargestShare.name:  # what followed from k is set
        return with_model(content, setting.model, {setting.parameter: float(setting.after)})
    return content


def _with_option(content: Content, name: str, value: float) -> Content:
    content["recoding"][name] = value
    return content
