"""Checks of a release: what they look at, and one field of a manifest compared with it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import isclose
from typing import TYPE_CHECKING, Any, Literal

from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import Schema
from anonymizer.errors import shown
from anonymizer.hierarchy import ANY
from anonymizer.kernels.arrays import Mask
from anonymizer.privacy import DeltaPresence, DifferentialPrivacy, PrivacyModel, Verdict
from anonymizer.release.manifest.groups import Group
from anonymizer.tables import engine

if TYPE_CHECKING:
    from anonymizer.release.verification.stored import StoredTable

TOLERANCE = 1e-9
"""How far a figure may be from the recomputed one, relative to the larger, or in its own unit.

The last digits of sums differ between machines and with the order of records.
"""

How = Literal["recomputed", "consistent", "study", "key", "original", "unchecked"]
"""How a field is checked: from the table, against other fields, by the study, by the key of who
released it, by the table it was made of, or not at all."""

SOURCES: Mapping[How, str] = {
    "recomputed": "the table",
    "consistent": "the rest of the manifest",
    "study": "the study",
    "key": "the key",
    "original": "the original",
}

ABSENT = object()
"""In place of a field that a manifest lacks."""


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
    stored: "StoredTable"
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


@dataclass(frozen=True)
class FieldCheck:
    """One field of a manifest, such as ``query_loss.average``, and whether it agrees.

    ``agrees`` is None where it cannot be checked, and ``reason`` says why. ``manifest`` and
    ``found`` are what the manifest says, and what was found instead, in words that hold no value of
    a record; empty where they agree.
    """

    field: str
    how: How
    agrees: bool | None
    manifest: str = ""
    found: str = ""
    reason: str = ""

    def __str__(self) -> str:
        if self.agrees is None:
            return f"{self.field} cannot be checked: {self.reason}"
        if self.agrees:
            return f"{self.field} agrees"
        said = f"the manifest says {self.manifest}, " if self.manifest else ""
        return f"{self.field}: {said}{SOURCES[self.how]} {self.found}"

    def to_dict(self) -> dict[str, object]:
        """The check as JSON has it."""
        return {name: value for name, value in asdict(self).items() if value != ""}


def is_whole(manifest: Mapping[str, Any]) -> bool:
    """Whether it has figures of the raw table: as its steward has it, or of the first format."""
    return "release" in manifest or manifest["format"] == 1


def compared(field: str, reported: object, found: object, how: How = "recomputed") -> FieldCheck:
    """Compare what a manifest reports with what was found; numbers agree within ``TOLERANCE``."""
    if same(reported, found):
        return FieldCheck(field, how, True)
    return FieldCheck(field, how, False, said(reported), said(found))


def compared_all(
    field: str, reported: Any, found: Mapping[str, object], how: How = "recomputed"
) -> Iterator[FieldCheck]:
    """Compare each value of a part of a manifest with what was found."""
    for name, value in found.items():
        yield compared(f"{field}.{name}".removeprefix("."), at(reported, name), value, how)


def required(
    field: str, agrees: bool, reported: str, found: str, how: How = "consistent"
) -> FieldCheck:
    """A check of something that is no single value, with words for what differs.

    ``reported`` may be empty; ``found`` goes on after "the table", or what else was looked at.
    """
    return (
        FieldCheck(field, how, True) if agrees else FieldCheck(field, how, False, reported, found)
    )


def at(manifest: Any, *path: str) -> Any:
    """The value at a place of a manifest; ``ABSENT`` where there is none."""
    place = manifest
    for key in path:
        if not isinstance(place, Mapping) or key not in place:
            return ABSENT
        place = place[key]
    return place


def same(one: Any, other: Any) -> bool:
    """Whether two values of JSON agree, numbers within ``TOLERANCE``, whole ones exactly."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(map(same, one, other))
    if not (_is_number(one) and _is_number(other)):
        return type(one) is type(other) and bool(one == other)
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    try:
        return isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except OverflowError:
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def said(value: object) -> str:
    """A value of a manifest in a line: numbers and names as they are, of what is long the size."""
    if value is ABSENT:
        return "nothing"
    if isinstance(value, Mapping):
        parts = (f"{shown(key)}: {said(part)}" for key, part in value.items())
        return "{" + ", ".join(parts) + "}"
    if _is_list(value):
        return f"a list of {len(value)}"  # type: ignore[arg-type]
    return shown(value) if isinstance(value, str) else json.dumps(value)
