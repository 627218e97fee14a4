"""One field of a manifest compared with what was found; how each is, or why it cannot be."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import isclose
from typing import Any, Literal, NamedTuple

from anonymizer.errors import shown

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


Path = tuple[str | int, ...]
"""A place in a manifest: keys, and numbers of places in lists."""

RAW = "the raw table would be needed"
SEARCH = "how a search went does not show in a table"
HALVES = "the halves of the raw table would be needed"
UNIT = "the objective of this release does not follow from the released table alone"
WORDS = "it says how the release was made, which no table shows"
HIERARCHY = "the hierarchies would be needed; give the study of the release with --study"
FINGERPRINT = "it is a digest of the study; give the study of the release with --study"
ORIGINAL = "only who has the private key and the original table can tell"
OF_PERSON_KEY = "only the key of the pseudonyms can tell; give that with --person-key"
OF_KEY = "only the key of who released it can tell; give that with --key"
LONG = "they stand for a list of values that is too long for a manifest"
OFFSETS = "how far the dates of each person were moved is kept nowhere; they are not compared"
CELLS = "they say what a spreadsheet would do, nothing about the records"
PARTS = "the parts would be needed; give them with --parts"
APPLIED = "the release whose recoding was applied would be needed"
NEXT = "they say how other tables are recoded; give the study of the release with --study"
GIVEN = "only the study can tell; give the study of the release with --study"


REQUIRED = "what was required only the study can tell"

WITH_STUDY = "the study of the release would be needed (--study)"
WITH_TABLE = "the original table would be needed"
NOWHERE = "no table shows it"
NEEDED: Mapping[str, str] = {
    **dict.fromkeys((GIVEN, HIERARCHY, FINGERPRINT, REQUIRED, NEXT), WITH_STUDY),
    **dict.fromkeys((RAW, HALVES, ORIGINAL), WITH_TABLE),
    **dict.fromkeys((SEARCH, WORDS, CELLS), NOWHERE),
}
"""What would be needed to check a field, by the reason why it is not; in few words."""


class Treatment(NamedTuple):
    """How a field is checked, and why not where it is not."""

    how: How
    why: str = ""


TREATMENTS: Sequence[tuple[How, str, str]] = (
    (
        "recomputed",
        "",
        """
        table.file table.sha256 table.parts.*.* table.verifiers.*.* table.columns.*
        table.missing.* other_columns.* warnings.** shift.columns.*
        columns.quasi_identifiers.* columns.sensitive.* columns.targets.* columns.identifiers.*
        columns.separator released suppressed suppressed_class classes query_loss.* search.value
        information information.retained information.miller_madow targets.*.retained
        targets.*.miller_madow recoding.*.*.label regions.*.* privacy.*.model privacy.*.attribute
        privacy.*.attribute.* privacy.*.worst privacy.*.violating_classes privacy.*.satisfied
        masking.realised.*.* masking.channels.*.labels.*.*
        """,
    ),
    (
        "consistent",
        "",
        """
        format release seeds.drawing objective.targets.* records dropped
        information.original information.shuffled
        information.shuffled_deviation targets.*.shuffled_deviation
        information.retained_above_shuffled information.ceiling information.gap information.loss
        information.loss_above_shuffled targets.*.original targets.*.shuffled targets.*.ceiling
        targets.*.retained_above_shuffled targets.*.gap targets.*.loss
        targets.*.loss_above_shuffled recoding.*.*.from recoding.*.*.to search.gap search.bound
        search.proven search.objective search.tried.*.taken masking.attributes.*
        masking.distortion.* masking.scale.*
        masking.withheld masking.epsilon masking.method masking.preserved
        masking.preserved.columns.* masking.channels.*.attributes.* masking.channels.*.values.*.*
        masking.channels.*.rows.*.labels.* masking.channels.*.rows.*.chances.*
        masking.channels.*.epsilon masking.channels.*.rank masking.channels.*.expected_distortion
        masking.channels.*.least_distortion
        """,
    ),
    ("study", GIVEN, "columns.missing columns.missing_values.**"),
    ("study", GIVEN, "person.* per_person weight"),
    ("study", GIVEN, "items.* household.* shift.days shift.format released_weight"),
    ("consistent", "", "person_numbers"),
    ("key", OF_PERSON_KEY, "person_key"),
    ("study", GIVEN, "objective.weights.* objective.aggregate search.because"),
    ("study", HIERARCHY, "levels.* recoding.*.*.level recoding.*.*.values.* recoding.*.*.group"),
    ("study", HIERARCHY, "recoding.*.*.except.* recoding.*.*.missing recoding.*.*.masked.*"),
    ("study", HIERARCHY, "recoding.*.*.calendar recoding.*.*.calendar.*"),
    ("study", HIERARCHY, "recoding.*.*.code.** recoding.*.*.unit recoding.*.*.decimal"),
    ("study", HIERARCHY, "recoding.*.*.members.**"),
    ("study", REQUIRED, "privacy.*.parameters.**"),
    ("study", FINGERPRINT, "study.fingerprint"),
    ("study", GIVEN, "seeds.search"),
    ("original", ORIGINAL, "input.fingerprint"),
    ("key", OF_KEY, "series.*"),
    ("study", NEXT, "hierarchies.** method.** settled.*"),
    ("unchecked", APPLIED, "applies.sha256"),
    ("unchecked", PARTS, "counts.*"),
    ("unchecked", RAW, "unseen.*"),
    ("unchecked", LONG, "recoding.*.*.listed recoding.*.*.sha256"),
    ("unchecked", CELLS, "spreadsheet.**"),
    ("unchecked", SEARCH, "search.strategy search.nodes search.checked search.feasible"),
    ("unchecked", SEARCH, "search.minimal.** search.refinements search.grids.*"),
    ("study", GIVEN, "search.tried.*.recoding"),
    ("unchecked", HALVES, "search.tried.*.holds search.tried.*.measure search.tried.*.kept"),
    ("unchecked", HALVES, "search.tried.*.classes search.tried.*.records_broken"),
    ("unchecked", HALVES, "search.tried.*.reason"),
    ("unchecked", WORDS, "versions.* table.order masking.margin respelled.*"),
    ("unchecked", RAW, "masking.preserved.mean.* masking.preserved.variance.*"),
    ("unchecked", RAW, "masking.preserved.covariance masking.preserved.covariance_kept"),
    ("unchecked", RAW, "masking.preserved.mean_kept masking.channels.*.realised_distortion"),
    ("unchecked", RAW, "masking.channels.*.expected.*.*"),
)
FIELDS: Mapping[str, Treatment] = {
    field: Treatment(how, why) for how, why, fields in TREATMENTS for field in fields.split()
}
"""How each field is checked; ``*`` is any one key or place, ``**`` all that is below."""

UNKNOWN = Treatment("unchecked", "this version does not know them")
OTHERS = "fields of other names"
TOPS = frozenset(pattern.partition(".")[0] for pattern in FIELDS)


def treatment_of(path: Path) -> tuple[str, Treatment]:
    """The pattern in ``FIELDS`` that a place of a manifest has, and how it is checked."""
    if path[0] not in TOPS:
        return OTHERS, UNKNOWN
    keys = tuple("*" if isinstance(key, int) else key for key in path)
    return _treatment_of(keys)


@lru_cache(maxsize=1024)  # lists of a manifest have many places that are treated alike
def _treatment_of(keys: tuple[str, ...]) -> tuple[str, Treatment]:
    for pattern, treatment in FIELDS.items():
        if _fits(keys, tuple(pattern.split("."))):
            return pattern, treatment
    return ".".join(keys), UNKNOWN


def leaves(content: Any, path: Path = ()) -> Iterator[Path]:
    """The places of all numbers, texts, truths and nulls in a content of JSON."""
    if not isinstance(content, Mapping | list):
        yield path
        return
    for key, part in content.items() if isinstance(content, Mapping) else enumerate(content):
        yield from leaves(part, (*path, key))


def _fits(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if pattern[-1] == "**":
        head = pattern[:-1]
        return len(path) >= len(head) and _fits(path[: len(head)], head)
    return len(path) == len(pattern) and all(
        wanted in ("*", key) for key, wanted in zip(path, pattern, strict=True)
    )
