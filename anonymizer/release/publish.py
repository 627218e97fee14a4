"""From a study file to a release on disk and back; nothing is published unchecked."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.privacy import PrivacyModel
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.recoding import Task
from anonymizer.release.manifest import Manifest, digest_of_file, is_release, shape_of
from anonymizer.release.manifest.figures import ReportedObjective
from anonymizer.release.manifest.fingerprint import fingerprint_of
from anonymizer.release.manifest.parts import ReleasedFile, ReportedInput, ReportedRoles
from anonymizer.release.output.directory import Output, reserved
from anonymizer.release.proof import prove
from anonymizer.release.release import FILES, MANIFEST, SIGNATURE, Release, Spreadsheet
from anonymizer.release.signing import PrivateKey, manifest_writers
from anonymizer.release.study import Study
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import (
    Format,
    disarmed,
    disarmed_text,
    formulas,
    read_table,
    with_safe_names,
    write_table,
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
    form = study.data_format
    anonymizer = study.anonymizer(n_jobs, watch)
    watch("reading the table", 0, None)
    safe = study.disarms(form)
    raw = study.read(form=form)
    raw = with_safe_names(raw, (*study.schema.columns, *study.schema.identifiers)) if safe else raw
    watch("counting the table", 0, None)
    task = anonymizer.task(raw)
    if on_counted is not None:
        on_counted(task)
    table = anonymizer.fit_counted(raw, task)
    watch("writing and verifying the release", 0, None)
    people = anonymizer.plan_.fitted.people(table)
    objective = study.objective_options
    written = Written(form, safe, study.published, study.privacy, objective, key, force)
    return write_release(output, raw, table, anonymizer.release_, people, written)


class Written(NamedTuple):
    """How a release is written.

    ``form``: of the table that was given; ``safe``: whether cells that a spreadsheet would run are
    disarmed; roles, policy and objective; the ``key`` that signs, None for no signature; ``force``:
    whether a release that lies there is replaced.
    """

    form: Format
    safe: bool
    schema: Schema
    models: Sequence[PrivacyModel]
    objective: Mapping[str, object]
    key: PrivateKey | None
    force: bool


def write_release(
    output: Output,
    raw: pd.DataFrame,
    table: pd.DataFrame,
    release: Release,
    people: Tally | None,
    written: Written,
) -> tuple[Release, Manifest]:
    """Write a proven table and its manifest, and prove it once more as read back.

    ``raw`` is the table that was given, ``people`` the population recoded as the released one.
    """
    form, safe, schema = written.form, written.safe, written.schema
    cells = {} if form.parquet else formulas(table)
    if cells or safe:
        release = replace(release, spreadsheet=Spreadsheet(safe, cells))
    name = "released" + form.suffix
    manifest = release.manifest.with_texts(disarmed_text) if safe else release.manifest
    shape = shape_of(table, schema)
    about = {
        "columns": reported_roles(schema, form),
        "objective": ReportedObjective.model_validate(written.objective),
        **_input(raw, release, written),
    }

    def manifest_in(directory: Path) -> Manifest:
        nonlocal manifest
        file_of = ReleasedFile(file=name, sha256=digest_of_file(directory / name), **shape)
        manifest = manifest.model_copy(update={**about, "table": file_of})
        return manifest

    if safe:
        _require_unordered(written.models, table[list(schema.sensitive)])
        table, people = disarmed(table), None if people is None else disarmed(people)
    output.write(
        {
            name: lambda path: _write_proven(table, path, written, people),
            **manifest_writers(manifest_in, written.key),
        },
        force=written.force,
    )
    return release, manifest


def _input(raw: pd.DataFrame, release: Release, written: Written) -> dict[str, ReportedInput]:
    """What is reported of the table that was given, where there is a key.

    Nothing of one that is released under differential privacy, whose records are not reported.
    """
    if written.key is None or release.records is None:
        return {}
    names = {*release.recoding, *written.schema.sensitive, *written.schema.targets}
    return {"input": ReportedInput(fingerprint=fingerprint_of(raw, names, written.key.of_counts))}


def _require_unordered(models: Sequence[PrivacyModel], table: pd.DataFrame) -> None:
    """Require that no model knows sensitive values by texts that are written otherwise."""
    for model in models:
        name = getattr(model, "attribute", None)
        listed = getattr(model, "order", None) or getattr(model, "hierarchy", None)
        if listed and formulas(table if name is None else table[[name]]):
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


def require_free(directory: Path, source: Path, force: bool) -> None:
    """Refuse a directory that holds a release, unless forced; never replace the table itself."""
    there = [name for name in reversed(FILES) if os.path.lexists(directory / name)]
    for name in there:
        if same_file(directory / name, source):
            raise InputError(f"{directory / name} is the table itself; choose another directory")
    if there and not force:
        raise InputError(f"{directory} already holds a release, {there[0]}; --force replaces it")
    ours = _release_in(directory) if there else ()
    for name in (name for name in there if name not in ours):
        raise InputError(
            f"{directory / name} is no part of a release of ours, which alone --force "
            "replaces; move it or choose another directory"
        )


def same_file(path: Path, source: Path) -> bool:
    """Whether both paths lead to the same existing file."""
    try:
        return path.samefile(source)
    except (OSError, ValueError):  # reading the table will say why
        return False


def _release_in(directory: Path) -> tuple[str, ...]:
    """The files of the release that lies there; none if what lies there is no release of ours."""
    try:
        manifest = Manifest.read(directory / MANIFEST)
    except InputError:
        return ()
    ours = manifest.table if manifest.versions.anonymizer else None
    return () if ours is None else (MANIFEST, SIGNATURE, ours.file)


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


def _write_proven(table: pd.DataFrame, path: Path, written: Written, people: Tally | None) -> None:
    """Write a table and prove what the file holds: texts may merge or split what values did not."""
    form, schema = written.form.released, written.schema
    write_table(table, path, form)
    prove(read_table(path, form, schema.columns), schema, written.models, people)
