"""The release view, used by mouse and by keys: before and after, its report, and what it writes."""

import re
import signal
from functools import partial
from pathlib import Path

from explorer.conftest import in_pairs
from explorer.driving import (
    SECONDS,
    explored,
    figures,
    opened,
    require_nothing_lies_askew,
    require_seen_well,
    visit,
)
from explorer.forking import Forked
from playwright.sync_api import Page, expect
from releases import alike

from anonymizer.release.publish import publish
from anonymizer.release.study import Study


def cells(page: Page, label: str) -> list[list[str]]:
    """The cells of a listing, row by row."""
    table = page.get_by_label(label)
    return [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]


def card(page: Page, label: str):
    return page.get_by_role("region", name=label)


def press(page: Page, name: str, key: str = "Enter") -> None:
    """Use a button by keys alone."""
    page.get_by_role("button", name=name).focus()
    page.keyboard.press(key)


def test_from_before_and_after_to_files(browser, places):
    """Meanwhile nothing is asked elsewhere, nor written where the command was called."""
    directory, here, listening = places
    path = in_pairs(directory)
    with explored(path, cwd=here, start=partial(Forked, first=listening)) as served:
        with opened(browser, served.link) as page:
            before_and_after(page)
            look_at_the_report(page)
            write_the_release(page, directory)
            save_the_study(page, path)
            require_seen_well(page)
            page.set_viewport_size({"width": 390, "height": 844})
            require_nothing_lies_askew(page)
            write_after_the_table_changed(page, directory / "people.csv")
        assert served.end(signal.SIGTERM).startswith("The explorer has ended.")


def before_and_after(page: Page) -> None:
    visit(page, "Release")
    expect(page.get_by_label("Labels after")).to_contain_text("*")
    pair = "12 of 12 records have values of 'shelf' and 'box' that no other record has together"
    expect(page.locator("ul.warnings")).to_contain_text(pair, timeout=SECONDS)
    shown = {row[0]: row[1:] for row in cells(page, "Figures before and after")}
    assert shown["Records"] == ["12", "12"]
    assert shown["Smallest class"] == ["1 record", "5 records"]
    assert shown["Records alone in their class"] == ["12", "0"]
    age, city = cells(page, "Quasi-identifiers before and after")
    assert age == ["age", "suppressed", "12", "1", "12"]
    assert city == ["city", "as it is", "2", "2", "0"]
    assert cells(page, "Labels after") == [["*", "12"]]
    expect(page.get_by_text("12 values before, the 10 of most records")).to_be_visible()
    page.get_by_label("Quasi-identifier", exact=True).focus()
    for key in ("Enter", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_label("Labels after")).to_contain_text("Oslo")
    assert cells(page, "Values before") == [["Rome", "7"], ["Oslo", "5"]]


def look_at_the_report(page: Page) -> None:
    press(page, "Preview the report")
    frame = page.locator("iframe[title='Preview of the report']")
    expect(frame).to_be_visible(timeout=SECONDS)
    assert frame.get_attribute("sandbox") == ""
    report = page.frame_locator("iframe")
    expect(report.get_by_role("heading", name="Release report: release")).to_be_visible()
    report.get_by_role("link", name="Warnings").focus()
    page.keyboard.press("Enter")
    expect(report.get_by_role("heading", name="Warnings")).to_be_in_viewport()
    expect(report.locator("body")).to_contain_text("The policy holds")


def write_the_release(page: Page, directory: Path) -> None:
    release = card(page, "The release")
    page.get_by_role("button", name="Write the release").click()
    expect(release).to_contain_text("The release is in", timeout=SECONDS)
    expect(release).to_contain_text(f"anonymizer verify {directory / 'release'}")
    publish(Study(directory / "study.toml"), directory / "command")
    assert alike(directory / "release", directory / "command")
    press(page, "Write the release", "Space")
    expect(release).to_contain_text("already holds a release, release.json; tick Replace")
    page.get_by_role("checkbox", name="Replace the release").focus()
    page.keyboard.press("Space")
    press(page, "Write the release")
    expect(release).to_contain_text("The release is in", timeout=SECONDS)
    press(page, "Write the report")
    expect(release).to_contain_text("The report is in", timeout=SECONDS)
    assert b"The policy holds" in (directory / "release-report.html").read_bytes()
    for given, said in [
        ("", "Please give a directory"),
        (".", "a directory of its own"),
        ("~nobodyatall/x", "is in"),
    ]:
        page.get_by_label("Directory").fill(given)
        press(page, "Write the release")
        expect(release).to_contain_text(said, timeout=SECONDS)
    assert (directory / "~nobodyatall" / "x" / "release.json").exists()


def save_the_study(page: Page, path: Path) -> None:
    study = card(page, "The study")
    expect(study).to_contain_text("The file has the study as it is now.")
    path.write_text(path.read_text() + "\n# of somebody else\n")
    page.get_by_role("button", name="Save the study").click()
    expect(study).to_contain_text("was changed elsewhere")
    page.get_by_label("File").fill("mine")
    press(page, "Save the study")
    expect(study).to_contain_text("Saved:")
    assert (path.parent / "mine.toml").exists()
    press(page, "Save the hierarchies")
    expect(study).to_contain_text("2 hierarchies are in")
    page.get_by_label("File").fill(path.name)
    page.get_by_role("checkbox", name="Replace a file").click()
    press(page, "Save the study")
    expect(study).to_contain_text(f"Saved: {path}")
    assert "somebody else" not in path.read_text()


def write_after_the_table_changed(page: Page, table: Path) -> None:
    """Figures of the table before are not left next to a release of the table after."""
    before = figures(page)["Surest guess"]
    table.write_text(re.sub("cold|asthma", "flu", table.read_text()))
    page.get_by_label("Directory").fill("changed")
    press(page, "Write the release")
    expect(card(page, "The release")).to_contain_text(
        "The table was changed after", timeout=SECONDS
    )
    guess = page.locator(".status .figure").filter(has_text="Surest guess").locator("dd")
    expect(guess).to_have_text("100%")
    assert before != "100%"


def test_where_the_policy_does_not_hold_there_is_no_release(small):
    page = small
    visit(page, "Policy")
    size = page.get_by_role("region", name="k-anonymity").get_by_role("spinbutton")
    size.fill("13")
    size.press("Enter")
    expect(page.locator(".verdict")).to_have_class(re.compile("breaks"))
    visit(page, "Attack")
    page.get_by_role("button", name="What to do: see Policy").click()
    expect(page.locator("h1")).to_have_text(re.compile("policy promise"))
    expect(page.get_by_role("button", name="What to do: see Policy")).to_be_hidden()
    visit(page, "Release")
    expect(page.get_by_role("button", name="Write the release")).to_be_disabled()
    expect(page.get_by_role("button", name="Preview the report")).to_be_disabled()
    expect(card(page, "The release")).to_contain_text("The policy does not hold")
    expect(page.get_by_role("button", name="Save the study")).to_be_enabled()


def test_with_figures_alone_there_is_no_label(unlabelled):
    page = unlabelled
    visit(page, "Release")
    expect(page.get_by_label("Labels after")).to_contain_text("label 1")
    expect(page.get_by_role("button", name="Preview the report")).to_be_disabled()
    for label in ("Rome", "Oslo", "[20, 30)", "flu", "asthma"):
        assert label not in page.content()
    assert not re.search(r">2[1-4]<", page.content())
