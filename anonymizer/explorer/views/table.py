"""The table: its columns with what they tell, and the role of each, to be chosen or dragged."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from anonymizer.errors import AnonymizerError, InputError
from anonymizer.explorer.answers.columns import (
    FIGURES,
    MEANINGS,
    MISSING,
    ColumnRole,
    Role,
    Together,
    columns_of,
    proposed_role,
    proposed_rule,
    size_in,
    summary_of,
    together_of,
    warnings_of,
)
from anonymizer.explorer.answers.preview import repeated_of
from anonymizer.explorer.page.controls import called, heading, note
from anonymizer.explorer.page.toolkit import Element, GenericEventArguments, Text, ui
from anonymizer.explorer.session.contents import method_of, roles_of, with_role
from anonymizer.explorer.session.naming import unnamed_in
from anonymizer.explorer.views.naming import Naming
from anonymizer.explorer.views.view import View
from anonymizer.profiling.profile import TableProfile
from anonymizer.recoding import Watch
from anonymizer.tables.files.format import EVERY

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


MOST_ROWS = 200
"""Columns that are listed at a time; a filter finds the others."""

EXPLAINED = (
    "Distinction is the number of distinct values by the number of records: at 100% each record "
    "has its own. Separation is the share of all pairs of records that the column tells apart. "
    "Most common is the share of the records that have the commonest value."
)


UNREAD = (
    "The table could not be read; the line above says why. Put it where the study looks for it, or "
    "say where it lies now: a path from the directory of the study file on, or a whole one."
)


class TableView(View):
    """Four areas of roles, and a row for each column."""

    name, title = "table", "Table"
    question = "Which columns does the table have, and what may others know of a person?"

    _profile: TableProfile | None = None
    _together: Together | None = None
    _counted_for: Hashable = None
    _naming: Naming | None = None

    def shape(self) -> Hashable:
        """The file, and the names of its columns."""
        data = self.page.content["data"]
        return data["path"], str(data.get("columns"))

    def build(self) -> None:
        """Make the summary and the areas; rows follow when the columns are known."""
        note("Give each column a role: choose it in its row, or drag its name into an area.")
        self._profile = self._together = self._counted_for = self._naming = None
        if columns := unnamed_in(self.page.content):
            self._naming = Naming(self.page, columns)
        self._summary = Text("p").props("role=status")
        self._summary.set_text("Reading the table …")
        with ui.element("div").classes("line") as self._lost:
            path = str(self.page.content["data"]["path"])
            self._path = ui.input("Path of the table", value=path)
            self._path.props("outlined dense").classes("wide")
            self._button("Read the table from there", self._take_path)
        self._lost.set_visibility(False)
        with ui.element("div").classes("content") as self._body:
            with ui.element("div").classes("line"):
                self._propose = self._button("Take the proposed roles", self._take_proposed)
                self._propose.set_visibility(False)
                self._spelled = self._button("Take them for missing", self._take_missing)
            with ui.element("div").classes("line gaps") as self._gaps:
                self._gaps_words = Text("p")
                self._missing = ui.select(dict(MISSING), label="Records that miss a value")
                self._missing.props("outlined dense").on_value_change(self._take_gaps)
            self._warnings = Text("p").classes("warned")
            with ui.element("div").classes("areas"):
                self._areas = {role: Area(self, role) for role in MEANINGS}
            heading("Columns")
            note(EXPLAINED)
            self._words = ui.input("Filter by name", on_change=self.show)
            self._words.props("outlined dense clearable debounce=300").classes("wide")
            self._more = Text("p").classes("note")
            with ui.element("table").classes("columns") as table:
                table.props('aria-label="Columns of the table"')
                with ui.element("thead"), ui.element("tr"):
                    for words in ("Column", *FIGURES, "Role", "Proposal"):
                        Text("th", words).props("scope=col")
                self._table = ui.element("tbody")
        self._body.set_visibility(False)
        self._rows: dict[str, RoleRow] = {}
        self.page.start(self._read())

    def _button(self, words: str, act: Callable[[], None]) -> ui.button:
        return ui.button(words, on_click=act).props("no-caps outline")

    def _build_rows(self, profile: TableProfile) -> None:
        """Make the rows of the columns that are listed, where these are others than before."""
        words = (self._words.value or "").casefold()
        names = [each.name for each in profile.columns if words in each.name.casefold()]
        listed = names[:MOST_ROWS]
        if [*self._rows] != listed:
            self._table.clear()
            with self._table:
                self._rows = {name: RoleRow(self, name) for name in listed}
        many = len(profile.columns) > MOST_ROWS
        self._words.set_visibility(many)
        more = len(names) - len(listed)
        self._more.set_text(f"{more:,} more columns are not listed; filter them." if more else "")

    def show(self) -> None:
        """Fill in figures and roles."""
        if self._profile is None:
            return
        self._body.set_visibility(True)
        self._build_rows(self._profile)
        if self._naming is not None:
            self._naming.show(self._profile)
        self._count()
        gaps = None if self._together is None else self._together.gaps
        columns = columns_of(self._profile, self._roles, gaps)
        of = {column.name: column for column in columns}
        for name, row in self._rows.items():
            row.show(of[name])
        for role, area in self._areas.items():
            area.show([each.name for each in columns if each.role == role])
        if any(each.role != each.proposed for each in columns):
            self._propose.set_visibility(True)  # and no more hidden: it may have the focus
        self._summary.set_text(summary_of(self._profile, self._together))
        person = [name for name, role in self._roles.items() if role == "person"]
        repeated = repeated_of(self._profile, person)
        said = " ".join([*repeated, *warnings_of(columns, self._together)])
        self._warnings.set_text(self.page.explorer.said(said))
        self._spelled.set_visibility(bool(self._together and self._together.spellings))
        self._show_gaps(self._together.gaps if self._together else {})

    def take_role(self, name: str, role: Role) -> None:
        """Give a column another role, as one step; what is wrong with it is said."""
        if self._role(name) == role:
            return
        try:
            self.page.take(f"{name}: {role}", lambda content: self._changed(content, name, role))
        except AnonymizerError as error:
            self.page.complain(error)
            self.show()

    @property
    def _roles(self) -> Mapping[str, Role]:
        return roles_of(self.page.content)

    def _role(self, name: str) -> Role:
        return self._roles.get(name, "insensitive")

    def _changed(self, content: dict[str, Any], name: str, role: Role) -> dict[str, Any]:
        names = {*content["quasi-identifiers"]}
        if role != "quasi-identifier":
            if names == {name}:
                raise InputError(
                    f"{name!r} is the last quasi-identifier, and a study needs one; make another "
                    "column a quasi-identifier first"
                )
            return with_role(content, name, role)
        assert self._profile is not None
        k = size_in(content["privacy"])
        ladder = proposed_rule(self._profile, name, k, method_of(content))
        return with_role(content, name, role, ladder.rule)

    def _take_path(self) -> None:
        """Read the table from another place, or again from the same."""
        path = (self._path.value or "").strip()
        self.page.explorer.forget()
        if path and path != self.page.content["data"]["path"]:
            self.page.take(
                "another place of the table",
                lambda content: {**content, "data": {**content["data"], "path": path}},
            )
        else:
            self.page.update()
            self.page.open(self.name)

    def _take_proposed(self) -> None:
        self.page.take("the proposed roles", self._as_proposed)

    def _as_proposed(self, content: dict[str, Any]) -> dict[str, Any]:
        assert self._profile is not None
        changed = [
            (column.name, proposed_role(column))
            for column in self._profile.columns
            if roles_of(content).get(column.name, "insensitive") != proposed_role(column)
        ]
        # Those that become quasi-identifiers first: a study needs one at any time.
        for name, role in sorted(changed, key=lambda pair: pair[1] != "quasi-identifier"):
            content = self._changed(content, name, role)
        return content

    def _take_gaps(self) -> None:
        given = self._missing.value
        if given is None or given == self.page.content["data"].get("missing", "error"):
            return
        self.page.take(
            f"missing values: {given}",
            lambda content: {**content, "data": {**content["data"], "missing": given}},
        )

    def _take_missing(self) -> None:
        if self._together is None:
            return
        spellings = self._together.spellings

        def changed(content: dict[str, Any]) -> dict[str, Any]:
            known = content["data"].get("missing-values", [])
            known = [known] if isinstance(known, str) else known
            if isinstance(known, Mapping):  # by column: these are of all
                spellings_of_all = [*known.get(EVERY, []), *spellings]
                content["data"]["missing-values"] = {**known, EVERY: spellings_of_all}
                return content
            content["data"]["missing-values"] = [*known, *spellings]
            return content

        self.page.take("spellings of missing values", changed)

    def _show_gaps(self, gaps: Mapping[str, int]) -> None:
        self._gaps.set_visibility(bool(gaps))
        names = ", ".join(f"{name} ({size:,} records)" for name, size in gaps.items())
        self._gaps_words.set_text(f"With a role, and values missing: {names}.")
        self._missing.set_value(self.page.content["data"].get("missing", "error"))

    async def _read(self) -> None:
        study, counter = self.page.study, self.page.explorer.counter

        def read(watch: Watch) -> TableProfile:
            watch("reading the table", 0, None)
            return counter.profile(study.data_path, study.document.data.table, study.given)

        found = await self.page.answer("profile", read)
        if found is None:
            self._summary.set_text(UNREAD)
            if self.page.view is self:
                self._lost.set_visibility(True)
        elif self.page.view is self:
            self._profile = found
            self.show()

    def _count(self) -> None:
        """Count what the quasi-identifiers tell together, where these are others than before."""
        content = self.page.content
        data = {key: value for key, value in content["data"].items() if key != "missing"}
        key = str((data, self._roles, self.page.explorer.stamp(self.page.text)))
        if key != self._counted_for:
            self._counted_for, self._together = key, None
            self.page.start(self._count_together())

    async def _count_together(self) -> None:
        study, counter = self.page.study, self.page.explorer.counter

        def counted(watch: Watch) -> Together | None:
            try:
                return together_of(counter.counted(study, watch))
            except AnonymizerError:
                return None  # the status says it

        found = await self.page.answer("together", counted)
        if found is not None and self.page.view is self:
            self._together = found
            self.show()
