"""What stands apart works, in short, and the command line says so where it is not installed."""

import importlib.util

import pytest

APART = {"explore": "anonymizer.explorer", "reproduce": "anonymizer.papers"}


@pytest.fixture
def without(monkeypatch):
    """Take packages away, as an installation is without them."""
    there = importlib.util.find_spec

    def taken(*packages):
        def find(name):
            return None if name in packages else there(name)

        monkeypatch.setattr("importlib.util.find_spec", find)
        monkeypatch.setattr("anonymizer.cli.find_spec", find)

    return taken


@pytest.mark.parametrize(("command", "package"), APART.items())
def test_a_command_that_is_not_installed_says_so(run, without, command, package):
    without(package)
    code, out, err = run(command, "--help")
    assert (code, out) == (2, "")
    assert err == (f"anonymizer: {command} is not installed here: there is no package {package}\n")
    code, out, _ = run("--help")
    assert code == 0
    assert f"  {command} " not in out
    assert "  verify " in out


def test_a_paper_is_computed_anew(run):
    pytest.importorskip("anonymizer.papers")
    code, out, err = run("reproduce", "longpre2017")
    assert (code, err) == (0, "")
    assert "Of 34 published figures and statements 31 are as published" in " ".join(out.split())


def test_the_explorer_says_what_installs_its_packages(run, without):
    pytest.importorskip("anonymizer.explorer")
    without("nicegui")
    code, out, err = run("explore", "--demo", "--no-browser")
    assert (code, out) == (2, "")
    assert err == (
        "anonymizer: the explorer needs more packages; in a checkout of anonymizer, "
        "pip install '.[explore]' installs them\n"
    )
