"""Results printed to standard output, or drawn: whole, or with one line that says why not."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError, installing, suggestion
from anonymizer.feedback.document import Block
from anonymizer.release.output import require_place, write_file


@contextmanager
def printing(done: str) -> Iterator[None]:
    """Print what was done; a reader that went away is no error, a full disk one of printing."""
    try:
        yield
        if sys.stdout:  # None where standard output was closed before the start
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"{done}, but cannot be reported: {error.strerror}") from None


def print_json(content: object) -> None:
    """Print what JSON can hold, texts as they are."""
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def print_report(blocks: Iterable[Block]) -> None:
    """Print a document as text."""
    from anonymizer.report.console import show  # rich, which JSON does without

    show(blocks)


SUFFIXES = (".png", ".svg", ".pdf")


def picture_at(path: Path, drawn_by: str, *, force: bool = False) -> Callable[[Any], None]:
    """Return a function that draws something at a path.

    ``path``: where; its suffix gives the format. ``drawn_by``: the function, with its module, that
    takes what is drawn, and a path. ``force``: whether an existing picture is replaced.

    Raises InputError when the file cannot be made: no format is known by its suffix, it is there
    already and not to be replaced, its directory cannot be written, or matplotlib is not installed.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        hint = suggestion(suffix, SUFFIXES)
        raise InputError(f"cannot draw {path}: no format of a picture has suffix {suffix!r}{hint}")
    require_place(path, "cannot draw", force=force)
    module, _, name = drawn_by.rpartition(".")
    try:
        draw = getattr(import_module(module), name)
    except ImportError:
        raise InputError(
            f"a picture needs matplotlib, which is not installed: {installing('plots')}"
        ) from None
    return lambda drawn: write_file(path, lambda place: draw(drawn, place), force=force)
