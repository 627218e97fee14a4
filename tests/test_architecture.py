"""Imports only go down: a room may use the floors below its own and itself."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import anonymizer

ROOT = Path(anonymizer.__file__).parent
FLOORS = (
    {"errors", "feedback", "version", "kernels"},
    {"information", "tables"},
    {"hierarchy"},
    {"counts"},
    {"privacy", "objectives"},
    {"recoding", "channels", "profiling"},
    {"masking"},
    {"release"},
    {"risk", "utility", "advice"},
    {"report"},
    {"cli"},
    {"papers", "explorer"},
)
APART = FLOORS[-1]
"""Rooms that the others, the core, can be without; each has tests of its own."""

FLOOR = {unit: height for height, floor in enumerate(FLOORS) for unit in floor}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
ONLY_IN = {
    "clarabel": {"channels"},
    "click": {"cli", "papers", "explorer"},
    "cryptography": {"release"},
    "dask": {"tables"},
    "docx": {"report"},
    "duckdb": {"tables"},
    "fastapi": {"explorer"},
    "jinja2": {"report"},
    "joblib": {"recoding"},
    "matplotlib": {"report", "papers"},
    "networkx": {"recoding"},
    "openpyxl": {"tables"},
    "pyreadstat": {"tables"},
    "python_calamine": {"tables"},
    "narwhals": {"tables"},
    "nicegui": {"explorer"},
    "phonenumbers": {"profiling"},
    "polars": {"tables"},
    "pyspark": {"tables"},
    "pooch": {"tables"},
    "pyarrow": {"tables"},
    "pydantic": {"release"},  # documents are checked at the border
    "pydantic_core": {"release"},
    "rich": {"feedback", "papers", "report"},
    "stdnum": {"profiling"},
    "scipy": {"channels", "counts", "privacy"},
    "threadpoolctl": {"channels"},
    "tomlkit": {"explorer"},
    "uvicorn": {"explorer"},
    "sklearn": {"release", "utility"},
    "weasyprint": {"report"},
}
MOST = {
    # Persons, whole ones, their dates, numbers, pseudonyms, weights, households, margins, their
    # linear programs and labels, and persons who have weights, are subjects of their own. So
    # is what a column has among its numbers or dates; so are masked codes and ordered categories.
    # Papers for reviewers, scripts that verify without an installation, and what HIPAA wants
    # removed are, too. So are what a study shows by itself, what the next table changes, findings
    # for servers, and the certificate of an optimum with its checker. What holds a policy against
    # counts is apart from what a model is.
    "files of the core": 345,
    "circles of modules at run time": 0,
    "own imports within functions": 56,
    "private share of the functions": 37.0,
    "class names declared more than once": 3,
    "messages used to decide": 4,
    "calls into another room with the table": 62,
    "changes of room in the order of time": 71,
    "of these changes, up to a higher floor": 35,
    # Some show progress, on a slow machine; two run in whichever thread of the database is free.
    # Three let pandas wait until a table is counted; eight are about the time after which whoever
    # waits takes the best so far; three know numbers of cards, vehicles and prescribers.
    # Others write cells alike for pages and terminals, or know items and reserved names; three
    # know attributes that are one together.
    "functions of the library that are entered": 1009,
    "files in which these are": 115,
    "deepest call": 33,  # a policy is bound where the driver of a search is laid out
    "opens of the table by Python": 5,
    "SQL statements": 31,
}
"""What ``benchmarks/house.py`` measures: bounds fall with it, and rise by decision alone."""

LEAST = {"lines with a comment (pragmas left out)": 1.03}
"""Figures that may rise."""

MOST_LINES = 600

BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def room(path: Path) -> str:
    first = path.relative_to(ROOT).with_suffix("").parts[0]
    return "cli" if first == "__main__" else first


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All nodes of the syntax tree of a file."""
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def statements(path: Path) -> Iterator[ast.AST]:
    """The statements of a file, the nested ones too; no expression, which imports nothing."""
    left: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while left:
        yield (node := left.pop())
        left += [each for each in ast.iter_child_nodes(node) if isinstance(each, BLOCKS)]


@cache
def imported(path: Path) -> set[str]:
    found = set()
    for node in statements(path):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_every_room_stands_on_a_floor_and_a_floor_more_is_a_decision():
    assert {room(path) for path in MODULES} | APART == set(FLOOR)
    assert len(FLOORS) <= 12
    packages = [path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()]
    assert len(packages) <= 20
    assert {path.stem for path in ROOT.glob("*.py")} == {
        "__init__",
        "__main__",
        "errors",
        "version",
    }


def test_no_module_is_long():
    lines = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in MODULES}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def imports() -> Iterator[tuple[Path, str]]:
    """Each module of the package with each module that it imports."""
    for path in MODULES:
        for module in imported(path):
            yield path, module


def test_imports_only_go_down():
    wrong = []
    for path, module in imports():
        if module.startswith("anonymizer."):
            here, other = room(path), module.split(".")[1]
            if other != here and FLOOR[other] >= FLOOR[here]:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert wrong == []


def test_what_stands_apart_is_named_by_the_list_of_commands_alone():
    named = [
        (str(path.relative_to(ROOT)), node.value)
        for path in MODULES
        if room(path) not in APART
        for node in nodes(path)
        if isinstance(node, ast.Constant)
        and re.match(rf"(?:anonymizer\.)?(?:{'|'.join(APART)})\.\w", str(node.value))
    ]
    commands = ("explorer.command", "papers.command")
    assert named == [("cli/__init__.py", command) for command in commands]


def test_the_tests_of_the_core_import_nothing_that_stands_apart():
    tests = Path(__file__).parent
    taken = re.compile(rf"^ *(?:from|import) (?:anonymizer\.)?({'|'.join(APART)})\b", re.MULTILINE)
    found = {
        path.relative_to(tests) for path in tests.rglob("*.py") if taken.search(path.read_text())
    }
    # The fuzzers look at the explorer where it is installed, and digests are of everything.
    others = {Path("fuzz/explored.py"), Path("frozen/papers.py")}
    assert {path for path in found if path.parts[0] not in APART} == others


def test_every_library_has_its_room():
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path, module in imports()
        if room(path) not in ONLY_IN.get(module.split(".")[0], {room(path)})
    ]
    assert wrong == []


def test_the_public_names():
    assert anonymizer.__all__ == sorted(anonymizer.__all__, key=lambda name: name)
    assert dir(anonymizer) == sorted(anonymizer.__all__)
    for name in anonymizer.__all__:
        assert getattr(anonymizer, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        _ = anonymizer.anonymise


def test_type_checkers_find_every_public_name_where_it_is_imported_from():
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    (typed,) = [node for node in tree.body if isinstance(node, ast.If)]
    assert {each.asname: node.module for node in typed.body for each in node.names} == {
        name: f"anonymizer.{home}" for name, home in anonymizer.HOME.items()
    }


@pytest.mark.parametrize("command", ["import anonymizer", "import anonymizer.cli"])
def test_importing_loads_no_heavy_library(command):
    heavy = {"pandas", "numpy", "networkx", "pyarrow", "joblib", "pydantic"}
    heavy |= {"clarabel", "matplotlib", "polars", "scipy", "sklearn", "narwhals", "duckdb"}
    heavy |= {"nicegui", "fastapi", "uvicorn", "tomlkit"}
    code = f"{command}; import sys; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
