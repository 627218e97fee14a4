"""The modules of a checkout: their text, their syntax trees and the room in which each stands."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

__all__ = ["APART", "PACKAGE", "Figure", "Function", "Library", "Module", "body_of", "percent"]

PACKAGE = "anonymizer"
DOORS = ("__init__", "__main__")
"""Modules at the top that only lead into the rooms; they are no rooms themselves."""

APART = ("explorer", "papers")
"""Rooms that the others, the core, can be without."""

LAYOUT = {
    tokenize.ENCODING,
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Figure:
    """One row of the result: its label, its value, and the places that ``--list`` prints."""

    label: str
    value: str
    places: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Module:
    """One file of the library."""

    path: Path
    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree."""
        return [*ast.walk(self.tree)]

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__`` of a folder."""
        return self.path.name == "__init__.py"

    @property
    def room(self) -> str | None:
        """The first part of its path below the package; None for the doors."""
        first = Path(self.path.parts[0]).stem
        return None if first in DOORS else first

    @cached_property
    def code_lines(self) -> set[int]:
        """Lines that hold code: neither blank, nor comment, nor docstring alone."""
        found: set[int] = set()
        for token in self._tokens:
            if token.type not in LAYOUT:
                found.update(range(token.start[0], token.end[0] + 1))
        return found - self._docstring_lines

    @cached_property
    def comments(self) -> dict[int, str]:
        """The comment of each line that has one, alone or after code."""
        return {t.start[0]: t.string for t in self._tokens if t.type == tokenize.COMMENT}

    @cached_property
    def functions(self) -> list[Function]:
        """All functions and methods, the nested ones too."""
        return [node for node in self.nodes if isinstance(node, Function)]

    def place(self, node: ast.stmt | ast.expr) -> str:
        """Where a node stands."""
        return f"{self.path}:{node.lineno}"

    @cached_property
    def _tokens(self) -> list[tokenize.TokenInfo]:
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))

    @cached_property
    def _docstring_lines(self) -> set[int]:
        """Lines of texts that stand alone as a statement: docstrings, also those of constants."""
        return {
            line
            for node in self.nodes
            if isinstance(node, ast.Expr) and _is_text(node)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }


@dataclass(frozen=True, eq=False)
class Library:
    """All modules below ``anonymizer/`` of a checkout."""

    root: Path
    modules: dict[str, Module]

    @classmethod
    def read(cls, root: Path) -> "Library":
        """Read every Python file of the package of a checkout."""
        home = root / PACKAGE
        if not (home / "__init__.py").exists():
            raise FileNotFoundError(f"{root} holds no {PACKAGE}/__init__.py")
        modules = [_module(path, home) for path in sorted(home.rglob("*.py"))]
        return cls(root, {module.name: module for module in modules})

    def __iter__(self) -> Iterator[Module]:
        """Iterate over the modules by path."""
        return iter(self.modules.values())

    @cached_property
    def rooms(self) -> list[str]:
        """The first path parts below the package, packages and modules alike."""
        return sorted({module.room for module in self if module.room})

    def source_of(self, node: ast.ImportFrom, importer: Module) -> str:
        """The full name of the module that ``from ... import`` reads, relative or not."""
        if not node.level:
            return node.module or ""
        parts = importer.name.split(".")
        kept = len(parts) - node.level + importer.is_package
        return ".".join([*parts[:kept], *([node.module] if node.module else [])])


def body_of(function: Function) -> list[ast.stmt]:
    """The statements of a function without its docstring."""
    return function.body[1:] if _is_text(function.body[0]) else function.body


def percent(part: float, whole: float) -> str:
    """A share as text."""
    return f"{100 * part / whole if whole else 0:.2f} %"


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _module(path: Path, home: Path) -> Module:
    relative = path.relative_to(home)
    parts = [PACKAGE, *relative.with_suffix("").parts]
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(relative, name, path.read_text(encoding="utf-8"))
