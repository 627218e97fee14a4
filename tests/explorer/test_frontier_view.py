"""The view Frontier: points appear, and are taken by mouse, by keyboard and in the chart."""

import re

from explorer.driving import answered, click_at, figures, place_of, seeing, visit
from playwright.sync_api import expect

SECONDS = 60_000
CUT = re.compile(r"\bcut from")
ABOUT_L = re.compile(r"against l: .*variable-range from")


def table(page):
    return page.get_by_role("table")


def chart(page):
    return page.locator(".nicegui-echart")


def computed(page):
    """Wait until every point has its held-out one."""
    row = page.get_by_role("row").filter(has_text="t = 0.05")
    expect(row).to_contain_text("bits", timeout=SECONDS)
    expect(row.get_by_role("cell").nth(3)).not_to_have_text("-", timeout=SECONDS)


def now(page):
    return page.get_by_role("row").filter(has=page.get_by_role("cell", name="now", exact=False))


def test_points_are_taken_by_mouse_keyboard_and_in_the_chart(page):
    visit(page, "Frontier")
    computed(page)
    expect(now(page)).to_contain_text("t = 0.55")
    kept = figures(page)["Information kept"]
    assert kept == "0.2454 bits (39.28%)"
    expect(now(page)).to_contain_text("0.2454 bits")

    page.get_by_role("button", name="Take t = 0.3").click()
    expect(now(page)).to_contain_text("t = 0.3")
    answered(page)
    assert figures(page)["Information kept"] == "0.2292 bits (36.7%)"
    page.get_by_role("button", name="Undo: t = 0.3").click()
    expect(now(page)).to_contain_text("t = 0.55")

    button = page.get_by_role("button", name="Take t = 0.25")
    button.focus()
    page.keyboard.press("Enter")
    expect(now(page)).to_contain_text("t = 0.25")
    answered(page)
    assert figures(page)["Information kept"] == "0.2054 bits (32.88%)"
    expect(button).to_be_focused()
    page.keyboard.press("Control+z")
    expect(now(page)).to_contain_text("t = 0.55")

    answered(page)
    chart(page).evaluate("each => each.scrollIntoView({block: 'start'})")
    word = place_of(chart(page).locator("text", has_text="suggested"))
    click_at(page, word["x"] + word["width"] / 2, word["y"] - 16)
    expect(now(page)).to_contain_text("t = 0.2")
    expect(now(page)).to_contain_text("suggested")
    page.get_by_role("button", name="Undo: t = 0.2").click()

    button = page.get_by_role("button", name="Take the suggested point")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Undo: t = 0.2")).to_be_enabled()
    page.keyboard.press("Control+z")
    expect(now(page)).to_contain_text("t = 0.55")


OFFERED = """(() => {
  const words = 'Take the suggested point';
  const button = [...document.querySelectorAll('button')].find(each => each.innerText === words);
  const chart = document.querySelector('.nicegui-echart')?.getAttribute('aria-label');
  return button && [chart?.match(/against (.):/)?.[1] ?? '', !button.disabled];
})()"""
"""Of what there is a chart, and whether its suggested point can be taken."""


def test_a_point_is_taken_once_it_is_suggested(page):
    suggestion = page.get_by_role("button", name="Take the suggested point")
    visit(page, "Policy")
    with seeing(page, OFFERED) as seen:
        visit(page, "Frontier")
        expect(suggestion).to_be_enabled(timeout=SECONDS)
        page.get_by_role("combobox", name="Limit").focus()
        for key in ("Enter", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        expect(chart(page)).to_have_attribute("aria-label", ABOUT_L, timeout=SECONDS)
        expect(suggestion).to_be_enabled(timeout=SECONDS)
    states = [tuple(each) for each in seen if each is not None]
    assert states[0] == ("", False)
    assert [each for each in states if each[1]] == [("t", True), ("l", True)]
    assert states[states.index(("t", True)) + 1] == ("t", False)


def test_a_point_of_another_limit_is_not_taken(page):
    """Whoever presses a button of a row before the rows of the limit that was chosen are there."""
    visit(page, "Frontier")
    page.get_by_role("button", name="Take t = 0.3").wait_for()
    page.evaluate(PRESSING)
    page.get_by_role("combobox", name="Limit").click()
    page.get_by_role("option", name="l: ").click()
    expect(chart(page)).to_have_attribute("aria-label", ABOUT_L, timeout=SECONDS)
    assert page.evaluate("pressed") == 1
    answered(page)
    expect(page.get_by_role("button", name="Undo: nothing")).to_be_disabled()


PRESSING = """() => {
  const named = name => document.querySelector(`button[aria-label="${name}"]`);
  const suggestion = [...document.querySelectorAll('button.primary')]
    .find(each => each.innerText === 'Take the suggested point');
  window.pressed = 0;
  new MutationObserver((_, changes) => {
    if (!suggestion.disabled) return;
    changes.disconnect();
    named('Take t = 0.3').click();
    window.pressed += 1;
  }).observe(suggestion, {attributes: true});
}"""
"""Presses a button of a row at the moment at which nothing is suggested any more."""


def test_series_and_limits_are_chosen_by_keyboard_and_by_mouse(page):
    visit(page, "Frontier")
    computed(page)
    page.get_by_role("checkbox", name="cut").focus()
    page.keyboard.press("Space")
    expect(chart(page)).to_have_attribute("aria-label", CUT, timeout=SECONDS)
    page.get_by_role("checkbox", name="cut").click()
    expect(chart(page)).not_to_have_attribute("aria-label", CUT)

    page.get_by_role("checkbox", name="Held-out information").click()
    expect(page.get_by_role("row").nth(1).get_by_role("cell").nth(3)).to_have_text("-")
    page.get_by_role("checkbox", name="Held-out information").focus()
    page.keyboard.press("Space")
    computed(page)

    page.get_by_role("combobox", name="Recoding").click()
    page.get_by_role("option", name="full-domain").click()
    row = page.get_by_role("row").filter(has_text="t = 0.55")
    expect(row).to_contain_text("0.1055 bits")  # that of the other recoding is gone
    row.get_by_role("button", name="Take t = 0.55").click()
    undo = page.get_by_role("button", name="Undo: t = 0.55, full-domain")
    expect(undo).to_be_enabled()
    answered(page)
    assert figures(page)["Information kept"] == "0.1055 bits (16.89%)"
    undo.click()

    page.get_by_role("combobox", name="Limit").focus()
    for key in ("Enter", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(chart(page)).to_have_attribute("aria-label", ABOUT_L, timeout=SECONDS)
    expect(page.get_by_role("cell", name="l = 2.7", exact=True)).to_be_visible()
