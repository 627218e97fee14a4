"""Ways out of a policy that is out of reach or costs too much, each to be taken by a button."""

from typing import TYPE_CHECKING

from anonymizer.explorer.answers.policy.ways import Way, Ways
from anonymizer.explorer.page.controls import called, heading, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.explorer.session.advised import with_change

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage


class WaysOut:
    """What stands in the way, and the ways out; nothing where there is no need."""

    def __init__(self, page: "ExplorerPage") -> None:
        self.page = page
        self._known: Ways | None = None
        self._buttons: list[ui.button] = []
        self._container = ui.element("section").props('aria-label="Ways out"').classes("content")
        self._container.set_visibility(False)

    def show(self, ways: Ways | None) -> None:
        """Show other ways out."""
        if ways == self._known:
            self.set_enabled(True)
            return
        self._known, self._buttons = ways, []
        self._container.clear()
        self._container.set_visibility(ways is not None)
        if ways is not None:
            with self._container:
                self._build(ways)

    def set_enabled(self, enabled: bool) -> None:
        """Let them be taken, or not: they may be of what was before."""
        for button in self._buttons:
            button.set_enabled(enabled)

    def _build(self, ways: Ways) -> None:
        heading("Ways out")
        Text("p", ways.why).classes("breaks")
        for words in ways.obstacles:
            Text("p", words).classes("note")
        if not ways.ways:
            Text("p", "No single change was found that helps; relax several conditions.")
        elif ways.basis:
            note(ways.basis)
        with ui.element("div").classes("cards"):
            for way in ways.ways:
                self._build_way(way)
        if not ways.complete:
            Text("p", "The time was up before all changes were tried.").classes("note")

    def _build_way(self, way: Way) -> None:
        with ui.element("div").classes("card"):
            Text("p", f"{way.words}.")
            Text("p", f"It would come to: {way.buys}").classes("note")
            button = ui.button("Take", on_click=lambda: self._take(way)).props("no-caps outline")
            self._buttons.append(called(button, f"Take: {way.words}"))

    def _take(self, way: Way) -> None:
        self.page.take(way.words, lambda content: with_change(content, way.change))
        self.page.client.run_javascript("document.querySelector('h1')?.focus()")
