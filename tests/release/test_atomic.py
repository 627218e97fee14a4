import errno
import os
import stat
import sys
import threading

import pytest

from anonymizer.errors import InputError
from anonymizer.release import system
from anonymizer.release.output import prepare, standing, write_file
from anonymizer.release.system import locked


def writes(text):
    return lambda path: path.write_text(text)


def fails(error):
    def write(path):
        path.write_text("half")
        raise error

    return write


def full(path):
    path.unlink()
    path.symlink_to("/dev/full")
    path.write_text("more than fits")


def files(directory):
    return {
        str(path.relative_to(directory)): path.read_text() if path.is_file() else None
        for path in directory.rglob("*")
    }


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


FAILURES = [
    (fails(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))), InputError, "No space left"),
    (fails(OSError("of no number")), InputError, "OSError; nothing was written"),
    (full, InputError, "No space left on device; nothing was written"),
    (fails(RuntimeError("bug")), RuntimeError, "bug"),
    (fails(MemoryError()), MemoryError, "^$"),
    (fails(KeyboardInterrupt()), KeyboardInterrupt, "^$"),
]


# A file


def test_a_file_appears(tmp_path):
    with standing() as outputs:
        write_file(tmp_path / "deep" / "out" / "a", writes("1"))
    assert files(tmp_path / "deep" / "out") == {"a": "1"}
    assert outputs == [f"{tmp_path}/deep/out/a was written"]


@pytest.mark.parametrize(("write", "error", "message"), FAILURES)
@pytest.mark.parametrize("before", [{}, {"a": "old", "b": "other"}])
def test_a_writer_that_fails_leaves_what_was_there(tmp_path, before, write, error, message):
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(error, match=message), standing() as outputs:
        write_file(tmp_path / "a", write, force=True)
    assert (files(tmp_path), outputs) == (before, [])


def test_directories_made_for_a_file_that_fails_go(tmp_path):
    with pytest.raises(RuntimeError, match="bug"):
        write_file(tmp_path / "deep" / "out" / "a", fails(RuntimeError("bug")))
    assert files(tmp_path) == {}


def test_a_file_is_replaced_only_by_force(tmp_path):
    write_file(tmp_path / "a", writes("1"))
    with pytest.raises(InputError, match="a is there already; --force replaces it"):
        write_file(tmp_path / "a", writes("2"))
    assert files(tmp_path) == {"a": "1"}
    write_file(tmp_path / "a", writes("3"), force=True)
    assert files(tmp_path) == {"a": "3"}


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    def write(path):
        path.write_text("ours")
        (tmp_path / "a").write_text("mine")

    with pytest.raises(InputError, match="a is there already"):
        write_file(tmp_path / "a", write)
    assert files(tmp_path) == {"a": "mine"}


@pytest.mark.parametrize("call", range(2))
def test_a_disk_that_does_not_keep_leaves_what_was_there(tmp_path, monkeypatch, call):
    calls = iter(range(9))

    def fsync(descriptor):
        if next(calls) == call:
            raise OSError(errno.EIO, "disk is gone")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(system.os, "fsync", fsync)
    with pytest.raises(InputError, match="disk is gone; nothing was written"):
        write_file(tmp_path / "a", writes("1"), force=True)
    assert files(tmp_path) == {"a": "old"}


def test_a_name_that_may_not_be_kept_is_said_to_stand(tmp_path, monkeypatch):
    calls = iter(range(9))

    def fsync(descriptor):
        if next(calls) == 2:
            raise OSError(errno.EIO, "disk is gone")

    monkeypatch.setattr(system.os, "fsync", fsync)
    with pytest.raises(InputError, match="a was written, but the disk may not keep it: disk is"):
        write_file(tmp_path / "a", writes("1"))
    assert files(tmp_path) == {"a": "1"}


def test_a_place_that_takes_no_files(tmp_path, monkeypatch):
    def refuse(**options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(system.tempfile, "mkdtemp", refuse)
    with pytest.raises(InputError, match=r"cannot write to .*a: Read-only file system"):
        write_file(tmp_path / "out" / "a", writes("1"))
    assert files(tmp_path) == {}


# Who can read it


def test_until_it_is_whole_only_its_owner_can_read_it(tmp_path, umask):
    seen = []

    def write(path):
        seen.extend([mode(path.parent.parent), mode(path)])
        path.write_text("1")
        seen.append(mode(path))

    write_file(tmp_path / "a", write)
    assert seen == [0o700, 0o600, 0o600]
    assert mode(tmp_path / "a") == 0o640


def test_what_replaces_a_file_can_be_read_by_the_same(tmp_path, umask):
    write_file(tmp_path / "a", writes("1"))
    (tmp_path / "a").chmod(0o604)
    write_file(tmp_path / "a", writes("2"), force=True)
    assert mode(tmp_path / "a") == 0o604


def test_what_a_library_leaves_beside_its_file_is_no_output(tmp_path):
    def write(path):
        path.write_text("1")
        path.with_suffix(".tmp").write_text("half")

    assert files(prepare(tmp_path, {"a": write})) == {"a": "1"}


# What killed runs left, and what others hold


def scratch_of(path):
    with locked(path, path, "cannot write to") as site:
        return site.scratch()


@pytest.mark.parametrize("name", ["a", "é" * 120, "x" * 255])
def test_what_a_killed_run_left_is_cleared(tmp_path, name):
    (scratch_of(tmp_path / name) / "half").write_text("unproven")
    other = scratch_of(tmp_path / "a.anonymizer")
    write_file(tmp_path / name, writes("1"))
    assert files(tmp_path) == {name: "1", other.name: None}


def test_what_somebody_else_left_is_left(tmp_path, monkeypatch):
    scratch = scratch_of(tmp_path / "a")
    monkeypatch.setattr(system, "_own", lambda path: False)
    write_file(tmp_path / "a", writes("1"))
    assert files(tmp_path) == {"a": "1", scratch.name: None}


def test_one_run_writes_a_file_at_a_time(tmp_path):
    path = tmp_path / "a"
    with locked(path, path, "cannot write to"):
        with pytest.raises(InputError, match=r"another run is writing to .*a; wait until"):
            write_file(path, writes("1"))
        write_file(tmp_path / "b", writes("2"))
    assert files(tmp_path) == {"b": "2"}


def test_a_lock_that_a_killed_run_left_holds_nobody_up(tmp_path):
    with locked(tmp_path / "a", tmp_path / "a", "cannot write to") as site:
        name = site.lock.name
    (tmp_path / name).touch()
    write_file(tmp_path / "a", writes("1"))
    assert files(tmp_path) == {"a": "1"}


def test_a_lock_whose_file_was_taken_away_is_none(tmp_path, monkeypatch):
    # Who opened the file before its owner took it away must not hold it against who makes it anew.
    taken, taking = system._taken, []

    def late(descriptor):
        if not taking:
            taking.append((tmp_path / ".a.anonymizer-lock").unlink())
        return taken(descriptor)

    monkeypatch.setattr(system, "_taken", late)
    with (
        locked(tmp_path / "a", tmp_path / "a", "cannot write to"),
        pytest.raises(InputError, match="another run is writing"),
    ):
        write_file(tmp_path / "a", writes("1"))


def test_outside_the_main_thread(tmp_path):
    thread = threading.Thread(target=write_file, args=(tmp_path / "a", writes("1")))
    thread.start()
    thread.join()
    assert files(tmp_path) == {"a": "1"}


# The steps of the system


def unable(source, target, flags):
    raise OSError(errno.ENOSYS, "Function not implemented")


def without_links(*arguments, **options):
    raise OSError(errno.EPERM, "Operation not permitted")


def by_number():
    """The call of a C library that lacks the function."""

    class Library:
        syscall = system.ctypes.CDLL(None, use_errno=True).syscall

    return lambda *_, **__: Library


ABLE = {
    "renameat2": lambda patch: None,
    "by number": lambda patch: patch.setattr(system.ctypes, "CDLL", by_number()),
    "links": lambda patch: patch.setattr(system, "_renameat2", unable),
    "neither": lambda patch: (
        patch.setattr(system, "_renameat2", unable),
        patch.setattr(system.os, "link", without_links),
    ),
}


@pytest.fixture(params=ABLE)
def able(request, monkeypatch):
    system._system.cache_clear()
    ABLE[request.param](monkeypatch)
    yield request.param
    system._system.cache_clear()


def test_a_new_name_replaces_nothing(tmp_path, able):
    (tmp_path / "a").write_text("1")
    system.rename_new(tmp_path / "a", tmp_path / "b")
    (tmp_path / "a").write_text("2")
    with pytest.raises(FileExistsError):
        system.rename_new(tmp_path / "a", tmp_path / "b")
    with pytest.raises(FileNotFoundError):
        system.rename_new(tmp_path / "c", tmp_path / "d")
    assert files(tmp_path) == {"a": "2", "b": "1"}


def test_an_exchange_is_one_or_none(tmp_path, able):
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    if able in ("links", "neither") or sys.platform != "linux":
        with pytest.raises(OSError, match="not implemented") as error:
            system.exchange(tmp_path / "a", tmp_path / "b")
        assert error.value.errno in system.UNABLE
        assert files(tmp_path) == {"a": "1", "b": "2"}
    else:
        system.exchange(tmp_path / "a", tmp_path / "b")
        assert files(tmp_path) == {"a": "2", "b": "1"}


def test_a_directory_that_cannot_be_flushed_alone_is_flushed_with_all(tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr(system.os, "open", without_links)
    monkeypatch.setattr(system.os, "sync", lambda: called.append("sync"))
    system.flush(tmp_path)
    assert called == ["sync"]
