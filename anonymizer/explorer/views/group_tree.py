"""The groups of a hierarchy as a tree, and the fields that change them."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeVar

from anonymizer.explorer.answers.generalized.groups import (
    Rows,
    moved,
    renamed,
    with_group,
    with_level,
    with_values,
    without_group,
    without_level,
)
from anonymizer.explorer.answers.generalized.hierarchies import Generalized, HierarchyGroup
from anonymizer.explorer.page.controls import heading, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.feedback.words import count, plural
from anonymizer.hierarchy import ANY, MISSING

if TYPE_CHECKING:
    from anonymizer.explorer.views.hierarchies import HierarchiesView

MOST = 200
"""Groups that are listed at a time: the largest, or those that a filter finds."""

FEW = 60
"""Groups up to which values are listed, too, unless somebody chooses otherwise."""

GROUP = """<span class="branch" :style="{ marginLeft: (props.row.depth * 1.25) + 'rem' }">
{{ props.row.label }}</span>"""

RECORDS = """<span class="amount"><span class="amount-bar" aria-hidden="true"
:style="{ width: props.row.share + '%' }"></span><span>{{ props.row.records }}</span></span>"""

CHOOSE = """<q-btn v-if="props.row.chosen" flat dense no-caps
:aria-label="'Choose ' + props.row.label"
@click="$parent.$emit('act', [props.row.of, props.row.label])">Choose</q-btn>"""


COLUMNS = {
    "label": "Group or value",
    "level": "Level",
    "records": "Records",
    "values": "Values",
    "act": "Edit",
}


def columns_of(edits: bool) -> list[dict[str, str]]:
    """The columns of the listing; the last one is for what can be edited."""
    return [
        {"name": name, "label": label, "field": name, "align": "left"}
        for name, label in COLUMNS.items()
        if edits or name != "act"
    ]


class GroupTree:
    """A listing of groups, those within another one being indented."""

    def __init__(self, view: "HierarchiesView") -> None:
        self._view = view
        self._known: object = None
        self._picked: int | None = None  # the level down to which somebody wants to see
        with ui.element("div").classes("content") as self.element:
            heading("Groups and values")
            note("Each group with its records; what lies in it follows, indented.")
            with ui.element("div").classes("line"):
                self._filter = ui.input("Filter by label", on_change=self._again)
                self._filter.props("outlined dense clearable debounce=250").classes("wide")
                self._down = ui.select({}, label="Down to").props("outlined dense")
                self._down.classes("wide").on("update:model-value", self._pick)
            self._more = Text("p").classes("note").props("role=status")
            self._table = self._listing()
        self.element.set_visibility(view.page.shows_labels)

    def _listing(self) -> ui.table:
        table = ui.table(rows=[], columns=columns_of(False), row_key="key", pagination=0)
        table.props('flat dense hide-pagination aria-label="Groups and values"')
        table.props(':grid="Quasar.Screen.lt.sm"')
        for name, slot in (("label", GROUP), ("records", RECORDS), ("act", CHOOSE)):
            table.add_slot(f"body-cell-{name}", f'<q-td :props="props">{slot}</q-td>')
        values = "{{ props.row.level }}; {{ props.row.values }}"
        inside = f'{GROUP}<span class="note">{values}</span>{RECORDS}{CHOOSE}'
        table.add_slot("item", f'<div class="leaf">{inside}</div>')
        table.on("act", lambda event: self._view.choose(*event.args))
        return table

    def show(self, found: Generalized) -> None:
        """List the groups."""
        levels = {level: f"level {level}" for level in range(1, found.height + 1)}
        levels = {0: "the values", **levels}
        down = self._picked
        if down is None or down not in levels:
            down = 0 if len(found.groups) <= FEW or found.height == 1 else 1
        self._down.set_options(levels, value=down)
        words = self._filter.value or ""
        places = found.shown(words, MOST, down)
        rows = [self._row(found, place) for place in places]
        if rows != self._known:
            self._known = rows
            self._table.columns = columns_of(self._view.edits_labels)
            self._table.rows = rows
        more = sum(each.level >= down for each in found.groups) - len(rows)
        which = (
            "do not match the filter, or are smaller" if words else "are smaller, and not listed"
        )
        self._more.set_text(f"{count(more)} more {which}; filter by label." if more else "")

    def _row(self, found: Generalized, place: int) -> dict[str, object]:
        each, top = found.groups[place], found.height
        return {
            "key": place,
            "label": each.label,
            "of": each.level,
            "depth": top - each.level,
            "level": "value" if each.level == 0 else f"level {each.level}",
            "records": plural(each.records, "record"),
            "share": round(100 * each.records / max(found.records, 1), 2),
            "values": plural(each.values, "value"),
            "chosen": self._view.edits_labels and each.named,
        }

    def _pick(self) -> None:
        self._picked = self._down.value
        self._again()

    def _again(self) -> None:
        if self._view.found is not None:
            self.show(self._view.found)


T = TypeVar("T")

MOST_OPTIONS = 500
"""Groups that a field offers: the largest, since all of them travel to the browser."""


class Labels:
    """Fields that change the chosen group, make a new one, or change levels."""

    def __init__(self, view: "HierarchiesView") -> None:
        self._view = view
        self._group: HierarchyGroup | None = None
        self._named_for: tuple[int, str] | None = None
        with ui.element("div").classes("cards"):
            self._build_chosen()
            self._build_new()
            self._build_levels()
        with ui.element("div").classes("line") as self._lacking:
            _button("Add the values that it lacks", self._add_values)

    def _build_chosen(self) -> None:
        with ui.element("section").classes("card").props('aria-label="Group or value"'):
            heading("Group or value")
            self._place = ui.select({}, label="Group or value", with_input=True)
            self._place.props("outlined dense").on_value_change(self._picked)
            self._words = Text("p").classes("note").props("role=status")
            self._name = ui.input("Name of the group").props("outlined dense")
            self._rename_button = _button("Rename", self._rename)
            self._into = ui.select([], label="Move into", with_input=True).props("outlined dense")
            self._move_button = _button("Move", self._move)
            self._into.on_value_change(self._enable)
            self._dissolve_button = _button("Take the group apart", self._dissolve)

    def _build_new(self) -> None:
        with ui.element("section").classes("card").props('aria-label="New group"'):
            heading("New group")
            self._level = ui.select({}, label="At level").props("outlined dense")
            self._level.on_value_change(self._offer_members)
            self._members = ui.select([], label="Members", multiple=True, with_input=True)
            self._members.props("outlined dense use-chips")
            self._new = ui.input("Name of the new group").props("outlined dense")
            _button("Make the group", self._make)

    def _build_levels(self) -> None:
        with ui.element("section").classes("card").props('aria-label="Levels of the table"'):
            heading("Change levels")
            note("A new level has the groups of the one below it, until some are joined.")
            self._above = ui.select({}, label="Above level").props("outlined dense")
            _button("Add a level", self._add_level)
            self._gone = ui.select({}, label="Level to remove").props("outlined dense")
            self._gone.on_value_change(self._enable)
            self._remove_button = _button("Remove the level", self._remove_level)

    def show(self, found: Generalized) -> None:
        """Offer the groups and levels that there are."""
        self._lacking.set_visibility(bool(found.lacking))
        top = found.height
        names = {level: f"level {level}" for level in range(top)}
        names[0] = "the values"
        _offer(self._above, names, _kept(self._above.value, names, top - 1))
        inner = {level: f"level {level}" for level in range(1, top)}
        _offer(self._gone, inner, _kept(self._gone.value, inner, None))
        new = {**inner, top: f"a new level {top}"}
        _offer(self._level, new, _kept(self._level.value, new, 1))
        places = self._offered(found)
        value = self._place_in(found)
        self._group = None if value is None else found.groups[value]
        if value is not None:
            places[value] = _named(found.groups[value])
        _offer(self._place, places, value)
        self._offer_members()
        self._show_chosen()

    def choose(self, group: HierarchyGroup) -> None:
        """Choose a group or a value for what is done next."""
        self._group = group
        if self._view.found is not None:
            self.show(self._view.found)

    def _place_in(self, found: Generalized) -> int | None:
        """Where the chosen group is now: a step may leave it in another group, or larger."""
        if self._group is None:
            return None
        chosen = (self._group.level, self._group.label)
        places = (place for place, each in enumerate(found.groups)
                  if (each.level, each.label) == chosen)  # fmt: skip
        return next(places, None)

    def _offered(self, found: Generalized) -> dict[int, str]:
        groups = found.groups
        largest = sorted(range(len(groups)), key=lambda place: -groups[place].records)
        chosen = [place for place in largest if groups[place].named]
        return {place: _named(groups[place]) for place in sorted(chosen[:MOST_OPTIONS])}

    def _picked(self) -> None:
        found, place = self._view.found, self._place.value
        group = None if found is None or place is None else found.groups[place]
        if group != self._group:
            self._group = group
            self._show_chosen()

    def _show_chosen(self) -> None:
        group, found = self._group, self._view.found
        if group is None or found is None:
            self._words.set_text("Choose one here, or in the tree below.")
            self._name.set_value("")
            self._named_for = None
            _offer(self._into, [], None)
            self._enable()
            return
        self._words.set_text(f"{group.records:,} records, {group.values:,} values.")
        if (group.level, group.label) != self._named_for:  # else somebody may be typing
            self._named_for = (group.level, group.label)
            self._name.set_value(group.label if group.level else "")
        parent = found.groups[group.parent].label if group.parent >= 0 else None
        others = [] if group.level >= found.height else found.labels_at(group.level + 1)
        offered = [each for each in others if each not in (parent, ANY)][:MOST_OPTIONS]
        _offer(self._into, offered, _kept(self._into.value, offered, None))
        self._enable()

    def _enable(self) -> None:
        """Let those buttons be pressed that have something to act on."""
        group, found = self._group, self._view.found
        between = group is not None and found is not None and 0 < group.level < found.height
        for each in (self._name, self._rename_button, self._dissolve_button):
            each.set_enabled(between)  # the values and the highest level stay as they are
        self._move_button.set_enabled(group is not None and self._into.value is not None)
        self._remove_button.set_enabled(self._gone.value is not None)

    def _offer_members(self) -> None:
        found, level = self._view.found, self._level.value
        if found is None or level is None:
            return
        labels = [each for each in found.labels_at(level - 1) if each not in (MISSING, ANY)]
        labels = labels[:MOST_OPTIONS]
        chosen = [each for each in self._members.value or [] if each in labels]
        _offer(self._members, labels, chosen)

    def _rename(self) -> None:
        group, name = self._group, self._name.value or ""
        if group is not None:
            self._take(
                "a group renamed", lambda rows: renamed(rows, group.level, group.label, name)
            )

    def _move(self) -> None:
        group, into = self._group, self._into.value
        if group is None or into is None:
            return
        what = "a value moved" if group.level == 0 else "a group moved"
        self._take(what, lambda rows: moved(rows, group.level, group.label, into))

    def _dissolve(self) -> None:
        group = self._group
        if group is not None:
            self._take(
                "a group taken apart", lambda rows: without_group(rows, group.level, group.label)
            )

    def _make(self) -> None:
        level, name, members = self._level.value, self._new.value or "", self._members.value

        def change(rows: Rows) -> Rows:
            if level == len(rows[0]) - 1:  # the highest level stays above it
                rows = with_level(rows, level - 1)
            return with_group(rows, level, name, members or [])

        if self._take("a new group", change):
            self._new.set_value("")
            self._members.set_value([])

    def _add_level(self) -> None:
        level = self._above.value
        if level is not None:
            self._take("a new level", lambda rows: with_level(rows, level))

    def _remove_level(self) -> None:
        level = self._gone.value
        if level is not None:
            self._take("a level less", lambda rows: without_level(rows, level))

    def _add_values(self) -> None:
        found = self._view.found
        if found is not None:
            values = [*found.lacking]
            self._take("values that it lacked", lambda rows: with_values(rows, values))

    def _take(self, words: str, change: Callable[[Rows], Rows]) -> bool:
        return self._view.take_rows(words, change)


def _named(group: HierarchyGroup) -> str:
    where = "value" if group.level == 0 else f"level {group.level}"
    return f"{group.label} ({where})"


def _offer(field: ui.select, options: Any, value: Any) -> None:
    if field.options != options or field.value != value:
        field.set_options(options, value=value)


def _kept(value: T, options: Collection[object], other: T) -> T:
    return value if value in options else other


def _button(words: str, act: Callable[[], None]) -> ui.button:
    return ui.button(words, on_click=act).props("no-caps outline")
