"""Several pages of one session: none loses anything, and one that is closed ends its work."""

import os
import re
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest
from explorer.conftest import small_study
from explorer.driving import SECONDS, answered, explored, opened, visit, window_of
from explorer.forking import Forked
from playwright.sync_api import Page, expect

from anonymizer.explorer.session.contents import with_parameter
from anonymizer.explorer.session.session import Session


def figure(page: Page, name: str):
    return page.locator(".status .figure").filter(has_text=name).locator("dd")


def test_two_tabs_show_one_session(browser, tmp_path):
    path = small_study(tmp_path)
    session = Session(path)
    for k in (4, 6):
        session.take(f"k = {k}", lambda content, k=k: with_parameter(content, 0, "k", k))
    with explored(path) as served, opened(browser, served.link) as one:
        two = one.context.new_page()
        two.goto(served.home + "release")
        answered(two)
        expect(figure(two, "Classes")).to_have_text("1")
        one.get_by_role("button", name="Undo: k = 6").click()
        for page in (one, two):
            expect(figure(page, "Classes")).to_have_text("2", timeout=SECONDS)
            expect(page.get_by_role("button", name="Redo: k = 6")).to_be_enabled()
        two.get_by_role("button", name="Redo: k = 6").click()
        one.get_by_role("button", name="Undo: k = 6").click()
        two.get_by_role("button", name="Undo: k = 4").click()
        expect(one.get_by_role("button", name="Redo: k = 4")).to_be_enabled()
        expect(two.locator("h1")).to_have_text("What is released, and what is it weak in?")
        two.reload()
        answered(two)
        expect(two.locator("h1")).to_have_text("What is released, and what is it weak in?")
        expect(two.get_by_role("button", name="Redo: k = 4")).to_be_enabled()
        two.close()
        one.get_by_role("button", name="Redo: k = 4").click()
        expect(figure(one, "Classes")).to_have_text("2", timeout=SECONDS)
    assert "k = 4" in Session(path).text


def long_study(directory: Path) -> Path:
    """A study whose search takes minutes: of many nodes, few of which can be left out early."""
    rng = np.random.default_rng(1)
    names = [f"q{number}" for number in range(11)]
    table = np.column_stack([rng.integers(0, 60, (3000, len(names))), rng.integers(0, 5, 3000)])
    lines = [",".join([*names, "s"]), *(",".join(map(str, row)) for row in table)]
    (directory / "table.csv").write_text("\n".join(lines) + "\n")
    path = directory / "long.toml"
    rules = "".join(f"{name} = {{ widths = [2, 4, 8, 16, 32] }}\n" for name in names)
    path.write_text(
        f"""[data]
path = "table.csv"

[quasi-identifiers]
{rules}
[sensitive]
attributes = ["s"]

[[privacy]]
model = "k-anonymity"
k = 5

[recoding]
method = "full-domain"
suppression = 0.3

[search]
strategy = "branch-and-bound"
"""
    )
    return path


def seconds_of(process: int) -> float:
    """The time that the processors gave to a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rests(process: int) -> bool:
    """Whether a process does next to nothing for a while."""
    before, since = seconds_of(process), monotonic()
    sleep(1)
    return seconds_of(process) - before < 0.2 * (monotonic() - since)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the times of a process")
def test_a_long_search_is_settled_or_ends_with_its_page(browser, tmp_path):
    path = long_study(tmp_path)
    with explored(path, start=partial(Forked, patience=3)) as served:
        page, other = (window_of(browser).new_page() for _ in range(2))
        page.goto(served.link)
        best = page.get_by_role("button", name="Take the best so far")
        expect(best).to_be_visible(timeout=SECONDS)
        expect(page.locator(".doing")).to_contain_text("bounding", timeout=SECONDS)
        assert page.evaluate("document.getAnimations()") == []  # nothing moves, as is wished
        other.goto(served.home)
        expect(other.get_by_role("button", name="Take the best so far")).to_be_visible()
        other.close()
        best.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".verdict")).to_have_class(re.compile("holds"), timeout=SECONDS)
        until = monotonic() + 60
        while not rests(served.process.pid):
            assert monotonic() < until, "a page was closed, and its search goes on"
        visit(page, "Policy")
        page.get_by_role("spinbutton").first.fill("6")
        page.keyboard.press("Enter")
        expect(best).to_be_visible(timeout=SECONDS)
        assert served.end().startswith("The explorer has ended.")
        page.close()
