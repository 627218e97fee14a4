"""Pictures of lattices: the Hasse diagram, with what a search learned about its nodes.

Works on the graph alone, so that nothing here needs networkx.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from anonymizer.recoding.hasse import kind_of, places
from anonymizer.report.plots.style import COLORS, LOOK, Style, save

if TYPE_CHECKING:
    from anonymizer.recoding.lattice import LatticeGraph, Node

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


def draw(graph: "LatticeGraph", path: Path) -> None:
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


def _size(at: Mapping["Node", tuple[float, int]], labelled: bool) -> tuple[float, float]:
    """Inches across and down, by the widest layer and the number of layers."""
    across, down = SPACE["labelled" if labelled else "plain"]
    layers = len({y for _, y in at.values()})
    inches = (_widest(at) * across + 1, layers * down + 1.2)
    width, height = np.clip(inches, LEAST, MOST).tolist()
    return width, height


def _widest(at: Mapping["Node", tuple[float, int]]) -> float:
    """How many nodes the widest layer has."""
    return 2 * max(x for x, _ in at.values()) + 1


def _nodes(
    axes: Axes, graph: "LatticeGraph", at: Mapping["Node", tuple[float, int]], size: float
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


def _labels(axes: Axes, graph: "LatticeGraph", at: Mapping["Node", tuple[float, int]]) -> None:
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
