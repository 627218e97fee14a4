"""What outputs need of the system: signals held back, locks, and names changed in one step."""

import atexit
import ctypes
import errno
import os
import platform
import re
import signal
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FrameType

from anonymizer.errors import Ended, InputError
from anonymizer.feedback.progress import Watch

UNABLE = {
    errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EACCES,
    errno.EBUSY, errno.EXDEV,
}  # fmt: skip
"""What a system says that cannot do this to these names, as a mount point or a network disk."""

NOREPLACE, EXCHANGE = 1, 2
HERE = -100  # AT_FDCWD: names that do not begin with / are taken from the current directory
NUMBERS = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "ppc64le": 357, "s390x": 347}
"""The number of renameat2 by machine, for C libraries without the function."""


def exchange(one: Path, other: Path) -> None:
    """Exchange two names in one step: whoever looks sees both as before, or both as after.

    Raises OSError when it cannot be done; ``errno`` is one of ``UNABLE`` where the system has no
    such step.
    """
    _renameat2(one, other, EXCHANGE)


def rename_new(source: Path, target: Path) -> None:
    """Give a name that nothing has; what has it already is never replaced.

    Where the system has no such step a file has both names for a moment; where it has no second
    names either, only the lock of an output keeps other runs from giving the name meanwhile.

    Raises FileExistsError when something has the name. Raises OSError when it cannot be given.
    """
    try:
        _renameat2(source, target, NOREPLACE)
    except OSError as error:
        if error.errno not in UNABLE:
            raise
        _link_new(source, target)


def flush(path: Path) -> None:
    """Have a file or a directory kept by the disk before anything else is done."""
    if path.is_dir() and os.name == "nt":  # directories cannot be flushed there
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:  # one that we may write to but not read, say
        if error.errno not in UNABLE:
            raise
        os.sync()


def _link_new(source: Path, target: Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in UNABLE:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        source.rename(target)
    else:
        source.unlink()


def _renameat2(source: Path, target: Path, flags: int) -> None:
    """Call the system; Python has no function for it."""
    number, call = _system()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    names = HERE, os.fsencode(source), HERE, os.fsencode(target), flags
    if call(*number, *names) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(source), None, str(target))


@cache
def _system() -> "tuple[tuple[ctypes.c_long, ...], ctypes._NamedFuncPointer | None]":
    """The function of the C library, or the number by which its ``syscall`` knows it."""
    number = NUMBERS.get(platform.machine())
    if not sys.platform.startswith("linux"):
        return (), None
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "renameat2"):
        return (), library.renameat2
    if number is None or sys.maxsize < 2**32:
        return (), None
    return (ctypes.c_long(number),), library.syscall


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


Handler = Callable[[int, FrameType | None], object] | int | None


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt if number == signal.SIGINT else Ended


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let a handler act on signals that request to end, until the block is over."""
    before = {number: signal.signal(number, handler) for number in _heard()}
    try:
        yield
    finally:
        for number, own in before.items():
            signal.signal(number, own)


@contextmanager
def ends_as_interrupts() -> Iterator[None]:
    """Let a request to end clean up as an interrupt does, so that nothing half-written stays."""
    with _handled_by(_interrupt):
        yield


@contextmanager
def never_lost(watch: Watch) -> Iterator[Watch]:
    """Raise an interrupt again that was swallowed, as those are that hit a destructor at work.

    It was when what was being done then goes on: whoever caught it would have ended that.
    """
    now = ""
    struck: tuple[str, int] | None = None

    def interrupt(number: int, frame: object) -> None:
        nonlocal struck
        struck = now, number
        _interrupt(number, frame)

    def watching(doing: str, done: int, of: int | None) -> None:
        nonlocal now, struck
        last, now, struck = struck, doing, None
        if last and last[0] == doing:
            _interrupt(last[1], None)
        watch(doing, done, of)

    with _handled_by(interrupt):
        yield watching


@contextmanager
def held() -> Iterator["Held"]:
    """Hold signals back while what must not be left halfway is done; then let them act.

    A mask of the thread would not do: the system hands a signal to any other thread, and Python
    acts on it in this one. Outside the main thread, where no signal acts, nothing is held.
    """
    holding = Held()
    try:
        for number in _heard():
            holding.take(number)
        yield holding
    finally:
        holding.let_go()


class Held:
    """Signals that wait, and what each of them did before it was held.

    A handler that stays behind, since a signal came while they were put back, does what the one
    before it did.
    """

    def __init__(self) -> None:
        self.before: dict[int, Handler] = {}
        self.waiting: list[int] = []
        self.holding = True

    def take(self, number: int) -> None:
        """Hold a signal from now on."""
        self.before[number] = signal.getsignal(number)
        signal.signal(number, self._came)

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Let signals act for a while: what takes long can be interrupted."""
        self.holding = False
        try:
            self._deliver()
            yield
        finally:
            self.holding = True

    def let_go(self) -> None:
        """Put every handler back, then let act what came meanwhile."""
        self.holding = False
        for number, handler in self.before.items():
            signal.signal(number, handler)
        self._deliver()

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self.holding:
            self.waiting.append(number)
        else:
            self._act(number, frame)

    def _deliver(self) -> None:
        # What ends the process for good goes first: an interrupt by hand may only end a search.
        waiting, self.waiting = sorted(self.waiting, key=lambda n: n == signal.SIGINT), []
        for number in waiting:
            self._act(number, None)

    def _act(self, number: int, frame: FrameType | None) -> None:
        handler = self.before[number]
        if callable(handler):
            handler(number, frame)
        else:
            signal.signal(number, handler)
            signal.raise_signal(number)


def settled() -> None:
    """Let requests to end change nothing unless somebody handles them: a process ends by itself.

    As Python ends it gives signals that it handled back to the system, which would kill it.
    """
    for number in _heard():
        signal.signal(number, lambda *_: None)
    atexit.register(lambda: [signal.signal(number, signal.SIG_IGN) for number in _heard()])


def _heard() -> list[int]:
    """The signals that request to end, if the system has them and Python acts on them here.

    It does in the main thread alone. One that is ignored stays so, as ``nohup`` expects.
    """
    if threading.current_thread() is not threading.main_thread():
        return []
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [int(getattr(signal, name)) for name in names]
    return [n for n in numbers if signal.getsignal(n) not in (None, signal.SIG_IGN)]
