"""A picture: refused before anything is computed, or written whole."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from anonymizer.errors import InputError, did_you_mean
from anonymizer.release.output.atomic import require_place, write_file

__all__ = ["picture_at"]

SUFFIXES = (".png", ".svg", ".pdf")


def picture_at(
    path: Path, subject: str = "anonymizer.report.plots.comparison", *, force: bool = False
) -> Callable[[Any], None]:
    """What draws something there.

    Parameters
    ----------
    path
        Where; the suffix says in which format.
    subject
        What is drawn: the module whose ``draw`` takes it and a path.
    force
        Whether a picture that lies there is replaced.

    Raises
    ------
    InputError
        When the file cannot be made: no format is known by its suffix, it is there already and not
        to be replaced, its directory cannot be written, or matplotlib is not installed.
    """
    _require_suffix(path)
    require_place(path, "cannot draw", force=force)
    draw = _drawing(subject)

    def write(drawn: Any) -> None:
        write_file(path, lambda place: draw(drawn, place), force=force)

    return write


def _require_suffix(path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        hint = did_you_mean(suffix, SUFFIXES) or f"; known are {', '.join(SUFFIXES)}"
        raise InputError(f"cannot draw {path}: no format of a picture has suffix {suffix!r}{hint}")


def _drawing(subject: str) -> Callable[[Any, Path], None]:
    """The module that draws, if what it needs is installed."""
    try:
        module = import_module(subject)
    except ImportError:
        raise InputError(
            "a picture needs matplotlib, which is not installed: pip install 'anonymizer[plots]'"
        ) from None
    draw: Callable[[Any, Path], None] = module.draw
    return draw
