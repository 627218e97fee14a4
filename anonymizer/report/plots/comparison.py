"""Pictures of comparisons."""

from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter, MaxNLocator

from anonymizer.report.plots.style import COLORS, LOOK, Style, save
from anonymizer.utility.comparison import Comparison, Fit

MARKERS = "osD^vPX"
HOLLOW: Style = {"markerfacecolor": "white"}
CEILING: Style = {"color": "grey", "linestyle": "--", "linewidth": 1.0}
WIDE = 20
"""The largest number of classes is so many times the smallest: a logarithmic axis shows both."""


def draw(comparison: Comparison, path: Path) -> None:
    """Draw retained information against classes and, for each swept parameter, against it.

    Hollow marks are of the half that was fitted to, filled ones of the half held out; dashes are
    the ceiling of each policy. Where several parameters are swept, what is drawn against one of
    them is the best over all others: the frontier.
    """
    with mpl.rc_context(LOOK):
        panels = 1 + len(comparison.swept)
        figure = Figure(figsize=(5.6 * panels, 4.4), layout="constrained")
        first, *others = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
        _against_classes(first, comparison)
        for axes, name in zip(others, comparison.swept, strict=True):
            _against_parameter(axes, comparison, name)
        about = f"information about {', '.join(comparison.about)} (bits)"
        first.set_ylabel(about, parse_math=False)
        first.set_ylim(bottom=0)
        columns = 3 if panels == 1 else 6
        figure.legend(handles=_legend(comparison), loc="outside lower center", ncols=columns)
        save(figure, path)


def _against_classes(axes: Axes, comparison: Comparison) -> None:
    """What is kept, by the number of classes it takes; both halves of a fit joined."""
    sizes = [half.classes for fit in comparison.fits for half in (fit.fitted, fit.held_out)]
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if max(sizes) > WIDE * min(sizes):
        axes.set_xscale("log")
        axes.tick_params("x", which="both", length=3, pad=4)
        axes.xaxis.set_major_formatter(LogFormatter(minor_thresholds=(2, 0.5)))
        axes.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.5)))
    for recoding, style in _styles(comparison).items():
        for fit in _of(comparison, recoding):
            classes = [fit.fitted.classes, fit.held_out.classes]
            bits = [fit.fitted.retained, fit.held_out.retained]
            axes.plot(classes, bits, color=style["color"], linewidth=0.8, alpha=0.5)
            axes.plot(classes[0], bits[0], **style, **HOLLOW)
            axes.plot(classes[1], bits[1], **style)
    for point in comparison.points:
        axes.axhline(point.ceiling, **CEILING)
    axes.set_xlabel("equivalence classes")


def _against_parameter(axes: Axes, comparison: Comparison, name: str) -> None:
    """The most that is kept at each value of a swept parameter, whatever the others."""
    for recoding, style in _styles(comparison).items():
        fits = _of(comparison, recoding)
        axes.plot(*frontier(fits, name, lambda fit: fit.fitted.retained), **style, **HOLLOW)
        axes.plot(
            *frontier(fits, name, lambda fit: fit.held_out.retained), **{**style, "linestyle": "-"}
        )
    axes.plot(*ceilings(comparison, name), **CEILING)
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


def _legend(comparison: Comparison) -> list[Line2D]:
    """A line for each recoding, and what hollow, filled and dashed mean."""
    named = [Line2D([], [], label=name, **style) for name, style in _styles(comparison).items()]
    grey: Style = {"color": "grey", "marker": "o", "linestyle": "none"}
    return [
        *named,
        Line2D([], [], label="half fitted to", **grey, **HOLLOW),
        Line2D([], [], label="half held out", **grey),
        Line2D([], [], label="ceiling", **CEILING),
    ]
