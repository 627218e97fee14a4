"""How often the library refuses, and how often because options do not go together."""

import ast
import re
from collections.abc import Iterator

from structure.sources import Figure, Function, Library, Module

__all__ = ["COMBINATIONS", "figures", "refusals"]

HEADING = "Refusals"
NOTE = """Each `raise` of an own error, or of a function that returns one. Those of combinations are
found by patterns of their messages (`COMBINATIONS` in `structure/refusals.py`)."""
ROOT = "AnonymizerError"
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
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Raise) and node.exc and _name(node.exc) in errors | makers
    ]


def figures(library: Library) -> list[Figure]:
    """All refusals, and those of combinations."""
    found = refusals(library)
    pattern = re.compile("|".join(COMBINATIONS))
    combined = [f"{place} {message}" for place, message in found if pattern.search(message)]
    modules = {place.split(":")[0] for place in combined}
    return [
        Figure("refusals (`raise` of an own error)", str(len(found))),
        Figure("refusals of combinations", f"{len(combined)} in {len(modules)} modules", combined),
    ]


def _errors(library: Library) -> set[str]:
    """The root of the errors and all classes below it."""
    classes = [node for module in library for node in _classes(module)]
    found = {ROOT}
    while more := {c.name for c in classes if found & {_name(b) for b in c.bases}} - found:
        found |= more
    return found


def _classes(module: Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef))


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
