"""A hierarchy saved as a file next to the study."""

from typing import TYPE_CHECKING, Any

from anonymizer.explorer.answers.generalized.hierarchies import limits_in, rows_in
from anonymizer.explorer.page.controls import note
from anonymizer.explorer.page.toolkit import ui
from anonymizer.explorer.session.hierarchies import saved_rows, saved_rule

if TYPE_CHECKING:
    from anonymizer.explorer.views.hierarchies import HierarchiesView

SAVED = (
    "It is written to hierarchies/, next to the study, and the study refers to it. Earlier steps "
    "that refer to a file which is replaced have the new one then."
)


class SavingButton:
    """A button that saves, and whether a file that is there may be replaced."""

    def __init__(self, view: "HierarchiesView") -> None:
        self._view = view
        with ui.element("div").classes("line") as line:
            ui.button("Save as file", on_click=self._save).props("no-caps outline")
            self._replace = ui.checkbox("Replace a file that is there")
            note(SAVED)
        line.set_visibility(view.page.shows_labels)

    def _save(self) -> None:
        if self._view.take("saved as file", self._saved):
            self._replace.set_value(False)
            self._view.page.notify("Saved in hierarchies/, next to the study.")

    def _saved(self) -> dict[str, Any]:
        """Write the file; the rule that refers to it."""
        session, name = self._view.page.explorer.session, self._view.attribute
        replace = bool(self._replace.value)
        given, rows = self._view.rule, rows_in(self._view.hierarchy)
        limits = limits_in(given)
        if rows is not None:
            path = saved_rows(session, name, rows, replace=replace)
        else:
            bare = {key: each for key, each in given.items() if key not in limits}
            path = saved_rule(session, name, bare, replace=replace)
        self._view.page.explorer.forget()  # a file that studies refer to may be another one now
        return {"file": path, **limits}
