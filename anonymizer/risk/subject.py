"""What is measured as it stands: a table file, the roles of its columns, and a policy.

Roles and policy come from a study, from the manifest of a release, or from names of columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import InputError
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.privacy import PrivacyModel, models_of, population_of
from anonymizer.release.description.place import Place, as_options
from anonymizer.release.files import COUNTS, MANIFEST
from anonymizer.release.manifest import Manifest, home_of, is_release, sound
from anonymizer.release.manifest.parts import ReportedWarning
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import recoded_people
from anonymizer.release.warnings.warnings import OF_RAW, OF_STEWARD, ReleaseWarning
from anonymizer.risk.measured import MeasuredTable
from anonymizer.tables import engine
from anonymizer.tables.counts_file import read_counts
from anonymizer.tables.files import Format, GivenFormat, describe_file, release_format
from anonymizer.tables.relations.relation import Relation


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
    table
        That of a database, where there is no study.
    named
        Whether columns are given by name, and what the file does not show as options.
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
    table: str | None = None
    named: bool = False

    @classmethod
    def of_study(cls, study: Study, path: Path) -> "Subject":
        """Take a table of a study, raw or released."""
        roles, path = study.schema, table_in(path)
        released = is_release(path)
        schema = study.published if released else study.schema
        if path.name == COUNTS:
            form = Format(True)
        else:
            form = study.released_format_of(path) if released else study.format_of(path)
        return cls(
            path,
            replace(schema, identifiers=(), targets=()),
            form,
            roles.identifiers,
            roles.targets_alone,
            (study.data_path,),
            study=study,
        )

    @classmethod
    def of_release(cls, path: Path) -> "Subject":
        """Take a released table with the roles and the policy of the manifest next to it.

        Raises InputError when there is no manifest, or it is not about this table.
        """
        directory = home_of(path)
        manifest = Manifest.read(directory / MANIFEST)
        with sound(directory / MANIFEST):
            table, roles = manifest.table_at(path), manifest.roles
            columns = manifest.file[1]
        missing_values = tuple(columns.missing_values)
        if table.name == COUNTS:
            form = Format(True, missing_values=missing_values)
        else:
            form = release_format(table, columns.separator, missing_values)
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
        missing: Missing = "gap",
        table: str | None = None,
        **form: Any,
    ) -> "Subject":
        """Take any table, with columns by name.

        ``table``: that of a database, where it has several. ``form``: what is known of how the file
        is written (see ``GivenFormat``); the rest is found, spellings of missing values among it.
        """
        path = table_in(path)
        if path.suffix == ".toml":
            raise InputError(f"{path} is a study, not a table; name the table that its [data] has")
        schema = Schema(tuple(quasi_identifiers), tuple(sensitive), missing=missing)
        given = {name: value for name, value in form.items() if value is not None}
        with as_options():
            found = describe_file(path, GivenFormat(**given), schema.columns)
        return cls(path, schema, found, given=models_of(privacy), table=table, named=True)

    def under(self, models: Sequence[PrivacyModel]) -> "Subject":
        """Return the subject under another policy; under its own where no model is given."""
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

    def warned(
        self, found: Iterable[ReleaseWarning | ReportedWarning]
    ) -> tuple[ReleaseWarning | ReportedWarning, ...]:
        """Join warnings that were found in the table with its manifest's about the raw one."""
        given = [*found]
        known = {(each.code, each.column) for each in given}
        return (*given, *(each for each in self._of_raw if (each.code, each.column) not in known))

    @property
    def _of_raw(self) -> Iterator[ReportedWarning]:
        """Warnings of a release's manifest about what the released table does not show.

        With the figures of the steward's file; ``verify`` says where that is of another release.
        """
        if self.manifest is None and (self.study is None or not is_release(self.path)):
            return
        directory = home_of(self.path)
        try:
            manifest = Manifest.of_steward(directory)
        except InputError:
            manifest = None
        manifest = manifest or self.manifest or Manifest.read(directory / MANIFEST)
        codes = {*OF_RAW} - {*OF_STEWARD}
        yield from (each for each in manifest.warnings if each.code in codes)

    @contextmanager
    def measured(
        self, watch: Watch = ignore, *, respell: bool, in_order: bool = False
    ) -> Iterator[MeasuredTable]:
        """Open the table as it is measured; see ``Schema.admit``.

        ``in_order``: its records are read in their order, too.
        """
        watch("reading the table", 0, None)
        if self.path.name == COUNTS:
            yield MeasuredTable.counted(read_counts(self.path)[0], self.schema)
            return
        with self._opened(watch, in_order) as table:
            watch("counting the table", 0, None)
            found = self.named and not self.form.missing_values
            yield MeasuredTable.stored(
                table, self.schema, self.form, respell=respell, spelled=found
            )

    @contextmanager
    def _opened(self, watch: Watch, in_order: bool) -> Iterator[Relation]:
        if self.study is None:
            place = Place(self.path, self.form, self.table, watch=watch)
        else:
            place = self.study.place_of(self.path, self.form, watch)
        place = place.in_order if in_order else place
        with ExitStack() as stack:
            with as_options() if self.named else nullcontext():
                table = stack.enter_context(place.opened(self.schema.columns))
            yield table

    def population(self, table: engine.Table) -> engine.Table | None:
        """Return the population of the policy, recoded where the table is a release."""
        if self.study is None:
            return None
        if is_release(self.path):
            return recoded_people(self.study, self.path, table)
        people = population_of(self.study.privacy)
        return None if people is None else self.schema.admit_population(people.table)


def table_in(path: Path) -> Path:
    """Return the table that a path leads to: its own, or that of the release in a directory."""
    if path.is_dir() and (path / MANIFEST).exists():
        return path / Manifest.read(path / MANIFEST).file[0].file
    return path
