"""Papers are computed anew when something that they depend on has changed, or by ``make long``.

``passed.json`` has, for each file of tests and each page, a digest of what it depended on when it
last passed: its own sources, those of the library that it imports, directly or not, its paper's
page, data, and the libraries that do the arithmetic. While that is the same, so is the result.
``make long`` carries all of them out, and notes what has passed.
"""

import ast
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest
from lengths import LONG

import anonymizer
from anonymizer.papers.command import PAPERS

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
LIBRARY = ROOT / "anonymizer"
PASSED = Path(__file__).with_name("passed.json")
ARITHMETIC = ("clarabel", "duckdb", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "scipy")
DATA = ("hierarchies", "data")
REAL = Path(os.environ.get("ANONYMIZER_DATA", "."))
ADULT = [REAL / "adult" / "adult.data", REAL / "arx-adult" / "adult.csv"]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test where nothing can have changed, before its fixtures are made."""
    name, found = noted(item.path, paper_of(item))
    if not LONG and _passed().get(name) == found:
        pytest.skip("papers that depend on nothing that has changed; make long computes them")


@cache
def _passed() -> dict[str, str]:
    return json.loads(PASSED.read_text("utf-8")) if PASSED.exists() else {}


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note what has passed, where everything was carried out."""
    whole = exitstatus == 0 and all(path.exists() for path in ADULT)
    if LONG and whole and not hasattr(session.config, "workerinput"):
        files = sorted(PASSED.parent.glob("test_*.py"))
        found = dict(noted(file, paper) for file in files for paper in ("", *PAPERS))
        PASSED.write_text(json.dumps(found, indent=1) + "\n")


def paper_of(item: pytest.Item) -> str:
    """The one paper that a test is about, as its parameter; empty where that does not say."""
    return next((paper for paper in PAPERS if f"[{paper}]" in item.nodeid), "")


def noted(test: Path, paper: str) -> tuple[str, str]:
    """What a test is noted as, and a digest of what its result depends on.

    Where it is not about one paper, that is its file, and the papers which this names.
    """
    text = test.read_text("utf-8")
    papers = {paper} if paper else {each for each in PAPERS if each in text}
    return f"{test.name} {paper}".strip(), digest(test, frozenset(papers))


@cache
def digest(test: Path, papers: frozenset[str]) -> str:
    """A digest of sources, data, and the versions of what does the arithmetic."""
    found = hashlib.sha256("".join(f"{name} {version(name)}\n" for name in ARITHMETIC).encode())
    data = [path for part in DATA for path in (ROOT / part).rglob("*") if path.is_file()]
    data += [path for paper in papers for path in (ROOT / "docs" / "papers").glob(f"{paper}.*")]
    sources = sources_of([test, *(LIBRARY / "papers" / each / "__init__.py" for each in papers)])
    data += ADULT if "adult" in test.name or "bezzi2010" in papers else []
    for path in sorted({*sources, *data}):
        found.update(path.name.encode())
        found.update(path.read_bytes() if path.exists() else b"")
    return found.hexdigest()


def sources_of(paths: Iterable[Path]) -> set[Path]:
    """Some sources, and those of ours that they import, directly or not, in functions too."""
    found: set[Path] = set()
    left = [*paths]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += imports_of(path)
    return found


@cache
def imports_of(path: Path) -> list[Path]:
    """The sources that one imports; what is for type checkers alone is not."""
    found = [home / "__init__.py" for home in path.parents if (home / "__init__.py").exists()]
    for node in _carried_out(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            homes = [anonymizer.HOME.get(alias.name) for alias in node.names]
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            if node.module == "anonymizer":
                names += [f"anonymizer.{home}" for home in homes if home]
        else:
            continue
        found += [file for name in names for file in _files_of(name)]
    return found


def _carried_out(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    yield node
    for each in ast.iter_child_nodes(node):
        yield from _carried_out(each)


def _files_of(name: str) -> Iterator[Path]:
    """The source of a module, if it is one of ours."""
    for home in (ROOT, TESTS):
        place = home.joinpath(*name.split("."))
        yield from (p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file())
