"""A released table as a reader finds it, in one file or in parts, and what checks look at."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.counts.counts import Counts
from anonymizer.counts.ground import require_countable
from anonymizer.counts.schema import Schema
from anonymizer.errors import shown
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import ANY
from anonymizer.kernels.arrays import Mask
from anonymizer.privacy import DeltaPresence, DifferentialPrivacy, PrivacyModel, Verdict
from anonymizer.recoding import Watch, ignore
from anonymizer.release.files import COUNTS, MANIFEST, SIGNATURE, digest_of_file, digests_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.groups import Group
from anonymizer.release.place import Place
from anonymizer.release.relations import counted_in
from anonymizer.release.verification.check import FieldCheck, at, is_whole, required, same
from anonymizer.tables import engine
from anonymizer.tables.counts_file import read_counts
from anonymizer.tables.engine import Tally
from anonymizer.tables.files import Format, release_format
from anonymizer.tables.relations.relation import Relation

FEW = 5
"""Files that do not belong to a release are named, up to so many."""


class StoredTable(NamedTuple):
    """A released table where it lies; of a release of counts there are only those.

    ``columns``: all of the table; ``relation``: None for counts, which are the ``known`` ones.
    """

    columns: Sequence[str]
    form: Format
    relation: Relation | None = None
    known: Tally | None = None

    def tally(self, columns: Sequence[str]) -> Tally:
        """The records by some columns, with clean values.

        InputError where they have more combinations than memory holds.
        """
        if self.known is not None:
            return self.known
        assert self.relation is not None
        require_countable(self.relation, columns, {})
        return counted_in(self.relation, columns, self.form)[1]

    def there(self, columns: Sequence[str]) -> list[str]:
        """Those columns that the table has, each once."""
        return [name for name in dict.fromkeys(columns) if name in self.columns]


@dataclass(frozen=True, eq=False)
class Facts:
    """What checks look at: a manifest, and the released table, read back and recounted.

    ``manifest`` is what JSON has, field by field, ``recoding`` the groups of its quasi-identifiers.
    ``stored`` is where the table lies, ``table`` its records, counted by the columns with a role.
    ``schema`` has the roles of columns by the manifest, ``models`` its policy, each model about one
    attribute, in the order of its verdicts; None for one of which the manifest only has a digest.
    ``verdicts`` are those of the models on the table.
    """

    manifest: Mapping[str, Any]
    recoding: Mapping[str, Sequence[Group]]
    stored: StoredTable
    table: engine.Tally
    schema: Schema
    counts: Counts
    models: Sequence[PrivacyModel | None]
    verdicts: Sequence[Verdict | None]

    @property
    def recoded(self) -> tuple[str, ...]:
        """The quasi-identifiers of the original: not the column that numbers classes."""
        return tuple(self.recoding)

    @property
    def masked(self) -> tuple[str, ...]:
        """Those whose values were drawn at random."""
        masking = self.manifest.get("masking")
        return tuple(masking["attributes"]) if masking else ()

    @property
    def private(self) -> bool:
        """Whether the release is a differentially private one, which reports no raw figure."""
        return any(isinstance(model, DifferentialPrivacy) for model in self.models)

    @property
    def persons(self) -> bool:
        """Whether the policy is about persons who have several records."""
        return bool(self.manifest.get("person"))

    @property
    def hides_persons(self) -> bool:
        """Whether it is, and the table does not show which records are of one person."""
        return self.persons and not self.schema.person_numbers

    @property
    def whole(self) -> bool:
        """Whether the manifest has the figures of the raw table."""
        return is_whole(self.manifest)

    @property
    def hides_presence(self) -> bool:
        """Whether the policy promises that nobody knows who is in the table."""
        return any(each["model"] == DeltaPresence.name for each in self.manifest["privacy"])

    @property
    def records(self) -> int:
        """How many records the table has."""
        return engine.records(self.table)

    @cached_property
    def hidden(self) -> Mask:
        """The rows of the table with ``*`` in every quasi-identifier, shape (rows,)."""
        return engine.all_equal(self.table, self.recoded, ANY)

    @property
    def records_hidden(self) -> int:
        """How many records that is."""
        return engine.records(engine.records_of(self.table, self.hidden))

    @property
    def removed(self) -> int:
        """The records that were suppressed and left out, as the manifest has it."""
        removed = self.manifest["suppressed_class"] == "removed" and not self.private
        return int(self.manifest["suppressed"] or 0) if removed else 0


@contextmanager
def released_at(path: Path, manifest: Manifest, watch: Watch = ignore) -> Iterator[StoredTable]:
    """The table that a manifest is about, or another one at its place.

    ``watch`` is told of the progress.

    InputError when it cannot be read.
    """
    if path.name == COUNTS:  # the records lie in parts elsewhere
        tally, about = read_counts(path)
        yield StoredTable(about.get("columns", []), Format(True), known=tally)
        return
    form = release_format(path, manifest.file[1].separator)
    with Place(path, form, watch=watch, once=True).opened(()) as relation:
        yield StoredTable(relation.columns, form, relation)


def file_checks(path: Path, manifest: Mapping[str, Any]) -> Iterator[FieldCheck]:
    """Whether the file, or each file of the folder, has the bytes that the manifest is about."""
    named = path.name == manifest["table"]["file"]
    yield required("table.file", named, "", "has another name", "recomputed")
    digest, parts = digests_of(path)
    listed = {part["file"]: part["sha256"] for part in manifest["table"].get("parts") or ()}
    if listed or parts:
        yield from _part_checks(listed, parts or {})
    verifiers = {each["file"]: each["sha256"] for each in manifest["table"].get("verifiers", ())}
    yield from _verifier_checks(path.parent, verifiers)
    known = {path.name, SIGNATURE, MANIFEST, *verifiers}
    others = sorted({*os.listdir(path.parent)} - known)  # noqa: PTH208 (names alone)
    if others and path.parent.joinpath(MANIFEST).is_file():
        several = f" and {len(others) - FEW} more" if len(others) > FEW else ""
        named = ", ".join(map(shown, others[:FEW])) + several
        reason = f"the manifest does not know what lies next to it: {named}"
        yield FieldCheck("files", "unchecked", None, reason=reason)
    agrees = manifest["table"]["sha256"] == digest
    yield required("table.sha256", agrees, "", "was changed after it was released", "recomputed")


def _verifier_checks(directory: Path, listed: Mapping[str, str]) -> Iterator[FieldCheck]:
    for name, digest in listed.items():
        there = (directory / name).is_file()
        words = "has another one next to it" if there else "has none next to it"
        agrees = there and digest_of_file(directory / name) == digest
        yield required(f"table.verifiers.{name}", agrees, "", words, "recomputed")


def _part_checks(listed: Mapping[str, str], found: Mapping[str, str]) -> Iterator[FieldCheck]:
    more = len([name for name in found if name not in listed])
    number = plural(len(listed), "part")
    words = f"has {plural(more, 'file')} that it does not name"
    yield required("table.parts", not more, number, words, "recomputed")
    for name, digest in listed.items():
        words = "was changed after it was released" if name in found else "lacks it"
        yield required(f"table.parts.{name}", found.get(name) == digest, "", words, "recomputed")


def column_checks(
    found: Sequence[str],
    manifest: Mapping[str, Any],
    schema: Schema,
    identifiers: Sequence[str],
) -> Iterator[FieldCheck]:
    """All columns, in their order, those without a role too; of unknown ones how many."""
    listed = at(manifest, "table", "columns")
    reported = listed if isinstance(listed, list) else []
    words = _differing(reported, found)
    number = plural(len(reported), "column")
    yield required("table.columns", same(listed, [*found]), number, words, "recomputed")
    there = [name for name in identifiers if name in found]
    none = not there and "identifiers" in manifest["columns"]
    words = f"has {', '.join(map(repr, there))}" if there else "may have some: none is named"
    yield required("columns.identifiers", none, "", words, "recomputed")
    known = (*schema.quasi_identifiers, *schema.sensitive, *schema.person)
    without = [name for name in found if name not in known]
    others = at(manifest, "other_columns")
    words = _differing(others if isinstance(others, list) else [], without)
    yield required("other_columns", same(others, without), "", words, "recomputed")
    lacking = [name for name in schema.columns if name not in found]
    words = "lacks " + ", ".join(map(repr, lacking))
    number = plural(len(schema.columns), "column")
    yield required("columns", not lacking, number, words, "recomputed")


def _differing(reported: Sequence[str], found: Sequence[str]) -> str:
    """How columns differ from those that a manifest names; the others may be values of records."""
    lacking = [repr(name) for name in reported if name not in found]
    more = len([name for name in found if name not in reported])
    parts = [f"lacks {', '.join(lacking)}"] if lacking else []
    parts += [f"has {plural(more, 'column')} that it does not name"] if more else []
    return " and ".join(parts) or "has them in another order"
