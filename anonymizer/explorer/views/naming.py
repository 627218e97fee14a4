"""Names for the columns of a file that has no header line."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from anonymizer.errors import AnonymizerError
from anonymizer.explorer.page.controls import heading, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.explorer.session.naming import redrafted
from anonymizer.explorer.work import Work
from anonymizer.feedback.words import names_listed
from anonymizer.profiling.profile import TableProfile

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

MOST_FIELDS = 60
"""Columns up to which each has a field of its own."""

EXAMPLES = 3
"""Frequent values that are shown of a column, to be recognized by."""

EXPLAINED = (
    "The file has no header line, so the columns are only numbered. Roles are proposed by what "
    "columns are called: name them before anything else. Roles, hierarchies and policy are then "
    "proposed anew; Undo brings back those of now."
)


class Naming:
    """A field for the name of each column, and one into which all names are pasted."""

    def __init__(self, page: "ExplorerPage", columns: Sequence[str]) -> None:
        self.page, self._columns = page, columns
        self._fields: dict[str, ui.input] = {}
        with ui.element("section").classes("card").props('aria-label="Names of the columns"'):
            heading("Name the columns")
            note(EXPLAINED)
            self._all = ui.input(
                f"All {len(columns)} names, in the order of the file, separated by commas",
                on_change=self._pasted,
            )
            self._all.props("outlined dense debounce=300").classes("full")
            if len(columns) <= MOST_FIELDS:
                note("Or one by one; below each field are its most frequent values.")
                with ui.element("div").classes("naming"):
                    for name in columns:
                        self._fields[name] = ui.input(name).props(
                            "outlined dense hide-bottom-space"
                        )
            with ui.element("div").classes("line"):
                self._button = ui.button("Name the columns", on_click=self._name, color=None)
                self._button.props("no-caps unelevated").classes("primary")
                self._said = Text("p").props("role=status").classes("breaks")

    def show(self, profile: TableProfile) -> None:
        """Say by which values a column can be recognized."""
        if not self.page.shows_labels:
            return
        for name, words in _examples(profile, self._columns).items():
            if name in self._fields:
                self._fields[name].props["hint"] = words
                self._fields[name].update()

    def _pasted(self) -> None:
        for field, name in zip(
            self._fields.values(), names_listed(self._all.value or ""), strict=False
        ):
            field.set_value(name)

    def _names(self) -> list[str]:
        if self._fields:
            return [(field.value or "").strip() for field in self._fields.values()]
        return names_listed(self._all.value or "")

    async def _name(self) -> None:
        session, study = self.page.explorer.session, self.page.explorer.session.study()
        given, names = names_listed(self._all.value or ""), self._names()
        if given and len(given) != len(self._columns):
            names = given  # too many or too few, which is said

        def compute(watch: Work) -> str | AnonymizerError:
            return _tried(lambda: redrafted(session, study, names, watch))

        self._said.set_text("")
        self._button.set_enabled(False)
        found = await self.page.answer("naming", compute)
        if isinstance(found, str):
            self.page.notify("The columns have names. Check the roles that are proposed by them.")
            session.replace("names of the columns", found)
            self.page.client.run_javascript("document.querySelector('h1')?.focus()")
            return
        self._button.set_enabled(True)
        if found is not None:
            words = self.page.explorer.said(str(found))
            self._said.set_text(f"{words[:1].upper()}{words[1:]}.")


def _examples(profile: TableProfile, columns: Sequence[str]) -> Mapping[str, str]:
    """The most frequent values of each column, in words."""
    return {
        name: ", ".join(f"{value}"[:20] for value in profile.counted[name].values[:EXAMPLES])
        for name in columns
        if name in profile.counted
    }


def _tried(function: Callable[[], str]) -> str | AnonymizerError:
    try:
        return function()
    except AnonymizerError as error:
        return error
