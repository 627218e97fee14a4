"""What the study comes to, in a few figures that stay in sight whatever view is open."""

from typing import TYPE_CHECKING

from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.page.controls import called
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.feedback.words import bits, count, plural, share

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

NOTHING = "-"
"""What stands for a figure that there is none of."""

OFTEN = 0.25
"""Seconds between two looks at what is being computed."""

LONG = 0.6
"""Seconds after which a computation is shown."""


class Status:
    """The figures of the outcome, undo and redo, and what is being computed."""

    def __init__(self, page: "ExplorerPage") -> None:
        self.page = page
        self._answers = 0

    def build_history(self) -> None:
        """Make the buttons that undo and redo."""
        session = self.page.explorer.session
        self.undo = ui.button(icon="undo", on_click=session.undo).props("flat round dense")
        self.redo = ui.button(icon="redo", on_click=session.redo).props("flat round dense")

    def build(self) -> None:
        """Make the figures, and the line of what is being computed."""
        with ui.element("section").classes("status") as self.section:
            self.section.props('aria-label="What this comes to"')
            self.verdict = Text("p", COMPUTING).classes("verdict").props("role=status")
            self.way = ui.button(on_click=self._lead, color=None)
            self.way.props("outline no-caps dense padding='0 .6rem'").set_visibility(False)
            with ui.element("dl").classes("figures"):
                self.figures = {name: _figure(name) for name in FIGURES}
        with ui.element("div").classes("doing") as self.doing:
            self.words = Text("p").props("role=status")
            self.amount = Text("p")  # every second another: not read aloud
            self.bar = ui.linear_progress(show_value=False).props(
                'instant-feedback aria-label="Progress"'
            )
            ui.button("Take the best so far", on_click=self.page.works.settle).props("flat no-caps")
        self.doing.set_visibility(False)
        self.count(0)
        ui.timer(OFTEN, self._progress)

    def show(self) -> None:
        """Fill in the figures of the outcome."""
        self._history()
        outcome, fresh = self.page.outcome, self.page.fresh
        kind = "waits" if not fresh else "holds" if outcome.holds else "breaks"
        self.verdict.classes(add=kind, remove=" ".join({"waits", "holds", "breaks"} - {kind}))
        self.section.props(f"aria-busy={str(not fresh).lower()}")
        if not fresh:  # the old figures stay for the moment that most answers take
            return
        self._answers += 1
        self.section.props(f"data-answers={self._answers}")
        self.verdict.set_text(verdict_of(outcome))
        self._show_way()
        for name, text in figures_of(outcome).items():
            self.figures[name].set_text(text)

    def _show_way(self) -> None:
        wanted = mended_in(self.page.outcome)
        self.way.set_visibility(wanted not in ("", self.page.view.name))
        if wanted:
            self.way.set_text(WAYS[wanted])

    def _lead(self) -> None:
        self.page.open(mended_in(self.page.outcome) or self.page.view.name)

    def _history(self) -> None:
        history = self.page.explorer.session.history
        for button, words, key in (
            (self.undo, history.undoes, "Undo"),
            (self.redo, history.redoes, "Redo"),
        ):
            button.set_enabled(bool(words))
            label = f"{key}: {words}" if words else f"{key}: nothing"
            called(button, label, shown=True)

    def count(self, computations: int) -> None:
        """Mark how many computations are at work."""
        self.doing.props(f"data-running={computations}")

    def _progress(self) -> None:
        running = [work for work in self.page.works.running if work.seconds > LONG]
        self.doing.set_visibility(bool(running))
        if running:
            if not self.page.fresh:
                self.verdict.set_text(COMPUTING)
            work = running[0]
            of = f" of {work.of:,}" if work.of else ""
            done = f"{work.done:,}{of}, " if work.done else ""
            self.words.set_text(work.doing or "computing")
            self.amount.set_text(f"{done}{work.seconds:.0f} s")
            self.bar.props(remove="" if not work.of else "indeterminate")
            if work.of:
                self.bar.set_value(min(work.done / work.of, 1))
            else:
                self.bar.props("indeterminate")


WAYS = {"table": "What to do: see Table", "policy": "What to do: see Policy"}
"""What leads to the view in which something can be mended."""

COMPUTING = "… Computing"

FIGURES = ("Information kept", "Surest guess", "Classes", "Smallest class", "Suppressed")


def verdict_of(outcome: StudyOutcome) -> str:
    """Return whether the policy holds, in a sentence."""
    if outcome.holds:
        return "✓ The policy holds for every class."
    return f"✗ {outcome.refusal[:1].upper()}{outcome.refusal[1:]}"


def mended_in(outcome: StudyOutcome) -> str:
    """The name of the view in which what is wrong can be mended; empty where nothing is."""
    if outcome.holds or not outcome.refusal:
        return ""
    return "table" if outcome.counted is None else "policy"


def figures_of(outcome: StudyOutcome) -> dict[str, str]:
    """The figures by their names, in their units; a dash where there is nothing to say."""
    nothing = dict.fromkeys(FIGURES, NOTHING)
    counts = outcome.counts
    if counts is None:
        return nothing
    kept = outcome.information
    worst = max((each.worst for each in outcome.disclosures.values()), default=None)
    sizes = counts.sizes[counts.sizes > 0]
    return {
        "Information kept": NOTHING if kept is None else _kept(*kept),
        "Surest guess": NOTHING if worst is None else share(worst),
        "Classes": count(outcome.classes),
        "Smallest class": plural(int(sizes.min()), "record"),
        "Suppressed": plural(outcome.suppressed, "record"),
    }


def _kept(original: float, kept: float) -> str:
    of_all = f" ({share(kept / original)})" if original else ""
    return f"{bits(kept)}{of_all}"


def _figure(name: str) -> Text:
    with ui.element("div").classes("figure"):
        Text("dt", name)
        return Text("dd", NOTHING)
