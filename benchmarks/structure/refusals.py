"""How often the library refuses, and how often because options do not go together."""

import ast
import re
from collections.abc import Iterator

from structure.sources import Figure, Function, Library, Module

__all__ = ["COMBINATIONS", "figures", "read_messages", "refusals"]

HEADING = "Refusals"
NOTE = """Each `raise` of an own error, or of a function that returns one. Those of combinations are
found by patterns of their messages (`COMBINATIONS` in `structure/refusals.py`). A message decides
where code compares, searches or cuts the text of an error that it caught."""
ROOT = "AnonymizerError"
TEXTS = {"args", "message", "problem", "remedy"}
"""Attributes of an error that hold its text."""

READ = {"count", "endswith", "find", "index", "match", "partition", "removeprefix", "removesuffix",
        "replace", "rpartition", "search", "split", "startswith", "sub"}  # fmt: skip
"""Methods of texts, and functions of patterns, that look into one."""

COMBINATIONS = (
    r"\b(?:is|are) (?:only )?for\b",
    r"\bnot (?:made )?for\b",
    r"\bleave (?:it|them|one|either)\b",
    r"\bleave out (?!those|values)",
    r"\bleave [\w-]+ out,? or\b",
    r"\bcannot (?:stand beside|be combined|be given with|go with)\b",
    r"\bgoes with\b",
    r"\bhas no (?:weights|target|aggregate)\b",
)
"""Messages about options that are each valid and do not go together. A placeholder reads ``{}``.

These are patterns of texts: they find a few messages too many and miss a few; ``--list`` shows all.
"""


def refusals(library: Library) -> list[tuple[str, str]]:
    """Place and message of each ``raise`` of an error of the library's own.

    Functions that return such an error count as the error. What a message takes from a variable
    is missing from it.
    """
    errors = _errors(library)
    makers = {f.name for m in library for f in m.functions if _returned(f) in errors}
    return [
        (module.place(node), _message(node.exc))
        for module in library
        for node in module.nodes
        if isinstance(node, ast.Raise) and node.exc and _name(node.exc) in errors | makers
    ]


def read_messages(library: Library) -> list[str]:
    """Where the text of an error that was caught decides what is done, or is cut into pieces."""
    return [
        module.place(node)
        for module in library
        for handler in module.nodes
        if isinstance(handler, ast.ExceptHandler) and handler.name
        for node in ast.walk(handler)
        if isinstance(node, ast.Compare | ast.Call) and _reads(node, handler.name)
    ]


def _reads(node: ast.Compare | ast.Call, error: str) -> bool:
    """Whether a comparison or a call looks into the text of an error."""
    if isinstance(node, ast.Compare):
        return any(_is_text(part, error) for part in (node.left, *node.comparators))
    read = isinstance(node.func, ast.Attribute) and node.func.attr in READ
    return read and any(_is_text(part, error) for part in (node.func.value, *node.args))


def _is_text(node: ast.expr, error: str) -> bool:
    """Whether an expression is the text of an error: ``str(error)``, ``error.args[0]`` or so."""
    if isinstance(node, ast.Subscript):
        return _is_text(node.value, error)
    if isinstance(node, ast.Attribute):
        return node.attr in TEXTS and _name(node.value) == error
    return isinstance(node, ast.Call) and ast.unparse(node) in (f"str({error})", f"repr({error})")


def figures(library: Library) -> list[Figure]:
    """All refusals, those of combinations, and messages that decide."""
    read = read_messages(library)
    found = refusals(library)
    pattern = re.compile("|".join(COMBINATIONS))
    combined = [f"{place} {message}" for place, message in found if pattern.search(message)]
    modules = {place.split(":")[0] for place in combined}
    return [
        Figure("refusals (`raise` of an own error)", str(len(found))),
        Figure("refusals of combinations", f"{len(combined)} in {len(modules)} modules", combined),
        Figure("messages used to decide", str(len(read)), read),
    ]


def _errors(library: Library) -> set[str]:
    """The root of the errors and all classes below it."""
    classes = [node for module in library for node in _classes(module)]
    found = {ROOT}
    while more := {c.name for c in classes if found & {_name(b) for b in c.bases}} - found:
        found |= more
    return found


def _classes(module: Module) -> Iterator[ast.ClassDef]:
    return (node for node in module.nodes if isinstance(node, ast.ClassDef))


def _returned(function: Function) -> str:
    return _name(function.returns) if function.returns else ""


def _name(node: ast.expr) -> str:
    """The last name of ``Error``, ``module.Error`` and ``Error(...)``."""
    target = node.func if isinstance(node, ast.Call) else node
    return str(getattr(target, "id", getattr(target, "attr", "")))


def _message(node: ast.expr) -> str:
    """The constant texts of a call, with ``{}`` for what is put into them."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_message(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return "{}"
    return "".join(_message(c) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr))
