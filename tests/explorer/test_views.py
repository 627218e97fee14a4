"""Views for everybody: axe finds nothing serious and nothing sticks out, in any width and theme."""

from explorer.driving import VIEWS, require_nothing_lies_askew, require_seen_well, visit


def test_every_view_is_seen_well(page):
    """In both widths and themes by turns; the pictures in the docs are drawn in all four.

    Frontier, of which a large table has points for seconds, is looked at with a small one.
    """
    ways = [(1440, "dark"), (390, "light"), (1440, "light"), (390, "dark")]
    titles = [title for title in VIEWS if title != "Frontier"]
    for title, (width, theme) in zip(titles, ways + ways[2:] + ways[:1], strict=True):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 900})
        visit(page, title)
        page.wait_for_selector(f"body.body--{theme}")
        require_seen_well(page)
        page.set_viewport_size({"width": 1830 - width, "height": 900})
        require_nothing_lies_askew(page)


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
