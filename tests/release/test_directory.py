import errno
import os
import signal
import stat
from pathlib import Path

import pytest

from anonymizer.errors import InputError
from anonymizer.release import output as output_module
from anonymizer.release import system
from anonymizer.release.output import Folder, reserved, standing

NAMES = ("t.csv", "t.parquet", "sign")


def writes(text):
    return lambda path: path.write_text(text)


def release(out, text, table="t.csv", **options):
    with reserved(out, NAMES) as output:
        output.write({table: writes(text), "sign": writes(f"of {text}")}, **options)


def files(directory):
    return {
        str(path.relative_to(directory)): path.read_text() if path.is_file() else None
        for path in directory.rglob("*")
    }


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def whole(text, table="t.csv"):
    return {table: text, "sign": f"of {text}"}


def no_exchange(source, target, flags):
    raise OSError(errno.ENOSYS, "Function not implemented")


@pytest.fixture(params=["exchange", "names"])
def swap(request, monkeypatch):
    """How a release is replaced: in one step, or name by name."""
    if request.param == "names":
        monkeypatch.setattr(system, "_renameat2", no_exchange)


# What appears


@pytest.mark.parametrize("before", [False, True])
def test_a_release_appears(tmp_path, before):
    if before:
        (tmp_path / "out").mkdir()
    with standing() as outputs:
        release(tmp_path / "out", "1")
    assert files(tmp_path) == {"out": None, "out/t.csv": "1", "out/sign": "of 1"}
    assert outputs == [f"the release is in {tmp_path / 'out'}"]


def test_directories_above_it_are_made(tmp_path):
    release(tmp_path / "deep" / "down" / "out", "1")
    assert files(tmp_path / "deep" / "down" / "out") == whole("1")


def test_a_release_is_replaced_whole(tmp_path, swap):
    release(tmp_path / "out", "1")
    release(tmp_path / "out", "2", "t.parquet", force=True)
    assert files(tmp_path / "out") == whole("2", "t.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_one_call_replaces_it(tmp_path, monkeypatch):
    release(tmp_path / "out", "1")
    seen = []
    exchange = output_module.exchange

    def watched(one, other):
        seen.append(files(tmp_path / "out"))
        exchange(one, other)
        seen.append(files(tmp_path / "out"))

    monkeypatch.setattr(output_module, "exchange", watched)
    monkeypatch.setattr(output_module, "rename_new", None)
    release(tmp_path / "out", "2", force=True)
    assert seen == [whole("1"), whole("2")]


def test_by_name_the_sign_goes_first_and_comes_last(tmp_path, monkeypatch):
    release(tmp_path / "out", "1")
    (tmp_path / "out" / "mine").write_text("other")
    seen, rename = [], output_module.rename_new

    def watched(source, target):
        rename(source, target)
        seen.append("".join(sorted(name[0] for name in files(tmp_path / "out"))))

    monkeypatch.setattr(output_module, "rename_new", watched)
    release(tmp_path / "out", "2", force=True)
    assert seen == ["mt", "m", "mt", "mst"]
    assert files(tmp_path / "out") == {**whole("2"), "mine": "other"}


@pytest.mark.parametrize("force", [False, True])
def test_other_files_stay(tmp_path, swap, force):
    out = tmp_path / "out"
    (out / "inner").mkdir(parents=True)
    (out / "inner" / "deep").write_text("mine")
    release(out, "1")
    if force:
        release(out, "2", force=True)
    assert files(out) == {**whole("2" if force else "1"), "inner": None, "inner/deep": "mine"}


def test_a_file_that_comes_as_directories_change_places_is_carried_over(tmp_path, monkeypatch):
    release(tmp_path / "out", "1")
    exchange = output_module.exchange

    def late(one, other):
        (tmp_path / "out" / "notes").write_text("mine")
        exchange(one, other)

    monkeypatch.setattr(output_module, "exchange", late)
    release(tmp_path / "out", "2", force=True)
    assert files(tmp_path / "out") == {**whole("2"), "notes": "mine"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_the_current_directory_stays_the_current_one(tmp_path, monkeypatch, swap):
    monkeypatch.chdir(tmp_path)
    for text in "12":
        release(Path(), text, force=True)
    assert files(Path.cwd()) == files(tmp_path) == whole("2")


def test_a_link_stays_one(tmp_path, swap):
    (tmp_path / "link").symlink_to(tmp_path / "out")
    for text in "12":
        release(tmp_path / "link", text, force=True)
    assert (tmp_path / "link").is_symlink()
    assert files(tmp_path / "out") == whole("2")


def test_where_nothing_can_be_put_next_to_it(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "is_mount", lambda path: path == tmp_path / "out")
    (tmp_path / "out").mkdir()
    for text in "12":
        release(tmp_path / "out", text, force=True)
    assert files(tmp_path / "out") == whole("2")


# A table that is a folder of files


def fills(texts):
    def fill(path):
        for name, text in texts.items():
            (path / name).write_text(text)

    return Folder(fill)


def release_parts(out, texts, **options):
    with reserved(out, NAMES) as output:
        output.write({"t.parquet": fills(texts), "sign": writes(str(len(texts)))}, **options)


def test_a_folder_of_files_takes_the_place_of_a_file_and_the_other_way_round(tmp_path, swap):
    out = tmp_path / "out"
    release(out, "1", "t.parquet")
    release_parts(out, {"a": "2", "b": "3"}, force=True)
    parts = {"t.parquet": None, "t.parquet/a": "2", "t.parquet/b": "3", "sign": "2"}
    assert files(out) == parts
    release_parts(out, {"c": "4"}, force=True)
    assert files(out) == {"t.parquet": None, "t.parquet/c": "4", "sign": "1"}
    release(out, "5", force=True)
    assert files(out) == whole("5")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_who_could_read_a_file_can_read_the_folder_in_its_place(tmp_path, swap):
    out = tmp_path / "out"
    release(out, "1", "t.parquet")
    (out / "t.parquet").chmod(0o640)
    release_parts(out, {"a": "2"}, force=True)
    assert (mode(out / "t.parquet"), mode(out / "t.parquet" / "a")) == (0o750, 0o640)
    release(out, "3", "t.parquet", force=True)
    assert mode(out / "t.parquet") == 0o640


def test_a_folder_that_fails_leaves_what_was_there(tmp_path):
    out = tmp_path / "out"
    release(out, "1")

    def fail(path):
        (path / "a").write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with (
        pytest.raises(InputError, match="No space left on device; nothing was written"),
        reserved(out, NAMES) as output,
    ):
        output.write({"t.parquet": Folder(fail), "sign": writes("2")}, force=True)
    assert files(tmp_path) == {"out": None, "out/t.csv": "1", "out/sign": "of 1"}


def test_a_workspace_is_gone_afterwards_or_at_the_next_run(tmp_path, monkeypatch):
    out = tmp_path / "out"
    with reserved(out, NAMES) as output, output.workspace() as space:
        assert (mode(space), space.parent) == (0o700, tmp_path)
        (space / "spilled").write_text("much")
    assert files(tmp_path) == {}
    with monkeypatch.context() as killed:
        killed.setattr(output_module.shutil, "rmtree", lambda *_, **__: None)
        with reserved(out, NAMES) as output, output.workspace() as space:
            (space / "spilled").write_text("much")
    assert (space / "spilled").exists()
    release(out, "1")
    assert files(tmp_path) == {"out": None, "out/t.csv": "1", "out/sign": "of 1"}


# Who can read it


@pytest.mark.parametrize("kind", ["", "replaced"])
def test_permissions(tmp_path, swap, kind):
    before = os.umask(0o027)
    out = tmp_path / "out"
    try:
        release(out, "1")
        if kind:
            for path, bits in {out: 0o705, out / "t.csv": 0o604, out / "sign": 0o644}.items():
                path.chmod(bits)
            release(out, "2", "t.parquet", force=True)
    finally:
        os.umask(before)
    found = [mode(out), mode(out / ("t.parquet" if kind else "t.csv")), mode(out / "sign")]
    assert found == ([0o705, 0o604, 0o644] if kind else [0o750, 0o640, 0o640])


# What is refused, and what fails


def test_without_force_nothing_is_replaced(tmp_path):
    release(tmp_path / "out", "1")
    with pytest.raises(InputError, match="out already holds a release, sign; --force replaces it"):
        release(tmp_path / "out", "2")
    assert files(tmp_path / "out") == whole("1")


@pytest.mark.parametrize("moment", ["made", "renamed"])
def test_a_release_that_appears_meanwhile_is_not_replaced(tmp_path, monkeypatch, moment):
    out, rename = tmp_path / "out", os.rename

    def appear():
        out.mkdir()
        for name, text in whole("theirs").items():
            (out / name).write_text(text)

    def late(source, target):
        if Path(target) == out:
            appear()
        rename(source, target)

    if moment == "renamed":
        monkeypatch.setattr(output_module.os, "rename", late)
    with reserved(out, NAMES) as output:
        if moment == "made":
            appear()
        with pytest.raises(InputError, match=r"already holds a release|File exists; nothing was"):
            output.write({"t.csv": writes("1"), "sign": writes("of 1")})
    assert files(out) == whole("theirs")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_one_run_writes_there_at_a_time(tmp_path):
    release(tmp_path / "out", "1")
    with reserved(tmp_path / "out", NAMES) as output:
        with pytest.raises(InputError, match=r"another run is writing to .*out; wait"):
            release(tmp_path / "x" / ".." / "out", "2", force=True)
        assert files(tmp_path / "out") == whole("1")
        output.write({"t.csv": writes("3"), "sign": writes("of 3")}, force=True)
    assert files(tmp_path / "out") == whole("3")


@pytest.mark.parametrize("failing", range(6))
def test_a_name_that_cannot_be_given_takes_the_others_back(tmp_path, monkeypatch, failing):
    release(tmp_path / "out", "1")
    (tmp_path / "out" / "mine").write_text("other")
    before, rename, calls = files(tmp_path), output_module.rename_new, iter(range(99))

    def refuse(source, target):
        if next(calls) == failing:
            raise OSError(errno.EIO, "not allowed")
        rename(source, target)

    monkeypatch.setattr(output_module, "rename_new", refuse)
    if failing < 4:
        with pytest.raises(InputError, match="not allowed; nothing was written"):
            release(tmp_path / "out", "2", force=True)
        assert files(tmp_path) == before
    else:
        release(tmp_path / "out", "2", force=True)
        assert files(tmp_path / "out") == {**whole("2"), "mine": "other"}


def test_what_cannot_be_put_back_is_kept_and_said_to_be(tmp_path, monkeypatch):
    release(tmp_path / "out", "1")
    (tmp_path / "out" / "mine").write_text("other")
    rename, calls = output_module.rename_new, iter(range(99))

    def refuse(source, target):
        if next(calls) >= 2:
            raise OSError(errno.EIO, "disk is gone")
        rename(source, target)

    monkeypatch.setattr(output_module, "rename_new", refuse)
    with pytest.raises(InputError, match=r"what lay in .*out lies in .*old and cannot be put back"):
        release(tmp_path / "out", "2", force=True)
    monkeypatch.setattr(output_module, "rename_new", rename)
    with pytest.raises(InputError, match="already holds a release"):
        release(tmp_path / "out", "3")
    assert files(tmp_path) == {"out": None} | {
        f"out/{name}": text for name, text in {**whole("1"), "mine": "other"}.items()
    }


def test_a_release_that_the_disk_may_not_keep_is_said_to_stand(tmp_path, monkeypatch):
    release(tmp_path / "out", "1")
    fsync = os.fsync

    def gone(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode) and files(tmp_path / "out") == whole("2"):
            raise OSError(errno.EIO, "disk is gone")
        fsync(descriptor)

    monkeypatch.setattr(system.os, "fsync", gone)
    with pytest.raises(InputError, match=r"the release is in .*out, but the disk may not keep"):
        release(tmp_path / "out", "2", force=True)
    assert files(tmp_path / "out") == whole("2")
    assert "1" in files(tmp_path).values()  # the old one is not removed before the new one is kept
    monkeypatch.undo()
    release(tmp_path / "out", "3", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_an_old_release_that_cannot_be_removed_is_at_the_next_run(tmp_path, monkeypatch):
    def refuse(path):
        raise OSError(errno.EPERM, "not allowed")

    release(tmp_path / "out", "1")
    monkeypatch.setattr(output_module.shutil, "rmtree", refuse)
    release(tmp_path / "out", "2", force=True)
    assert files(tmp_path / "out") == whole("2")
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.undo()
    with pytest.raises(InputError, match="already holds"):
        release(tmp_path / "out", "3")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("file", "cannot make the directory .*file: a file has its name"),
        ("file/out", "cannot make the directory .*file: "),
        ("x" * 300, "cannot make the directory .*: File name too long"),
        ("a\0b", "cannot make the directory .*: nothing can have such a name"),
        ("/proc/out", "cannot make the directory /proc/out"),
    ],
)
def test_directories_that_cannot_be(tmp_path, place, message):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match=message):
        release(tmp_path / place, "1")
    assert files(tmp_path) == {"file": "mine"}


# What killed runs left


def killed(out, left):
    """What a killed run left in its scratch directory."""
    with reserved(out, NAMES) as output:
        scratch = output.site.scratch()
    for name, text in left.items():
        (scratch / name).parent.mkdir(exist_ok=True)
        (scratch / name).write_text(text)
    return scratch


OLD = {"old/t.csv": "1", "old/sign": "of 1"}
NEW = {"ready/t.csv": "2", "ready/sign": "of 2"}


def test_an_unproven_table_can_be_read_by_its_owner_alone(tmp_path):
    seen = []

    def write(path):
        path.write_text("unproven")
        seen.extend([mode(path), mode(path.parents[1]), path.parents[2]])

    with reserved(tmp_path / "out", NAMES) as output:
        output.write({"t.csv": write, "sign": writes("1")})
    assert seen == [0o600, 0o700, tmp_path]


@pytest.mark.parametrize("within", [False, True])
def test_an_unproven_table_goes_at_the_next_run(tmp_path, monkeypatch, within):
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        if within:
            out.mkdir()
            patch.setattr(Path, "is_mount", lambda path: path == out)
        scratch = killed(out, {"new/t.csv": "unproven"})
        assert scratch.parent == (out if within else tmp_path)
    release(out, "1")
    assert files(tmp_path) == {"out": None, "out/t.csv": "1", "out/sign": "of 1"}


def test_a_killed_run_whose_release_lacks_its_sign_alone_is_finished(tmp_path):
    # killed between the table and the sign, with the table of before aside
    scratch = killed(tmp_path / "out", {"naming/sign": "of 2", **OLD})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "t.csv").write_text("2")
    with reserved(tmp_path / "out", NAMES):
        assert files(tmp_path / "out") == whole("2")
        assert not scratch.exists()


def test_a_killed_run_that_had_put_nothing_there_is_undone(tmp_path):
    scratch = killed(tmp_path / "out", {**NEW, **OLD})
    with reserved(tmp_path / "out", NAMES):
        assert files(tmp_path / "out") == whole("1")
        assert not scratch.exists()


def test_a_killed_run_is_not_put_back_over_what_came_since(tmp_path):
    scratch = killed(tmp_path / "out", {**NEW, **OLD})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "t.csv").write_text("mine")
    with pytest.raises(InputError, match=r"lies in .*old and cannot be put back: File exists"):
        release(tmp_path / "out", "3", force=True)
    assert files(tmp_path / "out") == {"t.csv": "mine"}
    assert files(scratch / "old") == whole("1")


# Signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_swap_acts_once_the_release_stands(tmp_path, monkeypatch, number):
    release(tmp_path / "out", "1")
    exchange, before = output_module.exchange, signal.getsignal(number)

    def struck(one, other):
        exchange(one, other)
        signal.raise_signal(number)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(output_module, "exchange", struck)
    signal.signal(number, interrupt)
    try:
        with standing() as outputs, pytest.raises(KeyboardInterrupt):
            release(tmp_path / "out", "2", force=True)
        assert signal.getsignal(number) is interrupt
    finally:
        signal.signal(number, before)
    assert outputs == [f"the release is in {tmp_path / 'out'}"]
    assert files(tmp_path / "out") == whole("2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
