"""The view Frontier: points appear, and are taken by mouse, by keyboard and in the chart."""

import os
import re
from functools import partial

from explorer.conftest import three_models
from explorer.driving import (
    SECONDS,
    answered,
    click_at,
    explored,
    figures,
    opened,
    place_of,
    require_nothing_lies_askew,
    require_seen_well,
    seeing,
    visit,
)
from explorer.forking import Forked
from playwright.sync_api import expect

CUT = re.compile(r"\bcut from")
ABOUT_L = re.compile(r"against l: .*variable-range from")


def table(page):
    return page.get_by_role("table")


def chart(page):
    return page.locator(".nicegui-echart")


def computed(page):
    """Wait until every point has its held-out one."""
    row = page.get_by_role("row").filter(has_text="t = 0.025")
    expect(row).to_contain_text("bits", timeout=SECONDS)
    expect(row.get_by_role("cell").nth(3)).not_to_have_text("-", timeout=SECONDS)


def now(page):
    return page.get_by_role("row").filter(has=page.get_by_role("cell", name="now", exact=False))


def test_points_are_taken_by_mouse_keyboard_and_in_the_chart(small):
    """In a class are 5, 3 and 4 people where age is cut at 32 and 40, or 4, 4 and 4 by tens."""
    page = small
    visit(page, "Frontier")
    computed(page)
    expect(now(page)).to_contain_text("t = 0.9")
    kept = figures(page)["Information kept"]
    assert kept == "0.2538 bits (16.32%)"
    expect(now(page)).to_contain_text("0.2538 bits")

    page.get_by_role("button", name="Take t = 0.4").click()
    expect(now(page)).to_contain_text("t = 0.4")
    answered(page)
    assert figures(page)["Information kept"] == "0.1175 bits (7.558%)"

    button = page.get_by_role("button", name="Take t = 0.15")
    button.focus()
    page.keyboard.press("Enter")
    expect(now(page)).to_contain_text("t = 0.15")
    answered(page)
    assert figures(page)["Information kept"] == "0.08712 bits (5.604%)"
    expect(button).to_be_focused()
    page.keyboard.press("Control+z")
    expect(now(page)).to_contain_text("t = 0.4")

    answered(page)
    chart(page).evaluate("each => each.scrollIntoView({block: 'start'})")
    word = place_of(chart(page).locator("text", has_text="suggested"))
    click_at(page, word["x"] + word["width"] / 2, word["y"] - 16)
    expect(now(page)).to_contain_text("t = 0.5")
    expect(now(page)).to_contain_text("suggested")
    page.get_by_role("button", name="Undo: t = 0.5").click()
    expect(now(page)).to_contain_text("t = 0.4")

    button = page.get_by_role("button", name="Take the suggested point")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Undo: t = 0.5")).to_be_enabled()
    answered(page)
    assert figures(page)["Information kept"] == "0.2213 bits (14.23%)"
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("body.body--dark")
    require_seen_well(page)
    page.set_viewport_size({"width": 390, "height": 844})
    require_nothing_lies_askew(page)


OFFERED = """(() => {
  const words = 'Take the suggested point';
  const button = [...document.querySelectorAll('button')].find(each => each.innerText === words);
  const chart = document.querySelector('.nicegui-echart')?.getAttribute('aria-label');
  return button && [chart?.match(/against (.):/)?.[1] ?? '', !button.disabled];
})()"""
"""Of what there is a chart, and whether its suggested point can be taken."""


HELD = """
from functools import cached_property
from pathlib import Path
from anonymizer.explorer.answers.frontier import GrowingFrontier

compute = GrowingFrontier.original.func

def held(frontier):
    Path({gate!r}).read_text()
    return compute(frontier)

GrowingFrontier.original = cached_property(held)
GrowingFrontier.original.__set_name__(GrowingFrontier, "original")
"""
"""Code of a server in which the points of each limit wait until a pipe is written."""


def test_no_point_is_taken_before_it_is_of_the_limit_that_was_chosen(browser, tmp_path):
    """Neither one that is suggested, nor one of a row that is there still."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    start = partial(Forked, first=HELD.format(gate=str(gate)))
    path = three_models(tmp_path)
    with explored(path, start=start) as served, opened(browser, served.link) as page:
        suggestion = page.get_by_role("button", name="Take the suggested point")
        with seeing(page, OFFERED) as seen:
            visit(page, "Frontier")
            expect(suggestion).to_be_disabled()
            gate.write_text("")
            expect(suggestion).to_be_enabled(timeout=SECONDS)
            page.get_by_role("combobox", name="Limit").focus()
            for key in ("Enter", "ArrowDown", "Enter"):
                page.keyboard.press(key)
            expect(suggestion).to_be_disabled()
            page.get_by_role("button", name="Take t = 0.4").click()
            expect(page.get_by_text("These points are of another limit")).to_be_visible()
            gate.write_text("")
            expect(chart(page)).to_have_attribute("aria-label", ABOUT_L, timeout=SECONDS)
            expect(suggestion).to_be_enabled(timeout=SECONDS)
        expect(page.get_by_role("cell", name="l = 1.5", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Undo: nothing")).to_be_disabled()
    states = [tuple(each) for each in seen if each is not None]
    assert states[0] == ("", False)
    assert [each for each in states if each[1]] == [("t", True), ("l", True)]
    assert states[states.index(("t", True)) + 1] == ("t", False)


def test_series_are_chosen_by_keyboard_and_by_mouse(small):
    page = small
    visit(page, "Frontier")
    computed(page)
    cut = page.get_by_role("checkbox", name="cut")
    cut.focus()
    page.keyboard.press("Space")
    expect(chart(page)).to_have_attribute("aria-label", CUT, timeout=SECONDS)
    cut.click()
    expect(chart(page)).not_to_have_attribute("aria-label", CUT)

    page.get_by_role("checkbox", name="Held-out information").click()
    expect(page.get_by_role("row").nth(1).get_by_role("cell").nth(3)).to_have_text("-")
    page.get_by_role("checkbox", name="Held-out information").focus()
    page.keyboard.press("Space")
    computed(page)

    page.get_by_role("combobox", name="Recoding").click()
    page.get_by_role("option", name="full-domain").click()
    row = page.get_by_role("row").filter(has_text="t = 0.9")
    expect(row).to_contain_text("0.2213 bits")  # that of the other recoding is gone
    row.get_by_role("button", name="Take t = 0.9").click()
    undo = page.get_by_role("button", name="Undo: t = 0.9, full-domain")
    expect(undo).to_be_enabled()
    answered(page)
    assert figures(page)["Information kept"] == "0.2213 bits (14.23%)"
