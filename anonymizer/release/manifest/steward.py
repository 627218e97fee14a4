"""What of a manifest is its steward's alone: figures of the raw table, in a file next to a release.

A figure of the raw table is a release of it: I(X;W) of 10 people to 16 digits, with a register of
their quasi-identifiers, tells the diagnosis of each. So ``release.json`` has what follows from the
released table and what was requested, and the rest is in the file that ``steward_file`` names.
"""

from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field

from anonymizer.release.files import STEWARD

Part = TypeVar("Part", bound=BaseModel)

MARK = "steward"
"""What marks a field, in the JSON Schema as well."""

OF_MASKING = ("scale", "margin", "preserved")
OF_CHANNELS = ("expected_distortion", "realised_distortion", "least_distortion", "expected")
"""What is the steward's of the description of a random recoding, and of each of its channels."""


def stewards(description: str, default: object = None) -> Any:
    """A field that is its steward's alone: ``release.json`` has none."""
    said = f"{description} In the steward's file alone."
    return Field(default, description=said, json_schema_extra={MARK: True})


def steward_file(release: Path) -> Path:
    """The steward's file of the release in a directory, which is next to it."""
    place = release.resolve()
    return place.with_name(place.name + STEWARD) if place.name else place / STEWARD


def without_stewards(part: Part) -> Part:
    """A part of a manifest, and all parts of it, without the fields that are the steward's.

    Nor has it any that this version does not know.
    """
    fields = type(part).model_fields
    hidden = {name for name, field in fields.items() if _is_marked(field.json_schema_extra)}
    shown = {name: _without(getattr(part, name)) for name in fields.keys() - hidden}
    given = part.model_fields_set - hidden
    dropped = {name: fields[name].get_default() for name in hidden}
    copy = part.model_copy(update={**shown, **dropped})
    copy.model_fields_set.clear()
    copy.model_fields_set.update(given & fields.keys())
    if copy.__pydantic_extra__:
        copy.__pydantic_extra__.clear()
    return copy


def _is_marked(extra: object) -> bool:
    return isinstance(extra, Mapping) and bool(extra.get(MARK))


def _without(value: Any) -> Any:
    """The same of what a field holds."""
    if isinstance(value, BaseModel):
        return without_stewards(value)
    if isinstance(value, Mapping):
        return {name: _without(each) for name, each in value.items()}
    return [*map(_without, value)] if isinstance(value, list) else value


def lacking(content: Any, other: Any, place: str = "") -> Iterator[str]:
    """The places of JSON that hold something another one does not; a list as one of its length."""
    if isinstance(content, Mapping) and isinstance(other, Mapping):
        for name, part in content.items():
            yield from lacking(part, other.get(name), f"{place}.{name}".removeprefix("."))
    elif isinstance(content, list) and isinstance(other, list) and len(content) == len(other):
        for part, its in zip(content, other, strict=True):
            yield from lacking(part, its, place)
    elif content not in (None, [], {}) and content != other:
        yield place


def public_masking(masking: Mapping[str, Any]) -> dict[str, Any]:
    """How values were drawn, without what a draw, or the raw table, made of it."""
    shown = {name: each for name, each in masking.items() if name not in OF_MASKING}
    if "channels" in masking:
        shown["channels"] = [
            {name: each for name, each in channel.items() if name not in OF_CHANNELS}
            for channel in masking["channels"]
        ]
    return shown


def public_rule(rule: Mapping[str, Any], ends: Collection[Decimal]) -> dict[str, Any]:
    """The rule of ranges whose ground follows from the raw table, with the released ends alone.

    Of its cut points level 1, the ground, keeps those of level 2 and those that some released range
    ends at: what was released lies at the same levels of either rule.
    """
    ground, *coarser = rule["cuts"]
    known = {*coarser[0]} if coarser else set()
    kept = [point for point in ground if point in known or Decimal(point) in ends]
    return {**rule, "cuts": [kept, *coarser], "ground": kept}
