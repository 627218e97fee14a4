"""Pictures of comparisons."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogFormatter, MaxNLocator
from matplotlib.transforms import offset_copy

from anonymizer.report.plots.style import COLORS, LOOK, Style, save, short
from anonymizer.utility.comparison import Comparison, Fit

MARKERS = "osD^vPX*"
"""One more than colours: 56 recodings look different."""
HOLLOW: Style = {"markerfacecolor": "white"}
BAND: Style = {"color": "0.5", "alpha": 0.22, "linewidth": 0, "zorder": 0.5}
WIDE = 20
"""The largest number of classes is so many times the smallest: a logarithmic axis shows both."""
LONG = 18
"""Characters of the longest name that three columns of a legend have room for."""
APART = 8
"""Points between marks of the same place, which would hide each other."""
ROOM = 1.4
"""A ceiling up to so many times what is retained is drawn; a higher one would squash that."""


def draw(comparison: Comparison, path: Path) -> None:
    """Draw retained information against classes and, for each swept parameter, against it.

    Hollow marks are of the half that was fitted to, filled ones of the half held out; shaded is
    what no recoding reaches: above the ceiling. Where several parameters are swept, what is drawn
    against one of them is the best over all others: the frontier.
    """
    with mpl.rc_context({**LOOK, "text.parse_math": False}):
        panels = 1 + len(comparison.swept)
        handles = _legend(comparison)
        columns = min(_columns(handles, panels), len(handles))
        height = 3.8 + 0.22 * -(-len(handles) // columns)
        figure = Figure(figsize=(5.6 * panels, height), layout="constrained")
        first, *others = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
        low, high = _span(comparison)
        first.set_ylim(low, high)
        _against_classes(figure, first, comparison)
        for axes, name in zip(others, comparison.swept, strict=True):
            _against_parameter(axes, comparison, name)
        about = f"information about {', '.join(comparison.about)} (bits)"
        first.set_ylabel(short(about, 60))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        save(figure, path)


def _columns(handles: Sequence[Artist], panels: int) -> int:
    """Columns of the legend: two where long names would leave the picture with three."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    return (2 if longest > LONG and len(handles) > 3 else 3) * (1 if panels == 1 else 2)


def _span(comparison: Comparison) -> tuple[float, float]:
    """The bits that are drawn: all that is retained, and the ceilings that are near."""
    halves = [half.retained for fit in comparison.fits for half in (fit.fitted, fit.held_out)]
    most = max([*halves, 0.0]) or 1e-3
    near = [point.ceiling for point in comparison.points if point.ceiling <= ROOM * most]
    high = max(1.1 * most, *(1.06 * ceiling for ceiling in near), 0.0)
    least = min([*halves, 0.0])
    return least - 0.04 * (high - least) * (least < 0), high


def _against_classes(figure: Figure, axes: Axes, comparison: Comparison) -> None:
    """What is kept, by the number of classes it takes; both halves of a fit joined."""
    _classes_axis(axes, comparison)
    _ceiling_band(axes, comparison)
    marks: list[tuple[int, float, Style]] = []
    for recoding, style in _styles(comparison).items():
        for fit in _of(comparison, recoding):
            ends = [(half.classes, half.retained) for half in (fit.fitted, fit.held_out)]
            axes.plot(*zip(*ends, strict=True), color=style["color"], linewidth=0.8, alpha=0.5)
            marks += [(*ends[0], {**style, **HOLLOW}), (*ends[1], style)]
    places = Counter((classes, round(bits, 9)) for classes, bits, _ in marks)
    drawn: Counter[tuple[int, float]] = Counter()
    for classes, bits, style in marks:
        place = (classes, round(bits, 9))
        aside = APART * (drawn[place] - (places[place] - 1) / 2)
        drawn[place] += 1
        shifted = offset_copy(axes.transData, figure, aside, 0, "points")
        axes.plot(classes, bits, **style, transform=shifted, clip_on=False)
    axes.set_xlabel("equivalence classes")


def _classes_axis(axes: Axes, comparison: Comparison) -> None:
    """Whole numbers of classes, on a logarithmic scale where they are very different."""
    sizes = [half.classes for fit in comparison.fits for half in (fit.fitted, fit.held_out)]
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if max(sizes) > WIDE * min(sizes):
        axes.set_xscale("log")
        axes.tick_params("x", which="both", length=3, pad=4)
        axes.xaxis.set_major_formatter(LogFormatter(minor_thresholds=(2, 0.5)))
        axes.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.5)))
    elif max(sizes) == min(sizes):
        axes.set_xlim(sizes[0] - 1.5, sizes[0] + 1.5)


def _ceiling_band(axes: Axes, comparison: Comparison) -> None:
    """Shade what is above every ceiling, and name them above the picture, where no line is."""
    ceilings = [point.ceiling for point in comparison.points]
    low, high = min(ceilings), max(ceilings)
    top = axes.get_ylim()[1]
    if high < top:
        axes.axhspan(high, top, **BAND)
    text = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    away = ", above what is drawn" if low >= top else ""
    axes.set_title(f"ceiling: {text} bits{away}", loc="right", fontsize=9)


def _against_parameter(axes: Axes, comparison: Comparison, name: str) -> None:
    """The most that is kept at each value of a swept parameter, whatever the others."""
    for recoding, style in _styles(comparison).items():
        fits = _of(comparison, recoding)
        axes.plot(*frontier(fits, name, lambda fit: fit.fitted.retained), **style, **HOLLOW)
        axes.plot(
            *frontier(fits, name, lambda fit: fit.held_out.retained), **{**style, "linestyle": "-"}
        )
    values, most = ceilings(comparison, name)
    top = axes.get_ylim()[1]
    axes.fill_between(values, np.minimum(most, top), top, **BAND)
    if all(isinstance(fit.parameters[name], int) for fit in comparison.fits):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(f"{name} of the policy")


def frontier(
    fits: Sequence[Fit], name: str, bits: Callable[[Fit], float]
) -> tuple[list[float], list[float]]:
    """The values of a parameter and, at each, the most bits."""
    most: dict[float, float] = {}
    for fit in fits:
        value = fit.parameters[name]
        most[value] = max(bits(fit), most.get(value, 0.0))
    return sorted(most), [most[value] for value in sorted(most)]


def ceilings(comparison: Comparison, name: str) -> tuple[list[float], list[float]]:
    """The values of a parameter and, at each, the highest ceiling, whatever the others are."""
    most: dict[float, float] = {}
    for point in comparison.points:
        value = point.parameters[name]
        most[value] = max(point.ceiling, most.get(value, 0.0))
    return sorted(most), [most[value] for value in sorted(most)]


def _of(comparison: Comparison, recoding: str) -> list[Fit]:
    return [fit for fit in comparison.fits if fit.recoding == recoding]


def _styles(comparison: Comparison) -> dict[str, Style]:
    """A colour and a mark for each recoding, in the order of their names."""
    names = sorted({fit.recoding for fit in comparison.fits})
    looks = zip(names, cycle(COLORS), cycle(MARKERS), strict=False)
    return {
        name: {"color": color, "marker": marker, "markersize": 6, "linestyle": "none"}
        for name, color, marker in looks
    }


def _legend(comparison: Comparison) -> list[Artist]:
    """A line for each recoding, and what hollow, filled and shaded mean."""
    named = [
        Line2D([], [], label=short(name), **style) for name, style in _styles(comparison).items()
    ]
    grey: Style = {"color": "grey", "marker": "o", "linestyle": "none"}
    return [
        *named,
        Line2D([], [], label="half fitted to", **grey, **HOLLOW),
        Line2D([], [], label="half held out", **grey),
        Patch(label="above the ceiling", **BAND),
    ]
