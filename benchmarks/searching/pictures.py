"""Pictures of times that grow: both axes logarithmic, every curve named where it ends."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from anonymizer.report.plots.style import counted_axis, drawing, picture, save

__all__ = ["Curve", "apart", "draw"]

STYLES: dict[str, dict[str, Any]] = {
    "new": {"color": "#0072b2", "linewidth": 2.2, "marker": "o", "markersize": 4.5},
    "old": {"color": "#56b4e9", "linewidth": 1.6, "marker": "s", "markersize": 4.0},
    "bytes": {"color": "#d55e00", "linewidth": 1.4, "linestyle": "--"},
    "one": {"color": "#4d4d4d", "linewidth": 1.3, "linestyle": "-."},
    "every": {"color": "#4d4d4d", "linewidth": 1.3, "linestyle": ":"},
}
LINE = 0.058
"""The share of the picture's height that a line of a label takes."""
MARGIN = 1.05
"""Where names begin, in widths of the axes."""
LEADER = {"arrowstyle": "-", "linewidth": 0.5, "alpha": 0.6, "relpos": (0, 0.5)}
FLOOR = 1e-4
"""Seconds below which nothing is drawn."""


class Curve(NamedTuple):
    """Its name, its style (one of ``STYLES``), and its points; seconds upwards."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]


def draw(label: str, curves: Sequence[Curve], path: Path) -> None:
    """Draw curves over an axis, and write the picture."""
    with drawing("light"):
        figure, axes = picture("light", 4.2, f"Seconds of the search against {label}")
        figure.set_size_inches(7.6, 4.2)
        figure.set_layout_engine(None)  # it would shrink the axes for the names beside them
        figure.subplots_adjust(left=0.12, right=0.7, bottom=0.13, top=0.95)
        axes.set_xscale("log")
        axes.set_yscale("log")
        drawn = [curve for curve in curves if curve.points]
        for curve in drawn:
            axes.plot(*zip(*curve.points, strict=True), **STYLES[curve.style])
        axes.set_ylim(max(axes.get_ylim()[0], FLOOR), axes.get_ylim()[1])
        axes.set_xlabel(f"{label} (logarithmic)")
        axes.set_ylabel("seconds (logarithmic)")
        _number(axes, sorted({x for curve in drawn for x, _ in curve.points}))
        _name(axes, drawn)
        save(figure, path)


def _number(axes: Axes, places: Sequence[float]) -> None:
    """Write numbers along the axes: powers of ten, or every place where there are few powers."""
    counted_axis(axes.xaxis)
    counted_axis(axes.yaxis)
    axes.yaxis.set_major_formatter(lambda value, _: np.format_float_positional(value, trim="-"))
    if places[-1] < 10 * places[0]:
        axes.set_xticks(places)
        axes.minorticks_off()


def _name(axes: Axes, curves: Sequence[Curve]) -> None:
    """Write the names beside the ends of the curves, apart from each other."""
    low, high = np.log(axes.get_ylim())

    def share(curve: Curve) -> float:
        """How high on the axes a curve ends, from 0 to 1."""
        return float((np.log(curve.points[-1][1]) - low) / (high - low))

    rising = sorted(curves, key=share)
    rooms = [LINE * (curve.name.count("\n") + 1) for curve in rising]
    heights = apart([share(curve) for curve in rising], rooms)
    for height, curve in zip(heights, rising, strict=True):
        color = STYLES[curve.style]["color"]
        axes.annotate(
            curve.name,
            curve.points[-1],
            (MARGIN, height),
            textcoords="axes fraction",
            va="center",
            color=color,
            annotation_clip=False,
            arrowprops=LEADER | {"color": color},
        )


def apart(heights: Sequence[float], rooms: Sequence[float]) -> list[float]:
    """Rising heights moved up as little as keeps each away from the one below it, then down."""
    moved = list(heights)
    for place in range(1, len(moved)):
        least = moved[place - 1] + (rooms[place - 1] + rooms[place]) / 2
        moved[place] = max(moved[place], least)
    over = max(0.0, moved[-1] - 1.0)
    moved[-1] -= over
    for place in reversed(range(len(moved) - 1)):
        most = moved[place + 1] - (rooms[place] + rooms[place + 1]) / 2
        moved[place] = min(moved[place], most)
    return moved
