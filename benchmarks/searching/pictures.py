"""Pictures of times that grow: both axes logarithmic, every curve named where it ends."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from anonymizer.report.plots.style import counted_axis, drawing, picture, save

__all__ = ["Curve", "draw"]

STYLES: dict[str, dict[str, Any]] = {
    "new": {"color": "#0072b2", "linewidth": 2.2, "marker": "o", "markersize": 4.5},
    "old": {"color": "#56b4e9", "linewidth": 1.6, "marker": "s", "markersize": 4.0},
    "bytes": {"color": "#d55e00", "linewidth": 1.4, "linestyle": "--"},
    "one": {"color": "#4d4d4d", "linewidth": 1.3, "linestyle": "-."},
    "every": {"color": "#4d4d4d", "linewidth": 1.3, "linestyle": ":"},
}
LINE = 0.058
"""The share of the picture's height that a line of a label takes."""
MARGIN = 1.02
"""Where labels begin, in widths of the axes."""


class Curve(NamedTuple):
    """Its name, its style (one of ``STYLES``), and its points; seconds upwards."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]


def draw(label: str, curves: Sequence[Curve], path: Path) -> None:
    """Draw curves over an axis, and write the picture."""
    with drawing("light"):
        figure, axes = picture("light", 4.0, f"Seconds of the search against {label}")
        figure.set_size_inches(7.6, 4.2)
        axes.set_xscale("log")
        axes.set_yscale("log")
        drawn = [curve for curve in curves if curve.points]
        for curve in drawn:
            axes.plot(*zip(*curve.points, strict=True), **STYLES[curve.style])
        axes.set_xlabel(f"{label} (logarithmic)")
        axes.set_ylabel("seconds (logarithmic)")
        counted_axis(axes.xaxis)
        counted_axis(axes.yaxis)
        _name(axes, drawn)
        save(figure, path)


def _name(axes: Axes, curves: Sequence[Curve]) -> None:
    """Write the names beside the ends of the curves, apart from each other."""
    ends = sorted((_share(axes, curve.points[-1][1]), curve) for curve in curves)
    lines = [curve.name.count("\n") + 1 for _, curve in ends]
    heights = _apart([share for share, _ in ends], [LINE * number for number in lines])
    right = max(curve.points[-1][0] for curve in curves)
    for height, (share, curve) in zip(heights, ends, strict=True):
        early = "" if curve.points[-1][0] == right else " (ends early)"
        axes.annotate(
            curve.name + early,
            (MARGIN - 0.01, share),
            (MARGIN + 0.04, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            color=STYLES[curve.style]["color"],
            arrowprops={"arrowstyle": "-", "color": STYLES[curve.style]["color"], "linewidth": 0.6},
        )


def _share(axes: Axes, seconds: float) -> float:
    """How high on the axes a time stands, from 0 to 1."""
    return float(axes.transAxes.inverted().transform(axes.transData.transform((1, seconds)))[1])


def _apart(heights: Sequence[float], rooms: Sequence[float]) -> list[float]:
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
