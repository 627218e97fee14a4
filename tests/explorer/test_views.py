"""Views for everybody: axe finds nothing serious and nothing sticks out, in any width and theme."""

import pytest
from explorer.driving import VIEWS, opened, require_seen_well, visit


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_view_is_seen_well(browser, demonstration, theme):
    with opened(browser, demonstration.link, theme=theme) as page:
        for title in VIEWS:
            page.set_viewport_size({"width": 1440, "height": 900})
            visit(page, title)
            require_seen_well(page)
            page.set_viewport_size({"width": 390, "height": 844})
            require_seen_well(page)


def test_the_theme_is_chosen_and_remembered(page):
    body = page.locator("body")
    button = page.get_by_role("button", name="Theme: as the system")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Theme: light").click()
    page.wait_for_selector("body.body--dark")
    page.reload()
    page.wait_for_selector("body.body--dark")
    page.get_by_role("button", name="Theme: dark").click()
    page.get_by_role("button", name="Theme: as the system").wait_for()
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("body.body--dark")
    page.emulate_media(color_scheme="light")
    page.wait_for_selector("body.body--light")
    assert "body--dark" not in body.get_attribute("class")
