"""Pictures of the series of a paper: a panel for each, drawn from the numbers that are printed."""

from collections.abc import Callable, Iterable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure, SubFigure

from anonymizer.papers.plots import bars, lines, surface
from anonymizer.papers.row import PublishedSection, Row
from anonymizer.papers.series import Form, PlottedSeries
from anonymizer.report.plots.style import LOOK, save

WIDTH, HEIGHT = 8.4, 3.9
"""Inches of a figure, no wider than a page of the documentation: its text can be read there."""
FORMS: dict[Form, Callable[[SubFigure, PlottedSeries], None]] = {
    "bars": bars.draw,
    "lines": lines.draw,
    "surface": surface.draw,
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
                    lines.mark(place, series, points)
            _entitle(place, row)
        save(figure, path)


def _entitle(place: SubFigure, row: Row) -> None:
    """Its quantity and verdict above, the remark below."""
    status = row.status.partition(":")[0]
    place.suptitle(row.quantity + (status and f": {status}"), fontweight="bold")
    place.supxlabel(row.remark, fontsize="medium", color="dimgrey")
