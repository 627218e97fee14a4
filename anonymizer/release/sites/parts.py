"""Parts recoded by the release of the steward, written with what proves their place, and added.

A part is no release: the policy is about all parts together. So its directory has no manifest of a
release but ``part.json``, which names the release and the counts that it belongs to. Whoever has
all parts counts them again and adds them: their sum has to be what was released.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

import pandas as pd
from pydantic import Field, ValidationError

from anonymizer.errors import InputError, PolicyBrokenError
from anonymizer.feedback.words import plural
from anonymizer.recoding import Watch, ignore
from anonymizer.release.files import COUNTS, MANIFEST, RELEASED, digest_of_file
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import Digest, ManifestPart, Order, ReleasedFile
from anonymizer.release.manifest.standing import same_file
from anonymizer.release.output import Output, reserved
from anonymizer.release.place import Place
from anonymizer.release.plan import Plan
from anonymizer.release.relations import CountedTable, counted_in
from anonymizer.release.sites.counts import PartCounts, SitePlan, key_of_persons, part_at
from anonymizer.release.study import Study
from anonymizer.release.verification.check import FieldCheck, required
from anonymizer.release.verification.verification import (
    Verification,
    require_followable,
    verify_release,
)
from anonymizer.tables import engine
from anonymizer.tables.counts_file import added, as_text, as_texts, compared
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, release_format
from anonymizer.tables.files.opening import require_named
from anonymizer.tables.reading import MANIFEST_SIZE, parsed_json, read_bytes, text_in
from anonymizer.tables.relations.relation import Moves, Relation

PART = "part.json"
"""The file that says what a part is of, next to its table."""

PART_FILES = (*RELEASED, PART)
"""The files that a part may have; the last one is the sign that it is whole."""


class PartManifest(ManifestPart):
    """What ``part.json`` reports."""

    format: Literal[1] = 1
    release: Digest = Field(description="The SHA-256 of the release.json that it belongs to.")
    counts: Digest = Field(description="The SHA-256 of the file of counts of the raw part.")
    table: ReleasedFile = Field(description="The recoded part.")
    separator: str | None = Field(description="Between the fields of a CSV file; null: Parquet.")

    @classmethod
    def read(cls, directory: Path) -> PartManifest:
        """That of a directory; InputError when there is none, or it is damaged."""
        path = directory / PART
        absent = f"there is no {path}: give the directory that `anonymizer apply --counts` wrote"
        text = text_in(read_bytes(path, MANIFEST_SIZE, absent=absent), path)
        try:
            return cls.model_validate(parsed_json(text))
        except (ValueError, ValidationError):
            raise InputError(f"{path} is damaged: it describes no part of a release") from None

    def write(self, path: Path) -> None:
        """Write it to a file."""
        content = self.model_dump(exclude_unset=True)
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def tally(self, directory: Path, manifest: Manifest) -> Tally:
        """The part recounted from its table, by the columns with a role, as texts.

        Raises InputError when the table was changed, or cannot be read.
        """
        path = directory / self.table.file
        try:
            digest = digest_of_file(path)
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        if digest != self.table.sha256:
            raise InputError(f"{path} is not what {PART} is about: it was changed since")
        return _recounted(path, manifest, release_format(path, self.separator))


def _recounted(path: Path, manifest: Manifest, form: Format) -> Tally:
    columns = manifest.roles.columns
    with Place(path, form).opened(()) as table:
        require_named(path, table.columns, columns, form)
        return as_texts(counted_in(table, columns, form)[1])


def require_release(path: Path) -> None:
    """Refuse a part in place of a release."""
    if (path / PART).is_file() and not (path / MANIFEST).exists():
        raise InputError(
            f"{path} is a part of a release, whose policy is about all parts together: verify the "
            f"release, with --parts {path} and the others"
        )


def require_counted(manifest: Manifest, release: Path) -> list[str]:
    """The digests of the counts that a release was made of.

    Raises InputError when it was made of a table.
    """
    if manifest.counts is None:
        raise InputError(
            f"{release} was made of a table, not of counts of parts; leave out --counts and --parts"
        )
    return manifest.counts


def publish_part(
    release: Path,
    table: Path,
    counts: Path,
    directory: Path,
    *,
    study: Study,
    force: bool = False,
    watch: Watch = ignore,
    signed_by: Path | None = None,
    person_key: Path | None = None,
) -> PartManifest:
    """Recode a part as the release that was made of its counts, and write it into a directory.

    The release is verified first. The table must have the counts in the file ``counts``, and these
    be among those of the release; every record becomes one that stands in the released counts. The
    part is counted again as read back. ``study``: that by which the part was counted, as persons
    were with the key in the file ``person_key``.

    Raises InputError when these do not belong together, or the directory cannot be written;
    PolicyBrokenError when the release does not hold, or does not have the classes of the part.
    """
    with reserved(directory, PART_FILES, "part") as output:
        home = release if release.is_dir() else release.parent
        _require_free(directory, home, (table, counts), force)
        watch("reading the release", 0, None)
        require_followable(home, study, key=signed_by, watch=watch)
        plan = Plan.from_manifest(home, study=study)
        assert plan.followed is not None
        manifest, sha256 = plan.followed.manifest, plan.followed.sha256
        own = PartCounts.read(counts)
        if own.digest not in require_counted(manifest, home):
            raise InputError(
                f"{counts} is not among the counts that {home} was made of; send it to the "
                "steward, or give the file that was sent"
            )
        hiding = key_of_persons(study, person_key)
        if hiding is not None and hiding.check != own.person_key:
            raise InputError(
                f"{person_key} is not the key that {counts} was counted with; give that one with "
                "--person-key"
            )
        whole = PartCounts.read(home / COUNTS).tally
        following = SitePlan(plan, whole, manifest.suppressed_class)
        watch("reading the table", 0, None)
        with output.workspace() as space, part_at(study, table, space, watch) as (stored, form):
            watch("counting the table", 0, None)
            raw = CountedTable.of(stored, study.schema.columns, study.hierarchies, form)
            original = raw.original
            assert original is not None
            columns = [name for name in raw.columns if name not in study.schema.identifiers]
            names = study.schema.person
            tally = raw.tally if hiding is None else hiding.hidden(raw.tally, names)
            _require_same(table, counts, columns, tally, own)
            part = following.part(raw.tally).released
            _require_within(part, whole)
            changed = _changed(original.tally, part)
            moves = Moves.between(original.tally, part, manifest.file[0].columns, changed)
            watch("writing and verifying the part", 0, None)
            recoded = original.relation.recoded(moves)
            if study.order == "random":
                recoded = recoded.shuffled()
            released = RecodedPart(recoded, part, form.released, study.order)
            return _write(output, released, manifest, (sha256, own.digest), force)


class RecodedPart(NamedTuple):
    """A recoded part, its counts, the format of its file, and the order of its records."""

    table: Relation
    counted: Tally
    form: Format
    order: Order


def _write(
    output: Output, part: RecodedPart, manifest: Manifest, digests: tuple[str, str], force: bool
) -> PartManifest:
    """Write a recoded part, count it as read back, and only then say what it is.

    ``digests``: of the manifest of the release, and of the raw counts.
    """
    name, form = "released" + part.form.suffix, part.form
    made: list[PartManifest] = []

    def write(path: Path) -> None:
        part.table.write(path, form)
        again = compared([_recounted(path, manifest, form), part.counted])[1]
        if (again[0] != again[1]).any():
            raise PolicyBrokenError(
                "nothing was written: the part reads back from its file in another way than it "
                "was recoded; write the values of the raw part in another way"
            )

    def describe(path: Path) -> None:
        sha256 = digest_of_file(path.parent / name)
        columns = [*part.table.columns]
        table = ReleasedFile(file=name, sha256=sha256, columns=columns, order=part.order)
        separator = None if form.parquet else form.separator
        made.append(
            PartManifest(
                format=1, release=digests[0], counts=digests[1], table=table, separator=separator
            )
        )
        made[0].write(path)

    output.write({name: write, PART: describe}, force=force)
    return made[0]


def _require_free(directory: Path, home: Path, sources: Sequence[Path], force: bool) -> None:
    """Refuse a directory that holds the raw part, a release, or files that are no part of ours."""
    there = [name for name in PART_FILES if (directory / name).exists()]
    if any(same_file(directory / name, path) for name in there for path in sources):
        raise InputError(f"{directory} holds the raw part; choose another directory")
    if same_file(directory, home) or (directory / MANIFEST).exists():
        raise InputError(f"{directory} is a release; choose another directory for the part")
    if there and not force:
        raise InputError(f"{directory} already holds a part, {there[-1]}; --force replaces it")
    if there and PartManifest.read(directory).table.file not in there:
        raise InputError(f"{directory} holds other files than a part; choose another directory")


def _require_same(
    table: Path, counts: Path, columns: Sequence[str], tally: Tally, own: PartCounts
) -> None:
    """Require that a table is the one that was counted."""
    alike = {*tally.columns} == {*own.tally.columns} and {*columns} == {*own.columns}
    if alike:
        sizes = compared([own.tally, tally])[1]
        alike = bool((sizes[0] == sizes[1]).all())
    if not alike:
        raise InputError(
            f"{table} does not have the columns and counts in {counts}: it was changed since it "
            "was counted, or is another table; count it again, and have the release made again"
        )


def _require_within(part: Tally, whole: Tally) -> None:
    """Require that the released union has every record of a part."""
    sizes = compared([part, whole])[1]
    if (sizes[0] > sizes[1]).any():
        raise PolicyBrokenError(
            "nothing was written: the recoded part has records that the release does not have; "
            "the release was changed after it was made, or the study is another one"
        )


def _changed(raw: Tally, part: Tally) -> list[str]:
    """The columns that are not released as they lie; the others keep the types of their values."""
    return [name for name in part.columns if not _same(raw[name].loc[part.index], part[name])]


def _same(raw: pd.Series, released: pd.Series) -> bool:
    """Whether every value is released as the text that it has."""
    codes, values = engine.distinct(raw)
    others, labels = engine.distinct(released)
    pairs = {*zip(codes.tolist(), others.tolist(), strict=True)}
    texts = [value if isinstance(value, str) else as_text(value) for value in values]
    return all(texts[code] == as_text(labels[other]) for code, other in pairs)


def verify_parts(
    release: Path,
    parts: Sequence[Path],
    study: Study | Path | None = None,
    *,
    key: Path | None = None,
    original: Path | None = None,
    counts: Sequence[Path] = (),
    series: Mapping[str, str] = MappingProxyType({}),
    watch: Watch = ignore,
) -> Verification:
    """Verify a release of counts, and that some parts together are what it released.

    Every part is counted again. Where the sum is what the release counts, row by row, the verdicts
    on these are those on the parts together; else there are none. Parameters are those of
    :func:`verify_release`, and the directories of the ``parts``, none where they are not at hand.
    ``counts``: the files that the steward added; a policy about persons is examined on their sum.

    Raises InputError when a part cannot be read, was changed, is there twice, or is of another
    release; so of counts.
    """
    home = release if release.is_dir() else release.parent
    counted = None
    if counts:
        counted = _added(counts, Manifest.read(home / MANIFEST), home)
    found = verify_release(
        release, study, key=key, original=original, series=series, counted=counted, watch=watch
    )
    manifest = Manifest.read(home / MANIFEST)
    known = require_counted(manifest, home)
    if not parts:
        return found
    described = _described(parts, digest_of_file(home / MANIFEST), known)
    tallies = [about.tally(path, manifest) for path, about in zip(parts, described, strict=True)]
    whole = PartCounts.read(home / COUNTS).tally
    checks = [*_checks(described, known, tallies, whole)]
    others = (check for check in found.checks if check.field != "counts.*")
    # The verdicts are on the released counts: of other records they say nothing.
    verdicts = found.verdicts if all(check.agrees for check in checks) else ()
    return replace(found, checks=(*others, *checks), verdicts=verdicts)


def _added(paths: Sequence[Path], manifest: Manifest, home: Path) -> Tally:
    """Return the sum of all files of counts that a release was made of."""
    known, found = require_counted(manifest, home), [PartCounts.read(path) for path in paths]
    if not manifest.hides_policy:
        raise InputError(
            f"{home} has a policy that its released counts show, and needs no counts of raw "
            "parts; leave out --counts"
        )
    if sorted(each.digest for each in found) != sorted(known):
        raise InputError(
            f"{home} was made of {plural(len(known), 'file')} of counts, and those that were given "
            "are others, or not all, each once; give with --counts what run --counts added"
        )
    return added([each.tally for each in found])


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
