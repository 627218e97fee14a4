"""Pictures of the series of a paper: a panel for each, drawn from the numbers that are printed."""

from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from anonymizer.papers.row import Column, Form, PlottedSeries, PublishedSection, Row
from anonymizer.report.plots.bars import ClassMeasure, grouped
from anonymizer.report.plots.style import COLORS, LIGHT, LOOK, Style, counted_axis, save


def draw_bars(place: SubFigure, series: PlottedSeries) -> None:
    """Draw a series as bars: a group for each value of its axis, a bar for each measure.

    Bars above the limit of their measure are hatched, and the name of their group stands out. A
    limit that all measures share, such as their mean, is one line that nothing fails.
    """
    axes = place.subplots()
    shared = len({*series.limits.values()}) == 1 < len(series.limits)
    measures = [_measure(series, column, shared) for column in series.measures]
    above = np.logical_or.reduce([measure.exceeding for measure in measures])
    failing = above & (not shared)
    names = [str(value) for value in series[series.axis].values]
    grouped(axes, names, measures, LIGHT, failing.tolist())
    axes.set_xlabel(series[series.axis].heading)
    axes.set_ylabel(series.measures[0].unit)


def _measure(series: PlottedSeries, column: Column, shared: bool) -> ClassMeasure:
    """A measure with its limit, where it has one."""
    values = np.asarray(column.values, float)
    limit = series.limits.get(column.name)
    if limit is None:
        return ClassMeasure(column.label, values)
    name = f"{limit:.3g}" if shared else f"{column.label} ≤ {limit:.3g}"
    return ClassMeasure(column.label, values, (name, limit))


FEW = 10
"""Most points that are marked."""
BESIDE = 4
"""Names of a legend next to each other, in all panels of a figure together."""
MANY, TICKS = 10_000, 6
"""Number from which on axes have commas for thousands, and ticks that there is room for then."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "D", "s", "^")
CEILING = "uncertainty"
"""H(X), which no information about X exceeds."""
GREY: Style = {"color": "grey", "linestyle": ":", "linewidth": 1.2}


def draw_lines(place: SubFigure, series: PlottedSeries) -> None:
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


def mark_points(place: SubFigure, series: PlottedSeries, points: PlottedSeries) -> None:
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


COLORMAP = "cividis"
"""Distinguished by colour-blind people too."""
LINES = 8
"""Contours, at the most."""
VIEW = {"elev": 24, "azim": -125}
"""Where the eye is, in degrees."""


def draw_surface(place: SubFigure, series: PlottedSeries) -> None:
    """Draw the first measure of a series over ``axis`` and ``by``, in space and from above.

    For each value of ``by`` there are as many points along ``axis``, in its order.
    """
    by, along = series[series.by], series[series.axis]
    (measure,) = series.measures[:1]
    across = len(dict.fromkeys(by.values))
    x, y, z = (_grid(column, across) for column in (by, along, measure))
    space = place.add_subplot(1, 2, 1, projection="3d")
    space.plot_surface(x, y, z, cmap=COLORMAP, rstride=1, cstride=1, linewidth=0.3, edgecolor="k")
    space.set_zlabel(measure.heading, labelpad=8)
    for axis in (space.xaxis, space.yaxis, space.zaxis):
        axis.set_major_locator(MaxNLocator(4))
    space.view_init(**VIEW)
    space.yaxis.labelpad = 10
    space.set_box_aspect(None, zoom=0.75)  # room for the label of the measure
    above = place.add_subplot(1, 2, 2)
    # Pixels, as smooth shading in lines takes a megabyte.
    filled = above.pcolormesh(x, y, z, cmap=COLORMAP, shading="gouraud", rasterized=True)
    lines = above.contour(x, y, z, LINES, colors="white", linewidths=0.8)
    above.clabel(lines, fontsize="x-small")
    place.colorbar(filled, ax=above, label=measure.heading)
    for axes in (space, above):
        axes.set_xlabel(by.heading)
        axes.set_ylabel(along.heading)


def _grid(column: Column, across: int) -> NDArray[np.float64]:
    return np.asarray(column.values, float).reshape(across, -1)


WIDTH, HEIGHT = 8.4, 3.9
"""Inches of a figure, no wider than a page of the documentation: its text can be read there."""
FORMS: dict[Form, Callable[[SubFigure, PlottedSeries], None]] = {
    "bars": draw_bars,
    "lines": draw_lines,
    "surface": draw_surface,
}


def draw(sections: Iterable[PublishedSection], path: Path) -> None:
    """Draw every series of some sections, each in its form, or as points over another one."""
    every = [(row, row.series) for section in sections for row in section.rows if row.series]
    drawn = [(row, series) for row, series in every if not series.over]
    with mpl.rc_context({**LOOK, "axes.xmargin": 0.02}):
        figure = Figure(figsize=(WIDTH, HEIGHT * len(drawn)), layout="constrained")
        grid = figure.subfigures(len(drawn), 1, squeeze=False, hspace=0.05)
        for place, (row, series) in zip(grid.flat, drawn, strict=True):
            FORMS[series.form](place, series)
            for _, points in every:
                if points.over == row.quantity:
                    mark_points(place, series, points)
            _entitle(place, row)
        save(figure, path)


def _entitle(place: SubFigure, row: Row) -> None:
    status = row.status.partition(":")[0]
    place.suptitle(row.quantity + (status and f": {status}"), fontweight="bold")
    place.supxlabel(row.remark, fontsize="medium", color="dimgrey")
