"""Names that change in one step: given without replacing, or exchanged."""

import ctypes
import errno
import os
import platform
import sys
from functools import cache
from pathlib import Path

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
