"""Study files: what to anonymize, under which policy, as TOML."""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)
from pydantic_core import ErrorDetails

from anonymizer.errors import InputError, did_you_mean
from anonymizer.estimator import Anonymizer
from anonymizer.hierarchy import Hierarchy
from anonymizer.privacy import MODELS, Population, PrivacyModel
from anonymizer.regions import CLASS
from anonymizer.schema import Schema
from anonymizer.search import Watch
from anonymizer.tables import Format, format_of, read_table

__all__ = ["Study"]

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


class Document(Section):
    """A whole study file."""

    data: Data
    quasi_identifiers: dict[StrictStr, StrictStr]
    sensitive: Columns = Columns()
    identifiers: Columns = Columns()
    privacy: tuple[dict[str, Any], ...]
    search: SearchOptions = SearchOptions()
    objective: ObjectiveOptions = ObjectiveOptions()


class Study:
    """A study file, read and checked; paths in it are relative to it.

    Raises
    ------
    InputError
        When the file cannot be read or says something it cannot; the message names the file, the
        section and the key.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.document = _validated(self.path, _parsed(self.path))
        self._populations: dict[str, Population] = {}

    @cached_property
    def privacy(self) -> tuple[PrivacyModel, ...]:
        """The models of the policy."""
        if not self.document.privacy:
            raise InputError(f"{self.path}: [[privacy]] must state at least one model")
        return tuple(self._model(stated) for stated in self.document.privacy)

    def _model(self, stated: Mapping[str, Any]) -> PrivacyModel:
        """Build a privacy model from its table, checking names before values."""
        place = f"{self.path}: [[privacy]]"
        if "model" not in stated:
            raise InputError(f"{place} lacks model; known are {', '.join(MODELS)}")
        name = stated["model"]
        if not isinstance(name, str) or name not in MODELS:
            hint = did_you_mean(str(name), MODELS) or f"; known are {', '.join(MODELS)}"
            raise InputError(f"{place} model = {name!r} is unknown{hint}")
        given = {key: value for key, value in stated.items() if key != "model"}
        _require_parameters(f"{place} {name}", MODELS[name], given)
        try:
            return MODELS[name](**self._resolved(given))
        except InputError as error:
            raise InputError(f"{place} {error}") from None

    def _resolved(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters of a model, those that are paths being what lies there."""
        resolved = dict(given)
        if "hierarchy" in given:
            resolved["hierarchy"] = Hierarchy.of(given["hierarchy"], self.path.parent)
        if "population" in given:
            resolved["population"] = self._population(given["population"])
        return resolved

    def _population(self, stated: object) -> Population:
        """The table of a population, read once."""
        if not isinstance(stated, str):
            raise InputError(f"population = {stated!r} must be the path of a table")
        if stated not in self._populations:
            path = self.path.parent / stated
            names = tuple(self.document.quasi_identifiers)
            table = read_table(path, self.format_of(path), names)
            self._populations[stated] = Population(table, stated)
        return self._populations[stated]

    @cached_property
    def schema(self) -> Schema:
        """The role of every column."""
        document = self.document
        return Schema(
            tuple(document.quasi_identifiers),
            document.sensitive.attributes,
            document.identifiers.attributes,
            document.data.missing,
            tuple(self.targets),
        )

    @property
    def published(self) -> Schema:
        """The roles of the columns of a release: merged classes are told apart by one more."""
        numbered = self.document.search.recoding == "classes"
        return self.schema.beside(CLASS) if numbered else self.schema

    @cached_property
    def targets(self) -> dict[str, float]:
        """What mutual information is to be kept about, if not the sensitive attributes."""
        stated = self.document.objective
        if stated.target is not None and stated.targets:
            raise InputError(f"{self.path}: [objective] states target and targets; choose one")
        return dict(stated.targets) if stated.target is None else {stated.target: 1.0}

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """How each quasi-identifier generalizes."""
        stated = self.document.quasi_identifiers
        return {name: Hierarchy.of(what, self.path.parent) for name, what in stated.items()}

    @property
    def data_path(self) -> Path:
        """Where the table lies."""
        return self.path.parent / self.document.data.path

    @cached_property
    def data_format(self) -> Format:
        """How it lies there."""
        return self.format_of(self.data_path)

    def format_of(self, path: Path) -> Format:
        """The format of a table of this study, the separator found by itself if not stated."""
        data = self.document.data
        return format_of(path, data.separator, data.missing_values)

    def read(
        self,
        path: Path | None = None,
        form: Format | None = None,
        schema: Schema | None = None,
    ) -> pd.DataFrame:
        """Read the study's table, or another one of its kind, with the columns of a schema."""
        path = self.data_path if path is None else path
        columns = (schema or self.schema).columns
        return read_table(path, form or self.format_of(path), columns)

    def anonymizer(self, n_jobs: int | None = None, progress: Watch | None = None) -> Anonymizer:
        """The estimator that the study describes."""
        search, objective = self.document.search, self.document.objective
        return Anonymizer(
            quasi_identifiers=self.hierarchies,
            sensitive=self.schema.sensitive,
            privacy=self.privacy,
            recoding=search.recoding,
            levels=search.levels,
            identifiers=self.schema.identifiers,
            missing=self.schema.missing,
            refine=search.refine,
            group=search.group,
            max_ranges=search.max_ranges,
            min_width=search.min_width,
            grid=search.grid,
            max_classes=search.max_classes,
            min_records=search.min_records,
            min_gain=search.min_gain,
            search=search.strategy,
            refinement=search.refinement,
            objective=objective.name,
            weights=objective.weights or None,
            target=self.targets or None,
            aggregate=objective.aggregate,
            suppression=search.suppression,
            remove=search.remove,
            time_limit=search.time_limit,
            seed=search.seed,
            n_jobs=n_jobs,
            progress=progress,
        )


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"there is no study file {path}") from None
    except OSError as error:
        raise InputError(f"cannot read study file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"cannot read study file {path}: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not a TOML file: {error}") from None
    except ValueError:
        raise InputError(f"cannot read study file {str(path)!r}: no file has such a name") from None


def _validated(path: Path, content: Mapping[str, Any]) -> Document:
    try:
        return Document.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{path}: {_explained(error)}") from None


def _explained(error: ValidationError) -> str:
    """The first complaint, in the study file's words."""
    first = error.errors(include_url=False, include_input=False)[0]
    *section, key = [str(part) for part in first["loc"] if part not in UNION]
    place = f"[{section[0]}] " if section else ""
    if first["type"] == "extra_forbidden":
        known = _keys(section)
        return f"{place}unknown key {key!r}" + (
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
        known = kind.model_fields if isinstance(kind, type) and issubclass(kind, Section) else {}
    return [name.replace("_", "-") for name in known]


def _require_parameters(place: str, kind: type[PrivacyModel], given: Mapping[str, Any]) -> None:
    """Require that a model's parameters are stated, and no others."""
    stated = sorted(fields(kind), key=lambda field: bool(field.kw_only))  # type: ignore[arg-type]
    known = {field.name: field for field in stated}
    for key in given:
        if key not in known:
            hint = did_you_mean(key, known) or f"; it has {', '.join(known)}"
            raise InputError(f"{place} has no parameter {key!r}{hint}")
    for key, field in known.items():
        # Some are asked for in spite of a default: thresholds under different distances differ.
        if key not in given and (field.default is MISSING or key in kind.stated):
            raise InputError(f"{place} lacks {key!r}; state it")
