"""The policy and the hierarchies of a manifest, compared with those of a study, or with its rules.

A release that is applied to another table is understood by these, too, hence below what plans are.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, Hierarchy, Meaning
from anonymizer.hierarchy.calendar import iso_of
from anonymizer.hierarchy.partition import joint_label, quoted
from anonymizer.hierarchy.reading import of_rule
from anonymizer.privacy import MODELS, PrivacyModel, about_each
from anonymizer.release.description import Description
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.groups import HIDDEN, Group
from anonymizer.release.verification.check import (
    ABSENT,
    FieldCheck,
    How,
    at,
    required,
    said,
    same,
)
from anonymizer.tables.values import is_missing, plain_text, text_of, texts_of

Reported = Mapping[str, Any]
"""A verdict of a manifest as JSON has it."""


def policies(reported: Sequence[Reported], models: Sequence[PrivacyModel]) -> Iterator[FieldCheck]:
    """For every model of a study whether the release promises the same, more or less.

    ``models``: those of the study, each about one attribute.
    """
    left = dict(enumerate(reported))
    for number, model in enumerate(models):
        own = described(model)
        alike = (
            place
            for place, each in left.items()
            if (each["model"], _listed(each["attribute"])) == (own["model"], own["attribute"])
        )
        place = next(alike, None)
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
        "attribute": _listed(model.attribute) if model.sensitive else None,
        "parameters": model.parameters,
    }


def _listed(attribute: Any) -> Any:
    """What a model is about as JSON has it: several attributes are a list."""
    return list(attribute) if isinstance(attribute, tuple) else attribute


def _named(model: PrivacyModel) -> str:
    return model.name if model.about is None else f"{model.name} about {model.about!r}"


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


def models_of(manifest: Manifest, study: Description | None) -> list[PrivacyModel | None]:
    """The policy of a manifest; where it only has a digest, the study's model of that digest.

    None where the study has none either.

    Raises InputError when a manifest only has the digest of what a model is about, and there is no
    study.
    """
    if study is None:
        return list(manifest.policy)
    own = {_key(described(model)): model for model in policy_of_study(study)}
    models = [own.get(_key(each.model_dump())) for each in manifest.privacy]
    for place, verdict in enumerate(manifest.privacy):
        if models[place] is None:
            with suppress(InputError):
                models[place] = verdict.privacy_model
    return models


def policy_of_study(study: Description) -> tuple[PrivacyModel, ...]:
    """The policy of a study, each model about one attribute."""
    return about_each(study.privacy, study.schema.sensitive)


def _key(reported: Mapping[str, Any]) -> str:
    about = _listed(reported["attribute"])
    return repr((reported["model"], about, sorted(reported["parameters"].items())))


def rules(manifest: Manifest) -> Iterator[FieldCheck]:
    """Labels are those of the rules by which other tables are recoded."""
    for name, rule in manifest.hierarchies.items():
        try:
            hierarchy = of_rule(rule)
        except InputError as error:
            yield required(f"hierarchies.{name}", False, "a rule", f"cannot be used: {error}")
            continue
        known = name in manifest.recoding
        yield required(f"hierarchies.{name}", known, "", "has no such quasi-identifier")
        yield from levels_of(manifest, {name: hierarchy}, "consistent")


def levels_of(
    manifest: Manifest, hierarchies: Mapping[str, Hierarchy], how: How = "study"
) -> Iterator[FieldCheck]:
    """Labels are those that hierarchies have at the levels that the manifest says."""
    for name, groups in manifest.recoding.items():
        if name in hierarchies:
            own = hierarchies[name]
            # values that the recoding did not cover may be shown as what ends their hierarchy
            hides = manifest.applies is not None and own.top == ANY
            known = [group for group in groups if not (hides and group == HIDDEN)]
            yield replace(_level(name, own, manifest.levels.get(name), known), how=how)


def _level(
    name: str, hierarchy: Hierarchy, level: int | None, groups: Sequence[Group]
) -> FieldCheck:
    """The labels of one attribute, at its level or at that of each group; else at any."""
    listed = [_listed_labels(hierarchy, each) for each in range(hierarchy.height + 1)]
    wrong = 0
    limits = hierarchy.limits
    highest = hierarchy.height if limits.max_level is None else limits.max_level
    allowed = range(limits.min_level, highest + 1)
    for group in groups:
        own = level if group.level is None else group.level
        fits = own in (None, *allowed) and any(
            _of_level(hierarchy, each, group, known)
            for each, known in enumerate(listed)
            if own in (None, each)
        )
        if group.members is not None:
            fits = _of_members(hierarchy, group, listed)
        alike = group.scale.described() == hierarchy.scale.described()
        wrong += not (alike and (fits or (own is None and _of_its_own(hierarchy, group))))
    high = level is not None and level > hierarchy.height
    reported = "the level of each group" if level is None else f"level {level}"
    words = f"has {plural(wrong, 'label')} of other levels, or of other values"
    return required(f"levels.{name}", not wrong and not high, reported, words, "study")


def _of_members(hierarchy: Hierarchy, group: Group, listed: Sequence[set[str | None]]) -> bool:
    """Whether a label is that of groups of the hierarchy, each of a level that it may have."""
    members = group.members or ()
    known = all(
        member.level is not None
        and hierarchy.limits.min_level <= member.level <= hierarchy.height
        and _of_level(hierarchy, member.level, member, listed[member.level])
        for member in members
    )
    return known and _alike(joint_label([each.label for each in members]), group.unmarked)


def _of_its_own(hierarchy: Hierarchy, group: Group) -> bool:
    """Whether a group that is of no level is a range, or spells its values out."""
    if group.is_range:
        return hierarchy.ordered
    values = group.values or []
    if group.label is None and not any(value is not None for value in values):
        return True  # a missing value, which stays apart from ranges
    known = all(value is None or _covers(hierarchy, value) for value in values)
    listed = "{" + ", ".join(map(quoted, values)) + "}"
    return bool(values) and known and group.unmarked in (listed, hierarchy.scale.spelled(values))


def _listed_labels(hierarchy: Hierarchy, level: int) -> set[str | None]:
    """What the listed values go by at a level; missing ones, too, where it is at least 1."""
    if level == 0:
        return {text_of(value) for value in hierarchy.listed}
    values = (None, *hierarchy.listed)
    return {*texts_of(hierarchy.labels(value)[level - 1] for value in values)}


def _of_level(hierarchy: Hierarchy, level: int, group: Group, listed: set[str | None]) -> bool:
    """Whether a hierarchy may give a label at a level, and to all values that are listed."""
    label, values = group.unmarked, group.values or ()
    if level == 0:
        alike = all(_alike(value, label) for value in values)
        return alike and (is_missing(label) or _covers(hierarchy, label))
    if not all(_at(hierarchy, level, value, label) for value in values):
        return False
    if group.values is not None and not _complete(hierarchy, level, group, label):
        return False
    if not _stands_for(hierarchy, level, group, label):
        return False
    return texts_of([label])[0] in listed or _at(hierarchy, level, _representative(group), label)


def _stands_for(hierarchy: Hierarchy, level: int, group: Group, label: object) -> bool:
    """Whether a group says of a masked code, or of all others, what the hierarchy does."""
    said = group.stands_for().entry()
    if label == ANY or is_missing(label) or not _covers(hierarchy, label):
        return not said or label == ANY
    found = hierarchy.labels(label)[level - 1]
    meant = found.stands_for if isinstance(found, Meaning) and found == label else None
    return said == (meant.entry() if meant else {})


def _complete(hierarchy: Hierarchy, level: int, group: Group, label: object) -> bool:
    """Whether a group names every value that a hierarchy lists for its label."""
    named = {text_of(value) for value in group.values or () if value is not None}
    return all(
        text_of(value) in named
        for value in hierarchy.listed
        if _alike(hierarchy.labels(value)[level - 1], label)
    )


def _representative(group: Group) -> object:
    """A value that the label may be of: one within a range, or a masked code itself."""
    if group.unit and group.is_range:
        low, high = group.interval.low, group.interval.high
        return group.scale.written((high or Decimal(0)) - 1 if low is None else low)
    if group.low is not None:
        return group.low
    if isinstance(group.high, str) and (end := group.interval.high) is not None:
        return iso_of(end - 1)
    return group.high - 1 if isinstance(group.high, int | float) else group.own


def _at(hierarchy: Hierarchy, level: int, value: object, label: object) -> bool:
    """Whether a hierarchy gives a value some label at a level of at least 1."""
    known = value is None or _covers(hierarchy, value)
    return known and _alike(hierarchy.labels(value)[level - 1], label)


def _alike(one: object, other: object) -> bool:
    if is_missing(one) or is_missing(other):
        return is_missing(one) and is_missing(other)
    return text_of(one) == text_of(other)


def _covers(hierarchy: Hierarchy, value: object) -> bool:
    """Whether a hierarchy knows a value, or the number that it writes out: 0.50 is 0.5."""
    return any(hierarchy.covers(hierarchy.key(each)) for each in (value, plain_text(value)))
