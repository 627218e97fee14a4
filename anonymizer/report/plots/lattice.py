"""Pictures of lattices: the Hasse diagram of a search, and the frontier that a release reports.

The first is of a graph that is made already, so that nothing here needs networkx.
"""

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.recoding.hasse import kind_of, places
from anonymizer.recoding.lattice import Lattice, Node
from anonymizer.release.manifest import Manifest
from anonymizer.report.plots.style import (
    COLORS,
    LOOK,
    Picture,
    Style,
    Theme,
    drawing,
    picture,
    save,
    short,
)
from anonymizer.tables import engine

if TYPE_CHECKING:
    from anonymizer.recoding.lattice import LatticeGraph

MOST_LABELLED = 40
"""Nodes of the largest graph whose nodes are labelled."""

SPACE = {"labelled": (1.05, 0.95), "plain": (0.3, 0.6)}
"""Inches from a node to the next, and from a layer to the next."""
CROWDED = 0.7
"""The largest share of a layer that its marks cover."""
LEAST, MOST = (5.2, 4.2), (16.0, 11.0)
"""Inches of a picture, across and down."""

BLUE, GREY = COLORS[0], "0.45"
KINDS: dict[str, Style] = {
    "feasible": {"marker": "o", "markerfacecolor": BLUE, "markeredgecolor": BLUE},
    "minimal": {"marker": "s", "markerfacecolor": BLUE, "markeredgecolor": "black"},
    "infeasible": {"marker": "o", "markerfacecolor": "white", "markeredgecolor": GREY},
    "unknown": {"marker": "x", "markeredgecolor": GREY},
}
"""How each kind of node looks: by its shape and filling, so that no colour is needed."""
BEST: Style = {"marker": "*", "markerfacecolor": "white", "markeredgecolor": "black"}
"""The best node is twice as large, and bears a star."""
LEGEND = {
    "minimal": "feasible, minimal",
    "feasible": "feasible",
    "infeasible": "infeasible",
    "unknown": "not known",
}


def draw_lattice(graph: "LatticeGraph", path: Path) -> None:
    """Draw the Hasse diagram, a layer for each sum of levels, the most general node on top.

    ``graph``: what ``Anonymizer.lattice_`` is. Feasible nodes are filled, infeasible ones hollow,
    those of which neither is known crosses; minimal feasible nodes are squares, and the best one
    is larger and bears a star. Labels, where the nodes are few, are the levels and the bits kept.
    """
    at = places(graph)
    labelled = len(at) <= MOST_LABELLED
    with mpl.rc_context({**LOOK, "axes.grid": False}):
        inches = _size(at, labelled)
        figure = Figure(figsize=inches, layout="constrained")
        axes = figure.subplots()
        size = min(9.0 if labelled else 5.0, CROWDED * 72 * inches[0] / _widest(at))
        lines = [(at[low], at[high]) for low, high in graph.edges]
        axes.add_collection(LineCollection(lines, colors="0.8", linewidths=size / 10, zorder=1))
        _nodes(axes, graph, at, size)
        if labelled:
            _labels(axes, graph, at)
        _frame(axes, graph)
        figure.legend(handles=_legend(graph), loc="outside lower center", ncols=3)
        save(figure, path)


def _size(at: Mapping[Node, tuple[float, int]], labelled: bool) -> tuple[float, float]:
    """Inches across and down, by the widest layer and the number of layers."""
    across, down = SPACE["labelled" if labelled else "plain"]
    layers = len({y for _, y in at.values()})
    inches = (_widest(at) * across + 1, layers * down + 1.2)
    width, height = np.clip(inches, LEAST, MOST).tolist()
    return width, height


def _widest(at: Mapping[Node, tuple[float, int]]) -> float:
    return 2 * max(x for x, _ in at.values()) + 1


def _nodes(
    axes: Axes, graph: "LatticeGraph", at: Mapping[Node, tuple[float, int]], size: float
) -> None:
    """A mark for each node, and a star on the best."""
    for kind, style in KINDS.items():
        some = [at[node] for node, known in graph.nodes(data=True) if kind_of(known) == kind]
        _marks(axes, some, {**style, "markersize": size})
    best = graph.graph["best"]
    if best is not None:
        look = KINDS[kind_of(graph.nodes[best])]
        _marks(axes, [at[best]], {**look, "markersize": 2 * size})
        _marks(axes, [at[best]], {**BEST, "markersize": 1.4 * size})


def _marks(axes: Axes, points: Sequence[tuple[float, int]], style: Style) -> None:
    """Marks at some places, in a single line without a stroke."""
    across, up = [x for x, _ in points], [y for _, y in points]
    axes.plot(across, up, linestyle="none", zorder=2, **style)


def _labels(axes: Axes, graph: "LatticeGraph", at: Mapping[Node, tuple[float, int]]) -> None:
    """The levels of each node, and the bits it keeps where they are known."""
    for node, known in graph.nodes(data=True):
        bits = known["information"]
        text = ", ".join(map(str, node)) + ("" if bits is None else f"\n{bits:.3f}")
        axes.annotate(
            text,
            at[node],
            xytext=(0, -10 if known["best"] else -8),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8,
            linespacing=1.1,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            zorder=3,
        )


def _frame(axes: Axes, graph: "LatticeGraph") -> None:
    """Name the layers, and the attributes in the order of the levels."""
    of_all = graph.graph
    shown = "" if of_all["complete"] else f"; {len(graph):,} of {of_all['nodes']:,} nodes shown"
    names = ", ".join(of_all["quasi_identifiers"])
    axes.set_xlabel(f"levels of {names}{shown}", parse_math=False, wrap=True)
    axes.set_ylabel("sum of levels")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_ylim(sum(of_all["floors"]) - 0.8, sum(of_all["heights"]) + 0.6)


def _legend(graph: "LatticeGraph") -> list[Line2D]:
    """A line for each kind of node that there is."""
    there = {kind_of(known) for _, known in graph.nodes(data=True)}
    handles = [
        Line2D([], [], label=text, linestyle="none", markersize=7, **KINDS[kind])
        for kind, text in LEGEND.items()
        if kind in there
    ]
    if graph.graph["best"] is not None:
        handles.append(Line2D([], [], label="best", linestyle="none", markersize=12, **BEST))
    return handles


MOST_NODES = 400
"""Nodes of the largest lattice that is drawn whole; of others the frontier alone is."""

WIDEST_LABELLED = 12
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
        at = places(nodes)
        height = min(0.55 * len({y for _, y in at.values()}) + 1.5, 7.0)
        figure, axes = picture(theme, height, "Lattice of levels")
        _draw_lattice(figure, axes, at, minimal, best, lattice)
        _frame_released(axes, names, at, lattice, manifest.search.nodes or len(nodes))
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
    looks = _marks_in(palette)
    kinds = {
        "below": [node for node in at if node not in above],
        "above": [node for node in at if node in above and node not in minimal and node != best],
        "minimal": list(minimal),
        "released": [] if best is None else [best],
    }
    for kind, nodes in kinds.items():
        spots = [at[node] for node in nodes]
        axes.plot([x for x, _ in spots], [y for _, y in spots], **looks[kind])
    handles = [Line2D([], [], label=MARKED[kind], **looks[kind]) for kind in kinds if kinds[kind]]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=9)
    if _widest(at) <= WIDEST_LABELLED:
        _label_levels(axes, at)


MARKED = {
    "below": "breaks the policy",
    "above": "satisfies it",
    "minimal": "minimal: satisfies it, and nothing below it does",
    "released": "released",
}


def _marks_in(palette: dict[str, str]) -> dict[str, Style]:
    """How each kind of node looks: by its shape and filling, so that no colour is needed."""
    blue, ink, paper = palette["main"], palette["ink"], palette["paper"]
    plain = {"linestyle": "none", "zorder": 2}
    return {
        "below": {**plain, "marker": "o", "mfc": paper, "mec": palette["rule"], "ms": 5},
        "above": {**plain, "marker": "o", "mfc": blue, "mec": blue, "ms": 5},
        "minimal": {**plain, "marker": "s", "mfc": blue, "mec": ink, "ms": 8},
        "released": {**plain, "marker": "*", "mfc": palette["bad"], "mec": ink, "ms": 14},
    }


def _label_levels(axes: Axes, at: Mapping[Node, tuple[float, int]]) -> None:
    """The levels of each node below its mark."""
    small = _widest(at) > WIDEST_LABELLED / 2
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


def _frame_released(
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
    axes.set_yticks(heights[:: len(heights) // WIDEST_LABELLED + 1])
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    half = max(_widest(at) / 2, 1.5)
    axes.set_xlim(-half - 0.1, half + 0.1)
    axes.set_ylim(heights[0] - 0.7, heights[-1] + 0.5)


def _lattice_said(
    names: Sequence[str], minimal: Sequence[Node], best: Node | None, manifest: Manifest
) -> str:
    """The same in words."""
    found = [", ".join(map(str, node)) for node in minimal[:WIDEST_LABELLED]]
    more = (
        "" if len(minimal) <= WIDEST_LABELLED else f" and {len(minimal) - WIDEST_LABELLED:,} more"
    )
    released = "" if best is None else f"; released at {', '.join(map(str, best))}"
    return (
        f"{len(minimal):,} minimal nodes of {manifest.search.nodes:,} satisfy the policy; levels "
        f"of {', '.join(short(name) for name in names)}: {'; '.join(found)}{more}{released}"
    )
