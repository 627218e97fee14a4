"""How much information a release retains, under which bounds (Bezzi 2010, Figures 2 to 4, left)."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes

from anonymizer.privacy import attributes_of
from anonymizer.release.information import bound_of
from anonymizer.release.manifest import Manifest
from anonymizer.report.plots.counted import recounted
from anonymizer.report.plots.style import Picture, Style, Theme, drawing, picture, short


class Bar(NamedTuple):
    """A quantity in bits: its name, and how it looks."""

    name: str
    bits: float
    look: str


def information_picture(
    manifest: Manifest, table: pd.DataFrame | None = None, theme: Theme = "auto"
) -> Picture | None:
    """Bits about the sensitive attributes: original, bounds of the policy, ceiling, retained, lost.

    The bounds are t and H(W) - log2 l of Eq. 13 where a single attribute is sensitive and the
    released table is given, which H(W) is counted of. None where the manifest has no information:
    without sensitive attributes, and of differentially private releases.
    """
    found = manifest.information
    if not found:
        return None
    original, retained = found.original, found.retained
    bars = [
        Bar("original, I(X;W)", original, "open"),
        *_bounds(manifest, table),
        Bar("ceiling of the policy", found.ceiling, "rule"),
        Bar("retained, I(X̃;W)", retained, "main"),
        Bar("lost", max(original - retained, 0.0), "lost"),
    ]
    with drawing(theme):
        figure, axes = picture(theme, 0.42 * len(bars) + 0.9, "Information retained")
        _draw_bars(axes, bars, figure.palette, original)
    figure.description = "Information in bits. " + "; ".join(
        f"{bar.name}: {_share(bar, original)}" for bar in bars
    )
    return figure


def _bounds(manifest: Manifest, table: pd.DataFrame | None) -> list[Bar]:
    """What each model of the policy bounds I(X~;W) by, where a single attribute is sensitive."""
    if table is None or manifest.columns is None or len(manifest.columns.sensitive) != 1:
        return []
    counts, models = recounted(manifest, table)
    (name,) = manifest.columns.sensitive
    about = [model for model in models if model.sensitive and attributes_of(model, [name])]
    bits = [(model, bound_of(counts, [model], name)) for model in about]
    return [
        Bar(f"bound of {model.name} {model.range}", bound, "pale")
        for model, bound in bits
        if bound < float("inf")
    ]


def _draw_bars(axes: Axes, bars: Sequence[Bar], palette: dict[str, str], original: float) -> None:
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
    axes.set_yticks(range(len(bars)), [short(bar.name, 44) for bar in bars])
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.set_xlim(min(0.0, *(bar.bits for bar in bars)), most * 1.32)
    axes.tick_params("y", length=0)
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("bits")


def _share(bar: Bar, original: float) -> str:
    """Bits, and how much of the original ones they are."""
    text = f"{bar.bits:.3f}"
    known = bar.look in ("main", "lost") and original > 0
    return f"{text} ({bar.bits / original:.0%})" if known else text
