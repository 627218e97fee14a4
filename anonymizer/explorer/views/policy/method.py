"""How the table is recoded: the method, what may be suppressed, and what is kept most of."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

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
from anonymizer.explorer.page.controls import Sliding, heading, note
from anonymizer.explorer.page.toolkit import ui
from anonymizer.explorer.session.advised import suppresses, with_goal
from anonymizer.explorer.session.contents import (
    method_of,
    options_of,
    with_recoding,
    with_suppression,
    with_trigger,
)

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

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
