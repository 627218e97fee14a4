"""What is written: the study, its hierarchies, the release and its report."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from anonymizer.errors import AnonymizerError
from anonymizer.explorer.page.controls import heading, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.explorer.session.saving import save_hierarchies, save_study
from anonymizer.explorer.work import Work
from anonymizer.explorer.writing import (
    is_of,
    warnings_in,
    written_release,
    written_report,
)
from anonymizer.feedback.words import listed, plural
from anonymizer.release.manifest import Manifest

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

T = TypeVar("T")

RELEASE = "release"
"""Where a release goes, next to the study, unless another directory is given."""

SEEN = "setTimeout(() => document.getElementById('{id}')?.scrollIntoView({{block: 'nearest'}}), 50)"
"""What scrolls to the words about an action, where they are out of sight."""

LAST = 2
"""Parts of a path that are shown."""

OTHER = (
    "Its recoding is another one than the page shows, where the search was ended early: look at "
    "its report."
)


CHANGED = (
    "The table was changed after it was counted for this page, whose figures are computed anew: "
    "compare them before you give the release away."
)


class SavingFields:
    """Fields and buttons that write files; next to each is what came of it."""

    def __init__(self, page: "ExplorerPage") -> None:
        self.page = page
        heading("Save and release")
        home = page.explorer.session.home.resolve()
        said = note(
            f"Files go into {short(home)}, a release elsewhere if its path leads there. Each "
            "appears whole or not at all, and nothing that lies there is replaced unless you tick "
            "so."
        )
        said.props["title"] = str(home)
        with ui.element("div").classes("cards"):
            self._build_study()
            self._build_release()

    def _build_study(self) -> None:
        with ui.element("section").classes("card").props('aria-label="The study"'):
            heading("The study")
            self.unsaved = Text("p")
            self.name = ui.input("File", value=self.page.explorer.session.path.name)
            self.name.props("outlined dense")
            self.replace_study = ui.checkbox(
                "Replace a file that is there or was changed elsewhere"
            )
            with ui.element("div").classes("line"):
                save = ui.button("Save the study", on_click=self._save, color=None)
                save.props("unelevated no-caps").classes("primary")
                files = ui.button("Save the hierarchies", on_click=self._save_hierarchies)
                files.props("outline no-caps")
            self.saved = _said()

    def _build_release(self) -> None:
        with ui.element("section").classes("card").props('aria-label="The release"'):
            heading("The release")
            self.refusal = Text("p").classes("breaks")
            self.place = ui.input("Directory", value=RELEASE).props("outlined dense")
            self.replace_release = ui.checkbox("Replace the release that lies there")
            with ui.element("div").classes("line"):
                self.write = ui.button("Write the release", on_click=self._write, color=None)
                self.write.props("unelevated no-caps").classes("primary")
                report = ui.button("Write the report", on_click=self._report)
                report.props("outline no-caps")
            self.written = _said()
            self.commands = ui.element("pre").classes("commands").props("tabindex=0")
            with self.commands:
                self.command = Text("code")
            self.commands.set_visibility(False)

    @property
    def directory(self) -> Path:
        """The directory that the release is written to."""
        given = os.path.expanduser((self.place.value or "").strip())  # noqa: PTH111 (~nobody stays)
        return Path(os.path.normpath(self.page.explorer.session.home / given))

    @property
    def reason(self) -> str:
        """Reason why no release can be written now; empty where one can."""
        page = self.page
        if page.text != page.explorer.session.text:
            return "A change is being tried: take it or leave it first."
        if not page.fresh:
            return "Wait until it is known whether the policy holds."
        return "" if page.outcome.holds else "The policy does not hold: there is no release."

    def show(self) -> None:
        """Say what is not saved yet, and whether a release can be written."""
        same = self.page.explorer.session.saved
        self.unsaved.set_text(
            "The file has the study as it is now."
            if same
            else "The study was changed since it was saved."
        )
        self.refusal.set_text(self.reason)
        self.refusal.set_visibility(bool(self.reason))
        self.write.set_enabled(not self.reason)

    def _save(self) -> None:
        session = self.page.explorer.session
        found = _tried(
            lambda: save_study(session, self.name.value or "", bool(self.replace_study.value))
        )
        if isinstance(found, AnonymizerError):
            self._say(self.saved, self.page.explorer.said(str(found)), wrong=True)
            return
        more = (
            f", with {listed(p.name for p in found.hierarchies)} next to it"
            if found.hierarchies
            else ""
        )
        self._say(self.saved, f"Saved: {found.study}{more}.")
        self.show()

    def _save_hierarchies(self) -> None:
        found = _tried(lambda: save_hierarchies(self.page.explorer.session))
        if isinstance(found, AnonymizerError):
            self._say(self.saved, self.page.explorer.said(str(found)), wrong=True)
            return
        where = found[0].parent if found else ""
        files = plural(len(found), "hierarchy is", "hierarchies are")
        self._say(self.saved, f"{files} in {where}: {listed(path.name for path in found)}.")

    async def _write(self) -> None:
        if self.reason:
            return
        if not self._is_place_given():
            return
        study, directory = self.page.explorer.session.study(), self.directory
        shown, explorer = self.page.outcome, self.page.explorer
        text = explorer.session.text
        force = bool(self.replace_release.value)

        def compute(watch: Work) -> tuple[Manifest, bool]:
            manifest = written_release(study, directory, force, watch)
            return manifest, is_of(manifest, shown)

        words = "Writing the release; it appears when it is proven."
        written = await self._carried_out(words, compute)
        if written is None:
            return
        found, is_shown = written
        warnings = warnings_in(found)
        beware = f" It has {plural(len(warnings), 'warning')}." if warnings else ""
        if shown.counted is not None and explorer.stamp(text) != shown.counted.stamp:
            self.page.update()
            beware += f" {CHANGED}"
        elif not is_shown:
            beware += f" {OTHER}"
        self._say(
            self.written,
            f"The release is in {directory}; it was verified as it lies there.{beware} Anybody "
            "can verify it again, and its report explains it:",
        )
        if self.written.is_deleted:
            return
        self.command.set_text(f"anonymizer verify {directory}\nanonymizer report {directory}")
        self.commands.set_visibility(True)

    def _is_place_given(self) -> bool:
        """Return whether there is a directory in the field; if not, that is said."""
        given, home = (self.place.value or "").strip(), self.page.explorer.session.home.resolve()
        if given and given.isprintable() and home.is_relative_to(self.directory.resolve()):
            self.commands.set_visibility(False)
            self._say(self.written, "A release needs a directory of its own.", wrong=True)
            return False
        if not given or not given.isprintable():
            self.commands.set_visibility(False)
            self._say(self.written, "Please give a directory, such as release.", wrong=True)
            return False
        return True

    async def _report(self) -> None:
        if not self._is_place_given():
            return
        directory, force = self.directory, bool(self.replace_release.value)
        found = await self._carried_out(
            "Writing the report.", lambda watch: written_report(directory, force, watch)
        )
        if found is not None:
            self._say(self.written, f"The report is in {found}; open it in any browser.")

    async def _carried_out(self, words: str, function: Callable[[Work], T]) -> T | None:
        """Write in a thread; None where that fails, which is said then.

        What is written already is not disturbed: that would end it.
        """
        if self.page.works.busy("write"):
            return None
        self._say(self.written, words)
        self.commands.set_visibility(False)
        found = await self.page.answer("write", lambda watch: _tried(lambda: function(watch)))
        if isinstance(found, AnonymizerError):
            self._say(self.written, self.page.explorer.said(str(found)), wrong=True)
            return None
        if found is None:
            self._say(self.written, "Nothing was written.")
        return found

    def _say(self, place: Text, words: str, wrong: bool = False) -> None:
        """Say what came of it, next to the button; where that is gone, at the edge of the page."""
        words = words.replace("--force replaces it", "tick Replace to replace it")
        if place.is_deleted:
            self.page.notify(words)
            return
        place.set_text(words)
        self.page.client.run_javascript(SEEN.format(id=place.html_id))
        place.classes(add="breaks" if wrong else "holds", remove="holds" if wrong else "breaks")


def short(path: Path) -> str:
    """A path as far as it says something: from the home on, or its last two parts.

    >>> short(Path("/srv/data/2026/adult-study"))
    '…/2026/adult-study'
    """
    if path != Path.home() and path.is_relative_to(Path.home()):
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    return str(path) if len(path.parts) <= LAST + 1 else f"…/{'/'.join(path.parts[-LAST:])}"


def _said() -> Text:
    return Text("p").props("role=status")


def _tried(function: Callable[[], T]) -> T | AnonymizerError:
    try:
        return function()
    except AnonymizerError as error:
        return error
