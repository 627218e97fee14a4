"""The view of attacks in a browser: what is known is chosen, by mouse and by keyboard alone."""

import re

import pandas as pd
import pytest
from explorer.conftest import small_study
from explorer.driving import (
    Lent,
    explored,
    require_nothing_lies_askew,
    settled,
    visit,
)
from playwright.sync_api import Page, expect


@pytest.fixture(scope="module")
def fixed(browser, tmp_path_factory):
    """A small study at levels that a steward chose."""
    directory = tmp_path_factory.mktemp("attacked")
    path = small_study(directory)
    levels = 'method = "fixed"\nlevels = { age = 3, city = 0 }'
    text = path.read_text().replace('method = "full-domain"', levels)
    path.write_text(text.replace('["diagnosis"]', '["diagnosis", "ward"]'))
    table = pd.read_csv(directory / "people.csv")
    table["ward"] = ["A", "A", "B"] * 4
    table.to_csv(directory / "people.csv", index=False)
    with explored(path) as served, Lent(browser, served.link) as found:
        yield found, table


@pytest.fixture
def attacked(fixed, request):
    """A page of it, and its table."""
    with fixed[0].to(request) as found:
        visit(found, "Attack")
        settled(found)
        yield found, fixed[1]


def cells(page: Page, measure: str) -> list[str]:
    """What the table has of a measure: of the raw table, of that chosen, and of the best."""
    row = page.get_by_role("table").first.get_by_role("row").filter(has_text=measure).first
    return row.get_by_role("cell").all_inner_texts()[1:-1]


def test_raw_chosen_and_best_are_side_by_side(attacked):
    page, table = attacked
    learnt = page.get_by_role("table").first
    expect(learnt.get_by_role("columnheader")).to_have_text(
        ["Measure", "Raw table", "As chosen", "Best levels", "Meaning"]
    )
    right = table.groupby("city")["diagnosis"].agg(lambda of: of.value_counts().max()).sum()
    raw, chosen, best = cells(page, "Guessed right on average")
    assert (raw, chosen) == ("100%", f"{100 * right / 12:.4g}%")
    assert best.endswith("%")
    smallest = table.groupby("city").size().min()
    assert cells(page, "Highest re-identification risk")[:2] == [
        "100%",
        f"{100 / smallest:.4g}%",
    ]
    assert cells(page, "Records found for sure")[0] == "12 (100%)"
    expect(page.get_by_text("Best levels: the same policy")).to_be_visible()
    picture = page.get_by_role("img", name=re.compile("Best levels: Surest guess"))
    expect(picture).to_be_visible()
    require_nothing_lies_askew(page)
    page.set_viewport_size({"width": 390, "height": 844})
    require_nothing_lies_askew(page)


def test_what_the_attacker_knows_is_chosen(attacked):
    page, table = attacked
    age = page.get_by_role("checkbox", name="age")
    age.focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("Who knows city finds a person's record")).to_be_visible()
    expect(age).to_be_focused()
    settled(page)
    right = table.groupby("city")["diagnosis"].agg(lambda of: of.value_counts().max()).sum()
    assert cells(page, "Guessed right on average")[0] == f"{100 * right / 12:.4g}%"
    page.get_by_role("checkbox", name="city").click()
    expect(page.get_by_text("Who knows nothing of a person")).to_be_visible()
    settled(page)
    common = table["diagnosis"].value_counts(normalize=True).max()
    assert {*cells(page, "Guessed right on average")} == {f"{100 * common:.4g}%"}
    expect(page.get_by_role("checkbox", name="that the person is in the table")).to_be_disabled()
    guessed = page.get_by_role("combobox", name="What is guessed")
    guessed.click()
    page.get_by_role("option", name="ward").click()
    expect(page.get_by_text("nobody's “ward” is guessed with more than 66.67%")).to_be_visible()
    guessed.focus()
    for key in ("Enter", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("nobody's “diagnosis” is guessed")).to_be_visible()
    expect(guessed).to_be_focused()


def test_attributes_are_ranked_by_what_they_tell(small):
    """Each age is one person's; in Rome 3 of 7 have the flu, in Oslo 2 of 5."""
    page = small
    visit(page, "Attack")
    ranked = page.get_by_role("table").last
    expect(ranked.get_by_role("row").nth(1)).to_contain_text("age")
    expect(ranked.get_by_role("row").nth(1)).to_contain_text("100%")
    expect(ranked.get_by_role("row").nth(2)).to_contain_text("city")
    expect(ranked.get_by_role("row").nth(2)).to_contain_text("41.67%")
    expect(page.get_by_text("variable-range) is the best of its kind already")).to_be_visible()
