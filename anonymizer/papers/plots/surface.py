"""Series as surfaces: a measure over two parameters, in space and from above."""

import numpy as np
from matplotlib.figure import SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from anonymizer.papers.series import Column, PlottedSeries

COLORMAP = "cividis"
"""Distinguished by colour-blind people too."""
LINES = 8
"""Contours, at the most."""
VIEW = {"elev": 24, "azim": -125}
"""Where the eye is, in degrees."""


def draw(place: SubFigure, series: PlottedSeries) -> None:
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
    """The values by those of the other parameter, shape (across, along)."""
    return np.asarray(column.values, float).reshape(across, -1)
