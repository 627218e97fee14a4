"""What each class of a release tells, against the policy (Bezzi 2010, Figures 2 to 4, right)."""

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from anonymizer.counts.counts import Classes
from anonymizer.information.entropy import entropy, specific_information, surprise
from anonymizer.kernels.arrays import Floats, Ints, Mask
from anonymizer.privacy import EntropyLDiversity, KAnonymity, PrivacyModel, TCloseness
from anonymizer.privacy.base import holds
from anonymizer.release.manifest import Manifest
from anonymizer.report.plots.counted import recounted
from anonymizer.report.plots.style import (
    Picture,
    Style,
    Theme,
    counted_axis,
    drawing,
    panels,
    short,
)
from anonymizer.tables import engine

WIDE = 20
"""The largest class is so many times the smallest: a logarithmic axis shows both."""

MOST_BARS = 40
"""Classes that are drawn as a bar each; more are a line through them, sorted."""

MOST_POINTS = 600
"""Points of such a line: more than a page has pixels across."""


class Panel(NamedTuple):
    """A quantity of each class: what it is, where it must not pass, and which classes fail."""

    attribute: str
    symbol: str
    bits: Floats
    failing: Mask
    bounds: list[tuple[str, float]]


def classes_picture(
    manifest: Manifest, table: engine.Table | None = None, theme: Theme = "auto"
) -> Picture | None:
    """I1 = D(p(w|g) || p(w)) and I2 = H(W) - H(W|g) of each class, in bits, against t and l.

    A pair of panels for each sensitive attribute, classes in the order of their bits. I1 stands
    against t where that is of the Kullback-Leibler distance, I2 against H(W) - log2 l of entropy
    l-diversity; failing classes are those that break any model about the attribute. None without a
    released table or a sensitive attribute.
    """
    if table is None or manifest.columns is None or not manifest.columns.sensitive:
        return None
    counts, models = recounted(manifest, table)
    found = [_pair(counts.about(name), name, models) for name in manifest.columns.sensitive]
    with drawing(theme):
        figure, rows = panels(theme, len(found), 2, 2.7, "Information of each class")
        for pair, row in zip(found, rows, strict=True):
            for panel, axes in zip(pair, row, strict=True):
                _draw(axes, panel, figure.palette)
    figure.description = ". ".join(_said(panel) for pair in found for panel in pair)
    return figure


def sizes_picture(
    manifest: Manifest, table: engine.Table | None = None, theme: Theme = "auto"
) -> Picture | None:
    """Records of each class of the released table, the largest first, and k where it is given.

    None without a released table.
    """
    if table is None:
        return None
    counts, models = recounted(manifest, table)
    sizes = np.sort(counts.sizes)[::-1]
    least = max((model.k for model in models if isinstance(model, KAnonymity)), default=None)
    with drawing(theme):
        figure, ((axes,),) = panels(theme, 1, 1, 2.9, "Sizes of classes")
        if sizes[0] > WIDE * sizes[-1]:
            axes.set_yscale("log")
        _ranked(axes, sizes, sizes < (least or 0), figure.palette)
        counted_axis(axes.yaxis)
        if least is not None:
            _bound(axes, f"k = {least}", least, figure.palette["bad"])
        axes.set_ylabel("records")
        axes.set_xlabel(_classes(len(sizes), "largest first"))
    figure.description = (
        f"{len(sizes):,} classes: {sizes[-1]:,} records in the smallest, "
        f"{np.median(sizes):,.6g} in the median one, {sizes[0]:,} in the largest"
        + ("" if least is None else f"; at least {least} are required")
    )
    return figure


def _pair(classes: Classes, name: str, models: Sequence[PrivacyModel]) -> tuple[Panel, Panel]:
    """I1 and I2 of the classes about an attribute."""
    about = [model for model in models if model.sensitive and model.attribute in (None, name)]
    judged = [model for model in about if model.per_class]
    fine = np.logical_and.reduce([holds(each, classes) for each in judged] or [classes.sizes > 0])
    known = float(entropy(classes.margin))
    closeness = [
        (f"t = {each.t:g}", float(each.t))
        for each in about
        if isinstance(each, TCloseness) and each.distance == "kl"
    ]
    diversity = [
        (f"l = {each.l:g}", known - float(np.log2(each.l)))
        for each in about
        if isinstance(each, EntropyLDiversity)
    ]
    one = Panel(name, "I₁", surprise(classes.joint, classes.margin), ~fine, closeness)
    two = specific_information(classes.joint, classes.margin)
    return one, Panel(name, "I₂", two, ~fine, diversity)


def _draw(axes: Axes, panel: Panel, palette: dict[str, str]) -> None:
    """The classes in order, and the bounds that they stand under."""
    order = np.argsort(-panel.bits, kind="stable")
    _ranked(axes, panel.bits[order], panel.failing[order], palette)
    for text, bound in sorted(panel.bounds, key=itemgetter(1))[:1]:  # the strictest
        _bound(axes, text, bound, palette["bad"])
    axes.axhline(0, color=palette["rule"], linewidth=0.8)
    axes.set_title(f"{panel.symbol} about {short(panel.attribute)}", fontsize=10)
    axes.set_ylabel("bits")
    axes.set_xlabel(_classes(len(order), "most telling first"))


def _ranked(axes: Axes, values: Floats | Ints, failing: Mask, palette: dict[str, str]) -> None:
    """Values in the order given: bars of a few classes, a line of many; failing ones marked.

    On a logarithmic axis, which has no zero for bars to stand on, a few classes are points.
    """
    places = np.arange(1, len(values) + 1)
    few, log = len(values) <= MOST_BARS, axes.get_yscale() == "log"
    if few and not log:
        axes.bar(places[~failing], values[~failing], 0.7, color=palette["main"])
        look: Style = {"facecolor": "none", "edgecolor": palette["bad"], "hatch": "////"}
        axes.bar(places[failing], values[failing], 0.7, **look)
    else:
        some = np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).astype(int))
        failing = failing[some]
        places, values = places[some], values[some]
        if not log:
            axes.fill_between(places, values, color=palette["pale"], step="mid", linewidth=0)
        style = "o" if few else "-"
        axes.plot(places, values, style, color=palette["main"], linewidth=1.4, markersize=5)
        axes.plot(places[failing], values[failing], "x", color=palette["bad"], markersize=6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    counted_axis(axes.xaxis)
    axes.set_xlim(0.3, places[-1] + 0.7)


def _bound(axes: Axes, text: str, bound: float, color: str) -> None:
    """A dashed line at a threshold, its name to the right of it, where nothing crosses it."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        axes.set_ylim(min(low, bound * 0.8), max(high, bound * 1.2))
    else:
        room = 0.06 * (max(high, bound) - min(low, bound))
        least, most = (min(low, bound - room) if bound < low else low), max(high, bound + room)
        axes.set_ylim(least, most)
    axes.axhline(bound, color=color, linestyle="--", linewidth=1.2)
    style: Style = {"xytext": (3, 0), "textcoords": "offset points", "ha": "left", "va": "center"}
    place = axes.get_yaxis_transform()
    axes.annotate(text, (1.0, bound), xycoords=place, color=color, fontsize=9, **style)


def _classes(number: int, order: str) -> str:
    return f"{number:,} class{'' if number == 1 else 'es'}, {order}"


def _said(panel: Panel) -> str:
    """The same in words."""
    bounds = "".join(f", against {text} ({bound:.3f})" for text, bound in panel.bounds)
    return (
        f"{panel.symbol} about {short(panel.attribute)}: from {panel.bits.min():.3f} to "
        f"{panel.bits.max():.3f} bits in {len(panel.bits):,} classes{bounds}; "
        f"{int(panel.failing.sum()):,} fail"
    )
