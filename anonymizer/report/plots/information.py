"""How much information a release retains, under which bounds (Bezzi 2010, Figures 2 to 4, left)."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from anonymizer.release.manifest import Manifest
from anonymizer.report.plots.counted import recounted
from anonymizer.report.plots.style import Picture, Style, Theme, drawing, picture, short
from anonymizer.tables import engine
from anonymizer.utility.comparison import Comparison, Fit
from anonymizer.utility.figures import Limit, bounds_of

MOST_FITS = 24
"""Fits that a comparison shows, those that keep most."""


class BitsBar(NamedTuple):
    """A quantity in bits: its name, and how it looks."""

    name: str
    bits: float
    look: str


def information_picture(
    manifest: Manifest, table: engine.Table | None = None, theme: Theme = "auto"
) -> Picture | None:
    """Bits about the sensitive attributes: original, bounds of the policy, ceiling, retained, lost.

    The bounds are t and H(W) - log2 l of Eq. 13 where a single attribute is sensitive and the
    released table is given, which H(W) is counted of. None where the manifest has no information
    of the original: without sensitive attributes, of differentially private releases, and where it
    is ``release.json``, not its steward's file.
    """
    found = manifest.information
    if found is None or found.original is None or found.ceiling is None:
        return None
    original, retained = found.original, found.retained
    bars = bars_of(original, retained, found.ceiling, _bounds(manifest, table))
    with drawing(theme):
        figure, axes = picture(theme, 0.42 * len(bars) + 0.9, "Information retained")
        draw_bars(axes, bars, figure.palette, original)
    figure.description = f"Information in bits. {said_of(bars)}"
    return figure


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


def _bounds(manifest: Manifest, table: engine.Table | None) -> list[BitsBar]:
    """What each model of the policy bounds I(X~;W) by, where a single attribute is sensitive."""
    if table is None or manifest.columns is None or len(manifest.columns.sensitive) != 1:
        return []
    counts, models = recounted(manifest, table)
    (name,) = manifest.columns.sensitive
    return pale(bounds_of(counts, models, name))


def pale(bounds: Sequence[Limit]) -> list[BitsBar]:
    """Bars of what models bound I(X~;W) by."""
    return [BitsBar(f"bound of {_signed(each.name)}", each.bits, "pale") for each in bounds]


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
    _rows(axes, [short(bar.name, 44) for bar in bars])
    axes.set_xlim(min(0.0, *(bar.bits for bar in bars)), most * 1.32)
    axes.set_xlabel("bits")


def comparison_picture(comparison: Comparison, theme: Theme = "auto") -> Picture:
    """Recodings compared under the policy: bits retained on records held out, and the ceiling.

    A bar for each fit, hatched where it breaks the policy, with the number of classes that do. What
    is shaded is above the ceiling, the highest one of several policies.
    """
    fits = sorted(comparison.fits, key=lambda fit: -fit.held_out.retained)[:MOST_FITS]
    names = [short(_named(fit), 40) for fit in fits]
    bits = [fit.held_out.retained for fit in fits]
    ceilings = [point.ceiling for point in comparison.points]
    with drawing(theme):
        figure, axes = picture(theme, 0.36 * len(fits) + 1.2, "Recodings compared")
        low, high = min(ceilings), max(ceilings)
        end = _end(fits, high)
        axes.axvspan(min(high, end), end, color=figure.palette["rule"], alpha=0.25, zorder=0.5)
        for place, fit in enumerate(fits):
            _draw_fit(axes, place, fit, figure.palette)
        _rows(axes, names)
        axes.set_xlim(min([0.0, *bits]) * 1.05, end)
        several = f"{_bits(low)} to {_bits(high)}" if low < high else _bits(high)
        axes.set_xlabel(f"bits retained (held out); ceiling: {several}")
    said = (f"{name}: {_verdict(fit)}" for name, fit in zip(names, fits, strict=True))
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


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Rows of bars under their names, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params("y", length=0)
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")


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
    axes.annotate(_verdict(fit), (end, place), (4, 0), **style)


def _named(fit: Fit) -> str:
    """A recoding with the swept parameters of its policy."""
    swept = ", ".join(f"{name} = {value:g}" for name, value in fit.parameters.items())
    return f"{fit.recoding} ({swept})" if swept else fit.recoding


def _verdict(fit: Fit) -> str:
    """The bits of a fit, and the classes that break the policy."""
    half = fit.held_out
    if half.satisfied:
        return _bits(half.retained)
    return f"{_bits(half.retained)}, {half.broken:,} of {half.classes:,} classes fail"


def _bits(bits: float) -> str:
    """Bits in three decimals, never -0."""
    return f"{round(bits, 3) + 0.0:.3f}"


def _signed(range_: str) -> str:
    """Comparisons in single signs."""
    return range_.replace("<=", "≤").replace(">=", "≥")


def _share(bar: BitsBar, original: float) -> str:
    """Bits, and how much of the original ones they are."""
    text = _bits(bar.bits)
    known = bar.look in ("main", "lost") and original > 0
    return f"{text} ({bar.bits / original:.0%})" if known else text
