"""What each class of a release tells, against the policy (Bezzi 2010, Figures 2 to 4, right)."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from anonymizer.feedback.words import plural
from anonymizer.kernels.arrays import Floats, Mask
from anonymizer.privacy import KAnonymity
from anonymizer.release.manifest import Manifest
from anonymizer.report.plots.bars import bound, ranked
from anonymizer.report.plots.counted import recounted
from anonymizer.report.plots.style import Picture, Theme, counted_axis, drawing, panels, short
from anonymizer.tables import engine
from anonymizer.utility.figures import Contribution, Limit

WIDE = 20
"""The largest class is so many times the smallest: a logarithmic axis shows both."""


class Panel(NamedTuple):
    """A quantity of each class: what it is, where it must not pass, and which classes fail."""

    attribute: str
    symbol: str
    bits: Floats
    failing: Mask
    bounds: tuple[Limit, ...]


def classes_picture(
    manifest: Manifest, table: engine.Table | None = None, theme: Theme = "auto"
) -> Picture | None:
    """I1 = D(p(w|g) || p(w)) and I2 = H(W) - H(W|g) of each class, in bits, against t and l.

    A pair of panels for each sensitive attribute, classes in the order of their bits. I1 stands
    against t where that is of the Kullback-Leibler distance, I2 against H(W) - log2 l of entropy
    l-diversity; failing classes are those that break any model about the attribute or about sizes.
    None without a released table or a sensitive attribute.
    """
    if table is None or manifest.columns is None or not manifest.columns.sensitive:
        return None
    counts, models = recounted(manifest, table)
    found = [
        panels_of(Contribution.of(counts, name, models)) for name in manifest.columns.sensitive
    ]
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
        ranked(axes, sizes, sizes < (least or 0), figure.palette)
        counted_axis(axes.yaxis)
        if least is not None:
            bound(axes, f"k = {least}", least, figure.palette["bad"])
        axes.set_ylabel("records")
        axes.set_xlabel(f"{plural(len(sizes), 'class')}, largest first")
    figure.description = (
        f"{len(sizes):,} classes: {sizes[-1]:,} records in the smallest, "
        f"{np.median(sizes):,.6g} in the median one, {sizes[0]:,} in the largest"
        + ("" if least is None else f"; at least {least} are required")
    )
    return figure


def panels_of(found: Contribution) -> tuple[Panel, Panel]:
    """I1 and I2 of the classes about an attribute."""
    failing = np.array(found.failing)
    return (
        Panel(found.attribute, "I₁", np.array(found.i1), failing, found.i1_limits),
        Panel(found.attribute, "I₂", np.array(found.i2), failing, found.i2_limits),
    )


def _draw(axes: Axes, panel: Panel, palette: dict[str, str]) -> None:
    """The classes in order, and the bounds that they stand under."""
    order = np.argsort(-panel.bits, kind="stable")
    ranked(axes, panel.bits[order], panel.failing[order], palette)
    for strictest in panel.bounds[:1]:
        bound(axes, *strictest, palette["bad"])
    axes.axhline(0, color=palette["rule"], linewidth=0.8)
    axes.set_title(f"{panel.symbol} about {short(panel.attribute)}", fontsize=10)
    axes.set_ylabel("bits")
    axes.set_xlabel(f"{plural(len(order), 'class')}, most telling first")


def _said(panel: Panel) -> str:
    """The same in words."""
    bounds = "".join(f", against {text} ({bits:.3f})" for text, bits in panel.bounds)
    return (
        f"{panel.symbol} about {short(panel.attribute)}: from {panel.bits.min():.3f} to "
        f"{panel.bits.max():.3f} bits in {len(panel.bits):,} classes{bounds}; "
        f"{int(panel.failing.sum()):,} fail"
    )
