"""Places of the library that say the same: copies with other names, texts and numbers."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from structure.sources import Figure, Function, Library, Module, body_of

__all__ = ["LEAST_LINES", "Place", "clones", "figures"]

HEADING = "Clones"
NOTE = """Whole functions, or runs of statements within one, that are the same once names are
replaced by their order of appearance, and texts and numbers by their kind. Imports, docstrings,
annotations and decorators are left out; lines with code count. Three copies are three pairs."""
LEAST_LINES = 6
SHORT_LINES = 4
Token = tuple[str, str]
NAME = "name"


@dataclass(frozen=True)
class Place:
    """A whole function, or a run of statements within one."""

    path: str
    first: int
    last: int
    lines: int

    def __str__(self) -> str:
        """Return path and lines."""
        return f"{self.path}:{self.first}-{self.last}"

    def meets(self, other: "Place") -> bool:
        """Whether both share a line."""
        return self.path == other.path and self.first <= other.last and other.first <= self.last


def clones(library: Library, least: int = LEAST_LINES) -> list[tuple[Place, Place]]:
    """Pairs of places that are the same after normalising, each as long as it can be.

    Names are replaced by their order of appearance, texts and numbers by their kind. Attributes
    and keywords stay, annotations and decorators go. Only lines with code count. A pair within or
    across a longer pair is left out, and so are places that overlap. Three copies are three pairs.
    """
    alike: dict[tuple[Token, ...], list[Place]] = defaultdict(list)
    for module in library:
        for run in _runs(module):
            place = _place(module, run)
            if place.lines >= least:
                alike[_shape(run)].append(place)
    pairs = [pair for places in alike.values() for pair in combinations(places, 2)]
    return _longest(pairs)


def figures(library: Library) -> list[Figure]:
    """Clones, and shorter ones."""
    found = clones(library, SHORT_LINES)
    long = [pair for pair in found if min(place.lines for place in pair) >= LEAST_LINES]
    places = [f"{one.lines} lines: {one} = {other}" for one, other in found]
    return [
        Figure(f"clones (pairs of places of {LEAST_LINES} lines or more)", str(len(long))),
        Figure(f"the same of {SHORT_LINES} lines or more", str(len(found)), places),
    ]


def _longest(pairs: list[tuple[Place, Place]]) -> list[tuple[Place, Place]]:
    kept: list[tuple[Place, Place]] = []
    for one, other in sorted(pairs, key=_by_length):
        covered = any(
            (one.meets(a) and other.meets(b)) or (one.meets(b) and other.meets(a)) for a, b in kept
        )
        if not covered and not one.meets(other):
            kept.append((one, other))
    return kept


def _by_length(pair: tuple[Place, Place]) -> tuple[int, str]:
    return -min(place.lines for place in pair), str(pair)


def _runs(module: Module) -> Iterator[Sequence[ast.stmt]]:
    """Whole functions, and all runs of statements in their blocks that do something."""
    for function in module.functions:
        yield [function]
        for block in _blocks(function):
            for start in range(len(block)):
                for end in range(start + 1, len(block) + 1):
                    if end - start > 1 or hasattr(block[start], "body"):
                        yield block[start:end]


def _blocks(function: Function) -> Iterator[list[ast.stmt]]:
    """The lists of statements of a function, without those of functions and classes within."""
    waiting = [body_of(function)]
    while waiting:
        block = waiting.pop()
        yield [s for s in block if not isinstance(s, (ast.Import, ast.ImportFrom))]
        inner = [s for s in block if not isinstance(s, Function | ast.ClassDef)]
        for statement in inner:
            waiting += _inner(statement)


def _inner(statement: ast.AST) -> list[list[ast.stmt]]:
    lists = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    parts = [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    return [block for block in lists if block] + [block for p in parts for block in _inner(p)]


def _place(module: Module, run: Sequence[ast.stmt]) -> Place:
    first, last = run[0].lineno, run[-1].end_lineno or run[-1].lineno
    lines = sum(line in module.code_lines for line in range(first, last + 1))
    return Place(module.path.as_posix(), first, last, lines)


def _shape(run: Sequence[ast.stmt]) -> tuple[Token, ...]:
    """The tokens of a run, with names numbered by their first appearance."""
    order: dict[str, str] = {}
    tokens = (token for statement in run for token in _tokens(statement))
    return tuple(
        (kind, order.setdefault(text, str(len(order))) if kind == NAME else text)
        for kind, text in tokens
    )


def _tokens(node: ast.AST) -> Iterator[Token]:
    if isinstance(node, ast.Constant):
        yield "constant", _kind(node.value)
    elif isinstance(node, Function):
        yield "function", type(node).__name__
        yield NAME, node.name
        yield from _tokens(node.args)
        for statement in body_of(node):
            yield from _tokens(statement)
    else:
        yield "node", type(node).__name__
        for name, value in ast.iter_fields(node):
            yield from _of_field(node, name, value)
    yield "end", ""


def _of_field(node: ast.AST, name: str, value: object) -> Iterator[Token]:
    if name in ("annotation", "ctx", "type_comment", "kind"):
        return
    if isinstance(value, str):
        kept = isinstance(node, ast.Attribute | ast.keyword)
        yield ("kept" if kept else NAME), value
        return
    for child in value if isinstance(value, list) else [value]:
        if isinstance(child, ast.AST):
            yield from _tokens(child)
        elif isinstance(child, str):
            yield NAME, child


def _kind(value: object) -> str:
    """Texts and numbers by their kind; None, True, False and ... as they are."""
    if isinstance(value, str | bytes):
        return "text"
    return "number" if type(value) in (int, float, complex) else repr(value)
