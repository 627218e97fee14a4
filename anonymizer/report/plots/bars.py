"""Quantities of classes as bars, or as a line where they are many, and what bounds them."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.report.plots.style import (
    Style,
    counted_axis,
    short,
)
from anonymizer.utility.figures import Limit

MOST_BARS = 40
"""Classes that are drawn as a bar each; more are a line through them, sorted."""

MOST_POINTS = 600
"""Points of such a line: more than a page has pixels across."""

MOST_NUMBERS = 12
"""Bars that have their number above them."""

TOGETHER = 0.8
"""Share of the room of a class that its bars take, all measures together."""

LEVEL = 48
"""Characters of all names together that have room next to each other."""

LONGEST = 24
"""Characters of a name below bars."""

DASHES = ("-", "--", ":")
"""The lines of the bounds of the first measure, the second, and any other."""

FORGIVEN = 1e-9
"""Bits by which a bar may exceed its bound, as models forgive."""


class ClassMeasure(NamedTuple):
    """A quantity of each class: its name, its values (classes,), and what bounds it, if anything.

    ``bound`` has a name and a value.
    """

    name: str
    values: Floats
    bound: tuple[str, float] | None = None

    @property
    def exceeding(self) -> Mask:
        """Which values are above the bound, shape (classes,)."""
        most = np.inf if self.bound is None else self.bound[1] + FORGIVEN
        return np.asarray(self.values > most)


def grouped(
    axes: Axes,
    names: Sequence[str],
    measures: Sequence[ClassMeasure],
    palette: dict[str, str],
    failing: Sequence[bool] = (),
) -> None:
    """Several measures of each class next to each other, with their bounds as lines.

    Bars above their bound are hatched, and the names of ``failing`` classes stand out.
    """
    width, places = TOGETHER / len(measures), np.arange(len(names))
    few = len(names) * len(measures) <= MOST_NUMBERS
    behind: Style = {"facecolor": palette["paper"], "edgecolor": "none", "pad": 0.4}
    looks = _looks(palette)
    for number, measure in enumerate(measures):
        along = places + (number - (len(measures) - 1) / 2) * width
        above, look = measure.exceeding, looks[number % len(looks)]
        hatched = {**look, **_hatched(palette)}
        for some, how in ((~above, look), (above, hatched)):
            bars = axes.bar(along[some], measure.values[some], width, **how)
            if few:
                axes.bar_label(bars, fmt="%.3f", fontsize=8, padding=1, bbox=behind)
    axes.margins(y=0.1 if few else 0.05)
    bounds(axes, measures, palette)
    axes.axhline(0, color=palette["rule"], linewidth=0.8)
    _named(axes, names, failing, palette)
    axes.set_xlim(-0.6, len(names) - 0.4)
    _legend(axes, measures, palette)


def _looks(palette: dict[str, str]) -> list[Style]:
    """Bars of the first measure, the second and so on: dark, light, grey."""
    return [
        {"facecolor": palette[face], "edgecolor": palette[edge], "linewidth": 0.8}
        for face, edge in (("main", "main"), ("pale", "main"), ("rule", "rule"))
    ]


def _hatched(palette: dict[str, str]) -> Style:
    """What becomes of a bar above its bound."""
    return {"hatch": "////", "edgecolor": palette["bad"], "linewidth": 1.4}


def bounds(axes: Axes, measures: Sequence[ClassMeasure], palette: dict[str, str]) -> None:
    """A line for each bound; the name of the highest above it, so that it hides no other."""
    found = dict.fromkeys(measure.bound for measure in measures if measure.bound)
    highest = max((value for _, value in found), default=0.0)
    for (name, value), dash in zip(found, cycle(DASHES), strict=False):
        side = "center" if len(found) == 1 else "bottom" if value == highest else "top"
        bound(axes, name, value, palette["bad"], dash, side)


def _named(
    axes: Axes, names: Sequence[str], failing: Sequence[bool], palette: dict[str, str]
) -> None:
    """Classes by name below their bars, on end where there are many."""
    shown = [short(name, LONGEST) for name in names]
    level = sum(map(len, shown)) <= LEVEL
    size = 9 if len(names) <= MOST_BARS / 4 else 7
    turned: Style = {} if level else {"rotation": 35 if size == 9 else 90, "fontsize": size}
    if turned.get("rotation") == 35:
        turned |= {"ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(range(len(names)), shown, **turned)
    axes.tick_params("x", length=0)
    for text, fails in zip(axes.get_xticklabels(), failing, strict=False):
        if fails:
            text.set_color(palette["bad"])
            text.set_fontweight("bold")


def _legend(axes: Axes, measures: Sequence[ClassMeasure], palette: dict[str, str]) -> None:
    """The names of the measures, and what hatched bars are where there are any."""
    looks = _looks(palette)
    if len(measures) == 1 and not measures[0].exceeding.any():
        return  # the axis says what it is
    handles = [
        Patch(label=measure.name, **looks[number % len(looks)])
        for number, measure in enumerate(measures)
    ]
    if any(measure.exceeding.any() for measure in measures):
        look = {"facecolor": "none", **_hatched(palette)}
        handles.append(Patch(label="above its line", **look))
    legend_above(axes, handles=handles)


def legend_above(axes: Axes, **given: Any) -> None:
    """The legend above the bars, where it hides none."""
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, fontsize=9, **given)


def ranked(
    axes: Axes,
    values: Floats | Ints,
    failing: Mask,
    palette: dict[str, str],
    color: str = "main",
    fill: str = "pale",
) -> None:
    """Values in the order given: bars of a few classes, a line of many; failing ones marked.

    On a logarithmic axis, which has no zero for bars to stand on, a few classes are points.
    """
    places = np.arange(1, len(values) + 1)
    few, log = len(values) <= MOST_BARS, axes.get_yscale() == "log"
    if few and not log:
        axes.bar(places[~failing], values[~failing], 0.7, color=palette[color])
        look: Style = {"facecolor": "none", "edgecolor": palette["bad"], "hatch": "////"}
        axes.bar(places[failing], values[failing], 0.7, **look)
    else:
        some = np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).astype(int))
        failing = failing[some]
        places, values = places[some], values[some]
        if not log and fill:
            axes.fill_between(places, values, color=palette[fill], step="mid", linewidth=0)
        style = "o" if few else "-"
        axes.plot(places, values, style, color=palette[color], linewidth=1.4, markersize=5)
        size = 6 if failing.sum() <= MOST_BARS else 3
        axes.plot(places[failing], values[failing], "x", color=palette["bad"], markersize=size)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    counted_axis(axes.xaxis)
    axes.set_xlim(0.3, places[-1] + 0.7)


def bound(
    axes: Axes, text: str, value: float, color: str, dash: str = "--", side: str = "center"
) -> None:
    """A line at a threshold, its name to the right of it, where nothing crosses it."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        axes.set_ylim(min(low, value * 0.8), max(high, value * 1.2))
    else:
        room = 0.06 * (max(high, value) - min(low, value))
        least, most = (min(low, value - room) if value < low else low), max(high, value + room)
        axes.set_ylim(least, most)
    axes.axhline(value, color=color, linestyle=dash, linewidth=1.2)
    style: Style = {"xytext": (3, 0), "textcoords": "offset points", "ha": "left", "va": side}
    place = axes.get_yaxis_transform()
    axes.annotate(text, (1.0, value), xycoords=place, color=color, fontsize=9, **style)


class BitsBar(NamedTuple):
    """A quantity in bits: its name, and how it looks."""

    name: str
    bits: float
    look: str


def bars_of(
    original: float, retained: float, ceiling: float, bounds: Sequence[BitsBar]
) -> list[BitsBar]:
    """The bars of Figures 2 to 4, left, with the ceiling and what is lost."""
    return [
        BitsBar("original, I(X;W)", original, "open"),
        *bounds,
        BitsBar("ceiling of the policy", ceiling, "rule"),
        BitsBar("retained, I(X̃;W)", retained, "main"),
        BitsBar("lost", max(original - retained, 0.0), "lost"),
    ]


def said_of(bars: Sequence[BitsBar]) -> str:
    """Bars in words, the first one being the original."""
    return "; ".join(f"{bar.name}: {_share(bar, bars[0].bits)}" for bar in bars)


def pale(bounds: Sequence[Limit]) -> list[BitsBar]:
    """Bars of what models bound I(X~;W) by."""
    signs = ((each, each.name.replace("<=", "≤").replace(">=", "≥")) for each in bounds)
    return [BitsBar(f"bound of {name}", each.bits, "pale") for each, name in signs]


def draw_bars(
    axes: Axes, bars: Sequence[BitsBar], palette: dict[str, str], original: float
) -> None:
    """A bar for each, the first on top; the lost one begins where the retained one ends."""
    looks: dict[str, Style] = {
        "open": {"facecolor": "none", "edgecolor": palette["ink"]},
        "pale": {"facecolor": palette["pale"], "edgecolor": palette["main"]},
        "rule": {"facecolor": palette["rule"], "edgecolor": palette["rule"]},
        "main": {"facecolor": palette["main"], "edgecolor": palette["main"]},
        "lost": {"facecolor": "none", "edgecolor": palette["bad"], "hatch": "////"},
    }
    most = max((bar.bits for bar in bars), default=0.0) or 1.0
    for place, bar in enumerate(bars):
        left = original - bar.bits if bar.look == "lost" else 0.0
        axes.barh(place, bar.bits, left=left, height=0.66, linewidth=1.0, **looks[bar.look])
        end = left + max(bar.bits, 0.0) + most * 0.015
        axes.text(end, place, _share(bar, original), va="center", fontsize=9)
    named_rows(axes, [short(bar.name, 44) for bar in bars])
    axes.set_xlim(min(0.0, *(bar.bits for bar in bars)), most * 1.32)
    axes.set_xlabel("bits")


def named_rows(axes: Axes, names: Sequence[str]) -> None:
    """Rows of bars under their names, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params("y", length=0)
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")


def bits_text(bits: float) -> str:
    """Bits in three decimals, never -0."""
    return f"{round(bits, 3) + 0.0:.3f}"


def _share(bar: BitsBar, original: float) -> str:
    """Bits, and how much of the original ones they are."""
    text = bits_text(bar.bits)
    known = bar.look in ("main", "lost") and original > 0
    return f"{text} ({bar.bits / original:.0%})" if known else text
