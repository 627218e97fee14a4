"""Controls next to a ruler: a cut by its exact value, and the search for better cuts."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from anonymizer.explorer.answers.ranges.axis import CutKeys, point_text
from anonymizer.explorer.page.controls import heading, note
from anonymizer.explorer.page.toolkit import ui
from anonymizer.hierarchy.rules.order import Ranks

BEST = (
    "An exact search: the cuts that you hold stay, and others are added where that is better by "
    "the study's objective and the policy still holds. Best of all holds none."
)


class CutField:
    """A cut that is typed or chosen, to be added or removed."""

    def __init__(
        self, on_add: Callable[[], None], on_remove: Callable[[], None], ranks: bool
    ) -> None:
        with ui.element("div").classes("line") as self.element:
            self.number = ui.number("Cut at rank" if ranks else "Cut at").props(
                "dense outlined step=any"
            )
            self.value = select("First value of a range")
            self._buttons = [
                ui.button(words, on_click=act, color=None).props("outline no-caps")
                for words, act in (("Add this cut", on_add), ("Remove this cut", on_remove))
            ]

    def set_enabled(self, enabled: bool) -> None:
        """Let the buttons be pressed, or not."""
        for button in self._buttons:
            button.set_enabled(enabled)

    def show(self, keys: CutKeys) -> None:
        """Offer the cut points of an axis; those of an order by their values."""
        scale = keys.axis.scale
        by_value = isinstance(scale, Ranks) and not keys.ranks
        self.number.set_visibility(not by_value)
        self.value.set_visibility(by_value)
        if by_value:
            points = keys.axis.cut_points
            offer(self.value, {str(each): point_text(scale, each) for each in points})

    def point(self, key: str) -> None:
        """Show the cut of a key."""
        self.number.set_value(float(key))
        if key in self.value.options:
            self.value.set_value(key)

    def given(self, keys: CutKeys) -> Decimal | str:
        """The cut that is given, or what is wrong with it."""
        try:
            number = Decimal(str(self.value.value if self.value.visible else self.number.value))
        except InvalidOperation:
            return "Write in the field next to the buttons where the cut is."
        last = len(keys.axis.numbers) - 1
        if not keys.ranks:
            return number
        whole = number == int(number)
        if not whole or not 0 < number <= last:
            return f"Write a rank from 1 to {last:,}."
        return keys.number(str(int(number)))


class CutSearch:
    """The cuts to hold, and the searches for others."""

    def __init__(
        self, on_hold: Callable[[], None], on_best: Callable[[], None], on_all: Callable[[], None]
    ) -> None:
        with ui.element("section").classes("card") as self.element:
            heading("Better cuts")
            note(BEST)
            with ui.element("div").classes("line"):
                self.held = select("Cuts to hold", on_hold, multiple=True)
                self.others = ui.switch("Hold the other attributes at their levels too")
            with ui.element("div").classes("line"):
                self.best = ui.button("Best from here", on_click=on_best, color=None)
                self.best.classes("primary").props("no-caps unelevated")
                self.all = ui.button("Best of all", on_click=on_all, color=None)
                self.all.props("outline no-caps")
            self.found = note()
            self.found.props("role=status")

    def set_enabled(self, enabled: bool, holding: bool) -> None:
        """Let the searches be started, or not: that from here while cuts are held."""
        self.best.set_enabled(enabled and holding)
        self.all.set_enabled(enabled)

    def show(self, offered: Mapping[str, str], held: Sequence[str], found: str) -> None:
        """Offer cuts to hold, and say what the last search found."""
        if self.held.options != offered or self.held.value != [*held]:
            self.held.set_options(dict(offered), value=[*held])
        self.found.set_text(found)


def select(
    label: str, on_change: Callable[[], None] | None = None, multiple: bool = False
) -> ui.select:
    """A choice that is filled in later."""
    change = None if on_change is None else lambda: on_change()
    found: ui.select = ui.select([], label=label, multiple=multiple, on_change=change)
    found.props(f"dense outlined {'use-chips' if multiple else ''}").style("min-width: 14rem")
    return found


def offer(choice: ui.select, options: Mapping[str, str]) -> None:
    """Offer choices; the one that is chosen stays, or else it is the first."""
    value = choice.value if choice.value in options else next(iter(options), None)
    if choice.options != options or choice.value != value:
        choice.set_options(dict(options), value=value)
