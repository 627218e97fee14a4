"""A browser for the tests that need one, and studies to explore."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from explorer.driving import CHROMIUM, FLAGS, Explored, Lent, explored
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


@pytest.fixture(scope="session")
def tab(browser: Browser, served_demonstration: Explored) -> Iterator[Lent]:
    """A tab of the demonstration, for one test after the other."""
    with Lent(browser, served_demonstration.link) as found:
        yield found


@pytest.fixture
def page(tab: Lent, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of the demonstration, in which nothing was decided; it shows any view."""
    with tab.to(request) as found:
        yield found


@pytest.fixture(scope="session")
def people(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Lent, Path]]:
    """A tab of a small study, for one test after the other, and the study."""
    path = three_models(tmp_path_factory.mktemp("people"))
    with explored(path) as served, Lent(browser, served.link) as found:
        yield found, path


@pytest.fixture
def small(people: tuple[Lent, Path], request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of that study, in which nothing was decided."""
    with people[0].to(request) as found:
        yield found


@pytest.fixture(scope="session")
def unlabelled_tab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lent]:
    path = small_study(tmp_path_factory.mktemp("unlabelled"))
    with explored(path, "--aggregate-only") as served, Lent(browser, served.link) as found:
        yield found


@pytest.fixture
def unlabelled(unlabelled_tab: Lent, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of a small study that shows figures alone; nothing was decided."""
    with unlabelled_tab.to(request) as found:
        yield found


LISTENING = """
import sys

def heard(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open({log!r}, "a") as file:
            print(event, arguments[1:] if event == "socket.connect" else arguments, file=file)

sys.addaudithook(heard)
with open({log!r}, "a") as file:
    print("listening", file=file)
"""


@pytest.fixture
def places(tmp_path: Path) -> Iterator[tuple[Path, Path, str]]:
    """The place of a study, another one, and code that takes note of what is asked elsewhere."""
    study, here, log = tmp_path / "study", tmp_path / "here", tmp_path / "log"
    study.mkdir()
    here.mkdir()
    # Not in this process: whatever is forked first would load the page with it.
    elsewhere = 'import os; os.environ["NICEGUI_REDIS_URL"] = "redis://127.0.0.1:1"\n'
    yield study, here, elsewhere + LISTENING.format(log=str(log))
    asked = [line for line in log.read_text().splitlines() if "127.0.0.1" not in line]
    assert {*asked} == {"listening"}
    assert names_in(here) == []
    assert names_in(study / "study.session") == ["log.jsonl"]


def names_in(directory: Path) -> list[str]:
    """The names of what is in a directory, in order."""
    return sorted(path.name for path in directory.iterdir())


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

THREE_MODELS = """[[privacy]]
model = "entropy-l-diversity"
l = 1.5

[[privacy]]
model = "t-closeness"
distance = "kl"
t = 0.9

[recoding]
method = "variable-range"
refine = ["age"]
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


def in_pairs(directory: Path) -> Path:
    """The same people: their drug tells their diagnosis, and by shelf and box they are alone."""
    path = small_study(directory)
    header, *rows = (directory / "people.csv").read_text().splitlines()
    drugs = {"flu": "a", "cold": "b", "asthma": "c"}
    wider = [
        f"{row},{drugs[row.rpartition(',')[2]]},{number % 4},{number // 4}"
        for number, row in enumerate(rows)
    ]
    text = "\n".join([f"{header},drug,shelf,box", *wider, ""])
    (directory / "people.csv").write_text(text)
    return path


def three_models(directory: Path) -> Path:
    """The same people under three models; age is cut at 32 and 40."""
    path = small_study(directory)
    path.write_text(path.read_text().partition("[recoding]")[0] + THREE_MODELS)
    return path
