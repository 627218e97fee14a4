"""The command: what it opens and refuses, how it ends, and what it leaves behind."""

import os
import re
import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from explorer.conftest import names_in, small_study
from explorer.driving import SECONDS, explored, started
from playwright.sync_api import expect

from anonymizer.cli import main
from anonymizer.explorer.command import Door
from anonymizer.explorer.session.session import Session


def refused(capsys, *arguments) -> str:
    """What the command says on standard error as it refuses."""
    with pytest.raises(SystemExit) as ended:
        main(["explore", "--no-browser", *map(str, arguments)])
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


ENDED = "The explorer has ended. Every step is kept: the same command goes on from here.\n"


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_it_ends_when_it_is_told_to(places, tmp_path, monkeypatch, how):
    """As a user starts it; a fork ends by SIGTERM in the test of the release view."""
    study, here, listening = places
    (tmp_path / "sitecustomize.py").write_text(listening)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with explored(small_study(study), cwd=here, start=started) as served:
        assert any("lock" in name for name in names_in(study))
        assert served.end(how) == ENDED
    assert names_in(study) == ["people.csv", "study.session", "study.toml"]


def test_the_demonstration_opens_and_ends():
    process = subprocess.Popen(
        [sys.executable, "-m", "anonymizer", "explore", "--demo", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline().startswith("The explorer is at http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0].endswith("The demonstration has ended.\n")
        assert process.returncode == 0
    finally:
        process.kill()


def test_it_goes_on_where_it_was_and_says_what_is_not_saved(tmp_path):
    path = small_study(tmp_path)
    Session(path).take("k = 4", lambda content: {**content, "search": {"seed": 4}})
    with explored(tmp_path) as served:  # the directory of a study
        assert served.end().endswith(" study.toml has the study as it was saved last.\n")
    assert Session(path).content["search"] == {"seed": 4}


def test_one_process_at_a_time_has_a_session(tmp_path, capsys):
    path = small_study(tmp_path)
    with explored(path) as served:
        assert "is being explored already; use the page that is open" in refused(capsys, path)
        port = urlsplit(served.link).port
        other = tmp_path / "other"
        other.mkdir()
        said = refused(capsys, small_study(other), "--port", port)
        assert f"port {port} (Address already in use); leave --port out" in said
    assert names_in(other) == ["people.csv", "study.session", "study.toml"]


def test_nothing_of_a_record_is_printed_whatever_is_asked(tmp_path):
    path = small_study(tmp_path)
    text = path.read_text().replace('city = "suppress"', 'city = { keep = [["Rome"]] }')
    path.write_text(text.replace("[10, 20]", "[10, 7]"))
    with explored(path) as served:
        address = urlsplit(served.link)
        connection = HTTPConnection(address.hostname, address.port)
        connection.request("GET", "/?" + address.query)
        found = connection.getresponse()
        cookie = found.getheader("set-cookie").partition(";")[0]
        found.read()
        for place in ("/", "/release", "/nothing", "/_nicegui/none.js", "/%00"):
            connection.request("GET", place, headers={"cookie": cookie})
            connection.getresponse().read()
        connection.close()
        said = served.end()
    assert said.startswith("The explorer has ended.")
    assert not re.search("Rome|Oslo|flu|asthma|Traceback", said)


def test_the_demonstration_leaves_nothing_and_gives_its_port_back(tmp_path):
    with explored("--demo", cwd=tmp_path) as served:
        port = urlsplit(served.link).port
        assert served.end() == "The demonstration has ended.\n"
    assert names_in(tmp_path) == []
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_a_table_gets_a_study_first(tmp_path):
    small_study(tmp_path)
    with explored("people.csv", cwd=tmp_path) as served:
        assert served.said == "A first study is in people-study/study.toml.\n"
    assert "study.toml" in names_in(tmp_path / "people-study")
    with explored("people.csv", cwd=tmp_path) as served:
        assert served.said == "Going on with people-study/study.toml.\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = [\n", "is not a TOML file"),
        ('[data]\npath = "x"\n[unknown]\n', "unknown key 'unknown'"),
        ("", "section [data] is missing"),
    ],
)
def test_a_study_that_is_none_is_refused(tmp_path, capsys, text, said):
    path = tmp_path / "study.toml"
    path.write_text(text)
    assert said in refused(capsys, path)
    assert names_in(tmp_path) == ["study.toml"]


def test_what_is_not_there_is_refused(tmp_path, capsys):
    assert "there is no study file" in refused(capsys, tmp_path / "none.toml")
    assert "there is no file" in refused(capsys, tmp_path / "none.csv")
    (tmp_path / "folder.toml").mkdir()
    assert "Is a directory" in refused(capsys, tmp_path / "folder.toml")
    assert "Name a study or a table, or give --demo" in refused(capsys)
    assert "Name a study or a table, or give --demo" in refused(capsys, "x.toml", "--demo")
    assert names_in(tmp_path) == ["folder.toml"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are others here")
def test_where_nothing_can_be_written_nothing_begins(tmp_path, capsys, monkeypatch):
    path = small_study(tmp_path)

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("anonymizer.release.system._lock", denied)
    said = refused(capsys, path)
    assert "cannot keep the session in" in said
    assert "Permission denied; copy the study to a directory of your own" in said


def test_without_its_packages_it_says_how_to_get_them(capsys, monkeypatch):
    from importlib import util

    found = util.find_spec
    monkeypatch.setattr(
        util, "find_spec", lambda name, *more: None if name == "nicegui" else found(name, *more)
    )
    said = refused(capsys, "--demo")
    assert said == (
        "anonymizer: the explorer needs more packages; in a checkout of anonymizer, pip install "
        "'.[explore]' installs them\n"
    )


def test_nothing_else_loads_the_framework():
    code = """
import sys, anonymizer, anonymizer.cli
try:
    anonymizer.cli.main(["--help"])
except SystemExit:
    pass
try:
    anonymizer.cli.main(["explore", "--help"])
except SystemExit:
    pass
found = [name for name in ("nicegui", "fastapi", "uvicorn", "tomlkit") if name in sys.modules]
sys.exit(str(found) if found else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "explore" in done.stdout


def test_the_browser_is_told_of_a_file_that_others_cannot_read(
    browser, served_demonstration, tmp_path
):
    assert Door(tmp_path).write("http://127.0.0.1:1/?token=old").startswith("file://")
    address = Door(tmp_path).write(served_demonstration.link)
    assert (tmp_path / "open.html").stat().st_mode & 0o777 == 0o600
    page = browser.new_page()
    page.goto(address)
    expect(page.get_by_role("navigation", name="Views")).to_be_visible(timeout=SECONDS)
    assert "token" not in page.url
    page.context.close()
    Door(tmp_path).remove()
    assert "open.html" not in names_in(tmp_path)
