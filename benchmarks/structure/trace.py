"""Run a command of the package and write down each call of it that receives a table.

    python trace.py ROOT OUTPUT ARGUMENT...

runs ``python -m anonymizer ARGUMENT...`` in this process, with ROOT on the path, and writes to
OUTPUT a list of [thread, caller's room or null, room, function, "argument" or "held"] in the order
of time. "argument": a pandas DataFrame is among the arguments. "held": none is, but an argument
(``self`` too) is an object of the package that has one as an attribute.
"""

import inspect
import json
import runpy
import sys
import threading
from collections.abc import Sequence
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

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Look at a call."""
        if event != "call" or (room := self.room(frame)) is None:
            return
        kind = table_among(arguments(frame))
        if kind and not self.is_resumed(frame):
            thread = self.threads.setdefault(threading.get_ident(), len(self.threads))
            name = f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}"
            self.calls.append((thread, self.caller(frame), room, name, kind))

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


def main(root: str, output: str, *command: str) -> None:
    """Run a command under the profiler."""
    package = Path(root, "anonymizer").resolve()
    sys.path.insert(0, str(package.parent))
    import anonymizer

    assert Path(anonymizer.__file__).parent == package, f"{anonymizer.__file__} is another checkout"
    trace = Trace(package)
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
    Path(output).write_text(json.dumps(trace.calls), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
