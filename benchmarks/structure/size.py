"""Files, lines, comments, folders, function bodies, and the length of the README."""

from collections import Counter
from math import ceil
from statistics import median

from structure.sources import APART, Figure, Function, Library, Module, body_of, percent

__all__ = ["body_lines", "figures", "nearest_rank"]

PRAGMAS = ("# noqa", "# type:", "# pragma", "#!")
"""Comments that speak to a tool; they explain nothing to a reader."""
LONG_BODY = 30
HEADING = "Size"
NOTE = """Python files below `anonymizer/`; the core is all but explorer and papers. The lines of a
function body run from its first statement after the docstring to its last one; nested functions
count by themselves, too."""


def figures(library: Library) -> list[Figure]:
    """What is counted without regard to meaning."""
    return [*_lines(library), *_folders(library), *_bodies(library), *_readme(library)]


def body_lines(function: Function) -> int:
    """Lines from the first statement after the docstring to the last; 0 for a docstring alone."""
    body = body_of(function)
    if not body:
        return 0
    first = min(node.lineno for node in (body[0], *getattr(body[0], "decorator_list", ())))
    return (body[-1].end_lineno or body[-1].lineno) - first + 1


def nearest_rank(values: list[int], share: float) -> int:
    """The least value that at least this share of the values does not exceed."""
    ranked = sorted(values)
    return ranked[max(0, ceil(share * len(ranked)) - 1)]


def _lines(library: Library) -> list[Figure]:
    lines = sum(len(module.text.splitlines()) for module in library)
    code = sum(len(module.code_lines) for module in library)
    comments = sum(_explained(module) for module in library)
    core = [len(module.text.splitlines()) for module in library if module.room not in APART]
    return [
        Figure("files", f"{len(library.modules):,}"),
        Figure("lines", f"{lines:,}"),
        Figure("files of the core", f"{len(core):,}"),
        Figure("lines of the core", f"{sum(core):,}"),
        Figure("lines without blanks, comments, docstrings", f"{code:,}"),
        Figure("lines with a comment (pragmas left out)", percent(comments, lines)),
    ]


def _explained(module: Module) -> int:
    return sum(not text.startswith(PRAGMAS) for text in module.comments.values())


def _folders(library: Library) -> list[Figure]:
    files = Counter(module.path.parent.as_posix() for module in library)
    top = [module for module in library if len(module.path.parts) == 1]
    packages = {module.path.parts[0] for module in library if len(module.path.parts) > 1}
    largest, most = max(files.items(), key=lambda item: item[1])
    crowded = [f"{folder}: {count}" for folder, count in files.most_common(10)]
    return [
        Figure("packages at the top", str(len(packages))),
        Figure("modules at the top (`__init__` and `__main__` with them)", str(len(top))),
        Figure("folders", str(len(files))),
        Figure("most files in one folder", f"{most} (`{largest}`)", crowded),
    ]


def _bodies(library: Library) -> list[Figure]:
    found = [(body_lines(f), m, f) for m in library for f in m.functions]
    sizes = [lines for lines, _, _ in found]
    beyond = [item for item in found if item[0] > LONG_BODY]
    longest = sorted(beyond, key=lambda item: -item[0])
    places = [f"{lines}: {m.place(f)} {f.name}" for lines, m, f in longest]
    return [
        Figure("functions", f"{len(sizes):,}"),
        Figure("lines of a body, median", f"{median(sizes):g}"),
        Figure("lines of a body, 90th percentile", str(nearest_rank(sizes, 0.9))),
        Figure("lines of a body, most", str(max(sizes))),
        Figure(f"bodies beyond {LONG_BODY} lines", percent(len(beyond), len(sizes)), places),
    ]


def _readme(library: Library) -> list[Figure]:
    path = library.root / "README.md"
    return [Figure("bytes of README.md", f"{path.stat().st_size:,}" if path.exists() else "-")]
