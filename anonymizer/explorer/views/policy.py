"""The policy: its models with sliders, what each means for a person, its worst class, ways out."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonymizer.errors import AnonymizerError
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.answers.policy.conditions import (
    ModelCondition,
    conditions_of,
    left_open,
    promise_of,
    unit_of,
)
from anonymizer.explorer.answers.policy.methods import (
    ELSEWHERE,
    GOALS,
    METHODS,
    TRIGGERS,
    goal_of,
    methods_for,
    options_for,
    suppression_span,
    trigger_of,
)
from anonymizer.explorer.answers.policy.parameters import (
    FIRST,
    IN_FILE,
    Parameter,
    offered,
    parameters_of,
    slid,
    span_of,
    spans_of,
)
from anonymizer.explorer.answers.policy.ways import Way, Ways, ways_of
from anonymizer.explorer.answers.span import Span
from anonymizer.explorer.page.controls import Sliding, called, heading, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.explorer.session.advised import (
    suppresses,
    with_change,
    with_choice,
    with_goal,
    with_own_section,
)
from anonymizer.explorer.session.contents import (
    Content,
    method_of,
    options_of,
    with_model,
    with_parameter,
    with_recoding,
    with_suppression,
    with_trigger,
    without_model,
)
from anonymizer.explorer.session.session import Change
from anonymizer.explorer.views.view import View
from anonymizer.privacy import MODELS, PrivacyModel, records_known
from anonymizer.report.release import against

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage


class WaysOut:
    """The obstacle to a release, and the ways out; empty where there is no need."""

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
            if model.about is not None:  # several together are the file's own
                about[model.about] = model.about
            self._set("attribute", model.about or EVERY, about)
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
        content = with_own_section(content, self.place, self._model)
        place = min(self.place, len(content["privacy"]) - 1)  # a section of its own is the last
        given = content["privacy"][place].get(name)
        whole = isinstance(given, int) and value == int(value)
        return with_parameter(content, place, name, int(value) if whole else value)


def _about(condition: ModelCondition) -> str:
    return f"{condition.attribute}: " if condition.attribute else ""


SUPPRESSED = "Share suppressed"


class Method:
    """The controls of recoding, suppression and objective."""

    def __init__(self, page: "ExplorerPage") -> None:
        self.page = page
        self._shown = False
        heading("How the table is recoded")
        with ui.element("div").classes("cards"):
            with ui.element("div").classes("card"):
                self.method = self._select("Recoding", self._recode)
                self.method_words = note()
            with ui.element("div").classes("card"):
                self.goal = self._select("Objective", self._aim)
                self.goal_words = note()
            with ui.element("div").classes("card") as self.suppression:
                self.sliding = Sliding(
                    SUPPRESSED, suppression_span(0), 0, self._try_suppression, self._suppress
                )
                self.trigger = self._select("What may be suppressed", self._choose_trigger)
                self.trigger_words = note()
        self.elsewhere = note(
            f"Set in the study file, as they draw at random: {', '.join(ELSEWHERE)}."
        )

    def _select(self, label: str, on_change: object) -> ui.select:
        def changed(event: object) -> None:
            if not self._shown:
                on_change(str(event.value))  # type: ignore[operator,attr-defined]

        select = ui.select({}, label=label, on_change=changed)
        select.props("outlined dense options-dense")
        return select

    def show(self) -> None:
        """Fill in what the study says."""
        content = self.page.content
        method, goal = method_of(content), goal_of(content)
        self._set(self.method, method, {name: name for name in methods_for(method)})
        self.method_words.set_text(METHODS.get(method, ELSEWHERE.get(method, "")))
        self._set(self.goal, goal, {name: name for name in GOALS})
        self.goal_words.set_text(GOALS.get(goal, ""))
        self.suppression.set_visibility(suppresses(method))
        share = float(options_of(content).get("suppression", 0.0))
        if self.page.draft is None:
            self.sliding.fit(SUPPRESSED, "", suppression_span(share))
        self.sliding.set(share)
        trigger = trigger_of(content)
        self._set(self.trigger, trigger, {name: name for name in TRIGGERS})
        self.trigger_words.set_text(
            f"{TRIGGERS[trigger]} They become * or are left out: 0.01 is 1%."
        )

    def _set(self, select: ui.select, value: str, options: Mapping[str, str]) -> None:
        self._shown = True
        try:
            if select.options != options:
                select.set_options(dict(options), value=value)
            elif select.value != value:
                select.set_value(value)
        finally:
            self._shown = False

    def _recode(self, method: str) -> None:
        self.page.take(
            f"recoding: {method}",
            lambda content: with_recoding(
                content, method, options_for(method, options_of(content))
            ),
        )

    def _aim(self, goal: str) -> None:
        self.page.take(f"objective: {goal}", lambda content: with_goal(content, goal))

    def _choose_trigger(self, trigger: str) -> None:
        self.page.take(
            f"suppress {trigger} classes", lambda content: with_trigger(content, trigger)
        )

    def _try_suppression(self, share: float) -> None:
        self.page.attempt(lambda content: with_suppression(content, share))

    def _suppress(self, share: float) -> None:
        self.page.take(
            f"suppress up to {100 * share:.4g} %", lambda content: with_suppression(content, share)
        )


EXPLAINED = (
    "Each card is one condition that every class of the released table has to satisfy; a class is "
    "all records that look alike in it. Move a slider to try another threshold; let it go to "
    "keep it."
)

QUIET = 0.7
"""Seconds without a step after which ways out are searched for: they would slow the next one."""


class PolicyView(View):
    """A card for each model, how the table is recoded, and ways out where there is a need."""

    name, title = "policy", "Policy"
    question = "What does the policy promise a person, and which class comes off worst?"

    def build(self) -> None:
        """Make the elements; the cards follow with the models."""
        self._cards: list[Card] = []
        self._models: tuple[PrivacyModel, ...] = ()
        self._answered: StudyOutcome | None = None
        self.conditions: Sequence[ModelCondition] = ()
        self.spans: Sequence[Span | None] = ()
        note(EXPLAINED)
        self._against = note()
        self._container = ui.element("div").classes("cards")
        self.ways = WaysOut(self.page)
        self._build_addition()
        self.method = Method(self.page)

    def _build_addition(self) -> None:
        heading("Add a condition")
        with ui.element("div").classes("line"):
            self._kind = ui.select([], label="Model", on_change=self._explain)
            self._kind.props("outlined dense options-dense").classes("choice")
            ui.button("Add", on_click=self._add).props("no-caps outline")
        self._meaning = note()
        listed = ", ".join(IN_FILE)
        note(f"Set in the study file, as they need more than a number: {listed}.")

    def show(self) -> None:
        """Fill in parameters and sentences; worst classes follow from a thread."""
        models = self._known_models()
        if [each.name for each in models] != [each.name for each in self._models]:
            self._build_cards(models)
        self._models = models
        self._offer()
        roles = self.page.study.schema
        about = ", ".join(roles.sensitive)
        shared, persons = ", ".join(roles.quasi_identifiers), bool(roles.person)
        numbers = roles.person_numbers
        holds = against(shared, about, persons, records_known(models), numbers)
        self._against.set_text(holds if self.page.fresh and self.page.outcome.holds else "")
        self.method.show()
        self._fill()
        if not self.page.fresh:
            self._answered = None
            self.page.works.end("ways")  # they are of what was before
            self.ways.set_enabled(False)
        outcome = self.page.outcome
        if self.page.fresh and outcome is not self._answered:
            self._answered = outcome
            self.page.start(self._answer(outcome))

    async def _answer(self, outcome: StudyOutcome) -> None:
        """Find the worst classes of an outcome, and ways out where there is a need."""
        models = self._models
        found = await self.page.answer(
            "policy", lambda _: (conditions_of(outcome), spans_of(models, outcome))
        )
        if found is None or self.page.view is not self:
            return
        self.conditions, self.spans = found
        self._fill()
        if self.page.draft is None:
            await self._find_ways(outcome)

    async def _find_ways(self, outcome: StudyOutcome) -> None:
        await asyncio.sleep(QUIET)
        if self.page.view is not self or self.page.outcome is not outcome or not self.page.fresh:
            return
        ways = await self.page.answer("ways", lambda work: ways_of(outcome, self.watched(work)))
        if self.page.view is self and self.page.outcome is outcome:
            self.ways.show(ways)

    def _fill(self) -> None:
        spans = self.spans if len(self.spans) == len(self._cards) else [None] * len(self._cards)
        for place, (card, model) in enumerate(zip(self._cards, self._models, strict=True)):
            card.show(model, spans[place], [e for e in self.conditions if e.place == place])

    def _known_models(self) -> tuple[PrivacyModel, ...]:
        """The models of the study that is shown; those that a population is read for only once."""
        sections = self.page.content["privacy"]
        if not any("population" in each for each in sections):
            try:
                return self.page.study.privacy
            except AnonymizerError:  # the status says what is wrong, and it can be undone
                return self._models
        counted = self.page.outcome.counted
        if counted is None:
            return self._models
        known, before = counted.study.privacy, counted.study.document.privacy
        if [each.get("model") for each in before] != [each.get("model") for each in sections]:
            return self._models
        pairs = zip(known, sections, strict=False)  # what follows from these has no section
        own = tuple(_with_threshold(model, section) for model, section in pairs)
        return (*own, *known[len(sections) :])

    def _build_cards(self, models: Sequence[PrivacyModel]) -> None:
        self._container.clear()
        with self._container:
            self._cards = [Card(self, place, model) for place, model in enumerate(models)]
        self.conditions, self.spans = (), ()

    def _offer(self) -> None:
        """The models that can be added: those that the roles of the columns allow."""
        names = {name: name for name in offered(self.page.study.schema)}
        if self._kind.options != names:
            self._kind.set_options(names, value=self._kind.value or next(iter(names)))
        self._explain()

    def _explain(self) -> None:
        name = str(self._kind.value)
        if name in FIRST:
            model = MODELS[name](**FIRST[name])
            self._meaning.set_text(promise_of(model, self.page.study.schema))

    def _add(self) -> None:
        name = str(self._kind.value)
        self.page.take(f"add {name}", lambda content: with_model(content, name, FIRST[name]))

    def remove(self, place: int) -> None:
        """Take a model out of the policy; the focus goes to where one can be added."""
        name, sections = self._models[place].name, len(self.page.content["privacy"])
        if place >= sections:
            self.page.notify("It follows from another condition; set another threshold.")
            return
        if sections == 1:
            self.page.notify("A policy needs at least one condition; add another one first.")
            return
        self.page.take(f"remove {name}", lambda content: without_model(content, place))
        self._kind.run_method("focus")

    def take(self, words: str, change: Change) -> None:
        """Take a step of the policy; one that a model refuses is said, and shown as it was."""
        try:
            self._require_models(change)
            self.page.take(words, change)
        except AnonymizerError as error:
            self.page.draft = None
            self.page.update()
            self.page.complain(error)

    def _require_models(self, change: Change) -> None:
        text = self.page.explorer.session.after(change)
        if "population" not in text:
            _ = self.page.explorer.study(text).privacy


def _with_threshold(model: PrivacyModel, section: Content) -> PrivacyModel:
    own = slid(model)
    return replace(model, **{own: section[own]}) if own in section else model  # type: ignore[type-var]
