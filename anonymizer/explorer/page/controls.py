"""Controls that several views have: with a label, a unit, a range, and by keyboard."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from anonymizer.explorer.answers.span import Span
from anonymizer.explorer.page.toolkit import Element, GenericEventArguments, Text, ui


class Slider(Element, component="slider.js"):
    """A slider: ``on_move`` gets numbers while it moves, ``on_take`` when it is let go.

    By keys it is let go with each step.
    """

    def __init__(
        self,
        label: str,
        unit: str,
        span: Span,
        value: float,
        on_move: Callable[[float], None],
        on_take: Callable[[float], None],
    ) -> None:
        super().__init__()
        given = {"label": label, "unit": unit, "low": span.low, "high": span.high}
        self._props.update({**given, "step": span.step, "value": value})
        self._value = value
        self._on_move, self._on_take = on_move, on_take
        self.on("move", self._moved)
        self.on("take", self._taken)

    def fit(self, label: str, unit: str, span: Span) -> None:
        """Another label and unit, and other numbers to go through."""
        given = {"label": label, "unit": unit, "low": span.low, "high": span.high}
        given["step"] = span.step
        if any(self._props[key] != value for key, value in given.items()):
            self._props.update(given)
            self.update()

    def set(self, value: float) -> None:
        """Show a number, unless it is the one that the slider was moved to."""
        if value != self._value:
            self._value = value
            self._props["value"] = value
            self.run_method("set", value)

    def _moved(self, event: GenericEventArguments) -> None:
        self._on_move(self._noted(event))

    def _taken(self, event: GenericEventArguments) -> None:
        self._on_take(self._noted(event))

    def _noted(self, event: GenericEventArguments) -> float:
        self._value = float(f"{float(event.args):.10g}")
        return self._value


E = TypeVar("E", bound=Element)


class Sliding:
    """A slider with a field for its exact number: moved, it is tried, let go, it is taken."""

    def __init__(
        self,
        label: str,
        span: Span,
        value: float,
        on_move: Callable[[float], None],
        on_take: Callable[[float], None],
        unit: str = "",
    ) -> None:
        self._on_take, self._span = on_take, span
        self._value = value
        self._shown: float | None = value  # None: the field may have another number
        with ui.element("div").classes("sliding"):
            self.slider = Slider(label, unit, span, value, on_move, on_take)
            self.field = ui.number(label, value=value, min=span.low, step=span.step, format="%.10g")
            self.field.props("dense outlined")
            self.field.on("change", self._typed)

    def set(self, value: float) -> None:
        """Show a number, which is neither tried nor taken; what is being typed stays."""
        self._value = value
        self.slider.set(min(max(value, self._span.low), self._span.high))
        if value != self._shown:
            self._shown = value
            self.field.set_value(value)

    def fit(self, label: str, unit: str, span: Span) -> None:
        """Another label and unit, and other numbers to go through; the focus stays."""
        self._span = span
        self.slider.fit(label, unit, span)
        given = {"label": label, "min": span.low, "step": span.step}  # numbers: they are compared
        if any(self.field.props.get(key) != value for key, value in given.items()):
            self.field.props.update(given)
            self.field.update()

    def _typed(self) -> None:
        self._shown = None
        if self.field.value is not None:
            self._on_take(float(self.field.value))
            return
        ui.notify("Write a number; nothing was changed.", position="bottom", close_button="Close")
        self.set(self._value)


def listing(
    label: str,
    columns: Sequence[str],
    action: str = "",
    on_action: Callable[[str], None] | None = None,
) -> ui.table:
    """A table that is filled in by ``fill``, each row with a button if there is an action.

    The action is given the key of its row. On a narrow screen rows are cards.
    """
    given = [
        {"name": str(place), "label": name, "field": str(place), "align": "left"}
        for place, name in enumerate(columns)
    ]
    if on_action is not None:
        given.append({"name": "act", "label": action, "field": "act", "align": "left"})
    table = ui.table(rows=[], columns=given, row_key="key", pagination=0)
    table.props('no-data-label="Nothing to show"')
    called(table.props('flat hide-pagination :grid="Quasar.Screen.lt.sm"'), label)
    if on_action is not None:
        table.add_slot("body-cell-act", BUTTON.format(action=action))
        table.add_slot("item", CARD.format(action=action))
        table.on("act", lambda event: on_action(str(event.args)))
    return table


BUTTON = """<q-td :props="props"><q-btn flat dense no-caps :aria-label="'{action} ' + props.row[0]"
@click="$parent.$emit('act', props.row.key)">{action}</q-btn></q-td>"""

CARD = """<div class="card full-width q-mb-sm"><div :key="col.name" class="figure"
v-for="col in props.cols.filter(c => c.name !== 'act')">
<span class="note">{{{{ col.label }}}}</span> {{{{ col.value }}}}</div>
<q-btn flat dense no-caps :aria-label="'{action} ' + props.row[0]"
@click="$parent.$emit('act', props.row.key)">{action}</q-btn></div>"""


def fill(
    table: ui.table, rows: Sequence[Sequence[object]], keys: Sequence[str] | None = None
) -> None:
    """Fill in the rows of a listing; rows that are the same stay as they are.

    ``keys`` say what each row is of, and not where it stands: a click may be on a row that has
    moved since.
    """
    known = [*map(str, range(len(rows)))] if keys is None else keys
    found = [
        {"key": key, **{str(place): str(cell) for place, cell in enumerate(row)}}
        for key, row in zip(known, rows, strict=True)
    ]
    if found == table.rows:
        return
    table.rows = found


def called(element: E, name: str, shown: bool = False) -> E:
    """The element, with a name for readers of screens, and ``shown`` when it is pointed at.

    Names of columns and words of steps may hold any letters: none is ever parsed as properties.
    """
    if element.props.get("aria-label") != name:
        element.props.update({"aria-label": name, "title": name} if shown else {"aria-label": name})
    return element


def heading(text: str) -> Text:
    """The heading of a part of a view."""
    return Text("h2", text)


def note(text: str = "") -> Text:
    """A sentence that explains."""
    found = Text("p", text)
    found.classes("note")
    return found
