"""A ruler: a histogram of ordered values with cut points that are moved by mouse or by keys."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from anonymizer.explorer.page.toolkit import Element, GenericEventArguments

Did = Literal["move", "take", "add", "remove"]


@dataclass(frozen=True)
class RulerBar:
    """The records of the values from ``low`` up to ``high``, by series."""

    low: float
    high: float
    counts: Sequence[int]


@dataclass(frozen=True)
class RulerDrawing:
    """The elements of a ruler, as it is drawn.

    Parameters
    ----------
    name, counted
        What the axis is of, with its unit, and what the bars count.
    low, high
        Where the axis begins and ends.
    bars, series
        The histogram, and what its series are called.
    places
        The keys of all possible cut points, ascending: numbers as texts, exact whatever their
        digits. Cuts that are none of them may be among ``cuts``; they stay until they are moved.
    texts
        What a cut point is called where that is not its number.
    ticks
        Places of the axis and their texts; round numbers where there are none.
    readonly
        Whether no cut can be moved.
    """

    name: str
    low: float
    high: float
    bars: Sequence[RulerBar]
    series: Sequence[str]
    places: Sequence[str]
    counted: str = "records"
    texts: Mapping[str, str] | None = None
    ticks: Sequence[tuple[float, str]] | None = None
    readonly: bool = False


@dataclass(frozen=True)
class RulerChange:
    """A change of the cuts of a ruler: one went from a key to another, or came, or went.

    ``cuts`` are the keys of all cuts after it.
    """

    did: Did
    cuts: tuple[str, ...]
    old: str | None
    new: str | None


class Ruler(Element, component="ruler.js"):
    """A stacked histogram with cut points on its axis.

    Each cut is a slider: it is dragged, or moved by arrow keys to the next possible cut point, by
    PageUp and PageDown ten of them, by Home and End as far as there is room; Delete removes it. A
    click on an empty place adds one. ``on_handled`` gets a ``move`` while it goes on, some
    twenty a second, of ``take`` when it is let go or keys have rested, and of ``add`` and
    ``remove``. ``on_choose`` is given the key of a cut that got the focus.

    While a cut is moved the ruler shows it where the hand has it, whatever it is given meanwhile.
    """

    def __init__(
        self,
        label: str,
        on_handled: Callable[[RulerChange], None],
        on_choose: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self._on_handled, self._on_choose = on_handled, on_choose
        self._drawing: RulerDrawing | None = None
        self._props["label"] = label
        for did in ("move", "take", "add", "remove"):
            self.on(did, lambda event, did=did: self._handled(did, event))
        self.on("choose", self._chosen)
        self.classes("full-width")
        self._draw(RulerDrawing("", 0, 1, (), (), ()))

    def show(self, drawing: RulerDrawing, cuts: Sequence[str]) -> None:
        """Show a histogram, and the cuts on it by their keys; what is shown already stays."""
        if drawing is self._drawing and self._props["cuts"] == [*cuts]:
            return
        if drawing is not self._drawing:
            self._draw(drawing)
        self._props["cuts"] = [*cuts]
        self.update()

    def _draw(self, drawing: RulerDrawing) -> None:
        self._drawing = drawing
        self._props["name"], self._props["counted"] = drawing.name, drawing.counted
        self._props["low"], self._props["high"] = drawing.low, drawing.high
        self._props["bars"] = [[bar.low, bar.high, [*bar.counts]] for bar in drawing.bars]
        self._props["series"] = [*drawing.series]
        self._props["places"] = ";".join(drawing.places)  # one text is sent faster than thousands
        self._props["texts"] = None if drawing.texts is None else dict(drawing.texts)
        self._props["ticks"] = (
            None if drawing.ticks is None else [[*tick] for tick in drawing.ticks]
        )
        self._props["readonly"] = drawing.readonly
        self._props["cuts"] = []

    def _handled(self, did: Did, event: GenericEventArguments) -> None:
        given = event.args
        self._on_handled(RulerChange(did, tuple(given["cuts"]), given["from"], given["to"]))

    def _chosen(self, event: GenericEventArguments) -> None:
        if self._on_choose is not None and event.args["key"] is not None:
            self._on_choose(str(event.args["key"]))
