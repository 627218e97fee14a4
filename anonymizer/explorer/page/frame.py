"""The frame of the page: what was decided and what it comes to, above the view that is open."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from anonymizer.errors import AnonymizerError
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.page.explorer import Explorer
from anonymizer.explorer.page.keys import KEEP_FOCUS, LISTEN, NUMBERED
from anonymizer.explorer.page.status import Status
from anonymizer.explorer.page.theme import Theme
from anonymizer.explorer.page.toolkit import (
    Client,
    GenericEventArguments,
    Text,
    background_tasks,
    ui,
)
from anonymizer.explorer.session.session import Change
from anonymizer.explorer.views import views
from anonymizer.explorer.work import StoppedError, SupersededError, Work, Works
from anonymizer.release.study import Study

T = TypeVar("T")


class ExplorerPage:
    """A page that somebody has open: one view of a session, and what it comes to.

    ``draft`` is the text of a study that is tried, such as while a slider moves; None where nothing
    is. ``outcome`` is what was known last, which is ``fresh`` where it is that of ``text``.
    """

    def __init__(self, explorer: Explorer, client: Client, view: str) -> None:
        self.explorer, self.client = explorer, client
        self.works = Works(self._at_work)
        explorer.works.add(self.works)
        self.draft: str | None = None
        self.outcome = StudyOutcome()
        self.fresh = False
        self.dark = False
        self._views = views()
        self._name = view if view in self._views else next(iter(self._views))
        self._shape: Hashable = None
        self.build()
        self._unlisten = explorer.session.listen(self._stepped)
        client.on_delete(self.close)
        client.on_exception(self.complain)

    @property
    def text(self) -> str:
        """The study that is shown: what is tried, or what was decided."""
        return self.explorer.session.text if self.draft is None else self.draft

    @property
    def study(self) -> Study:
        """The study that is shown."""
        return self.explorer.study(self.text)

    @property
    def content(self) -> dict[str, Any]:
        """The study that is shown as sections, keys and values; a copy."""
        return self.explorer.session.content_of(self.text)

    @property
    def shows_labels(self) -> bool:
        """True where labels of classes may be shown."""
        return not self.explorer.aggregate_only

    def take(self, words: str, change: Change) -> None:
        """Take a step, which every page of the session shows then.

        Raises InputError when the result would be no study.
        """
        self.draft = None
        before = self.explorer.session.version
        self.explorer.session.take(words, change)
        if self.explorer.session.version == before:
            self.update()  # what was tried is not shown any more

    def attempt(self, change: Change) -> None:
        """Show what a change would come to, on this page alone, until a step is taken.

        Raises InputError when the result would be no study.
        """
        self.draft = self.explorer.session.after(change)
        self.update()

    def _at_work(self, computations: int) -> None:
        if not self.client.is_deleted:
            self.status.count(computations)

    async def answer(self, kind: str, function: Callable[[Work], T]) -> T | None:
        """Compute a function in a thread; None where a newer one of its kind came.

        ``kind``: what it is, such as ``"frontier"``. What it raises is shown on the page, and None
        is given.
        """
        try:
            return await self.works.ask(kind, function)
        except SupersededError:
            return None
        except StoppedError:
            self.notify("Stopped before anything was found.")
        except AnonymizerError as error:
            self.complain(error)
        return None

    def start(self, work: Any) -> None:
        """Begin what is awaited, next to what else happens on the page."""
        background_tasks.create(self._within(work))

    async def _within(self, work: Any) -> None:
        with self.content_element:
            await work

    def update(self) -> None:
        """Show the study, and compute what it comes to."""
        self.fresh = False
        self.show()
        self.start(self._answered(self.text))

    async def _answered(self, text: str) -> None:
        found = await self.answer("outcome", lambda watch: self.explorer.outcome(text, watch))
        if found is not None and text == self.text:
            self.outcome, self.fresh = found, True
            self.show()

    def show(self) -> None:
        """Fill in what is known; a view whose elements do not fit any more is built anew."""
        if self.client.is_deleted:
            return
        try:
            shape = (self._name, self.view.shape())
            if shape != self._shape:
                self._build_view()
                self._shape = shape
        except AnonymizerError as error:  # of a file with mistakes: no view goes without the study
            self._shape = None
            said = self.explorer.said(str(error))
            with self.content_element:
                Text("p", f"Nothing is shown here until this is mended: {said}").classes("warned")
        with self.content_element:
            self.status.show()
            if self._shape is not None:
                self.view.show()

    def open(self, name: str) -> None:
        """Open another view; what was tried in the last one is not shown any more."""
        self._name = name
        ui.navigate.history.replace(f"/{name}")
        self.view = self._views[name](self)
        self._shape = None
        if self.draft is None:
            self.show()
        else:
            self.draft = None
            self.update()
        self.client.run_javascript("document.querySelector('h1')?.focus(); scrollTo(0, 0)")

    def notify(self, words: str) -> None:
        """Say something that does not stay."""
        with self.content_element:
            ui.notify(words, position="bottom", close_button="Close")

    def complain(self, error: Exception) -> None:
        """Say what is wrong; of an error that nobody foresaw its kind alone: it may quote data."""
        known = isinstance(error, AnonymizerError)
        said = self.explorer.said(str(error))
        words = said if known else f"internal error, {type(error).__name__}; please report it"
        with self.content_element:
            ui.notify(
                words, type="negative", position="bottom", timeout=10_000, close_button="Close"
            )

    def close(self) -> None:
        """End all that is computed for the page."""
        self._unlisten()
        self.works.close()

    def build(self) -> None:
        """Make the frame, and the view in it."""
        self.view = self._views[self._name](self)
        with ui.header(elevated=False).classes("bar"):
            ui.link("Skip to the view", "#view").classes("skip")
            ui.label(self.explorer.session.name).classes("bar-name")
            ui.space()
            self.status = Status(self)
            self.status.build_history()
            self.theme = Theme(self)
            self.theme.build()
        with ui.element("div").classes("frame"):
            with ui.element("nav").props('aria-label="Views"').classes("views"):
                self._links = {
                    name: self._link(number, name) for number, name in enumerate(self._views, 1)
                }
            with ui.element("div").classes("main"):
                self.status.build()
                self.content_element = ui.element("div").classes("content")
        self.start(self._connected())
        ui.on("pressed", self._pressed)
        self.update()

    async def _connected(self) -> None:
        await self.client.connected()
        self.client.run_javascript(LISTEN + KEEP_FOCUS)
        await self.theme.read()

    def _link(self, number: int, name: str) -> Any:
        button = ui.button(f"{number} {self._views[name].title}", on_click=lambda: self.open(name))
        return button.props(f"flat no-caps align=left aria-keyshortcuts={NUMBERED.format(number)}")

    def _build_view(self) -> None:
        for name, link in self._links.items():
            current = "page" if name == self._name else "false"
            link.props(f"aria-current={current}")
        self.content_element.clear()
        with self.content_element:
            ui.page_title(f"{self.view.title} · {self.explorer.session.name} · Explorer")
            Text("h1", self.view.question).props('id=view tabindex="-1"').classes("title")
            self.view.build()
            self._build_ways()

    def _build_ways(self) -> None:
        """Make the buttons that lead to the views before and after this one."""
        names = [*self._views]
        place = names.index(self._name)
        with ui.element("nav").props('aria-label="Next view"').classes("line ways"):
            if place:
                self._way("Back", names[place - 1]).props("outline no-caps")
            if place + 1 < len(names):
                onward = self._way("Next", names[place + 1])
                onward.props("unelevated no-caps").classes("primary")

    def _way(self, words: str, name: str) -> ui.button:
        title = f"{words}: {self._views[name].title}"
        return ui.button(title, on_click=lambda: self.open(name), color=None)

    def _pressed(self, event: GenericEventArguments) -> None:
        """Open the view of a digit; undo or redo."""
        key, session = str(event.args), self.explorer.session
        if key in ("undo", "redo"):
            (session.undo if key == "undo" else session.redo)()
        elif int(key) <= len(self._views):
            self.open([*self._views][int(key) - 1])

    def _stepped(self) -> None:
        self.draft = None
        self.update()
