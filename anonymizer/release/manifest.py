"""Manifests read back: how a released table was recoded."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.counts.multidimensional import CLASS
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Hierarchy, Interval, Partition, Taxonomy, cut_of, grouping_of
from anonymizer.hierarchy.partition import digest_of_values
from anonymizer.privacy import MODELS, PrivacyModel
from anonymizer.tables import pandas as engine
from anonymizer.tables.reading import MANIFEST_SIZE, open_regular, parsed_json, read_whole

__all__ = [
    "MANIFEST",
    "completed",
    "is_release",
    "policy_of",
    "read_manifest",
    "recoding_of",
    "require_digest",
    "require_unmasked",
    "schema_of",
    "shape_of",
    "sound",
]

MANIFEST = "release.json"


def recoding_of(
    manifest: Mapping[str, Any], taxonomies: Mapping[str, Taxonomy]
) -> dict[str, Partition]:
    """The partition of each quasi-identifier that a manifest describes.

    A level is taken from the hierarchy, a cut from the level and the label of each group; ranges
    from where they begin and end, groupings from their values.

    Raises
    ------
    InputError
        When the manifest does not fit the taxonomies.
    """
    require_unmasked(manifest)
    if manifest.get("regions"):
        raise InputError(
            f"{MANIFEST} describes classes with groups of their own, boxes or merged cells; this "
            "needs one partition of every quasi-identifier"
        )
    try:
        return _partitions(manifest, taxonomies)
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise InputError(
            f"{MANIFEST} does not describe a release of this study; is it of another one, or was "
            "the study changed since?"
        ) from None


def require_unmasked(manifest: Mapping[str, Any]) -> None:
    """Require that a release shows what records are, generalized, and not what was drawn for them.

    Raises
    ------
    InputError
        When values of it were drawn at random.
    """
    if manifest.get("masking"):
        raise InputError(
            f"{MANIFEST} describes values that were drawn at random; this is about generalized "
            "ones, which hold of every record"
        )


def _partitions(
    manifest: Mapping[str, Any], taxonomies: Mapping[str, Taxonomy]
) -> dict[str, Partition]:
    if set(manifest["recoding"]) != set(taxonomies):
        raise ValueError("other quasi-identifiers")
    return {
        name: _level(taxonomy, manifest["levels"][name])
        if name in manifest["levels"]
        else _groups(taxonomy, manifest["recoding"][name])
        for name, taxonomy in taxonomies.items()
    }


def _level(taxonomy: Taxonomy, level: int) -> Partition:
    if level not in range(taxonomy.height + 1):
        raise ValueError("no such level")
    return taxonomy.levels[level]


def _groups(taxonomy: Taxonomy, groups: list[dict[str, Any]]) -> Partition:
    if any("level" in group for group in groups):
        return _cut(taxonomy, groups)
    if any("from" in group for group in groups):
        return _ranges(taxonomy, groups)
    places = {text: code for code, text in enumerate(taxonomy.texts)}
    return grouping_of(
        taxonomy, [np.array([places[text] for text in group["values"]]) for group in groups]
    )


def _cut(taxonomy: Taxonomy, groups: list[dict[str, Any]]) -> Partition:
    """The cut through the groups; values in none of them, which no record has, stand alone."""
    known: dict[int, dict[str | None, int]] = {}
    nodes, covered = [], np.zeros(len(taxonomy.codes), bool)
    for group in groups:
        level, label = group["level"], group.get("group", group["label"])
        if level not in known:
            known[level] = _places(taxonomy, level)
        place = known[level][label]
        covered |= taxonomy.levels[level].groups == place
        nodes.append((level, place))
    alone = taxonomy.levels[0].groups[~covered & taxonomy.many]
    return cut_of(taxonomy, [*nodes, *((0, int(place)) for place in alone)])


def _places(taxonomy: Taxonomy, level: int) -> dict[str | None, int]:
    """Which group of a level has each label, the first of those that have it."""
    own = [taxonomy.label(level, place) for place in range(len(_level(taxonomy, level)))]
    texts = [None if each is None else str(each) for each in own]
    return {text: place for place, text in reversed(list(enumerate(texts)))}


def _ranges(taxonomy: Taxonomy, groups: list[dict[str, Any]]) -> Partition:
    """Each number in its range, a missing value apart from all of them."""
    ranges = [
        Interval(_end(group["from"]), _end(group["to"])) for group in groups if "from" in group
    ]
    if taxonomy.numbers is None:
        raise ValueError("no numbers")
    return Partition.of(
        [ANY if number is None else _range(number, ranges) for number in taxonomy.numbers]
    )


def _range(number: Decimal, ranges: list[Interval]) -> Interval:
    """The range that holds a number."""
    for each in ranges:
        above = each.low is None or each.low <= number
        if above and (each.high is None or number < each.high):
            return each
    raise ValueError("a number in no range")


def _end(stated: int | float | None) -> Decimal | None:
    return None if stated is None else Decimal(str(stated))


def completed(
    manifest: Mapping[str, Any], hierarchies: Mapping[str, Hierarchy] | None
) -> Mapping[str, Any]:
    """A manifest with the lists of values that were too long for it, from the hierarchies.

    Raises
    ------
    InputError
        When some were left out and there are no hierarchies, or others than those of the release.
    """
    recoding = manifest.get("recoding", {})
    short = [name for name, groups in recoding.items() if any("listed" in g for g in groups)]
    if not short:
        return manifest
    if hierarchies is None or not {*short} <= {*hierarchies}:
        raise InputError(
            f"{MANIFEST} leaves out the values of column {short[0]!r}, which are too many; name "
            "the study of the release with --study"
        )
    levels = manifest.get("levels", {})
    full = {name: _filled(recoding[name], hierarchies[name], name, levels) for name in short}
    return {**manifest, "recoding": {**recoding, **full}}


def _filled(
    groups: list[dict[str, Any]], hierarchy: Hierarchy, name: str, levels: Mapping[str, int]
) -> list[dict[str, Any]]:
    taxonomy = hierarchy.over(name, [])
    found = []
    for group in groups:
        level = group.get("level", levels.get(name, -1))
        label = group.get("group", group["label"])
        if "listed" in group:
            values = _listed(taxonomy, level, label)
            if digest_of_values(values) != group["sha256"]:
                raise InputError(
                    f"{MANIFEST} is about another hierarchy of column {name!r} than the study: it "
                    "lists other values"
                )
            group = {**group, "values": values}
        found.append(group)
    return found


def _listed(taxonomy: Taxonomy, level: int, label: str | None) -> list[str]:
    """The values of a group of a level; none where there is no such group."""
    if level not in range(taxonomy.height + 1):
        return []
    place = _places(taxonomy, level).get(label)
    codes = np.flatnonzero(taxonomy.levels[level].groups == place)
    return [text for code in codes if (text := taxonomy.texts[code]) is not None]


def policy_of(manifest: Mapping[str, Any]) -> tuple[PrivacyModel, ...]:
    """The privacy models that a release was made under, each about one attribute.

    Raises
    ------
    InputError
        When a manifest only has the digest of what a model is about: a population, or a hierarchy
        of sensitive values.
    """
    return tuple(_model(verdict) for verdict in manifest["privacy"])


def _model(verdict: Mapping[str, Any]) -> PrivacyModel:
    kind, stated = MODELS.get(verdict["model"]), verdict["parameters"]
    if kind is None:
        raise InputError(f"{MANIFEST} names a privacy model that this version does not know")
    for name in ("population", "hierarchy"):
        if name in stated:
            raise InputError(
                f"{MANIFEST} tells of {kind.name} the digest of its {name} alone; name the study "
                "of the release with --study"
            )
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    given = {name: value for name, value in stated.items() if name in known}
    if kind.sensitive:
        given["attribute"] = verdict["attribute"]
    try:
        return kind(**given)
    except TypeError:
        raise InputError(f"{MANIFEST} lacks parameters of {kind.name}") from None


def schema_of(
    manifest: Mapping[str, Any], columns: Sequence[str]
) -> tuple[Schema, tuple[str, ...]]:
    """The roles of the columns of a released table, and what counted as missing in the original.

    Manifests before there were ``columns`` in them report the sensitive attributes by the models
    that are about them.
    """
    told = manifest.get("columns")
    if told is not None:
        names, sensitive = tuple(told["quasi_identifiers"]), tuple(told["sensitive"])
        if {*names} - {CLASS} != {*manifest["recoding"]} - {CLASS}:
            raise ValueError("a quasi-identifier without a recoding")
        schema = Schema(names, sensitive, missing=told["missing"], targets=tuple(told["targets"]))
        return schema, tuple(told["missing_values"])
    about = [verdict["attribute"] for verdict in manifest["privacy"]]
    sensitive = tuple(dict.fromkeys(name for name in about if name is not None))
    names = tuple(manifest["recoding"])
    if manifest.get("regions") and CLASS in columns:
        names = (*names, CLASS)
    missing = "drop" if manifest["dropped"] else "category"
    return Schema(names, sensitive, missing=missing), ()


def shape_of(table: pd.DataFrame, schema: Schema) -> dict[str, object]:
    """What a manifest holds of a released table as such: all columns, and what values are missing.

    ``missing``: the records that miss the value of each column with a role.
    """
    missing = engine.missing_values(table, schema.columns)
    return {
        "columns": [str(name) for name in table.columns],
        "missing": {name: missing.get(name, 0) for name in schema.columns},
    }


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """Say of a manifest that lacks something, or holds what makes no sense, that it is damaged."""
    try:
        yield
    except InputError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise InputError(f"{path} is damaged: it is no manifest of a release") from None


def is_release(path: Path) -> bool:
    """Whether a manifest beside a table says that it is about it."""
    manifest = path.parent / MANIFEST
    if not manifest.exists():
        return False
    about = read_manifest(manifest).get("table")
    return isinstance(about, dict) and about.get("file") == path.name


def read_manifest(path: Path) -> dict[str, Any]:
    """The content of a manifest.

    Raises
    ------
    InputError
        When it is not there, too large or damaged.
    """
    try:
        text = read_whole(path, MANIFEST_SIZE)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(
            f"there is no {path}: the manifest has to lie beside the released table"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{path} is damaged: it is no JSON text") from None
    return _sound(path, text)


def _sound(path: Path, text: str) -> dict[str, Any]:
    """What a manifest says, once it is sure that its readers can go by it."""
    try:
        content = parsed_json(text)
    except ValueError:
        raise InputError(f"{path} is damaged: it is no JSON text") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is damaged: it is no manifest of a release")
    from anonymizer.release.manifest_shape import damage  # only those who read one need pydantic

    place = damage(content)
    if place is not None:
        raise InputError(f"{path} is damaged: it is no manifest of a release ({place})")
    return content


def require_digest(table: Path, digest: str) -> None:
    """Require that a table is the one whose SHA-256 its manifest tells.

    Raises
    ------
    InputError
        When it cannot be read or was changed.
    """
    try:
        with open_regular(table) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise InputError(f"there is no {table}, which its {MANIFEST} is about") from None
    except OSError as error:
        raise InputError(f"cannot read {table}: {error.strerror}") from None
    if found != digest:
        raise InputError(
            f"{table} is not what {MANIFEST} is about: it was changed after it was released"
        )
