"""Privacy models by name and parameters, as studies and the command line give them."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from anonymizer.errors import InputError, shown, suggestion
from anonymizer.privacy import MODELS, PrivacyModel

TABLES = ("population", "hierarchy")
"""Parameters that are files: only a study says where they lie."""

MODEL = "model"
"""The key of a section of a policy that names the model."""


def kind_of_model(name: object, place: str) -> type[PrivacyModel]:
    """The privacy model of a name; ``place`` is where a message says that it stands.

    Raises InputError when there is none.
    """
    if not isinstance(name, str) or name not in MODELS:
        raise InputError(f"{place} model = {name!r:.200} is unknown{suggestion(name, MODELS)}")
    return MODELS[name]


def require_parameters(
    place: str, kind: type[PrivacyModel], given: Mapping[str, Any], mend: str
) -> None:
    """Require the parameters of a model, and no others; ``mend`` says how to add a ``{key}``."""
    parameters = sorted(fields(kind), key=lambda field: bool(field.kw_only))  # type: ignore[arg-type]
    known = {field.name: field for field in parameters}
    for key in given:
        if key not in known:
            hint = suggestion(key, known, "it has")
            raise InputError(f"{place} has no parameter {shown(key)}{hint}")
    for key, field in known.items():
        # A default does not spare some: thresholds under different distances differ.
        if key not in given and (field.default is MISSING or key in kind.required):
            raise InputError(f"{place} lacks {key!r}; {mend.format(key=key)}")


def required_model(text: str) -> PrivacyModel:
    """The model that a text requires: ``k-anonymity=5``, ``t-closeness=0.2,distance=kl``.

    The first number is the bound that the model is about (its ``bounded_by``), other parameters
    follow by name.

    Raises InputError when it is no such text, or the model cannot be made of it.
    """
    place = f"--require {text!r:.200}:"
    first, *more = text.split(",")
    name, bound = _pair(first)
    kind = kind_of_model(name, place)
    given = {} if bound is None else {kind.bounded_by: _value(bound)}
    for part in more:
        key, value = _pair(part)
        if value is None:
            raise InputError(f"{place} {key!r:.200} has no value; write {key:.200}=...")
        given[key] = _value(value)
    for key in TABLES:
        if key in given:
            raise InputError(f"{place} {key} is a file, which only a study names; give --study")
    require_parameters(f"{place} {kind.name}", kind, given, "add ,{key}=...")
    try:
        return kind(**given)
    except InputError as error:
        raise InputError(f"{place} {error}") from None


def _pair(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    return name.strip(), value.strip() if equals else None


def _value(text: str) -> int | float | str:
    """A whole number, a number, or else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
