"""All parts of a release, counted again and added: their sum has to be what was released."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.recoding import Watch, ignore
from anonymizer.release.files import COUNTS, MANIFEST
from anonymizer.release.manifest import Manifest, digest_of_file
from anonymizer.release.sites.counting import PartCounts
from anonymizer.release.sites.parts import PartManifest, require_counted
from anonymizer.release.study import Study
from anonymizer.release.verification.check import FieldCheck, required
from anonymizer.release.verification.verification import Verification, verify_release
from anonymizer.tables.counts_file import compared
from anonymizer.tables.engine import Tally


def verify_parts(
    release: Path,
    parts: Sequence[Path],
    study: Study | Path | None = None,
    *,
    key: Path | None = None,
    original: Path | None = None,
    series: Mapping[str, str] = MappingProxyType({}),
    watch: Watch = ignore,
) -> Verification:
    """Verify a release of counts, and that some parts together are what it released.

    Every part is counted again. Where the sum is what the release counts, row by row, the verdicts
    on these are those on the parts together; else there are none. Parameters are those of
    :func:`verify_release`, and the directories of the ``parts``.

    Raises InputError when a part cannot be read, was changed, is there twice, or is of another
    release.
    """
    found = verify_release(release, study, key=key, original=original, series=series, watch=watch)
    home = release if release.is_dir() else release.parent
    manifest = Manifest.read(home / MANIFEST)
    known = require_counted(manifest, home)
    described = _described(parts, digest_of_file(home / MANIFEST), known)
    tallies = [about.tally(path, manifest) for path, about in zip(parts, described, strict=True)]
    whole = PartCounts.read(home / COUNTS).tally
    checks = [*_checks(described, known, tallies, whole)]
    others = (check for check in found.checks if check.field != "counts.*")
    # The verdicts are on the released counts: of other records they say nothing.
    verdicts = found.verdicts if all(check.agrees for check in checks) else ()
    return replace(found, checks=(*others, *checks), verdicts=verdicts)


def _described(parts: Sequence[Path], release: str, known: Sequence[str]) -> Sequence[PartManifest]:
    """What each part says of itself, all being different parts of one release."""
    found: dict[str, Path] = {}
    described = []
    for path in parts:
        about = PartManifest.read(path)
        if about.release != release or about.counts not in known:
            raise InputError(
                f"{path} is a part of another release, or of this one before it was made again; "
                "apply the release to the part again"
            )
        if about.counts in found:
            raise InputError(f"{path} and {found[about.counts]} are one part; give each part once")
        found[about.counts] = path
        described.append(about)
    return described


def _checks(
    described: Sequence[PartManifest], known: Sequence[str], tallies: Sequence[Tally], whole: Tally
) -> Iterator[FieldCheck]:
    lacking = len({*known} - {about.counts for about in described})
    words = f"lacks {plural(lacking, 'part')}"
    number = plural(len(known), "part")
    yield required("counts", not lacking, number, words, "recomputed")
    sizes = compared([whole, *tallies])[1]
    differing = int((sizes[0] != sizes[1:].sum(axis=0)).sum())
    words = f"has other records in {plural(differing, 'combination')} of values"
    yield required("parts", not differing, "", words, "recomputed")
