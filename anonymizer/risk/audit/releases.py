"""Releases read back from where ``anonymizer run`` wrote them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.privacy import Population, PrivacyModel, about_each, population_of
from anonymizer.release.manifest import (
    MANIFEST,
    completed,
    policy_of,
    read_manifest,
    require_digest,
    require_unmasked,
    schema_of,
    sound,
)
from anonymizer.release.study import Study
from anonymizer.tables.files import (
    Format,
    cleaned,
    columns_in,
    format_of,
    read_table,
    rearmed,
    rearmed_manifest,
)

__all__ = ["Published", "read_release", "require_agreed", "require_different"]


@dataclass(frozen=True, eq=False)
class Published:
    """A release as it lies on disk.

    Parameters
    ----------
    path
        What it was called.
    manifest
        What is told of it.
    digest
        SHA-256 of the table.
    raw
        The quasi-identifiers that were recoded: what an original has to have.
    keeps_suppressed
        Whether suppressed records are in the release, as a class of their own.
    schema
        The roles of its columns.
    missing_values
        What counted as missing in the original.
    models
        The policy, each model about one attribute.
    columns
        All columns of the released table, those without a role among them.
    table
        The released table.
    study
        What stated all that; None where the manifest did.
    """

    path: Path
    manifest: Mapping[str, Any]
    digest: str
    raw: tuple[str, ...]
    keeps_suppressed: bool
    schema: Schema
    missing_values: tuple[str, ...]
    models: Sequence[PrivacyModel]
    columns: tuple[str, ...]
    table: pd.DataFrame = field(repr=False)
    study: Study | None = None

    def population(self, models: Sequence[PrivacyModel]) -> pd.DataFrame | None:
        """The raw quasi-identifiers of the population that models are about, if any is.

        Raises
        ------
        InputError
            When the models are about two, or one cannot be recoded as the release was.
        """
        people = population_of(models)
        raw = replace(self.schema, names=self.raw)
        return None if people is None else raw.admit_population(people.table)

    def shown(self, names: Iterable[str]) -> list[str]:
        """Those of some columns that the released table shows as they are."""
        return [name for name in names if name in self.columns and name not in self.raw]

    def everybody(self, people: Population, known: Sequence[str] = ()) -> pd.DataFrame:
        """The raw quasi-identifiers of everybody in a population, in their order, and some more.

        Also of those who miss one: several releases place the same people.
        """
        raw = replace(self.schema, names=(*self.raw, *known), missing="category")
        table = raw.admit_population(people.table)
        form = Format(False, missing_values=self.missing_values)
        return table.apply(cleaned, form=form)


def read_release(path: Path, study: Study | None = None) -> Published:
    """Read the release that lies in a directory, or that a released table belongs to.

    ``study``: states the policy and the roles of the columns instead of the manifest.

    Raises
    ------
    InputError
        When the manifest lacks or is damaged, or the table is not the one that it is about.
    """
    if not path.exists() and not (path.parent / MANIFEST).exists():
        raise InputError(f"there is no {path}; name a directory that run wrote, with {MANIFEST}")
    directory = path if path.is_dir() else path.parent
    manifest: Mapping[str, Any] = read_manifest(directory / MANIFEST)
    require_unmasked(manifest)
    manifest = completed(manifest, None if study is None else study.hierarchies)
    with sound(directory / MANIFEST):
        name, digest = str(manifest["table"]["file"]), str(manifest["table"]["sha256"])
        if path != directory and path.name != name:
            raise InputError(f"{path} is not the table that the {MANIFEST} beside it is about")
        table = directory / name
        require_digest(table, digest)
        form = format_of(table, manifest.get("columns", {}).get("separator"))
        if study is None:
            schema, missing = schema_of(manifest, columns_in(table, form))
            models = policy_of(manifest)
        else:
            schema, missing = study.published, study.document.data.missing_values
            _require_same_columns(study, manifest)
            models = study.privacy
        models = about_each(models, schema.sensitive)
        if not models:
            raise InputError(f"{directory / MANIFEST} states no policy that could hold")
        if study is not None:
            _require_same_policy(study, models, manifest)
        raw, kept = tuple(manifest["recoding"]), manifest["suppressed_class"] == "kept"
    frame = read_table(table, form, schema.columns)
    if (manifest.get("spreadsheet") or {}).get("safe"):  # as the original has its texts
        frame, manifest = rearmed(frame), rearmed_manifest(manifest)
    columns = tuple(map(str, frame.columns))
    return Published(
        path, manifest, digest, raw, kept, schema, missing, models, columns, frame, study
    )


def require_agreed(releases: Sequence[Published]) -> None:
    """Require that no release hides what another one takes for known.

    Whoever knows an attribute of people finds them by it in the release that shows it as sensitive,
    and what that release promises of it is void: neither policy could be held against both.

    Raises
    ------
    InputError
        Naming the column and the two releases.
    """
    for hiding in releases:
        for knowing in releases:
            for name in hiding.schema.sensitive:
                if name in knowing.raw:
                    raise InputError(
                        f"column {name!r} is sensitive in {hiding.path}, but a quasi-identifier, "
                        f"known of people, in {knowing.path}: whoever knows it finds them in both; "
                        "these cannot be released together"
                    )


def require_different(releases: Sequence[Published], *, of_one: bool) -> None:
    """Require that no release is named twice: a copy tells nothing more.

    ``of_one``: they were made of one original; those of several may look alike without being so.

    Raises
    ------
    InputError
        Naming the two.
    """
    seen: dict[object, Path] = {}
    for release in releases:
        place = release.path if release.path.is_dir() else release.path.parent
        first = seen.setdefault(release.digest if of_one else place.resolve(), release.path)
        if first is not release.path:
            raise InputError(f"{first} and {release.path} are the same release; name it once")


def _require_same_columns(study: Study, manifest: Mapping[str, Any]) -> None:
    if set(study.schema.names) != set(manifest["recoding"]):
        raise InputError(
            f"{study.path} is not the study of the release: it has other quasi-identifiers"
        )


def _require_same_policy(
    study: Study, models: Sequence[PrivacyModel], manifest: Mapping[str, Any]
) -> None:
    """Studies in another order than their releases would be held against the wrong ones."""
    stated = [(model.name, model.attribute, model.parameters) for model in models]
    told = [(each["model"], each["attribute"], each["parameters"]) for each in manifest["privacy"]]
    if sorted(map(_plain, stated)) != sorted(map(_plain, told)):
        raise InputError(
            f"{study.path} is not the study of the release: it states another policy than "
            f"{MANIFEST}; name the studies in the order of the releases"
        )


def _plain(stated: object) -> str:
    return json.dumps(stated, sort_keys=True)
