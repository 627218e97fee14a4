"""The table in the browser: roles chosen, typed and dragged; gaps; what must not crash."""

import tomllib

import pytest
from explorer.conftest import small_study
from explorer.driving import (
    answered,
    drag,
    explored,
    opened,
    require_nothing_lies_askew,
    visit,
)
from playwright.sync_api import expect

from anonymizer.explorer.session.session import folder_of


@pytest.fixture
def page(small):
    visit(small, "Table")
    return small


def content_of(path):
    """The study as the log has it now."""
    import json

    steps, place = [], 0
    for line in (folder_of(path) / "log.jsonl").read_text().splitlines():
        step = json.loads(line)
        if step["did"] in ("undo", "redo"):
            place += 1 if step["did"] == "redo" else -1
        else:
            steps = [*steps[: place + 1], step["study"]]
            place = len(steps) - 1
    return tomllib.loads(steps[place])


def area(page, title):
    return page.get_by_role("region", name=title, exact=True)


def test_a_role_is_chosen_by_mouse_by_keys_and_dragged(page, people):
    expect(page.get_by_text("12 records, 3 columns.")).to_be_visible()
    role = page.get_by_label("Role of city", exact=True)
    role.click()
    page.get_by_role("option", name="identifier", exact=True).click()
    expect(area(page, "Identifiers").get_by_text("city")).to_be_visible()
    expect(page.get_by_text("12 combinations of values; 100% of the records")).to_be_visible()
    role.focus()
    page.keyboard.press("Enter")
    page.get_by_role("option", name="quasi-identifier", exact=True).wait_for()
    for _ in range(6):
        chosen = page.locator(".q-item.q-manual-focusable--focused")
        if chosen.count() and chosen.inner_text() == "quasi-identifier":
            break
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(area(page, "Quasi-identifiers").get_by_text("city")).to_be_visible()
    expect(role).to_be_focused()
    drag(area(page, "Quasi-identifiers").get_by_text("city"), area(page, "Insensitive"))
    expect(area(page, "Insensitive").get_by_text("city")).to_be_visible()
    expect(page.get_by_text("Released as they are: city.")).to_be_visible()
    assert [*content_of(people[1])["quasi-identifiers"]] == ["age"]
    page.get_by_role("button", name="Undo: city: insensitive").click()
    expect(area(page, "Quasi-identifiers").get_by_text("city")).to_be_visible()


def test_no_role_leads_to_a_crash(page):
    page.get_by_label("Role of city", exact=True).click()
    page.get_by_role("option", name="sensitive", exact=True).click()
    expect(area(page, "Sensitive").get_by_text("city")).to_be_visible()
    drag(area(page, "Quasi-identifiers").get_by_text("age"), area(page, "Identifiers"))
    expect(page.get_by_text("is the last quasi-identifier")).to_be_visible()
    expect(area(page, "Quasi-identifiers").get_by_text("age")).to_be_visible()
    page.get_by_role("button", name="Take the proposed roles").press("Enter")
    expect(area(page, "Sensitive").get_by_text("city")).not_to_be_visible()
    answered(page)
    require_nothing_lies_askew(page)
    page.set_viewport_size({"width": 390, "height": 844})
    require_nothing_lies_askew(page)


def test_gaps_and_values_that_lack_are_mended(browser, tmp_path):
    path = small_study(tmp_path)
    table = tmp_path / "people.csv"
    table.write_text(table.read_text().replace("21,Rome", "21,?").replace("31,Oslo", "31,"))
    (tmp_path / "city.csv").write_text("Rome;*\nParis;*\n")
    path.write_text(path.read_text().replace('"suppress"', '"city.csv"'))
    with explored(path) as found, opened(browser, found.link) as page:
        visit(page, "Table")
        expect(page.get_by_text("city (1 records)")).to_be_visible()
        expect(page.locator(".verdict")).to_contain_text("✗")
        page.get_by_role("button", name="Take them for missing").click()
        expect(page.get_by_text("city (2 records)")).to_be_visible()
        page.get_by_label("Records that miss a value").click()
        page.get_by_role("option", name="Leave out").click()
        expect(page.get_by_role("button", name="Undo: missing values: drop")).to_be_enabled()
        visit(page, "Hierarchies")
        page.get_by_label("Quasi-identifier", exact=True).click()
        page.get_by_role("option", name="city", exact=True).click()
        expect(page.get_by_text("lacks 1 value of the table")).to_be_visible()
        page.get_by_role("button", name="Add the values that it lacks").click()
        expect(page.locator(".verdict")).to_contain_text("✓")
        assert content_of(path)["data"]["missing-values"] == ["?"]
        assert content_of(path)["data"]["missing"] == "drop"
