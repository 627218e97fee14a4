"""The release of a table in parts: chosen for the sum of their counts, and proven on it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.recoding import Watch, ignore
from anonymizer.recoding.recoding import Task
from anonymizer.release.applied_release import AppliedRelease
from anonymizer.release.files import COUNTS
from anonymizer.release.fitting import proven
from anonymizer.release.manifest import Manifest, digest_of_file, shape_of
from anonymizer.release.manifest.parts import ReleasedFile
from anonymizer.release.plan import Plan, ProvenTable
from anonymizer.release.proof import prove
from anonymizer.release.publisher import Expectation, publisher
from anonymizer.release.relations import CountedTable
from anonymizer.release.release import Release
from anonymizer.release.signing import PrivateKey
from anonymizer.release.sites.counting import PartCounts, read_parts, require_countable
from anonymizer.release.sites.following import SitePlan
from anonymizer.release.study import Study
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
    with publisher(directory, counts[0], force=force, key=key, strict=strict) as publication:
        watch("reading the counts", 0, None)
        parts = read_parts(study, counts)
        anonymizer = study.anonymizer(n_jobs, watch)
        raw = CountedTable(added([part.tally for part in parts]), anonymizer.hierarchies)
        found = proven(anonymizer, raw, on_counted)
        watch("writing and verifying the release", 0, None)
        return publication.finish(ReleasedCounts(study, parts, found))


class ReleasedCounts:
    """The counts of a proven table whose records lie in parts, as they are written."""

    name, folder = COUNTS, False

    def __init__(self, study: Study, parts: Sequence[PartCounts], found: ProvenTable) -> None:
        self.study, self.parts, self.found = study, parts, found
        columns = parts[0].columns
        self.counts = PartCounts(as_texts(found.tally), columns, parts[0].roles)
        others = [name for name in columns if name not in found.raw.columns]
        others += found.release.other_columns
        self.release = replace(
            found.release, other_columns=[name for name in columns if name in others]
        )

    def write(self, path: Path) -> Release:
        """Write them and prove them once more as read back."""
        self.counts.write(path)
        written = PartCounts.read(path).tally
        prove(written, self.study.published, self.study.privacy, self.found.people)
        return self.release

    def manifest(self, release: Release, path: Path, key: PrivateKey | None) -> Manifest:
        """Describe them, with the columns of the parts, once sites can recode by them."""
        study, counts = self.study, self.counts
        expectation = Expectation(study.published, study.privacy, study.objective_options)
        form = Format(True, missing_values=tuple(study.document.data.missing_values))
        missing = shape_of(counts.tally, study.published)["missing"]
        about = {
            **expectation.reported(self.found, form, key),
            "counts": sorted(part.digest for part in self.parts),
            "table": ReleasedFile(
                file=path.name,
                sha256=digest_of_file(path),
                columns=[*counts.columns],
                missing=missing,
            ),
        }
        manifest = release.steward_manifest.model_copy(update=about)
        _require_followable(study, manifest.public, counts.tally, self.parts)
        return manifest


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
