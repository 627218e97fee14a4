"""The view of cut points, by mouse and by keyboard alone."""

import re

import pytest
from explorer.driving import answered, place_of, visit
from playwright.sync_api import Locator, Page, expect

BEST_OF_ALL = 32, 40
"""Cuts of A1* of age."""


@pytest.fixture
def page(small):
    visit(small, "Cut points")
    return small


def cuts(page: Page) -> Locator:
    return page.get_by_role("slider", name="Cut")


def require_cuts(page: Page, *numbers: float) -> None:
    expect(cuts(page)).to_have_count(len(numbers))
    for place, number in enumerate(numbers):
        expect(cuts(page).nth(place)).to_have_attribute("aria-valuenow", str(number))


def require_step(page: Page, words: str) -> None:
    expect(page.get_by_role("button", name=re.compile(f"^Undo: {words}"))).to_be_visible()
    answered(page)


def start_from(page: Page, words: str) -> None:
    page.get_by_role("combobox", name="Start from").click()
    page.get_by_role("option", name=words, exact=True).click()


def test_cuts_are_moved_by_mouse(page):
    require_cuts(page, *BEST_OF_ALL)
    start_from(page, "Level 1 of its hierarchy: 3 ranges")
    require_cuts(page, 30, 40)
    require_step(page, "age in 3 ranges")

    box = place_of(cuts(page).first)
    x, y = box["x"] + box["width"] / 2, box["y"] + 8
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 100, y, steps=4)
    row = page.get_by_role("row", name=re.compile("^below 3[1-9]"))
    expect(row).to_be_visible()  # while the hand still has it
    expect(page.get_by_role("button", name=re.compile("^Undo: age in 3"))).to_be_visible()
    page.mouse.up()
    require_step(page, "cut of age at 30 moved to 3[1-9]")

    page.get_by_role("spinbutton", name="Cut at").fill("40")
    page.get_by_role("button", name="Remove this cut").click()
    require_step(page, "cut of age at 40 removed")
    ground = place_of(page.locator(".ruler-ground"))
    page.mouse.click(ground["x"] + ground["width"] * 0.6, ground["y"] + 60)
    require_step(page, "cut of age at 34 added")
    expect(cuts(page).nth(1)).to_be_focused()

    page.get_by_role("button", name="Best of all").click()
    require_step(page, "best ranges of age")
    require_cuts(page, *BEST_OF_ALL)
    expect(page.get_by_text("Proven: within")).to_be_visible()


def test_cuts_are_moved_by_keys_alone(page):
    page.get_by_role("combobox", name="Start from").focus()
    page.keyboard.press("ArrowDown")
    wanted = "2 ranges of about as many records"
    page.get_by_role("option", name=wanted, exact=True).wait_for()
    for _ in range(page.get_by_role("option").all_inner_texts().index(wanted) + 1):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    require_step(page, "age in 2 ranges")
    require_cuts(page, 32.5)
    page.get_by_role("spinbutton", name="Cut at").focus()
    page.keyboard.type("43")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    require_step(page, "cut of age at 43 added")
    last = cuts(page).last
    last.focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowRight")
    expect(last).to_have_attribute("aria-valuenow", "34")
    require_step(page, "cut of age at 43 moved to 34")
    expect(last).to_be_focused()
    before = cuts(page).count()
    page.keyboard.press("Delete")
    require_step(page, "cut of age at 34 removed")
    expect(cuts(page)).to_have_count(before - 1)
    expect(cuts(page).last).to_be_focused()
    page.keyboard.press("Control+z")
    expect(cuts(page)).to_have_count(before)


def test_the_best_from_here_keeps_the_held_cut(page):
    start_from(page, "Level 2 of its hierarchy: 2 ranges")
    require_cuts(page, 40)
    require_step(page, "age in 2 ranges")
    page.get_by_role("switch", name="Hold the other attributes").press("Space")
    best = page.get_by_role("button", name="Best from here")
    for able in (expect(best).to_be_disabled, expect(best).to_be_enabled):
        page.get_by_role("combobox", name="Cuts to hold").click()
        page.get_by_role("option", name="40", exact=True).click()
        page.keyboard.press("Escape")
        able()
    best.press("Enter")
    require_step(page, "best ranges of age with 1 cut held")
    require_cuts(page, *BEST_OF_ALL)
    expect(page.get_by_text("Proven: within")).to_be_visible()
    expect(page.locator(".q-chip")).to_have_count(1)  # it is held, and those found are not


def test_no_value_is_shown_where_labels_are_hidden(unlabelled):
    page = unlabelled
    visit(page, "Cut points")
    start_from(page, "2 ranges of about as many records")
    require_step(page, "age in 2 ranges")
    require_cuts(page, 6)
    cuts(page).first.press("ArrowLeft")
    require_step(page, "a? ?cut of age moved")
    text = page.locator(".main").inner_text()
    assert not re.search(r"flu|cold|asthma|(?<![.\d])(2[1-4]|3[1-4]|4[1-4])(?![.\d])", text)
    expect(page.get_by_role("row", name=re.compile("^range 1"))).to_be_visible()
