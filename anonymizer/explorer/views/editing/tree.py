"""The tree of a hierarchy: its groups and values with the records of each."""

from typing import TYPE_CHECKING

from anonymizer.explorer.answers.generalized.hierarchies import Generalized
from anonymizer.explorer.page.controls import heading, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.feedback.words import count, plural

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
