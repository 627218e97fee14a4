"""From a study file to a release on disk and back; nothing is published unchecked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.privacy import PrivacyModel, Verdict
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.recoding import Task
from anonymizer.release.fitting import fitted
from anonymizer.release.manifest import Manifest, digests_of, shape_of
from anonymizer.release.manifest.figures import ReportedObjective
from anonymizer.release.manifest.fingerprint import fingerprint_of
from anonymizer.release.manifest.parts import (
    Order,
    ReleasedFile,
    ReleasedPart,
    ReportedInput,
    ReportedRoles,
    Series,
)
from anonymizer.release.manifest.standing import require_free
from anonymizer.release.output.atomic import Folder
from anonymizer.release.output.directory import Output, reserved
from anonymizer.release.plan import RecodedTable
from anonymizer.release.proof import prove, require_present
from anonymizer.release.relations import counted_in
from anonymizer.release.release import FILES, STEWARD, Release, Spreadsheet
from anonymizer.release.signing import PrivateKey, manifest_writers
from anonymizer.release.study import Study
from anonymizer.release.study.place import Place
from anonymizer.release.warnings.warnings import TELLING_ORDER, require_no_warnings
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, disarmed, disarmed_text, formulas
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
    strict: bool = False,
) -> tuple[Release, Manifest]:
    """Anonymize the table of a study and write table and manifest into a directory.

    The table is verified twice: in memory, and once more as read back from the file, before either
    file gets its name. Until then nobody but the owner can read them. The directory is locked from
    the beginning to the end; ``force`` lets a release of ours be replaced, and nothing else.
    ``on_counted`` is called with the table once it is counted, for whoever advises on it later.
    ``key`` signs the manifest, which has a keyed fingerprint of the table then. ``strict``: whether
    a release that has warnings is refused.

    Raises InputError when the study cannot be recoded out, the directory not be written, or another
    run is writing there; the directory is left as it was, if the message does not say otherwise.
    Raises PolicyUnreachableError or PolicyBrokenError when the policy cannot be met, WarningsError
    where ``strict`` allows no warning.
    """
    with reserved(directory, FILES, next_to=STEWARD) as output:
        require_free(directory, study.data_path, force)
        return _publish(study, output, force, n_jobs, watch, on_counted, key, strict)


def _publish(
    study: Study,
    output: Output,
    force: bool,
    n_jobs: int | None,
    watch: Watch,
    on_counted: Callable[[Task], object] | None,
    key: PrivateKey | None,
    strict: bool,
) -> tuple[Release, Manifest]:
    form = study.data_format
    written, parts = study.output_format, study.document.output.parts
    writing = Writing(written, study.disarms(written), parts, study.order, key, force, strict)
    anonymizer = study.anonymizer(n_jobs, watch)
    watch("reading the table", 0, None)
    with output.workspace() as space:
        place = study.place(space, watch)
        with place.opened(study.schema.columns) as raw:
            if writing.safe:
                raw = with_safe_names_in(raw, study.schema.named)
            watch("counting the table", 0, None)
            recoded = fitted(anonymizer, raw, form, on_counted)
            watch("writing and verifying the release", 0, None)
            promised = Promised(study.published, study.privacy, study.objective_options)
            return write_release(output, recoded, promised, writing, place)


class Promised(NamedTuple):
    """What a released file is held against: roles, policy, and the objective as it is reported."""

    schema: Schema
    models: Sequence[PrivacyModel]
    objective: Mapping[str, object]


class Writing(NamedTuple):
    """How a release is written.

    ``form``: of the file; ``safe``: whether cells that a spreadsheet would run are disarmed;
    ``parts``: the files that the table is spread over, None for one file; the ``order`` of the
    records; the ``key`` that signs, None for no signature; ``force``: whether a release that lies
    there is replaced; ``strict``: whether one that has warnings is refused.
    """

    form: Format
    safe: bool
    parts: int | None
    order: Order
    key: PrivateKey | None
    force: bool
    strict: bool


def write_release(
    output: Output, recoded: RecodedTable, promised: Promised, writing: Writing, place: Place
) -> tuple[Release, Manifest]:
    """Write a proven table and its manifest, and prove it once more as counted from the file.

    What is reported of the policy is what the file shows. ``place`` is that of the table that was
    given.
    """
    name = "released" + writing.form.suffix
    release = _in_order(_with_cells(recoded, writing), writing.order)
    if writing.strict:
        require_no_warnings(release.warnings)
    table, people = _disarmed(recoded, promised, writing)
    if writing.order == "random" and not recoded.plan.random_order:
        table = table.shuffled()
    manifest: Manifest | None = None

    def write(path: Path) -> None:
        nonlocal release
        table.write(path, writing.form, writing.parts)
        stored = place.released(path, writing.form)
        with stored.opened(promised.schema.columns) as written:
            release = replace(release, privacy=_proven(written, recoded, promised, people, stored))

    def manifest_in(directory: Path) -> Manifest:
        nonlocal manifest
        manifest = _manifest(release, recoded, promised, writing)
        shape = shape_of(recoded.records, promised.schema)
        shown = {"columns": [*map(str, table.columns)], "order": writing.order}
        file = _file(directory / name, {**shape, **shown})
        manifest = manifest.model_copy(update={"table": file})
        return manifest

    writer = write if writing.parts is None else Folder(write)
    manifests = manifest_writers(manifest_in, writing.key)
    files = {name: writer, **manifests.of_release}
    output.write(files, force=writing.force, next_to=manifests.of_steward)
    assert manifest is not None
    return release, manifest


def _in_order(release: Release, order: Order) -> Release:
    """The release as it is written: a random order of records tells nothing."""
    if order == "kept":
        return release
    left = tuple(each for each in release.warnings if each.code != TELLING_ORDER)
    return replace(release, warnings=left)


def _with_cells(recoded: RecodedTable, writing: Writing) -> Release:
    """The release with what is reported of cells that a spreadsheet would run."""
    cells = (
        {} if writing.form.parquet else formulas_in(recoded.table, recoded.records, recoded.source)
    )
    if not cells and not writing.safe:
        return recoded.release
    return replace(recoded.release, spreadsheet=Spreadsheet(writing.safe, cells))


def _disarmed(
    recoded: RecodedTable, promised: Promised, writing: Writing
) -> tuple[Relation, Tally | None]:
    """The table as it is written, and the population recoded as it is."""
    table, people = recoded.table, recoded.people
    if not writing.safe:
        return table, people
    _require_unordered(promised.models, engine.chosen(recoded.records, promised.schema.sensitive))
    return disarmed_in(table), None if people is None else disarmed(people)


def _manifest(
    release: Release, recoded: RecodedTable, promised: Promised, writing: Writing
) -> Manifest:
    """What is reported of a release but for its file."""
    manifest = release.steward_manifest
    manifest = manifest.with_texts(disarmed_text) if writing.safe else manifest
    about = {
        "columns": reported_roles(promised.schema, writing.form),
        "objective": ReportedObjective.model_validate(promised.objective),
        **signed_parts(recoded.release, recoded.raw.at_ground, promised.schema, writing.key),
    }
    return manifest.model_copy(update=about)


def _file(path: Path, shape: Mapping[str, object]) -> ReleasedFile:
    """What is reported of the file, or the folder of files, that a table was written to."""
    digest, parts = digests_of(path)
    listed = parts and [ReleasedPart(file=name, sha256=found) for name, found in parts.items()]
    given = {} if listed is None else {"parts": listed}
    return ReleasedFile(file=path.name, sha256=digest, **shape, **given)  # type: ignore[arg-type]


def signed_parts(
    release: Release, given: Tally, schema: Schema, key: PrivateKey | None
) -> dict[str, ReportedInput | Series | None]:
    """What a manifest has by the key that signs it: the series, and a fingerprint of the table.

    There is none of a table that is released under differential privacy, whose records are not
    reported.
    """
    if key is None:
        return {}
    series: dict[str, ReportedInput | Series | None] = {"series": key.series} if key.series else {}
    if release.records is None:
        return series
    names = {*release.recoding, *schema.sensitive, *schema.targets}
    return {
        **series,
        "input": ReportedInput(fingerprint=fingerprint_of(given, names, key.of_counts)),
    }


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


def _proven(
    written: Relation,
    recoded: RecodedTable,
    promised: Promised,
    people: Tally | None,
    stored: Place,
) -> Sequence[Verdict]:
    """Prove what a file holds: texts may merge or split what values did not."""
    schema = promised.schema
    schema.require_unnamed(written.columns)
    shown, counted = counted_in(written, schema.columns, stored.form)
    require_present(shown, schema.quasi_identifiers, stored.form.missing_values)
    verdicts = prove(counted, schema, promised.models, people)[1]
    if engine.records(counted) != recoded.release.released:
        raise InputError(
            "the released file has other records than were released: was the table changed in the "
            "meantime? Run again; nothing was written"
        )
    return verdicts
