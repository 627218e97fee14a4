"""Imports only go down: a module may use the floors below its own and its own room."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import anonymizer

ROOT = Path(anonymizer.__file__).parent
FLOORS = [
    {"version", "errors", "renaming"},
    {"information", "chance", "parameters", "conventions", "spelling"},
    {"kernels", "population"},
    {"engines"},
    {"hierarchy"},
    {"counts"},
    {"candidates", "columns", "regions"},
    {"schema", "lattice", "privacy", "objectives", "datasets"},
    {"search", "kept", "perturbation"},
    {"axes", "classical", "risk"},
    {"guillotine", "bottleneck"},
    {"release", "recoded", "counted", "remembered"},
    {"attacks", "interrupts"},
    {"atoms"},
    {"regional"},
    {"plan", "sampled", "choice", "tables", "atomic", "manifest", "placing"},
    {"masking", "directory"},
    {"asked", "checking"},
    {"estimator"},
    {"study", "reproduce"},
    {"publish"},
    {"assessing", "auditing", "estimating"},
    {"quality", "comparison"},
    {"plots"},
    {"report"},
    {"cli"},
    {"__main__"},
]
FLOOR = {unit: height for height, floor in enumerate(FLOORS) for unit in floor}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
ONLY_IN = {
    "clarabel": {"perturbation"},
    "click": {"cli"},
    "joblib": {"search"},
    "matplotlib": {"plots"},
    "networkx": {"lattice", "search"},
    "numba": {"kernels"},
    "pooch": {"datasets"},
    "pyarrow": {"engines", "tables"},
    "pydantic": {"study"},
    "pydantic_core": {"study"},
    "rich": {"report"},
    "scipy": {"perturbation", "population"},
    "threadpoolctl": {"perturbation"},
    "sklearn": {"conventions", "quality"},
}


def room(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_every_module_stands_on_a_floor():
    assert {room(path) for path in MODULES} == set(FLOOR)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_go_down(path):
    here = room(path)
    for module in imported(path):
        if module.startswith("anonymizer."):
            other = module.split(".")[1]
            assert other == here or FLOOR[other] < FLOOR[here], f"{here} imports {module}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_library_has_its_room(path):
    for module in imported(path):
        rooms = ONLY_IN.get(module.split(".")[0])
        assert rooms is None or room(path) in rooms, f"{room(path)} imports {module}"


def test_the_public_names():
    assert anonymizer.__all__ == sorted(anonymizer.__all__, key=lambda name: name)
    assert dir(anonymizer) == sorted(anonymizer.__all__)
    for name in anonymizer.__all__:
        assert getattr(anonymizer, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        _ = anonymizer.anonymise


@pytest.mark.parametrize("command", ["import anonymizer", "import anonymizer.cli"])
def test_importing_loads_no_heavy_library(command):
    heavy = {"pandas", "numpy", "networkx", "numba", "pyarrow", "joblib", "pydantic"}
    heavy |= {"clarabel", "matplotlib", "scipy", "sklearn"}
    code = f"{command}; import sys; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
