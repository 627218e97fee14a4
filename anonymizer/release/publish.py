"""From a study file to a release on disk and back; nothing is published unchecked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.recoding import Task
from anonymizer.release.manifest import Manifest, digests_of, is_release, shape_of
from anonymizer.release.manifest.figures import ReportedObjective
from anonymizer.release.manifest.fingerprint import fingerprint_of
from anonymizer.release.manifest.parts import (
    ReleasedFile,
    ReleasedPart,
    ReportedInput,
    ReportedRoles,
)
from anonymizer.release.manifest.standing import require_free
from anonymizer.release.output.atomic import Folder
from anonymizer.release.output.directory import Output, reserved
from anonymizer.release.proof import prove
from anonymizer.release.relations import Carried, counted_in, fitted
from anonymizer.release.release import FILES, Release, Spreadsheet
from anonymizer.release.signing import PrivateKey, manifest_writers
from anonymizer.release.study import Study
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, disarmed, disarmed_text, formulas
from anonymizer.tables.files.opening import require_named
from anonymizer.tables.relations.files import opened
from anonymizer.tables.relations.relation import Relation
from anonymizer.tables.relations.spreadsheet import (
    disarmed_in,
    formulas_in,
    with_safe_names_in,
)


def publish(
    study: Study,
    directory: Path,
    *,
    force: bool = False,
    n_jobs: int | None = None,
    watch: Watch = ignore,
    on_counted: Callable[[Task], object] | None = None,
    key: PrivateKey | None = None,
) -> tuple[Release, Manifest]:
    """Anonymize the table of a study and write table and manifest into a directory.

    The table is verified twice: in memory, and once more as read back from the file, before either
    file gets its name. Until then nobody but the owner can read them. The directory is locked from
    the beginning to the end; ``force`` lets a release of ours be replaced, and nothing else.
    ``on_counted`` is called with the table once it is counted, for whoever advises on it later.
    ``key`` signs the manifest, which has a keyed fingerprint of the table then.

    Raises InputError when the study cannot be carried out, the directory not be written, or another
    run is writing there; the directory is left as it was, if the message does not say otherwise.
    Raises PolicyUnreachableError or PolicyBrokenError when the policy cannot be met.
    """
    with reserved(directory, FILES) as output:
        require_free(directory, study.data_path, force)
        return _publish(study, output, force, n_jobs, watch, on_counted, key)


def _publish(
    study: Study,
    output: Output,
    force: bool,
    n_jobs: int | None,
    watch: Watch,
    on_counted: Callable[[Task], object] | None,
    key: PrivateKey | None,
) -> tuple[Release, Manifest]:
    form, given = study.data_format, study.document.data
    written, parts = study.output_format, study.document.output.parts
    writing = Writing(written, study.disarms(written), parts, key, force)
    anonymizer = study.anonymizer(n_jobs, watch)
    watch("reading the table", 0, None)
    with output.workspace() as space:
        place = Place(study.data_path, form, given.table, space, given.memory, watch)
        with place.opened(study.schema.columns) as raw:
            if writing.safe:
                raw = with_safe_names_in(raw, (*study.schema.columns, *study.schema.identifiers))
            watch("counting the table", 0, None)
            carried = fitted(anonymizer, raw, form, on_counted)
            watch("writing and verifying the release", 0, None)
            promised = Promised(study.published, study.privacy, study.objective_options)
            return write_release(output, carried, promised, writing, place)


class Place(NamedTuple):
    """Where a table lies and how it is read.

    ``path`` and ``form``; the ``table`` of a database; ``space``: a directory for what does not fit
    into ``memory``; ``watch`` is told of the progress.
    """

    path: Path
    form: Format
    table: str | None
    space: Path
    memory: str | None = None
    watch: Watch = ignore

    @contextmanager
    def opened(self, columns: Sequence[str]) -> Iterator[Relation]:
        """The table where it lies; InputError when it cannot be read, or lacks some columns."""
        means = {"table": self.table, "scratch": self.space, "memory": self.memory}
        with opened(self.path, self.form, **means, watch=self.watch) as found:
            require_named(self.path, found.columns, columns, self.form)
            yield found

    def released(self, path: Path, form: Format) -> "Place":
        """Where the released table lies, read with the same means."""
        return self._replace(path=path, form=form, table=None)


class Promised(NamedTuple):
    """What a released file is held against: roles, policy, and the objective as it is reported."""

    schema: Schema
    models: Sequence[PrivacyModel]
    objective: Mapping[str, object]


class Writing(NamedTuple):
    """How a release is written.

    ``form``: of the file; ``safe``: whether cells that a spreadsheet would run are disarmed;
    ``parts``: the files that the table is spread over, None for one file; the ``key`` that signs,
    None for no signature; ``force``: whether a release that lies there is replaced.
    """

    form: Format
    safe: bool
    parts: int | None
    key: PrivateKey | None
    force: bool


def write_release(
    output: Output, carried: Carried, promised: Promised, writing: Writing, place: Place
) -> tuple[Release, Manifest]:
    """Write a proven table and its manifest, and prove it once more as counted from the file.

    ``place`` is that of the table that was given.
    """
    form, schema, release = writing.form, promised.schema, carried.release
    table, counted, people = carried.table, carried.counted, carried.people
    cells = {} if form.parquet else formulas_in(table, counted)
    if cells or writing.safe:
        release = replace(release, spreadsheet=Spreadsheet(writing.safe, cells))
    name = "released" + form.suffix
    manifest = release.manifest.with_texts(disarmed_text) if writing.safe else release.manifest
    about = {
        "columns": reported_roles(schema, form),
        "objective": ReportedObjective.model_validate(promised.objective),
        **_input(carried, schema, writing.key),
    }
    if writing.safe:
        _require_unordered(promised.models, engine.chosen(counted, schema.sensitive))
        table, people = disarmed_in(table), None if people is None else disarmed(people)
    shape = {**shape_of(counted, schema), "columns": [*map(str, table.columns)]}

    def manifest_in(directory: Path) -> Manifest:
        nonlocal manifest
        file_of = _file(directory / name, shape)
        manifest = manifest.model_copy(update={**about, "table": file_of})
        return manifest

    def write(path: Path) -> None:
        table.write(path, form, writing.parts)
        with place.released(path, form).opened(schema.columns) as written:
            _prove(written, carried, promised, people, form)

    output.write(
        {
            name: write if writing.parts is None else Folder(write),
            **manifest_writers(manifest_in, writing.key),
        },
        force=writing.force,
    )
    return release, manifest


def _file(path: Path, shape: Mapping[str, object]) -> ReleasedFile:
    """What is reported of the file, or the folder of files, that a table was written to."""
    digest, parts = digests_of(path)
    listed = parts and [ReleasedPart(file=name, sha256=found) for name, found in parts.items()]
    given = {} if listed is None else {"parts": listed}
    return ReleasedFile(file=path.name, sha256=digest, **shape, **given)  # type: ignore[arg-type]


def _input(carried: Carried, schema: Schema, key: PrivateKey | None) -> dict[str, ReportedInput]:
    """What is reported of the table that was given, where there is a key.

    Nothing of one that is released under differential privacy, whose records are not reported.
    """
    if key is None or carried.release.records is None:
        return {}
    names = {*carried.release.recoding, *schema.sensitive, *schema.targets}
    return {"input": ReportedInput(fingerprint=fingerprint_of(carried.given, names, key.of_counts))}


def _require_unordered(models: Sequence[PrivacyModel], table: Tally) -> None:
    """Require that no model knows sensitive values by texts that are written otherwise."""
    for model in models:
        name = getattr(model, "attribute", None)
        listed = getattr(model, "order", None) or getattr(model, "hierarchy", None)
        if listed and formulas(table if name is None else engine.chosen(table, [name])):
            raise InputError(
                f"csv-safe = true changes values that {model.name} lists in an order or a "
                "hierarchy; leave csv-safe out, or write these values in another way"
            )


def schema_at(study: Study, path: Path) -> Schema:
    """The roles that matter to the risk of a table of a study, a release or not, as it stands."""
    schema = study.published if is_release(path) else study.schema
    return replace(schema, identifiers=(), targets=())


def form_at(study: Study, path: Path) -> Format:
    """The format of a table of a study, a release or not."""
    return study.released_format_of(path) if is_release(path) else study.format_of(path)


def reported_roles(schema: Schema, form: Format) -> ReportedRoles:
    """The columns of a release and how it is read: an audit needs no study then."""
    return ReportedRoles(
        quasi_identifiers=list(schema.quasi_identifiers),
        sensitive=list(schema.sensitive),
        targets=list(schema.targets),
        identifiers=list(schema.identifiers),
        missing=schema.missing,
        missing_values=list(form.missing_values),
        separator=form.separator,
    )


def _prove(
    written: Relation, carried: Carried, promised: Promised, people: Tally | None, form: Format
) -> None:
    """Prove what a file holds: texts may merge or split what values did not."""
    schema = promised.schema
    schema.require_unnamed(written.columns)
    counted = counted_in(written, schema.columns, form)[1]
    prove(counted, schema, promised.models, people)
    if engine.records(counted) != carried.release.released:
        raise InputError(
            "the released file has other records than were released: was the table changed in the "
            "meantime? Run again; nothing was written"
        )
