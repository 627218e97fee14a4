"""Pictures of a release, from its manifest and its released table alone.

Each is ``(manifest, table, theme) -> Picture | None``: None where there is nothing to draw.
``svg_of`` writes one for a page. No picture shows a count that the released table does not show;
``comparison_picture`` is of a comparison instead, which is measured on the original.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import recount
from anonymizer.errors import InputError
from anonymizer.feedback.words import plural
from anonymizer.hierarchy import Hierarchy
from anonymizer.kernels.arrays import Floats, Mask
from anonymizer.privacy import KAnonymity, PrivacyModel
from anonymizer.recoding.lattice import Lattice, Node
from anonymizer.release.manifest import Manifest
from anonymizer.report.plots.attributes import attribute_picture
from anonymizer.report.plots.bars import bound, ranked
from anonymizer.report.plots.style import (
    Picture,
    Style,
    Theme,
    counted_axis,
    drawing,
    panels,
    picture,
    short,
    svg_of,
)
from anonymizer.tables import engine
from anonymizer.utility.comparison import Comparison, Fit
from anonymizer.utility.figures import Contribution, Limit, bounds_of

__all__ = [
    "attribute_picture",
    "classes_picture",
    "comparison_picture",
    "information_picture",
    "lattice_picture",
    "sizes_picture",
    "svg_of",
]


def recounted(manifest: Manifest, table: engine.Table) -> tuple[Counts, list[PrivacyModel]]:
    """The counts of a released table by the roles of its manifest, and the models of its policy.

    Models that the manifest has only the digest of a population or a hierarchy of are left out.

    Raises InputError when the manifest is not about a file, so that columns have no roles.
    """
    models = []
    for verdict in manifest.privacy:
        try:
            models.append(verdict.privacy_model)
        except InputError:  # needs the study
            continue
    return recount(table, manifest.roles), models


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
                _draw_classes(axes, panel, figure.palette)
    figure.description = ". ".join(_classes_said(panel) for pair in found for panel in pair)
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


def _draw_classes(axes: Axes, panel: Panel, palette: dict[str, str]) -> None:
    """The classes in order, and the bounds that they stand under."""
    order = np.argsort(-panel.bits, kind="stable")
    ranked(axes, panel.bits[order], panel.failing[order], palette)
    for strictest in panel.bounds[:1]:
        bound(axes, *strictest, palette["bad"])
    axes.axhline(0, color=palette["rule"], linewidth=0.8)
    axes.set_title(f"{panel.symbol} about {short(panel.attribute)}", fontsize=10)
    axes.set_ylabel("bits")
    axes.set_xlabel(f"{plural(len(order), 'class')}, most telling first")


def _classes_said(panel: Panel) -> str:
    """The same in words."""
    bounds = "".join(f", against {text} ({bits:.3f})" for text, bits in panel.bounds)
    return (
        f"{panel.symbol} about {short(panel.attribute)}: from {panel.bits.min():.3f} to "
        f"{panel.bits.max():.3f} bits in {len(panel.bits):,} classes{bounds}; "
        f"{int(panel.failing.sum()):,} fail"
    )


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


MOST_NODES = 400
"""Nodes of the largest lattice that is drawn whole; of others the frontier alone is."""

MOST_LABELLED = 12
"""Nodes of the widest layer whose nodes are labelled."""


def lattice_picture(
    manifest: Manifest, table: engine.Table | None = None, theme: Theme = "auto"
) -> Picture | None:
    """The minimal nodes that satisfy the policy, by the sum of their levels, and the released one.

    Nodes are tuples of levels in the order of the attributes. Where the manifest has the rules of
    all hierarchies and the lattice is small, all its nodes are drawn, those above the frontier
    filled. None where the search was not over levels or does not know its minimal nodes, which the
    steward's file alone has.
    """
    minimal = [tuple(node) for node in manifest.search.minimal or ()]
    names = [*manifest.recoding]
    if not minimal or any(len(node) != len(names) for node in minimal):
        return None
    released = tuple(manifest.levels[name] for name in names if name in manifest.levels)
    best = released if len(released) == len(names) else None
    lattice = _lattice(manifest, names)
    nodes = [*lattice] if lattice is not None else sorted({*minimal, *([best] if best else [])})
    with drawing(theme):
        at = _places(nodes)
        height = min(0.55 * len({y for _, y in at.values()}) + 1.5, 7.0)
        figure, axes = picture(theme, height, "Lattice of levels")
        _draw_lattice(figure, axes, at, minimal, best, lattice)
        _frame(axes, names, at, lattice, manifest.search.nodes or len(nodes))
    figure.description = _lattice_said(names, minimal, best, manifest)
    return figure


def _lattice(manifest: Manifest, names: Sequence[str]) -> Lattice | None:
    """The whole lattice, where it is small and the manifest has the rules of all hierarchies."""
    rules: Mapping[str, object] = getattr(manifest, "hierarchies", None) or {}
    if (manifest.search.nodes or 0) > MOST_NODES or not {*names} <= {*rules}:
        return None
    try:
        heights = tuple(Hierarchy.of(rules[name]).height for name in names)
    except InputError:  # a rule of a newer version
        return None
    # Limits leave levels out: then these are other nodes than those that were searched.
    whole = prod(height + 1 for height in heights) == manifest.search.nodes
    return Lattice(tuple(names), heights) if whole else None


def _places(nodes: Sequence[Node]) -> dict[Node, tuple[float, int]]:
    """Where each node stands: the middle of a layer is 0, and its height the sum of levels."""
    layers: dict[int, list[Node]] = {}
    for node in sorted(nodes, reverse=True):
        layers.setdefault(sum(node), []).append(node)
    return {
        node: (place - (len(layer) - 1) / 2, height)
        for height, layer in layers.items()
        for place, node in enumerate(layer)
    }


def _draw_lattice(
    figure: Picture,
    axes: Axes,
    at: Mapping[Node, tuple[float, int]],
    minimal: Sequence[Node],
    best: Node | None,
    lattice: Lattice | None,
) -> None:
    """Edges, a mark for each kind of node, and their levels where there is room."""
    palette = figure.palette
    above = {*lattice.up_set(minimal)} if lattice is not None else {*at}
    if lattice is not None:
        lines = [(at[node], at[up]) for node in at for up in lattice.above(node)]
        axes.add_collection(LineCollection(lines, colors=palette["pale"], linewidths=0.6, zorder=1))
    looks = _looks(palette)
    kinds = {
        "below": [node for node in at if node not in above],
        "above": [node for node in at if node in above and node not in minimal and node != best],
        "minimal": list(minimal),
        "released": [] if best is None else [best],
    }
    for kind, nodes in kinds.items():
        places = [at[node] for node in nodes]
        axes.plot([x for x, _ in places], [y for _, y in places], **looks[kind])
    handles = [Line2D([], [], label=LEGEND[kind], **looks[kind]) for kind in kinds if kinds[kind]]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=9)
    if _widest(at) <= MOST_LABELLED:
        _label(axes, at)


LEGEND = {
    "below": "breaks the policy",
    "above": "satisfies it",
    "minimal": "minimal: satisfies it, and nothing below it does",
    "released": "released",
}


def _looks(palette: dict[str, str]) -> dict[str, Style]:
    """How each kind of node looks: by its shape and filling, so that no colour is needed."""
    blue, ink, paper = palette["main"], palette["ink"], palette["paper"]
    plain = {"linestyle": "none", "zorder": 2}
    return {
        "below": {**plain, "marker": "o", "mfc": paper, "mec": palette["rule"], "ms": 5},
        "above": {**plain, "marker": "o", "mfc": blue, "mec": blue, "ms": 5},
        "minimal": {**plain, "marker": "s", "mfc": blue, "mec": ink, "ms": 8},
        "released": {**plain, "marker": "*", "mfc": palette["bad"], "mec": ink, "ms": 14},
    }


def _label(axes: Axes, at: Mapping[Node, tuple[float, int]]) -> None:
    """The levels of each node below its mark."""
    small = _widest(at) > MOST_LABELLED / 2
    for node, place in at.items():
        text = ("," if small else ", ").join(map(str, node))
        axes.annotate(
            text,
            place,
            (0, -8),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7 if small else 9,
        )


def _widest(at: Mapping[Node, tuple[float, int]]) -> float:
    return 2 * max(x for x, _ in at.values()) + 1


def _frame(
    axes: Axes,
    names: Sequence[str],
    at: Mapping[Node, tuple[float, int]],
    lattice: Lattice | None,
    size: int,
) -> None:
    """Name the attributes in the order of the levels."""
    shown = ", ".join(short(name, 18) for name in names)
    rest = "" if lattice is not None else f"; frontier of a lattice of {size:,} nodes"
    axes.set_xlabel(short(f"levels of {shown}", 100) + rest, wrap=True, fontsize=9)
    axes.set_ylabel("sum of levels")
    heights = sorted({y for _, y in at.values()})
    axes.set_yticks(heights[:: len(heights) // MOST_LABELLED + 1])
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    half = max(_widest(at) / 2, 1.5)
    axes.set_xlim(-half - 0.1, half + 0.1)
    axes.set_ylim(heights[0] - 0.7, heights[-1] + 0.5)


def _lattice_said(
    names: Sequence[str], minimal: Sequence[Node], best: Node | None, manifest: Manifest
) -> str:
    """The same in words."""
    found = [", ".join(map(str, node)) for node in minimal[:MOST_LABELLED]]
    more = "" if len(minimal) <= MOST_LABELLED else f" and {len(minimal) - MOST_LABELLED:,} more"
    released = "" if best is None else f"; released at {', '.join(map(str, best))}"
    return (
        f"{len(minimal):,} minimal nodes of {manifest.search.nodes:,} satisfy the policy; levels "
        f"of {', '.join(short(name) for name in names)}: {'; '.join(found)}{more}{released}"
    )
