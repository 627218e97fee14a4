"""Files that appear whole or not at all, each written by one run at a time."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.release.output.interrupts import held
from anonymizer.release.output.locking import locked, reason_of
from anonymizer.release.output.renaming import flush, rename_new

NEW = "new"
"""Where in a scratch directory files are made."""

IN = "in"
"""Where in a scratch directory those directories are made that go into it."""

Writer = Callable[[Path], None]
"""What fills a file that lies there, empty."""


@dataclass(frozen=True)
class Folder:
    """What fills a directory that lies there, empty, with files."""

    fill: Writer


ACL = "system.posix_acl_"

EXECUTE, READ, WRITTEN = 0o111, 0o444, 0o666

_standing: ContextVar[list[str] | None] = ContextVar("standing", default=None)


@contextmanager
def standing() -> Iterator[list[str]]:
    """List what stands on disk as soon as it does: what is true however the block ends."""
    outputs: list[str] = []
    token = _standing.set(outputs)
    try:
        yield outputs
    finally:
        _standing.reset(token)


def stands(output: str) -> None:
    """Note a sentence about an output that stands from now on."""
    outputs = _standing.get()
    if outputs is not None:
        outputs.append(output)


def write_file(
    path: Path, write: Callable[[Path], None], *, force: bool = False, private: bool = False
) -> None:
    """Let ``write`` write a file elsewhere, so that it appears at a path whole, or not at all.

    Directories above it are made. A file that is there is replaced by ``force`` alone; a
    ``private`` one can be read by its owner alone.

    Raises InputError when it cannot be written, is there already, or another run is writing it.
    """
    path = path.absolute()
    with locked(path, path, "cannot write to") as site, held() as signals, unwritten(path):
        for leftover in site.leftovers():
            shutil.rmtree(leftover, ignore_errors=True)
        scratch = site.scratch()
        try:
            with signals.acting():
                new = prepare(scratch, {path.name: write})
            _name(new / path.name, path, force, private)
            stands(f"{path} was written")
            kept(path.parent, f"{path} was written")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


Writers = Mapping[str, Writer | Folder | Mapping[str, Writer]]
"""What writes each file, by name; the writers of a directory are a mapping of their own."""


def prepare(scratch: Path, writers: Writers) -> Path:
    """Make files that only their owner can read until all are there, and on the disk.

    Returns the directory that holds them, with the permissions that a new one has. The writers of a
    directory within it are a mapping of their own.
    """
    for name, inner in writers.items():
        if isinstance(inner, Mapping):
            (scratch / IN).mkdir(exist_ok=True)
            prepare(scratch / IN, inner).rename(scratch / IN / name)
    new = scratch / NEW
    new.mkdir()
    made = {name: each for name, each in writers.items() if not isinstance(each, Mapping)}
    modes = {name: _owned(new / name, isinstance(each, Folder)) for name, each in made.items()}
    for name, each in made.items():
        (each.fill if isinstance(each, Folder) else each)(new / name)
    for name in writers.keys() - made.keys():
        (scratch / IN / name).rename(new / name)
    for path in new.iterdir():
        if path.name not in writers:  # a library made it for itself
            path.unlink()
    for name, mode in modes.items():
        _finish(new / name, mode)
    flush(new)
    return new


def _finish(path: Path, mode: int) -> None:
    """Have a file kept by the disk, or a directory and its files, with the permissions of new ones.

    Where a new directory can be listed, its new files can be read.
    """
    path.chmod(mode)
    for inner in path.iterdir() if path.is_dir() else ():
        _finish(inner, mode & WRITTEN)
    flush(path)


def dress(new: Path, old: Path) -> None:
    """Give a file or a directory the owner and the permissions of the one it replaces.

    Where a file replaces a directory, or the other way round, who could read the one can read the
    other.

    Raises OSError when they cannot be had; then its owner alone has any.
    """
    before, now = old.stat(), new.stat()
    mode = stat.S_IMODE(before.st_mode)
    if new.is_dir() != old.is_dir():
        mode = mode | (mode & READ) >> 2 if new.is_dir() else mode & ~EXECUTE
    new.chmod(mode & stat.S_IRWXU)
    if (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
        os.chown(new, before.st_uid, before.st_gid)
    new.chmod(mode)
    if hasattr(os, "listxattr"):
        for name in os.listxattr(old):
            if name.startswith(ACL):
                os.setxattr(new, name, os.getxattr(old, name))


def kept(directory: Path, done: str) -> None:
    """Have the names in a directory kept by the disk.

    Raises InputError when it fails: the message says what stands nevertheless.
    """
    try:
        flush(directory)
    except OSError as error:
        raise InputError(f"{done}, but the disk may not keep it: {reason_of(error)}") from None


@contextmanager
def unwritten(path: Path) -> Iterator[None]:
    """Say that an output cannot be written, and was not."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot write to {path}: {reason_of(error)}; nothing was written"
        ) from None


def require_place(path: Path, what: str, *, force: bool = False) -> None:
    """Refuse a file that could not be written, before anything is computed for it.

    Raises InputError when it is a directory, is there already and not to be replaced, or its
    directory cannot be written to; ``what`` was to be done begins the message: "cannot draw".
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
        raise _there(path)
    if not writable:
        raise InputError(f"{what} {path}: nothing can be written to {above}")


def _there(path: Path) -> InputError:
    return InputError(f"{path} is there already; --force replaces it")


def _name(new: Path, path: Path, force: bool, private: bool) -> None:
    if private:
        new.chmod(stat.S_IRUSR | stat.S_IWUSR)
    elif force and path.exists():
        with suppress(OSError):  # its owner alone can read it then
            dress(new, path)
    try:
        (os.replace if force else rename_new)(new, path)
    except FileExistsError:
        raise _there(path) from None


def _owned(path: Path, folder: bool = False) -> int:
    """Make a file for its owner alone; give the permissions that a new one has otherwise.

    The same of a directory that is a ``folder`` of files.
    """
    if folder:
        path.mkdir()
        mode = stat.S_IMODE(path.stat().st_mode)
        path.chmod(stat.S_IRWXU)
        return mode
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        return stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
