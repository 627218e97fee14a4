"""The parameters of public functions, methods and classes, read without importing anything."""

import ast
from collections.abc import Iterator

from structure.sources import Figure, Function, Library, Module

__all__ = ["figures", "public_signatures"]

HEADING = "Signatures"
NOTE = """Public is what `__all__` of an `__init__.py` names: functions, classes and their methods
without underscore. `self` does not count; fields of a dataclass are parameters of its class, and
also of the results that no user makes, hence the other rows."""
RECORDS = {"NamedTuple", "BaseModel"}
"""Bases that make parameters of annotated fields, as the decorator ``dataclass`` does."""
SHOWN = 12
Found = tuple[Module, ast.stmt]


def public_signatures(library: Library) -> tuple[dict[str, int], dict[str, int]]:
    """Parameters, without ``self``, by name: of what is written, and of what fields make.

    Public is what ``__all__`` of any ``__init__.py`` names: functions, classes, and the methods of
    these classes that have no underscore.
    """
    written: dict[str, int] = {}
    made: dict[str, int] = {}
    for module, node in _public(library):
        if isinstance(node, Function):
            written[f"{module.name}.{node.name}"] = _parameters(node)
        elif isinstance(node, ast.ClassDef):
            name = f"{module.name}.{node.name}"
            written |= {f"{name}.{f.name}": _parameters(f, bound=True) for f in _methods(node)}
            count, by_fields = _constructor(library, module, node)
            (made if by_fields else written)[name] = count
    return written, made


def figures(library: Library) -> list[Figure]:
    """The longest signatures."""
    written, made = public_signatures(library)
    return [
        _longest("parameters of the longest public signature", {**written, **made}),
        _longest("of functions, methods and written `__init__`", written),
        _longest("of `Anonymizer`", {n: c for n, c in {**written, **made}.items() if _is_main(n)}),
    ]


def _is_main(name: str) -> bool:
    return name.endswith(".Anonymizer")


def _longest(label: str, found: dict[str, int]) -> Figure:
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    value = f"{ranked[0][1]} (`{ranked[0][0].rpartition('.')[2]}`)" if ranked else "-"
    return Figure(label, value, [f"{count}: {name}" for name, count in ranked[:SHOWN]])


def _public(library: Library) -> Iterator[Found]:
    seen = set()
    for module in library:
        if module.is_package:
            for name in _all(module):
                found = _definition(library, module, name)
                if found and id(found[1]) not in seen:
                    seen.add(id(found[1]))
                    yield found


def _all(module: Module) -> list[str]:
    """The names in ``__all__``, or those imported as themselves where it is not spelt out."""
    again = [
        alias.name
        for node in module.nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    ]
    if again:
        return again
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            texts = [n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
            return [text for text in texts if isinstance(text, str)]
    return []


def _definition(library: Library, module: Module, name: str) -> Found | None:
    """The class or function that a name of a module stands for, through any re-exports."""
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                source = library.modules.get(library.source_of(node, module))
                if (alias.asname or alias.name) == name and source and source is not module:
                    return _definition(library, source, alias.name)
    for node in module.tree.body:
        if isinstance(node, Function | ast.ClassDef) and node.name == name:
            return module, node
    return None


def _constructor(library: Library, module: Module, node: ast.ClassDef) -> tuple[int, bool]:
    """The parameters of a class, and whether its fields make them."""
    for method in node.body:
        if isinstance(method, Function) and method.name == "__init__":
            return _parameters(method, bound=True), False
    if _is_record(library, module, node):
        return len(_fields(library, module, node)), True
    for base in _bases(library, module, node):
        return _constructor(library, *base)
    return 0, False


def _is_record(library: Library, module: Module, node: ast.ClassDef) -> bool:
    marks = {ast.unparse(mark).split("(")[0].split(".")[-1] for mark in node.decorator_list}
    names = {ast.unparse(base).split(".")[-1] for base in node.bases}
    inherited = (_roots(library, *base) for base in _bases(library, module, node))
    return "dataclass" in marks or bool(names & RECORDS) or any("BaseModel" in r for r in inherited)


def _roots(library: Library, module: Module, node: ast.ClassDef) -> set[str]:
    names = {ast.unparse(base).split(".")[-1] for base in node.bases}
    return names.union(*(_roots(library, *base) for base in _bases(library, module, node)))


def _fields(library: Library, module: Module, node: ast.ClassDef) -> set[str]:
    """Names of the fields that are parameters, those of the bases too."""
    names: set[str] = set()
    for base in _bases(library, module, node):
        names |= _fields(library, *base)
    for field in node.body if _is_record(library, module, node) else ():
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            text = ast.unparse(field).replace(" ", "")
            if not any(mark in text for mark in ("ClassVar", "KW_ONLY", "init=False")):
                names.add(field.target.id)
    return names


def _bases(
    library: Library, module: Module, node: ast.ClassDef
) -> Iterator[tuple[Module, ast.ClassDef]]:
    for base in node.bases:
        found = _definition(library, module, ast.unparse(base).split("[")[0])
        if found and isinstance(found[1], ast.ClassDef):
            yield found[0], found[1]


def _methods(node: ast.ClassDef) -> list[Function]:
    methods = [child for child in node.body if isinstance(child, Function)]
    return [method for method in methods if not method.name.startswith("_")]


def _parameters(function: Function, bound: bool = False) -> int:
    given = function.args
    named = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
    marks = {ast.unparse(mark) for mark in function.decorator_list}
    first = bound and "staticmethod" not in marks
    return named + (given.vararg is not None) + (given.kwarg is not None) - first
