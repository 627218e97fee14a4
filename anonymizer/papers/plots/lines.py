"""Series as lines."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from anonymizer.papers.series import Column, PlottedSeries
from anonymizer.report.plots.style import COLORS, Style, counted_axis

FEW = 10
"""Up to so many points are marked."""
BESIDE = 4
"""Names of a legend next to each other, in all panels of a figure together."""
MANY, TICKS = 10_000, 6
"""From so many on numbers have commas for thousands, and there is room for so many of them."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "D", "s", "^")
CEILING = "uncertainty"
"""H(X), which no information about X exceeds."""
GREY: Style = {"color": "grey", "linestyle": ":", "linewidth": 1.2}


def draw(place: SubFigure, series: PlottedSeries) -> None:
    """Draw a series as lines.

    Measures share a panel, those in bits apart from those from 0 to 1. In a series of several
    curves each measure has a panel of its own, and a line for each value of the other parameter.
    """
    groups = [[measure] for measure in series.measures]
    if not series.by:
        split = ([m for m in series.measures if bool(m.unit) == bits] for bits in (False, True))
        groups = [measures for measures in split if measures]
    panels = place.subplots(1, len(groups), sharey=bool(series.by), squeeze=False)[0]
    for axes, measures in zip(panels, groups, strict=True):
        _curves(axes, series, *measures) if series.by else _lines(axes, series, measures)
        axes.set_xlabel(series[series.axis].heading)
        if axes.get_xlim()[1] >= MANY:
            counted_axis(axes.xaxis)
            axes.locator_params("x", nbins=TICKS)
    if series.by:
        panels[-1].legend(fontsize="small")  # curves are the same in all panels
        return
    for axes in panels:
        _legend(axes, len(panels))


def mark(place: SubFigure, series: PlottedSeries, points: PlottedSeries) -> None:
    """Draw another series as points over the lines of one: what the lines do not show already."""
    known = {measure.name for measure in series.measures}
    (axes,) = place.axes
    marker = MARKERS[len(axes.collections) % len(MARKERS)]
    for measure in points.measures:
        if measure.name not in known:
            along = np.asarray(points[points.axis].values, float)
            values = np.asarray(measure.values, float)
            color = COLORS[(len(known) + len(axes.collections)) % len(COLORS)]
            axes.scatter(along, values, s=45, c=color, marker=marker, zorder=3, label=measure.label)
    _legend(axes, 1)


def _legend(axes: Axes, panels: int) -> None:
    """The legend above the lines, where it hides none."""
    columns = BESIDE // panels
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=columns, fontsize="small")


def _lines(axes: Axes, series: PlottedSeries, measures: Sequence[Column]) -> None:
    """Measures against the axis, as far as it rises: theta comes back once most are ill."""
    along = np.asarray(series[series.axis].values, float)
    rising = (along >= np.maximum.accumulate(along)) | (along[0] > along[-1])
    marker = "o" if len(along) <= FEW else ""
    looks = zip(COLORS, cycle(DASHES), strict=False)
    for measure, (color, dash) in zip(measures, looks, strict=False):
        look: Style = {"color": color, "linestyle": dash, "marker": marker, "markersize": 4}
        values = np.asarray(measure.values)[rising]
        style = GREY if measure.name == CEILING else look
        axes.plot(along[rising], values, label=measure.label, **style)
    unit = measures[0].unit
    axes.set_ylabel(f"{series.what} ({unit})" if unit else f"{series.what}, from 0 to 1")
    if not unit:
        axes.set_ylim(-0.02, 1.02)
    elif min(min(map(float, measure.values)) for measure in measures) >= 0:
        axes.set_ylim(0, None)


def _curves(axes: Axes, series: PlottedSeries, measure: Column) -> None:
    """A measure against the axis, a line for each value of another parameter."""
    along, by = (np.asarray(series[name].values, float) for name in (series.axis, series.by))
    curves = zip(dict.fromkeys(by.tolist()), COLORS, cycle(DASHES), strict=False)
    for value, color, dash in curves:
        here = by == value
        look: Style = {"color": color, "linestyle": dash}
        label = f"{series[series.by].label} = {value:g}"
        axes.plot(along[here], np.asarray(measure.values)[here], label=label, **look)
    axes.set_ylabel(measure.label)
