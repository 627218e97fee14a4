"""Charts of several views: in the colours of the theme, with patterns, labels and words for all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonymizer.explorer.page.toolkit import EChartPointClickEventArguments, ui

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

Options = Mapping[str, Any]
"""Options of ECharts."""


@dataclass(frozen=True)
class Palette:
    """The colours of a theme: of text, lines and grounds, and of series, different to all eyes."""

    ink: str
    muted: str
    line: str
    ground: str
    good: str
    bad: str
    series: tuple[str, ...]


LIGHT = Palette(
    *("#1a1d21", "#555c66", "#c9ced6", "#ffffff", "#176639", "#b3261e"),
    series=("#0b5cad", "#b45309", "#6b4ba3", "#0f766e", "#a8325e", "#5b6470"),
)
DARK = Palette(
    *("#e8eaed", "#a9b1bc", "#434b55", "#14171a", "#7ddc9f", "#ffb4ab"),
    series=("#8ab8f0", "#f0b86e", "#c4aef0", "#6fd3c8", "#f2a0bd", "#b8c0ca"),
)


FONT = "Roboto, 'Helvetica Neue', Helvetica, Arial, sans-serif"
"""That of the page: named, since labels are measured where nothing can be inherited."""


class Chart:
    """A chart that is drawn anew whenever something changes.

    It is a picture to whoever cannot see it, with a sentence that says what it shows. Whatever its
    points can be clicked for there is a control next to it, since no key reaches them.
    """

    def __init__(
        self,
        page: "ExplorerPage",
        on_point: Callable[[EChartPointClickEventArguments], None] | None = None,
    ) -> None:
        self.page = page
        self.element = ui.echart({}, on_point_click=on_point, renderer="svg")
        self.element.props('role=img aria-label="Nothing is drawn yet"')

    @property
    def palette(self) -> Palette:
        """The colours of the theme that the page has."""
        return DARK if self.page.dark else LIGHT

    def show(self, options: Options, words: str) -> None:
        """Draw what options of ECharts say, and say it in a sentence."""
        self.element.options.clear()
        self.element.options.update({**self._base(), **options})
        self.element.props["aria-label"] = words
        self.element.update()

    def axis(self, name: str, **options: Any) -> dict[str, Any]:
        """An axis with its name, which has the unit; of values, if nothing else is said."""
        palette = self.palette
        return {
            "type": "value",
            "name": name,
            "nameLocation": "middle",
            "nameGap": 34,
            "nameTextStyle": {"color": palette.ink, "fontSize": 13},
            "axisLabel": {"color": palette.ink, "fontSize": 12, "hideOverlap": True},
            "axisLine": {"show": True, "lineStyle": {"color": palette.muted}},
            "splitLine": {"lineStyle": {"color": palette.line}},
            **options,
        }

    @property
    def base_tooltip(self) -> dict[str, Any]:
        """Style of a tooltip."""
        found: dict[str, Any] = self._base()["tooltip"]
        return found

    def _base(self) -> dict[str, Any]:
        palette = self.palette
        return {
            "animation": False,
            "backgroundColor": "transparent",
            "color": list(palette.series),
            "textStyle": {"color": palette.ink, "fontFamily": FONT},
            "legend": {"textStyle": {"color": palette.ink}, "top": 0, "type": "scroll"},
            "tooltip": {
                "backgroundColor": palette.ground,
                "borderColor": palette.line,
                "textStyle": {"color": palette.ink},
                "confine": True,
            },
            "grid": {"left": 64, "right": 24, "top": 40, "bottom": 56},
            "aria": {"enabled": True, "label": {"enabled": False}, "decal": {"show": True}},
        }
