"""Releases read back from where ``anonymizer run`` wrote them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import pandas as pd

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.privacy import Population, PrivacyModel, about_each, population_of
from anonymizer.release.description.place import Place
from anonymizer.release.files import MANIFEST
from anonymizer.release.manifest import Manifest, home_of, sound
from anonymizer.release.relations import records_in
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.files import Format, cleaned, release_format
from anonymizer.tables.spreadsheet import rearmed, rearmed_text

ONE_BY_ONE = "an audit looks at records one by one"
"""Why tables are held in memory."""


@dataclass(frozen=True, eq=False)
class PublishedRelease:
    """A release as it is on disk."""

    path: Path  # as given
    manifest: Manifest
    schema: Schema
    missing_values: tuple[str, ...]  # of the original
    models: Sequence[PrivacyModel]  # each about one attribute
    table: pd.DataFrame
    study: Study | None = None  # the source of policy and roles, if not the manifest

    @property
    def raw(self) -> tuple[str, ...]:
        """The quasi-identifiers that were recoded, which an original has to have."""
        return tuple(self.manifest.recoding)

    @property
    def left_out(self) -> Sequence[str]:
        """The identifiers, which an original may have."""
        return self.manifest.file[1].identifiers

    @property
    def random(self) -> bool:
        """True where released values were drawn at random."""
        return bool(self.manifest.masking)

    @property
    def in_order(self) -> bool:
        """True where the records are in the order of the original."""
        return self.manifest.file[0].order != "random"

    @property
    def population(self) -> engine.Table | None:
        """The raw quasi-identifiers of the population that models are about, if any is."""
        people = population_of(self.models)
        raw = replace(self.schema, quasi_identifiers=self.raw)
        return None if people is None else raw.admit_population(people.table)

    def shown(self, names: Iterable[str]) -> list[str]:
        """Return the columns, of some, that the released table shows unchanged."""
        columns = {*map(str, self.table.columns)} - {*self.raw}
        return [name for name in names if name in columns]

    def everybody(self, people: Population, known: Sequence[str] = ()) -> pd.DataFrame:
        """The raw quasi-identifiers of everybody in a population, in their order, and some more.

        Nobody is dropped, even with missing values, as several releases place the same people.
        """
        raw = replace(self.schema, quasi_identifiers=(*self.raw, *known), missing="category")
        table = engine.rows_of(raw.admit_population(people.table))
        form = Format(False, missing_values=self.missing_values)
        return table.apply(cleaned, form=form)


def read_release(path: Path, study: Study | None = None) -> PublishedRelease:
    """Read the release in a directory, or the one that a released table belongs to.

    ``study``: gives the policy and the roles of the columns instead of the manifest.
    """
    if not path.exists() and not (path.parent / MANIFEST).exists():
        raise InputError(f"there is no {path}; name a directory that run wrote, with {MANIFEST}")
    directory = home_of(path)
    manifest = Manifest.read(directory / MANIFEST)
    manifest = manifest.completed(None if study is None else study.hierarchies)
    with sound(directory / MANIFEST):
        table, columns = manifest.table_at(path), manifest.file[1]
        form = release_format(table, columns.separator)
        if study is None:
            schema, missing = manifest.roles, tuple(columns.missing_values)
            models = manifest.policy
        else:
            schema, missing = study.published, study.document.data.missing_values
            if set(study.schema.quasi_identifiers) != set(manifest.recoding):
                raise InputError(
                    f"{study.path} is not the study of the release: it has other quasi-identifiers"
                )
            models = study.privacy
        models = about_each(models, schema.sensitive)
        if not models:
            raise InputError(f"{directory / MANIFEST} has no policy that could hold")
        if study is not None:
            _require_same_policy(study, models, manifest)
    with Place(table, form).opened(schema.columns) as stored:
        frame = records_in(stored, schema.columns, form, ONE_BY_ONE)
    if manifest.spreadsheet is not None and manifest.spreadsheet.safe:  # texts of the original
        frame, manifest = rearmed(frame), manifest.with_texts(rearmed_text)
    return PublishedRelease(path, manifest, schema, missing, models, frame, study)


def require_compatible(releases: Sequence[PublishedRelease], *, of_one: bool) -> None:
    """Require releases that can be audited together.

    They are different ones, none has a sensitive attribute that another one has recoded, and of
    several none is random: people are found in all of them by their values.

    An attacker who knows such an attribute finds people by it in the release that shows it as
    sensitive, and the policy of that release about it is void. ``of_one``: the releases were made
    of one original; tables made of several may be equal by chance.
    """
    for release in releases:
        if release.random and (len(releases) > 1 or release.population is not None):
            raise InputError(
                f"{release.path} has values that were drawn at random, by which nobody is found in "
                "another table; audit it by itself, under a policy without a population"
            )
    seen: dict[object, Path] = {}
    for release in releases:
        place = home_of(release.path)
        mark = release.manifest.file[0].sha256 if of_one else place.resolve()
        first = seen.setdefault(mark, release.path)
        if first is not release.path:
            raise InputError(f"{first} and {release.path} are the same release; name it once")
    for hiding, knowing in product(releases, releases):
        for name in hiding.schema.sensitive:
            if name in knowing.raw:
                raise InputError(
                    f"column {name!r} is sensitive in {hiding.path}, but a quasi-identifier, "
                    f"known of people, in {knowing.path}: whoever knows it finds them in both; "
                    "these cannot be released together"
                )


def _require_same_policy(study: Study, models: Sequence[PrivacyModel], manifest: Manifest) -> None:
    """Require the policy of the manifest: studies may be in another order than their releases."""
    own = ((model.name, model.attribute, model.parameters) for model in models)
    made = ((each.model, each.attribute, each.parameters) for each in manifest.privacy)
    dumps = partial(json.dumps, sort_keys=True)
    if sorted(map(dumps, own)) != sorted(map(dumps, made)):
        raise InputError(
            f"{study.path} is not the study of the release: its policy is not that of "
            f"{MANIFEST}; name the studies in the order of the releases"
        )
