"""What is measured as it stands: a table file, the roles of its columns, and a policy.

Roles and policy come from a study, from the manifest of a release, or from names of columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import InputError, require_columns
from anonymizer.privacy import PrivacyModel, models_of, population_of
from anonymizer.profiling.missing import spellings_of_missing
from anonymizer.release.manifest import Manifest, is_release, sound
from anonymizer.release.publish import form_at, schema_at
from anonymizer.release.release import MANIFEST
from anonymizer.release.study import Study
from anonymizer.release.verification import recoded_people
from anonymizer.tables.files import (
    Format,
    Given,
    columns_in,
    describe_file,
    read_table,
    release_format,
)


@dataclass(frozen=True, eq=False)
class Subject:
    """A table file whose risk is measured.

    Parameters
    ----------
    path
        The table.
    schema
        The roles of its columns as it stands, without identifiers and targets.
    form
        How the file is written.
    identifiers, targets
        Columns that a release leaves out, or is to inform about: no warning is about them.
    originals
        Other tables that a file of results must not replace.
    given, manifest, study
        Where the policy comes from: models by themselves, a manifest, or a study.
    """

    path: Path
    schema: Schema
    form: Format
    identifiers: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    originals: tuple[Path, ...] = ()
    given: Sequence[PrivacyModel] = ()
    manifest: Manifest | None = None
    study: Study | None = None

    @classmethod
    def of_study(cls, study: Study, path: Path) -> "Subject":
        """A table of a study, raw or released."""
        roles, path = study.schema, table_in(path)
        return cls(
            path,
            schema_at(study, path),
            form_at(study, path),
            roles.identifiers,
            roles.targets_alone,
            (study.data_path,),
            study=study,
        )

    @classmethod
    def of_release(cls, path: Path) -> "Subject":
        """A released table with the roles and the policy of the manifest next to it.

        Raises InputError when there is no manifest, or it is not about this table.
        """
        directory = path if path.is_dir() else path.parent
        manifest = Manifest.read(directory / MANIFEST)
        with sound(directory / MANIFEST):
            table, roles = manifest.table_at(path), manifest.roles
            columns = manifest.file[1]
        form = release_format(table, columns.separator, tuple(columns.missing_values))
        schema = replace(roles, targets=())
        identifiers = tuple(columns.identifiers)
        return cls(table, schema, form, identifiers, roles.targets_alone, manifest=manifest)

    @classmethod
    def of_names(
        cls,
        path: Path,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str] = (),
        privacy: Sequence[PrivacyModel] = (),
        missing: Missing = "category",
        **form: Any,
    ) -> "Subject":
        """Any table, with columns by name.

        ``form``: what is known of how the file is written (see ``Given``); the rest is found,
        spellings of missing values among it.
        """
        path = table_in(path)
        schema = Schema(tuple(quasi_identifiers), tuple(sensitive), missing=missing)
        found = _form_of(path, schema, form)
        return cls(path, schema, found, given=models_of(privacy))

    def under(self, models: Sequence[PrivacyModel]) -> "Subject":
        """The same under another policy; its own where no model is given."""
        return replace(self, given=models_of(models))

    @property
    def privacy(self) -> Sequence[PrivacyModel]:
        """The policy.

        Raises InputError when the manifest has only a digest of what a model needs.
        """
        if self.study is not None:
            return self.study.privacy
        if self.manifest is not None and not self.given:
            return self.manifest.policy
        return self.given

    def read(self) -> pd.DataFrame:
        """The records that are counted, as they are written."""
        table = read_table(self.path, self.form, self.schema.columns)
        return self.schema.admit(table, respell=False)

    def population(self, table: pd.DataFrame) -> pd.DataFrame | None:
        """The population of the policy, recoded where the table is a release."""
        if self.study is None:
            return None
        if is_release(self.path):
            return recoded_people(self.study, self.path, table)
        people = population_of(self.study.privacy)
        return None if people is None else self.schema.admit_population(people.table)


def table_in(path: Path) -> Path:
    """The table that a path leads to: its own, or that of the release in a directory."""
    if path.is_dir() and (path / MANIFEST).exists():
        return path / Manifest.read(path / MANIFEST).file[0].file
    return path


def _form_of(path: Path, schema: Schema, known: Mapping[str, Any]) -> Format:
    """The format of a file, with the spellings of missing values in the named columns."""
    given = {name: value for name, value in known.items() if value is not None}
    try:
        form = describe_file(path, Given(**given), schema.columns)
        require_columns(columns_in(path, form), schema.columns)
    except InputError as error:
        more = "; here that is an option, such as --encoding" if "[data]" in str(error) else ""
        raise InputError(f"{error}{more}") from None
    if form.missing_values:
        return form
    named = read_table(path, form, schema.columns)[list(schema.columns)]
    return replace(form, missing_values=spellings_of_missing(named))
