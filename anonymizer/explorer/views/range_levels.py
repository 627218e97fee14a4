"""Ranges edited: the cut points, or the widths, of each level."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from anonymizer.errors import AnonymizerError, InputError
from anonymizer.explorer.answers.generalized.hierarchies import (
    Generalized,
    limits_in,
    records_of_numbers,
)
from anonymizer.explorer.answers.generalized.ladders import (
    bins_of,
    cuts_in,
    cuts_of_widths,
    numbers_in,
    places_of,
    plain,
    with_coarser,
    with_cut,
    with_cuts,
    with_moved_cut,
    without_cut,
    without_cuts_of,
)
from anonymizer.explorer.page.controls import heading, note
from anonymizer.explorer.page.ruler import Ruler, RulerBar, RulerChange, RulerDrawing
from anonymizer.explorer.page.toolkit import ui
from anonymizer.hierarchy.reading import ENDS
from anonymizer.tables.values import number_text

if TYPE_CHECKING:
    from anonymizer.explorer.views.hierarchies import HierarchiesView

Cuts = list[list[Decimal]]


class RangeLevels:
    """A field of numbers for each level of cuts, or one for all widths."""

    def __init__(self, view: "HierarchiesView") -> None:
        self._view = view
        self._fields: list[ui.input] = []
        self._texts: list[str] = []
        self._records: Sequence[tuple[Decimal, int]] = ()
        self._drawing: RulerDrawing | None = None
        heading("Ranges")
        if "cuts" in view.rule:
            note(
                "Where ranges begin, level by level. Drag a cut, or move it with the arrow keys; "
                "click an empty place to add one; Delete removes it. Or type the numbers with "
                "commas between them. Finer levels get what is added, and coarser ones lose what "
                "is removed."
            )
            self._level = ui.select({1: "level 1"}, value=1, label="Cuts on the ruler")
            self._level.props("outlined dense").classes("wide").on_value_change(self._show_ruler)
            self._ruler = Ruler(f"Cut points of {view.attribute}", self._handled)
            self._rows = ui.element("div").classes("content")
            with ui.element("div").classes("line"):
                self._button("Add a coarser level", self._add_cuts)
                self._button("Remove the coarsest level", self._remove_cuts)
        else:
            note("The width of the ranges of each level, each a multiple of the one before.")
            self._rows = ui.element("div").classes("content")
            with ui.element("div").classes("line"):
                self._button("Add a level of twice the width", self._add_width)
                self._button("Remove the coarsest level", self._remove_width)
                self._button("Turn into cut points", self._turn)

    def show(self, found: Generalized) -> None:
        """Fill in the numbers."""
        rule = self._view.shown_rule
        cuts = cuts_in(rule) if "cuts" in rule else []
        texts = [", ".join(map(number_text, level)) for level in cuts]
        labels = [f"Cut points of level {level}" for level in range(1, len(texts) + 1)]
        if not texts:
            texts = [", ".join(map(str, rule["widths"]))]
            labels = ["Widths, the finest first"]
        if len(texts) != len(self._fields):
            self._rows.clear()
            with self._rows:
                self._fields = [self._field(place, label) for place, label in enumerate(labels)]
            self._texts = [""] * len(texts)
        for field, before, text in zip(self._fields, self._texts, texts, strict=True):
            if text != before:  # else somebody may be typing
                field.set_value(text)
        self._texts = texts
        if cuts:
            levels = {level: f"level {level}" for level in range(1, len(cuts) + 1)}
            level = self._level.value if self._level.value in levels else 1
            self._level.set_options(levels, value=level)
            self._draw(found)
            self._show_ruler()

    def _draw(self, found: Generalized) -> None:
        """Draw the histogram, where these are other records than before."""
        records = records_of_numbers(found)
        if records != self._records:
            self._records = records
            self._drawing = None if not records else drawing_of(found.name, records)
        self._ruler.set_visibility(self._drawing is not None)

    def _show_ruler(self) -> None:
        cuts = cuts_in(self._view.shown_rule)
        level = self._level.value
        if self._drawing is not None and level is not None and level <= len(cuts):
            self._ruler.show(self._drawing, [*map(number_text, cuts[level - 1])])

    def _handled(self, handled: RulerChange) -> None:
        """Try or take what somebody did to the cuts of the ruler."""
        level = self._level.value or 1
        old = None if handled.old is None else Decimal(handled.old)
        new = None if handled.new is None else Decimal(handled.new)

        def change(cuts: Cuts) -> Cuts:
            if old is None:
                return cuts if new is None else with_cut(cuts, level, new)
            if new is None:
                return without_cut(cuts, level, old)
            return with_moved_cut(cuts, old, new)

        if handled.did == "move":
            self._view.attempt(lambda: self._with_cuts(change))
        else:
            words = {"add": "a cut more", "remove": "a cut less"}.get(handled.did, "a cut moved")
            self._take_cuts(words, change)

    def _field(self, place: int, label: str) -> ui.input:
        found = ui.input(label).props("outlined dense").classes("full")
        found.on("change", lambda: self._typed(place))
        return found

    def _button(self, words: str, act: Callable[[], None]) -> None:
        ui.button(words, on_click=act).props("no-caps outline")

    def _typed(self, place: int) -> None:
        text = self._fields[place].value or ""
        if "cuts" in self._view.rule:
            self._take_cuts(
                f"cuts of level {place + 1}",
                lambda cuts: with_cuts(cuts, place + 1, numbers_in(text)),
            )
        else:
            self._take_widths("widths", lambda widths: numbers_in(text))

    def _take_cuts(self, words: str, change: Callable[[Cuts], Cuts]) -> None:
        if not self._view.take(words, lambda: self._with_cuts(change)) and self._drawing:
            self._ruler.show(self._drawing, ())  # it shows what was refused
            self._show_ruler()

    def _with_cuts(self, change: Callable[[Cuts], Cuts]) -> dict[str, Any]:
        given = self._view.rule
        return {**given, "cuts": [plain(level) for level in change(cuts_in(given))]}

    def _take_widths(self, words: str, change: Callable[[list[Decimal]], list[Decimal]]) -> None:
        def rule() -> dict[str, Any]:
            given = self._view.rule
            widths = change([Decimal(str(each)) for each in given["widths"]])
            if not widths:
                raise InputError("ranges need a width; to have none, propose another hierarchy")
            return {**given, "widths": plain(widths)}

        self._view.take(words, rule)

    def _add_cuts(self) -> None:
        self._take_cuts("a coarser level", with_coarser)

    def _remove_cuts(self) -> None:
        self._take_cuts("a level less", lambda cuts: without_cuts_of(cuts, len(cuts)))

    def _add_width(self) -> None:
        self._take_widths("a coarser level", lambda widths: [*widths, 2 * widths[-1]])

    def _remove_width(self) -> None:
        self._take_widths("a level less", lambda widths: widths[:-1])

    def _turn(self) -> None:
        def rule() -> dict[str, Any]:
            given, found = self._view.rule, self._view.found
            if found is None or found.span is None:
                raise InputError("the numbers of the table are not known yet; wait for them")
            widths = [Decimal(str(each)) for each in given["widths"]]
            origin = Decimal(str(given.get("origin", 0)))
            cuts = cuts_of_widths(widths, origin, *found.span)
            ends = {name: given[name] for name in ENDS if name in given}
            return {"cuts": [plain(level) for level in cuts], **ends, **limits_in(given)}

        try:
            self._view.take("cut points", rule)
        except AnonymizerError as error:
            self._view.page.complain(error)


def drawing_of(name: str, records: Sequence[tuple[Decimal, int]]) -> RulerDrawing:
    """The histogram of numbers, and where cuts between them may be."""
    bars = [RulerBar(low, high, (size,)) for low, high, size in bins_of(records)]
    places = [*map(number_text, places_of([number for number, _ in records]))]
    return RulerDrawing(name, bars[0].low, bars[-1].high, bars, ("records",), places)
