"""The frontier: what is kept against t or l, by recoding; any point of it can be taken."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from anonymizer.errors import AnonymizerError
from anonymizer.explorer.answers.frontier import GrowingFrontier as Answer
from anonymizer.explorer.answers.frontier import Mark, retained_about
from anonymizer.explorer.answers.series import (
    MODELS,
    SERIES,
    Swept,
    model_of,
    options_of,
    recodings_of,
    swept_in,
)
from anonymizer.explorer.page.controls import called, fill, heading, listing, note
from anonymizer.explorer.page.toolkit import GenericEventArguments, Text, ui
from anonymizer.explorer.session import contents
from anonymizer.explorer.session.contents import Content
from anonymizer.explorer.views.frontier_chart import (
    COLUMNS,
    DrawnFrontier,
    FrontierChart,
    row_of,
    share_of,
)
from anonymizer.explorer.views.view import View
from anonymizer.explorer.work import SupersededError, Work
from anonymizer.feedback.words import bits
from anonymizer.recoding import Watch
from anonymizer.recoding.generalization import Generalization
from anonymizer.release.study import Study

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage


def key_of(content: Content, swept: Swept) -> str:
    """Return as text what the points depend on: the study without threshold and recoding."""
    known = {name: each for name, each in content.items() if name not in ("recoding", "search")}
    known["seed"] = content.get("search", {}).get("seed")
    given: dict[str, Any] = {"model": swept.model.name}
    if swept.place is None:
        given |= {"distance": "kl"} if swept.model.name == MODELS[0] else {}
    else:
        place = swept.place
        split = contents.with_threshold(content, place, swept.parameter, 0, swept.attribute)
        place += len(split["privacy"]) - len(known["privacy"])
        given = split["privacy"][place]
        known["privacy"] = [each for number, each in enumerate(split["privacy"]) if number != place]
    left_out = (swept.parameter, "attribute")
    known["swept"] = {name: each for name, each in given.items() if name not in left_out}
    known["about"] = swept.attribute
    return json.dumps(known, sort_keys=True, default=str)


def taken(
    content: Content, swept: Swept, threshold: float, recoding: Generalization | None
) -> Content:
    """A study at a point: with its threshold, and its recoding where that is another one."""
    if swept.place is not None:
        given = (swept.place, swept.parameter, threshold, swept.attribute)
        content = contents.with_threshold(content, *given)
    else:
        about = {"attribute": swept.attribute}
        several = len(contents.attributes_of(content, "sensitive")) > 1
        distance = {"distance": "kl"} if swept.model.name == MODELS[0] else {}
        parameters = {**distance, swept.parameter: threshold, **(about if several else {})}
        content = contents.with_model(content, swept.model.name, parameters)
    if recoding is None:
        return content
    return contents.with_recoding(content, recoding.name, options_of(recoding))


OFTEN = 0.3
"""Seconds between two looks at points that were computed."""

TOO_EARLY = "These points are of another limit or policy; those of this one are being computed."


class FrontierView(View):
    """A chart, and a listing of its points."""

    name, title = "frontier", "Frontier"
    question = "How much information does a stricter policy cost?"

    def __init__(self, page: "ExplorerPage") -> None:
        super().__init__(page)
        self._key = ""  # of the policy and the limit that are asked about now
        self._known: tuple[str, Answer] | None = None
        self._wanted: list[str] | None = None  # None: those that are quick
        self._names: list[str] = []
        self._requested: Hashable = None
        self._working = 0
        self._shown: Hashable = None  # while what is drawn is not of what is asked about
        self._listed: dict[str, Mark] = {}

    @property
    def _answer(self) -> Answer | None:
        return self._known[1] if self._known is not None and self._known[0] == self._key else None

    def shape(self) -> Hashable:
        """The sensitive attributes."""
        return tuple(contents.attributes_of(self.page.content, "sensitive"))

    def build(self) -> None:
        """Make the controls, the chart and the listing."""
        sensitive = contents.attributes_of(self.page.content, "sensitive")
        self._sensitive = sensitive
        if not sensitive:
            note("Name a sensitive attribute in the view Table first: information is about it.")
            return
        note(
            "Each point is a release that meets the whole policy, with one limit moved. Its height "
            "is what is left to learn about the sensitive attribute; hollow points say how much of "
            "it lasts: fitted on one half of the records, measured on the other half. Where it "
            "breaks there, the other half has a class that the limit would not allow; the release "
            "has none. A line begins where the limit begins to matter."
        )
        study = self.page.study
        with ui.element("div").classes("line"):
            self._about = _choice("About", sensitive, sensitive[0], self._changed)
            self._about.set_visibility(len(sensitive) > 1)
            self._model = _choice(
                "Limit",
                {name: LIMITS.get(name, name) for name in MODELS},
                model_of(study, sensitive[0]),
                self._changed,
            )
        self._build_series()
        self.chart = FrontierChart(self.page, self._take)
        self.words = note()
        with ui.element("div").classes("line"):
            self.suggestion = ui.button(
                "Take the suggested point", on_click=self._take_suggested, color=None
            )
            self.suggestion.props("no-caps unelevated").classes("primary")
            self.suggestion.set_enabled(False)  # until a point is suggested
            self.again = ui.button("Go on computing", on_click=self._go_on)
            self.again.props("flat no-caps").set_visibility(False)
        heading("Points")
        with ui.element("div").classes("line"):
            self._series = _choice("Recoding", list(SERIES), self._own, self._changed)
        self.table = listing("Points of the frontier", COLUMNS, "Take", self._take_row)
        self._timer = ui.timer(OFTEN, self._draw, active=False)

    def _build_series(self) -> None:
        with ui.element("fieldset").classes("line series"):
            Text("legend", "Recodings")
            self._boxes = {name: ui.checkbox(name) for name in self._recodings}
        for name, box in self._boxes.items():
            box.on("update:model-value", partial(self._toggled, name))
        self._halves = ui.checkbox("Held-out information", value=True, on_change=self._changed)

    @property
    def _recodings(self) -> dict[str, Generalization]:
        return dict(recodings_of(self.page.study.recoding))

    @property
    def _own(self) -> str:
        own = contents.method_of(self.page.content)
        return own if own in SERIES else SERIES[0]

    @property
    def _swept(self) -> Swept:
        return swept_in(self.page.study, str(self._about.value), str(self._model.value))

    def show(self) -> None:
        """Ask for what is not known, and draw what is."""
        if not self._sensitive:
            return
        try:
            self._ask()
        except AnonymizerError as error:
            self._key = ""
            self.words.set_text(self.page.explorer.said(str(error)))
        self._draw()

    def _ask(self) -> None:
        swept = self._swept
        key = key_of(self.page.content, swept)
        recodings = self._recodings
        wanted = None if self._wanted is None else tuple(self._wanted)
        described = tuple(str(each.described) for each in recodings.values())
        stamp = self.page.explorer.stamp(self.page.text)
        key = self._key = f"{key} {stamp}"
        requested = (key, described, wanted, self._own, swept.threshold, self._halves.value)
        if requested != self._requested:
            self._requested = requested
            self.page.start(self._computed(key, self.page.study, swept, recodings))

    async def _computed(
        self, key: str, study: Study, swept: Swept, recodings: dict[str, Generalization]
    ) -> None:
        explorer, halves, own = self.page.explorer, bool(self._halves.value), self._own

        def work(watch: Work) -> bool:
            def made() -> Answer:
                counted = explorer.counter.counted(study, watch)
                found = Answer(counted, swept.attribute, swept.model.name)
                _ = found.original  # here, and not when it is first shown
                return found

            answer = explorer.frontiers.get(key, made)
            names = self._wanted
            if names is None:
                quick = [each for each in {own, SERIES[0]} if answer.is_quick(recodings[each])]
                names = [each for each in SERIES if each in quick]
            if not watch.ended:
                self._known, self._names = (key, answer), names
            chosen = [recodings[each] for each in names if each in recodings]
            answer.compute(chosen, swept.threshold, halves, self._while_open(watch))
            return True

        self._working += 1
        self._timer.activate()
        await self.page.answer("frontier", work)
        self._working -= 1
        if not self._working and self.page.view is self:
            self._timer.deactivate()
            self._draw()

    def _while_open(self, watch: Watch) -> Watch:
        """Return a watch that ends a computation once another view is open."""

        def watching(doing: str, done: int, of: int | None) -> None:
            if self.page.view is not self:
                raise SupersededError
            watch(doing, done, of)

        return watching

    def _draw(self) -> None:
        """Show what is known by now, if that is more than is shown."""
        if not self._sensitive:
            return
        answer = self._answer
        if answer is None:
            self._shown = None
            self.suggestion.set_enabled(False)
            return
        drawn = self._drawn(answer)
        state = (drawn, self.page.dark, answer.stopped, tuple(self._names))
        if repr(state) == self._shown:
            return
        self._shown = repr(state)
        self.chart.show(drawn)
        self._show_series(answer)
        self._say(answer, drawn)
        self._list(drawn)

    def _drawn(self, answer: Answer) -> DrawnFrontier:
        swept, recodings = self._swept, self._recodings
        marks = {name: answer.marks(recodings[name]) for name in self._names}
        if not self._halves.value:
            marks = {n: [replace(mark, held_out=None) for mark in marks[n]] for n in marks}
        now = self._kept_now(swept, marks)
        listed = str(self._series.value or SERIES[0])
        loosest = answer.loosest(recodings[listed])
        kept = None if loosest is None else loosest.retained
        return DrawnFrontier(swept, answer.original, marks, now, kept, listed)

    def _kept_now(
        self, swept: Swept, marks: Mapping[str, Sequence[Mark]]
    ) -> tuple[float, float] | None:
        """The threshold that the policy has, and what is kept: known before it is proven anew."""
        if swept.threshold is None:
            return None
        for mark in marks.get(contents.method_of(self.page.content), ()):
            if mark.threshold == swept.threshold:
                return mark.threshold, mark.point.retained
        fresh = self.page.fresh
        retained = retained_about(self.page.outcome, swept.attribute) if fresh else None
        return None if retained is None else (swept.threshold, retained)

    def _show_series(self, answer: Answer) -> None:
        recodings = self._recodings
        for name, box in self._boxes.items():
            slow = name in recodings and not answer.is_quick(recodings[name])
            box.set_text(f"{name}, slow here" if slow else name)
            box.set_value(name in self._names)
        options = self._names or [SERIES[0]]
        listed = self._series.value
        if listed not in options:
            listed = self._own if self._own in options else options[0]
        self._series.set_options(options, value=listed)

    def _say(self, answer: Answer, drawn: DrawnFrontier) -> None:
        swept, found = drawn.swept, []
        if drawn.now is not None:
            kept = f"{bits(drawn.now[1])} ({share_of(drawn.now[1], drawn.original)})"
            found.append(
                f"Now {swept.parameter} = {drawn.now[0]:g}: {kept} of the table's "
                f"{bits(drawn.original)} about {swept.attribute} are kept."
            )
        elif swept.threshold is None:
            found.append(f"The policy has no {swept.model.name} now; taking a point adds it.")
        listed = self._recodings[drawn.listed]
        if (meaning := answer.meaning(listed)) and not (self._working and not drawn.suggested):
            found.append(
                f"Suggested: {meaning}." if drawn.suggested else f"{meaning}.".capitalize()
            )
        found += [
            f"{name}: {reason}."
            for name in self._names
            if (reason := answer.reasons.get(str(self._recodings[name].described)))
        ]
        self.words.set_text(" ".join(found))
        self.again.set_visibility(answer.stopped)

    def _list(self, drawn: DrawnFrontier) -> None:
        marks = drawn.marks.get(drawn.listed, ())
        self._listed = {f"{mark.recoding} {mark.threshold!r}": mark for mark in marks}
        own = drawn.listed == contents.method_of(self.page.content)
        fill(self.table, [row_of(drawn, mark, own) for mark in marks], [*self._listed])
        self.suggestion.set_enabled(any(mark.suggested for mark in marks))

    def _changed(self) -> None:
        self._shown = None
        self.page.show()

    def _toggled(self, name: str, event: GenericEventArguments) -> None:
        given = event.args[0] if isinstance(event.args, list) else event.args
        wanted = {*self._names} | {name} if given else {*self._names} - {name}
        self._wanted = self._names = [each for each in SERIES if each in wanted]
        self._changed()

    def _go_on(self) -> None:
        self._requested = None
        self.page.show()

    def _take_row(self, key: str) -> None:
        if key in self._listed:
            self._take(self._listed[key])

    def _take_suggested(self) -> None:
        found = next((mark for mark in self._listed.values() if mark.suggested), None)
        if found is not None:  # else another answer came when the button was pressed
            self._take(found)

    def _take(self, mark: Mark) -> None:
        if self._shown is None:
            self.page.notify(TOO_EARLY)
            return
        swept, recoding = self._swept, self._recodings[mark.recoding]
        own = mark.recoding == contents.method_of(self.page.content)
        words = f"{swept.parameter} = {mark.threshold:g}"
        self.page.take(
            words if own else f"{words}, {mark.recoding}",
            lambda content: taken(content, swept, mark.threshold, None if own else recoding),
        )


LIMITS = {
    "t-closeness": "t: how far a class may be from the table",
    "entropy-l-diversity": "l: values that a class is worth",
}
"""The models that have a frontier, as they are to be chosen from."""


def _choice(label: str, options: Any, value: str, on_change: Callable[[], None]) -> ui.select:
    found = ui.select(options, label=label, value=value, on_change=on_change)
    return called(found.props("outlined dense options-dense"), label).classes("choice")
