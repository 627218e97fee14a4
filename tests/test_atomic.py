import errno
import os
from pathlib import Path

import pytest

from anonymizer import atomic
from anonymizer.atomic import write_together
from anonymizer.errors import InputError


def put(directory, content, name):
    (directory / name).write_text(content)


def writes(text):
    return lambda path: path.write_text(text)


def fails(error):
    def write(path):
        path.write_text("half")
        raise error

    return write


def full(path):
    path.symlink_to("/dev/full")
    path.write_text("more than fits")


def files(directory):
    return {
        str(path.relative_to(directory)): path.read_text() if path.is_file() else None
        for path in directory.rglob("*")
    }


def test_all_files_appear(tmp_path):
    write_together(tmp_path / "deep" / "out", {"a": writes("1"), "b": writes("2")})
    assert files(tmp_path / "deep" / "out") == {"a": "1", "b": "2"}


def test_later_writers_see_earlier_files(tmp_path):
    def copy(path):
        path.write_text((path.parent / "a").read_text() * 2)

    write_together(tmp_path, {"a": writes("1"), "b": copy})
    assert files(tmp_path) == {"a": "1", "b": "11"}


def test_what_was_there_is_replaced_and_what_is_obsolete_goes(tmp_path):
    write_together(tmp_path, {"a": writes("1"), "old": writes("2")})
    put(tmp_path, "mine", "other")
    write_together(tmp_path, {"a": writes("3"), "b": writes("4")}, obsolete=["a", "old", "never"])
    assert files(tmp_path) == {"a": "3", "b": "4", "other": "mine"}


FAILURES = [
    (fails(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))), InputError, "No space left"),
    (fails(OSError("of no number")), InputError, "nothing was written"),
    (full, InputError, "No space left on device; nothing was written"),
    (fails(RuntimeError("bug")), RuntimeError, "bug"),
    (fails(KeyboardInterrupt()), KeyboardInterrupt, "^$"),
    (lambda path: None, InputError, "No such file"),
]


@pytest.mark.parametrize(("second", "error", "message"), FAILURES)
def test_a_writer_that_fails_leaves_nothing(tmp_path, second, error, message):
    with pytest.raises(error, match=message):
        write_together(tmp_path / "deep" / "out", {"a": writes("1"), "b": second})
    assert files(tmp_path) == {}


@pytest.mark.parametrize(("second", "error", "message"), FAILURES)
def test_a_writer_that_fails_leaves_what_was_there(tmp_path, second, error, message):
    before = {"a": "old", "b": "older", "c": "other"}
    for name, text in before.items():
        put(tmp_path, text, name)
    with pytest.raises(error, match=message):
        write_together(tmp_path, {"a": writes("1"), "b": second}, obsolete=["c"])
    assert files(tmp_path) == before


@pytest.mark.parametrize("call", range(3))
def test_a_disk_that_does_not_keep_leaves_what_was_there(tmp_path, monkeypatch, call):
    calls = iter(range(9))

    def fsync(descriptor):
        if next(calls) == call:
            raise OSError(errno.EIO, "disk is gone")

    put(tmp_path, "old", "a")
    monkeypatch.setattr(atomic.os, "fsync", fsync)
    with pytest.raises(InputError, match="disk is gone; nothing was written"):
        write_together(tmp_path, {"a": writes("1"), "b": writes("2")})
    assert files(tmp_path) == {"a": "old"}


@pytest.mark.parametrize("failing", range(4))
def test_a_name_that_cannot_be_given_takes_the_others_back(tmp_path, monkeypatch, failing):
    replace, calls = Path.replace, iter(range(99))

    def refuse(self, target):
        if next(calls) == failing:
            raise OSError(errno.EPERM, "not allowed")
        return replace(self, target)

    before = {"a": "old", "b": "older"}
    for name, text in before.items():
        put(tmp_path, text, name)
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match="not allowed; nothing was written"):
        write_together(tmp_path, {"a": writes("1"), "b": writes("2")})
    assert files(tmp_path) == before


def test_files_are_flushed_before_they_get_their_names(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(atomic.os, "fsync", lambda _: seen.append((tmp_path / "a").exists()))
    write_together(tmp_path, {"a": writes("1"), "b": writes("2")})
    assert seen == [False, False, True]


def test_the_last_name_goes_first_and_comes_last(tmp_path, monkeypatch):
    # A process killed halfway must not leave the old sign beside new files.
    for name in "ab":
        put(tmp_path, "old", name)
    replace, states = Path.replace, []

    def watch(self, target):
        done = replace(self, target)
        states.append({n: t for n, t in files(tmp_path).items() if n in "ab"})
        return done

    monkeypatch.setattr(Path, "replace", watch)
    write_together(tmp_path, {"a": writes("new"), "b": writes("new")})
    assert states[-1] == {"a": "new", "b": "new"}
    assert {"a": "new", "b": "old"} not in states


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("file", "cannot make the directory"),
        ("file/out", "cannot make the directory"),
        ("new/" + "x" * 300, "cannot make the directory"),
        ("/proc/out", "cannot make the directory"),
    ],
)
def test_directories_that_cannot_be(tmp_path, place, message):
    put(tmp_path, "mine", "file")
    with pytest.raises(InputError, match=message):
        write_together(tmp_path / place, {"a": writes("1")})
    assert files(tmp_path) == {"file": "mine"}


def test_a_directory_that_takes_no_files(tmp_path, monkeypatch):
    def refuse(**options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(atomic.tempfile, "mkdtemp", refuse)
    with pytest.raises(InputError, match=r"cannot write to .*out: Read-only file system"):
        write_together(tmp_path / "out", {"a": writes("1")})
    assert files(tmp_path) == {}


@pytest.mark.parametrize("name", ["a", "old"])
def test_a_directory_of_that_name_is_left_alone(tmp_path, name):
    (tmp_path / name).mkdir()
    put(tmp_path / name, "mine", "inside")
    with pytest.raises(InputError, match="nothing was written"):
        write_together(tmp_path, {"a": writes("1"), "b": writes("2")}, obsolete=["old"])
    assert files(tmp_path) == {name: None, f"{name}/inside": "mine"}
