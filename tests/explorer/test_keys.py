"""The page by keys alone, wherever the focus is."""

import re

from explorer.driving import answered, figures, require_seen_well, visit
from playwright.sync_api import expect


def test_steps_are_undone_and_views_opened_from_wherever_the_focus_is(small):
    page = small
    page.keyboard.press("Control+Alt+1")
    expect(page).to_have_url(re.compile("/[a-z-]+$"))
    expect(page.locator("h1")).to_be_focused()
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Policy").press("Enter")
    before = figures(page)
    slider = page.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowLeft")
    undo = page.get_by_role("button", name=re.compile("^Undo: ."))
    expect(undo).to_be_enabled()
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="Undo: nothing")).to_be_disabled()
    answered(page)
    assert figures(page) == before
    expect(slider).to_be_focused()
    page.keyboard.press("Control+Shift+z")
    expect(undo).to_be_enabled()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+y")
    expect(undo).to_be_enabled()
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="Undo: nothing")).to_be_disabled()


def test_what_is_typed_is_undone_by_the_field(small):
    page = small
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Policy").click()
    field = page.get_by_role("spinbutton").first
    field.fill("0.5")
    field.press("Control+z")
    expect(page.get_by_role("button", name="Undo: nothing")).to_be_disabled()


def test_the_link_at_the_top_leads_to_the_view_and_the_title_names_it(small):
    page = small
    page.reload()
    answered(page)
    page.keyboard.press("Tab")
    link = page.get_by_role("link", name="Skip to the view")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    link.press("Enter")
    expect(page.locator("h1")).to_be_focused()
    for key, title in (("1", "Table"), ("3", "Policy")):  # from another view, whatever was open
        page.keyboard.press(f"Control+Alt+{key}")
        expect(page).to_have_title(re.compile(f"^{title} · "))
    expect(page.locator("h1")).to_be_focused()
    page.get_by_role("button", name="Next: Frontier").click()
    expect(page).to_have_title(re.compile("^Frontier · "))
    expect(page.locator("h1")).to_be_focused()
    page.get_by_role("button", name="Back: Policy").click()
    expect(page).to_have_title(re.compile("^Policy · "))


def test_the_focus_comes_back_to_a_button_that_was_disabled_for_a_while(small):
    page = small
    visit(page, "Cut points")
    button = page.get_by_role("button", name="Best of all")
    button.focus()
    button.evaluate("each => { each.disabled = true; }")
    expect(page.locator("body")).to_be_focused()
    button.evaluate("each => { each.disabled = false; }")
    expect(button).to_be_focused()


def test_the_focus_is_seen_and_stays_where_a_role_is_chosen(page):
    """Of the demonstration, whose roles are not all as proposed."""
    page.keyboard.press("Control+Alt+1")
    expect(page.locator("h1")).to_be_focused()
    button = page.get_by_role("button", name="Take the proposed roles")
    expect(button).to_be_enabled()  # what is not there yet is passed over
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    expect(button).to_have_css("outline", re.compile("solid 3px"))
    role = page.get_by_role("combobox", name="Role of race")
    before = role.input_value()
    role.press("Enter")
    expect(page.get_by_role("listbox")).to_be_visible()
    require_seen_well(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(role).to_be_focused()
    role.press("Enter")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(role).not_to_have_value(before)
    expect(role).to_be_focused()
    page.keyboard.press("Control+z")
    expect(role).to_have_value(before)
    expect(role).to_be_focused()
