"""The explorer as its user has it: a process, and a browser that opens the link which it shows."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from explorer.forking import Forked
from playwright.sync_api import Browser, BrowserContext, FloatRect, Locator, Page, expect

T = TypeVar("T")

CHROMIUM = (
    os.environ.get("ANONYMIZER_CHROMIUM")
    or shutil.which("chromium-headless-shell")  # opens a page in half the time
    or shutil.which("chromium")
)
"""The browser: the machine's own, since none is downloaded."""

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",  # letters stand as they do with a screen
]
VIEWS = (
    "Table",
    "Hierarchies",
    "Policy",
    "Frontier",
    "Lattice",
    "Cut points",
    "Attack",
    "Release",
)
"""The titles of the views, in their order."""

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)")
GONE = "reading 'dispose'"
"""What the framework says of a chart that is taken away before it was drawn; nothing is lost."""

SECONDS = 60_000
"""Milliseconds that a busy machine gets for a first answer: kernels may have to be compiled."""

PATIENCE = 30_000
"""Milliseconds for anything else: a machine with other work takes longer than the usual 5 s."""

expect.set_options(timeout=PATIENCE)


@dataclass
class Explored:
    """A process that serves a session, its link, and what it said before that."""

    process: subprocess.Popen | Forked
    link: str
    said: str = ""

    @property
    def home(self) -> str:
        """The address without its token."""
        return self.link.partition("?")[0]

    def end(self, how: signal.Signals = signal.SIGINT) -> str:
        """End the process as Ctrl-C does; give what it printed since."""
        os.kill(self.process.pid, how)
        code = self.process.wait(timeout=60)
        assert code == 0, code
        return self.process.stdout.read()


def started(arguments: list[str], cwd: Path | None) -> subprocess.Popen:
    """The command in a process of its own, as a user starts it; this takes seconds."""
    return subprocess.Popen(
        [sys.executable, "-m", "anonymizer", "explore", "--no-browser", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def explored(
    *arguments: object,
    cwd: Path | None = None,
    start: Callable[[list[str], Path | None], subprocess.Popen | Forked] = Forked,
) -> Iterator[Explored]:
    """The command ``anonymizer explore`` with some arguments, until it is ended."""
    process = start([*map(str, arguments)], cwd)
    try:
        yield Explored(process, *_link_of(process.stdout))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _link_of(output: IO[str]) -> tuple[str, str]:
    """The link that a process shows, and what it said before."""
    said = []
    for line in output:
        said.append(line)
        if found := LINK.search(line):
            output.readline()  # how it is ended
            return found.group(), "".join(said[:-1])
    raise AssertionError("".join(said))


@contextmanager
def opened(
    browser: Browser, link: str, width: int = 1440, height: int = 900, theme: str = "light"
) -> Iterator[Page]:
    """A new tab, in which nothing may go wrong: no error, nothing from elsewhere."""
    with _tab(browser, link, width, height, theme) as (page, wrong):
        yield page
    assert wrong == [], wrong


@contextmanager
def _tab(
    browser: Browser, link: str, width: int = 1440, height: int = 900, theme: str = "light"
) -> Iterator[tuple[Page, list[str]]]:
    """A new tab, and what goes wrong in it: the list grows."""
    page = window_of(browser).new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=theme)
    wrong: list[str] = []
    page.on("pageerror", lambda error: GONE in str(error) or wrong.append(str(error)))
    page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    page.on("request", lambda asked: _is_here(asked.url) or wrong.append(asked.url))
    try:
        page.goto(link)
        answered(page)
        yield page, wrong
        page.evaluate("localStorage.clear()")
    finally:
        page.close()


class Lent(ExitStack):
    """A tab that tests have one after the other, since to open one takes a second.

    One that failed keeps it: the next test has a new one.
    """

    def __init__(self, browser: Browser, link: str) -> None:
        super().__init__()
        self._asked = browser, link
        self._tab: tuple[Page, list[str]] | None = None

    @contextmanager
    def to(self, test: pytest.FixtureRequest) -> Iterator[Page]:
        """Lend it to one test: nothing is decided, and nothing may go wrong until that ends."""
        failed = test.session.testsfailed
        if self._tab is None:
            self._tab = self.enter_context(_tab(*self._asked))
        page, wrong = self._tab
        begun_anew(page)
        yield page
        if wrong or test.session.testsfailed > failed:
            self._tab = None
            self.close()
        assert wrong == [], wrong


@cache
def window_of(browser: Browser) -> BrowserContext:
    """The window of all tabs: what it keeps of scripts opens a page in a third of the time.

    Nothing moves in it: to draw things on their way is a third of the work of most tests.
    """
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    return context


def _is_here(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "data:", "blob:"))


def answered(page: Page) -> None:
    """Wait until the page knows what the study comes to."""
    expect(page.locator(".verdict")).to_have_class(re.compile("holds|breaks"), timeout=SECONDS)


def visit(page: Page, title: str) -> None:
    """Open a view by its button."""
    page.get_by_role("navigation", name="Views").get_by_role("button", name=title).click()
    expect(page.locator("h1")).to_be_focused()
    answered(page)


TIDY = """() => {
  document.querySelectorAll('.q-notification button').forEach(each => each.click());
  document.activeElement.blur();
}"""
"""Takes away what a test before was told, and the focus from where it left that."""


UNDOING = """() => {
  const undo = document.querySelector('[aria-label^="Undo: "]');
  undo.click();
  return undo.disabled;
}"""
"""Undoes a step, until there is none; what is pressed once too often undoes nothing."""


def begun_anew(page: Page) -> None:
    """Undo every step, in a window as it is opened."""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light")
    page.mouse.move(0, 0)
    page.evaluate(TIDY)
    page.wait_for_function(UNDOING, polling=50)
    answered(page)


def in_a_loop(work: Coroutine[Any, Any, T]) -> T:
    """What is awaited, in a loop of its own: that of this thread may be the browser's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


QUIET = """() => new Promise(settled => {
  let last = performance.now();
  const changes = new MutationObserver(() => { last = performance.now(); });
  changes.observe(document.body,
    {subtree: true, childList: true, attributes: true, characterData: true});
  const look = setInterval(() => {
    const rests = document.querySelector('.doing').dataset.running === '0';
    if (!rests || performance.now() - last < 300) return;
    clearInterval(look);
    changes.disconnect();
    settled();
  }, 50);
})"""
"""Waits until nothing is computed, and nothing on the page has changed for a moment."""


def settled(page: Page) -> None:
    """Wait until nothing is computed any more, and what was is drawn."""
    page.evaluate(QUIET)


def place_of(one: Locator) -> FloatRect:
    """Where something is, once nothing is moved any more by answers that come late."""
    settled(one.page)
    return one.bounding_box()


def click_at(page: Page, x: float, y: float) -> None:
    """Click as a hand does, which rests first: a picture draws what is pointed at anew."""
    page.mouse.move(x, y)
    settled(page)
    page.mouse.click(x, y)


def drag(one: Locator, other: Locator) -> None:
    """Drag something onto something else, once neither is moved by answers that come late."""
    settled(one.page)
    one.drag_to(other)


def figures(page: Page) -> dict[str, str]:
    """The figures of the status by their names."""
    names = page.locator(".status dt").all_inner_texts()
    return dict(zip(names, page.locator(".status dd").all_inner_texts(), strict=True))


SEEING = """what => {
  const look = new Function('return ' + what), seen = [];
  const note = () => {
    const now = JSON.stringify(look());
    if (now !== seen.at(-1)) seen.push(now);
  };
  const changes = new MutationObserver(note);
  note();
  changes.observe(document.body,
    {subtree: true, childList: true, attributes: true, characterData: true});
  window.seen = () => { changes.disconnect(); return seen.map(each => JSON.parse(each)); };
}"""


@contextmanager
def seeing(page: Page, what: str) -> Iterator[list[Any]]:
    """Every state of something on the page, an expression, one after the other; none is missed.

    The list is filled in at the end.
    """
    page.evaluate(SEEING, what)
    found: list[Any] = []
    yield found
    found += page.evaluate("seen()")


MOVING = """() => document.getAnimations()
  .some(each => isFinite(each.effect.getComputedTiming().endTime) && each.playState === 'running')
"""
"""Whether anything still changes its place or colour: between two colours there is no contrast."""


VIOLATIONS = "async () => (await axe.run({resultTypes: ['violations']})).violations"
"""What axe finds wrong; all else that it looked at is most of its answer, and of its time."""


def require_seen_well(page: Page) -> None:
    """Require what everybody needs to use a view.

    That is: axe finds nothing serious, nothing sticks out, and nothing lies on something else.
    """
    page.wait_for_function(f"() => !({MOVING})()")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    serious = [
        (each["id"], [node["html"][:200] for node in each["nodes"]])
        for each in page.evaluate(VIOLATIONS)
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == [], serious
    require_nothing_lies_askew(page)


def require_nothing_lies_askew(page: Page) -> None:
    """Require that nothing sticks out, and nothing lies on something else."""
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    page.wait_for_function(f"() => {width} === 0")  # it does not scroll sideways, once laid out
    assert page.evaluate(OVERLAPS) == [], "controls lie on each other"


OVERLAPS = """() => {
  const kinds = 'button, a[href], input, textarea, h1, h2, h3, [role=combobox], [role=checkbox]';
  const seen = each => each.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const boxes = [...document.querySelectorAll(kinds)].filter(seen)
    .filter(each => !each.closest('.skip, .q-notification, .q-menu'))
    .map(each => [each, each.getBoundingClientRect()])
    .filter(([, box]) => box.width > 2 && box.height > 2);
  const words = each => (each.getAttribute('aria-label') || each.innerText || each.outerHTML)
    .slice(0, 80);
  const found = [];
  boxes.forEach(([one, a], place) => boxes.slice(place + 1).forEach(([other, b]) => {
    if (one.contains(other) || other.contains(one)) return;
    const stays = each => each.closest('.bar') || each.closest('.status');  // others go beneath
    if (stays(one) !== stays(other)) return;
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 2 && high > 2) found.push([words(one), words(other)]);
  }));
  return found;
}"""
"""Pairs of controls and headings whose boxes have more than a line of pixels in common."""
