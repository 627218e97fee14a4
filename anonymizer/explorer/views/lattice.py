"""The lattice: its nodes by the sum of their levels; any of them can be taken."""

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING

from anonymizer.explorer.answers.nodes import (
    KINDS,
    SearchedLattice,
    broken_in,
    chosen_in,
    label_of,
    nodes_of,
    words_of,
)
from anonymizer.explorer.answers.span import Span
from anonymizer.explorer.page.controls import Sliding, fill, heading, listing, note
from anonymizer.explorer.page.toolkit import Text, ui
from anonymizer.explorer.session import contents
from anonymizer.explorer.session.contents import SUPPRESSING, Content
from anonymizer.explorer.views.lattice_chart import LatticeChart
from anonymizer.explorer.views.view import View
from anonymizer.explorer.work import Work
from anonymizer.feedback.words import bits, count, plural, share
from anonymizer.recoding.lattice import Node
from anonymizer.recoding.levels import FullDomain

if TYPE_CHECKING:
    from anonymizer.explorer.page.frame import ExplorerPage

BACK, RELEASED = "Back to the optimum", "Release at the optimum"
"""What leads to the optimum: where levels are chosen already, and where they are not."""

COLUMNS = ("Levels", "Node", "Kept", "Classes", "Suppressed", "Surest guess")


FEW = 6
"""Attributes up to which a row has the levels in words."""


class LatticeView(View):
    """A picture of the nodes, a slider for each attribute, and a listing of the best nodes."""

    name, title = "lattice", "Lattice"
    question = "Which levels can the attributes be released at?"

    def __init__(self, page: "ExplorerPage") -> None:
        super().__init__(page)
        self._nodes: SearchedLattice | None = None
        self._requested: Hashable = None
        self._shown: Hashable = None
        self._lattice: Hashable = None
        self._sliders: dict[str, Sliding] = {}
        self._notes: dict[str, Text] = {}
        self._listed: dict[str, Node] = {}

    def build(self) -> None:
        """Make the chart, the sliders and the listing."""
        note(
            "Each mark is a choice of one level for every attribute; level 0 leaves the values as "
            "they are, and a line leads up to the same with one attribute a level coarser. The "
            "optimum is the best node at which the policy holds; at a minimal node it holds, and "
            "with any attribute a level finer it would break."
        )
        self.order = note()
        self.chart = LatticeChart(self.page, self._take)
        self.words = note()
        with ui.element("div").classes("line"):
            self.back = ui.button(BACK, on_click=self._back, color=None)
            self.back.props("no-caps unelevated").classes("primary")
        heading("Level of each attribute")
        self.levels = ui.element("div").classes("cards")
        heading("Optimum and minimal nodes")
        self.table = listing("Nodes", COLUMNS, "Take", self._take_row)

    def _build_levels(self, nodes: SearchedLattice) -> None:
        """Make the sliders anew where the attributes or their levels are others."""
        lattice = nodes.lattice
        if lattice == self._lattice:
            return
        self._lattice, self._sliders, self._notes = lattice, {}, {}
        self.levels.clear()
        with self.levels:
            for name in nodes.names:
                self._build_level(nodes, name)

    def _build_level(self, nodes: SearchedLattice, name: str) -> None:
        place = nodes.names.index(name)
        low, high = nodes.lattice.bottom[place], nodes.lattice.heights[place]
        with ui.element("section").classes("card"):
            if low < high:
                move, take = (partial(act, place) for act in (self._move, self._level))
                label = f"{name}: level"
                self._sliders[name] = Sliding(label, Span(low, high, 1), low, move, take)
            else:
                Text("p", f"{name}, level {low}")
            self._notes[name] = note()

    @property
    def _current(self) -> Node | None:
        """The node that the sliders show: the one chosen, or the optimum."""
        nodes = self._nodes
        if nodes is None:
            return None
        content = self.page.content
        if contents.method_of(content) == "fixed":
            levels = contents.options_of(content).get("levels", {})
            if {*levels} == {*nodes.names}:
                return tuple(int(levels[name]) for name in nodes.names)
        return self._chosen or nodes.best or nodes.lattice.heights

    @property
    def _chosen(self) -> Node | None:
        return None if self._nodes is None else chosen_in(self.page.outcome, self._nodes)

    def show(self) -> None:
        """Ask for the lattice where it is not known, and show what is."""
        text = self.page.explorer.session.text_of(full_domain(self.page.content))
        requested = text, self.page.explorer.stamp(text)
        if requested != self._requested:
            self._requested = requested
            self.page.start(self._computed(text, requested))
        if self._nodes is not None:
            self._show(self._nodes)

    async def _computed(self, text: str, requested: Hashable) -> None:
        explorer = self.page.explorer

        def work(watch: Work) -> SearchedLattice:
            study = explorer.study(text)
            return explorer.lattices.get(
                requested, lambda: nodes_of(explorer.counter.counted(study, watch), watch)
            )

        found = await self.page.answer("lattice", work)
        if found is not None and self.page.view is self and requested == self._requested:
            self._nodes = found
            self.page.show()

    def _show(self, nodes: SearchedLattice) -> None:
        current, chosen = self._current, self._chosen if self.page.fresh else None
        state = (id(nodes), current, chosen, self.page.fresh, self.page.dark)
        if state == self._shown:
            return
        self._shown = state
        self._build_levels(nodes)
        by_levels = contents.method_of(self.page.content) in (FullDomain.name, "fixed")
        self.back.set_text(BACK if by_levels else RELEASED)
        self.order.set_text(f"Levels are in the order {', '.join(nodes.names)}.")
        self.chart.show(nodes, chosen)
        self._say(nodes, chosen)
        self._show_levels(nodes, current or nodes.lattice.heights)
        self._list(nodes, chosen)

    def _say(self, nodes: SearchedLattice, chosen: Node | None) -> None:
        of = plural(nodes.lattice.size, "node")
        shown = "" if nodes.complete else f", of which {count(len(nodes.shown))} are shown"
        found = [f"The lattice has {of}{shown}."]
        if nodes.refusal:
            said = self.page.explorer.said(nodes.refusal)
            found.append(f"{said[:1].upper()}{said[1:]}.")
        elif nodes.best is not None:
            best = words_of(nodes.names, nodes.best)
            found.append(f"The optimum is {best}: no other node {nodes.aim}.")
        if chosen is not None and chosen != nodes.best:
            found.append(f"Chosen: {words_of(nodes.names, chosen)}: {KINDS[nodes.kind(chosen)]}.")
        elif chosen is None and self.page.fresh and self.page.outcome.plan is not None:
            method = contents.method_of(self.page.content)
            found.append(f"The study's recoding, {method}, is not one of levels: none is chosen.")
        if self.page.fresh and (broken := broken_in(self.page.outcome)):
            found.append(broken)
        self.words.set_text(" ".join(found))

    def _show_levels(self, nodes: SearchedLattice, current: Node) -> None:
        for name, level in zip(nodes.names, current, strict=True):
            if name in self._sliders:
                self._sliders[name].set(level)
            example = nodes.example(name, level, self.page.shows_labels)
            self._notes[name].set_text(f"Level {level}: {example}.")

    def _list(self, nodes: SearchedLattice, chosen: Node | None) -> None:
        self._listed = {label_of(node): node for node in nodes.found}
        rows = []
        for node, found in nodes.found.items():
            kinds = [KINDS[nodes.kind(node)]] + ["chosen"] * (node == chosen)
            worst = max((each.worst for each in found.disclosures), default=None)
            rows.append(
                [
                    words_of(nodes.names, node) if len(nodes.names) <= FEW else label_of(node),
                    "; ".join(kinds),
                    "-" if found.retained is None else bits(found.retained),
                    count(found.classes),
                    plural(found.suppressed, "record"),
                    "-" if worst is None else share(worst),
                ]
            )
        fill(self.table, rows, [*self._listed])

    def _move(self, place: int, value: float) -> None:
        self.page.attempt(partial(self._at, place, value))

    def _level(self, place: int, value: float) -> None:
        nodes = self._nodes
        if nodes is not None:
            words = f"{nodes.names[place]} at level {value:.0f}"
            self.page.take(words, partial(self._at, place, value))

    def _at(self, place: int, value: float, content: Content) -> Content:
        """The study with an attribute at another level, the others where they are shown."""
        current, nodes = self._current, self._nodes
        assert current is not None
        assert nodes is not None
        node = (*current[:place], round(value), *current[place + 1 :])
        return contents.with_levels(content, dict(zip(nodes.names, node, strict=True)))

    def _take_row(self, key: str) -> None:
        if key in self._listed:
            self._take(self._listed[key])

    def _take(self, node: Node) -> None:
        nodes = self._nodes
        if nodes is not None:
            levels = dict(zip(nodes.names, node, strict=True))
            words = f"levels {label_of(node)}"
            self.page.take(words, lambda content: contents.with_levels(content, levels))

    def _back(self) -> None:
        self.page.take("back to the optimum of levels", full_domain)


def full_domain(content: Content) -> Content:
    """The study with a search over levels; one that has it already stays as it is."""
    if contents.method_of(content) == FullDomain.name:
        return content
    options = contents.options_of(content)
    kept = {key: value for key, value in options.items() if key in SUPPRESSING}
    return contents.with_recoding(content, FullDomain.name, kept)
