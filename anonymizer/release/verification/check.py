"""What was checked of a release: one field of its manifest, held against something else."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isclose
from typing import Any

from anonymizer.errors import shown

__all__ = [
    "ABSENT",
    "CONSISTENT",
    "RECOMPUTED",
    "STUDY",
    "TOLERANCE",
    "UNCHECKED",
    "Check",
    "at",
    "compared",
    "required",
    "same",
]

TOLERANCE = 1e-9
"""How far a figure may be from the recomputed one, relative to the larger, or in its own unit.

The last digits of sums differ between machines and with the order of records.
"""

RECOMPUTED, CONSISTENT, STUDY, UNCHECKED = "recomputed", "consistent", "study", "unchecked"
"""How a field is checked: from the table, against other fields, by the study, or not at all."""

SOURCES = {
    RECOMPUTED: "the table",
    CONSISTENT: "the rest of the manifest",
    STUDY: "the study",
}

ABSENT = object()
"""In place of a field that a manifest lacks."""


@dataclass(frozen=True)
class Check:
    """One field of a manifest, and whether it agrees.

    Parameters
    ----------
    field
        Its place, ``query_loss.average``.
    how
        ``"recomputed"`` from the table, ``"consistent"`` with other fields, by the ``"study"``, or
        ``"unchecked"``.
    agrees
        Whether it does; None where it cannot be checked.
    manifest, found
        What the manifest says, and what was found instead, in words that hold no value of a
        record; empty where they agree.
    reason
        Why it cannot be checked.
    """

    field: str
    how: str
    agrees: bool | None
    manifest: str = ""
    found: str = ""
    reason: str = ""

    @property
    def differs(self) -> bool:
        """Whether it was checked and does not agree."""
        return self.agrees is False

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


def compared(field: str, told: object, found: object, how: str = RECOMPUTED) -> Check:
    """Hold what a manifest says against what was found; numbers are alike within ``TOLERANCE``."""
    if same(told, found):
        return Check(field, how, True)
    return Check(field, how, False, _said(told), _said(found))


def required(field: str, agrees: bool, told: str, found: str, how: str = CONSISTENT) -> Check:
    """A check of something that is no single value, with words for what differs.

    ``told`` may be empty; ``found`` goes on after "the table", or whatever else was looked at.
    """
    return Check(field, how, True) if agrees else Check(field, how, False, told, found)


def at(manifest: Mapping[str, Any], *path: str | int) -> Any:
    """What stands at a place of a manifest; ``ABSENT`` where nothing does."""
    place: Any = manifest
    for key in path:
        there = (isinstance(place, Mapping) and key in place) or (
            isinstance(place, list) and isinstance(key, int) and key < len(place)
        )
        if not there:
            return ABSENT
        place = place[key]
    return place


def same(told: Any, found: Any) -> bool:
    """Whether two values of JSON are alike, numbers within ``TOLERANCE``, whole ones exactly."""
    if isinstance(told, Mapping) and isinstance(found, Mapping):
        return told.keys() == found.keys() and all(same(told[key], found[key]) for key in told)
    if _is_list(told) and _is_list(found):
        return len(told) == len(found) and all(map(same, told, found))
    if not (_is_number(told) and _is_number(found)):
        return type(told) is type(found) and bool(told == found)
    if isinstance(told, int) and isinstance(found, int):
        return told == found
    try:
        return isclose(told, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except OverflowError:
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _said(value: object) -> str:
    """A value of a manifest in a line: numbers and names as they are, of what is long the size."""
    if value is ABSENT:
        return "nothing"
    if isinstance(value, Mapping):
        parts = (f"{shown(key)}: {_said(part)}" for key, part in value.items())
        return "{" + ", ".join(parts) + "}"
    if _is_list(value):
        return f"a list of {len(value)}"  # type: ignore[arg-type]
    return shown(value) if isinstance(value, str) else json.dumps(value)
