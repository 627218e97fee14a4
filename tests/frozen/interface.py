"""What users call: public names and their parameters, helps, keys of studies, the manifest."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any

import click
from fuzz.exercise import command

import anonymizer
from anonymizer.cli import commands
from anonymizer.release.document import Document

from .texts import CHECKOUT, ran

DOCUMENTED = re.compile(
    r"^\.\. auto(?:function|class|exception|data|attribute):: (\S+)(\n   :members:(.*))?", re.M
)
"""An object in the reference, and those of its members that are shown there."""

PUBLIC, KEYS, SCHEMA, FIELDS = (
    "public names",
    "keys of a study",
    "manifest schema",
    "manifest schema without words",
)
HELP, MEMBERS = "help of ", "members of "


def names() -> Iterator[str]:
    """Public and documented names, commands, and the two kinds of files."""
    yield from (PUBLIC, KEYS, SCHEMA, FIELDS, *_documented())
    yield from (f"{MEMBERS}{name}" for name, shown in _documented().items() if shown is not None)
    yield from (f"{HELP}{' '.join(path)}" for path in _commands(commands, ("anonymizer",)))


def _commands(of: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(of, click.Group):
        context = click.Context(of)
        for name in of.list_commands(context):
            yield from _commands(of.get_command(context, name), (*path, name))


@cache
def _documented() -> Mapping[str, str | None]:
    """The public names and those in the reference, each with the members that are shown."""
    found: dict[str, str | None] = {f"anonymizer.{name}": None for name in anonymizer.__all__}
    for page in sorted((CHECKOUT / "docs" / "reference").glob("*.md")):
        for name, shown, members in DOCUMENTED.findall(page.read_text(encoding="utf-8")):
            found[name] = members.strip() if shown else None
    return found


def text(name: str) -> str:
    """What is said by a name."""
    if name == PUBLIC:
        return "\n".join([*anonymizer.__all__, ""])
    if name == KEYS:
        schema = Document.model_json_schema()
        return _text(_wordless(_inlined(schema, schema["$defs"])))
    if name in (SCHEMA, FIELDS):
        schema = json.loads(command("verify", "--schema")[1])
        return _text(schema if name == SCHEMA else _wordless(schema))
    if name.startswith(HELP):
        return ran(*name.removeprefix(HELP).split()[1:], "--help")
    if name.startswith(MEMBERS):
        return "".join(f"{line}\n" for line in _members(name.removeprefix(MEMBERS)))
    return f"{name}{_parameters(resolve_name(name))}\n"


def _members(name: str) -> Iterator[str]:
    """The members of an object that are shown, with their parameters; no list of them means all."""
    found = resolve_name(name)
    every = sorted(set(dir(found)) - set(dir(object)))
    for each in re.findall(r"\w+", _documented()[name] or "") or every:
        if not each.startswith("_"):
            yield f"{each}{_parameters(getattr(found, each))}"


def _parameters(called: object) -> str:
    """The parameters of what can be called, with defaults.

    Without annotations, which name the places of types in the library: mypy holds those.
    """
    if not callable(called):
        return ""
    try:
        signature = inspect.signature(called)
    except ValueError:  # an exception, say
        return "(...)"
    empty = inspect.Parameter.empty
    plain = [
        each.replace(annotation=empty, default=_default(each.default))
        for each in signature.parameters.values()
    ]
    return str(signature.replace(parameters=plain, return_annotation=empty))


def _default(value: object) -> object:
    """A default, a function without its address."""
    return f"<{value.__name__}>" if inspect.isfunction(value) else value


def _text(schema: object) -> str:
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _inlined(part: Any, parts: Mapping[str, Any]) -> Any:
    """A schema in one piece, without the names that its parts have in the library."""
    if isinstance(part, list):
        return [_inlined(each, parts) for each in part]
    if not isinstance(part, dict):
        return part
    left = {key: part[key] for key in part if key not in ("$ref", "$defs", "discriminator")}
    found = {key: _inlined(each, parts) for key, each in left.items()}
    if "$ref" in part:
        found = {**_inlined(parts[part["$ref"].rpartition("/")[2]], parts), **found}
    return found


def _wordless(part: Any) -> Any:
    """A schema without titles and descriptions, which docstrings make."""
    if isinstance(part, list):
        return [_wordless(each) for each in part]
    if not isinstance(part, dict):
        return part
    words = {key for key in ("title", "description") if isinstance(part.get(key), str)}
    return {key: _wordless(each) for key, each in part.items() if key not in words}
