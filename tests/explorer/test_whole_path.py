"""From a raw table to a release, by the mouse and by keys alone, as the command writes it."""

import os
import re
from itertools import islice
from pathlib import Path

import pytest
from explorer.driving import (
    SECONDS,
    answered,
    explored,
    opened,
    place_of,
    require_seen_well,
    settled,
)
from lengths import at_length
from playwright.sync_api import Locator, Page, expect
from releases import alike

from anonymizer.cli import main

ADULT = Path(os.environ.get("ANONYMIZER_DATA", "data")) / "adult" / "adult.data"
COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "salary-class"),
]
FAR = 400
"""Controls that Tab goes through at the most until it is where it should be."""


class Mouse:
    """Whoever points and clicks; texts are typed."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, control: Locator) -> None:
        control.click()

    def open(self, number: int, title: str) -> None:
        """Open a view."""
        views = self.page.get_by_role("navigation", name="Views")
        self.press(views.get_by_role("button", name=f"{number} {title}"))

    def choose(self, select: Locator, option: str) -> None:
        select.click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def write(self, field: Locator, text: str) -> None:
        field.click()
        self.page.keyboard.type(text)

    def move(self, slider: Locator) -> None:
        """Move a slider."""
        box = place_of(slider)
        slider.click(position={"x": box["width"] / 3, "y": box["height"] / 2})


class Keys:
    """Whoever has no mouse: the focus goes from one control to the next."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def reach(self, control: Locator) -> None:
        """Go on by Tab until a control has the focus."""
        expect(control).to_be_enabled(timeout=SECONDS)
        settled(self.page)
        there = control.element_handle()
        for _ in range(FAR):
            if there.evaluate("each => each === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no Tab leads to {control}")

    def press(self, control: Locator) -> None:
        self.reach(control)
        self.page.keyboard.press("Enter")

    def open(self, number: int, title: str) -> None:
        """Open a view."""
        self.page.keyboard.press(f"Control+Alt+{number}")
        expect(self.page).to_have_title(re.compile(f"^{title} · "))

    def choose(self, select: Locator, option: str) -> None:
        self.press(select)
        options = self.page.get_by_role("option")
        options.first.wait_for()
        place = options.all_inner_texts().index(option)
        for key in ("Home", *["ArrowDown"] * place, "Enter"):
            self.page.keyboard.press(key)

    def write(self, field: Locator, text: str) -> None:
        self.reach(field)
        self.page.keyboard.type(text)

    def move(self, slider: Locator) -> None:
        """Move a slider."""
        self.reach(slider)
        self.page.keyboard.press("ArrowRight")


def decide(page: Page, hand: Mouse | Keys) -> None:
    """Name columns, give roles, choose recoding and policy, and take a point of the frontier."""
    hand.press(page.get_by_role("button", name="Name the columns"))
    expect(page.get_by_text("A column has no name yet")).to_be_visible()
    require_seen_well(page)
    hand.write(page.get_by_label(re.compile("^All 15 names")), ", ".join(COLUMNS))
    expect(page.get_by_label("column-15", exact=True)).to_have_value(COLUMNS[-1])
    hand.press(page.get_by_role("button", name="Name the columns"))
    expect(page.get_by_role("rowheader", name="occupation")).to_be_visible(timeout=SECONDS)
    for name in ("native-country", "occupation", "workclass"):
        hand.choose(page.get_by_role("combobox", name=f"Role of {name}"), "identifier")
        step(page, f"{name}: identifier")
    hand.open(3, "Policy")
    hand.choose(page.get_by_role("combobox", name="Recoding"), "full-domain")
    step(page, "recoding: full-domain")
    diversity = page.get_by_role("region", name="entropy-l-diversity", exact=True)
    hand.move(diversity.get_by_role("slider"))
    step(page, "entropy-l-diversity: l = ")
    hand.open(4, "Frontier")
    hand.press(page.get_by_role("button", name="Take the suggested point"))
    step(page, "[lt] = ")


def step(page: Page, words: str) -> None:
    """Require that a step was taken, and wait for what it comes to."""
    undo = page.get_by_role("button", name=re.compile(f"^Undo: {words}"))
    expect(undo).to_be_enabled(timeout=SECONDS)
    answered(page)


def write(page: Page, hand: Mouse | Keys) -> None:
    """Save the study and write the release."""
    hand.open(8, "Release")
    study = page.get_by_role("region", name="The study")
    expect(study).to_contain_text("was changed since it was saved")
    hand.press(page.get_by_role("button", name="Save the study"))
    expect(study).to_contain_text("Saved:")
    hand.press(page.get_by_role("button", name="Write the release"))
    release = page.get_by_role("region", name="The release")
    expect(release).to_contain_text("The release is in", timeout=SECONDS)


@pytest.mark.skipif(not ADULT.exists(), reason="needs real Adult in ANONYMIZER_DATA")
@pytest.mark.parametrize("kind", [Keys, pytest.param(Mouse, marks=pytest.mark.long)])
def test_from_raw_adult_to_the_files_of_the_command(browser, tmp_path, kind):
    """By keys alone; what the mouse presses, the tests of each view press by it."""
    with ADULT.open() as raw, (tmp_path / ADULT.name).open("w") as copy:
        copy.writelines(islice(raw, at_length(3_000, 40_000)))
    with (
        explored("adult.data", cwd=tmp_path) as served,
        opened(browser, served.link) as page,
    ):
        hand = kind(page)
        decide(page, hand)
        write(page, hand)
    home = tmp_path / "adult-study"
    with pytest.raises(SystemExit, match="0"):
        main(["run", str(home / "study.toml"), "--output", str(home / "command")])
    assert alike(home / "release", home / "command")
