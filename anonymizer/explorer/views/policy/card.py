"""A card of one model: its parameters, its promise, and the class that comes off worst."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anonymizer.explorer.answers.policy.conditions import (
    ModelCondition,
    left_open,
    promise_of,
    unit_of,
)
from anonymizer.explorer.answers.policy.parameters import (
    Parameter,
    parameters_of,
    slid,
    span_of,
)
from anonymizer.explorer.answers.span import Span
from anonymizer.explorer.page.controls import Sliding, called, heading
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.explorer.session.advised import with_choice
from anonymizer.explorer.session.contents import Content, with_parameter
from anonymizer.privacy import PrivacyModel

if TYPE_CHECKING:
    from anonymizer.explorer.views.policy.policy import PolicyView

NO_CLASSES = "✗ There are no classes to look at: there is no release."

EVERY = ""
"""What stands for every sensitive attribute."""


class Card:
    """A model of the policy in a place."""

    def __init__(self, view: "PolicyView", place: int, model: PrivacyModel) -> None:
        self.view, self.place, self.page = view, place, view.page
        self._model = model
        self._others: dict[str, ui.select | ui.number] = {}
        self._shown = False
        title = model.name
        with called(ui.element("section"), title).classes("card"):
            with ui.element("div").classes("line card-head"):
                heading(title)
                close = ui.button(icon="close", on_click=lambda: view.remove(place))
                called(close.props("flat round dense"), f"Remove {title}", shown=True)
            self.promise = Text("p")
            self._build_parameters(model)
            self.verdict = Text("p")
            self.measured, self.worst, self.guess = Text("p"), Text("p"), Text("p")
            self.open = Text("p").classes("note")

    def _build_parameters(self, model: PrivacyModel) -> None:
        self.sliding = None
        span = span_of(model)
        if span is not None:
            self.sliding = Sliding(
                self._label(model), span, model.threshold, self._move, self._take
            )
        with ui.element("div").classes("line"):
            if model.sensitive:
                self._choice("attribute", "about")
            for parameter in parameters_of(model):
                self._build_other(parameter)

    def _build_other(self, parameter: Parameter) -> None:
        match parameter.kind:
            case "choice":
                self._choice(parameter.name, parameter.name)
            case "number" | "whole":
                field = ui.number(parameter.name, value=float(str(parameter.value)))
                field.props("dense outlined debounce=400").classes("number")
                field.on("change", lambda: self._typed(parameter))
                self._others[parameter.name] = field
            case "file":
                Text("p", f"{parameter.name}: set in the study file").classes("note")

    def _choice(self, name: str, label: str) -> None:
        select = ui.select({}, label=label, on_change=lambda event: self._chosen(name, event.value))
        select.props("dense outlined options-dense").classes("choice")
        self._others[name] = select

    def show(
        self, model: PrivacyModel, span: Span | None, conditions: Sequence[ModelCondition]
    ) -> None:
        """Fill in a model of the same name, with how the classes come off."""
        self._model = model
        schema = self.page.study.schema
        self.promise.set_text(promise_of(model, schema))
        self.open.set_text(f"Not protected from: {left_open(model, schema)}")
        if self.sliding is not None:
            if self.page.draft is None:
                unit, known = unit_of(model), span or span_of(model) or Span(0, 1, 0.01)
                self.sliding.fit(self._label(model), unit, known)
            self.sliding.set(model.threshold)
        self._show_others(model)
        self._show_conditions(conditions)

    def _show_others(self, model: PrivacyModel) -> None:
        if model.sensitive:
            names = self.page.study.schema.sensitive
            about = {EVERY: "every sensitive attribute", **{name: name for name in names}}
            self._set("attribute", model.attribute or EVERY, about)
        for parameter in parameters_of(model, self.page.outcome.raw):
            if parameter.name in self._others:
                self._set(parameter.name, parameter.value, dict(parameter.options))

    def _set(self, name: str, value: Any, options: dict[str, str]) -> None:
        """Show a value, which is not taken for a choice of the user's."""
        element = self._others[name]
        self._shown = True
        try:
            if isinstance(element, ui.select) and element.options != options:
                element.set_options(options, value=value)
            elif element.value != value:
                element.set_value(value)
        finally:
            self._shown = False

    def _show_conditions(self, conditions: Sequence[ModelCondition]) -> None:
        shows, fine = self.page.shows_labels, all(each.holds for each in conditions)
        if self.page.fresh and self.page.outcome.counts is None:
            conditions, fine = (), False
        said = " ".join(_about(each) + each.verdict for each in conditions)
        self.verdict.set_text(said if fine or said else NO_CLASSES)
        self.verdict.classes(remove="holds breaks").classes("holds" if fine else "breaks")
        self.measured.set_text(
            " ".join(f"{each.measured} Allowed is {each.limit}." for each in conditions)
        )
        named = [f"Worst now: {each.worst.text(shows)}." for each in conditions if each.worst]
        self.worst.set_text(" ".join(dict.fromkeys(named)))
        self.guess.set_text(" ".join(each.guess for each in conditions))
        for text in (self.verdict, self.measured, self.worst, self.guess):
            text.set_visibility(bool(text.text))

    def _label(self, model: PrivacyModel) -> str:
        return f"{slid(model)}, {unit_of(model)}"

    def _move(self, value: float) -> None:
        self.page.attempt(lambda content: self._changed(content, slid(self._model), value))

    def _take(self, value: float) -> None:
        self._step(slid(self._model), value)

    def _typed(self, parameter: Parameter) -> None:
        value = self._others[parameter.name].value
        if value is not None:
            self._step(parameter.name, float(value))

    def _step(self, name: str, value: float) -> None:
        words = f"{self._model.name}: {name} = {value:.6g}"
        self.view.take(words, lambda content: self._changed(content, name, value))

    def _chosen(self, name: str, value: object) -> None:
        if self._shown:
            return
        given = None if name == "attribute" and value == EVERY else value
        words = f"{self._model.name}: {name} = {value or 'every sensitive attribute'}"
        self.view.take(words, lambda content: with_choice(content, self.place, name, given))

    def _changed(self, content: Content, name: str, value: float) -> Content:
        """The parameter at a number, which stays whole where it is."""
        given = content["privacy"][self.place].get(name)
        whole = isinstance(given, int) and value == int(value)
        return with_parameter(content, self.place, name, int(value) if whole else value)


def _about(condition: ModelCondition) -> str:
    return f"{condition.attribute}: " if condition.attribute else ""
