"""From a study file to a release on disk and back; nothing is published unchecked."""

import hashlib
import json
from pathlib import Path

import pandas as pd

from anonymizer.atomic import write_together
from anonymizer.errors import InputError
from anonymizer.privacy import Verdict
from anonymizer.release import Release, prove, verify
from anonymizer.search import Watch, ignore
from anonymizer.study import Study
from anonymizer.tables import Format, write_table

__all__ = ["MANIFEST", "check", "publish"]

RELEASED = ("released.csv", "released.parquet")
MANIFEST = "release.json"


def publish(
    study: Study,
    directory: Path,
    *,
    force: bool = False,
    n_jobs: int | None = None,
    watch: Watch = ignore,
) -> tuple[Release, dict[str, object]]:
    """Anonymize the table of a study and write table and manifest into a directory.

    The table is verified twice: in memory, and once more as read back from the file, before either
    file gets its name.

    Returns
    -------
    The release and its manifest, as ``release.json`` has it.

    Raises
    ------
    InputError
        When the study cannot be carried out or the directory not be written; nothing is left there.
    PolicyUnreachableError, PolicyBrokenError
        When the policy cannot be met.
    """
    _require_free(directory, study.data_path, force)
    form = study.data_format
    anonymizer = study.anonymizer(n_jobs, watch)
    watch("reading the table", 0, None)
    raw = study.read(form=form)
    watch("counting the table", 0, None)
    table = anonymizer.fit_transform(raw)
    watch("writing and verifying the release", 0, None)
    name = "released" + form.suffix
    manifest: dict[str, object] = {}

    def write_manifest(path: Path) -> None:
        with (path.parent / name).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        manifest.update(anonymizer.release_.to_dict())
        manifest["table"] = {"file": name, "sha256": digest}
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")

    write_together(
        directory,
        {name: lambda path: _write_proven(table, path, form, study), MANIFEST: write_manifest},
        obsolete=RELEASED,
    )
    return anonymizer.release_, manifest


def check(study: Study, path: Path) -> list[Verdict]:
    """Recount a released table and hold the policy of a study against it.

    Raises
    ------
    InputError
        When the table cannot be read or lacks a column.
    PolicyBrokenError
        When an identifier stands in it.
    """
    return verify(study.read(path), study.schema, study.privacy)


def _require_free(directory: Path, source: Path, force: bool) -> None:
    """Refuse a directory that holds a release, unless forced; never replace the table itself."""
    for path in (directory / name for name in (MANIFEST, *RELEASED)):
        try:
            there = path.exists()
            itself = there and source.exists() and path.samefile(source)
        except (OSError, ValueError):
            return  # making the directory will say why
        if itself:
            raise InputError(f"{path} is the table itself; choose another directory")
        if there and not force:
            raise InputError(
                f"{directory} already holds a release, {path.name}; --force replaces it"
            )


def _write_proven(table: pd.DataFrame, path: Path, form: Format, study: Study) -> None:
    """Write a table and prove what the file holds: texts may merge or split what values did not."""
    write_table(table, path, form)
    prove(study.read(path, form), study.schema, study.privacy)
