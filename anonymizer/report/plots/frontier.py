"""The lattice of levels as a manifest knows it: its frontier, the minimal feasible nodes."""

from collections.abc import Mapping, Sequence
from math import prod

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from anonymizer.errors import InputError
from anonymizer.hierarchy import Hierarchy
from anonymizer.recoding.lattice import Lattice, Node
from anonymizer.release.manifest import Manifest
from anonymizer.report.plots.style import Picture, Style, Theme, drawing, picture, short
from anonymizer.tables import engine

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
        _draw(figure, axes, at, minimal, best, lattice)
        _frame(axes, names, at, lattice, manifest.search.nodes or len(nodes))
    figure.description = _said(names, minimal, best, manifest)
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


def _draw(
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


def _said(
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
