"""The view Lattice: nodes and levels are taken by mouse, by keyboard and in the picture."""

import re

import pytest
from explorer.driving import answered, click_at, figures, place_of, visit
from playwright.sync_api import expect


@pytest.fixture
def page(small):
    visit(small, "Lattice")
    return small


def test_nodes_are_taken_and_left_again(page):
    picture = page.locator(".nicegui-echart")
    expect(picture).to_have_attribute("aria-label", re.compile(r"The optimum is 1·1\.$"))
    expect(page.get_by_text("variable-range, is not one of levels")).to_be_visible()
    expect(page.get_by_text("no other node keeps more information.")).to_be_visible()
    page.get_by_role("button", name="Take age 3, city 0").click()
    expect(picture).to_have_attribute("aria-label", re.compile(r"Chosen is 3·0\.$"))
    answered(page)
    assert figures(page)["Information kept"] == "0.07531 bits (4.844%)"

    back = page.get_by_role("button", name="Back to the optimum", exact=True)
    back.focus()
    page.keyboard.press("Enter")
    expect(picture).to_have_attribute("aria-label", re.compile(r"Chosen is 1·1\.$"))
    answered(page)
    assert figures(page)["Information kept"] == "0.2213 bits (14.23%)"
    expect(back).to_be_focused()

    picture.evaluate("each => each.scrollIntoView({block: 'start'})")
    word = place_of(picture.locator("text", has_text=re.compile(r"^2·1$")))
    click_at(page, word["x"] + word["width"] / 2, word["y"] - 8)
    expect(picture).to_have_attribute("aria-label", re.compile(r"Chosen is 2·1\.$"))
    page.get_by_role("button", name="Undo: levels 2·1").click()
    expect(picture).to_have_attribute("aria-label", re.compile(r"Chosen is 1·1\.$"))


def test_levels_are_moved_one_by_one(page):
    picture = page.locator(".nicegui-echart")
    slider = page.get_by_role("slider", name="age: level")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(picture).to_have_attribute("aria-label", re.compile(r"Chosen is 0·1\.$"))
    expect(page.locator(".verdict")).to_contain_text("levels given do not satisfy")
    expect(
        page.get_by_text("Classes that break the policy: k-anonymity in 12 of 12")
    ).to_be_visible()
    expect(page.get_by_text("Level 1: one group")).to_be_visible()
    expect(slider).to_be_focused()
    field = page.get_by_role("spinbutton", name="age: level")
    field.fill("3")
    page.keyboard.press("Enter")
    expect(picture).to_have_attribute("aria-label", re.compile(r"Chosen is 3·1\.$"))
    answered(page)
    expect(page.locator(".verdict")).to_contain_text("holds")
    box = place_of(page.get_by_role("slider", name="city: level"))
    page.mouse.click(box["x"] + 4, box["y"] + box["height"] / 2)
    expect(picture).to_have_attribute("aria-label", re.compile(r"Chosen is 3·0\.$"))
    expect(page.get_by_role("button", name="Undo: city at level 0")).to_be_enabled()
