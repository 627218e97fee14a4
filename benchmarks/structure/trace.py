"""Run a command of the package and write down what it enters, and the calls that receive a table.

    python trace.py ROOT OUTPUT TABLE ARGUMENT...

runs ``python -m anonymizer ARGUMENT...`` in this process, with ROOT on the path, and writes to
OUTPUT the fields of ``structure.moves.TracedRun``. ``calls`` has [thread, caller's room or null,
room, function, "argument" or "held"] in the order of time. "argument": a pandas DataFrame is among
the arguments. "held": none is, but an argument (``self`` too) is an object of the package that has
one as an attribute. ``opens`` is how often Python opened TABLE, and ``statements`` how many it gave
to DuckDB.
"""

import inspect
import json
import os
import runpy
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from types import CodeType, FrameType


class Trace:
    """A profiler that keeps the calls that receive a table."""

    def __init__(self, package: Path) -> None:
        self.package = f"{package}/"
        self.calls: list[tuple[int, str | None, str, str, str]] = []
        self.rooms: dict[CodeType, str | None] = {}
        self.begun: set[FrameType] = set()
        self.threads: dict[int, int] = {}
        self.entered: set[CodeType] = set()
        self.depths: Counter[int] = Counter()
        self.depth = self.opens = self.statements = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Look at a call."""
        if frame.f_code.co_filename.startswith(self.package):
            self.count(frame.f_code, event)
        if event != "call" or (room := self.room(frame)) is None:
            return
        kind = table_among(arguments(frame))
        if kind and not self.is_resumed(frame):
            thread = self.threads.setdefault(threading.get_ident(), len(self.threads))
            name = f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}"
            self.calls.append((thread, self.caller(frame), room, name, kind))

    def count(self, code: CodeType, event: str) -> None:
        """Count a function that is entered, and how deep it lies among those of the package.

        Modules and classes as they are made are none, nor are lambdas and comprehensions.
        """
        if code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<"):
            thread = threading.get_ident()
            self.depths[thread] += {"call": 1, "return": -1}.get(event, 0)
            self.depth = max(self.depth, self.depths[thread])
            self.entered.add(code)

    def count_opens(self, table: Path) -> None:
        """Count from now on how often Python opens a file."""

        def heard(event: str, found: tuple[object, ...]) -> None:
            if event == "open" and isinstance(found[0], str | bytes | PathLike):
                self.opens += os.path.realpath(os.fsdecode(found[0])) == str(table)

        sys.addaudithook(heard)

    def count_statements(self) -> None:
        """Count from now on what DuckDB is given to carry out, by its module or a connection."""
        import duckdb

        for owner in (duckdb, duckdb.DuckDBPyConnection):
            for name in ("execute", "executemany", "query", "sql"):
                setattr(owner, name, self.counted(getattr(owner, name)))

    def counted(self, function: Callable[..., object]) -> Callable[..., object]:
        """A function each call of which counts as a statement."""

        def called(*given: object, **named: object) -> object:
            self.statements += 1
            return function(*given, **named)

        return called

    def room(self, frame: FrameType) -> str | None:
        """The room of a function; None outside the package and for its doors."""
        code = frame.f_code
        if code not in self.rooms:
            inside = code.co_filename.startswith(self.package)
            first = code.co_filename.removeprefix(self.package).split("/")[0].removesuffix(".py")
            self.rooms[code] = first if inside and not first.startswith("__") else None
        return self.rooms[code]

    def caller(self, frame: FrameType) -> str | None:
        """The room of the nearest caller that stands in one."""
        back = frame.f_back
        while back is not None and self.room(back) is None:
            back = back.f_back
        return self.room(back) if back is not None else None

    def is_resumed(self, frame: FrameType) -> bool:
        """Whether a generator goes on that has been seen; each counts once."""
        if not frame.f_code.co_flags & inspect.CO_GENERATOR:
            return False
        known = frame in self.begun
        self.begun.add(frame)
        return known


def arguments(frame: FrameType) -> list[object]:
    """The values of a call's arguments, those of * and ** one by one."""
    found = inspect.getargvalues(frame)
    values = [found.locals.get(name) for name in found.args]
    values += found.locals.get(found.varargs, ()) if found.varargs else ()
    values += found.locals.get(found.keywords, {}).values() if found.keywords else ()
    return values


def table_among(values: Sequence[object]) -> str:
    """Return "argument" if a table is among values, "held" if one of them holds it, or nothing."""
    pandas = sys.modules.get("pandas")
    frame = getattr(pandas, "DataFrame", None)
    if frame is None:
        return ""
    if any(isinstance(value, frame) for value in values):
        return "argument"
    return "held" if any(isinstance(a, frame) for v in values for a in attributes(v)) else ""


def attributes(value: object) -> list[object]:
    """What an object of the package holds, without running any of its code."""
    kind = type(value)
    if not kind.__module__.startswith("anonymizer"):
        return []
    slots = [slot for base in kind.__mro__ for slot in base.__dict__.get("__slots__", ())]
    held = list(getattr(value, "__dict__", {}).values())
    return held + [getattr(value, slot, None) for slot in slots if not slot.startswith("__")]


def main(root: str, output: str, table: str, *command: str) -> None:
    """Run a command under the profiler."""
    package = Path(root, "anonymizer").resolve()
    sys.path.insert(0, str(package.parent))
    import anonymizer

    assert Path(anonymizer.__file__).parent == package, f"{anonymizer.__file__} is another checkout"
    trace = Trace(package)
    trace.count_statements()
    trace.count_opens(Path(table).resolve())
    sys.argv = ["anonymizer", *command]
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        runpy.run_module("anonymizer", run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    found = {
        "calls": trace.calls,
        "functions": len(trace.entered),
        "files": len({code.co_filename for code in trace.entered}),
        "depth": trace.depth,
        "opens": trace.opens,
        "statements": trace.statements,
    }
    Path(output).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
