"""A picture: refused before anything is computed, or written whole."""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from anonymizer.atomic import write_together
from anonymizer.errors import InputError, did_you_mean

__all__ = ["picture_at"]

SUFFIXES = (".png", ".svg", ".pdf")


def picture_at(
    path: Path, subject: str = "comparison", *, force: bool = False
) -> Callable[[Any], None]:
    """What draws something there.

    Parameters
    ----------
    path
        Where; the suffix says in which format.
    subject
        What is drawn: a module of ``anonymizer.plots``, whose ``draw`` takes it and a path.
    force
        Whether a picture that lies there is replaced.

    Raises
    ------
    InputError
        When the file cannot be made: no format is known by its suffix, it is there already and not
        to be replaced, its directory cannot be written, or matplotlib is not installed.
    """
    _require_suffix(path)
    _require_place(path, force)
    draw = _drawing(subject)

    def write(drawn: Any) -> None:
        write_together(path.parent, {path.name: lambda place: draw(drawn, place)})

    return write


def _require_suffix(path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        hint = did_you_mean(suffix, SUFFIXES) or f"; known are {', '.join(SUFFIXES)}"
        raise InputError(f"cannot draw {path}: no format of a picture has suffix {suffix!r}{hint}")


def _require_place(path: Path, force: bool) -> None:
    try:
        is_directory, is_there = path.is_dir(), path.exists()
        above = next(place for place in path.absolute().parents if place.exists())
        writable = above.is_dir() and os.access(above, os.W_OK)
    except (OSError, ValueError):
        raise InputError(f"cannot draw {str(path)!r}: no file can have such a name") from None
    if is_directory:
        raise InputError(f"cannot draw {path}: it is a directory")
    if is_there and not force:
        raise InputError(f"{path} is there already; --force replaces it")
    if not writable:
        raise InputError(f"cannot draw {path}: nothing can be written to {above}")


def _drawing(subject: str) -> Callable[[Any, Path], None]:
    """The module that draws, if what it needs is installed."""
    try:
        module = import_module(f"anonymizer.plots.{subject}")
    except ImportError:
        raise InputError(
            "a picture needs matplotlib, which is not installed: pip install 'anonymizer[plots]'"
        ) from None
    draw: Callable[[Any, Path], None] = module.draw
    return draw
