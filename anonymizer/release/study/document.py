"""What a study file may say, section by section, and how it is read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
)
from pydantic_core import ErrorDetails

from anonymizer.errors import LONGEST, InputError, did_you_mean, shown
from anonymizer.tables.reading import STUDY, parsed_toml, read_whole

__all__ = ["Document", "MaskingOptions", "read_document"]

Number = StrictInt | StrictFloat
UNION = ("int", "float")
"""What pydantic adds to the place of a complaint about a number."""


class Section(BaseModel):
    """A section of a study file: keys with hyphens, none unknown."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=lambda name: name.replace("_", "-"),
        arbitrary_types_allowed=True,
    )


class Data(Section):
    """``[data]``: where the table lies and how it is read."""

    path: StrictStr
    separator: Annotated[StrictStr, Field(min_length=1, max_length=1)] | None = None
    missing: Literal["error", "drop", "category"] = "error"
    missing_values: tuple[StrictStr, ...] = ()


class Columns(Section):
    """``[sensitive]`` and ``[identifiers]``: names of columns."""

    attributes: tuple[StrictStr, ...] = ()


class SearchOptions(Section):
    """``[search]``: which recodings are considered, and how."""

    recoding: Literal["full-domain", "variable-range", "cut", "boxes", "classes", "fixed"] = (
        "full-domain"
    )
    levels: dict[StrictStr, StrictInt] | None = None
    strategy: Literal[
        "automatic", "bisection", "top-down", "branch-and-bound", "incognito", "exhaustive"
    ] = "automatic"
    suppression: Number = 0
    remove: StrictBool = False
    time_limit: Number | None = None
    refinement: Literal["exact", "heuristic"] = "exact"
    refine: tuple[StrictStr, ...] | None = None
    group: tuple[StrictStr, ...] = ()
    max_ranges: StrictInt | None = None
    min_width: Number | None = None
    grid: Number | None = None
    max_classes: StrictInt | None = None
    min_records: StrictInt | None = None
    min_gain: Number = 0
    seed: Annotated[StrictInt, Field(ge=0)] = 0


class ObjectiveOptions(Section):
    """``[objective]``: what is kept most of."""

    name: StrictStr = "mutual-information"
    weights: dict[StrictStr, Number] = {}
    target: StrictStr | None = None
    targets: dict[StrictStr, Number] = {}
    aggregate: StrictStr | None = None


class MaskingOptions(Section):
    """``[masking]``: values drawn at random."""

    method: StrictStr
    attributes: tuple[StrictStr, ...] | None = None
    jointly: StrictBool = True
    distortion: Any = None  # Masking says better than pydantic what these three should be
    alphabet: Any = None
    grid: Any = None
    rate: Number | None = None
    invariant: StrictBool = False
    epsilon: Number | None = None
    min_records: StrictInt | None = None
    draws: StrictInt = 20
    withhold: StrictBool = False
    seed: Annotated[StrictInt, Field(ge=0)] | None = None


class OutputOptions(Section):
    """``[output]``: how the release is written."""

    csv_safe: StrictBool = False


class Document(Section):
    """A whole study file."""

    data: Data
    quasi_identifiers: dict[StrictStr, StrictStr]
    sensitive: Columns = Columns()
    identifiers: Columns = Columns()
    privacy: tuple[dict[str, Any], ...]
    search: SearchOptions = SearchOptions()
    masking: MaskingOptions | None = None
    objective: ObjectiveOptions = ObjectiveOptions()
    output: OutputOptions = OutputOptions()

    @field_validator("masking", mode="before")
    @classmethod
    def _named(cls, stated: object) -> object:
        """``masking = "pram"`` is a section that states the method alone."""
        return {"method": stated} if isinstance(stated, str) else stated


def read_document(path: Path) -> Document:
    """A study file, read and checked.

    Raises
    ------
    InputError
        When it cannot be read or says something it cannot; the message names file, section and key.
    """
    return _validated(path, _parsed(path))


def _parsed(path: Path) -> dict[str, Any]:
    try:
        text = read_whole(path, STUDY)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"there is no study file {path}") from None
    except OSError as error:
        raise InputError(f"cannot read study file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"cannot read study file {path}: it is not UTF-8 text") from None
    except ValueError:
        raise InputError(f"cannot read study file {str(path)!r}: no file has such a name") from None
    try:
        return parsed_toml(text)
    except ValueError as error:
        raise InputError(f"{path} is not a TOML file: {error}") from None


def _validated(path: Path, content: Mapping[str, Any]) -> Document:
    try:
        return Document.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{path}: {_explained(error)}") from None


def _explained(error: ValidationError) -> str:
    """The first complaint, in the study file's words."""
    first = error.errors(include_url=False, include_input=False)[0]
    *section, key = [str(part)[:LONGEST] for part in first["loc"] if part not in UNION]
    place = f"[{section[0]}] " if section else ""
    if first["type"] == "extra_forbidden":
        known = _keys(section)
        return f"{place}unknown key {shown(key)}" + (
            did_you_mean(key, known) or f"; known are {', '.join(known)}"
        )
    if first["type"] == "missing":
        return f"{place}{key} is missing" if section else f"section [{key}] is missing"
    return f"{place}{'.'.join([*section[1:], key])} {_expected(first)}"


def _expected(complaint: ErrorDetails) -> str:
    """What a value should have been, in words for people who do not know the library's types."""
    if complaint["loc"][-1] in UNION:
        return "must be a number"
    kinds = {
        "string_type": "must be a text in quotes",
        "bool_type": "must be true or false",
        "int_type": "must be a whole number",
        "float_type": "must be a number",
        "tuple_type": "must be a list in brackets",
        "dict_type": "must be a section",
        "model_type": "must be a section",
    }
    message = complaint["msg"]
    return kinds.get(complaint["type"], message[0].lower() + message[1:])


def _keys(section: list[str]) -> list[str]:
    """The keys a section knows."""
    known = Document.model_fields
    if section:
        kind = known[section[0].replace("-", "_")].annotation
        kind = next((each for each in get_args(kind) if each is not type(None)), kind)
        known = kind.model_fields if isinstance(kind, type) and issubclass(kind, Section) else {}
    return [name.replace("_", "-") for name in known]
