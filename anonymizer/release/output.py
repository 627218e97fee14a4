"""Files of a release: each appears whole or not at all, each written by one run at a time.

A new release is made in a scratch directory next to the old one. Where the directory holds nothing
but a release (or nothing, or is not there) both change places in one system call. Where that cannot
be (there are other files, which stay where they are; it is a mount point or the current directory;
the system has no such call) the files change by name: the manifest goes first and comes last, so
that no table or signature ever lies next to the manifest of another, and what a process that is
killed on the way leaves behind is finished, or put back, by the next run.
"""

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from anonymizer.errors import InputError
from anonymizer.feedback.logs import logged
from anonymizer.release.system import (
    UNABLE,
    Site,
    exchange,
    flush,
    held,
    locked,
    reason_of,
    rename_new,
    sites,
)

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


Writers = Mapping[str, Writer | Folder | Mapping[str, Writer]]
"""What writes each file, by name; the writers of a directory are a mapping of their own."""

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


READY = "ready"
"""What a directory of new files is called once all are proven, and what it changes places with."""

NAMING = "naming"
"""What it is called once all old files are out of the way: from then on new ones get their names,
and the next run after one that was killed goes on with that."""

COMPANION = "next-to"
"""Where in a scratch directory the file lies that goes next to the directory of the release."""

OLD = "old"
"""Where in a scratch directory files wait that are replaced by name."""


@contextmanager
def reserved(
    directory: Path, names: Sequence[str], what: str = "release", next_to: str = ""
) -> Iterator["Output"]:
    """Keep a directory for the release of one run; what a killed run left there is cleared.

    It is made once there is something to be put into it. ``names``: the files that a release may
    have; the last one is the sign that it is whole. ``next_to``: what the name of a file next to
    the directory ends in that belongs to the release. ``what``: what messages call it.

    Raises InputError when another run is writing there, or nothing can be written.
    """
    path = _resolved(directory)
    failing = "cannot write to" if path.exists() else "cannot make the directory"
    with locked(path, directory, failing) as site:
        output = Output(directory, path, site, tuple(names), what, next_to)
        output.require_place()
        output.recover()
        yield output


@dataclass(frozen=True)
class Output:
    """A directory that is locked for a release; messages call it ``shown``.

    ``names``: the files that a release may have, its sign last.
    """

    shown: Path
    path: Path
    site: Site
    names: tuple[str, ...]
    what: str = "release"
    suffix: str = ""

    @property
    def companion(self) -> Path:
        """The file next to the directory that belongs to the release."""
        return self.path.with_name(self.path.name + self.suffix)

    def require_place(self) -> None:
        """Require a place for the file next to the directory, where there is to be one."""
        if self.suffix and self.site.home == self.path:
            raise InputError(
                f"nothing can be written next to {self.shown}, where the figures of the raw table "
                f"have to go; choose a directory within it, such as {self.shown / self.what}"
            )
        if self.suffix and self.companion.is_dir():
            raise InputError(f"{self.companion} is a directory; choose another place")

    def write(
        self, writers: Writers, *, force: bool = False, next_to: Writer | None = None
    ) -> None:
        """Write a release so that all of its files appear, whole, or none.

        A signal that comes once all are made acts when the release stands and is noted as such.
        ``writers``: what writes each file, by name, the sign last; later ones see earlier files. A
        release that is there is replaced by ``force`` alone. ``next_to`` writes the file next to
        the directory, which its owner alone can read, and sees the files of the release: it gets
        its name once the release stands, or by the next run where this one is killed in between.

        Raises InputError when it cannot be written; the directory is as it was before, if not said
        otherwise.
        """
        done = f"the {self.what} is in {self.shown}"
        with logged("writing", __name__), held() as signals, unwritten(self.shown):
            scratch = self.site.scratch()
            try:
                with signals.acting():
                    new = prepare(scratch, writers)
                    if next_to is not None:
                        self._prepare_companion(new, scratch, next_to)
                self._swap(new.rename(scratch / READY), tuple(writers), force)
                stands(done)
                self._name_companion(scratch)
            except BaseException:
                self._clear(scratch)
                raise
            for changed in (scratch, self.path, self.path.parent):
                kept(changed, done)
            self._clear(scratch)

    def _prepare_companion(self, new: Path, scratch: Path, write: Writer) -> None:
        """Write the file next to the directory, under the digest of the sign of its release."""
        made = new / COMPANION  # among the files that it is about
        made.touch(stat.S_IRUSR | stat.S_IWUSR)
        write(made)
        made.chmod(stat.S_IRUSR | stat.S_IWUSR)
        flush(made)
        place = scratch / COMPANION / _digest(new / self._sign)
        place.mkdir(parents=True)
        made.rename(place / self.companion.name)

    def _name_companion(self, scratch: Path) -> None:
        """Give the file next to the directory its name, where it is of the release that stands."""
        for made in (scratch / COMPANION).glob("*/*"):
            sign = self.path / self._sign
            if not sign.exists() or made.parent.name != _digest(sign):
                continue
            place = self.path.with_name(made.name)
            try:
                made.replace(place)
            except OSError as error:
                raise InputError(
                    f"the {self.what} is in {self.shown}, but {place} cannot be written: "
                    f"{reason_of(error)}; make room for it and run again"
                ) from None

    def add(self, name: str, write: Writer) -> None:
        """Write one file next to a release that stands, whole; one of its name is replaced.

        Raises InputError when it cannot be written.
        """
        with held() as signals, unwritten(self.shown / name):
            scratch = self.site.scratch()
            try:
                with signals.acting():
                    new = prepare(scratch, {name: write})
                (new / name).replace(self.path / name)
                stands(f"{self.shown / name} was written")
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            kept(self.path, f"{self.shown / name} was written")

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """A directory for what does not fit into memory, which nobody but its owner can enter.

        It is removed at the end; what a killed run leaves there is at the next run.
        """
        with unwritten(self.shown):
            scratch = self.site.scratch()
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def recover(self) -> None:
        """Finish, put back or clear what runs left that were killed.

        Raises InputError when a release cannot be put back: the message says where it lies.
        """
        with held(), unwritten(self.shown):
            for site in sites(self.path):
                with suppress(PermissionError):  # nothing of ours lies where we cannot look
                    for scratch in site.leftovers():
                        self._restore(scratch)
                        self._name_companion(scratch)
                        self._clear(scratch)

    @property
    def _sign(self) -> str:
        return self.names[-1]

    def _swap(self, ready: Path, names: tuple[str, ...], force: bool) -> None:
        """Put new files in the place of old ones, in one step where that can be."""
        old = [name for name in self.names if os.path.lexists(self.path / name)]
        if old and not force:
            raise InputError(
                f"{self.shown} already holds a {self.what}, {old[-1]}; --force replaces it"
            )
        self._dress_files(ready, names, old)
        if not (self._alone(old) and self._swap_whole(ready, bool(old))):
            self._swap_names(ready, names, old)

    def _dress_files(self, ready: Path, names: tuple[str, ...], old: list[str]) -> None:
        """Let the manifest have the permissions of the manifest, the table those of the table.

        What is about the manifest, its signature, begins with its name; files within a table have
        those of files within the table.
        """
        for name in names:
            about = name.startswith(self._sign)
            like = [each for each in reversed(old) if each.startswith(self._sign) == about]
            if like:
                with suppress(OSError):  # its owner alone can read it then
                    _dress(ready / name, self.path / like[0])

    def _alone(self, old: list[str]) -> bool:
        """Whether a directory can change as a whole: it holds nothing else, and nobody is in it."""
        if not self.path.exists():
            return True
        with suppress(OSError):
            if self.path.samefile(Path.cwd()):
                return False
        inside = {path.name for path in self.path.iterdir()}
        return self.site.home != self.path and inside == set(old)

    def _swap_whole(self, ready: Path, replacing: bool) -> bool:
        """Change places in one step, if the system can; a rename replaces an empty directory."""
        try:
            if self.path.exists():
                dress(ready, self.path)
            (exchange if replacing else os.rename)(ready, self.path)
        except OSError as error:
            if error.errno not in {*UNABLE, errno.ENOTEMPTY, errno.EEXIST}:
                raise
            return False
        return True

    def _swap_names(self, ready: Path, names: tuple[str, ...], old: list[str]) -> None:
        """Give the files their names: the old sign goes first, the new one comes last."""
        aside, naming = ready.parent / OLD, ready.parent / NAMING
        aside.mkdir()
        made = not self.path.exists()
        self.path.mkdir(exist_ok=True)
        try:
            for name in reversed(old):
                rename_new(self.path / name, aside / name)
            ready.rename(naming)
            self._give_names(naming)
        except BaseException:
            with self._putting_back(aside):
                if naming.exists():
                    for name in reversed(names):
                        _take_back(naming / name, self.path / name)
                    naming.rename(ready)
                self._give_names(aside)
            if made:
                self.path.rmdir()
            raise

    def _restore(self, scratch: Path) -> None:
        """Finish what was killed when files got their names, else put back what was there."""
        naming, aside = scratch / NAMING, scratch / OLD
        if os.path.lexists(self.path / self._sign):
            return
        with self._putting_back(aside):
            self._give_names(naming if naming.exists() else aside)

    def _give_names(self, directory: Path) -> None:
        """Give the files of a directory their names, the sign last."""
        for name in self._stored(directory):
            self.path.mkdir(exist_ok=True)
            if name == self._sign:
                flush(self.path)
            if _given(directory / name, self.path / name):  # killed when it had both names
                (directory / name).unlink()
            else:
                rename_new(directory / name, self.path / name)

    @contextmanager
    def _putting_back(self, aside: Path) -> Iterator[None]:
        """Say where a release lies that cannot be put back."""
        try:
            yield
        except OSError as error:
            raise InputError(
                f"what lay in {self.shown} lies in {aside} and cannot be put back: "
                f"{error.strerror}; make room for it and run again"
            ) from None

    def _stored(self, directory: Path) -> list[str]:
        return [name for name in self.names if os.path.lexists(directory / name)]

    def _clear(self, scratch: Path) -> None:
        """Remove a scratch directory, but nothing that is not ours, or could not be put back.

        What cannot be removed now is at the next run.
        """
        ready, aside = scratch / READY, scratch / OLD
        with suppress(OSError):
            if self._stored(aside) and not os.path.lexists(self.path / self._sign):
                return
            for path in ready.iterdir() if ready.exists() else ():
                if path.name not in self.names:  # came as the directories changed places
                    rename_new(path, self.path / path.name)
            (ready / self._sign).unlink(missing_ok=True)  # it is no release from now on
            shutil.rmtree(scratch)


def _dress(new: Path, old: Path) -> None:
    """Dress a file, or a directory and each of its files, as what it replaces."""
    inner = min(old.iterdir(), default=old) if old.is_dir() else old
    for path in new.iterdir() if new.is_dir() else ():
        dress(path, inner)
    dress(new, old)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _given(new: Path, given: Path) -> bool:
    """Whether a file has its name, as its only one or as its second."""
    if not os.path.lexists(given):
        return False
    return not os.path.lexists(new) or os.path.samestat(new.lstat(), given.lstat())


def _take_back(new: Path, given: Path) -> None:
    if _given(new, given):
        given.replace(new)  # does nothing where both are names of one file
        given.unlink(missing_ok=True)


def _resolved(directory: Path) -> Path:
    """Where a directory really is or will be; refused when it cannot be one."""
    try:
        path = directory.resolve()
        reason = "a file has its name" if path.exists() and not path.is_dir() else ""
    except OSError as error:
        reason = reason_of(error)
    except (RuntimeError, ValueError):
        reason = "nothing can have such a name"
    if reason:
        raise InputError(f"cannot make the directory {directory}: {reason}")
    return path
