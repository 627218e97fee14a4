"""Names that are declared more than once, and words that plain English avoids."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from structure.sources import Figure, Library, Module, percent

__all__ = ["class_names", "figures", "private_share", "type_aliases", "word_count"]

HEADING = "Names and words"
NOTE = """A private function or method begins with an underscore, and is none of Python's own.
Classes anywhere, aliases at the top of modules. Words count in code, comments, docstrings
and messages, also as a part of a name such as `as_stated`."""
WORDS = ("asked", "stated", "told", "beside")
Places = dict[str, list[str]]


def figures(library: Library) -> list[Figure]:
    """Repeated declarations and words."""
    words = {word: word_count(library, word) for word in WORDS}
    return [
        Figure("private share of the functions", percent(*private_share(library))),
        _repeated("class names declared more than once", class_names(library)),
        _repeated("type aliases declared more than once", type_aliases(library)),
        *(Figure(f'"{word}"', f"{count:,}") for word, count in words.items()),
    ]


def private_share(library: Library) -> tuple[int, int]:
    """How many functions and methods are private, and how many there are."""
    found = [function.name for module in library for function in module.functions]
    return sum(name.startswith("_") and not name.endswith("__") for name in found), len(found)


def class_names(library: Library) -> Places:
    """Where each class name is declared."""
    found: Places = defaultdict(list)
    for module in library:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module.place(node))
    return found


def type_aliases(library: Library) -> Places:
    """Where each alias of a type is declared at the top of a module.

    An alias is a name in CapWords that is set to another name, a subscript (``NDArray[...]``) or
    a union (``int | None``).
    """
    found: Places = defaultdict(list)
    for module in library:
        for name, node in _aliases(module):
            found[name].append(module.place(node))
    return found


def word_count(library: Library, word: str) -> int:
    """How often a word stands in the sources: code, comments and texts, in parts of names too."""
    pattern = re.compile(rf"(?<![a-z]){word}(?![a-z])", re.IGNORECASE)
    return sum(len(pattern.findall(module.text)) for module in library)


def _repeated(label: str, found: Places) -> Figure:
    twice = sorted((-len(places), name) for name, places in found.items() if len(places) > 1)
    most = f", `{twice[0][1]}` {-twice[0][0]} times" if twice else ""
    listed = [f"{-count} {name}: {', '.join(found[name])}" for count, name in twice]
    return Figure(label, f"{len(twice)}{most}", listed)


def _aliases(module: Module) -> Iterator[tuple[str, ast.stmt]]:
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            target, value = node.target, node.value
        elif type(node).__name__ == "TypeAlias":  # the statement `type X = ...` of Python 3.12
            target, value = node.name, node.value  # type: ignore[attr-defined]
        else:
            continue
        types = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)
        if isinstance(target, ast.Name) and _is_cap_words(target.id) and isinstance(value, types):
            yield target.id, node


def _is_cap_words(name: str) -> bool:
    return name[0].isupper() and not name.isupper()
