"""A browser for the tests that need one, and studies to explore."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from explorer.driving import CHROMIUM, FLAGS, Explored, begun_anew, explored, opened
from playwright.sync_api import Browser, Page, sync_playwright


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here; Debian's package is chromium-headless-shell")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def served_demonstration() -> Iterator[Explored]:
    """The demonstration, as ``--demo`` opens it; one for all tests, since a start takes seconds."""
    with explored("--demo") as found:
        yield found


@pytest.fixture
def demonstration(browser: Browser, served_demonstration: Explored) -> Explored:
    """The same, in which nothing was decided: steps are undone that an earlier test took."""
    with opened(browser, served_demonstration.link) as found:
        begun_anew(found)
    return served_demonstration


@pytest.fixture
def page(browser: Browser, served_demonstration: Explored) -> Iterator[Page]:
    """A page of the demonstration, in which nothing was decided."""
    with opened(browser, served_demonstration.link) as found:
        begun_anew(found)
        yield found


STUDY = """[data]
path = "people.csv"

[quasi-identifiers]
age = {{ widths = [10, 20] }}
city = "suppress"

[sensitive]
attributes = ["diagnosis"]

[[privacy]]
model = "k-anonymity"
k = {k}

[recoding]
method = "full-domain"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A small study in a directory of its own: 12 people."""
    return small_study(tmp_path)


def small_study(directory: Path, k: int = 3) -> Path:
    rows = [
        f"{age},{city},{diagnosis}"
        for age, city, diagnosis in [
            (21, "Rome", "flu"),
            (22, "Rome", "cold"),
            (23, "Rome", "flu"),
            (24, "Oslo", "asthma"),
            (31, "Oslo", "flu"),
            (32, "Oslo", "cold"),
            (33, "Rome", "cold"),
            (34, "Rome", "flu"),
            (41, "Oslo", "asthma"),
            (42, "Oslo", "flu"),
            (43, "Rome", "cold"),
            (44, "Rome", "asthma"),
        ]
    ]
    (directory / "people.csv").write_text("\n".join(["age,city,diagnosis", *rows, ""]))
    path = directory / "study.toml"
    path.write_text(STUDY.format(k=k))
    return path
