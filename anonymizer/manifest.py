"""Manifests read back: how a released table was recoded."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.engines import pandas as engine
from anonymizer.errors import InputError
from anonymizer.hierarchy import ANY, Interval, Partition, Taxonomy, cut_of, grouping_of
from anonymizer.privacy import MODELS, PrivacyModel
from anonymizer.regions import CLASS
from anonymizer.schema import Schema

__all__ = [
    "MANIFEST",
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
        return cut_of(taxonomy, [_node(taxonomy, group) for group in groups])
    if any("from" in group for group in groups):
        return _ranges(taxonomy, groups)
    places = {text: code for code, text in enumerate(taxonomy.texts)}
    return grouping_of(
        taxonomy, [np.array([places[text] for text in group["values"]]) for group in groups]
    )


def _node(taxonomy: Taxonomy, group: dict[str, Any]) -> tuple[int, int]:
    """The level of a group of a cut, and which group of it has its label."""
    level, label = group["level"], group.get("group", group["label"])
    own = [taxonomy.label(level, place) for place in range(len(_level(taxonomy, level)))]
    return level, [None if each is None else str(each) for each in own].index(label)


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
    kind, stated = MODELS[verdict["model"]], verdict["parameters"]
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
    return kind(**given)


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
        When it is not there or damaged.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"there is no {path}: the manifest has to lie beside the released table"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{path} is damaged: it is no JSON text") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is damaged: it is no manifest of a release")
    return content


def require_digest(table: Path, digest: str) -> None:
    """Require that a table is the one whose SHA-256 its manifest tells.

    Raises
    ------
    InputError
        When it cannot be read or was changed.
    """
    try:
        with table.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise InputError(f"there is no {table}, which its {MANIFEST} is about") from None
    except OSError as error:
        raise InputError(f"cannot read {table}: {error.strerror}") from None
    if found != digest:
        raise InputError(
            f"{table} is not what {MANIFEST} is about: it was changed after it was released"
        )
