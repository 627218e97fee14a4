"""Cut points: an attribute as a histogram, cuts that are moved on it, and what both sides tell."""

from collections.abc import Sequence
from decimal import Decimal

from anonymizer.explorer.answers.outcome import StudyOutcome
from anonymizer.explorer.answers.ranges.axis import CutAxis, CutKeys, point_text
from anonymizer.explorer.answers.ranges.standing import (
    MOST_CUTS,
    Standing,
    cuts_now,
    found_said,
    standing_in,
    standing_of,
    why_not,
)
from anonymizer.explorer.page.controls import note
from anonymizer.explorer.page.ruler import Ruler, RulerChange, RulerDrawing
from anonymizer.explorer.page.toolkit import ui
from anonymizer.explorer.views.cuts import (
    CutField,
    CutFigures,
    CutSearch,
    Cutting,
    cuts_said,
    drawing_of,
    offer,
    select,
    start_of,
    starts_of,
    step_words,
)
from anonymizer.explorer.views.view import View
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Taxonomy
from anonymizer.recoding.recoding import Task

HELP = (
    "The bars show how many records have each value, and what these have of the sensitive "
    "attribute. Cut points divide the values into ranges. Drag one, or focus it and press the "
    "arrow keys (Page Up and Page Down go ten values, Delete removes it); a click between two cuts "
    "adds one."
)

NO_AXIS = (
    "No quasi-identifier has numbers, dates or an order, so there is nothing to cut. Give one such "
    "a hierarchy in Hierarchies, for example ranges of a width."
)

TOO_EARLY = "The levels of the others are still being searched. Wait, or take the best so far."


class CutPointsView(View):
    """A ruler with the cuts of one attribute, what its ranges tell, and a search for better ones.

    ``_known`` is the last outcome that has counts, ``_moving`` the cuts while one is dragged,
    ``_held`` those that a search is to keep, all where that is None. ``_standing`` is how the other
    attributes were released before anything was tried.
    """

    name, title = "cut-points", "Cut points"
    question = "Where should ranges begin, and what do both sides of a cut tell?"

    def build(self) -> None:
        """Make the elements."""
        self._known: tuple[StudyOutcome, Task] | None = None
        self._axes: dict[str, tuple[object, CutAxis | None]] = {}
        self._drawn: tuple[object, RulerDrawing] | None = None
        self._standing: Standing | None = None
        self._moving: tuple[Decimal, ...] | None = None
        self._held: set[Decimal] | None = None
        self._filling = False
        note(HELP)
        self.waits = note()
        with ui.element("div").classes("line") as self.choices:
            self.attribute = select("Attribute", self._chosen)
            self.sensitive = select("Sensitive attribute", self._chosen)
            self.start = select("Start from", self._started)
        with ui.element("div") as self.body:
            self.said = note()
            self.ruler = Ruler("Cut points", self._handled, lambda key: self.field.point(key))
            self.field = CutField(self._add, self._remove, not self.page.shows_labels)
            self.search = CutSearch(self._hold, self._best_from_here, self._best_of_all)
            self.figures = CutFigures(self.page)
        self.body.classes("content")

    def show(self) -> None:
        """Fill in the attributes, the ruler and the figures."""
        outcome = self.page.outcome
        if outcome.task is not None:
            self._known = outcome, outcome.task
        if self.page.draft is None:
            self._moving = None
        self._filling = True  # nobody chooses what is filled in
        try:
            axis = self._choose()
            self.waits.set_visibility(axis is None)
            self.choices.set_visibility(axis is not None)
            self.body.set_visibility(axis is not None)
            self.waits.set_text("" if axis is not None else self._why_nothing())
            if axis is not None:
                self._show(axis)
        finally:
            self._filling = False

    def _show(self, axis: CutAxis) -> None:
        cuts = self._cuts()
        self._stand()
        self.start.set_enabled(self._standing is not None)
        self.field.set_enabled(self._standing is not None)
        self._show_ruler(axis, cuts)
        known = cuts is not None and len(cuts) <= MOST_CUTS
        movable = cuts if cuts is not None and known else ()
        self.figures.element.set_visibility(known)
        if known:
            assert self._known is not None
            self.figures.show(axis, movable, self.sensitive.value, self._known[1])
        if self._moving is not None:
            return  # what there is to hold is settled when the cut is let go
        keys = self._keys
        held = self._held_of(movable)
        offered = {key: self._point(keys.number(key)) for key in keys.keys(movable)}
        found = found_said(self.page.outcome, self.page.study, axis.attribute)
        self.search.show(offered, keys.keys(held), found if self.page.fresh else "")
        self.search.set_enabled(self._standing is not None, bool(held))

    # What there is to cut.

    @property
    def _taxonomy(self) -> Taxonomy:
        assert self._known is not None
        return self._known[1].counted.taxonomies[self.attribute.value]

    @property
    def _keys(self) -> CutKeys:
        axis = self._axis(self._taxonomy)
        assert axis is not None
        return CutKeys(axis, not self.page.shows_labels)

    def _choose(self) -> CutAxis | None:
        """Offer the attributes that can be drawn; the axis of the one that is chosen."""
        if self._known is None:
            return None
        counted = self._known[1].counted
        names = [name for name, each in counted.taxonomies.items() if self._axis(each)]
        offer(self.attribute, {name: name for name in names})
        offer(self.sensitive, {name: name for name in counted.counts.sensitive})
        self.sensitive.set_visibility(len(counted.counts.sensitive) > 1)
        return self._axis(self._taxonomy) if names else None

    def _axis(self, taxonomy: Taxonomy) -> CutAxis | None:
        """The axis of an attribute, made once for a table and what its values are counted at."""
        assert self._known is not None
        outcome, task = self._known
        assert outcome.counted is not None
        name, counts = taxonomy.attribute, task.counted.counts
        key = outcome.counted.tally, taxonomy.limits.ground, taxonomy.scale, counts.sensitive
        if name not in self._axes or self._axes[name][0] != key:
            self._axes[name] = key, CutAxis.of(counts, taxonomy)
        return self._axes[name][1]

    def _why_nothing(self) -> str:
        if self._known is not None:
            return NO_AXIS
        return "The line above says what is wrong." if self.page.fresh else "Counting the table."

    def _point(self, number: Decimal) -> str:
        if not self.page.shows_labels:
            return f"rank {self._keys.keys([number])[0]}"
        return point_text(self._taxonomy.scale, number)

    # The cuts, and what they change.

    def _cuts(self) -> tuple[Decimal, ...] | None:
        """The cuts that are shown: where the hand has them, or as study or outcome have them."""
        if self._moving is not None:
            return self._moving
        assert self._known is not None
        outcome = self.page.outcome if self.page.fresh else self._known[0]
        return cuts_now(self.page.study, outcome, self.attribute.value)

    def _stand(self) -> None:
        """Take note how the other attributes are released, before anything is tried."""
        if self.page.draft is not None and self._standing is not None:
            return
        name = self.attribute.value
        self._standing = standing_in(self.page.study, name)
        if self._standing is None and self.page.fresh:
            self._standing = standing_of(self.page.outcome, name)

    def _cutting(self) -> Cutting | None:
        if self._standing is None:
            self.page.notify(TOO_EARLY)
            return None
        return Cutting(self._taxonomy, self._standing)

    def _take(self, words: str, cuts: Sequence[Decimal]) -> None:
        """Release the attribute with cuts, as a step whose words say what else changed."""
        cutting, self._moving = self._cutting(), None
        if cutting is not None:
            others = [*cutting.standing.words]
            self.page.take("; ".join([words, *others]), lambda content: cutting.at(content, cuts))
            if others:
                self.page.notify(f"To release these cuts, {', and '.join(others)}. Undo goes back.")

    def _handled(self, handled: RulerChange) -> None:
        """Follow a hand on the ruler."""
        number = self._keys.number
        cuts = [number(key) for key in handled.cuts]
        if handled.did == "move":
            cutting = self._cutting()
            if cutting is not None:
                self._moving = (*cuts,)
                self.page.attempt(lambda content: cutting.at(content, cuts))
            return
        old = None if handled.old is None else number(handled.old)
        new = None if handled.new is None else number(handled.new)
        self._changed(old, new, cuts)

    def _changed(self, old: Decimal | None, new: Decimal | None, cuts: Sequence[Decimal]) -> None:
        """A cut came, went, or moved: what was touched is held by the next search."""
        kept = (self._held or set()) - {old}
        self._held = (kept | ({new} if new is not None else set())) or None
        points = ["" if each is None else self._point(each) for each in (old, new)]
        shown = points if self.page.shows_labels else ["" if not each else "?" for each in points]
        self._take(step_words(self.attribute.value, *shown), cuts)

    def _started(self) -> None:
        if self._filling or self.start.value is None:
            return
        axis, taxonomy = self._keys.axis, self._taxonomy
        cuts = start_of(str(self.start.value), taxonomy, axis)
        self.start.set_value(None)
        self._held = None
        ranges = plural(len(cuts) + 1, "range")
        self._take(f"{axis.attribute} in {ranges}" if cuts else f"{axis.attribute} as *", cuts)

    def _chosen(self) -> None:
        if not self._filling:
            self._held, self._standing = None, None
            self.show()

    def _held_of(self, cuts: Sequence[Decimal]) -> list[Decimal]:
        return [cut for cut in cuts if self._held is None or cut in self._held]

    def _hold(self) -> None:
        if not self._filling:
            self._held = {self._keys.number(key) for key in self.search.held.value}
            self.search.set_enabled(self._standing is not None, bool(self._held))

    def _add(self) -> None:
        number, cuts = self.field.given(self._keys), self._cuts() or ()
        if isinstance(number, str):
            self.page.notify(number)
            return
        numbers = self._keys.axis.numbers
        if number in cuts:
            self.page.notify(f"There is a cut at {self._point(number)} already.")
        elif not numbers[0] < number <= numbers[-1]:
            ends = " and no higher than ".join(map(self._point, (numbers[0], numbers[-1])))
            self.page.notify(f"All values would be on one side of it; put the cut above {ends}.")
        else:
            kept = cuts if len(cuts) <= MOST_CUTS else ()
            self._changed(None, number, sorted({*kept, number}))

    def _remove(self) -> None:
        number, cuts = self.field.given(self._keys), self._cuts() or ()
        if isinstance(number, str):
            self.page.notify(number)
        elif number not in cuts:
            self.page.notify(f"There is no cut at {self._point(number)}.")
        else:
            self._changed(number, None, [cut for cut in cuts if cut != number])

    def _best_from_here(self) -> None:
        held = self._held_of(self._cuts() or ())
        if not 0 < len(held) <= MOST_CUTS:
            return
        self._held = {*held}
        self._search(held, f" with {plural(len(held), 'cut', 'cuts')} held")

    def _best_of_all(self) -> None:
        self._held = None
        self._search((), "")

    def _search(self, held: Sequence[Decimal], which: str) -> None:
        cutting, others = self._cutting(), bool(self.search.others.value)
        if cutting is not None:
            words = f"best ranges of {cutting.attribute}{which}"
            self.page.take(words, lambda content: cutting.best(content, held, others))

    def _show_ruler(self, axis: CutAxis, cuts: tuple[Decimal, ...] | None) -> None:
        labels, why = self.page.shows_labels, why_not(self._taxonomy)
        self.said.set_text(cuts_said(axis.attribute, cuts, why, labels))
        key = axis, self.sensitive.value, why
        if self._drawn is None or self._drawn[0] != key:
            drawing = drawing_of(axis, self.sensitive.value, labels, why is not None)
            self._drawn = key, drawing
        movable = cuts if cuts is not None and len(cuts) <= MOST_CUTS else ()
        self.ruler.show(self._drawn[1], self._keys.keys(movable))
        self.field.element.set_visibility(why is None)
        self.start.set_visibility(why is None)
        self.search.held.set_visibility(why is None)
        self.search.best.set_visibility(why is None)
        self.field.show(self._keys)
        starts = starts_of(self._taxonomy)
        if self.start.options != starts:
            self.start.set_options(starts, value=None)
