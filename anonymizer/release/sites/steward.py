"""The release of a table in parts: chosen for the sum of their counts, and proven on it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.recoding import Task
from anonymizer.release.applying.plans import AppliedRelease
from anonymizer.release.fitting import proven
from anonymizer.release.manifest import Manifest, digest_of_file, shape_of
from anonymizer.release.manifest.figures import ReportedObjective
from anonymizer.release.manifest.parts import ReleasedFile
from anonymizer.release.manifest.standing import require_free
from anonymizer.release.output.directory import reserved
from anonymizer.release.plan import Plan
from anonymizer.release.proof import prove
from anonymizer.release.publish import reported_roles, signed_parts
from anonymizer.release.relations import CountedTable
from anonymizer.release.release import COUNTS, FILES, STEWARD, Release
from anonymizer.release.signing import PrivateKey, manifest_writers
from anonymizer.release.sites.counting import PartCounts, read_parts, require_countable
from anonymizer.release.sites.following import SitePlan
from anonymizer.release.study import Study
from anonymizer.release.warnings.warnings import require_no_warnings
from anonymizer.tables.counts_file import added, as_texts, compared
from anonymizer.tables.engine import Tally
from anonymizer.tables.files.format import Format


def publish_counts(
    study: Study,
    counts: Sequence[Path],
    directory: Path,
    *,
    force: bool = False,
    n_jobs: int | None = None,
    watch: Watch = ignore,
    on_counted: Callable[[Task], object] | None = None,
    key: PrivateKey | None = None,
    strict: bool = False,
) -> tuple[Release, Manifest]:
    """Anonymize the table whose parts were counted, and write its counts and its manifest.

    The parts are recoded here as every site will recode its own, by the manifest; their sum has to
    be what is released. It is verified in memory and as read back. The directory is as one of
    :func:`publish`, with ``released.counts`` in place of the table.

    Raises InputError when the study cannot be carried out on the counts, they do not belong
    together, or the directory cannot be written; PolicyUnreachableError or PolicyBrokenError when
    the policy cannot be met.
    """
    require_countable(study)
    with reserved(directory, FILES, next_to=STEWARD) as output:
        require_free(directory, counts[0], force)
        watch("reading the counts", 0, None)
        parts = read_parts(study, counts)
        whole = added([part.tally for part in parts])
        anonymizer = study.anonymizer(n_jobs, watch)
        found = proven(anonymizer, CountedTable(whole, anonymizer.hierarchies), on_counted)
        if strict:
            require_no_warnings(found.release.warnings)
        watch("writing and verifying the release", 0, None)
        release = _with_others(found.release, parts[0].columns, whole)
        about = _reported(study, release, parts, whole, key)
        manifest: Manifest = release.steward_manifest
        final = PartCounts(as_texts(found.records), parts[0].columns, parts[0].roles)

        def manifest_in(place: Path) -> Manifest:
            nonlocal manifest
            file = _file(place / COUNTS, final, study)
            manifest = manifest.model_copy(update={**about, "table": file})
            _require_followable(study, manifest.public, final.tally, parts)
            return manifest

        def write(path: Path) -> None:
            final.write(path)
            prove(PartCounts.read(path).tally, study.published, study.privacy, found.people)

        manifests = manifest_writers(manifest_in, key)
        files = {COUNTS: write, **manifests.of_release}
        output.write(files, force=force, next_to=manifests.of_steward)
    return release, manifest


def _file(path: Path, counts: PartCounts, study: Study) -> ReleasedFile:
    """What is reported of the file: columns of the parts, and missing values of those counted."""
    missing = shape_of(counts.tally, study.published)["missing"]
    return ReleasedFile(
        file=path.name, sha256=digest_of_file(path), columns=[*counts.columns], missing=missing
    )


def _with_others(release: Release, columns: Sequence[str], whole: Tally) -> Release:
    """The release with the columns that the parts have and nobody counted."""
    others = [name for name in columns if name not in whole.columns]
    known = [*release.other_columns]
    return replace(release, other_columns=[n for n in columns if n in {*others, *known}])


def _reported(
    study: Study,
    release: Release,
    parts: Sequence[PartCounts],
    whole: Tally,
    key: PrivateKey | None,
) -> dict[str, Any]:
    """What the manifest has of the counts and of how the parts are read."""
    form = Format(True, missing_values=tuple(study.document.data.missing_values))
    about = {
        "columns": reported_roles(study.published, form),
        "objective": ReportedObjective.model_validate(study.objective_options),
        "counts": sorted(part.digest for part in parts),
    }
    return {**about, **signed_parts(release, whole, study.published, key)}


def _require_followable(
    study: Study, manifest: Manifest, released: Tally, parts: Sequence[PartCounts]
) -> None:
    """Recode every part as its site will, and require that their sum is what is released."""
    following = following_of(manifest, study, released)
    sites = [following.part(part.tally).released for part in parts]
    sizes = compared([released, *sites])[1]
    if (sizes[0] != sizes[1:].sum(axis=0)).any():
        raise InputError(
            f"{study.path}: sites could not recode their parts as this recoding does, from what a "
            "manifest may say of it; choose another [recoding] method"
        )


def following_of(manifest: Manifest, study: Study | None, released: Tally) -> SitePlan:
    """How parts are recoded by a manifest and the released counts."""
    followed = AppliedRelease.of(manifest, study)
    plan = Plan(followed.source.plan, 0, manifest.study.fingerprint, manifest.method, followed)
    return SitePlan(plan, released, manifest.suppressed_class)
