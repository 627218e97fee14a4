"""The risk of a table file: its roles and policy, its measures, and the file of their details.

Roles and policy come from a study, from the manifest of a release, or from names of columns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from anonymizer.counts.counting import open_columns
from anonymizer.counts.persons import joint_of
from anonymizer.counts.schema import Missing, Schema
from anonymizer.errors import InputError, suggestion
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.privacy import PrivacyModel, models_of, over_persons, population_of
from anonymizer.release.files import COUNTS, MANIFEST, home_of, sound
from anonymizer.release.manifest import Manifest, is_release
from anonymizer.release.manifest.parts import ReportedWarning
from anonymizer.release.manifest.standing import same_file
from anonymizer.release.output import require_place, write_file
from anonymizer.release.place import Place, as_options
from anonymizer.release.request import listed_items, require_equal_sets
from anonymizer.release.results import as_json
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import recoded_people
from anonymizer.release.warnings import OF_RAW, OF_STEWARD, ReleaseWarning
from anonymizer.risk.assessment import Assessment, assess_columns
from anonymizer.risk.detection import Detected, Undeclared, detect, undeclared
from anonymizer.risk.measured import MeasuredTable
from anonymizer.risk.ranking import Ranking, rank
from anonymizer.risk.refinement import Columnar, affordable
from anonymizer.risk.sample import NO_SAMPLE, SampleColumns, sample_risk
from anonymizer.risk.special_uniques import SpecialUniques
from anonymizer.tables import engine
from anonymizer.tables.counts_file import read_counts
from anonymizer.tables.engine import Table, Tally
from anonymizer.tables.files import Format, GivenFormat, describe_file, release_format, write_table
from anonymizer.tables.files.format import missing_values_of
from anonymizer.tables.files.opening import is_converted
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
        missing_values = missing_values_of(columns.missing_values)
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
        person: Sequence[str] = (),
        weight: str | None = None,
        items: Mapping[str, str] | None = None,
        **form: Any,
    ) -> "Subject":
        """Take any table, with columns by name.

        ``table``: that of a database, where it has several. ``form``: what is known of how the file
        is written (see ``GivenFormat``); the rest is found, spellings of missing values among it.
        """
        path = table_in(path)
        if path.suffix == ".toml":
            raise InputError(f"{path} is a study, not a table; name the table that its [data] has")
        schema = Schema(
            tuple(quasi_identifiers),
            tuple(sensitive),
            missing=missing,
            person=tuple(person),
            weight=weight,
            items=listed_items(items),
            joint=joint_of(each.attribute for each in models_of(privacy)),
        )
        models = over_persons(models_of(privacy), tuple(person))
        require_equal_sets(models, schema)
        _require_weight(models, weight)
        given = {name: value for name, value in form.items() if value is not None}
        with as_options():
            found = describe_file(path, GivenFormat(**given), schema.columns)
        return cls(path, schema, found, given=models, table=table, named=True)

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

    @property
    def hides_persons(self) -> bool:
        """Whether the policy is about persons, and the table does not show whose a record is."""
        if self.study is not None:
            return bool(self.study.schema.person) and not self.schema.person
        return self.manifest is not None and not self.given and self.manifest.hides_persons

    @property
    def examined(self) -> tuple[Sequence[PrivacyModel], Sequence[PrivacyModel]]:
        """The models of the policy that the table can be held against, and the others."""
        models = self.privacy
        hidden = [
            (self.hides_persons and each.judges_persons)
            or (each.by_weights and self.schema.weight is None)
            or (each.of_households and not self.schema.household)
            for each in models
        ]
        return (
            [model for model, hides in zip(models, hidden, strict=True) if not hides],
            [model for model, hides in zip(models, hidden, strict=True) if hides],
        )

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
            people = population_of(self.given)
            return self.schema.people_of(people, table) if self.named else None
        if is_release(self.path):
            return recoded_people(self.study, self.path, table)
        people = population_of(self.study.privacy)
        return self.schema.people_of(people, table, self.study.hierarchies)


def _require_weight(models: Sequence[PrivacyModel], weight: str | None) -> None:
    """Require the column by which models are about people whom records stand for."""
    about = next((model for model in models if model.by_weights), None)
    if about is not None and weight is None:
        raise InputError(
            f"{about.name} is about the people whom the records of a sample stand for; name the "
            "column that says how many each does, as in --weight sampling_weight"
        )


def table_in(path: Path) -> Path:
    """Return the table that a path leads to: its own, or that of the release in a directory."""
    if path.is_dir() and (path / MANIFEST).exists():
        return path / Manifest.read(path / MANIFEST).file[0].file
    return path


Details = Literal["class", "record"]
"""Whose risks are listed: those of each class, or of each record by its place in the file."""

WIDE = 64
"""Columns with a role that are counted together."""

SUFFIXES = {".csv": Format(parquet=False), ".parquet": Format(parquet=True)}


@dataclass(frozen=True, eq=False)
class FileRisk:
    """The risk of a table file, whatever columns it has.

    ``ranking`` is of subsets of the quasi-identifiers. ``detected`` are the minimal sets of
    columns, other than sensitive ones and identifiers, that distinguish most records, of up to
    ``detected_size`` columns: less than requested where columns are many.
    """

    assessment: Assessment  # for an attacker who knows the quasi-identifiers
    undeclared: Undeclared  # what columns without a role would add to that
    ranking: Ranking | None = None  # None where it was not requested
    detected: Sequence[Detected] | None = None
    detected_size: int = 0
    hides_persons: bool = False  # persons have several records, and it does not show whose each is
    details: pd.DataFrame | None = field(default=None, repr=False)  # of each class or record
    # about people with several records, and their values; of a release those of its manifest, too
    warnings: Sequence[ReleaseWarning | ReportedWarning] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the risk as JSON has it."""
        content = {**self.assessment.to_dict(), "undeclared": self.undeclared.to_dict()}
        content["warnings"] = [each.to_dict() for each in self.warnings]
        content["hides_persons"] = self.hides_persons
        if self.ranking is not None:
            content |= {"by_attribute": self.ranking.to_dict(), "detected": as_json(self.detected)}
            content["detected_size"] = self.detected_size
        return content


def assess_file(
    subject: Subject,
    size: int | None = None,
    watch: Watch = ignore,
    details: Details | None = None,
    sampled: SampleColumns = NO_SAMPLE,
    special: Callable[[Columnar, Sequence[str]], SpecialUniques] | None = None,
) -> FileRisk:
    """Measure the risk of a table file as it is: nothing is recoded.

    The table is counted where it lies. With a ``size`` also the risk of subsets of up to this many
    attributes, and with ``details`` that of each. ``sampled``: its weights and households.
    ``special``: finds the special uniques of attributes, where they are wanted.
    """
    if special is not None and (subject.schema.person or subject.hides_persons):
        raise InputError(
            "special uniques are persons of one record each; measure them of a table with a row "
            "for each person, or leave out suda"
        )
    if not subject.schema.person and not sampled.household:
        sampled = replace(sampled, household=subject.schema.household)
    sampled.require_apart(subject.schema)
    with _opened(subject, watch, details == "record") as measured:
        schema = subject.schema
        assessment = assess_columns(measured.table, schema, watch, subject.privacy)
        sample = sample_risk(measured, schema, sampled, assessment.classes)
        alone = special and special(measured.table, schema.quasi_identifiers)
        assessment = replace(assessment, sample=sample, special=alone)
        columns = [name for name in measured.columns if isinstance(name, str)]
        withheld = replace(schema, releases_weight=False).withheld  # a raw table has raw weights
        hidden = (*schema.sensitive, *withheld, *subject.identifiers, *sampled.names)
        declared = {*hidden, *subject.targets} & set(columns)
        known = schema.quasi_identifiers
        others = undeclared(measured.rest, columns, known, declared, watch=watch)
        warnings = [
            each
            for each in measured.of_persons(schema, subject.privacy, subject.identifiers)
            if each.column not in sampled.names
        ]
        hides = subject.hides_persons
        said = subject.warned(warnings)
        found = FileRisk(assessment, others, warnings=said, hides_persons=hides)
        if details is not None:
            watch("writing the details", 0, None)
            found = replace(found, details=_details(assessment, measured, details))
        if size is None:
            return found
        ranking = rank(measured.table, known, schema.sensitive, size, watch)
        known = tuple(name for name in columns if name not in (*hidden, *others.skipped))
        fits = max(affordable(size, len(known)), 1)
        detected = detect(measured.tally(known), known, fits, watch=watch)
        return replace(found, ranking=ranking, detected=detected, detected_size=fits)


@contextmanager
def _opened(subject: Subject, watch: Watch, in_order: bool) -> Iterator[MeasuredTable]:
    """Open the table as it is measured.

    A Parquet file of very many columns with a role is read a column at a time, until every record
    is alone: no two of them agree in all, so that there is nothing to count.
    """
    path, form, schema = subject.path, subject.form, subject.schema
    if len(schema.columns) <= WIDE or not (form.parquet and path.is_file()) or is_converted(path):
        with subject.measured(watch, respell=True, in_order=in_order) as measured:
            yield measured
        return
    watch("reading the table", 0, None)
    table = open_columns(path, form, schema)
    # Nothing but its columns is used of it.
    yield MeasuredTable(cast(Table, table), [*table.columns], table)


def details_at(
    path: Path, tables: Iterable[Path], *, force: bool = False
) -> Callable[[pd.DataFrame], None]:
    """Return a function that writes detailed risks to ``path``, completely or not at all.

    The file must not be one of the tables, nor be in the directory of a release, which must not
    contain what an attacker may learn.
    """
    form = SUFFIXES.get(path.suffix.lower())
    if form is None:
        hint = suggestion(path.suffix, SUFFIXES)
        raise InputError(f"cannot write {path}: no table has suffix {path.suffix!r}{hint}")
    require_place(path, "cannot write", force=True)
    if (path.parent / MANIFEST).exists():
        raise InputError(
            f"{path} would lie in the directory of a release, and discloses what that hides; "
            "write elsewhere"
        )
    if any(same_file(path, table) for table in tables):
        raise InputError(f"{path} is a table of the study; choose another file")
    require_place(path, "cannot write", force=force)

    def write(details: pd.DataFrame) -> None:
        frame = details.reset_index()
        write_file(path, partial(write_table, frame, form=form), force=force, private=True)

    return write


def _details(assessment: Assessment, measured: MeasuredTable, details: Details) -> pd.DataFrame:
    """List the risks of each class with its values, or of each record by its place in the file."""
    if details == "class":
        return _classes_named(assessment)
    if measured.original is None and isinstance(measured.table, Tally):
        raise InputError("there are counts of the table, not its records; measure risks by class")
    risks = assessment.by_record()
    if measured.original is not None:
        row_of = measured.row_of
        risks = risks.take(row_of[row_of >= 0]).set_axis(np.flatnonzero(row_of >= 0))
    risks.index = pd.Index(risks.index + 1, name="record")
    return risks


def _classes_named(assessment: Assessment) -> pd.DataFrame:
    """List the risks of each class with its values, ``value(age)`` for each attribute."""
    risks = assessment.by_class()
    class_of = assessment.classes.class_of
    some = np.zeros(assessment.classes.classes, np.intp)
    some[class_of] = np.arange(len(class_of))
    values = {
        f"value({name})": assessment.table[name].iloc[some].to_numpy()
        for name in assessment.schema.quasi_identifiers
    }
    return pd.DataFrame(values, risks.index).join(risks)
