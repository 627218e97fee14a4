"""From a study file to a release on disk and back; nothing is published unchecked."""

from collections.abc import Callable
from pathlib import Path

from anonymizer.recoding import Waiting, Watch, ignore
from anonymizer.recoding.recoding import Task
from anonymizer.release.fitting import fitted
from anonymizer.release.manifest import Manifest
from anonymizer.release.plan import RecodedTable
from anonymizer.release.publisher import Expectation, FileOptions, publisher
from anonymizer.release.release import Release
from anonymizer.release.signing import PrivateKey
from anonymizer.release.study import Study
from anonymizer.tables.relations.relation import Relation
from anonymizer.tables.spreadsheet import with_safe_names_in


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
    Where the study has no time limit the search ends after ``PATIENCE`` seconds, with the best so
    far.
    ``on_counted`` is called with the table once it is counted, for whoever advises on it later.
    ``key`` signs the manifest, which has a keyed fingerprint of the table then. ``strict``: whether
    a release that has warnings is refused.

    Raises InputError when the study cannot be carried out, the directory not be written, or another
    run is writing there; the directory is left as it was, if the message does not say otherwise.
    Raises PolicyUnreachableError or PolicyBrokenError when the policy cannot be met, WarningsError
    where ``strict`` allows no warning.
    """
    with publisher(directory, study.data_path, force=force, key=key, strict=strict) as publication:
        form, written = study.data_format, study.output_format
        parts, safe = study.document.output.parts, study.disarms(written)
        verifiers = tuple(dict.fromkeys(study.document.output.verifiers))
        options = FileOptions(written, safe, parts, study.order, verifiers)
        anonymizer = study.anonymizer(n_jobs, Waiting(watch))
        expectation = Expectation(study.published, study.privacy, study.objective_options)

        def recode(raw: Relation) -> RecodedTable:
            table = with_safe_names_in(raw, study.schema.named) if safe else raw
            return fitted(anonymizer, table, form, on_counted)

        place, schema = study.place(watch=watch), study.schema
        columns = (*schema.columns, *schema.identifiers, *(schema.insensitive or ()))
        return publication.release(place, columns, recode, expectation, options, watch)
