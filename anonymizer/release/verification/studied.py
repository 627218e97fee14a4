"""A manifest compared with the study of its release."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonymizer.errors import InputError, shown
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY, Hierarchy, Meaning
from anonymizer.hierarchy.partition import joint_label, quoted
from anonymizer.hierarchy.reading import of_rule, rule_alone, settled_as
from anonymizer.masking import RandomRecoding
from anonymizer.privacy import PrivacyModel, about_each
from anonymizer.recoding.levels import Levels
from anonymizer.recoding.safepub import SafePub
from anonymizer.release.description.description import Description
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.groups import HIDDEN, Group
from anonymizer.release.verification.check import (
    ABSENT,
    FieldCheck,
    How,
    at,
    compared,
    compared_all,
    is_whole,
    required,
    same,
)
from anonymizer.release.verification.policies import described, policies
from anonymizer.tables.values import is_missing, plain_text, text_of, texts_of
from anonymizer.version import __version__

if TYPE_CHECKING:
    from anonymizer.release.study import Study

OTHER_VERSION = "the release was made by another version, which may count other things in"


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


def studied(manifest: Manifest, study: "Study") -> Iterator[FieldCheck]:
    """Columns, policy, levels and everything else that a study fixes."""
    fields = manifest.to_dict()
    yield from _columns(fields, study)
    yield from _options(fields, study)
    yield from policies(fields["privacy"], policy_of_study(study))
    yield from _levels(fields, study)
    yield from levels_of(manifest, _settled(fields, study))
    yield from _seed(fields, study)
    yield from _repeated(fields, study)
    yield _fingerprint(fields, study)


def _columns(manifest: Mapping[str, Any], study: "Study") -> Iterator[FieldCheck]:
    schema, reported = study.published, at(manifest, "columns")
    expected: Mapping[str, Sequence[str]] = {
        "quasi_identifiers": schema.quasi_identifiers,
        "sensitive": schema.sensitive,
        "targets": schema.targets,
        "identifiers": schema.identifiers,
    }
    for name, columns in expected.items():
        said, given = at(reported, name), list(columns)
        yield required(f"columns.{name}", same(said, given), _named(said), _named(given), "study")
    if schema.insensitive is not None:
        listed = at(manifest, "table", "columns")
        others = [] if listed is ABSENT else [name for name in listed if name not in schema.named]
        words = f"pins its columns, and has none named {_named(others)}"
        yield required("table.columns", not others, "", words, "study")
    values = list(study.document.data.missing_values)
    missing = {"missing": schema.missing, "missing_values": values}
    yield from compared_all("columns", reported, missing, "study")


def _options(manifest: Mapping[str, Any], study: "Study") -> Iterator[FieldCheck]:
    for name, given in study.objective_options.items():
        yield compared(f"objective.{name}", at(manifest, "objective", name), given, "study")
    if not manifest.get("masking"):
        objective, because = study.anonymizer().objective_for(study.recoding)
        searched = not manifest.get("applies")  # else another table decided, and nothing is said
        given = {"objective": objective.name, "because": because if searched else ""}
        yield from compared_all("search", at(manifest, "search"), given, "study")
        tested = getattr(study.recoding, "candidates", ()) if searched else ()
        names = [one.name for one in tested]
        if is_whole(manifest):
            tried = [each["recoding"] for each in manifest["search"].get("tried", ())]
            yield required("search.tried", tried == names, _named(tried), _named(names), "study")
    method = study.recoding.name if isinstance(study.recoding, RandomRecoding) else None
    reported = at(manifest, "masking", "method")
    yield compared("masking.method", None if reported is ABSENT else reported, method, "study")


def _levels(manifest: Mapping[str, Any], study: "Study") -> Iterator[FieldCheck]:
    """Levels are those that the study requests."""
    levels = manifest["levels"]
    fixed = getattr(study.recoding, "levels", None)
    if isinstance(study.recoding, RandomRecoding):
        fixed = {**dict.fromkeys(study.schema.quasi_identifiers, 0), **(fixed or {})}
    if fixed is not None:
        yield compared("levels", levels, dict(fixed), "study")
    elif isinstance(study.recoding, Levels):
        everything = {*levels} == {*study.schema.quasi_identifiers}
        yield required("levels", everything, "", "needs one of every quasi-identifier", "study")


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
    allowed = range(hierarchy.limits.min_level, _highest(hierarchy) + 1)
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


def _highest(hierarchy: Hierarchy) -> int:
    """The highest level that a release may use."""
    most = hierarchy.limits.max_level
    return hierarchy.height if most is None else most


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
    if group.low is not None:
        return group.low
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


def _settled(manifest: Mapping[str, Any], study: "Study") -> Mapping[str, Hierarchy]:
    """The hierarchies of a study, with the grounds that the table of the release had."""
    return settled_as(study.hierarchies, manifest.get("hierarchies", {}))


def _repeated(manifest: Mapping[str, Any], study: "Study") -> Iterator[FieldCheck]:
    """The rules and the method by which other tables are recoded."""
    rules = {name: rule_alone(each) for name, each in _settled(manifest, study).items()}
    given = as_listed({name: rule for name, rule in rules.items() if rule})
    yield compared("hierarchies", manifest.get("hierarchies", {}), given, "study")
    known = [name for name, each in study.hierarchies.items() if each.follows_table]
    settled = manifest.get("settled", [])
    yield required("settled", {*settled} <= {*known}, _named(settled), _named(known), "study")
    method = as_listed(study.recoding.described)
    if manifest.get("masking") or study.recoding.name == SafePub.name:
        method = {"method": study.recoding.name}
    yield compared("method", manifest.get("method", {}), method, "study")


def as_listed(content: object) -> Any:
    """What JSON makes of some content: lists of sequences."""
    return json.loads(json.dumps(content, default=str))


def _seed(manifest: Mapping[str, Any], study: "Study") -> Iterator[FieldCheck]:
    reported = at(manifest, "seeds", "search")
    if reported is not None:  # a differentially private release has none
        yield compared("seeds.search", reported, study.document.search.seed, "study")


def _fingerprint(manifest: Mapping[str, Any], study: "Study") -> FieldCheck:
    if at(manifest, "versions", "anonymizer") != __version__:
        return FieldCheck("study.fingerprint", "unchecked", None, reason=OTHER_VERSION)
    reported = at(manifest, "study", "fingerprint")
    return compared("study.fingerprint", reported, study.fingerprint, "study")


def _key(reported: Mapping[str, Any]) -> str:
    return repr((reported["model"], reported["attribute"], sorted(reported["parameters"].items())))


def _named(columns: object) -> str:
    """Columns by their names."""
    if not isinstance(columns, Sequence) or isinstance(columns, str):
        return "nothing"
    return ", ".join(map(shown, columns)) or "none"
