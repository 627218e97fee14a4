"""The release: before and after, what it is weak in, its report, and how it is written."""

from collections.abc import Hashable, Sequence

from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.answers.preview import (
    TOP,
    AttributeChange,
    anonymous,
    bars_of,
    changes_of,
    figures_of,
    others_of,
    repeated_of,
    sizes_of,
    unique_of,
    warnings_of,
)
from anonymizer.explorer.page.charts import Chart
from anonymizer.explorer.page.controls import fill, heading, listing, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.explorer.views.saving import SavingFields
from anonymizer.explorer.views.view import View
from anonymizer.explorer.work import Work
from anonymizer.explorer.writing import Preview, previewed
from anonymizer.feedback.words import count, listed, plural

ALREADY = (
    "Whether other columns, or the order of the records, give quasi-identifiers away is seen in "
    "the released table: the preview of the report finds it."
)


BASE = '<base href="about:srcdoc">'
"""What makes links within a page in a frame lead to places in it."""

COLUMNS = (
    "Quasi-identifier",
    "How it is released",
    "Values before",
    "Labels after",
    "Records at *",
)


class ReleaseView(View):
    """The released table next to the given one, and the buttons that write it."""

    name, title = "release", "Release"
    question = "What is released, and what is it weak in?"

    def shape(self) -> Hashable:
        """The quasi-identifiers, one of which is looked at."""
        return tuple(self.page.content["quasi-identifiers"])

    def build(self) -> None:
        """Make the parts, from what is looked at to what is done."""
        note(
            "The table before and after, what the release is weak in, and its report. Nothing is "
            "written until you press one of the buttons at the end."
        )
        self._shown: tuple[StudyOutcome, bool] | None = None
        self._found: Sequence[AttributeChange] = ()
        self._warned: Sequence[str] = ()
        self._framed: Preview | None = None
        self._columns: Sequence[str] = ()
        self._repeated: Sequence[str] = ()
        self._unique: Sequence[str] = ()
        self._build_figures()
        self._build_values()
        self._build_warnings()
        self._build_report()
        self.saving = SavingFields(self.page)

    def _build_figures(self) -> None:
        heading("Before and after")
        self.figures = _small(listing("Figures before and after", ("Figure", "Before", "After")))
        self.changes = listing("Quasi-identifiers before and after", COLUMNS)
        self.changes.props('no-data-label="Comparing the values …"')
        note("* hides a value altogether.")
        heading("Sizes of classes")
        note(
            "A class is a group of records that look alike to whoever knows the quasi-identifiers "
            "of a person. The person can be any of them, so larger ones protect better."
        )
        self.chart = Chart(self.page)
        self.chart.element.classes("small")

    def _build_values(self) -> None:
        names = [*self.page.content["quasi-identifiers"]]
        heading("Values and labels")
        self.choice = (
            ui.select(
                names,
                value=names[0] if names else None,
                label="Quasi-identifier",
                on_change=self._show_values,
            )
            .props("outlined dense")
            .classes("choice")
        )
        with ui.element("div").classes("cards"):
            with ui.element("section").classes("card"):
                self.before_words = Text("p").classes("note")
                self.before = _small(listing("Values before", ("Value before", "Records")))
            with ui.element("section").classes("card"):
                self.after_words = Text("p").classes("note")
                self.after = _small(listing("Labels after", ("Label after", "Records")))

    def _build_warnings(self) -> None:
        heading("What to beware of")
        self.warnings = ui.element("ul").classes("warnings")
        self.more = Text("p").classes("note")
        self.others = Text("p")

    def _build_report(self) -> None:
        heading("The report")
        note(
            "The page that goes with the release, for whoever decides on it or receives it. For "
            "the preview the release is made in a hidden directory, which is removed at once."
        )
        with ui.element("div").classes("line"):
            self.preview = ui.button("Preview the report", on_click=self._preview)
            self.preview.props("outline no-caps")
            self.said = Text("p").props("role=status").classes("note")
        self.frame = ui.element("iframe").classes("report")
        self.frame.props('sandbox="" title="Preview of the report"')
        self.frame.set_visibility(False)

    def show(self) -> None:
        """Fill in figures, labels and warnings."""
        state = self.page.outcome, self.page.dark
        if self._shown != state:
            is_new = self._shown is None or self._shown[0] is not self.page.outcome
            self._shown = state
            self._show_figures()
            self._show_chart()
            if is_new:
                self.page.start(self._find_changes(self.page.outcome))
                self.page.start(self._find_columns(self.page.outcome))
        self._show_warnings()
        self._show_preview()
        self.saving.show()

    def _show_figures(self) -> None:
        found = figures_of(self.page.outcome)
        fill(self.figures, [(each.name, each.before, each.after) for each in found])

    async def _find_changes(self, outcome: StudyOutcome) -> None:
        def compute(watch: Work) -> tuple[Sequence[AttributeChange], Sequence[str]]:
            return changes_of(outcome), warnings_of(outcome)

        found = await self.page.answer("changes", compute)
        if found is not None and outcome is self.page.outcome and self.page.view is self:
            self._found, self._warned = found
            fill(self.changes, [_row(each) for each in self._found])
            if not self._found:
                self.changes.props('no-data-label="There is no release to compare with."')
            self._show_values()
            self._show_warnings()

    def _show_chart(self) -> None:
        outcome, chart = self.page.outcome, self.chart
        bars = bars_of(sizes_of(outcome.raw), sizes_of(outcome.counts))
        series = [("Before", [bar.before for bar in bars]), ("After", [bar.after for bar in bars])]
        names = {"data": [bar.words for bar in bars], "type": "category"}
        options = {
            "xAxis": chart.axis("size of the class, records", **names),
            "yAxis": chart.axis("records in such classes", nameGap=48),
            "tooltip": {"trigger": "axis"},
            "series": [{"name": name, "type": "bar", "data": data} for name, data in series],
        }
        chart.show(options, _words(outcome))

    def _show_values(self) -> None:
        found = next((each for each in self._found if each.name == self.choice.value), None)
        if found is None:
            found = AttributeChange(str(self.choice.value or ""), (), ())
        shown = found if self.page.shows_labels else anonymous(found)
        self.before_words.set_text(_top(shown.before, "value", "values", "before"))
        self.after_words.set_text(_top(shown.after, "label", "labels", "after"))
        fill(self.before, [(name, count(n)) for name, n in shown.before[:TOP]])
        fill(self.after, [(name, count(n)) for name, n in shown.after[:TOP]])

    def _show_warnings(self) -> None:
        whole = self._whole()
        found = [*self._repeated, *self._warned, *self._unique]
        words = found if whole is None else whole.warnings
        none = "None." if whole is not None else "None that the counts show."
        self.warnings.clear()
        with self.warnings:
            for each in words or [none]:
                Text("li", each)
        self.more.set_text("" if whole is not None else ALREADY)
        others = others_of(self._columns, self.page.outcome)
        self.others.set_text(
            f"Released as they are: {listed(others)}. The policy does not protect from whoever "
            "knows values of them, nor the values themselves."
            if others
            else "No other column is released."
        )
        self.others.set_visibility(bool(self._columns))

    def _whole(self) -> Preview | None:
        found = self.page.explorer.preview
        return found if found is not None and found.text == self.page.text else None

    def _show_preview(self) -> None:
        found, labels = self.page.explorer.preview, self.page.shows_labels
        reason = self.saving.reason if labels else "The report shows labels, and they are hidden."
        self.preview.set_enabled(not reason)
        stale = "The preview below is of an earlier step." if found and not self._whole() else ""
        self.said.set_text(reason or stale)
        self.frame.set_visibility(labels and found is not None)
        if labels and found is not None and self._framed is not found:
            self._framed = found
            self.frame.props["srcdoc"] = found.html.replace("<head>", f"<head>{BASE}", 1)
            self.frame.update()

    async def _preview(self) -> None:
        session = self.page.explorer.session
        text, study = session.text, session.study()
        name = self.saving.directory.name or "release"

        def compute(watch: Work) -> Preview:
            return previewed(study, text, session.folder, name, watch)

        found = await self.page.answer("preview", compute)
        if found is not None:
            self.page.explorer.preview = found
            self.page.show()

    async def _find_columns(self, outcome: StudyOutcome) -> None:
        study, counter = self.page.study, self.page.explorer.counter

        def compute(watch: Work) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
            found = counter.profile(study.data_path, study.document.data.table, study.given)
            with study.opened(watch) as table:
                columns = [*map(str, table.columns)]
                return columns, repeated_of(found), unique_of(table, outcome)

        found = await self.page.answer("columns", compute)
        if found is not None and outcome is self.page.outcome:
            self._columns, self._repeated, self._unique = found
            if self.page.view is self:
                self._show_warnings()


def _small(table: ui.table) -> ui.table:
    return table.props("dense", remove=":grid")


def _row(change: AttributeChange) -> tuple[str, str, str, str, str]:
    labels = count(len(change.after)), count(change.hidden)
    return change.name, change.how, count(len(change.before)), *labels


def _top(found: Sequence[object], one: str, more: str, when: str) -> str:
    listing_all = len(found) <= TOP
    return f"{plural(len(found), one, more)} {when}" + (
        "." if listing_all else f", the {TOP} of most records:"
    )


def _words(outcome: StudyOutcome) -> str:
    before, after = sizes_of(outcome.raw), sizes_of(outcome.counts)
    if not len(after):
        return "Records by the size of their class: there is no release."
    return (
        f"Records by the size of their class. Before: {plural(len(before), 'class', 'classes')}, "
        f"the smallest of {count(before.min())}. After: "
        f"{plural(len(after), 'class', 'classes')}, the smallest of {count(after.min())}."
    )
