"""A slider that answers to keys, touch and readers of screens as the browser's own does."""

from collections.abc import Callable

from anonymizer.explorer.answers.span import Span
from anonymizer.explorer.page.toolkit import Element, GenericEventArguments


class Slider(Element, component="slider.js"):
    """A slider: ``on_move`` gets numbers while it moves, ``on_take`` when it is let go.

    By keys it is let go with each step.
    """

    def __init__(
        self,
        label: str,
        unit: str,
        span: Span,
        value: float,
        on_move: Callable[[float], None],
        on_take: Callable[[float], None],
    ) -> None:
        super().__init__()
        given = {"label": label, "unit": unit, "low": span.low, "high": span.high}
        self._props.update({**given, "step": span.step, "value": value})
        self._value = value
        self._on_move, self._on_take = on_move, on_take
        self.on("move", self._moved)
        self.on("take", self._taken)

    def fit(self, label: str, unit: str, span: Span) -> None:
        """Another label and unit, and other numbers to go through."""
        given = {"label": label, "unit": unit, "low": span.low, "high": span.high}
        given["step"] = span.step
        if any(self._props[key] != value for key, value in given.items()):
            self._props.update(given)
            self.update()

    def set(self, value: float) -> None:
        """Show a number, unless it is the one that the slider was moved to."""
        if value != self._value:
            self._value = value
            self._props["value"] = value
            self.run_method("set", value)

    def _moved(self, event: GenericEventArguments) -> None:
        self._on_move(self._noted(event))

    def _taken(self, event: GenericEventArguments) -> None:
        self._on_take(self._noted(event))

    def _noted(self, event: GenericEventArguments) -> float:
        """The number that it was moved to, without what rounding in between made of it."""
        self._value = float(f"{float(event.args):.10g}")
        return self._value
