"""Rooms, the arrows between them, and the floors on which they stand."""

import ast
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import networkx as nx

from structure.sources import PACKAGE, Figure, Library, Module

__all__ = ["House", "figures", "late_imports", "module_circles"]

HEADING = "Rooms"
NOTE = """A room is the first part of a path below `anonymizer/`, a package or a module; `__init__`
and `__main__` are doors, not rooms. A room has an arrow to each room that it imports from, within
functions, below `if TYPE_CHECKING` and by `import_module` too. Rooms of one circle share a
floor. A circle of modules is one of what runs: imports for types alone are left out."""


class House:
    """The graph of rooms: an arrow from a room to each room from which it imports.

    All imports count, those within functions, those below ``if TYPE_CHECKING`` and constant texts
    given to ``import_module`` too. ``anonymizer/__init__.py`` and ``__main__.py`` are no rooms.
    """

    def __init__(self, sources: Library) -> None:
        self.sources = sources
        self.graph = nx.DiGraph()
        self.graph.add_nodes_from(sources.rooms)
        for module in sources:
            here = module.room
            for name in self._imported(module):
                there = self._room(name)
                if here and there and here != there:
                    self.graph.add_edge(here, there)

    @property
    def circles(self) -> list[list[str]]:
        """Rooms that reach each other, the largest such set first."""
        found = [sorted(c) for c in nx.strongly_connected_components(self.graph) if len(c) > 1]
        return sorted(found, key=lambda circle: (-len(circle), circle))

    @cached_property
    def floors(self) -> dict[str, int]:
        """The floor of each room: 1 without imports, else 1 above the highest it imports from.

        Rooms of one circle share a floor.
        """
        condensed = nx.condensation(self.graph)
        height: dict[int, int] = {}
        for node in reversed(list(nx.topological_sort(condensed))):
            height[node] = 1 + max((height[below] for below in condensed[node]), default=0)
        return {room: height[node] for room, node in condensed.graph["mapping"].items()}

    def _imported(self, module: Module) -> Iterator[str]:
        for node in module.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                source = self.sources.source_of(node, module)
                yield from (f"{source}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Call) and _called(node) == "import_module" and node.args:
                yield _beginning(node.args[0])

    def _room(self, name: str) -> str | None:
        """The room of an imported name; a name of the facade leads to the room it comes from."""
        first, *rest = name.split(".")
        if first != PACKAGE or not rest:
            return None
        return rest[0] if rest[0] in self.graph else self._facade.get(rest[0])

    @cached_property
    def _facade(self) -> dict[str, str]:
        found = {}
        facade = self.sources.modules[PACKAGE]
        for node in facade.nodes:
            if isinstance(node, ast.ImportFrom):
                source = self.sources.source_of(node, facade).split(".")
                if source[0] == PACKAGE and len(source) > 1:
                    found.update({alias.asname or alias.name: source[1] for alias in node.names})
        return found


def module_circles(sources: Library) -> list[list[str]]:
    """Modules that reach each other when they run, by imports within functions too.

    Importing a module runs the packages around it, which is no arrow here: they are doors.
    """
    graph = nx.DiGraph()
    for module in sources:
        typed = {id(node) for node in _for_types(module)}
        for node in module.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in typed:
                graph.add_edges_from(
                    (module.name, name) for name in _modules(sources, module, node)
                )
    found = [sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1]
    return sorted(found, key=lambda circle: (-len(circle), circle))


def late_imports(sources: Library) -> list[str]:
    """Where a function imports from the library itself."""
    return [
        module.place(node)
        for module in sources
        for function in module.functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom) and [*_modules(sources, module, node)]
    ]


def _for_types(module: Module) -> Iterator[ast.AST]:
    """What stands below ``if TYPE_CHECKING``."""
    for node in module.nodes:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for statement in node.body:
                yield from ast.walk(statement)


def _modules(sources: Library, importer: Module, node: ast.AST) -> Iterator[str]:
    """The modules of the library that a statement imports, or imports from."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        home = sources.source_of(node, importer)
        whole = [f"{home}.{alias.name}" for alias in node.names]
        names = [name if name in sources.modules else home for name in whole]
    else:
        return
    yield from (name for name in names if name in sources.modules and name != importer.name)


def figures(sources: Library) -> list[Figure]:
    """Rooms, floors and arrows."""
    house = House(sources)
    floors = house.floors
    plan = [
        f"{height}: " + ", ".join(sorted(room for room in floors if floors[room] == height))
        for height in range(1, max(floors.values(), default=0) + 1)
    ]
    circles = [", ".join(circle) for circle in house.circles]
    knots = [", ".join(circle) for circle in module_circles(sources)]
    late = late_imports(sources)
    arrows = [f"{here} -> {there}" for here, there in sorted(house.graph.edges)]
    return [
        Figure("rooms", str(len(sources.rooms))),
        Figure("floors (longest chain of imports)", str(max(floors.values(), default=0)), plan),
        Figure("floors that the architecture test gives", _floors_of_test(sources.root)),
        Figure("circles of rooms", str(len(circles)), circles),
        Figure("arrows between rooms", str(len(arrows)), arrows),
        Figure("circles of modules at run time", str(len(knots)), knots),
        Figure("own imports within functions", str(len(late)), late),
    ]


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def _beginning(node: ast.expr) -> str:
    """The constant beginning of a text, such as ``"anonymizer.plots."`` of an f-string."""
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
    return str(first.value) if isinstance(first, ast.Constant) else ""


def _floors_of_test(root: Path) -> str:
    """The length of the list ``FLOORS`` in the architecture test, where there is one."""
    for path in sorted((root / "tests").rglob("test_architecture.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == [
                "FLOORS"
            ]:
                return str(len(getattr(node.value, "elts", getattr(node.value, "keys", ()))))
    return "-"
