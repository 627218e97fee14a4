"""Pictures of comparisons: recodings on two halves, schemes, and what each class gives away."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle, groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogFormatter, MaxNLocator
from matplotlib.transforms import offset_copy

from anonymizer.feedback.words import plural
from anonymizer.kernels.arrays import Floats
from anonymizer.report.plots.bars import (
    MOST_BARS,
    BitsBar,
    ClassMeasure,
    bars_of,
    bits_text,
    bounds,
    draw_bars,
    grouped,
    legend_above,
    named_rows,
    pale,
    ranked,
    said_of,
)
from anonymizer.report.plots.style import (
    COLORS,
    LOOK,
    Picture,
    Style,
    Theme,
    drawing,
    panels,
    picture,
    save,
    short,
)
from anonymizer.utility.comparison import Comparison, Fit
from anonymizer.utility.figures import HIDDEN, Attribute, Figures
from anonymizer.utility.schemes import SchemeComparison

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


def draw_comparison(comparison: Comparison, path: Path) -> None:
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


MOST_FITS = 24
"""Fits that a comparison shows, those that keep most."""


def comparison_picture(comparison: Comparison, theme: Theme = "auto") -> Picture:
    """Recodings compared under the policy: bits retained on records held out, and the ceiling.

    A bar for each fit, hatched where it breaks the policy, with the number of classes that do. What
    is shaded is above the ceiling, the highest one of several policies.
    """
    fits = sorted(comparison.fits, key=lambda fit: -fit.held_out.retained)[:MOST_FITS]
    names = [short(_with_swept(fit), 40) for fit in fits]
    bits = [fit.held_out.retained for fit in fits]
    ceilings = [point.ceiling for point in comparison.points]
    with drawing(theme):
        figure, axes = picture(theme, 0.36 * len(fits) + 1.2, "Recodings compared")
        low, high = min(ceilings), max(ceilings)
        end = _end(fits, high)
        axes.axvspan(min(high, end), end, color=figure.palette["rule"], alpha=0.25, zorder=0.5)
        for place, fit in enumerate(fits):
            _draw_fit(axes, place, fit, figure.palette)
        named_rows(axes, names)
        axes.set_xlim(min([0.0, *bits]) * 1.05, end)
        several = f"{bits_text(low)} to {bits_text(high)}" if low < high else bits_text(high)
        axes.set_xlabel(f"bits retained (held out); ceiling: {several}")
    said = (f"{name}: {_bits_kept(fit)}" for name, fit in zip(names, fits, strict=True))
    figure.description = f"Bits retained under a ceiling of {several}. " + "; ".join(said)
    return figure


def _end(fits: Sequence[Fit], ceiling: float) -> float:
    """Where the axis ends: room for what is written after bars, and for a ceiling that is near."""
    bits = [fit.held_out.retained for fit in fits]
    most = max([*bits, 0.0])
    span = most - min([*bits, 0.0]) or 1.0
    room = 0.35 if all(fit.held_out.satisfied for fit in fits) else 1.1
    near = ceiling * 1.15 if ceiling <= most + span else 0.0
    return max(most + room * span, near)


def _draw_fit(axes: Axes, place: int, fit: Fit, palette: dict[str, str]) -> None:
    """The bar of a fit, and its bits or what it breaks."""
    holds = fit.held_out.satisfied
    look: Style = (
        {"facecolor": palette["main"], "edgecolor": palette["main"]}
        if holds
        else {"facecolor": "none", "edgecolor": palette["bad"], "hatch": "////"}
    )
    axes.barh(place, fit.held_out.retained, height=0.66, **look)
    style: Style = {"textcoords": "offset points", "va": "center", "fontsize": 9}
    end = max(fit.held_out.retained, 0.0)
    axes.annotate(_bits_kept(fit), (end, place), (4, 0), **style)


def _with_swept(fit: Fit) -> str:
    swept = ", ".join(f"{name} = {value:g}" for name, value in fit.parameters.items())
    return f"{fit.recoding} ({swept})" if swept else fit.recoding


def _bits_kept(fit: Fit) -> str:
    half = fit.held_out
    if half.satisfied:
        return bits_text(half.retained)
    return f"{bits_text(half.retained)}, {half.broken:,} of {half.classes:,} classes fail"


WIDTH, HEIGHT = 11.0, 3.1
"""Inches of a picture across, and of each of its rows."""

MOST_ROWS = 16
"""Rows of a picture; what is beyond is in the numbers that are printed."""


class DrawnRow(NamedTuple):
    """A row of a picture: what a recoding keeps about an attribute, and what its classes tell."""

    found: Figures
    about: Attribute

    @property
    def measures(self) -> tuple[ClassMeasure, ClassMeasure]:
        """I1 and I2 of the classes with the strictest bound of each."""
        about = self.about
        pairs = (("I₁", about.i1, about.i1_limits), ("I₂", about.i2, about.i2_limits))
        return tuple(  # type: ignore[return-value]
            ClassMeasure(name, np.array(bits), limits[0] if limits else None)
            for name, bits, limits in pairs
        )

    @property
    def verdict(self) -> str:
        """Whether the policy holds, and else in how many classes it does not, or which models."""
        if self.found.satisfied:
            return "the policy holds"
        failing, models = sum(self.about.failing), ", ".join(self.found.failing)
        classes = f"{failing:,} of {plural(len(self.found.classes), 'class')} fail"
        return classes if failing else f"fails {models}"


def figures_picture(found: Figures, theme: Theme = "auto") -> Picture:
    """What a recoding keeps and what its classes give away, a row for each sensitive attribute.

    Left are the bits in the original, what each model bounds them by, the ceiling, what is retained
    and what is lost. Right are I1 and I2 of each class, in the order of values, against t (a line)
    and H(W) - log2 l (dashed); bars above their bound are hatched, and the names of classes that
    break the policy stand out. More than 40 classes are lines, the most telling first.
    """
    rows = [DrawnRow(found, about) for about in found.attributes]
    return _picture(rows, f"Figures of {found.name}", theme)


def schemes_picture(comparison: SchemeComparison, theme: Theme = "auto") -> Picture:
    """The same of several schemes, a row for each and each sensitive attribute, on equal scales."""
    rows = [
        DrawnRow(each, about)
        for place in range(len(comparison.about))
        for each in comparison.schemes
        for about in (each.attributes[place],)
    ]
    return _picture(rows, "Schemes compared", theme)


def draw_figures(found: Figures | SchemeComparison, path: Path) -> None:
    """Draw figures at a path, in the format of its suffix."""
    if isinstance(found, Figures):
        figure = figures_picture(found, "light")
    else:
        figure = schemes_picture(found, "light")
    with drawing("light"):
        save(figure, path)


def _picture(rows: Sequence[DrawnRow], title: str, theme: Theme) -> Picture:
    shown = rows[:MOST_ROWS]
    with drawing(theme):
        figure, places = panels(theme, len(shown), 2, HEIGHT, title, WIDTH)
        for row, (left, right) in zip(shown, places, strict=True):
            _draw_information(left, row, figure.palette)
            _draw_classes(right, row, figure.palette)
        _level(shown, [right for _, right in places])
        if len(rows) > len(shown):
            figure.supxlabel(f"{len(rows) - len(shown):,} more are not drawn", fontsize=9)
    figure.description = ". ".join(map(_said, shown))
    return figure


def _bars_of_row(row: DrawnRow) -> list[BitsBar]:
    about = row.about
    return bars_of(about.original, about.retained, about.ceiling, pale(about.bounds))


def _draw_information(axes: Axes, row: DrawnRow, palette: dict[str, str]) -> None:
    draw_bars(axes, _bars_of_row(row), palette, row.about.original)
    color = palette["ink" if row.found.satisfied else "bad"]
    title = f"{short(row.found.name, 40)}: {row.verdict}"
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", color=color)


def _draw_classes(axes: Axes, row: DrawnRow, palette: dict[str, str]) -> None:
    """I1 and I2 of each class."""
    names, failing = row.found.classes, row.about.failing
    axes.set_ylabel(f"bits about {short(row.about.attribute)}")
    if len(names) <= MOST_BARS:
        grouped(axes, [each or HIDDEN for each in names], row.measures, palette, failing)
        axes.set_xlabel("class")
        return
    looks = (("main", "pale"), ("rule", ""))
    for measure, (color, fill) in zip(row.measures, looks, strict=True):
        order = np.argsort(-measure.values, kind="stable")
        marks = np.array(failing)[order]
        ranked(axes, measure.values[order], marks, palette, color, fill)
        axes.lines[-2].set_label(measure.name)
    bounds(axes, row.measures, palette)  # after all lines, which the axis has to show
    legend_above(axes)
    marked = ", x fails" if any(failing) else ""
    axes.set_xlabel(f"{plural(len(names), 'class')}, most telling first{marked}")


def _level(rows: Sequence[DrawnRow], places: Sequence[Axes]) -> None:
    """Equal scales for the classes of all schemes about the same attribute."""
    pairs = [(row.about.attribute, axes) for row, axes in zip(rows, places, strict=True)]
    for _, alike in groupby(pairs, key=itemgetter(0)):
        together = [axes for _, axes in alike]
        ends = [axes.get_ylim() for axes in together]
        for axes in together:
            axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


def _said(row: DrawnRow) -> str:
    """A row in words, with its numbers."""
    found = [
        f"{measure.name} {_bits_of_all(measure.values)}" + _against(measure)
        for measure in row.measures
    ]
    return (
        f"{row.found.name}, about {short(row.about.attribute)}: {row.verdict}. "
        f"Bits: {said_of(_bars_of_row(row))}. Of each class: {'; '.join(found)}"
    )


def _bits_of_all(bits: Floats) -> str:
    """The bits of a few classes, or the ends of those of many."""
    if len(bits) <= MOST_BARS:
        return ", ".join(f"{each:.3f}" for each in (bits.round(3) + 0.0).tolist())
    return f"from {bits.min():.3f} to {bits.max():.3f}"


def _against(measure: ClassMeasure) -> str:
    if measure.bound is None:
        return ""
    name, bits = measure.bound
    return f" against {name} ({bits:.3f})"
