"""What an attacker learns who knows some attributes: raw, chosen and best side by side."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anonymizer.advice.space import joins
from anonymizer.counts.counts import Counts
from anonymizer.counts.multidimensional import Regions
from anonymizer.counts.persons import PERSON
from anonymizer.explorer.answers.attack import (
    NOTHING,
    Exposure,
    ExposureMeasure,
    Telling,
    classes_in_words,
    exposure_of,
    measures_for,
    tellings_of,
)
from anonymizer.explorer.answers.classes import by_labels
from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.page.charts import Chart
from anonymizer.explorer.page.controls import fill, heading, listing, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.explorer.session.contents import (
    SUPPRESSING,
    method_of,
    options_of,
    with_recoding,
)
from anonymizer.explorer.views.view import View
from anonymizer.explorer.work import Work
from anonymizer.feedback.words import listed, plural, share

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

BROKEN = "The chosen levels break the policy and are not released; this is what they would expose. "
"""What is said of levels of which there is no release."""


def comparison(
    outcome: StudyOutcome, best: StudyOutcome | None, method: str, knows_all: bool
) -> str:
    """Describe the release or levels to compare with, and cautions about the figures.

    ``best``: what the best levels come to, once that is known.
    """
    if outcome.counts is None or outcome.plan is None:
        return "There is no release to attack: the study cannot be carried out as it stands."
    said = " ".join(cautions(outcome, knows_all))
    return f"{said} {_against(outcome, best, method)}".strip()


def _against(outcome: StudyOutcome, best: StudyOutcome | None, method: str) -> str:
    """Describe the release or levels to compare with."""
    assert outcome.plan is not None
    if outcome.plan.random:
        return ""
    if method == "fixed":
        return BROKEN * (not outcome.holds) + _best_levels(best)
    if outcome.plan.search.proven:
        return f"The chosen recoding ({method}) is the best of its kind already."
    return f"The chosen recoding ({method}) is the best that was found of its kind."


def _best_levels(best: StudyOutcome | None) -> str:
    if best is not None and best.counts is None:
        return "No levels at all satisfy the policy, so there is no best."
    return "Best levels: the same policy, with the levels that are best by the study's objective."


def cautions(outcome: StudyOutcome, knows_all: bool) -> Iterator[str]:
    """Yield cautions about the figures of a release."""
    raw, counts, plan = outcome.raw, outcome.counts, outcome.plan
    if plan is not None and plan.random:
        yield "Released values are drawn at random: what is taken here for true need not be."
    if plan is not None and isinstance(plan.recoding, Regions) and not knows_all:
        yield (
            "Classes have labels of their own: who knows some attributes is taken to recognize the "
            "label that each of them has for the person."
        )
    if counts is not None and joins(counts):
        yield (
            "The release joins the rows of a person. A value is guessed here by all of them, and "
            "who is found is said of single records: the policy is about all records of a person."
        )
    elif counts is not None and PERSON in counts.joint:
        yield "Records are counted here, of which a person may have several."
    if raw is not None and counts is not None and raw.records > counts.records:
        left = plural(raw.records - counts.records, "record is", "records are")
        yield f"{left} left out of the release."


def summary(known: Sequence[str], about: str | None, exposure: Exposure | None) -> str:
    """Summarize the attack in a sentence."""
    if exposure is None:
        return ""
    who = f"Who knows {listed(known)}" if known else "Who knows nothing of a person"
    found = f"finds a person's record with a probability of at most {share(exposure.highest)}"
    if exposure.guessing is None or about is None:
        return f"{who} {found}."
    surest = share(exposure.guessing.surest)
    return f"{who} {found}, and nobody's “{about}” is guessed with more than {surest}."


RAW, CHOSEN, BEST = "Raw table", "As chosen", "Best levels"

DRAWN = ("Surest guess", "Guessed right on average", "Highest re-identification risk")
"""What is drawn: the others are in the table."""


DECALS = {
    RAW: {"symbol": "none"},
    CHOSEN: {"symbol": "rect", "dashArrayX": [1, 0], "dashArrayY": [2, 5], "rotation": 0.785},
    BEST: {"symbol": "circle", "symbolSize": 0.6},
}
"""Patterns of the bars, so that colour is not the only sign."""


class AttackPicture:
    """The chart, with a pattern for each table."""

    def __init__(self, page: "ExplorerPage") -> None:
        self._chart = Chart(page)

    def show(self, exposed: Mapping[str, Exposure], about: str | None) -> None:
        """Draw what tables expose, by their names."""
        measures = [each for each in measures_for(about) if each.name in DRAWN or about is None]
        categories = self._chart.axis(
            "",
            type="category",
            data=[each.short for each in measures],
        )
        categories["axisLabel"] |= {
            "interval": 0,
            "width": 90,
            "overflow": "break",
            "lineHeight": 15,
        }
        options = {
            "xAxis": categories,
            "yAxis": self._chart.axis("share of records or probability, %", min=0, max=100),
            "series": [
                self._bars(table, exposed[table], measures)
                for table in (RAW, CHOSEN, BEST)
                if table in exposed
            ],
        }
        words = "; ".join(
            f"{table}: " + ", ".join(f"{e.name} {share(e.portion(each))}" for e in measures)
            for table, each in exposed.items()
        )
        self._chart.show(options, f"Bars of what the attacker learns. {words}.")

    def _bars(
        self, table: str, exposure: Exposure, measures: Sequence[ExposureMeasure]
    ) -> dict[str, Any]:
        """The bars of one table, with their numbers."""
        label = {"show": True, "position": "top", "formatter": "{c}%"}
        return {
            "name": table,
            "type": "bar",
            "data": [round(100 * each.portion(exposure), 2) for each in measures],
            "label": {**label, "color": self._chart.palette.ink},
            "itemStyle": {"decal": DECALS[table]},
        }


WAITING = "Not computed yet"

EXPLAINED = (
    "The attacker knows some attributes of a person, finds the records that fit, and guesses the "
    "rest from them. Suppressed records are a class of their own, *."
)
KNOWN = ("knows it alone", "knows all but it")
"""What an attacker knows who is after what one attribute tells."""


class AttackView(View):
    """Choices of what is known, a table of measures, and what each attribute tells."""

    name, title = "attack", "Attack"
    question = "What does an attacker learn who knows some attributes of a person?"

    def shape(self) -> Hashable:
        """The attributes, and whether there is a better recoding to compare with."""
        schema = self.page.study.schema
        return schema.quasi_identifiers, schema.sensitive, self._is_fixed

    @property
    def _is_fixed(self) -> bool:
        return method_of(self.page.content) == "fixed"

    def build(self) -> None:
        """Make the choices, the table and the chart."""
        schema = self.page.study.schema
        self._answered: StudyOutcome | None = None
        self._exposed: dict[str, Exposure] = {}
        self._best: StudyOutcome | None = None
        self._searched_for: StudyOutcome | None = None
        self._told_of: tuple[StudyOutcome, str | None] | None = None
        note(EXPLAINED)
        heading("What the attacker knows")
        self._build_choices(schema.quasi_identifiers, schema.sensitive)
        heading("What the attacker learns")
        self._said = Text("p").props("role=status")
        self._tables = (RAW, CHOSEN, BEST) if self._is_fixed else (RAW, CHOSEN)
        self._table = listing("What the attacker learns", ["Measure", *self._tables, "Meaning"])
        self._compared = note()
        self._picture = AttackPicture(self.page)
        heading("Which attributes tell most?")
        self._tells = note()
        columns = [f"{table}: {what}" for table in (RAW, CHOSEN) for what in KNOWN]
        self._attributes = listing("Which attributes tell most", ["Attribute", *columns])
        self._attributes.props(f'no-data-label="{WAITING}"')
        self._table.props(f'no-data-label="{WAITING}"')

    def _build_choices(self, names: Sequence[str], sensitive: Sequence[str]) -> None:
        with ui.element("fieldset").classes("card"):
            Text("legend", "Known of the person")
            with ui.element("div").classes("line"):
                self._known = {
                    name: ui.checkbox(name, value=True, on_change=self._changed) for name in names
                }
                self._in_table = ui.checkbox(
                    "that the person is in the table", value=True, on_change=self._changed
                )
            self._nobody = note("Without a population in the study nobody else could be meant.")
        self._about = (
            ui.select(
                list(sensitive),
                label="What is guessed",
                on_change=self._changed,
                value=next(iter(sensitive), None),
            )
            .props("outlined dense options-dense")
            .classes("choice")
        )
        self._about.set_visibility(bool(sensitive))

    def show(self) -> None:
        """Compute what is exposed, where that is not known; draw it."""
        outcome = self.page.outcome
        if not self.page.fresh:
            self.page.works.end("best")  # it is of what was before
        if self.page.fresh and outcome is not self._answered:
            self._answered = outcome
            peopled = outcome.raw is not None and outcome.raw.population is not None
            self._in_table.set_enabled(peopled)
            self._nobody.set_visibility(not peopled)
            self._best = None
            self._changed()
        elif self._exposed:
            self._draw()

    def _changed(self) -> None:
        if self._answered is not None:
            self.page.start(self._answer(self._answered))

    async def _answer(self, outcome: StudyOutcome) -> None:
        """Expose the raw table and the chosen one; then the best levels, which may take longer."""
        known, about, inside = self._choice()
        found = await self.page.answer("attack", lambda _: _exposed(outcome, known, about, inside))
        if found is None or self._is_past(outcome):
            return
        self._exposed = dict(found)
        self._fill(outcome)
        if self._is_fixed and self._searched_for is not outcome:
            self.page.start(self._compare(outcome))
        if self._told_of == (outcome, about):  # it does not depend on what is known
            return
        tellings = await self.page.answer("tellings", lambda _: self._tellings(outcome, about))
        if tellings is not None and not self._is_past(outcome):
            self._told_of = outcome, about
            self._fill_attributes(tellings)

    async def _compare(self, outcome: StudyOutcome) -> None:
        """Expose the best levels under the same policy; searched for once, whatever is known."""
        if self._best is None:
            self._searched_for = outcome
            best = await self.page.answer("best", self._searched)
            if self._searched_for is outcome:
                self._searched_for = None
            if best is None or self._is_past(outcome):
                return
            self._best = best
        if self._best.counts is not None:
            self._exposed[BEST] = exposure_of(self._best.counts, *self._choice())
        self._fill(outcome)

    def _searched(self, work: Work) -> StudyOutcome:
        """Return the outcome of the best levels under the policy."""
        session = self.page.explorer.session
        text = session.after(
            lambda content: with_recoding(content, "full-domain", _suppressing(content))
        )
        return self.page.explorer.outcome(text, self.watched(work))

    def _is_past(self, outcome: StudyOutcome) -> bool:
        return self.page.view is not self or outcome is not self._answered

    def _choice(self) -> tuple[list[str] | None, str | None, bool]:
        names = [name for name, box in self._known.items() if box.value]
        known = names if len(names) < len(self._known) else None
        about = None if self._about.value is None else str(self._about.value)
        return known, about, bool(self._in_table.value)

    def _fill(self, outcome: StudyOutcome) -> None:
        known, about, _ = self._choice()
        measures = measures_for(about)
        shown = [self._exposed.get(table) for table in self._tables]
        rows = [("Groups told apart", *map(_groups, shown), "Records in one look alike.")]
        rows += [
            (each.name, *(NOTHING if e is None else each.text(e) for e in shown), each.meaning)
            for each in measures
        ]
        fill(self._table, rows)
        self._said.set_text(
            summary([*self._known] if known is None else known, about, self._exposed.get(CHOSEN))
        )
        self._compared.set_text(
            comparison(outcome, self._best, method_of(self.page.content), known is None)
        )
        self._draw()

    def _draw(self) -> None:
        self._picture.show(self._exposed, self._choice()[1])

    def _tellings(self, outcome: StudyOutcome, about: str | None) -> Mapping[str, list[Telling]]:
        names = [*self._known]
        return {
            table: tellings_of(counts, names, about)
            for table, counts in ((RAW, outcome.raw), (CHOSEN, by_labels(outcome)))
            if counts is not None
        }

    def _fill_attributes(self, tellings: Mapping[str, list[Telling]]) -> None:
        _, about, _ = self._choice()
        what = f"“{about}” is guessed right" if about else "a person's record is found"
        self._tells.set_text(
            f"How often {what} on average, by an attacker who knows one attribute alone, or all "
            "but that one."
        )
        chosen = {each.name: each for each in tellings.get(CHOSEN, ())}
        fill(
            self._attributes,
            [
                (
                    each.name,
                    share(each.alone),
                    share(each.others),
                    *_shares_of(chosen.get(each.name)),
                )
                for each in tellings.get(RAW, ())
            ],
        )


def _exposed(
    outcome: StudyOutcome, known: Sequence[str] | None, about: str | None, inside: bool
) -> Mapping[str, Exposure]:
    tables: Mapping[str, Counts | None] = {RAW: outcome.raw, CHOSEN: by_labels(outcome)}
    return {
        table: exposure_of(counts, known, about, inside)
        for table, counts in tables.items()
        if counts is not None
    }


def _suppressing(content: dict[str, object]) -> dict[str, object]:
    options = options_of(content)
    return {key: options[key] for key in SUPPRESSING if key in options}


def _groups(exposure: Exposure | None) -> str:
    return NOTHING if exposure is None else classes_in_words(exposure)


def _shares_of(telling: Telling | None) -> tuple[str, str]:
    return (NOTHING, NOTHING) if telling is None else (share(telling.alone), share(telling.others))
