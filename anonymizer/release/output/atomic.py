"""Outputs that appear whole or not at all, each written by one run at a time."""

import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.release.output.interrupts import held
from anonymizer.release.output.renaming import flush, rename_new

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = [
    "NEW",
    "Site",
    "dress",
    "kept",
    "locked",
    "prepare",
    "require_place",
    "sites",
    "standing",
    "stands",
    "unwritten",
    "write_file",
]

NEW = "new"
"""Where in a scratch directory files are made."""

LONGEST = 200
"""Bytes of a name that still leave room for what lock and scratch names add: 255 in all."""

OCTAL = re.compile(rb"\\([0-7]{3})")
"""How a list of mounts writes blanks."""

ACL = "system.posix_acl_"

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


@dataclass(frozen=True)
class Site:
    """Where lock and scratch directories of an output lie, and how their names begin."""

    home: Path
    stem: str

    @property
    def lock(self) -> Path:
        """The file that is locked while a run lasts."""
        return self.home / f"{self.stem}-lock"

    def scratch(self) -> Path:
        """Make a directory that nobody but its owner can enter."""
        return Path(tempfile.mkdtemp(prefix=f"{self.stem}-", dir=self.home))

    def leftovers(self) -> list[Path]:
        """The scratch directories of runs of this user, all killed where the lock is held."""
        ours = re.compile(re.escape(self.stem) + "-[a-z0-9_]{8}")
        return [path for path in self.home.iterdir() if ours.fullmatch(path.name) and _own(path)]


def sites(path: Path) -> list[Site]:
    """Next to an output; else in it, if it is a directory that nothing can be put next to."""
    within = [Site(path, ".anonymizer")] if path.is_dir() else []
    if not path.name or path.is_mount() or os.fsencode(path) in _mount_points():
        return within
    name = os.fsencode(path.name)
    stem = path.name if len(name) <= LONGEST else sha256(name).hexdigest()
    return [Site(path.parent, f".{stem}.anonymizer"), *within]


@contextmanager
def locked(path: Path, shown: Path, failing: str) -> Iterator[Site]:
    """Keep every other run from writing an output; directories above it are made.

    Parameters
    ----------
    path
        The output; two runs are kept apart by its name in its directory.
    shown
        What messages call it.
    failing
        What begins a message about its place: "cannot write to".

    Raises
    ------
    InputError
        When another run is writing it, or nothing can be written there.
    """
    with held() as signals:
        made = _make(path.parent)
        try:
            site, descriptor = _lock_first(path, shown, failing)
            try:
                with signals.acting():
                    yield site
            finally:
                _unlock(site, descriptor)
        finally:
            _unmake(made)


def write_file(path: Path, write: Callable[[Path], None], *, force: bool = False) -> None:
    """Write a file so that it appears whole, or not at all.

    Parameters
    ----------
    path
        Where; directories above it are made.
    write
        What writes it, at another place.
    force
        Whether a file that is there is replaced; it is not touched otherwise.

    Raises
    ------
    InputError
        When it cannot be written, is there already, or another run is writing it.
    """
    path = path.absolute()
    with locked(path, path, "cannot write to") as site, held() as signals, unwritten(path):
        for leftover in site.leftovers():
            shutil.rmtree(leftover, ignore_errors=True)
        scratch = site.scratch()
        try:
            with signals.acting():
                new = prepare(scratch, {path.name: write})
            _name(new / path.name, path, force)
            stands(f"{path} was written")
            kept(path.parent, f"{path} was written")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def prepare(scratch: Path, writers: Mapping[str, Callable[[Path], None]]) -> Path:
    """Make files that only their owner can read until all are there, and on the disk.

    Returns
    -------
    The directory that holds them, with the permissions that a new one has.
    """
    new = scratch / NEW
    new.mkdir()
    modes = {name: _owned(new / name) for name in writers}
    for name, write in writers.items():
        write(new / name)
    for path in new.iterdir():
        if path.name not in writers:  # a library made it for itself
            path.unlink()
    for name, mode in modes.items():
        (new / name).chmod(mode)
        flush(new / name)
    flush(new)
    return new


def dress(new: Path, old: Path) -> None:
    """Give a file or a directory the owner and the permissions of the one it replaces.

    Raises
    ------
    OSError
        When they cannot be had; then its owner alone has any.
    """
    before, now = old.stat(), new.stat()
    new.chmod(stat.S_IMODE(before.st_mode) & stat.S_IRWXU)
    if (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid):
        os.chown(new, before.st_uid, before.st_gid)
    new.chmod(stat.S_IMODE(before.st_mode))
    if hasattr(os, "listxattr"):
        for name in os.listxattr(old):
            if name.startswith(ACL):
                os.setxattr(new, name, os.getxattr(old, name))


def kept(directory: Path, done: str) -> None:
    """Have the names in a directory kept by the disk.

    Raises
    ------
    InputError
        When it fails: the message says what stands nevertheless.
    """
    try:
        flush(directory)
    except OSError as error:
        raise InputError(f"{done}, but the disk may not keep it: {_reason(error)}") from None


@contextmanager
def unwritten(path: Path) -> Iterator[None]:
    """Say that an output cannot be written, and was not."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write to {path}: {_reason(error)}; nothing was written") from None


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
        raise _there(path)
    if not writable:
        raise InputError(f"{what} {path}: nothing can be written to {above}")


def _there(path: Path) -> InputError:
    return InputError(f"{path} is there already; --force replaces it")


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _name(new: Path, path: Path, force: bool) -> None:
    if force and path.exists():
        with suppress(OSError):  # its owner alone can read it then
            dress(new, path)
    try:
        (os.replace if force else rename_new)(new, path)
    except FileExistsError:
        raise _there(path) from None


def _mount_points() -> set[bytes]:
    """Where something is mounted: what the system lists, a directory of the same disk as well."""
    with suppress(OSError):
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
        return {OCTAL.sub(lambda code: bytes([int(code[1], 8)]), line.split()[4]) for line in lines}
    return set()


def _own(path: Path) -> bool:
    """Whether a directory is of this user: nobody else's is cleared, or believed."""
    about = path.lstat()
    return stat.S_ISDIR(about.st_mode) and (os.name == "nt" or about.st_uid == os.geteuid())


def _owned(path: Path) -> int:
    """Make a file for its owner alone; give the permissions that a new one has otherwise."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        return stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)


def _make(directory: Path) -> list[Path]:
    """Make a directory; give those that were missing, innermost first."""
    missing: list[Path] = []
    try:
        missing += [path for path in [directory, *directory.parents] if not path.exists()]
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _unmake(missing)
        raise InputError(f"cannot make the directory {directory}: {_reason(error)}") from None
    return missing


def _unmake(made: list[Path]) -> None:
    """Remove directories that hold nothing."""
    for path in made:
        with suppress(OSError):
            path.rmdir()


def _lock_first(path: Path, shown: Path, failing: str) -> tuple[Site, int]:
    """Lock at the first site where files can be made."""
    reason = "it is no place for files"
    for site in sites(path):
        try:
            descriptor = _lock(site.lock)
        except OSError as error:
            reason = _reason(error)
            continue
        if descriptor is None:
            raise InputError(f"another run is writing to {shown}; wait until it has ended")
        return site, descriptor
    raise InputError(f"{failing} {shown}: {reason}")


def _lock(path: Path) -> int | None:
    """Lock a file that is made for it; None when another run holds it."""
    while True:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o666)
        if not _taken(descriptor):
            os.close(descriptor)
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.lstat()):
                return descriptor
        os.close(descriptor)  # whoever held it took it away in the meantime


def _taken(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _unlock(site: Site, descriptor: int) -> None:
    """Take the file away, then let go: nobody ever holds a lock of a name that others make anew."""
    with suppress(OSError):
        site.lock.unlink()
    if sys.platform != "win32":  # a child may hold the file open
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
