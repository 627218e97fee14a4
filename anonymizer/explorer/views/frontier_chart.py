"""The chart of a frontier: a line for each recoding, its held-out points, now and suggested."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonymizer.explorer.answers.frontier import Mark
from anonymizer.explorer.answers.series import SERIES, Swept
from anonymizer.explorer.page.charts import Chart
from anonymizer.explorer.page.toolkit import EChartPointClickEventArguments
from anonymizer.feedback.words import bits, count, plural, share

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

SYMBOLS = ("rect", "circle", "triangle", "diamond", "roundRect")
"""The mark of each recoding of ``SERIES``: filled where fitted, hollow where held out."""


COLUMNS = (
    "Limit",
    "Kept",
    "Of the table's",
    "Kept, held out",
    "Classes",
    "Smallest class",
    "Surest guess",
    "Mark",
)
"""The columns of the listing."""


@dataclass(frozen=True)
class DrawnFrontier:
    """The points of a chart by recoding, the study's own, and the raw table's."""

    swept: Swept
    original: float
    marks: Mapping[str, Sequence[Mark]]
    now: tuple[float, float] | None
    """The threshold that the policy has, and the bits that the study keeps."""
    loosest: float | None
    """The bits that are kept without the model."""
    listed: str
    """The recoding whose suggested point is marked."""

    @property
    def thresholds(self) -> list[float]:
        """All of them, the loosest first."""
        found = {mark.threshold for marks in self.marks.values() for mark in marks}
        found |= set() if self.now is None else {self.now[0]}
        return sorted(found, reverse=not self.swept.model.at_least)

    @property
    def suggested(self) -> Mark | None:
        """The suggested point."""
        return next((mark for mark in self.marks.get(self.listed, ()) if mark.suggested), None)


class FrontierChart:
    """Draws a frontier; its fitted points can be clicked."""

    def __init__(self, page: "ExplorerPage", on_mark: Callable[[Mark], None]) -> None:
        self._on_mark = on_mark
        self._clickable: dict[tuple[str, str], Mark] = {}
        self.chart = Chart(page, self._clicked)

    def show(self, drawn: DrawnFrontier) -> None:
        """Draw what is known."""
        self._clickable = {}
        series: list[dict[str, Any]] = []
        for name, marks in drawn.marks.items():
            for held_out in (False, True):
                line = self._line(drawn, name, marks, held_out)
                if line["data"]:
                    series.append(line)
                    self._clickable |= {
                        (line["name"], f"{mark.threshold:g}"): mark for mark in marks
                    }
        if series and drawn.loosest is not None:
            series[0]["markLine"] = self._loosest(drawn)
        series += self._marked(drawn)
        swept = drawn.swept
        unit = f", {swept.unit}" if swept.unit else ""
        options = {
            "xAxis": self.chart.axis(
                f"{swept.parameter} of {swept.model.name}{unit}: stricter to the right",
                type="category",
                data=[f"{each:g}" for each in drawn.thresholds],
            ),
            "yAxis": self.chart.axis(
                f"kept about {swept.attribute}, bits", min=0, nameGap=46, scale=False
            ),
            "series": series,
            "legend": {
                "data": [*drawn.marks],
                "textStyle": {"color": self.chart.palette.ink},
                "top": 0,
                "selectedMode": False,
            },
            "grid": {"left": 66, "right": 20, "top": 64, "bottom": 56},
        }
        self.chart.show(options, words_of(drawn))

    def _line(
        self, drawn: DrawnFrontier, name: str, marks: Sequence[Mark], held_out: bool
    ) -> dict[str, Any]:
        place = SERIES.index(name)
        palette = self.chart.palette
        color = palette.series[place]
        some = _held_out(marks) if held_out else marks
        return {
            "type": "line",
            "name": f"{name}, held out" if held_out else name,
            "color": color,
            "symbol": SYMBOLS[place],
            "itemStyle": {
                "color": palette.ground if held_out else color,
                "borderColor": color,
                "borderWidth": 2,
            },
            "symbolSize": 9 if held_out else 10,
            "showAllSymbol": True,
            "lineStyle": {"type": "dashed" if held_out else "solid", "width": 1 if held_out else 2},
            "data": [_point(drawn, mark, held_out) for mark in some],
        }

    def _loosest(self, drawn: DrawnFrontier) -> dict[str, Any]:
        palette = self.chart.palette
        name = drawn.swept.model.name
        return {
            "silent": True,
            "symbol": "none",
            "precision": 6,
            "lineStyle": {"type": "dotted", "color": palette.ink, "width": 2},
            "data": [{"yAxis": drawn.loosest}],
            "label": {
                "formatter": f"without {name}",
                "position": "insideEndTop",
                "color": palette.ink,
            },
        }

    def _marked(self, drawn: DrawnFrontier) -> list[dict[str, Any]]:
        """The point of the study, and the suggested one: by shape and word."""
        palette, found = self.chart.palette, []
        if drawn.suggested is not None:
            at = [f"{drawn.suggested.threshold:g}", drawn.suggested.point.retained]
            look = {"color": "transparent", "borderColor": palette.ink, "borderWidth": 2}
            found.append(self._word("suggested", at, "circle", "bottom", look))
        if drawn.now is not None:
            at = [f"{drawn.now[0]:g}", drawn.now[1]]
            look = {"color": "transparent", "borderColor": palette.ink, "borderWidth": 3}
            found.append(self._word("now", at, "diamond", "top", look))
        return found

    def _word(
        self, word: str, at: list[Any], symbol: str, position: str, look: dict[str, Any]
    ) -> dict[str, Any]:
        palette = self.chart.palette
        label = {"show": True, "formatter": word, "position": position, "fontWeight": "bold"}
        return {
            "type": "scatter",
            "name": word,
            "symbol": symbol,
            "symbolSize": 24,
            "silent": True,
            "z": 5,
            "itemStyle": look,
            "label": {
                **label,
                "color": palette.ink,
                "fontSize": 13,
                "backgroundColor": palette.ground,
                "padding": [1, 3],
            },
            "data": [at],
        }

    def _clicked(self, event: EChartPointClickEventArguments) -> None:
        mark = self._clickable.get((event.series_name, event.name))
        if mark is not None:
            self._on_mark(mark)


def _held_out(marks: Sequence[Mark]) -> list[Mark]:
    return [mark for mark in marks if mark.held_out is not None]


def _point(drawn: DrawnFrontier, mark: Mark, held_out: bool) -> dict[str, Any]:
    half = mark.held_out if held_out else None
    value = mark.point.retained if half is None else half.retained
    return {
        "value": [f"{mark.threshold:g}", round(value, 6)],
        "tooltip": {"formatter": tooltip_of(drawn, mark)},
    }


def tooltip_of(drawn: DrawnFrontier, mark: Mark) -> str:
    """A point in words."""
    point, half = mark.point, mark.held_out
    kept = f"{bits(point.retained)} ({share_of(point.retained, drawn.original)})"
    held = "" if half is None else f"<br>held out: {bits(half.retained)}"
    classes = plural(point.classes, "class")
    limit = f"{drawn.swept.parameter} = {mark.threshold:g}"
    return f"{mark.recoding}, {limit}<br>{kept}{held}<br>{classes}"


def share_of(retained: float, original: float) -> str:
    """Return the information kept as a share of the raw table's."""
    return share(retained / original) if original > 0 else "-"


def words_of(drawn: DrawnFrontier) -> str:
    """The chart in a sentence, for whoever does not see it."""
    about, parameter = drawn.swept.attribute, drawn.swept.parameter
    parts = [
        f"{name} from {bits(marks[0].point.retained)} at {parameter} = {marks[0].threshold:g} to "
        f"{bits(marks[-1].point.retained)} at {parameter} = {marks[-1].threshold:g}"
        for name, marks in drawn.marks.items()
        if marks
    ]
    return f"Information kept about {about} against {parameter}: {'; '.join(parts) or 'no point'}."


def row_of(drawn: DrawnFrontier, mark: Mark, own: bool) -> list[str]:
    """A point as a row of the listing."""
    point, half = mark.point, mark.held_out
    held = "-"
    if half is not None:
        held = bits(half.retained) if half.satisfied else f"{bits(half.retained)}, breaks there"
    now = own and drawn.now is not None and mark.threshold == drawn.now[0]
    marks = [word for word, there in (("now", now), ("suggested", mark.suggested)) if there]
    return [
        f"{drawn.swept.parameter} = {mark.threshold:g}",
        bits(point.retained),
        share_of(point.retained, drawn.original),
        held,
        count(point.classes),
        plural(point.smallest, "record"),
        share(point.disclosure.worst),
        ", ".join(marks),
    ]
