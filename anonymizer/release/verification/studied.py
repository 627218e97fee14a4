"""A manifest compared with the study of its release."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anonymizer.errors import shown
from anonymizer.hierarchy import Hierarchy
from anonymizer.hierarchy.reading import rule_alone, settled_as
from anonymizer.masking import RandomRecoding
from anonymizer.recoding.levels import Levels
from anonymizer.recoding.safepub import SafePub
from anonymizer.release.manifest import Manifest
from anonymizer.release.study import Study
from anonymizer.release.verification.check import (
    ABSENT,
    FieldCheck,
    at,
    compared,
    compared_all,
    is_whole,
    required,
    same,
)
from anonymizer.release.verification.policies import levels_of, policies, policy_of_study
from anonymizer.tables.files.format import reported_missing
from anonymizer.version import __version__

OTHER_VERSION = "the release was made by another version, which may count other things in"


def studied(manifest: Manifest, study: Study) -> Iterator[FieldCheck]:
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


def _columns(manifest: Mapping[str, Any], study: Study) -> Iterator[FieldCheck]:
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
        weight = [study.schema.weight] if study.schema.releases_weight else []
        known = {*schema.named, *weight}
        others = [] if listed is ABSENT else [name for name in listed if name not in known]
        words = f"pins its columns, and has none named {_named(others)}"
        yield required("table.columns", not others, "", words, "study")
    values = reported_missing(study.given.missing_values)
    yield from _of_persons(manifest, study)
    missing = {"missing": schema.missing, "missing_values": values}
    yield from compared_all("columns", reported, missing, "study")


def _of_persons(manifest: Mapping[str, Any], study: Study) -> Iterator[FieldCheck]:
    """Columns that tell of persons, households and people, and what is released in their place."""
    schema = study.schema
    persons = manifest.get("person", []), list(schema.person)
    if any(persons):
        yield compared("person", *persons, "study")
    counted = manifest.get("per_person", "share"), schema.per_person
    if counted != ("share", "share"):
        yield compared("per_person", *counted, "study")
    numbers = manifest.get("person_numbers"), schema.number
    if any(numbers):
        yield compared("person_numbers", *numbers, "study")
    keyed = bool(manifest.get("person_key"))
    if keyed is not (study.person_key is not None):  # which key it is only the key tells
        ways = "random numbers of persons", "pseudonyms of persons"
        yield required("person_key", False, ways[keyed], f"says {ways[not keyed]}", "study")
    items = manifest.get("items", {}), dict(schema.items)
    if any(items):
        yield compared("items", *items, "study")
    households = manifest.get("household", []), list(schema.household)
    if any(households):
        yield compared("household", *households, "study")
    shifts = manifest.get("shift"), study.shift and study.shift.to_dict()
    if any(shifts):
        yield compared("shift", *shifts, "study")
    means = "class" if schema.releases_weight else None
    if manifest.get("released_weight") or means:
        yield compared("released_weight", manifest.get("released_weight"), means, "study")
    weights = manifest.get("weight"), schema.weight
    if any(weights):
        yield compared("weight", *weights, "study")


def _options(manifest: Mapping[str, Any], study: Study) -> Iterator[FieldCheck]:
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


def _levels(manifest: Mapping[str, Any], study: Study) -> Iterator[FieldCheck]:
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


def _settled(manifest: Mapping[str, Any], study: Study) -> Mapping[str, Hierarchy]:
    """The hierarchies of a study, with the grounds that the table of the release had."""
    return settled_as(study.hierarchies, manifest.get("hierarchies", {}))


def _repeated(manifest: Mapping[str, Any], study: Study) -> Iterator[FieldCheck]:
    """The rules and the method by which other tables are recoded."""
    rules = {name: rule_alone(each) for name, each in _settled(manifest, study).items()}
    given = as_listed({name: rule for name, rule in rules.items() if rule})
    yield compared("hierarchies", manifest.get("hierarchies", {}), given, "study")
    known = [name for name, each in study.hierarchies.items() if each.follows_table]
    settled = manifest.get("settled", [])
    yield required("settled", {*settled} <= {*known}, _named(settled), _named(known), "study")
    method = as_listed(study.recoding.described | study.anonymizer().knowing)
    if manifest.get("masking") or study.recoding.name == SafePub.name:
        method = {"method": study.recoding.name}
    yield compared("method", manifest.get("method", {}), method, "study")


def as_listed(content: object) -> Any:
    """What JSON makes of some content: lists of sequences."""
    return json.loads(json.dumps(content, default=str))


def _seed(manifest: Mapping[str, Any], study: Study) -> Iterator[FieldCheck]:
    reported = at(manifest, "seeds", "search")
    if reported is not None:  # a differentially private release has none
        yield compared("seeds.search", reported, study.document.search.seed, "study")


def _fingerprint(manifest: Mapping[str, Any], study: Study) -> FieldCheck:
    if at(manifest, "versions", "anonymizer") != __version__:
        return FieldCheck("study.fingerprint", "unchecked", None, reason=OTHER_VERSION)
    reported = at(manifest, "study", "fingerprint")
    return compared("study.fingerprint", reported, study.fingerprint, "study")


def _named(columns: object) -> str:
    if not isinstance(columns, Sequence) or isinstance(columns, str):
        return "nothing"
    return ", ".join(map(shown, columns)) or "none"
