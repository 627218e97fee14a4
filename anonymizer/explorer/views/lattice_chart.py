"""The picture of a lattice: a row for each sum of levels, kinds of nodes by shape and word."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from anonymizer.explorer.answers.nodes import KINDS, SearchedLattice, ShownNode, label_of
from anonymizer.explorer.page.charts import Chart
from anonymizer.explorer.page.toolkit import EChartPointClickEventArguments
from anonymizer.recoding.lattice import Node

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

STAR = "path://M50 5 L61 38 L96 38 L68 59 L79 93 L50 72 L21 93 L32 59 L4 38 L39 38 Z"
CROSS = (
    "path://M10 0 L50 40 L90 0 L100 10 L60 50 L100 90 L90 100 L50 60 L10 100 L0 90 L40 50 L0 10 Z"
)

SYMBOLS = {
    "optimum": STAR,
    "minimal": "rect",
    "feasible": "circle",
    "infeasible": "circle",
    "unknown": CROSS,
}
"""Shapes of nodes; those that break the policy are hollow."""

SIZES = {"optimum": 24, "minimal": 15}
SIZE = 13

MOST_LABELLED = 400
"""Levels in the largest picture whose nodes are all labelled, as far as there is room."""

ROW = 58
"""Pixels from a row to the next."""

LEAST, MOST = 300, 900
"""Pixels of the picture's height."""


class LatticeChart:
    """Draws a lattice; its nodes can be clicked."""

    def __init__(self, page: "ExplorerPage", on_node: Callable[[Node], None]) -> None:
        self._on_node = on_node
        self._clickable: dict[str, Node] = {}
        self.chart = Chart(page, self._clicked)

    def show(self, nodes: SearchedLattice, chosen: Node | None) -> None:
        """Draw a lattice, one node of it being chosen."""
        self._clickable = {label_of(each.node): each.node for each in nodes.shown}
        sums = [sum(each.node) for each in nodes.shown]
        height = min(max((max(sums) - min(sums) + 1) * ROW + 120, LEAST), MOST)
        self.chart.element.style(f"height: {height}px")
        widest = max(abs(each.across) for each in nodes.shown) + 0.6
        options = {
            "tooltip": {**self.chart.base_tooltip, "trigger": "item"},
            "legend": {
                "data": [
                    {"name": KINDS[kind], "icon": SYMBOLS[kind]} for kind in self._kinds(nodes)
                ],
                "itemGap": 16,
                "itemWidth": 15,
                "textStyle": {"color": self.chart.palette.ink},
                "top": 0,
                "type": "plain",
                "selectedMode": False,
            },
            "xAxis": {"type": "value", "show": False, "min": -widest, "max": widest},
            "yAxis": self.chart.axis(
                "sum of levels", min=min(sums) - 0.6, max=max(sums) + 0.6, interval=1, nameGap=28
            )
            | {
                "splitLine": {"show": False},
                "axisTick": {"show": False},
                "axisLabel": {"show": False},
                "axisLine": {"show": True, "onZero": False},
            },
            "grid": {"left": 44, "right": 12, "top": 56, "bottom": 12},
            "series": [self._graph(nodes, chosen)],
        }
        self.chart.show(options, words_of(nodes, chosen))

    def _kinds(self, nodes: SearchedLattice) -> list[str]:
        there = {each.kind for each in nodes.shown}
        return [kind for kind in KINDS if kind in there]

    def _graph(self, nodes: SearchedLattice, chosen: Node | None) -> dict[str, Any]:
        palette, kinds = self.chart.palette, self._kinds(nodes)
        return {
            "type": "graph",
            "coordinateSystem": "cartesian2d",
            "layout": "none",
            "data": [self._node(nodes, each, each.node == chosen) for each in nodes.shown],
            "links": [{"source": low, "target": high} for low, high in nodes.links],
            "lineStyle": {"color": palette.line, "width": 1, "opacity": 1},
            "categories": [
                {"name": KINDS[kind], "symbol": SYMBOLS[kind], "itemStyle": self._look(kind)}
                for kind in kinds
            ],
            "labelLayout": {"hideOverlap": True},
            "emphasis": {"scale": True, "focus": "none"},
        }

    def _node(self, nodes: SearchedLattice, each: ShownNode, chosen: bool) -> dict[str, Any]:
        kind, palette = each.kind, self.chart.palette
        special = chosen or kind == "optimum"
        words = [
            word for word, there in (("optimum", kind == "optimum"), ("chosen", chosen)) if there
        ]
        label = label_of(each.node)
        look = self._look(kind)
        if chosen:
            look |= {"borderColor": palette.ink, "borderWidth": 4}
        return {
            "id": label,
            "name": label,
            "value": [each.across, sum(each.node)],
            "category": self._kinds(nodes).index(kind),
            "symbol": SYMBOLS[kind],
            "symbolSize": SIZES.get(kind, SIZE) + 4 * chosen,
            "itemStyle": look,
            "tooltip": {"formatter": f"{label}: {KINDS[kind]}{', chosen' * chosen}"},
            "label": {
                "show": special or len(nodes.shown) * len(nodes.names) <= MOST_LABELLED,
                "position": "bottom",
                "formatter": f"{label}\n{', '.join(words)}" if words else label,
                "color": palette.ink,
                "fontSize": 12,
                "lineHeight": 15,
                "padding": [0, 5],
                "fontWeight": "bold" if special else "normal",
            },
        }

    def _look(self, kind: str) -> dict[str, Any]:
        palette = self.chart.palette
        match kind:
            case "optimum":
                return {"color": palette.good, "borderColor": palette.ink, "borderWidth": 1}
            case "minimal":
                return {"color": palette.series[0], "borderColor": palette.ink, "borderWidth": 2}
            case "feasible":
                return {"color": palette.series[0]}
            case "infeasible":
                return {"color": palette.ground, "borderColor": palette.muted, "borderWidth": 2}
        return {"color": palette.muted}

    def _clicked(self, event: EChartPointClickEventArguments) -> None:
        if event.data_type == "node" and event.name in self._clickable:
            self._on_node(self._clickable[event.name])


def words_of(nodes: SearchedLattice, chosen: Node | None) -> str:
    """The picture in a sentence, for whoever does not see it."""
    kinds = [each.kind for each in nodes.shown]
    parts = [f"{kinds.count(kind)} {words}" for kind, words in KINDS.items() if kind in kinds]
    best = "" if nodes.best is None else f" The optimum is {label_of(nodes.best)}."
    own = "" if chosen is None else f" Chosen is {label_of(chosen)}."
    return f"Nodes of the lattice: {'; '.join(parts)}.{best}{own}"
