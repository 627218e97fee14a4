"""Columns of a file without a header line: named on the page, or by the command."""

import re
import tomllib
from contextlib import chdir
from pathlib import Path

import pytest
from explorer.driving import SECONDS, answered, explored, opened, require_seen_well, visit
from playwright.sync_api import expect

from anonymizer.cli import main
from anonymizer.errors import InputError
from anonymizer.explorer.session.naming import redrafted
from anonymizer.explorer.session.saving import save_study
from anonymizer.explorer.session.session import Session
from anonymizer.explorer.views.saving import short
from anonymizer.recoding import ignore

ROWS = [
    (21 + n, ("Rome", "Oslo")[n % 2], ("flu", "cold", "asthma")[n % 3], ("f", "m")[n % 5 % 2])
    for n in range(60)
]
NAMES = ["age", "city", "diagnosis", "sex"]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A table without a header line."""
    path = tmp_path / "bare.csv"
    path.write_text("".join(f"{','.join(map(str, row))}\n" for row in ROWS))
    return path


def drafted(table: Path, name: str, *more: str) -> Path:
    with chdir(table.parent), pytest.raises(SystemExit, match="0"):
        main(["init", table.name, "-y", "-o", name, *more])
    return table.parent / name / "study.toml"


def test_a_study_with_names_is_the_one_that_init_proposes_for_them(bare):
    session = Session(drafted(bare, "unnamed"))
    text = redrafted(session, session.study(), NAMES, ignore)
    session.replace("names", text)
    assert save_study(session, "study.toml").study.exists()
    named = drafted(bare, "named", "--columns", ",".join(NAMES)).read_text()
    assert tomllib.loads(session.text) == tomllib.loads(named)
    session.undo()
    assert list(session.content["data"]["columns"]) == [f"column-{n}" for n in range(1, 5)]


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (["age", "city", "", "sex"], "no name yet"),
        (["age", "city", "age", "sex"], "two columns are called 'age'"),
        (["age", "city"], "has 4 columns, and 2 names"),
    ],
)
def test_names_that_do_not_fit(bare, names, wrong):
    session = Session(drafted(bare, "unnamed"))
    with pytest.raises(InputError, match=wrong):
        redrafted(session, session.study(), names, ignore)


@pytest.mark.long  # the whole path names columns, and test_keys goes to the next view and back
def test_columns_are_named_on_the_page(browser, bare):
    with explored(bare, cwd=bare.parent) as own, opened(browser, own.link) as page:
        fields = page.get_by_role("region", name="Names of the columns")
        fields.get_by_label("column-1", exact=True).fill("age")
        fields.get_by_role("button", name="Name the columns").press("Enter")
        expect(fields.get_by_text("A column has no name yet")).to_be_visible()
        require_seen_well(page)
        fields.get_by_label(re.compile("^All 4 names")).fill(", ".join(NAMES))
        expect(fields.get_by_label("column-4", exact=True)).to_have_value("sex")
        fields.get_by_role("button", name="Name the columns").click()
        expect(fields).to_have_count(0)
        answered(page)
        expect(page.get_by_role("rowheader", name="diagnosis")).to_be_visible()
        page.get_by_role("button", name="Next: Hierarchies").click()
        expect(page.locator("h1")).to_be_focused()
        page.get_by_role("button", name="Back: Table").press("Enter")
        expect(page.locator("h1")).to_have_text(re.compile("^Which columns"))


def test_the_command_names_columns_of_a_new_study_alone(bare, capsys):
    with explored(bare, "--columns", ",".join(NAMES), cwd=bare.parent):
        study = (bare.parent / "bare-study" / "study.toml").read_text()
    assert tomllib.loads(study)["data"]["columns"] == NAMES
    with chdir(bare.parent), pytest.raises(SystemExit, match="2"):
        main(["explore", str(bare), "--columns", "a,b,c,d"])
    assert "is there already" in capsys.readouterr().err


def test_a_path_is_shown_as_far_as_it_says_something(monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    found = [short(Path(each)) for each in ("/home/me/a/b", "/srv/x/y/z", "/srv/x")]
    assert found == ["~/a/b", "…/y/z", "/srv/x"]


def test_a_table_that_is_gone_is_read_from_another_place(browser, bare):
    path = drafted(bare, "moved", "--columns", ",".join(NAMES))
    bare.rename(bare.with_name("elsewhere.csv"))
    with explored(path) as own, opened(browser, own.link) as page:
        expect(page.locator(".verdict")).to_contain_text(re.compile("no file .*bare.csv"))
        visit(page, "Release")
        expect(page.get_by_role("button", name="Write the release")).to_be_disabled()
        page.get_by_role("button", name="What to do: see Table").click()
        page.get_by_label("Path of the table").fill("../elsewhere.csv")
        page.get_by_role("button", name="Read the table from there").press("Enter")
        expect(page.get_by_role("rowheader", name="diagnosis")).to_be_visible()
        expect(page.locator(".verdict")).to_have_class(re.compile("holds"), timeout=SECONDS)
