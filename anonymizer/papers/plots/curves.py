"""Pictures of series that are compared: a panel for each, its measures as lines in one scale."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from anonymizer.papers.row import Column, Row, Section, Series
from anonymizer.report.plots.style import COLORS, LOOK, Style, save

DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)), "-")
FEW = 10
"""Up to so many points are marked."""


def draw(sections: Iterable[Section], path: Path) -> None:
    """Draw every series, one below the other.

    Measures share a panel; with a series of several curves, each measure has a panel of its own,
    and a curve for each value of the parameter.
    """
    rows = [(row, row.series) for section in sections for row in section.rows if row.series]
    with mpl.rc_context({**LOOK, "axes.xmargin": 0.02}):
        figure = Figure(figsize=(12, 3.9 * len(rows)), layout="constrained")
        places = figure.subfigures(len(rows), 1, squeeze=False, hspace=0.05)
        for place, (row, series) in zip(places[:, 0], rows, strict=True):
            _panels(place, row, series)
        save(figure, path)


def _panels(place: SubFigure, row: Row, series: Series) -> None:
    place.suptitle(f"{row.quantity}: {row.remark}", fontsize="medium", fontweight="bold")
    if not series.by:
        axes = place.subplots()
        for measure, look in zip(series.measures, _looks(series), strict=False):
            axes.plot(series[series.axis].values, measure.values, label=measure.label, **look)
        axes.set_xlabel(series[series.axis].heading)
        axes.set_ylabel(", ".join(dict.fromkeys(m.unit for m in series.measures if m.unit)))
        axes.legend()
        return
    panels = place.subplots(1, len(series.measures), sharey=True, squeeze=False)[0]
    for axes, measure in zip(panels, series.measures, strict=True):
        _curves(axes, series, measure)
    panels[-1].legend(fontsize="small")  # colours mean the same in all panels


def _curves(axes: Axes, series: Series, measure: Column) -> None:
    along, by = (np.asarray(series[name].values) for name in (series.axis, series.by))
    for value, color in zip(dict.fromkeys(by.tolist()), COLORS, strict=False):
        here = by == value
        label = f"{series[series.by].label} = {value:g}"
        axes.plot(along[here], np.asarray(measure.values)[here], color=color, label=label)
    axes.set_title(measure.label, fontsize="medium", color="dimgrey")
    axes.set_xlabel(series[series.axis].heading)


def _looks(series: Series) -> list[Style]:
    marker = "o" if len(series) <= FEW else ""
    return [
        {"color": color, "linestyle": dash, "marker": marker, "markersize": 4, "linewidth": 1.8}
        for color, dash in zip(COLORS, DASHES, strict=True)
    ]
