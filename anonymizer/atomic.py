"""Files that appear together and whole, or not at all."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from anonymizer.errors import InputError

__all__ = ["require_place", "write_together"]


def write_together(
    directory: Path, writers: dict[str, Callable[[Path], None]], obsolete: Sequence[str] = ()
) -> None:
    """Write several files so that all of them appear, whole, or none.

    Each is written under a temporary name on the same file system and flushed to disk; only when
    all are there do they get their names, in order, the last one being the sign that all are. If
    a name cannot be given, those given before are taken back.

    Parameters
    ----------
    directory
        Where; made when it does not exist.
    writers
        What writes each file, by name.
    obsolete
        Files of an earlier run that go away.

    Raises
    ------
    InputError
        When something cannot be written; nothing is left behind.
    """
    made = _make(directory)
    _require_no_directories(directory, [*writers, *obsolete])
    try:
        scratch = Path(tempfile.mkdtemp(prefix=".writing-", dir=directory))
    except OSError as error:
        _unmake(made)
        raise InputError(f"cannot write to {directory}: {error.strerror}") from None
    try:
        for name, write in writers.items():
            write(scratch / name)
            _flush(scratch / name)
        _rename_all(scratch, directory, list(writers))
        made = []
        for name in set(obsolete) - set(writers):
            (directory / name).unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot write to {directory}: {reason}; nothing was written") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        _unmake(made)


def require_place(path: Path, what: str, *, force: bool = False) -> None:
    """Refuse a file that could not be written, before anything is computed for it.

    Raises
    ------
    InputError
        When it is a directory, is there already and not to be replaced, or its directory cannot be
        written to; ``what`` was to be done begins the message: "cannot draw".
    """
    try:
        is_directory, is_there = path.is_dir(), path.exists()
        above = next(place for place in path.absolute().parents if place.exists())
        writable = above.is_dir() and os.access(above, os.W_OK)
    except (OSError, ValueError):
        raise InputError(f"{what} {str(path)!r}: no file can have such a name") from None
    if is_directory:
        raise InputError(f"{what} {path}: it is a directory")
    if is_there and not force:
        raise InputError(f"{path} is there already; --force replaces it")
    if not writable:
        raise InputError(f"{what} {path}: nothing can be written to {above}")


def _require_no_directories(directory: Path, names: Sequence[str]) -> None:
    for name in names:
        if (directory / name).is_dir():
            raise InputError(f"{directory / name} is a directory; nothing was written")


def _make(directory: Path) -> list[Path]:
    """Make a directory; give those that were missing, innermost first."""
    missing: list[Path] = []
    try:
        missing += [path for path in [directory, *directory.parents] if not path.exists()]
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _unmake(missing)
        raise InputError(f"cannot make the directory {directory}: {error.strerror}") from None
    return missing


def _unmake(made: list[Path]) -> None:
    for path in made:
        with suppress(OSError):
            path.rmdir()


def _rename_all(scratch: Path, directory: Path, names: list[str]) -> None:
    """Give files their names; what they replace is kept aside until all have theirs.

    The last name is taken away first and given last: a process that is killed halfway never
    leaves an old sign of completeness beside new files.
    """
    aside = scratch / "replaced"
    aside.mkdir()
    moved: list[str] = []
    given: list[str] = []
    try:
        for name in reversed(names):
            if (directory / name).exists():
                (directory / name).replace(aside / name)
                moved.append(name)
        for name in names:
            (scratch / name).replace(directory / name)
            given.append(name)
        _flush(directory)
    except BaseException:
        for name in given:
            (directory / name).unlink(missing_ok=True)
        for name in moved:
            (aside / name).replace(directory / name)
        raise


def _flush(path: Path) -> None:
    if path.is_dir() and os.name == "nt":  # directories cannot be flushed there
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
