"""Roles of columns: areas that names are dragged into, and rows with a field for each."""

from typing import TYPE_CHECKING

from anonymizer.explorer.answers.columns import FIGURES, MEANINGS, ColumnRole, Role
from anonymizer.explorer.page.controls import called, heading, note
from anonymizer.explorer.page.toolkit import Element, GenericEventArguments, Text, ui

if TYPE_CHECKING:
    from anonymizer.explorer.views.table import TableView

COLUMN = "column:"
"""What the text begins with that a dragged column carries."""


class Area:
    """The columns of a role, into which others can be dragged."""

    def __init__(self, view: "TableView", role: Role) -> None:
        self._view, self._role = view, role
        title, meaning = MEANINGS[role]
        self._names: list[str] | None = None
        with called(ui.element("section"), title).classes("card area") as area:
            heading(title)
            note(meaning)
            self._chips = ui.element("ul").classes("chips")
        area.on("dragover.prevent", js_handler="() => {}")
        area.on(
            "drop.prevent",
            self._dropped,
            js_handler='(event) => emit(event.dataTransfer.getData("text/plain"))',
        )

    def show(self, names: list[str]) -> None:
        """Show the names of columns."""
        if names == self._names:
            return
        self._names = names
        self._chips.clear()
        with self._chips:
            for name in names:
                _dragged(Text("li", name).classes("chip"), name)

    def _dropped(self, event: GenericEventArguments) -> None:
        begin, mark, name = str(event.args).partition(COLUMN)
        if mark and not begin:
            self._view.take_role(name, self._role)


class RoleRow:
    """A column in figures, with a field that chooses its role."""

    def __init__(self, view: "TableView", name: str) -> None:
        self._view, self.name, self._filling = view, name, False
        with ui.element("tr"):
            _dragged(Text("th", name).props("scope=row").classes("chip-cell"), name)
            self._figures = [_cell(words).classes("figures-cell") for words in FIGURES]
            with ui.element("td").props('data-label="Role"'):
                self._select = ui.select([*MEANINGS], label=f"Role of {name}")
                self._select.props("outlined dense options-dense").classes("unlabelled")
                self._select.on_value_change(self._chosen)
            self._proposal = _cell("Proposal")

    def show(self, column: ColumnRole) -> None:
        """Fill in the figures of a column."""
        for cell, words in zip(self._figures, column.figures, strict=True):
            cell.set_text(words)
        self._filling = True  # nobody chooses what is filled in
        self._select.set_value(column.role)
        self._filling = False
        self._proposal.set_text(column.proposal)

    def _chosen(self) -> None:
        if self._select.value is not None and not self._filling:
            self._view.take_role(self.name, self._select.value)


def _cell(words: str) -> Text:
    found = Text("td")
    found.props["data-label"] = words
    return found


def _dragged(element: Element, name: str) -> None:
    """Let an element be dragged as a column."""
    element.props("draggable=true")
    element.props["data-column"] = name
    element.on(
        "dragstart",
        js_handler="(event) => event.dataTransfer.setData('text/plain', "
        f"'{COLUMN}' + event.currentTarget.dataset.column)",
    )
