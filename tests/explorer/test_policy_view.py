"""The view of the policy in a browser: every control by mouse and by keyboard alone."""

import re

import pytest
from explorer.conftest import small_study
from explorer.driving import (
    Lent,
    answered,
    explored,
    figures,
    place_of,
    require_seen_well,
    seeing,
    visit,
)
from playwright.sync_api import Page, expect


@pytest.fixture
def page(small):
    visit(small, "Policy")
    return small


def card(page: Page, model: str):
    return page.get_by_role("region", name=model, exact=True)


def chosen(page: Page, select, option: str) -> None:
    """Choose from a select by the mouse."""
    select.click()
    page.get_by_role("option", name=option, exact=True).click()


def chosen_by_keys(page: Page, select, option: str) -> None:
    """The same by keys: the options are gone through until the one that is meant is lit."""
    select.focus()
    page.keyboard.press("Enter")
    options = page.get_by_role("option")
    options.first.wait_for()
    names = options.all_inner_texts()
    page.keyboard.press("Home")
    for _ in range(names.index(option)):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def undone(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Undo: ")).click()


def test_a_card_says_what_it_means_and_follows_its_slider(page):
    closeness = card(page, "t-closeness")
    expect(closeness).to_contain_text("learns more than 0.9 bits about “diagnosis”")
    expect(closeness).to_contain_text("✓ All 3 classes satisfy it.")
    expect(closeness).to_contain_text("gives 0.5594 bits. Allowed is at most 0.9 bits.")
    expect(closeness).to_contain_text("Worst now: age [32, 40), city *")
    expect(closeness).to_contain_text("Nobody's “diagnosis” can be guessed from a class with")
    slider, field = closeness.get_by_role("slider"), closeness.get_by_role("spinbutton")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(closeness).to_contain_text("more than 0.91 bits")
    expect(field).to_have_value("0.91")
    expect(slider).to_be_focused()
    box = place_of(slider)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(field).not_to_have_value("0.91")
    field.fill("0.4")
    field.press("Enter")
    expect(closeness).to_contain_text("more than 0.4 bits")
    answered(page)
    expect(closeness).to_contain_text("Allowed is at most 0.4 bits.")
    for _ in range(3):
        undone(page)
    expect(closeness).to_contain_text("learns more than 0.9 bits")
    page.get_by_role("button", name=re.compile("^Undo: nothing")).wait_for()


def test_models_are_added_and_removed(page):
    model = page.get_by_role("combobox", name="Model")
    chosen_by_keys(page, model, "alpha-k-anonymity")
    expect(page.get_by_text("In no class do more than 80% of the records")).to_be_visible()
    page.get_by_role("button", name="Add", exact=True).press("Enter")
    added = card(page, "alpha-k-anonymity")
    expect(added).to_contain_text("✓ All 2 classes satisfy it.")
    size = added.get_by_role("spinbutton", name="k", exact=True)
    size.fill("4")
    size.press("Enter")
    expect(added).to_contain_text("every class has at least 4 records")
    answered(page)
    added.get_by_role("button", name="Remove alpha-k-anonymity").press("Enter")
    expect(added).to_have_count(0)
    expect(model).to_be_focused()
    chosen(page, model, "k-anonymity")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(card(page, "k-anonymity")).to_have_count(2)
    card(page, "k-anonymity").last.get_by_role("button", name="Remove").click()
    expect(card(page, "k-anonymity")).to_have_count(1)


def test_other_parameters_are_chosen(page):
    closeness = card(page, "t-closeness")
    equal = "equal: share of people whose value would have to change"
    chosen(page, closeness.get_by_role("combobox", name="distance"), equal)
    expect(closeness).to_contain_text("is the least that would have to change their value")
    expect(closeness.get_by_role("slider", name="t, share from 0 to 1")).to_be_visible()
    about = closeness.get_by_role("combobox", name="about")
    chosen_by_keys(page, about, "diagnosis")
    answered(page)
    undone(page)
    undone(page)
    expect(closeness).to_contain_text("0.9 bits")
    expect(closeness.get_by_role("slider", name="t, bits")).to_be_visible()


def test_how_the_table_is_recoded_is_chosen(page):
    method = page.get_by_role("combobox", name="Recoding")
    share = page.get_by_role("slider", name="Share suppressed")
    expect(share).to_be_hidden()
    chosen(page, method, "full-domain")
    expect(page.get_by_text("One level of its hierarchy for each attribute")).to_be_visible()
    share.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Undo: suppress up to 0.5 %")).to_be_enabled()
    trigger = page.get_by_role("combobox", name="What may be suppressed")
    expect(page.get_by_text("Larger ones have to satisfy every condition.")).to_be_visible()
    chosen_by_keys(page, trigger, "any")
    expect(page.get_by_text("Which large ones are missing tells")).to_be_visible()
    expect(page.get_by_role("button", name="Undo: suppress any classes")).to_be_enabled()
    goal = page.get_by_role("combobox", name="Objective")
    chosen_by_keys(page, goal, "loss")
    expect(page.get_by_text("Leave least of each attribute's domain open.")).to_be_visible()
    answered(page)
    chosen_by_keys(page, method, "variable-range")
    expect(share).to_be_hidden()


WAYS = """(() => {
  const way = document.querySelector('[aria-label^="Take: entropy-l-diversity"]');
  return way && [way.getAttribute('aria-label'), !way.disabled];
})()"""
"""The first way out, and whether it can be taken."""


def test_a_way_out_is_taken(page):
    before = figures(page)
    field = card(page, "entropy-l-diversity").get_by_role("spinbutton")
    field.fill("5")
    field.press("Enter")
    ways = page.get_by_role("region", name="Ways out")
    expect(ways).to_contain_text("The policy is out of reach.")
    expect(ways).to_contain_text("12 records in 1 class stand in the way")
    expect(card(page, "k-anonymity")).to_contain_text("there is no release")
    require_seen_well(page)
    way = ways.get_by_role("button", name="Take: entropy-l-diversity: l = 2.93 instead of 5")
    way.press("Enter")
    expect(page.locator(".verdict")).to_contain_text("The policy holds")
    expect(page.locator("h1")).to_be_focused()
    undone(page)
    expect(ways).to_contain_text("The policy is out of reach.")
    expect(way).to_be_enabled()
    with seeing(page, WAYS) as seen:
        field.fill("6")
        field.press("Enter")
        expect(ways.get_by_role("button", name=re.compile("instead of 6")).first).to_be_enabled()
    of_5 = [able for words, able in filter(None, seen) if words.endswith("instead of 5")]
    assert of_5 == [True, False]  # those of what was before cannot be taken any more
    undone(page)
    undone(page)
    expect(page.locator(".verdict")).to_contain_text("The policy holds")
    assert figures(page) == before


def test_what_a_model_refuses_is_said_and_nothing_is_lost(page):
    field = card(page, "entropy-l-diversity").get_by_role("spinbutton")
    field.fill("0.5")
    field.press("Enter")
    expect(page.get_by_text(re.compile("entropy-l-diversity: l .*at least 1"))).to_be_visible()
    expect(field).to_have_value("1.5")
    field.fill("")
    field.press("Enter")
    expect(page.get_by_text("Write a number; nothing was changed.")).to_be_visible()
    expect(field).to_have_value("1.5")
    page.get_by_role("button", name=re.compile("^Undo: nothing")).wait_for()


def test_a_comma_is_that_of_a_decimal_number(page):
    field = card(page, "entropy-l-diversity").get_by_role("spinbutton")
    field.fill("")
    field.press_sequentially("2,5")
    field.press("Enter")
    expect(field).to_have_value("2.5")
    expect(page.get_by_role("button", name="Undo: entropy-l-diversity: l = 2.5")).to_be_enabled()
    undone(page)
    size = card(page, "k-anonymity").get_by_role("spinbutton")
    size.fill("")
    size.press_sequentially("1,0")  # of a whole number it is that of thousands, and left out
    expect(size).to_have_value("10")
    size.press("Enter")
    expect(page.get_by_role("button", name="Undo: k-anonymity: k = 10")).to_be_enabled()


def test_without_labels_classes_have_numbers(unlabelled):
    visit(unlabelled, "Policy")
    expect(card(unlabelled, "k-anonymity")).to_contain_text(re.compile("Worst now: class . of ."))
    assert "Oslo" not in unlabelled.content()


@pytest.fixture
def of_persons(browser, tmp_path, request):
    """A page of the small study whose 12 records are those of 8 persons."""
    yield from served_of_persons(browser, tmp_path, request, "k = 2")


@pytest.fixture
def of_known(browser, tmp_path, request):
    """The same, under a policy against who knows two records of a person."""
    yield from served_of_persons(browser, tmp_path, request, "k = 2\nm = 2", "km-anonymity")


def served_of_persons(browser, directory, request, parameters, model="k-anonymity"):
    path = small_study(directory)
    header, *rows = (directory / "people.csv").read_text().splitlines()
    rows = [f"{row},{number % 8}" for number, row in enumerate(rows)]
    (directory / "people.csv").write_text("\n".join([f"{header},who", *rows, ""]))
    text = path.read_text().replace('"people.csv"', '"people.csv"\nperson = "who"')
    path.write_text(text.replace("k = 3", parameters).replace("k-anonymity", model))
    with explored(path) as served, Lent(browser, served.link) as lent, lent.to(request) as found:
        visit(found, "Policy")
        yield found


def test_what_follows_from_the_number_of_persons_can_be_set(of_persons):
    page = of_persons
    persons, share = card(page, "person-k-anonymity"), card(page, "largest-share")
    expect(persons).to_contain_text("Every person shares the released values of age and city")
    expect(share).to_contain_text("Allowed is at most 50%.")
    share.get_by_role("button", name="Remove largest-share").click()
    expect(page.get_by_text("It follows from another condition")).to_be_visible()
    size = persons.get_by_role("spinbutton")
    size.fill("4")
    size.press("Enter")
    expect(share).to_contain_text("Allowed is at most 25%.")
    part = share.get_by_role("spinbutton")
    part.fill("0.4")
    part.press("Enter")
    expect(share).to_contain_text("Allowed is at most 40%.")
    size.fill("3")
    size.press("Enter")
    expect(persons).to_contain_text("at least 2 others")
    expect(share).to_contain_text("Allowed is at most 40%.")  # it follows no more
    share.get_by_role("button", name="Remove largest-share").click()
    expect(share).to_contain_text("Allowed is at most 33.33%.")
    names = offered_in(page)
    assert "largest-share" in names
    assert "average-reidentification-risk" not in names


def test_who_knows_several_records_is_a_condition_from_which_two_others_follow(of_known):
    page = of_known
    left, share = card(page, "km-anonymity"), card(page, "largest-share")
    expect(left).to_contain_text("of up to 2 records of a person is left with at least 2 people")
    expect(share).to_contain_text("Allowed is at most 50%.")
    for name in ("person-k-anonymity", "largest-share"):
        card(page, name).get_by_role("button", name=f"Remove {name}").click()
        expect(page.get_by_text("It follows from another condition").last).to_be_visible()
    part = share.get_by_role("spinbutton")
    part.fill("0.4")
    part.press("Enter")
    expect(share).to_contain_text("Allowed is at most 40%.")
    size = left.get_by_role("spinbutton").first
    size.fill("3")
    size.press("Enter")
    expect(left).to_contain_text("is left with at least 3 people")
    expect(card(page, "person-k-anonymity")).to_contain_text("at least 2 others")
    expect(share).to_contain_text("Allowed is at most 40%.")
    known = left.get_by_role("spinbutton").last
    known.fill("3")
    known.press("Enter")
    expect(left).to_contain_text("of up to 3 records of a person")


def test_models_of_persons_are_not_offered_where_no_column_tells_them(page):
    names = offered_in(page)
    assert "k-anonymity" in names
    assert not {"person-k-anonymity", "largest-share"} & {*names}


def offered_in(page: Page) -> list[str]:
    """The models that can be added."""
    page.get_by_role("combobox", name="Model").click()
    options = page.get_by_role("option")
    options.first.wait_for()
    return options.all_inner_texts()
