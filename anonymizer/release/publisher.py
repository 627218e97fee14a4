"""The publisher: what is proven gets into a directory whole, proven once more as read back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.privacy import PrivacyModel, Verdict
from anonymizer.recoding import Watch
from anonymizer.release.files import FILES, STEWARD, digests_of, shape_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import (
    Order,
    ReleasedFile,
    ReleasedPart,
    ReportedInput,
    ReportedObjective,
    ReportedRoles,
)
from anonymizer.release.manifest.standing import require_free
from anonymizer.release.output import Folder, Output, reserved
from anonymizer.release.place import Place
from anonymizer.release.plan import ProvenTable, RecodedTable
from anonymizer.release.proof import prove, require_present, same_classes
from anonymizer.release.relations import counted_in
from anonymizer.release.release import Release, Spreadsheet
from anonymizer.release.signing import PrivateKey, fingerprint_of, manifest_writers
from anonymizer.release.verifiers import verifier_writers, with_verifiers
from anonymizer.release.warnings import TELLING_ORDER, require_no_warnings
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format
from anonymizer.tables.files.foreign import write_foreign
from anonymizer.tables.files.format import reported_missing
from anonymizer.tables.relations.relation import Relation
from anonymizer.tables.spreadsheet import (
    disarmed,
    disarmed_in,
    disarmed_text,
    formulas,
    formulas_in,
)


class Expectation(NamedTuple):
    """What a released file is held against: roles, policy, and the objective as it is reported."""

    schema: Schema
    models: Sequence[PrivacyModel]
    objective: Mapping[str, object]

    def reported(
        self, proven: ProvenTable, form: Format, key: PrivateKey | None
    ) -> dict[str, object]:
        """What a manifest has of it, of how the file is read, and by the ``key`` that signs it.

        By the key it has the series, and a fingerprint of the raw table; there is none of a table
        that is released under differential privacy, whose records are not reported.
        """
        schema = self.schema
        about: dict[str, object] = {
            "columns": ReportedRoles(
                quasi_identifiers=list(schema.quasi_identifiers),
                sensitive=list(schema.sensitive),
                targets=list(schema.targets),
                identifiers=list(schema.identifiers),
                missing=schema.missing,
                missing_values=reported_missing(form.missing_values),
                separator=form.separator,
            ),
            "objective": ReportedObjective.model_validate(self.objective),
        }
        if key is not None and key.series:
            about["series"] = key.series
        if key is not None and proven.release.records is not None:
            names = {*proven.release.recoding, *schema.sensitive, *schema.targets}
            fingerprint = fingerprint_of(proven.raw.at_ground, names, key.of_counts)
            about["input"] = ReportedInput(fingerprint=fingerprint)
        return about


class FileOptions(NamedTuple):
    """How a released table is written.

    ``form``: of the file; ``safe``: whether cells that a spreadsheet would run are disarmed;
    ``parts``: the files that the table is spread over, None for one file; the ``order`` of the
    records; the ``verifiers`` that are written next to it.
    """

    form: Format
    safe: bool
    parts: int | None
    order: Order
    verifiers: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Publisher:
    """A locked directory for one release, which appears there whole or not at all.

    The ``key`` signs it, None for no signature; ``force``: whether a release that lies there is
    replaced; ``strict``: whether one that has warnings is refused.
    """

    output: Output
    key: PrivateKey | None
    force: bool
    strict: bool

    def release(
        self,
        place: Place,
        columns: Sequence[str],
        recode: Callable[[Relation], RecodedTable],
        expectation: Expectation,
        options: FileOptions,
        watch: Watch,
    ) -> tuple[Release, Manifest]:
        """Take a table through to its release: opened, counted and recoded, written and proven.

        ``columns``: that it must have. ``recode`` counts it once, and proves on the counts what is
        made of it.
        """
        watch("reading the table", 0, None)
        with self.output.workspace() as space, place._replace(space=space).opened(columns) as raw:
            watch("counting the table", 0, None)
            recoded = recode(raw)  # counted once, proven on the counts; not computed before written
            watch("writing and verifying the release", 0, None)
            table = ReleasedTable(recoded, expectation, options, place._replace(space=space))
            return self.finish(table, options.verifiers)

    def finish(self, made: "Content", verifiers: Sequence[str] = ()) -> tuple[Release, Manifest]:
        """Write a table and its manifest, and give both their names once all is proven."""
        if self.strict:
            require_no_warnings(made.release.warnings)
        releases: list[Release] = []
        manifests: list[Manifest] = []

        def write(path: Path) -> None:
            releases.append(made.write(path))

        def described(directory: Path) -> Manifest:
            return made.manifest(releases[0], directory / made.name, self.key)

        def manifest_in(directory: Path) -> Manifest:
            manifest = made.manifest(releases[0], directory / made.name, self.key)
            listed = with_verifiers(manifest, directory, verifiers) if verifiers else manifest
            manifests.append(listed)
            return listed

        writers = manifest_writers(manifest_in, self.key)
        files = {
            made.name: Folder(write) if made.folder else write,
            **(verifier_writers(described, verifiers) if verifiers else {}),
            **writers.of_release,
        }
        self.output.write(files, force=self.force, next_to=writers.of_steward)
        return releases[0], manifests[0]


@contextmanager
def publisher(
    directory: Path, source: Path, *, force: bool, key: PrivateKey | None, strict: bool
) -> Iterator[Publisher]:
    """Lock a directory for the release of a table at ``source`` from the beginning to the end."""
    with reserved(directory, FILES, next_to=STEWARD) as output:
        require_free(directory, source, force)
        yield Publisher(output, key, force, strict)


class Content(Protocol):
    """What is released: a proven table, or its counts.

    ``name``: of its file, or of its ``folder`` of files; ``release``: as it is proven before.
    """

    name: str
    folder: bool
    release: Release

    def write(self, path: Path) -> Release:
        """Write it and prove it once more as read back."""

    def manifest(self, release: Release, path: Path, key: PrivateKey | None) -> Manifest:
        """Describe it as it was written, for its steward."""


class ReleasedTable:
    """A recoded table as it is written, and as its manifest reports it.

    ``place``: that of the raw table. What is reported of the policy is what the file shows.
    """

    def __init__(
        self, recoded: RecodedTable, expectation: Expectation, options: FileOptions, place: Place
    ) -> None:
        self.recoded, self.expectation = recoded, expectation
        self.options, self.place = options, place
        self.name = "released" + options.form.suffix
        self.folder = options.parts is not None
        self.release = self._in_order(self._with_cells(recoded.release))
        table, self.people = recoded.table, recoded.people
        if options.safe:
            _require_unordered(expectation, recoded.records)
            table = disarmed_in(table)
            self.people = None if self.people is None else disarmed(self.people)
        shuffles = options.order == "random" and not recoded.plan.random_order
        self.table = table.shuffled() if shuffles else table

    def _with_cells(self, release: Release) -> Release:
        """The release with what is reported of cells that a spreadsheet would run."""
        recoded, safe = self.recoded, self.options.safe
        if self.options.form.parquet:
            return release
        cells = formulas_in(recoded.table, recoded.tally, recoded.source)
        return replace(release, spreadsheet=Spreadsheet(safe, cells)) if cells or safe else release

    def _in_order(self, release: Release) -> Release:
        """The release as it is written: a random order of records tells nothing."""
        if self.options.order == "kept":
            return release
        left = tuple(each for each in release.warnings if each.code != TELLING_ORDER)
        return replace(release, warnings=left)

    def write(self, path: Path) -> Release:
        """Write it and prove what the file holds: texts may merge or split what values did not."""
        self._write(path)
        stored, schema = self.place.released(path, self.options.form), self.expectation.schema
        with stored.opened(schema.columns) as written:
            schema.require_unnamed(written.columns)
            shown, counted = counted_in(written, schema.columns, stored.form)
            require_present(shown, schema.quasi_identifiers, stored.form.missing_values)
            verdicts = self._proven(counted)
        if engine.records(counted) != self.release.released:
            raise InputError(
                "the released file has other records than were released: was the table changed in "
                "the meantime? Run again; nothing was written"
            )
        return replace(self.release, privacy=verdicts)

    def _write(self, path: Path) -> None:
        """Write the table; as Parquet first where another program reads the file."""
        form = self.options.form
        if not form.program:
            self.table.write(path, form, self.options.parts)
            return
        held = path.with_suffix(".parquet")
        self.table.write(held, replace(form, program=""), None)
        plan, source = self.recoded.plan, self.place.path
        moved = {*plan.schema.quasi_identifiers, plan.schema.weight}
        moved |= set() if plan.shift is None else {*plan.shift.names}
        untouched = {*map(str, self.table.columns)} - moved
        write_foreign(held, path, source, untouched)
        held.unlink()

    def _proven(self, counted: Tally) -> Sequence[Verdict]:
        """Hold the policy against what the file shows; of persons that its classes are as proven.

        InputError when they are not, PolicyBrokenError when a class breaks the policy.
        """
        schema, models = self.expectation.schema, self.expectation.models
        if not self.recoded.plan.schema.keys or schema.person_numbers:
            return prove(counted, schema, models, self.people)[1]
        shown: Tally = self.recoded.tally
        if not same_classes(counted, disarmed(shown) if self.options.safe else shown, schema):
            raise InputError(
                "nothing was released: read back from its file the table has other classes than "
                "were proven, and it does not show whose its records are; write each value in one "
                "way, or release Parquet"
            )
        return self.release.privacy

    def manifest(self, release: Release, path: Path, key: PrivateKey | None) -> Manifest:
        """Describe it as it was written, for its steward."""
        manifest = release.steward_manifest
        manifest = manifest.with_texts(disarmed_text) if self.options.safe else manifest
        digest, parts = digests_of(path)
        listed = parts and [ReleasedPart(file=name, sha256=found) for name, found in parts.items()]
        shape = {
            **shape_of(self.recoded.records, self.expectation.schema),
            "columns": [*map(str, self.table.columns)],
            "order": self.options.order,
            **({} if listed is None else {"parts": listed}),
        }
        file = ReleasedFile(file=path.name, sha256=digest, **shape)
        about = self.expectation.reported(self.recoded, self.options.form, key)
        return manifest.model_copy(update={**about, "table": file})


def _require_unordered(expectation: Expectation, records: engine.Table) -> None:
    """Require that no model knows sensitive values by texts that are written otherwise."""
    table = engine.chosen(records, expectation.schema.sensitive)
    for listing, _ in expectation.schema.items:
        if formulas(engine.chosen(table, [listing])):
            raise InputError(
                f"csv-safe = true changes cells of {listing!r}, and with them an item of some "
                "lists alone; leave csv-safe out, or write this item in another way"
            )
    for model in expectation.models:
        name = getattr(model, "attribute", None)
        listed = getattr(model, "order", None) or getattr(model, "hierarchy", None)
        if listed and formulas(table if name is None else engine.chosen(table, [name])):
            raise InputError(
                f"csv-safe = true changes values that {model.name} lists in an order or a "
                "hierarchy; leave csv-safe out, or write these values in another way"
            )
