"""The policy: its models with sliders, what each means for a person, and its worst class now."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from anonymizer.errors import AnonymizerError
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.answers.policy.conditions import (
    ModelCondition,
    conditions_of,
    promise_of,
)
from anonymizer.explorer.answers.policy.parameters import FIRST, IN_FILE, slid, spans_of
from anonymizer.explorer.answers.policy.ways import ways_of
from anonymizer.explorer.answers.span import Span
from anonymizer.explorer.page.controls import heading, note
from anonymizer.explorer.page.toolkit import ui
from anonymizer.explorer.session.contents import Content, with_model, without_model
from anonymizer.explorer.session.session import Change
from anonymizer.explorer.views.policy.card import Card
from anonymizer.explorer.views.policy.method import Method
from anonymizer.explorer.views.policy.ways import WaysOut
from anonymizer.explorer.views.view import View
from anonymizer.privacy import MODELS, PrivacyModel
from anonymizer.report.verdicts import against

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
        holds = against(", ".join(roles.quasi_identifiers), about)
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
        known = () if counted is None else counted.study.privacy
        if [each.name for each in known] != [each.get("model") for each in sections]:
            return self._models
        pairs = zip(known, sections, strict=True)
        return tuple(_with_threshold(model, section) for model, section in pairs)

    def _build_cards(self, models: Sequence[PrivacyModel]) -> None:
        self._container.clear()
        with self._container:
            self._cards = [Card(self, place, model) for place, model in enumerate(models)]
        self.conditions, self.spans = (), ()

    def _offer(self) -> None:
        """The models that can be added: those that the roles of the columns allow."""
        about = bool(self.page.study.schema.sensitive)
        offered = {name: name for name in FIRST if about or not MODELS[name].sensitive}
        if self._kind.options != offered:
            self._kind.set_options(offered, value=self._kind.value or next(iter(offered)))
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
        name = self._models[place].name
        if len(self._models) == 1:
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
        """Refuse a policy that is none; one about a population is looked at when it is counted."""
        text = self.page.explorer.session.after(change)
        if "population" not in text:
            _ = self.page.explorer.study(text).privacy


def _with_threshold(model: PrivacyModel, section: Content) -> PrivacyModel:
    own = slid(model)
    return replace(model, **{own: section[own]}) if own in section else model  # type: ignore[type-var]
