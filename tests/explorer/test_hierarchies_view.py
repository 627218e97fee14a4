"""Hierarchies in the browser: cuts, groups and files, by mouse and by keys."""

import re

import pytest
from explorer.driving import (
    place_of,
    require_nothing_lies_askew,
    settled,
    visit,
)
from explorer.test_table_view import content_of
from playwright.sync_api import expect


@pytest.fixture
def page(small):
    visit(small, "Hierarchies")
    return small


def choose(page, name):
    page.get_by_label("Quasi-identifier", exact=True).click()
    page.get_by_role("option", name=name, exact=True).click()


def pick(page, label, option):
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def rows(page):
    return page.locator('[aria-label="Groups and values"] tbody tr')


def about(page):
    return page.locator(".content p[role=status]").first


def test_cuts_are_added_moved_and_removed(page, people):
    expect(about(page)).to_have_text("Ranges: levels 0 to 3 over 12 values in 12 records.")
    levels = page.locator('[aria-label="Levels"] tbody tr')
    expect(levels).to_have_count(4)
    expect(levels.nth(1)).to_contain_text("4 records")
    page.get_by_role("button", name="Add a level of twice the width").click()
    expect(page.get_by_label("Widths, the finest first")).to_have_value("10, 20, 40")
    page.get_by_role("button", name="Remove the coarsest level").press("Enter")
    expect(page.get_by_label("Widths, the finest first")).to_have_value("10, 20")
    page.get_by_role("button", name="Turn into cut points").click()
    first, second = (
        page.get_by_label("Cut points of level 1"),
        page.get_by_label("Cut points of level 2"),
    )
    expect(first).to_have_value("30, 40")
    expect(second).to_have_value("40")
    expect(page.locator(".editing")).to_be_focused()
    second.fill("35, 40")
    second.press("Enter")
    expect(first).to_have_value("30, 35, 40")
    second.fill("x")
    second.press("Enter")
    expect(page.get_by_text("x is no number")).to_be_visible()
    expect(second).to_have_value("x")  # it can be mended
    second.fill("35, 40")
    cut = page.get_by_role("slider", name=re.compile("Cut 1 of 3"))
    cut.press("ArrowLeft")
    expect(first).to_have_value("29, 35, 40")
    expect(page.get_by_role("button", name="Undo: age: a cut moved")).to_be_enabled()
    cut.press("Delete")
    expect(first).to_have_value("35, 40")
    page.get_by_role("button", name="Undo: age: a cut less").click()
    expect(first).to_have_value("29, 35, 40")
    assert content_of(people[1])["quasi-identifiers"]["age"] == {"cuts": [[29, 35, 40], [35, 40]]}
    pick(page, "Cuts on the ruler", "level 2")
    expect(page.locator(".ruler-grip")).to_have_count(2)
    expect(page.get_by_role("option")).to_have_count(0)
    handle = page.locator(".ruler-grip").last
    handle.hover()  # waits until nothing moves it, or lies above it
    grip = place_of(handle)
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.down()
    page.mouse.move(x + 40, y, steps=4)
    page.mouse.up()
    expect(first).not_to_have_value("29, 35, 40")
    expect(page.get_by_role("button", name="Undo: age: a cut moved")).to_be_enabled()
    pick(page, "Down to", "level 1")
    expect(rows(page).filter(has_text="value 1 record")).to_have_count(0)
    page.get_by_label("Filter by label").fill("29")
    expect(rows(page).filter(has_text="[29, 35)")).to_have_count(1)


def test_limits_are_levels_that_there_are(page, people):
    choose(page, "city")
    most = page.get_by_label("Highest level released")
    most.fill("7")
    most.press("Enter")
    expect(page.get_by_text("max-level = 7 is no level")).to_be_visible()
    expect(most).to_have_value("")
    most.fill("0.5")
    most.press("Enter")
    expect(page.get_by_text("0.5 is no level; levels are whole numbers")).to_be_visible()
    expect(most).to_have_value("")
    least = page.get_by_label("Lowest level released")
    least.fill("1")
    least.press("Enter")
    expect(page.get_by_role("button", name="Undo: city: min-level = 1")).to_be_enabled()
    city = content_of(people[1])["quasi-identifiers"]["city"]
    assert city == {"suppress": True, "min-level": 1}
    page.get_by_role("button", name="Undo: city: min-level = 1").click()
    expect(least).to_have_value("0")


def require_able(page, *names):
    """Require that only these buttons have something to act on, of those that change groups."""
    for name in ("Rename", "Move", "Take the group apart", "Remove the level"):
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_enabled(enabled=name in names)


def test_groups_are_made_renamed_moved_and_saved(page, people):
    choose(page, "city")
    expect(about(page)).to_contain_text("Kept, or replaced by *")
    page.get_by_role("button", name="Make it a table of labels").click()
    expect(about(page)).to_contain_text("A table of labels: levels 0 to 1")
    require_able(page)
    pick(page, "Members", "Rome")
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    page.get_by_label("Name of the new group").fill("South")
    page.get_by_role("button", name="Make the group").press("Enter")
    expect(rows(page).filter(has_text="South")).to_contain_text("7 records")
    expect(about(page)).to_contain_text("A table of labels: levels 0 to 2")
    expect(page.get_by_role("option")).to_have_count(0)  # a list that opens again takes the keys
    require_able(page)
    page.get_by_role("button", name="Choose Oslo").last.press("Enter")
    expect(page.get_by_text("5 records, 1 value", exact=False)).to_be_visible()
    require_able(page)  # no group to move it into
    pick(page, "Move into", "South")
    require_able(page, "Move")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(rows(page).filter(has_text="South")).to_contain_text("12 records")
    page.get_by_role("button", name="Choose South").click()
    expect(page.get_by_label("Name of the group", exact=True)).to_have_value("South")
    require_able(page, "Rename", "Take the group apart")
    page.get_by_label("Name of the group", exact=True).fill("Europe")
    page.get_by_role("button", name="Rename").click()
    expect(rows(page).filter(has_text="Europe")).to_contain_text("12 records")
    page.get_by_role("button", name="Save as file").click()
    expect(page.get_by_text("Saved in hierarchies/")).to_be_visible()
    saved = people[1].parent / "hierarchies" / "city.csv"
    assert "Rome;Europe;*\n" in saved.read_text()
    page.get_by_role("button", name="Choose Europe").click()
    page.get_by_role("button", name="Take the group apart").click()
    expect(rows(page).filter(has_text="Europe")).to_have_count(0)
    page.get_by_role("button", name="Save as file").click()
    expect(page.get_by_text("tick Replace")).to_be_visible()
    page.get_by_role("checkbox", name="Replace").press("Space")
    page.get_by_role("button", name="Save as file").press("Enter")
    expect(page.get_by_role("button", name="Undo: city: saved as file")).to_be_enabled()
    assert "Rome;Rome;*\n" in saved.read_text()
    pick(page, "Level to remove", "level 1")
    require_able(page, "Remove the level")
    page.get_by_role("button", name="Remove the level").click()
    expect(about(page)).to_contain_text("levels 0 to 1")
    page.get_by_role("button", name="Add a level").click()
    expect(about(page)).to_contain_text("levels 0 to 2")
    require_nothing_lies_askew(page)
    page.set_viewport_size({"width": 390, "height": 844})
    require_nothing_lies_askew(page)


def test_no_label_is_shown_where_none_may_be(unlabelled):
    page = unlabelled
    visit(page, "Hierarchies")
    expect(about(page)).to_contain_text("12 values in 12 records")
    expect(page.get_by_text("the page shows no labels")).to_be_visible()
    choose(page, "city")
    expect(about(page)).to_contain_text("2 values in 12 records")
    page.get_by_role("button", name="Propose one").click()
    expect(page.get_by_role("button", name="Undo: city: the proposed hierarchy")).to_be_enabled()
    settled(page)
    words = page.locator("body").inner_text()
    assert "Rome" not in words
    assert "[20" not in words
