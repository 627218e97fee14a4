"""Locks: an output is written by one run at a time, which clears what killed runs left."""

import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.release.output.interrupts import held

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LONGEST = 200
"""Bytes of a name that still leave room for what lock and scratch names add: 255 in all."""

OCTAL = re.compile(rb"\\([0-7]{3})")
"""How a list of mounts writes blanks."""


class BusyError(InputError):
    """Another run is writing an output."""


class NoPlaceError(InputError):
    """Nothing can be written at a place."""


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

    Two runs are kept apart by its name in its directory. Messages call it ``shown``, and those
    about its place begin with ``failing``: "cannot write to".

    Raises BusyError when another run is writing it, NoPlaceError when nothing can be written there.
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


def reason_of(error: OSError) -> str:
    """What the system says of an error, in words."""
    return error.strerror or type(error).__name__


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


def _make(directory: Path) -> list[Path]:
    """Make a directory; give those that were missing, innermost first."""
    missing: list[Path] = []
    try:
        missing += [path for path in [directory, *directory.parents] if not path.exists()]
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _unmake(missing)
        raise InputError(f"cannot make the directory {directory}: {reason_of(error)}") from None
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
            reason = reason_of(error)
            continue
        if descriptor is None:
            raise BusyError(f"another run is writing to {shown}", "wait until it has ended")
        return site, descriptor
    raise NoPlaceError(f"{failing} {shown}: {reason}")


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
