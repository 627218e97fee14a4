"""Bars of what an attacker learns from the raw table, the one chosen, and the best."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anonymizer.explorer.answers.attack import Exposure, ExposureMeasure, measures_for
from anonymizer.explorer.page.charts import Chart
from anonymizer.feedback.words import share

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

RAW, CHOSEN, BEST = "Raw table", "As chosen", "Best levels"

DRAWN = ("Surest guess", "Guessed right on average", "Highest re-identification risk")
"""What is drawn: the others are in the table."""


DECALS = {
    RAW: {"symbol": "none"},
    CHOSEN: {"symbol": "rect", "dashArrayX": [1, 0], "dashArrayY": [2, 5], "rotation": 0.785},
    BEST: {"symbol": "circle", "symbolSize": 0.6},
}
"""Patterns of the bars, so that colour is not the only sign."""


class Picture:
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
