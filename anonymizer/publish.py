"""From a study file to a release on disk and back; nothing is published unchecked."""

import hashlib
import json
from pathlib import Path

import pandas as pd

from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.privacy import Verdict
from anonymizer.release import Release, prove, verify
from anonymizer.study import Study
from anonymizer.tables import Format, write_table, write_together

__all__ = ["MANIFEST", "check", "publish"]

RELEASED = "released"
MANIFEST = "release.json"


def publish(
    study: Study, directory: Path, *, force: bool = False, n_jobs: int | None = None
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
    _require_free(directory, force)
    form = study.data_format
    anonymizer = study.anonymizer(n_jobs)
    table = anonymizer.fit_transform(study.read(form=form))
    name = RELEASED + form.suffix
    manifest: dict[str, object] = {}

    def write_manifest(path: Path) -> None:
        digest = hashlib.sha256((path.parent / name).read_bytes()).hexdigest()
        manifest.update(anonymizer.release_.to_dict())
        manifest["table"] = {"file": name, "sha256": digest}
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")

    write_together(
        directory,
        {name: lambda path: _write_proven(table, path, form, study), MANIFEST: write_manifest},
        obsolete=[RELEASED + suffix for suffix in (".csv", ".parquet")],
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
    table = study.read(path)
    present = [name for name in study.schema.identifiers if name in table.columns]
    if present:
        raise PolicyBrokenError(f"{path} holds the identifier {present[0]!r}; it is no release")
    return verify(table, study.schema, study.privacy)


def _require_free(directory: Path, force: bool) -> None:
    if not force and (directory / MANIFEST).exists():
        raise InputError(f"{directory} already holds a release; --force replaces it")


def _write_proven(table: pd.DataFrame, path: Path, form: Format, study: Study) -> None:
    """Write a table and prove what the file holds: texts may merge or split what values did not."""
    write_table(table, path, form)
    prove(study.read(path, form), study.schema, study.privacy)
