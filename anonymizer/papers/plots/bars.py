"""Series as bars: measures of each category next to each other, with what they must not exceed."""

import numpy as np
from matplotlib.figure import SubFigure

from anonymizer.papers.series import Column, PlottedSeries
from anonymizer.report.plots.bars import ClassMeasure, grouped
from anonymizer.report.plots.style import LIGHT


def draw(place: SubFigure, series: PlottedSeries) -> None:
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
