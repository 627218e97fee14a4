"""Pictures of the figures of a paper, drawn from the numbers that are printed of them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from anonymizer.papers.row import Column, Row, Section, Series
from anonymizer.report.plots.style import COLORS, LOOK, Style, save

ACROSS = 2
"""Figures side by side."""
DASHES = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)), "-", "--")
CEILING = "uncertainty"
"""H(X), which no information about X exceeds."""
GREY: Style = {"color": "grey", "linestyle": ":", "linewidth": 1.2}


def draw(sections: Iterable[Section], path: Path) -> None:
    """Draw every series: metrics from 0 to 1 on the left, those in bits on the right.

    A figure of several curves has one panel, a line for each curve.
    """
    rows = [row for section in sections for row in section.rows if row.series]
    down = -(-(len(rows) + 1) // ACROSS)
    with mpl.rc_context({**LOOK, "axes.xmargin": 0.02}):
        figure = Figure(figsize=(8.4 * ACROSS, 3.7 * down), layout="constrained")
        grid = figure.subfigures(down, ACROSS, squeeze=False, wspace=0.04, hspace=0.05)
        places: list[SubFigure] = list(grid.flat)
        styles = _styles([row.series for row in rows if row.series])
        for place, row in zip(places, rows, strict=False):
            _panels(place, row, styles)
        places[len(rows)].legend(
            handles=[Line2D([], [], label=label, **style) for label, style in styles.items()],
            loc="center",
            ncols=2,
            title="metrics, and the uncertainty H(X) that bounds those in bits",
            fontsize="large",
            title_fontsize="large",
            handlelength=3.5,
        )
        save(figure, path)


def _styles(drawn: Sequence[Series]) -> dict[str, Style]:
    """A colour and a dash for each measure, by its label."""
    labels = dict.fromkeys(c.label for s in drawn for c in s.measures if c.name != CEILING)
    looks = zip(labels, COLORS, DASHES, strict=False)
    styles: dict[str, Style] = {
        label: {"color": color, "linestyle": dash, "linewidth": 1.8} for label, color, dash in looks
    }
    ceilings = {c.label: GREY for s in drawn for c in s.measures if c.name == CEILING}
    return styles | ceilings


def _panels(place: SubFigure, row: Row, styles: dict[str, Style]) -> None:
    series = row.series
    if series is None:
        return
    place.suptitle(f"{row.quantity}: {row.status.partition(':')[0]}", fontweight="bold")
    if series.by:
        axes = place.subplots()
        _curves(axes, series)
        _subtitle(axes, row)
        return
    shares, bits = place.subplots(1, 2)
    _lines(shares, series, [c for c in series.measures if not c.unit], styles)
    _lines(bits, series, [c for c in series.measures if c.unit], styles)
    _subtitle(shares, row)
    shares.set_ylim(-0.02, 1.02)
    shares.set_ylabel("metric, from 0 to 1")
    bits.set_ylim(bottom=0)
    bits.set_ylabel("metric (bits)")


def _lines(axes: Axes, series: Series, columns: Sequence[Column], styles: dict[str, Style]) -> None:
    """Measures against the axis, as far as it rises: theta comes back once most are ill."""
    along = np.asarray(series[series.axis].values, float)
    rising = along >= np.maximum.accumulate(along)
    for column in columns:
        axes.plot(along[rising], np.asarray(column.values)[rising], **styles[column.label])
    axes.set_xlabel(series[series.axis].heading)


def _curves(axes: Axes, series: Series) -> None:
    """The measure against the axis, one line for each value of another parameter."""
    along, by = (np.asarray(series[name].values, float) for name in (series.axis, series.by))
    (measure,) = series.measures
    values = np.asarray(measure.values)
    for value, color in zip(dict.fromkeys(by), COLORS, strict=False):
        here = by == value
        axes.plot(along[here], values[here], color=color, marker="o", markersize=4, linewidth=1.8)
        axes.annotate(
            f"{series[series.by].label} = {value:g}",
            (along[here][-1], values[here][-1]),
            xytext=(6, 0),
            textcoords="offset points",
            color=color,
            va="center",
        )
    axes.set_xlim(right=along.max() * 1.15)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel(series[series.axis].heading)
    axes.set_ylabel(measure.label)


def _subtitle(axes: Axes, row: Row) -> None:
    """What the figure is of, over all its panels."""
    axes.set_title(row.remark, loc="left", fontsize="medium", color="dimgrey")
